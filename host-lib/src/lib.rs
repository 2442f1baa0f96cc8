//! OptiReduce's host library: bounded, loss-tolerant all-reduce of gradients.
//!
//! * [`protocol`]: the control plane. Pure: no sockets, threads, clocks or randomness; time and reports go in, actions
//!   and the next wake-up time come out.
//! * [`DataPlane`]: the seam below it. A data plane moves the bytes of windows and says how their stages closed.
//! * [`SmartNic`]: the data plane of an OptiReduce card, over the driver's rings.
//! * [`software`]: the data plane of ranks without a card, pure below the socket.
//! * [`Collectives`]: drives collectives over a data plane: all-reduces, and their two halves, reduce-scatter and all-gather.
//! * [`Communicator`]: one rank over UDP, with an engine thread, and broadcasts and barriers on a reliable channel.
//!
//! Call order of a rank: open the card ([`optireduce_driver::Nic::open`]), [`SmartNic::new`], [`Collectives::new`],
//! then for every bucket [`Collectives::prepare`] ahead of time, [`Collectives::start`] once the gradient is there,
//! and
//! [`Collectives::poll`] until the collective is finished.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

pub mod bootstrap;
mod collectives;
mod communicator;
mod data_plane;
pub mod hadamard;
pub mod protocol;
pub mod reliable;
mod repairs;
mod smartnic;
pub mod software;
mod spans;
pub mod udp;

pub use collectives::{Call, Collectives, CollectivesError, Finished, MessageError, News};
pub use communicator::{
    BOUND_MIN, Bound, Builder, Communicator, ConnectError, Early, EngineError, Metrics, Pending, TwoLevel,
};
pub use data_plane::{DataPlane, PlaneEvent, PlaneLimits};
pub use repairs::Remains;
pub use smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
