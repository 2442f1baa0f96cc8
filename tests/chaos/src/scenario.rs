//! What is done in a job, from a seed.

use clap::ValueEnum;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde::Serialize;

/// What runs.
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

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGKILL, then the same command again.
    Restart,
    /// SIGSTOP, later SIGCONT.
    Stop,
    /// The process gets a fifth of its time.
    Slow,
    /// What the victim sends vanishes.
    Mute,
    /// What is sent to the victim vanishes.
    Deaf,
    /// Both.
    Cut,
    /// Nearly every tenth packet of all hosts is lost.
    Loss,
    /// The path to and from the victim takes only small packets, and tells nobody.
    PathMtu,
    /// The victim's interface is down.
    Interface,
    /// The victim's kernel refuses to send: not permitted.
    Prohibited,
    /// The victim's kernel refuses to send: no route.
    Unreachable,
    /// The victim's output goes where there is no room.
    DiskFull,
    /// Strangers connect and say nothing.
    SilentStrangers,
    /// Strangers connect and send a byte now and then.
    SlowStrangers,
    /// Strangers send garbage over TCP.
    LoudStrangers,
    /// Strangers send garbage over UDP.
    Datagrams,
    /// All packets to the victim come again, later.
    Replay,
    /// Packets to the victim come again, overwritten in one place: strangers who know the tag.
    Forgery,
}

impl Fault {
    /// No rank may notice, but by its report.
    pub fn is_harmless(self) -> bool {
        use Fault::{Datagrams, Forgery, Loss, LoudStrangers, Replay, SilentStrangers, Slow, SlowStrangers};
        matches!(self, SilentStrangers | SlowStrangers | LoudStrangers | Datagrams | Replay | Forgery | Loss | Slow)
    }

    /// It strikes a process and not its host: the ranks may all be on one.
    pub fn is_of_process(self) -> bool {
        matches!(self, Self::Kill | Self::Restart | Self::Stop | Self::Slow | Self::DiskFull)
    }

    /// A process is ended by it.
    pub fn kills(self) -> bool {
        matches!(self, Self::Kill | Self::Restart)
    }
}

/// A job and its fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// What it follows from.
    pub seed: u64,
    /// What runs.
    pub subject: Subject,
    /// What goes wrong.
    pub fault: Fault,
    /// Ranks, one a host unless they share one.
    pub ranks: usize,
    /// Whether all ranks are on one host, where they share memory.
    pub one_host: bool,
    /// The rank that the fault strikes.
    pub victim: usize,
    /// When it strikes, after the ranks were started, in milliseconds.
    pub after_ms: u64,
    /// How long it lasts, in milliseconds.
    pub for_ms: u64,
    /// Largest packet, in bytes.
    pub mtu: u16,
    /// Whether the job has a secret.
    pub secret: bool,
    /// The fixed bound on a stage in milliseconds; 0: measured.
    pub bound_ms: u64,
    /// Whether the trainer's collectives are Hadamard-encoded after losses.
    pub hadamard: bool,
}

impl Scenario {
    /// The job of a seed; a subject or a fault that is given replaces the one drawn.
    pub fn new(seed: u64, subject: Option<Subject>, fault: Option<Fault>) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let drawn_subject = *Subject::value_variants().choose(&mut random).unwrap_or(&Subject::Train);
        let drawn_fault = *Fault::value_variants().choose(&mut random).unwrap_or(&Fault::Kill);
        let fault = fault.unwrap_or(drawn_fault);
        let mut subject = subject.unwrap_or(drawn_subject);
        if fault == Fault::DiskFull && subject == Subject::Train {
            // Its output is the judge's.
            subject = Subject::File;
        }
        let ranks = random.random_range(3..=4);
        // A file is averaged in less time than others train.
        let latest_ms = if subject == Subject::File { 500 } else { 2500 };
        // As long as a busy machine needs for what is averaged.
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
        // Without a secret, whoever knows the tag is trusted.
        // With one, what comes again is dropped before it meets a window.
        let secret = fault == Fault::Forgery || scenario.secret && fault != Fault::Replay;
        let one_host = random.random_bool(0.5) && fault.is_of_process();
        // Only rank 0 prints.
        let prints = (subject, fault) == (Subject::Bench, Fault::DiskFull);
        Self { secret, one_host, victim: if prints { 0 } else { scenario.victim }, ..scenario }
    }

    /// What it does, in a line.
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

    /// The command that repeats it.
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
                // Its victim is one that prints.
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
