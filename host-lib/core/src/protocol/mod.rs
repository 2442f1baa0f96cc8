//! Control plane of OptiReduce: pure state machines.
//!
//! [`AllReduce`] is one collective of one bucket, of any [`Kind`]. It cuts the bucket into windows
//! ([`plan_windows`]), decides when to arm and contribute each, and sums up the stages in a
//! [`Report`]. Around it:
//! * Timing and pacing: [`BoundEstimator`] (t_B), [`EarlyController`] (t_C), [`IncastController`]
//!   (senders per receiver), [`RateController`] (rate per peer), [`rounds`] (schedule).
//! * Loss: [`HadamardMode`] (encoding), [`Safeguard`] (skip or halt), [`Votes`] (agreement on a
//!   skip), [`repair`] (losses of broadcast stages), [`Metrics`].
//! * Stragglers: [`partial_reduce`] (averages the models of the ranks that are ready).
//! * Agreement: [`Control`] (settings and membership) over [`membership`] (views), [`CallCheck`]
//!   (same calls on all ranks), [`Arming`] (start of collectives in a job with cards).
//!
//! Times are nanoseconds on the caller's monotonic clock.

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
