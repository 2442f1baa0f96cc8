//! The seam between the control plane and what moves the bytes.
//!
//! Why: the same protocol drives a SmartNIC, a software transport or a model, and ranks of different kinds can be
//! mixed, since all speak the same packets.
//!
//! Call order for each window: `arm`, then `contribute` (not if the window closed without this rank), events from
//! `poll`, and after its broadcast stage's report `take_result`, which frees the slot. `flush` after a batch of
//! commands.

use crate::protocol::{JobParams, Kind, PlaneLimits, Ranks, RefusedStatus, StageReport, View, WindowPlan};

/// What a window's broadcast stage left, in wire order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairData {
    /// The mean of the local shard as it was sent, with zeros where no contribution came; empty if the data plane does not
    /// have it any more.
    pub own: Vec<f32>,
    /// If beats are missing.
    pub incomplete: Option<Incomplete>,
}

/// A window of which beats are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incomplete {
    /// All beats, if the window is encoded: then one beat changes a whole block of the output. Else empty.
    pub gathered: Vec<f32>,
    /// A bit for each beat that the output has.
    pub present: Vec<u64>,
}

/// What a data plane has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaneEvent {
    /// A stage of a window has closed.
    Stage(StageReport),
    /// A command was refused.
    Refused {
        /// Cookie of the command.
        cookie: u32,
        /// Why.
        status: RefusedStatus,
    },
    /// Packets arrived for a collective whose windows are not armed here; they are kept as far as there is room.
    Unexpected {
        /// Bucket of the collective.
        bucket: u16,
        /// Its number on the wire.
        step: u16,
        /// Whether it travels Hadamard-encoded.
        hadamard: bool,
    },
    /// A peer has answered: how long it took.
    RoundTrip {
        /// The peer.
        peer: usize,
        /// From the packet to its answer, in ns.
        rtt_ns: u64,
    },
}

/// Moves the bytes of windows and says how their stages closed.
pub trait DataPlane {
    /// What can go wrong below the protocol. A data plane that returned an error may not be used any more.
    type Error: std::error::Error + Send + Sync + 'static;

    /// What this data plane can do at most.
    fn limits(&self) -> PlaneLimits;

    /// Whether it can do collectives of this kind. Default: all-reduces only.
    fn supports(&self, kind: Kind) -> bool {
        kind == Kind::AllReduce
    }

    /// Reserves a slot for a window and opens its stages to the peers.
    ///
    /// # Errors
    /// If no slot is free, if the window does not fit the limits, or if the data plane is broken.
    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), Self::Error>;

    /// Sends this rank's gradient of the window; `elements.len()` is `plan.elements`. The slice is copied.
    ///
    /// # Errors
    /// If the window is not armed, if the length is not the window's, or if the data plane is broken.
    fn contribute(&mut self, plan: &WindowPlan, elements: &[f32]) -> Result<(), Self::Error>;

    /// Makes the commands so far known to whoever executes them: one doorbell per batch.
    ///
    /// # Errors
    /// If the data plane is broken.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// The next event, if there is one. Does not wait; does a bounded amount of work.
    ///
    /// # Errors
    /// If the data plane is broken, or says what cannot be true.
    fn poll(&mut self) -> Result<Option<PlaneEvent>, Self::Error>;

    /// Copies the window's result out (`out.len()` is `plan.elements`) and frees its slot.
    ///
    /// # Errors
    /// If the window's broadcast stage was not reported, if the length is not the window's, or if the data plane is
    /// broken.
    fn take_result(&mut self, plan: &WindowPlan, out: &mut [f32]) -> Result<(), Self::Error>;

    /// Bytes of fp32 so far that came after their stage had closed. `None`: this data plane cannot tell them from lost ones.
    fn late_bytes(&self) -> Option<u64> {
        None
    }

    /// How fast a peer is sent to from now on, in bytes of the wire per microsecond, above 0. Asked for only upon
    /// [`PlaneEvent::RoundTrip`], so data planes that do not measure it need not have it.
    fn set_rate(&mut self, _peer: usize, _rate_bytes_per_us: u32) {}

    /// Of a window whose broadcast stage was reported and whose result was not taken: what it holds and what it lacks, for
    /// repairs. `None`: it cannot say; then the shards that did not come whole are asked for, unless they are encoded.
    fn repair_data(&mut self, plan: &WindowPlan) -> Option<RepairData>;

    /// Gives up a window that is armed and was not contributed, and frees its slot. Nothing more is said of it, also not what
    /// was still to be polled; packets for it are from now on those of a window that is not armed. Only for windows that
    /// were armed upon [`PlaneEvent::Unexpected`]; data planes without that event are never asked.
    ///
    /// # Errors
    /// If the data plane is broken, or cannot do this.
    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), Self::Error>;

    /// Whether the ranks may change: whether it takes other views than the job's first. Default: no.
    fn takes_views(&self) -> bool {
        false
    }

    /// A view was decided: its packets may come from now on. Default: nothing; they are lost until it is entered.
    fn announce(&mut self, _view: &View) {}

    /// Windows armed from now on are of this view: ranks in plans, parameters and reports are places in it. `false`: not yet,
    /// windows of the view before must end first; ask again.
    ///
    /// # Errors
    /// If the data plane cannot work with these ranks, or is broken.
    fn enter(&mut self, view: &View) -> Result<bool, Self::Error> {
        Ok(view.number == 0)
    }

    /// Ranks of the job of which anything came since the last call, in time or not; bit r: rank r. Default: none beyond what
    /// stage reports say.
    fn take_heard(&mut self) -> Ranks {
        Ranks::default()
    }
}
