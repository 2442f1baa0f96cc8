//! OptiReduce's host library: bounded, loss-tolerant all-reduce of gradients.
//!
//! * [`protocol`]: the control plane. Pure: no sockets, threads, clocks or randomness; time and reports go in, actions
//!   and the next wake-up time come out.
//! * [`DataPlane`]: the seam below it. A data plane moves the bytes of windows and says how their stages closed.
//! * [`SmartNic`]: the data plane of an OptiReduce card, over the driver's rings.
//! * [`Communicator`]: drives collectives over a data plane.
//!
//! Call order of a rank: open the card ([`optireduce_driver::Nic::open`]), [`SmartNic::new`], [`Communicator::new`],
//! then for every bucket [`Communicator::prepare`] ahead of time, [`Communicator::start`] once the gradient is there,
//! and
//! [`Communicator::poll`] until the collective is finished.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

mod communicator;
mod data_plane;
pub mod hadamard;
pub mod protocol;
mod smartnic;

pub use communicator::{Communicator, CommunicatorError, Finished};
pub use data_plane::{DataPlane, PlaneEvent, PlaneLimits};
pub use smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
