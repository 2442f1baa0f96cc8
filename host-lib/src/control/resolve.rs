//! Resolution of rank 0's address, and of this host's address on the route to it.
//!
//! Many hosts know their own name as a loopback address (Debian: 127.0.1.1), which other hosts
//! cannot reach. Such a name stands for the host's address on a network.
//!
//! The C library's resolver has no deadlines. It runs on a thread that is abandoned at the
//! deadline.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::ifaddrs::InterfaceAddress;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;

use super::bootstrap::{BootstrapError, io_error};
use super::host::{host_and_port, is_loopback, with_port};
use super::launch::Launch;

/// The name of rank 0 may not be registered yet.
const RETRY: Duration = Duration::from_millis(200);
/// Documentation addresses (RFC 5737, RFC 3849), to look up the default route.
const ELSEWHERE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

impl Launch {
    /// Returns this host's address for the other ranks, if rank 0 is on it. `near` is a host of the
    /// job, by default one behind the default route; `interface` as
    /// [`Settings::interface`](crate::Settings::interface). Waits at most `timeout` for the name
    /// server.
    ///
    /// # Errors
    /// If `near` has no address, or there is no route to it.
    pub fn own_address(near: Option<&str>, interface: Option<&str>, timeout: Duration) -> io::Result<IpAddr> {
        let Some(host) = near else { return Ok(outward_address(interface).unwrap_or(Ipv4Addr::LOCALHOST.into())) };
        let found = resolve(&with_port(host, 9), interface, Instant::now() + timeout);
        found.and_then(|found| local_address(interface, &found)).map_err(io::Error::other)
    }

    /// Returns the addresses of `host`, a name or an address, as other hosts see them. A name of
    /// this host may mean a loopback address here. Waits at most `timeout` for the name server.
    ///
    /// # Errors
    /// If the host has no address.
    pub fn resolve(host: &str, timeout: Duration) -> io::Result<Vec<IpAddr>> {
        let found = look_up(host, 0, None, Instant::now() + timeout)?;
        Ok(found.iter().map(SocketAddr::ip).collect())
    }
}

/// Resolves `root` (host:port); retries until `deadline`. `interface`: as in [`local_address`].
pub(crate) fn resolve(
    root: &str,
    interface: Option<&str>,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, BootstrapError> {
    let no_host = || io_error(root)(io::Error::other("expected host:port"));
    let (host, port) = host_and_port(root).ok_or_else(no_host)?;
    let begin = Instant::now();
    loop {
        let error = match look_up(host, port, interface, deadline) {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        if Instant::now() + RETRY >= deadline {
            let waited = begin.elapsed();
            return Err(BootstrapError::NoAddress { root: root.to_owned(), waited, source: error });
        }
        tracing::debug!(root, %error, "rank 0's name is not resolved yet");
        std::thread::sleep(RETRY);
    }
}

/// Resolves a host once.
fn look_up(host: &str, port: u16, interface: Option<&str>, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (sender, found) = channel();
    let name = host.to_owned();
    let look_up = move || drop(sender.send((&*name, port).to_socket_addrs().map(Iterator::collect::<Vec<_>>)));
    std::thread::Builder::new().name("optireduce-resolve".into()).spawn(look_up)?;
    match found.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(addresses)) if !addresses.is_empty() => Ok(as_others_see(host, addresses, interface)),
        Ok(Ok(_)) => Err(io::Error::other("the name has no address")),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the name server does not answer")),
    }
}

fn as_others_see(host: &str, mut found: Vec<SocketAddr>, interface: Option<&str>) -> Vec<SocketAddr> {
    if is_loopback(host) {
        return found;
    }
    let port = found[0].port();
    let own = found.iter().all(|address| address.ip().is_loopback()).then(|| outward_address(interface)).flatten();
    found.retain(|address| !address.ip().is_loopback());
    match own {
        Some(own) => vec![SocketAddr::new(own, port)],
        None if found.is_empty() => vec![(Ipv4Addr::LOCALHOST, port).into()],
        None => found,
    }
}

/// Returns this host's address for other hosts: the interface's, or the one on the default route,
/// or the first on a network. `None` if it is on no network.
pub(crate) fn outward_address(interface: Option<&str>) -> Option<IpAddr> {
    if interface.is_some() {
        return local_address(interface, &[]).ok();
    }
    let on_default_route = ELSEWHERE.iter().find_map(|address| local_address(None, &[(*address, 9).into()]).ok());
    on_default_route.or_else(|| {
        let up = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        let is_up =
            |one: &InterfaceAddress| one.flags.contains(up) && !one.flags.contains(InterfaceFlags::IFF_LOOPBACK);
        let all = nix::ifaddrs::getifaddrs().ok()?.filter(is_up);
        let mut addresses: Vec<_> = all.filter_map(|one| ip_of(one.address.as_ref()?)).collect();
        addresses.retain(|address| !is_link_local(address));
        addresses.sort_by_key(IpAddr::is_ipv6);
        addresses.first().copied()
    })
}

fn is_link_local(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let ipv4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    ipv4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

/// Returns the address of `interface` (a name or an address), by default this host's address on the
/// route to `root`.
///
/// # Errors
/// If there is no address, or only a link-local one. Ranks exchange addresses without a scope.
pub(crate) fn local_address(interface: Option<&str>, root: &[SocketAddr]) -> Result<IpAddr, BootstrapError> {
    let names = || root.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ");
    let address = address_towards(interface, root, &names)?;
    if is_link_local(&address) {
        let what = match interface {
            Some(interface) => format!("interface {interface}"),
            None => format!("the route to rank 0 at {}", names()),
        };
        let found = format!(
            "found the link-local address {address}, expected an IPv4 address or a global or unique-local IPv6 address: \
             link-local ones mean another network on each host; set root and interface to such an address"
        );
        return Err(io_error(what)(io::Error::new(io::ErrorKind::Unsupported, found)));
    }
    Ok(address)
}

fn address_towards(
    interface: Option<&str>,
    root: &[SocketAddr],
    names: &dyn Fn() -> String,
) -> Result<IpAddr, BootstrapError> {
    if let Some(interface) = interface {
        if let Ok(address) = interface.parse() {
            return Ok(address);
        }
        let what = || format!("addresses of interface {interface}");
        let all = if_addrs::get_if_addrs().map_err(io_error(what()))?;
        let mut addresses: Vec<_> = all.iter().filter(|one| one.name == interface).map(|one| one.ip()).collect();
        let family = root.first().is_some_and(SocketAddr::is_ipv6);
        addresses.sort_by_key(|address| (is_link_local(address), address.is_ipv6() != family));
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
    Err(io_error(format!("the route to rank 0 at {}", names()))(last))
}

/// Returns the MAC address of the interface with this address, if it has one.
pub(crate) fn mac_of(address: IpAddr) -> Option<[u8; 6]> {
    let all: Vec<_> = nix::ifaddrs::getifaddrs().ok()?.collect();
    let has = |one: &&InterfaceAddress| one.address.as_ref().and_then(ip_of) == Some(address);
    // An address may have a label: "eth0:1" belongs to eth0.
    let name = all.iter().find(has)?.interface_name.split(':').next()?;
    let macs = all.iter().filter(|one| one.interface_name == name);
    macs.filter_map(|one| one.address.as_ref()?.as_link_addr()?.addr()).find(|mac| *mac != [0; 6])
}
