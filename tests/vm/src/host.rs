//! Host side: a network, the served cards, and ranks without cards.
//!
//! The program runs in its own namespaces (see [`enter`]), so that it needs no root and its
//! addresses never collide. Machines, cards and ranks share one bridge.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::text;

/// Marks a process inside the namespaces.
const INSIDE: &str = "OPTIREDUCE_VM_INSIDE";
const NETWORK: &str = "10.99.0";

/// Restarts the program in new namespaces (user, network, processes), unless it runs there. Its
/// child processes end with it.
pub fn enter() -> Result<(), String> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(text)?;
    let mut again = Command::new("unshare");
    again.args(["--map-root-user", "--net", "--pid", "--fork", "--kill-child"]).arg(program);
    let error = again.args(std::env::args_os().skip(1)).env(INSIDE, "1").exec();
    Err(format!("unshare: {error}; it is part of util-linux"))
}

pub fn address(host: u8) -> String {
    format!("{NETWORK}.{host}")
}

/// Creates a bridge with these addresses, and an interface on it for each machine.
pub fn network(hosts: &[u8], taps: &[&str]) -> Result<(), String> {
    ip("link set lo up")?;
    ip("link add br0 type bridge")?;
    for host in hosts {
        ip(&format!("address add {}/24 dev br0", address(*host)))?;
    }
    for tap in taps {
        ip(&format!("tuntap add dev {tap} mode tap")).map_err(|error| {
            format!("{error}; virtual machines need /dev/net/tun (in a container: --device /dev/net/tun) and user namespaces")
        })?;
        ip(&format!("link set {tap} master br0 up"))?;
    }
    ip("link set br0 up")
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

pub struct Card {
    process: Child,
    pub socket: PathBuf,
    /// File whose creation makes the card leave.
    leave: PathBuf,
    trace: PathBuf,
}

impl Card {
    /// Serves a card with packet loss of probability `loss`. `cycles`: simulates the Verilog and
    /// records a trace.
    pub fn serve(programs: &Path, scratch: &Path, host: u8, loss: f64, cycles: bool) -> Result<Self, String> {
        let file = |kind: &str| scratch.join(format!("card{host}.{kind}"));
        let [socket, log, leave, trace] = ["sock", "log", "leave", "trace"].map(file);
        let said = File::create(&log).map_err(text)?;
        let mut command = Command::new(programs.join("optireduce-sim"));
        command.args(["serve", "--network", &format!("udp:{}", address(host)), "--loss", &loss.to_string()]);
        command.arg("--socket").arg(&socket).arg("--leave-when").arg(&leave);
        if cycles {
            command.args(["--engine", "verilator", "--trace"]).arg(&trace);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(said);
        let process = command.spawn().map_err(|error| format!("optireduce-sim: {error}"))?;
        let mut card = Self { process, socket, leave, trace };
        // The card is ready after its first line.
        let mut said = String::new();
        let read = card.process.stdout.as_mut().map(|output| BufReader::new(output).read_line(&mut said));
        match read {
            Some(Ok(1..)) => Ok(card),
            _ => {
                let why = std::fs::read_to_string(log).unwrap_or_default();
                Err(format!("optireduce-sim serve at {}: it ended: {}", address(host), why.trim()))
            }
        }
    }

    /// Accepted beats so far, one line each.
    pub fn trace(&self) -> Result<String, String> {
        let all = std::fs::read_to_string(&self.trace).map_err(|error| format!("{}: {error}", self.trace.display()))?;
        // The last line may be incomplete.
        Ok(all[..all.rfind('\n').map_or(0, |end| end + 1)].to_owned())
    }

    /// Makes the card leave the bus. The process stays, since QEMU 11.1 may abort if a socket is
    /// closed during an access.
    pub fn leave(&self) -> Result<(), String> {
        File::create(&self.leave).map(drop).map_err(text)
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
