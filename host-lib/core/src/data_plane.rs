//! Interface between the control plane and the transport that moves the data: a SmartNIC, software,
//! or a simulation model. All send the same packets, so a job can mix them.
//!
//! A wrapper must forward every method, including [`DataPlane::set_gone`], which has a default.
//!
//! Buffers are lent, not copied. While windows of a collective are armed, the data plane owns its
//! gradient and its result.
//!
//! Call order:
//! 1. `lend` the result.
//! 2. For each window, `arm`, then `contribute` once the gradient is lent. Skip `contribute` if the
//!    window closed without this rank.
//! 3. `poll` events. After the report of a window's broadcast stage, `take_result` frees its slot.
//! 4. `reclaim` both buffers when all windows are done.
//!
//! Call `flush` after each batch of commands.

use std::ops::Range;

use crate::protocol::{JobParams, PlaneLimits, Ranks, RefusedStatus, Stage, StageReport, View, WindowPlan};
use crate::values::Values;

/// Identifies memory of a collective that is lent to a data plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // fields explain themselves
pub struct Memory {
    /// Number of the collective.
    pub op: u32,
    pub role: Role,
    /// First element of the bucket in this memory. A window never spans two memories.
    pub first_element: usize,
}

impl Memory {
    pub(crate) fn holds(&self, plan: &WindowPlan) -> bool {
        self.op == plan.op && self.first_element <= plan.first_element
    }
}

/// Purpose of lent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Gradient of this rank: sent, never written.
    Gradient,
    /// Result: written while its windows are armed. Its previous content is ignored.
    Result,
}

impl Role {
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

/// Memory lent to a data plane.
#[derive(Debug, Default)]
pub struct LentMemory(Vec<(Memory, Values)>);

impl LentMemory {
    /// Lends memory.
    pub fn lend(&mut self, memory: Memory, values: Values) {
        self.0.push((memory, values));
    }

    /// Removes memory and returns its values. `None` if it is not lent.
    pub fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        let index = self.0.iter().position(|(of, _)| *of == memory)?;
        Some(self.0.swap_remove(index).1)
    }

    /// Returns the elements of a window.
    ///
    /// # Errors
    /// If no lent memory holds them.
    pub fn window(&self, plan: &WindowPlan, role: Role) -> Result<&[f32], WindowError> {
        let mut found = self.0.iter().filter_map(|(of, values)| values.get(place(*of, plan, role)?));
        found.next().ok_or(WindowError::NotLent { cookie: plan.cookie, role })
    }

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

    /// Like [`window`](Self::window), for writing.
    ///
    /// # Errors
    /// If no lent memory holds them.
    pub fn window_mut(&mut self, plan: &WindowPlan, role: Role) -> Result<&mut [f32], WindowError> {
        let mut found = self.0.iter_mut().filter_map(|(of, values)| values.get_mut(place(*of, plan, role)?));
        found.next().ok_or(WindowError::NotLent { cookie: plan.cookie, role })
    }
}

fn place(of: Memory, plan: &WindowPlan, role: Role) -> Option<std::ops::Range<usize>> {
    let begin = plan.first_element.checked_sub(of.first_element)?;
    ((of.op, of.role) == (plan.op, role)).then_some(begin..begin + plan.elements)
}

/// Output of a window, in the memory of the data plane.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowOutput<'a> {
    /// The window's elements of the result.
    pub elements: &'a [f32],
    /// Number of infinities and NaNs in `elements`. `None`: the data plane did not count them.
    pub not_finite: Option<u64>,
    /// [`Capability::RepairData`]. `None` without it: incomplete shards are then requested whole,
    /// unless they are encoded.
    pub repair: Option<RepairData<'a>>,
}

/// State of a window after its broadcast stage, in wire order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairData<'a> {
    /// Mean of the local shard as it was sent, with zeros where no contribution arrived.
    pub own: &'a [f32],
    /// Present if beats are missing.
    pub incomplete: Option<Incomplete>,
    /// After a reduce-scatter: beats of the local shard that lack contributions, in order, and the
    /// contributing ranks as indices in the view. Empty if the data plane does not track them.
    pub arrived: Vec<(Range<usize>, Ranks)>,
}

/// Received part of a window with missing beats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incomplete {
    /// All beats of an encoded window, since one beat changes a whole block of the output.
    pub gathered: Vec<f32>,
    /// Bitmap of the beats that the output contains.
    pub present: Vec<u64>,
}

/// Event from a data plane.
#[allow(missing_docs)] // other fields are as in the commands
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaneEvent {
    /// Report of a closed stage.
    Stage(StageReport),
    /// A command was refused.
    Refused { cookie: u32, status: RefusedStatus },
    /// Packets arrived for a collective without armed windows. Kept while there is room.
    Unexpected {
        bucket: u16,
        /// Number of the collective on the wire.
        step: u16,
    },
    /// [`Capability::RoundTrips`]: RTT of a packet and its answer.
    RoundTrip { peer: usize, rtt_ns: u64 },
}

/// Optional feature of a data plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// Reduce-scatter and all-gather.
    PartialCollectives,
    /// Views other than the job's first: ranks are dropped or join.
    Views,
    /// Reporting which beats of a window are missing.
    RepairData,
    /// Distinguishing late bytes from lost bytes.
    LateBytes,
    /// Keeping packets that arrive before their window is armed ([`PlaneEvent::Unexpected`]).
    Unexpected,
    /// Measuring the RTT of each peer and pacing by it.
    RoundTrips,
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::PartialCollectives => "partial collectives (reduce-scatter, all-gather)",
            Self::Views => "ranks that are dropped or join",
            Self::RepairData => "repair of broadcast losses",
            Self::LateBytes => "distinguishing late bytes from lost bytes",
            Self::Unexpected => "keeping packets that arrive before their window is armed",
            Self::RoundTrips => "rates that follow round-trip times",
        })
    }
}

/// Set of optional features of a data plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(u32);

impl Capabilities {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns the set with `capability` added.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | 1 << capability as u32)
    }

    /// True if `capability` is in the set.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 >> capability as u32 & 1 == 1
    }

    /// Returns an error unless `capability` is in the set.
    pub const fn require(self, capability: Capability) -> Result<(), Unsupported> {
        if self.has(capability) { Ok(()) } else { Err(Unsupported(capability)) }
    }
}

/// A capability that this data plane does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this rank's data plane does not support {0}; the software data plane (ranks without a card) does")]
pub struct Unsupported(pub Capability);

/// Rejection of a call, common to all data planes. The call changed nothing.
#[allow(missing_docs)] // the messages name the fields
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    #[error("window {cookie:#010x}: no slot is free, all {slots} are in use")]
    NoFreeSlot { cookie: u32, slots: usize },
    /// The window is not armed, or not in a state for the call.
    #[error(
        "window {cookie:#010x} is not in a state for {command}; commands are arm, contribute, take_result, each once"
    )]
    WrongState { cookie: u32, command: &'static str },
    #[error("rank {rank} is not in view {view}; it must rejoin before it continues")]
    OutsideView { view: u32, rank: usize },
    #[error("window {cookie:#010x}: no lent {role} holds all its elements; lend it first")]
    NotLent { cookie: u32, role: Role },
}

/// Moves the data of windows and reports how their stages closed.
///
/// Methods with [`Error`](Self::Error) also fail if the data plane is broken. Methods of a
/// [`Capability`] fail without it.
pub trait DataPlane {
    /// Error of a call. A rejection, such as [`WindowError`], changes nothing. After any other
    /// error the data plane must not be used. [`Collectives`](crate::Collectives) stops at both.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Returns the limits of this data plane.
    fn limits(&self) -> PlaneLimits;

    /// Returns the optional features. Callers do not use undeclared ones.
    fn capabilities(&self) -> Capabilities;

    /// Lends memory of a collective.
    fn lend(&mut self, memory: Memory, values: Values);

    /// Returns lent memory, even if part of it was not sent; `None` if it is not lent. Must not be
    /// called while windows in it are armed.
    fn reclaim(&mut self, memory: Memory) -> Option<Values>;

    /// Moves a lent result to the memory `values`, with the data received so far. Returns the old
    /// memory.
    ///
    /// # Errors
    /// `values`, unused, if the data plane cannot do this, or windows in the memory have closed.
    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values>;

    /// Reserves a slot for a window and opens its stages to the peers.
    ///
    /// # Errors
    /// If no slot is free, the result is not lent, or the window does not fit the data plane.
    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), Self::Error>;

    /// Sends this rank's gradient of the window. A window that is not armed is an error or a
    /// [`PlaneEvent::Refused`].
    ///
    /// # Errors
    /// If the gradient is not lent, or the window was contributed before.
    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), Self::Error>;

    /// Submits the commands so far, with one doorbell.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// Returns the next event, if any. Never blocks, and does a bounded amount of work.
    fn poll(&mut self) -> Result<Option<PlaneEvent>, Self::Error>;

    /// Completes the window's elements of the result, calls `look` once with them, and frees the
    /// slot.
    ///
    /// # Errors
    /// If the window's broadcast stage was not reported.
    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), Self::Error>;

    /// [`Capability::LateBytes`]: total fp32 bytes that arrived after their stage had closed,
    /// without known duplicates. `None` without the capability.
    fn late_bytes(&self) -> Option<u64>;

    /// [`Capability::RoundTrips`]: sets the send rate to a peer, in bytes on the wire per
    /// microsecond, or 0 for no limit.
    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), Self::Error>;

    /// [`Capability::Unexpected`]: cancels a window that was armed because of
    /// [`PlaneEvent::Unexpected`] and is not contributed. Drops its queued events; its packets
    /// count as unexpected again.
    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), Self::Error>;

    /// [`Capability::Views`]: a view was decided, and its packets may arrive. Until the view is
    /// entered they are kept, or dropped if the data plane cannot. Also called without the
    /// capability.
    fn announce(&mut self, view: &View);

    /// [`Capability::Views`]: enters a view, for windows armed later. Ranks in plans, parameters
    /// and reports are indices in it. Returns `false` while windows of the previous view must end.
    ///
    /// # Errors
    /// If the data plane cannot work with these ranks.
    fn enter(&mut self, view: &View) -> Result<bool, Self::Error>;

    /// [`Capability::Views`]: ranks of the job from which anything arrived since the last call.
    /// Empty if the data plane knows only its stage reports.
    fn take_heard(&mut self) -> Ranks;

    /// Marks the process of a rank as ended, or as replaced by a new one. Stages need not wait for
    /// an ended process until their bound.
    fn set_gone(&mut self, _rank: usize, _is_gone: bool) {}
}
