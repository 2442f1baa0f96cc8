//! The control plane of OptiReduce, pure: no sockets, threads, clocks or randomness of its own.
//!
//! [`AllReduce`] is one collective of one bucket: an all-reduce, or one of its two stages as a collective of its own ([`Kind`]). It cuts the bucket into windows ([`plan_windows`]), says when to arm
//! and when to contribute each, checks what the data plane reports, and sums it up in a [`Report`]. Around it:
//!
//! * Timing and pace: [`BoundEstimator`] (t_B), [`EarlyController`] (t_C), [`IncastController`] (how
//!   many send at a time), [`RateController`] (how fast), [`rounds`] (the schedule of Transpose AllReduce, also in 2D, and
//!   its golden numbers).
//! * Loss: [`HadamardMode`] (when to encode), [`Safeguard`] (skip or halt), [`Votes`] (on all ranks alike), [`repair`] (fetches what broadcasts lost),
//!   [`Metrics`] (loss per peer and stage over time).
//! * Stragglers, the other way: [`partial_reduce`] (workers that are ready average their models, nobody waits for the rest).
//! * Agreement: [`Control`] (who takes part, the bound, the transform: all change at the same collective everywhere) over
//!   [`membership`] (which view is used from which collective on). [`Arming`]: when a collective may begin in a job with cards.
//!
//! Times are nanoseconds on the caller's clock, which must not run backwards.

mod accounting;
mod all_reduce;
mod arming;
mod bound;
mod calls;
mod control;
mod early;
mod hadamard_mode;
mod incast;
pub mod membership;
mod message;
mod params;
mod partial;
pub mod partial_reduce;
mod plan;
mod rate;
pub mod repair;
mod report;
pub mod rounds;
mod safeguard;
mod stream;
mod types;
mod votes;

pub use accounting::{Metrics, PeerMetrics, StageMetrics};
pub use all_reduce::{Action, AllReduce, ProtocolError};
pub use arming::{Arming, ArmingMessage};
pub use bound::{BoundEstimator, BoundParams, STAGES_MIN};
pub use calls::{CallCheck, CallInfo, CallMessage, Mismatch};
pub use control::Control;
pub use early::EarlyController;
pub use hadamard_mode::{CLEAN_OPS, HadamardMode, HadamardSwitch, LOSS_OFF, LOSS_ON};
pub use incast::IncastController;
pub use membership::{Membership, MembershipParams, View};
pub use message::{MESSAGE_BYTES_MAX, Malformed, MalformedMessage, Message, VERSION as MESSAGE_VERSION};
pub use params::{EarlyRule, INCAST_MAX, JobParams, ParamError};
pub use partial::{Parts, plan_partial};
pub use plan::{PlanError, WindowPlan, op_of_step, plan_windows};
pub use rate::{FEEDBACK_PACKETS, RateController};
pub use report::{RepairStatus, Report, StageReport, StageSummary};
pub use safeguard::{LOSS_SKIP, PACKETS_HALT, SKIPS_HALT, Safeguard, is_too_much};
pub use stream::{Stream, StreamId};
pub use types::{
    BUCKETS_MAX, ClosedBy, Kind, PeerHints, PlaneLimits, RANKS_MAX, Ranks, RefusedStatus, Stage, UpdateAction,
};
pub use votes::{Decided, VoteMessage, VoteParams, Votes};
