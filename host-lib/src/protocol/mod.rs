//! The control plane of OptiReduce, pure: no sockets, threads, clocks or randomness of its own.
//!
//! [`AllReduce`] is one collective of one bucket. It cuts the bucket into windows ([`plan_windows`]), says when to arm
//! and when to contribute each, checks what the data plane reports, and sums it up in a [`Report`]. Around it:
//! [`Safeguard`] (skip or halt under heavy loss), [`HadamardSwitch`] (when to encode), [`bound_from_warmup`] (the stage
//! bound t_B) and [`rounds`] (the schedule of Transpose AllReduce and its golden numbers).
//!
//! Times are nanoseconds on the caller's clock, which must not run backwards.

mod accounting;
mod all_reduce;
mod bound;
mod early;
mod hadamard_switch;
mod incast;
mod params;
mod plan;
mod rate;
mod report;
pub mod rounds;
mod safeguard;

pub use accounting::{Metrics, PeerMetrics, StageMetrics};
pub use all_reduce::{Action, AllReduce, ProtocolError};
pub use bound::{BoundWatch, RUNS_MIN, TooFewSamples, bound_from_warmup};
pub use early::EarlyController;
pub use hadamard_switch::{HadamardMode, HadamardSwitch};
pub use incast::IncastController;
pub use params::{EarlyRule, INCAST_MAX, JobParams, ParamError};
pub use plan::{PlanError, WindowPlan, plan_windows};
pub use rate::{FEEDBACK_PACKETS, RateController};
pub use report::{ClosedBy, RefusedStatus, Report, Stage, StageReport, StageSummary, UpdateAction};
pub use safeguard::{LOSS_SKIP, SKIPS_HALT, Safeguard};
