//! The seam between the control plane and what moves the bytes.
//!
//! Why: the same protocol drives a SmartNIC, a software transport or a model, and ranks of different kinds can be
//! mixed, since all speak the same packets.
//!
//! Call order for each window: `arm`, then `contribute` (not if the window closed without this rank), events from
//! `poll`, and after its broadcast stage's report `take_result`, which frees the slot. `flush` after a batch of
//! commands.

use optireduce_contract::limits;

use crate::protocol::{JobParams, RefusedStatus, StageReport, WindowPlan};

/// What a data plane can do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLimits {
    /// Windows that may be armed at once.
    pub slots: usize,
    /// Largest window in beats of 64 bytes.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    /// Most ranks of a job.
    pub ranks_max: usize,
    /// Largest payload of a packet in beats of 64 bytes.
    pub payload_beats_max: usize,
}

impl PlaneLimits {
    /// A card built as `hw/contract` describes it. A real one is asked instead.
    pub const CARD: Self = Self {
        slots: limits::SLOTS,
        window_beats_max: limits::WINDOW_BEATS,
        hadamard_log2_max: limits::HADAMARD_LOG2_MAX,
        ranks_max: limits::RANKS_MAX,
        payload_beats_max: limits::PAYLOAD_BEATS_MAX,
    };
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
    /// Peers are at a collective whose windows are not armed here; its packets are kept as far as there is room.
    Ahead {
        /// Bucket of the collective.
        bucket: u16,
        /// Its number on the wire.
        step: u16,
        /// Whether it travels Hadamard-encoded.
        hadamard: bool,
    },
}

/// Moves the bytes of windows and says how their stages closed.
pub trait DataPlane {
    /// What can go wrong below the protocol. A data plane that returned an error may not be used any more.
    type Error: std::error::Error + Send + Sync + 'static;

    /// What this data plane can do at most.
    fn limits(&self) -> PlaneLimits;

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
}
