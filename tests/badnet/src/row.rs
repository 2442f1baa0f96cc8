//! Rows of the results, and the conditions of a run.

use clap::ValueEnum;
use optireduce_badnet::{Conditions, PortLimits};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Ranks on one host, over loopback.
    Loopback,
    /// A network without faults.
    Clean,
    /// 0.1 % of the packets are lost.
    Loss01,
    /// 1 % of the packets are lost.
    Loss1,
    /// Each link is out for 5 ms about once a second.
    Outages,
    /// Delays with a median of 200 us and a P99 of 1.5 times the median, kept for 10 ms.
    Delay15,
    /// Delays with a median of 200 us and a P99 of 3 times the median, kept for 10 ms.
    Delay3,
    /// The last rank is 50 ms late in every call.
    Straggler,
    /// Each host receives at most 200 Mb/s, from a queue of 64 KiB.
    Incast,
    /// As incast, with a TCP stream from a host without a rank to the first host.
    IncastFlow,
    /// As incast, and the queue marks packets (ECN) above 24 KiB.
    IncastEcn,
    /// As incast-ecn, with a TCP stream from a host without a rank to the first host.
    IncastEcnFlow,
}

/// Conditions without a rate limit, in which the machine is the bottleneck.
pub const DEFAULT: [Condition; 8] = {
    use Condition::*;
    [Loopback, Clean, Loss01, Loss1, Outages, Delay15, Delay3, Straggler]
};

impl Condition {
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

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

    pub fn has_flow(self) -> bool {
        matches!(self, Self::IncastFlow | Self::IncastEcnFlow)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Named `size` in old files.
    #[serde(alias = "size")]
    pub size_bytes: usize,
    pub iters: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    pub received_fraction: f64,
    /// CPU time of all ranks for a gigabyte of a rank's buffer.
    pub cpu_s_per_gb: f64,
    /// Peak memory of the largest rank, in MB.
    pub memory_mb: f64,
    /// Bound on a stage; 0 for contenders without one.
    #[serde(default)]
    pub bound_ms: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub contender: String,
    pub condition: Condition,
    pub ranks: usize,
    pub mtu: u16,
    #[serde(flatten)]
    pub figures: Figures,
    /// Load average of the machine after the run.
    pub load: f64,
}
