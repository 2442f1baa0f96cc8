//! The seam between the control plane and what moves the bytes.
//!
//! Why: the same protocol drives a SmartNIC, a software transport or a model, and ranks of different kinds can be
//! mixed, since all speak the same packets.
//!
//! No method has a default: what a data plane cannot do it declares ([`DataPlane::capabilities`]), and one that wraps another
//! has to forward every method.
//!
//! Memory is lent, not copied: gradient and result of a collective belong to the data plane while its windows are armed, so that it
//! sends from the one and receives into the other.
//! Call order: `lend` the result; for each window `arm`, then `contribute` once the gradient is lent (not if the window closed without
//! this rank), events from `poll`, and after its broadcast stage's report `take_result`, which frees the slot; `reclaim` both when all
//! windows are done. A caller that comes once windows are armed may have the result elsewhere: `relocate`. `flush` after a batch of commands.

use std::ops::Range;

use crate::protocol::{JobParams, PlaneLimits, Ranks, RefusedStatus, Stage, StageReport, View, WindowPlan};
use crate::values::Values;

/// Memory of a collective that is lent to a data plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Number of the collective.
    pub op: u32,
    /// What it is for.
    pub role: Role,
    /// Element of the bucket that it begins with. Each window lies in one memory as a whole.
    pub first_element: usize,
}

impl Memory {
    /// Whether a window is of the same collective and begins in this memory or after it.
    pub(crate) fn holds(&self, plan: &WindowPlan) -> bool {
        self.op == plan.op && self.first_element <= plan.first_element
    }
}

/// What lent memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This rank's gradient: sent, never written.
    Gradient,
    /// The result: written while its windows are armed. What it held before means nothing.
    Result,
}

impl Role {
    /// The stage that sends from it.
    pub(crate) const fn stage(self) -> Stage {
        match self {
            Self::Gradient => Stage::Contribute,
            Self::Result => Stage::Broadcast,
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gradient => "gradient",
            Self::Result => "result",
        })
    }
}

/// The memory that is lent to a data plane: a few collectives' gradients and results.
#[derive(Debug, Default)]
pub struct LentMemory(Vec<(Memory, Values)>);

impl LentMemory {
    /// Takes memory.
    pub fn lend(&mut self, memory: Memory, values: Values) {
        self.0.push((memory, values));
    }

    /// Gives it back.
    pub fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        let index = self.0.iter().position(|(of, _)| *of == memory)?;
        Some(self.0.swap_remove(index).1)
    }

    /// The elements of a window.
    ///
    /// # Errors
    /// If no memory was lent that holds them.
    pub fn window(&self, plan: &WindowPlan, role: Role) -> Result<&[f32], WindowError> {
        let mut found = self.0.iter().filter_map(|(of, values)| values.get(place(*of, plan, role)?));
        found.next().ok_or(WindowError::NotLent { cookie: plan.cookie, role })
    }

    /// Elements of a window in the result, and in the gradient.
    pub(crate) fn result_and_gradient(&mut self, plan: &WindowPlan) -> Option<(&mut [f32], &[f32])> {
        let (mut result, mut gradient) = (None, None);
        for (of, values) in &mut self.0 {
            match (place(*of, plan, Role::Result), place(*of, plan, Role::Gradient)) {
                (Some(at), _) => result = result.or(values.get_mut(at)),
                (_, Some(at)) => gradient = gradient.or(values.get(at)),
                _ => {}
            }
        }
        result.zip(gradient)
    }

    /// The elements of a window.
    ///
    /// # Errors
    /// If no memory was lent that holds them.
    pub fn window_mut(&mut self, plan: &WindowPlan, role: Role) -> Result<&mut [f32], WindowError> {
        let mut found = self.0.iter_mut().filter_map(|(of, values)| values.get_mut(place(*of, plan, role)?));
        found.next().ok_or(WindowError::NotLent { cookie: plan.cookie, role })
    }
}

/// Where a window lies in memory, if it is of the same collective.
fn place(of: Memory, plan: &WindowPlan, role: Role) -> Option<std::ops::Range<usize>> {
    let begin = plan.first_element.checked_sub(of.first_element)?;
    ((of.op, of.role) == (plan.op, role)).then_some(begin..begin + plan.elements)
}

/// What a window left, where it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowOutput<'a> {
    /// Its elements of the result.
    pub elements: &'a [f32],
    /// How many of these are infinities or NaNs, if the data plane has counted them as it wrote them. `None`: they are counted now.
    pub not_finite: Option<u64>,
    /// [`Capability::RepairData`]: what it holds and what it lacks. `None` without it: then the shards that did not come whole are
    /// asked for, unless they are encoded.
    pub repair: Option<RepairData<'a>>,
}

/// What a window's broadcast stage left, in wire order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairData<'a> {
    /// The mean of the local shard as it was sent, with zeros where no contribution came.
    pub own: &'a [f32],
    /// If beats are missing.
    pub incomplete: Option<Incomplete>,
    /// After a reduce-scatter: beats of the local shard to which some rank's contribution did not come, in order, and the ranks
    /// whose did, by their indices in the view. A data plane that does not know leaves it empty.
    pub arrived: Vec<(Range<usize>, Ranks)>,
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
    },
    /// [`Capability::RoundTrips`]: a peer has answered.
    RoundTrip {
        /// The peer.
        peer: usize,
        /// From the packet to its answer, in ns.
        rtt_ns: u64,
    },
}

/// Something that not every data plane can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// Reduce-scatter and all-gather.
    PartialCollectives,
    /// Ranks that are dropped or join: views other than the job's first.
    Views,
    /// Telling which beats of a window are missing, so that they can be repaired.
    RepairData,
    /// Telling bytes that were late from bytes that were lost.
    LateBytes,
    /// Keeping packets of windows that are not armed yet ([`PlaneEvent::Unexpected`]), and giving up a window that was armed
    /// because of them.
    Unexpected,
    /// Measuring the round trip to each peer ([`PlaneEvent::RoundTrip`]) and sending to it at a rate that follows.
    RoundTrips,
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::PartialCollectives => "partial collectives (reduce-scatter, all-gather)",
            Self::Views => "ranks that are dropped or join",
            Self::RepairData => "repair of what a broadcast lost",
            Self::LateBytes => "telling late bytes from lost ones",
            Self::Unexpected => "keeping packets that arrive before their window is armed",
            Self::RoundTrips => "rates that follow round-trip times",
        })
    }
}

/// The capabilities of a data plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(u32);

impl Capabilities {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// These, and this one.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | 1 << capability as u32)
    }

    /// Whether this one is among them.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 >> capability as u32 & 1 == 1
    }

    /// That this one is among them.
    ///
    /// # Errors
    /// [`Unsupported`] names it.
    pub const fn require(self, capability: Capability) -> Result<(), Unsupported> {
        if self.has(capability) { Ok(()) } else { Err(Unsupported(capability)) }
    }
}

/// A capability that this data plane does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this rank's data plane does not support {0}; the software data plane (ranks without a card) does")]
pub struct Unsupported(pub Capability);

/// A call that any data plane refuses. Nothing was changed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// More windows armed than the data plane has slots.
    #[error("window {cookie:#010x}: no slot is free, all {slots} are in use")]
    NoFreeSlot {
        /// Cookie of the window.
        cookie: u32,
        /// Slots of the data plane.
        slots: usize,
    },
    /// A call for a window that is not armed, or not in this state.
    #[error(
        "window {cookie:#010x} is not in a state for {command}; commands are arm, contribute, take_result, each once"
    )]
    WrongState {
        /// Cookie of the window.
        cookie: u32,
        /// The call.
        command: &'static str,
    },
    /// This rank is to work in a view that it is not a member of.
    #[error("rank {rank} is not in view {view}; it must join again before it goes on")]
    OutsideView {
        /// Number of the view.
        view: u32,
        /// This rank.
        rank: usize,
    },
    /// No memory was lent that holds the window's elements.
    #[error("window {cookie:#010x}: no {role} is lent that holds all its elements; lend it first")]
    NotLent {
        /// Cookie of the window.
        cookie: u32,
        /// What is missing.
        role: Role,
    },
}

/// Moves the bytes of windows and says how their stages closed.
pub trait DataPlane {
    /// What can go wrong below the protocol. A data plane that returned an error may not be used any more.
    type Error: std::error::Error + Send + Sync + 'static;

    /// What this data plane can do at most.
    fn limits(&self) -> PlaneLimits;

    /// What it can do beyond the methods that every data plane has. What is not declared here is never asked for.
    fn capabilities(&self) -> Capabilities;

    /// Lends memory of a collective.
    fn lend(&mut self, memory: Memory, values: Values);

    /// Gives memory back, whatever was not sent of it yet. `None` if it is not lent. Not while windows in it are armed.
    fn reclaim(&mut self, memory: Memory) -> Option<Values>;

    /// Lays lent memory elsewhere, with what has come so far: what it was before, or, if it must stay where it is, what was given.
    ///
    /// # Errors
    /// It must: a data plane cannot do this, or windows in it have closed.
    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values>;

    /// Reserves a slot for a window and opens its stages to the peers. Its result is lent.
    ///
    /// # Errors
    /// If no slot is free, if its result is not lent, if the window does not fit the limits, or if the data plane is broken.
    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), Self::Error>;

    /// Sends this rank's gradient of the window, which is lent.
    ///
    /// # Errors
    /// If the window is not armed, if its gradient is not lent, or if the data plane is broken.
    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), Self::Error>;

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

    /// Completes the window's elements of the result, shows them to `look`, once, and frees the slot.
    ///
    /// # Errors
    /// If the window's broadcast stage was not reported, or if the data plane is broken.
    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), Self::Error>;

    /// [`Capability::LateBytes`]: bytes of fp32 so far that arrived after their stage had closed, as far as it is known
    /// without those that it had already. `None` without it: late bytes cannot be told from lost ones.
    fn late_bytes(&self) -> Option<u64>;

    /// [`Capability::RoundTrips`]: how fast a peer is sent to from now on, in bytes of the wire per microsecond; 0: no limit.
    ///
    /// # Errors
    /// If the data plane cannot do that, or is broken.
    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), Self::Error>;

    /// [`Capability::Unexpected`]: gives up a window that is armed and was not contributed, and frees its slot. No more events
    /// of it follow, not even those that were still to be polled; packets for it are from now on those of a window that is
    /// not armed. Only for windows that were armed upon [`PlaneEvent::Unexpected`].
    ///
    /// # Errors
    /// If the data plane is broken, or cannot do this.
    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), Self::Error>;

    /// [`Capability::Views`]: a view was decided, and its packets may arrive from now on. A data plane that cannot keep them
    /// loses them until the view is entered.
    fn announce(&mut self, view: &View);

    /// [`Capability::Views`]: windows armed from now on are of this view, which has other members than the one before; ranks
    /// in plans, parameters and reports are indices in it. `false`: not yet, windows of the view before must end first; ask
    /// again.
    ///
    /// # Errors
    /// If the data plane cannot work with these ranks, or is broken.
    fn enter(&mut self, view: &View) -> Result<bool, Self::Error>;

    /// [`Capability::Views`]: ranks of the job from which anything arrived since the last call, in time or not. Empty if the
    /// data plane knows no more than its stage reports say.
    fn take_heard(&mut self) -> Ranks;

    /// The process of a rank has ended, or there is a new one: what is missing of one that has ended will not come, so a stage need not wait for
    /// it until its bound. Default: it does.
    fn set_gone(&mut self, _rank: usize, _is_gone: bool) {}
}
