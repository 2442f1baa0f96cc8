//! Hosts joined by a lossy, slow network on one machine.
//!
//! Hosts are network namespaces with a TUN device each; the network is threads of the caller's process, which lose, queue, delay or
//! hand over every packet. Why: any program that speaks IPv4 can be tried on a bad network, without netem or kernel modules.
//! Linux, root, /dev/net/tun and iproute2. The command `badnet` runs programs on it.

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
