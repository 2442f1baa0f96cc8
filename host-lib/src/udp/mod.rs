//! The UDP engine: ranks without cards.

mod mtu;
mod plane;
mod seal;
mod socket;
mod unsent;

pub use mtu::{PathError, payload_beats_of};
pub use plane::{Udp, UdpError};
pub(crate) use seal::SEAL_BYTES;
pub use seal::SealDrops;
pub use unsent::Unsent;
