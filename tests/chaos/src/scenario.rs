//! A job and its fault, drawn from a seed.

use clap::ValueEnum;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde::Serialize;

/// Program of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// `optireduce run --bench`.
    Bench,
    /// `optireduce run --file`.
    File,
    /// A trainer that links the library.
    Train,
}

/// Fault in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGKILL, then a restart with the same command.
    Restart,
    /// SIGSTOP, later SIGCONT.
    Stop,
    /// The process runs for a fifth of the time.
    Slow,
    /// All packets from the victim are lost.
    Mute,
    /// All packets to the victim are lost.
    Deaf,
    /// All packets from and to the victim are lost.
    Cut,
    /// 8 % of all packets are lost.
    Loss,
    /// The path to and from the victim loses large packets silently.
    PathMtu,
    /// The victim's interface is down.
    Interface,
    /// The victim's kernel refuses to send: not permitted.
    Prohibited,
    /// The victim's kernel refuses to send: no route.
    Unreachable,
    /// The victim's output goes to a full device.
    DiskFull,
    /// Strangers connect and send nothing.
    SilentStrangers,
    /// Strangers connect and send single bytes.
    SlowStrangers,
    /// Strangers send garbage over TCP.
    LoudStrangers,
    /// Strangers send garbage over UDP.
    Datagrams,
    /// All packets to the victim are duplicated later.
    Replay,
    /// Packets to the victim are duplicated and overwritten in one place.
    Forgery,
}

impl Fault {
    /// Returns whether every rank must end well. Losses may be reported.
    pub fn is_harmless(self) -> bool {
        use Fault::{Datagrams, Forgery, Loss, LoudStrangers, Replay, SilentStrangers, Slow, SlowStrangers};
        matches!(self, SilentStrangers | SlowStrangers | LoudStrangers | Datagrams | Replay | Forgery | Loss | Slow)
    }

    /// Returns whether the fault strikes one process instead of a host.
    pub fn is_of_process(self) -> bool {
        matches!(self, Self::Kill | Self::Restart | Self::Stop | Self::Slow | Self::DiskFull)
    }

    /// Returns whether the fault kills a process.
    pub fn kills(self) -> bool {
        matches!(self, Self::Kill | Self::Restart)
    }
}

/// A job and its fault: `for_ms` long, `after_ms` after the start. With `one_host` all ranks share
/// a host. A `bound_ms` of 0 means a measured bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Scenario {
    pub seed: u64,
    pub subject: Subject,
    pub fault: Fault,
    pub ranks: usize,
    pub one_host: bool,
    pub victim: usize,
    pub after_ms: u64,
    pub for_ms: u64,
    pub mtu: u16,
    pub secret: bool,
    pub bound_ms: u64,
    pub hadamard: bool,
}

impl Scenario {
    /// Draws the job of a seed, or part of it.
    pub fn new(seed: u64, subject: Option<Subject>, fault: Option<Fault>) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let drawn_subject = *Subject::value_variants().choose(&mut random).unwrap_or(&Subject::Train);
        let drawn_fault = *Fault::value_variants().choose(&mut random).unwrap_or(&Fault::Kill);
        let fault = fault.unwrap_or(drawn_fault);
        let mut subject = subject.unwrap_or(drawn_subject);
        if fault == Fault::DiskFull && subject == Subject::Train {
            // The judge needs a trainer's output.
            subject = Subject::File;
        }
        let ranks = random.random_range(3..=4);
        // Averaging a file takes less time than the other programs.
        let latest_ms = if subject == Subject::File { 500 } else { 2500 };
        // A bound of a file job must suffice for 4 MiB on a busy machine.
        let bounds_ms = if subject == Subject::File { [0, 1000, 3000] } else { [0, 100, 300] };
        let scenario = Self {
            seed,
            subject,
            fault,
            ranks,
            one_host: false,
            victim: random.random_range(0..ranks),
            after_ms: random.random_range(0..latest_ms),
            for_ms: random.random_range(100..1500),
            mtu: *[1500, 9000].choose(&mut random).unwrap_or(&1500),
            secret: random.random_bool(0.4),
            bound_ms: *bounds_ms.choose(&mut random).unwrap_or(&0),
            hadamard: random.random_bool(0.3),
        };
        // Without a secret, packets with the right tag are trusted, so forgery needs one. With a
        // secret, replayed packets are dropped before they reach a window, so replay needs none.
        let secret = fault == Fault::Forgery || scenario.secret && fault != Fault::Replay;
        let one_host = random.random_bool(0.5) && fault.is_of_process();
        // Only rank 0 of a benchmark prints.
        let prints = (subject, fault) == (Subject::Bench, Fault::DiskFull);
        Self { secret, one_host, victim: if prints { 0 } else { scenario.victim }, ..scenario }
    }

    /// Describes the job in one line.
    pub fn line(&self) -> String {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        let Self { seed, ranks, one_host, victim, after_ms, for_ms, mtu, secret, bound_ms, .. } = self;
        let one_host = if *one_host { " on one host" } else { "" };
        let secret = if *secret { ", secret" } else { "" };
        let bound = if *bound_ms == 0 { "measured".into() } else { format!("{bound_ms} ms") };
        format!(
            "seed {seed}: {:6} {:16} {ranks} ranks{one_host}, rank {victim}, after {after_ms} ms for {for_ms} ms, MTU {mtu}, bound {bound}{secret}",
            name(self.subject.to_possible_value()),
            name(self.fault.to_possible_value()),
        )
    }

    /// Returns the command that repeats the job.
    pub fn command(&self) -> String {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        format!(
            "cargo build --release -p optireduce-cli && cargo run --release -p optireduce-chaos -- --jobs 1 --seed {} --subject {} --fault {}",
            self.seed,
            name(self.subject.to_possible_value()),
            name(self.fault.to_possible_value())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_job_and_what_is_given_changes_nothing_else() {
        for seed in 0..500 {
            let drawn = Scenario::new(seed, None, None);
            assert_eq!(drawn, Scenario::new(seed, None, None));
            let repeated = Scenario::new(seed, Some(drawn.subject), Some(drawn.fault));
            assert_eq!(drawn, repeated);
            assert!(drawn.victim < drawn.ranks && (drawn.secret || drawn.fault != Fault::Forgery));
            if drawn.fault == Fault::DiskFull {
                // Its victim must be a rank that prints.
                continue;
            }
            let other = Scenario::new(seed, Some(drawn.subject), Some(Fault::Kill));
            assert_eq!((other.victim, other.after_ms, other.mtu), (drawn.victim, drawn.after_ms, drawn.mtu));
        }
        let found = |fault: Fault| (0..500).any(|seed| Scenario::new(seed, None, None).fault == fault);
        assert!(Fault::value_variants().iter().all(|fault| found(*fault)));
        let on_one_host = |fault: Fault| {
            (0..500).any(|seed| matches!(Scenario::new(seed, None, None), Scenario { one_host: true, fault: of, .. } if of == fault))
        };
        assert!(Fault::value_variants().iter().all(|fault| on_one_host(*fault) == fault.is_of_process()));
    }
}
