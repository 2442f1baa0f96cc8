//! OptiReduce's protocol without I/O: no sockets, threads, clocks or randomness of its own.
//!
//! * [`protocol`]: the control plane. Time and reports go in; actions and the next wake-up time come out.
//! * [`DataPlane`]: the seam below it. A data plane moves the bytes of windows and reports how their stages closed; what it
//!   cannot do, it does not declare among its [`Capabilities`], and asking for it is an error.
//! * [`protocol::Message`]: everything that ranks tell one another outside packets, with its one encoding.
//! * [`software`]: the data plane of ranks without a card, up to the socket.
//! * [`hadamard`]: the randomised Hadamard transform, with the bits of the card.
//! * [`Collectives`]: drives collectives over a data plane; [`GroupAverages`] those of groups of Partial Reduce.
//!
//! Users link the crate `optireduce`, which adds sockets, the card and the bootstrap. This crate has none of them among its
//! dependencies, so that the protocol cannot come to depend on them: the UDP engine, the SmartNIC engine and the simulator
//! all drive the same code, and a run in virtual time repeats from its seed.
//!
//! Call order of a rank: [`Collectives::new`] over a data plane, then for every bucket [`Collectives::prepare`] ahead of
//! time, [`Collectives::start`] once the gradient is there, and [`Collectives::poll`] until the collective is finished.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

mod collectives;
mod data_plane;
mod decode;
pub mod hadamard;
pub mod protocol;
mod repairs;
pub mod software;
mod spans;
mod values;

pub use collectives::{
    Averaged, Call, Collectives, CollectivesError, Finished, GroupAverages, GroupLoss, MembershipEvent, MessageError,
};
pub use data_plane::{
    Capabilities, Capability, DataPlane, Incomplete, LentMemory, Memory, PlaneEvent, RepairData, Role, Unsupported,
    WindowError, WindowOutput,
};
pub use protocol::PlaneLimits;
pub use values::{Destination, Loan, Values};
