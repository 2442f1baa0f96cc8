//! Resolution of rank 0's address, and of this host's address on the route to it.
//!
//! The C library's resolver has no deadlines. It runs on a thread that is abandoned at the
//! deadline.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::ifaddrs::InterfaceAddress;
use nix::sys::socket::SockaddrStorage;

use super::bootstrap::{BootstrapError, io_error};

/// The name of rank 0 may not be registered yet.
const RETRY: Duration = Duration::from_millis(200);

/// Resolves `root` (host:port); retries until `deadline`.
pub(crate) fn resolve(root: &str, deadline: Instant) -> Result<Vec<SocketAddr>, BootstrapError> {
    if let Ok(address) = root.parse() {
        return Ok(vec![address]);
    }
    let begin = Instant::now();
    loop {
        let (sender, found) = channel();
        let name = root.to_owned();
        let look_up = move || drop(sender.send(name.to_socket_addrs().map(Iterator::collect::<Vec<_>>)));
        let thread = std::thread::Builder::new().name("optireduce-resolve".into()).spawn(look_up);
        thread.map_err(io_error("the thread that resolves rank 0's name"))?;
        let left = deadline.saturating_duration_since(Instant::now());
        let error = match found.recv_timeout(left) {
            Ok(Ok(addresses)) if !addresses.is_empty() => return Ok(addresses),
            Ok(Ok(_)) => io::Error::other("the name has no address"),
            Ok(Err(error)) => error,
            Err(_) => io::Error::new(io::ErrorKind::TimedOut, "the name server does not answer"),
        };
        if Instant::now() + RETRY >= deadline {
            let waited = begin.elapsed();
            return Err(BootstrapError::NoAddress { root: root.to_owned(), waited, source: error });
        }
        tracing::debug!(root, %error, "rank 0's name is not resolved yet");
        std::thread::sleep(RETRY);
    }
}

/// Returns the address of `interface` (a name or an address), by default this host's address on the
/// route to `root`.
pub(crate) fn local_address(interface: Option<&str>, root: &[SocketAddr]) -> Result<IpAddr, BootstrapError> {
    if let Some(interface) = interface {
        if let Ok(address) = interface.parse() {
            return Ok(address);
        }
        let what = || format!("addresses of interface {interface}");
        let all = if_addrs::get_if_addrs().map_err(io_error(what()))?;
        let mut addresses: Vec<_> = all.iter().filter(|one| one.name == interface).map(|one| one.ip()).collect();
        addresses.sort_by_key(IpAddr::is_ipv6);
        let mut names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        names.dedup();
        let none = || io::Error::other(format!("none found; the interfaces of this host are {}", names.join(", ")));
        return addresses.first().copied().ok_or_else(|| io_error(what())(none()));
    }
    // Sends no packet: `connect` on UDP only looks up the route.
    let route = |root: &SocketAddr| {
        let socket = UdpSocket::bind(if root.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        socket.connect(root)?;
        socket.local_addr().map(|address| address.ip())
    };
    let mut last = io::Error::other("the name has no address");
    for address in root {
        match route(address) {
            Ok(local) => return Ok(local),
            Err(error) => last = error,
        }
    }
    let names: Vec<String> = root.iter().map(SocketAddr::to_string).collect();
    Err(io_error(format!("the route to rank 0 at {}", names.join(", ")))(last))
}

/// Returns the MAC address of the interface with this address, if it has one.
pub(crate) fn mac_of(address: IpAddr) -> Option<[u8; 6]> {
    let all: Vec<_> = nix::ifaddrs::getifaddrs().ok()?.collect();
    let ip = |at: &SockaddrStorage| match address {
        IpAddr::V4(_) => at.as_sockaddr_in().map(|at| IpAddr::V4(at.ip())),
        IpAddr::V6(_) => at.as_sockaddr_in6().map(|at| IpAddr::V6(at.ip())),
    };
    let has = |one: &&InterfaceAddress| one.address.as_ref().and_then(ip) == Some(address);
    // An address may have a label: "eth0:1" belongs to eth0.
    let name = all.iter().find(has)?.interface_name.split(':').next()?;
    let macs = all.iter().filter(|one| one.interface_name == name);
    macs.filter_map(|one| one.address.as_ref()?.as_link_addr()?.addr()).find(|mac| *mac != [0; 6])
}
