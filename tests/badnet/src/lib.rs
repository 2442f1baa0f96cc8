//! Hosts joined by a lossy, slow network on one machine.
//!
//! Hosts are network namespaces with a TUN device each. The network is threads of the caller's
//! process, which drop, queue, delay or forward packets. It needs Linux, root, /dev/net/tun and
//! iproute2, but neither netem nor kernel modules. The command `badnet` runs programs on it.

mod hosts;
mod link;
mod output;
pub mod port;
mod relay;

pub use hosts::{Hosts, INTERFACE, Tcp, address};
pub use link::{Conditions, Link};
pub use output::{print, say};
pub use port::PortLimits;
pub use relay::{Counts, Relay};
