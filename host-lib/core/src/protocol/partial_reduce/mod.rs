//! Partial Reduce: workers that are ready average their models among themselves, and nobody waits for the rest.
//!
//! The other answer to stragglers: an all-reduce with a bound leaves out bytes that are late; this leaves out workers, and weights
//! models that are stale. One rank runs the [`Controller`]: ready signals go in, groups come out. A group averages models, not
//! gradients, with the [`weights`](weights::weights) of its members; then all of them carry the group's iteration.
//!
//! * `controller`: who averages with whom, and when.
//! * `weights`: how much the model of each member counts.
//! * `worker`: what each worker says and hears of that, and which of them has the controller.
//! * `message`: what workers tell one another.
//! * `sync_graph`: the guard against update isolation, as of two pairs of workers that never meet.
//!
//! Source: "Heterogeneity-Aware Distributed Machine Learning Training via Partial Reduce", SIGMOD'21.

mod controller;
mod message;
mod sync_graph;
mod weights;
mod worker;

pub use controller::{Controller, Group, Member, Params, ParamsError, RefusedReady};
pub use message::{
    ANSWER_ELEMENTS_MAX, BadPartialMessage, ElementRange, GroupMember, GroupPlan, PartialMessage, RANGES_MAX,
};
pub use sync_graph::SyncGraph;
pub use weights::{Weighting, weights};
pub use worker::{Worker, WorkerOutput, WorkerParams};
