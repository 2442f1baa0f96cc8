//! A line of the results, and the conditions that it was measured under.

use clap::ValueEnum;
use optireduce_badnet::{Conditions, PortLimits};
use serde::{Deserialize, Serialize};

/// What is wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Ranks on one host, over its loopback.
    Loopback,
    /// A network without faults.
    Clean,
    /// 0.1 % of the packets are lost.
    Loss01,
    /// 1 % of the packets are lost.
    Loss1,
    /// Each link is out for 5 ms about once a second.
    Outages,
    /// Delays with a median of 200 us and a P99 of 1.5 times that, kept for 10 ms.
    Delay15,
    /// Delays with a median of 200 us and a P99 of 3 times that, kept for 10 ms.
    Delay3,
    /// The last rank is 50 ms late in every call.
    Straggler,
    /// Each host receives 200 Mb/s at most, from a queue of 64 KiB.
    Incast,
    /// That, and beside it a TCP stream from a host without a rank to the first one.
    IncastFlow,
    /// As incast, and the queue marks packets (ECN) that have more than 24 KiB before them.
    IncastEcn,
    /// That, and beside it a TCP stream from a host without a rank to the first one.
    IncastEcnFlow,
}

/// The conditions that are compared unless others are given: those in which the machine is the limit.
pub const DEFAULT: [Condition; 8] = {
    use Condition::*;
    [Loopback, Clean, Loss01, Loss1, Outages, Delay15, Delay3, Straggler]
};

impl Condition {
    /// Its name on the command line and in tables.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    /// What the network does.
    pub fn network(self) -> Conditions {
        let clean = Conditions { delay_p99_over_p50: 1.0, ..Conditions::default() };
        let port = PortLimits { port_mbps: 200, queue_kib: 64, ecn_kib: 0 };
        let delays = Conditions { delay_us: 200.0, delay_hold_ms: 10.0, ..clean };
        match self {
            Self::Loopback | Self::Clean | Self::Straggler => clean,
            Self::Loss01 => Conditions { loss: 0.001, ..clean },
            Self::Loss1 => Conditions { loss: 0.01, ..clean },
            Self::Outages => Conditions { outage_gap_ms: 1000.0, outage_ms: 5.0, ..clean },
            Self::Delay15 => Conditions { delay_p99_over_p50: 1.5, ..delays },
            Self::Delay3 => Conditions { delay_p99_over_p50: 3.0, ..delays },
            Self::Incast | Self::IncastFlow => Conditions { port, ..clean },
            Self::IncastEcn | Self::IncastEcnFlow => Conditions { port: PortLimits { ecn_kib: 24, ..port }, ..clean },
        }
    }

    /// Whether a TCP stream runs beside the ranks.
    pub fn has_flow(self) -> bool {
        matches!(self, Self::IncastFlow | Self::IncastEcnFlow)
    }
}

/// What a contender printed for a size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Earlier files say `size`.
    #[serde(alias = "size")]
    pub size_bytes: usize,
    /// Calls.
    pub iters: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    pub received_fraction: f64,
    /// Of all ranks, for a gigabyte of a rank's buffer.
    pub cpu_s_per_gb: f64,
    /// Of the rank that had most.
    pub memory_mb: f64,
    /// Of each stage, if there is one.
    #[serde(default)]
    pub bound_ms: f64,
}

/// A line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub contender: String,
    pub condition: Condition,
    pub ranks: usize,
    pub mtu: u16,
    #[serde(flatten)]
    pub figures: Figures,
    /// The machine's load when it ended: that of the ranks, or others too.
    pub load: f64,
}
