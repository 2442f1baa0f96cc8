//! The UDP engine: ranks without cards.

mod mtu;
mod plane;
mod socket;

pub use mtu::PathError;
pub use plane::{Udp, UdpError, Unconnected, payload_beats_of};
