//! Partial Reduce: workers that are ready average their models without waiting for the rest.
//!
//! Against stragglers, a bounded all-reduce leaves out late bytes; Partial Reduce leaves out
//! workers and weights stale models. One rank runs the [`Controller`]. The members of a group
//! average models, not gradients, and continue from the group's iteration.
//!
//! * `controller` forms groups.
//! * `worker` is one worker's side, and places the controller.
//! * `sync_graph` prevents update isolation, such as two pairs of workers that never meet.
//!
//! Source: "Heterogeneity-Aware Distributed Machine Learning Training via Partial Reduce",
//! SIGMOD'21.

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
