//! OptiReduce's host library: bounded, loss-tolerant all-reduce of gradients.
//!
//! * [`Communicator`]: one rank over UDP, with an engine thread, and broadcasts and barriers on a reliable channel.
//! * [`SmartNic`]: the data plane of an OptiReduce card, over the driver's rings.
//! * [`bootstrap`]: brings the ranks of a job together.
//!
//! The protocol itself is the crate `optireduce-core`, which has no I/O.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

pub mod bootstrap;
mod communicator;
pub mod reliable;
#[cfg(feature = "smartnic")]
mod smartnic;
pub mod udp;

pub use communicator::{
    BOUND_MIN, Bound, Builder, Communicator, ConnectError, Early, EngineError, Metrics, Pending, TwoLevel,
};
pub use optireduce_core::{
    Call, Collectives, CollectivesError, DataPlane, Finished, MembershipEvent, MessageError, PlaneEvent, PlaneLimits,
    Remains, protocol, software,
};
#[cfg(feature = "smartnic")]
pub use smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
