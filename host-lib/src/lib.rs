//! OptiReduce's host library: bounded, loss-tolerant all-reduce of gradients.
#![deny(unsafe_code)]

mod communicator;
mod control;
#[cfg(feature = "smartnic")]
mod smartnic;
mod udp;

pub use communicator::{
    BOUND_MIN, Bound, Bucket, BucketOptions, Builder, Communicator, ConnectError, Early, Error, Metrics, ReduceOp,
    Report, Request, TwoLevel, TwoLevelBucket,
};
pub use control::{
    BootstrapError, ControlError, Launch, LaunchError, Mismatch, ROOT_PORT_DEFAULT, Refusal, TORCH_PORT_OFFSET,
};
pub use optireduce_core::protocol::repair::RepairReport;
pub use optireduce_core::protocol::{
    ClosedBy, HadamardMode, Kind, Metrics as CollectiveMetrics, PeerMetrics, Stage, StageMetrics, StageSummary,
    UpdateAction,
};
pub use optireduce_core::software::Counters;
#[cfg(feature = "smartnic")]
pub use smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
