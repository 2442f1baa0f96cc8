//! Injects a fault, and removes it again.

use std::time::{Duration, Instant};

use optireduce_badnet::{Conditions, Hosts, INTERFACE, Relay, address};
use rustix::process::Signal;

use crate::process::{Process, wait};
use crate::scenario::{Fault, Scenario};
use crate::strangers::{Strangers, ports};

/// Path MTU in bytes that control messages pass and gradients do not.
const SMALL_MTU: usize = 400;
/// Delay of duplicates, in milliseconds.
const AGAIN_MS: [f64; 3] = [0.0, 3.0, 50.0];
/// Stopped and running times of a slow process.
const PULSE: [Duration; 2] = [Duration::from_millis(40), Duration::from_millis(10)];

pub struct Stage<'a> {
    pub scenario: &'a Scenario,
    pub hosts: &'a Hosts,
    pub relay: &'a Relay,
}

impl Stage<'_> {
    /// Injects the fault, waits, and removes it.
    pub fn strike(
        &self,
        ranks: &mut Vec<Process>,
        restart: impl Fn() -> Result<Process, String>,
    ) -> Result<(), String> {
        let Scenario { fault, victim, for_ms, .. } = *self.scenario;
        let until = Instant::now() + Duration::from_millis(for_ms);
        let pass = || {
            wait(until, || false);
        };
        match fault {
            Fault::DiskFull => {}
            Fault::Kill => ranks[victim].signal(Signal::KILL),
            Fault::Restart => {
                ranks[victim].signal(Signal::KILL);
                pass();
                ranks.push(restart()?);
            }
            Fault::Stop => {
                ranks[victim].signal(Signal::STOP);
                pass();
                ranks[victim].signal(Signal::CONT);
            }
            Fault::Slow => {
                while !wait(Instant::now(), || Instant::now() >= until) {
                    ranks[victim].signal(Signal::STOP);
                    std::thread::sleep(PULSE[0]);
                    ranks[victim].signal(Signal::CONT);
                    std::thread::sleep(PULSE[1]);
                }
            }
            Fault::Interface => {
                self.hosts.ip(victim, &["link", "set", INTERFACE, "down"])?;
                pass();
                self.hosts.ip(victim, &["link", "set", INTERFACE, "up"])?;
            }
            Fault::Prohibited => self.routes("prohibit", pass)?,
            Fault::Unreachable => self.routes("unreachable", pass)?,
            Fault::SilentStrangers | Fault::SlowStrangers | Fault::LoudStrangers | Fault::Datagrams => {
                let stranger = self.scenario.ranks;
                let ports = (0..self.scenario.ranks).flat_map(|host| self.ports(host)).collect();
                let _strangers = Strangers::start(fault, self.hosts.namespace(stranger), ports, self.scenario.seed);
                pass();
            }
            Fault::Mute | Fault::Deaf | Fault::Cut | Fault::Loss | Fault::PathMtu | Fault::Replay | Fault::Forgery => {
                self.network(true);
                pass();
                self.network(false);
            }
        }
        Ok(())
    }

    fn network(&self, is_broken: bool) {
        let Scenario { fault, victim, ranks, .. } = *self.scenario;
        let good = Conditions { delay_p99_over_p50: 1.0, ..Conditions::default() };
        // Duplicates reach the same collective, the next ones, or a later one in the same place of
        // the window table.
        let after_ms = AGAIN_MS[self.scenario.seed as usize % AGAIN_MS.len()];
        let again = Conditions { replay: 1.0, replay_after_ms: after_ms, ..good };
        let (bad, from_victim, to_victim, others) = match fault {
            Fault::Mute => (Conditions { loss: 1.0, ..good }, true, false, false),
            Fault::Deaf => (Conditions { loss: 1.0, ..good }, false, true, false),
            Fault::Cut => (Conditions { loss: 1.0, ..good }, true, true, false),
            Fault::Loss => (Conditions { loss: 0.08, ..good }, true, true, true),
            Fault::PathMtu => (Conditions { path_mtu: SMALL_MTU, ..good }, true, true, false),
            Fault::Replay => (again, false, true, false),
            _ => (Conditions { garble: 0.9, ..again }, false, true, false),
        };
        for from in 0..ranks {
            for to in (0..ranks).filter(|to| *to != from) {
                let is_struck = from == victim && from_victim || to == victim && to_victim || others;
                self.relay.change(from, to, if is_broken && is_struck { bad } else { good });
            }
        }
    }

    /// Makes the victim's kernel refuse packets to all others.
    fn routes(&self, kind: &str, pass: impl Fn()) -> Result<(), String> {
        let Scenario { victim, ranks, .. } = *self.scenario;
        let others = (0..ranks).filter(|host| *host != victim).map(|host| format!("{}/32", address(host)));
        let others: Vec<String> = others.collect();
        for to in &others {
            self.hosts.ip(victim, &["route", "add", kind, to])?;
        }
        pass();
        for to in &others {
            self.hosts.ip(victim, &["route", "delete", kind, to])?;
        }
        Ok(())
    }

    /// Sockets of a host: whether each is TCP, and its address.
    pub fn ports(&self, host: usize) -> Vec<(bool, std::net::SocketAddr)> {
        let read = |path: &str| {
            let output = self.hosts.command(host, "cat").arg(path).output();
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
        };
        ports(&read("/proc/net/tcp"), &read("/proc/net/udp"), address(host))
    }
}
