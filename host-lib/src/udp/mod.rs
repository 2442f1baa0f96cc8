//! UDP engine for ranks without cards.

mod mtu;
mod pieces;
mod plane;
mod sender;
mod shared;
mod socket;
mod unsent;

pub use mtu::{PathError, payload_beats_of};
pub use plane::{Udp, UdpError, Unconnected, payload_beats};
pub use unsent::Unsent;
