//! Where rank 0 of a job listens, which all ranks must know before it does.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// An address on loopback that nobody else is given until rank 0 listens there: its port is never the same twice in a program, and below
/// those that the kernel hands out (`net.ipv4.ip_local_port_range`), any of which a connection of another test may get.
pub fn free_root() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() as u16).wrapping_mul(61);
    let ports = std::iter::repeat_with(|| 20_000 + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = ports.take(12_000).find(is_free).expect("a free port from 20000 to 31999");
    format!("127.0.0.1:{port}")
}
