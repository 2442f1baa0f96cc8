//! Hosts: network namespaces with a TUN device each, joined by a relay.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::link::Conditions;
use crate::output::say;
use crate::relay::Relay;

/// Name of the interface of every host.
pub const INTERFACE: &str = "bn0";
/// Packets between a host and the relay. Above any congestion window, so that hosts lose none.
const DEVICE_QUEUE_PACKETS: u32 = 5000;

const IP_TCP_BYTES: usize = 40;

/// TCP settings of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcp {
    /// Linux's defaults: cubic, minimum retransmission timeout of 200 ms.
    AsItComes,
    /// Cubic with a minimum retransmission timeout of 5 ms.
    Tuned,
}

/// Hosts with the addresses 10.77.0.1, 10.77.0.2 and so on. Removed when dropped.
pub struct Hosts {
    namespaces: Vec<String>,
    devices: Arc<Vec<SyncDevice>>,
}

impl Hosts {
    /// Creates `hosts` network namespaces. Needs root, /dev/net/tun and iproute2.
    pub fn new(hosts: usize, mtu: u16) -> Result<Self, String> {
        let own = std::process::id();
        let mut made = Self { namespaces: Vec::new(), devices: Arc::default() };
        let mut devices = Vec::new();
        for host in 0..hosts {
            let (namespace, outside) = (format!("badnet-{own}-{host}"), format!("bn{own}x{host}"));
            ip(&["netns", "add", &namespace])?;
            made.namespaces.push(namespace.clone());
            let device = DeviceBuilder::new().name(&outside).layer(Layer::L3).mtu(mtu).enable(false);
            let device = device.with(|linux| {
                linux.tx_queue_len(DEVICE_QUEUE_PACKETS);
            });
            let device = device.build_sync().map_err(|error| {
                format!("TUN device {outside}: {error}; hosts need root and /dev/net/tun (in a container: --cap-add NET_ADMIN --device /dev/net/tun)")
            })?;
            device.set_nonblocking(true).map_err(|error| format!("TUN device {outside}: {error}"))?;
            ip(&["link", "set", &outside, "netns", &namespace])?;
            let inside = |arguments: &[&str]| ip(&[&["-n", namespace.as_str()], arguments].concat());
            inside(&["link", "set", &outside, "name", INTERFACE])?;
            inside(&["address", "add", &format!("{}/24", address(host)), "dev", INTERFACE])?;
            inside(&["link", "set", INTERFACE, "mtu", &mtu.to_string(), "up"])?;
            inside(&["link", "set", "lo", "up"])?;
            devices.push(device);
        }
        made.devices = Arc::new(devices);
        Ok(made)
    }

    /// Sets the behaviour of TCP. `path_mtu` limits its segments, since there is no ICMP; 0: no
    /// limit.
    pub fn tcp(&self, tcp: Tcp, path_mtu: usize) -> Result<(), String> {
        let segment = path_mtu.saturating_sub(IP_TCP_BYTES).to_string();
        for (host, namespace) in self.namespaces.iter().enumerate() {
            let source = address(host).to_string();
            let mut route =
                vec!["-n", namespace, "route", "replace", "10.77.0.0/24", "dev", INTERFACE, "proto", "kernel"];
            route.extend(["scope", "link", "src", &source, "congctl", "cubic"]);
            if tcp == Tcp::Tuned {
                route.extend(["rto_min", "5ms"]);
            }
            if path_mtu > 0 {
                route.extend(["advmss", &segment]);
            }
            ip(&route)?;
        }
        Ok(())
    }

    /// Connects the hosts until the relay is dropped.
    pub fn join(&self, conditions: Conditions, seed: u64) -> Relay {
        Relay::start(&self.devices, conditions, seed)
    }

    /// Counts packets lost at sending devices and in full UDP sockets.
    pub fn own_losses(&self) -> String {
        let (mut unsent, mut overrun) = (0, 0);
        for host in 0..self.namespaces.len() {
            let read = |path: &str| {
                let output = self.command(host, "cat").arg(path).output();
                output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
            };
            let dropped = read(&format!("/sys/class/net/{INTERFACE}/statistics/tx_dropped"));
            unsent += dropped.trim().parse::<u64>().unwrap_or(0);
            let snmp = read("/proc/net/snmp");
            let mut udp = snmp.lines().filter_map(|line| line.strip_prefix("Udp: "));
            let (names, values) = (udp.next().unwrap_or_default(), udp.next().unwrap_or_default());
            let mut fields = names.split(' ').zip(values.split(' '));
            let found = fields.find(|(name, _)| *name == "RcvbufErrors");
            overrun += found.and_then(|(_, value)| value.parse::<u64>().ok()).unwrap_or(0);
        }
        format!("unsent {unsent}, socket full {overrun}")
    }

    /// Returns a command that runs in `host`.
    pub fn command(&self, host: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[host], program]);
        command
    }

    /// Path of a host's network namespace.
    pub fn namespace(&self, host: usize) -> PathBuf {
        Path::new("/run/netns").join(&self.namespaces[host])
    }

    /// Runs `ip` with these arguments in `host`.
    ///
    /// # Errors
    /// Standard error of `ip`.
    pub fn ip(&self, host: usize, arguments: &[&str]) -> Result<(), String> {
        ip(&[&["-n", self.namespaces[host].as_str()], arguments].concat())
    }

    /// Prefix of the namespaces' names, before the number of the host.
    pub fn prefix() -> String {
        format!("badnet-{}-", std::process::id())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            if let Err(error) = ip(&["netns", "delete", namespace]) {
                say(&format!("badnet: {error}"));
            }
        }
    }
}

/// Address of a host.
pub fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, host as u8 + 1)
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let said = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}; install iproute2", said()))?;
    if output.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}; hosts need root (and CAP_SYS_ADMIN in a container)", said(), error.trim()))
}
