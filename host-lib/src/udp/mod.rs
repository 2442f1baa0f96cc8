//! The UDP engine: ranks without cards.

mod mtu;
mod plane;
mod socket;

pub use mtu::PathError;
pub use plane::{Udp, UdpError, payload_beats_of};
