//! The UDP engine: ranks without cards.

mod plane;
mod socket;

pub use plane::{Udp, UdpError, Unconnected, payload_beats_of};
