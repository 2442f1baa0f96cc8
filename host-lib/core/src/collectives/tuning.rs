//! Parameters that adapt to the network while collectives run, if enabled: grace time of the early
//! rule, incast and send rates.

use optireduce_contract::limits::{BEAT_BYTES, LANES};

use crate::protocol::{
    EarlyController, EarlyRule, IncastController, JobParams, Kind, PeerHints, RateController, Report, Stage,
};

/// Minimum send rate, 50 Mb/s, unless the bound requires more.
const RATE_MIN_BYTES_PER_US: f64 = 6.25;
const LOSSY_OPS: u32 = 100;

#[derive(Debug, Default)]
pub(super) struct Tuning {
    /// Controller of the grace time and its minimum in ns, if it adapts to stage times.
    early: Option<(EarlyController, u32)>,
    late_bytes: u64,
    incast: Option<IncastController>,
    rates: Option<Vec<RateController>>,
    lossy_ops: u32,
    is_measuring: bool,
}

impl Tuning {
    pub fn follow_stage_times(&mut self, bound_ns: u64, grace_min_ns: u32) {
        self.early = Some((EarlyController::new(bound_ns), grace_min_ns));
    }

    pub fn follow_incast(&mut self, params: &JobParams) {
        self.incast = Some(IncastController::new(params.ranks, params.incast));
    }

    pub fn follow_round_trips(&mut self, ranks: usize, max_bytes_per_us: u32) {
        let rate = RateController::new(RATE_MIN_BYTES_PER_US, max_bytes_per_us.into());
        self.rates = Some(vec![rate; ranks]);
    }

    pub fn grace_ns(&self, bucket: u16) -> Option<u32> {
        let (early, grace_min_ns) = self.early.as_ref()?;
        let grace_ns = Stage::ALL.into_iter().map(|stage| early.grace_ns(bucket, stage)).max().unwrap_or(0);
        Some(u32::try_from(grace_ns).unwrap_or(u32::MAX).max(*grace_min_ns))
    }

    pub fn rate_bytes_per_us(&self, peer: usize) -> Option<f64> {
        self.rates.as_ref()?.get(peer).map(RateController::rate_bytes_per_us)
    }

    pub fn tuned(&self, params: &JobParams, bucket: u16, peers: impl Iterator<Item = usize>) -> JobParams {
        let mut params = params.clone();
        params.expect_loss |= self.lossy_ops > 0 || self.is_measuring;
        if let Some(grace_ns) = self.grace_ns(bucket) {
            params.early = Some(EarlyRule { grace_ns });
        }
        if let Some(incast) = &self.incast {
            params.incast = incast.send_incast(peers);
            params.advertised_incast = incast.advertised().into();
        }
        params
    }

    /// Sets whether t_B is still being measured. Loss is then expected, since a lost mark costs the
    /// longest bound.
    pub fn set_measuring(&mut self, is_measuring: bool) {
        self.is_measuring = is_measuring;
    }

    /// Raises the minimum rate so that the shards in flight of a bucket of `elements` take at most
    /// half the bound.
    pub fn raise_rates(&mut self, params: &JobParams, elements: usize) {
        let JobParams { ranks, in_flight, window_beats_max, bound_ns, .. } = *params;
        let beats = elements.div_ceil(LANES).min(in_flight * window_beats_max).div_ceil(ranks);
        let floor = (beats * BEAT_BYTES) as f64 * 2000.0 / bound_ns as f64;
        self.rates.iter_mut().flatten().for_each(|rate| rate.raise_floor(floor));
    }

    pub fn observe_rtt(&mut self, peer: usize, rtt_ns: u64) -> Option<u32> {
        let rate = self.rates.as_mut()?.get_mut(peer)?;
        rate.observe_rtt(rtt_ns);
        Some(rate.rate_bytes_per_us().ceil() as u32)
    }

    pub fn late_bytes(&self) -> u64 {
        self.late_bytes
    }

    pub fn hear(&mut self, rank: usize, hints: PeerHints) {
        if let Some(incast) = self.incast.as_mut().filter(|_| hints.incast > 0) {
            incast.hear(rank, hints.incast);
        }
    }

    /// `late_bytes`: total so far, if the data plane distinguishes them from lost bytes.
    pub fn observe(&mut self, report: &Report, late_bytes: Option<u64>) {
        let kind: Kind = report.kind;
        // Loss towards the peers is not visible here, so loss at this rank stands in for it.
        let is_lossy = report.network_loss() > 0.0;
        self.lossy_ops = if is_lossy { LOSSY_OPS } else { self.lossy_ops.saturating_sub(1) };
        let late_share = late_bytes.map_or(1.0, |late_bytes| {
            let expected: u64 = report.stages.iter().map(|summary| summary.expected_bytes).sum();
            (late_bytes - std::mem::replace(&mut self.late_bytes, late_bytes)) as f64 / expected.max(1) as f64
        });
        for (stage, summary) in Stage::ALL.into_iter().zip(&report.stages).filter(|(stage, _)| kind.sends(*stage)) {
            if let Some((early, _)) = &mut self.early {
                // A longer grace time recovers late data, but not lost data.
                let loss = (1.0 - summary.received_fraction).min(late_share);
                let bucket = kind.wire_bucket(report.bucket).unwrap_or(report.bucket);
                early.observe(bucket, stage, loss, &summary.samples_16us);
            }
            if let Some(incast) = &mut self.incast {
                incast.observe(summary);
            }
        }
    }

    pub fn set_bound_ns(&mut self, bound_ns: u64) {
        if let Some((early, _)) = &mut self.early {
            early.set_bound_ns(bound_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{AllReduce, PlaneLimits, Safeguard};

    #[test]
    fn loss_is_expected_for_a_while_after_a_collective_that_lost_something() {
        let params = JobParams::new(0, 2, 22, 1_000_000, &PlaneLimits::CARD);
        let mut tuning = Tuning::default();
        let expects = |tuning: &Tuning| tuning.tuned(&params, 0, 0..1).expect_loss;
        assert!(!expects(&tuning));
        let report = |elements| {
            // No stage was reported, so all data is lost. An empty bucket loses nothing.
            AllReduce::new(&params, 0, 0, elements, false).unwrap().finish(&mut Safeguard::default())
        };
        let mut lossy = report(1024);
        // Without this, the peer counts as late instead of the network as lossy.
        lossy.late_peers.clear();
        tuning.observe(&lossy, None);
        assert!(lossy.network_loss() > 0.0 && expects(&tuning));
        for _ in 1..LOSSY_OPS {
            tuning.observe(&report(0), None);
            assert!(expects(&tuning));
        }
        tuning.observe(&report(0), None);
        assert!(!expects(&tuning));
    }
}
