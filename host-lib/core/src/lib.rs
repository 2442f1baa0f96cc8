//! OptiReduce's protocol without I/O: no sockets, threads, clocks or random numbers.
//!
//! * [`protocol`]: the control plane, pure state machines.
//! * [`DataPlane`]: the interface to the transport that moves the data. Optional features are
//!   declared as [`Capabilities`].
//! * [`protocol::Message`]: messages between ranks other than packets, with their encoding.
//! * [`software`]: the data plane of ranks without a card, up to the socket.
//! * [`levels`]: all-reduces on two levels.
//! * [`hadamard`]: the randomised Hadamard transform, bit-identical to the card's.
//! * [`Collectives`]: drives collectives over a data plane. [`GroupAverages`] does the same for the
//!   groups of Partial Reduce.
//!
//! Applications use the crate `optireduce`, which adds sockets, the card and the bootstrap. The
//! caller passes in the time and all received data, so a simulated run repeats from its seed.
//!
//! Call order of a rank: [`Collectives::new`] over a data plane. Then, for every bucket,
//! [`Collectives::prepare`] ahead of time, [`Collectives::start`] when the gradient is ready, and
//! [`Collectives::poll`] until the collective is finished.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

mod collectives;
mod data_plane;
mod decode;
pub mod hadamard;
pub mod levels;
pub mod protocol;
mod repairs;
pub mod software;
mod spans;
mod values;

pub use collectives::{
    Averaged, Call, Collectives, CollectivesError, Finished, GroupAverages, GroupLoss, MembershipEvent, MessageError,
    Repair,
};
pub use data_plane::{
    Capabilities, Capability, DataPlane, Incomplete, LentMemory, Memory, PlaneEvent, RepairData, Role, Unsupported,
    WindowError, WindowOutput,
};
pub use protocol::PlaneLimits;
pub use values::{Destination, Loan, Values};
