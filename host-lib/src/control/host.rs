//! Texts of hosts, with and without ports.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the host, without the brackets of an IPv6 address, and the port of host:port.
pub(super) fn host_and_port(root: &str) -> Option<(&str, u16)> {
    let (host, port) = root.rsplit_once(':')?;
    let bare = host.strip_prefix('[').map_or(Some(host), |host| host.strip_suffix(']'))?;
    let is_ipv6 = |host: &str| host.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_host = !bare.is_empty() && (is_ipv6(bare) || !bare.contains([':', '[', ']']));
    is_host.then_some(bare).zip(port.parse().ok())
}

/// Whether a host is a loopback address, or a name for it.
pub(super) fn is_loopback(host: &str) -> bool {
    let is_name = host.starts_with("localhost") || host.starts_with("ip6-lo");
    is_name || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns host:port, with brackets around an IPv6 address.
pub(super) fn with_port(host: &str, port: u16) -> String {
    match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}
