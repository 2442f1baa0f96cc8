//! Measurement of t_B, the bound on a receive stage, from the collectives of the job.
//!
//! A long bound costs its full length whenever a peer is late; a short one loses data in transit. A
//! job starts with the longest bound. After [`STAGES_MIN`] stage times
//! ([`StageSummary::transfer_ns`]), each rank requests [`HEADROOM`] times their 95th percentile,
//! and later another bound when its stage times no longer fit. All ranks change the bound at the
//! same collective, see [`Membership`](super::membership::Membership).
//!
//! * Stragglers: the slowest peer counts as at most twice the next slowest.
//! * Bucket size: only collectives of at least half the largest bucket count.
//! * All-reduces: only the contribute stage counts. Broadcasts also wait for the losses of their
//!   owners, so a bound measured from them would grow with the loss, and with itself.
//! * Busy hosts: the scheduler may stop any rank for longer than the percentile covers. If a peer
//!   misses [`IN_A_ROW`] stages in a row, or a second peer misses one, and packets arrive later,
//!   twice the bound is requested, within limits. Otherwise a single late peer is a straggler and
//!   changes nothing. One request suffices up to [`BoundParams::busy_ns`], because the late rank
//!   itself sees no late packet.
//! * Saturation: stage times cannot exceed the bound. Too many stages that reach it while at least
//!   two peers are still sending (hits), or [`IN_A_ROW`] in a row, request twice the bound.
//!
//! Limits: with two ranks, the only peer counts in full. A rank with a card measures only broadcast
//! stages that closed before the deadline.
//!
//! Differs: OptiReduce 3.2.1 measures 20 collectives over TCP before the job. Under loss, TCP's
//! retransmission timeouts inflate these times.

use std::collections::{BTreeMap, VecDeque};

use super::params::ParamError;
use super::report::{Report, StageSummary};
use super::types::{ClosedBy, Ranks, Stage};

/// Minimum number of stage times for a measurement, as in the paper.
pub const STAGES_MIN: usize = 20;
const STAGES_KEPT: usize = 100;
/// Factor on the 95th percentile, which one stage in twenty of a healthy network exceeds.
pub const HEADROOM: u64 = 2;
/// Consecutive late stages of one live peer that lengthen the bound immediately.
pub const IN_A_ROW: u32 = 3;
/// Stages without a late peer after which the shortest bound of a busy host is halved.
const QUIET_STAGES: u32 = 2000;
/// Limits of the bound of a busy host: multiples of the 95th percentile, if several peers are late,
/// and of the shortest bound; the longer applies. Later packets have other causes, such as TCP
/// retransmissions.
const BUSY_HEADROOM: u64 = 3;
const BUSY_BOUND: u64 = 4;
/// Received fraction below which a peer is late; a network loses less.
const LATE_FRACTION: f64 = 0.9;
/// Hits tolerated in the last hundred stages.
const HITS_MAX: u32 = 5;
/// Range, in percent of the current bound, in which a new value is not requested.
const RAISE_PERCENT: u64 = 125;
const LOWER_PERCENT: u64 = 50;

/// Range of a measured bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundParams {
    /// Shortest bound in ns; the time for which a host may deschedule a thread.
    pub min_ns: u64,
    /// Longest bound in ns, at most 2^32 - 1; in force until the first measurement.
    pub max_ns: u64,
}

impl BoundParams {
    pub(super) fn check(&self) -> Result<(), ParamError> {
        for (name, found, min, max) in
            [("bound max_ns", self.max_ns, 1, u32::MAX.into()), ("bound min_ns", self.min_ns, 1, self.max_ns)]
        {
            if !(min..=max).contains(&found) {
                return Err(ParamError { name, found, min, max });
            }
        }
        Ok(())
    }

    /// Longest bound that one rank can bring about.
    pub fn busy_ns(&self) -> u64 {
        self.min_ns.saturating_mul(BUSY_BOUND).min(self.max_ns)
    }

    /// Returns whether `bound_ns` is the longest bound.
    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        bound_ns >= self.max_ns
    }
}

/// Estimator of t_B on one rank. Call [`observe`](Self::observe) after each collective, then
/// [`wanted`](Self::wanted).
#[derive(Clone, Debug)]
pub struct BoundEstimator {
    params: BoundParams,
    bound_ns: u64,
    stages_ns: VecDeque<u64>,
    /// Hits among the last hundred stages; the newest in bit 0.
    hits: u128,
    elements_max: usize,
    ranks: usize,
    asked_ns: Option<u64>,
    /// Last measured 95th percentile.
    percentile_ns: Option<u64>,
    lateness: Lateness,
}

#[derive(Clone, Debug, Default)]
struct Lateness {
    /// Shortest bound that covers the pauses of this busy host; 0 if there were none.
    busy_ns: u64,
    /// Late stages per peer since `busy_ns` was last raised.
    stages_of: BTreeMap<usize, u32>,
    /// Successive stages per peer that it missed, up to the last stage.
    in_a_row: BTreeMap<usize, u32>,
    quiet_stages: u32,
    /// Peers that missed the last stage: late, or their packets were lost.
    doubtful: Vec<usize>,
}

impl Lateness {
    /// `came_late`: packets of earlier stages arrived since the last collective, so they were not
    /// lost.
    fn observe(&mut self, late: Vec<usize>, came_late: bool) {
        self.in_a_row.retain(|peer, _| late.contains(peer));
        late.iter().for_each(|peer| *self.in_a_row.entry(*peer).or_insert(0) += 1);
        if came_late && !(self.doubtful.is_empty() && late.is_empty()) {
            self.quiet_stages = 0;
            let peers = self.doubtful.drain(..).chain(late);
            peers.for_each(|peer| *self.stages_of.entry(peer).or_insert(0) += 1);
            return;
        }
        self.doubtful = late;
        self.quiet_stages += 1;
        if self.quiet_stages >= QUIET_STAGES {
            (self.quiet_stages, self.busy_ns) = (0, self.busy_ns / 2);
            self.stages_of.clear();
        }
    }

    /// Raises `busy_ns` towards twice the bound if several peers were late, the only peer
    /// repeatedly, or any peer in successive stages. Lost packets do not count.
    fn raise(&mut self, bound_ns: u64, percentile_ns: u64, params: &BoundParams, ranks: usize) {
        let most = self.stages_of.values().max().copied().unwrap_or(0);
        let excused = if ranks > 2 { most } else { most.min(1) };
        let came_late = |(peer, stages): (&usize, &u32)| {
            *stages >= IN_A_ROW && self.stages_of.get(peer).is_some_and(|late| *late >= IN_A_ROW - 1)
        };
        let are_several = self.stages_of.values().sum::<u32>() > excused;
        if are_several || self.in_a_row.iter().any(came_late) {
            let longest_ns = if are_several { BUSY_HEADROOM * percentile_ns } else { 0 };
            let max_ns = params.busy_ns().max(longest_ns);
            self.busy_ns = bound_ns.saturating_mul(2).min(max_ns).max(self.busy_ns);
            self.stages_of.clear();
            self.in_a_row.clear();
        }
    }
}

impl BoundEstimator {
    /// Creates an estimator for a job that starts with the longest bound.
    pub fn new(params: BoundParams) -> Self {
        let bound_ns = params.max_ns;
        Self {
            params,
            bound_ns,
            stages_ns: VecDeque::new(),
            hits: 0,
            elements_max: 0,
            ranks: 0,
            asked_ns: None,
            percentile_ns: None,
            lateness: Lateness::default(),
        }
    }

    /// Parameters.
    pub fn params(&self) -> BoundParams {
        self.params
    }

    /// Adds a finished collective. `silent`: ranks without any packet, not even a late one.
    /// `came_late`: whether late packets arrived, if the data plane can tell.
    pub fn observe(&mut self, report: &Report, silent: &Ranks, came_late: Option<bool>) {
        if report.elements > self.elements_max.saturating_mul(2) {
            self.forget();
        }
        self.elements_max = self.elements_max.max(report.elements);
        self.ranks = report.stages[0].expected_bytes_per_rank.len();
        if report.bound_ns != self.bound_ns || 2 * report.elements < self.elements_max {
            return;
        }
        for stage in Stage::ALL.into_iter().filter(|stage| report.kind.sends(*stage)) {
            let summary = &report.stages[stage.index()];
            // A longer bound would only delay packets that wait for their owners.
            let may_hit = !report.kind.waits_for_owners(stage);
            let hit = may_hit && is_hit(summary, report.bound_ns, silent, came_late);
            if may_hit {
                self.lateness.observe(late_peers(summary, silent), came_late.unwrap_or(true));
                self.hits = (self.hits << 1 | u128::from(hit)) & ((1 << STAGES_KEPT) - 1);
            }
            if let Some(transfer_ns) = summary.transfer_ns.filter(|_| !hit) {
                self.stages_ns.push_back(transfer_ns);
                if self.stages_ns.len() > STAGES_KEPT {
                    self.stages_ns.pop_front();
                }
            }
        }
    }

    /// Returns the bound to request instead of `bound_ns`, the bound of the newest view, if any.
    pub fn wanted(&mut self, bound_ns: u64) -> Option<u64> {
        if bound_ns != self.bound_ns {
            self.bound_ns = bound_ns;
            self.forget();
        }
        let BoundParams { min_ns, max_ns } = self.params;
        let is_short = self.hits.count_ones() > HITS_MAX || self.hits.trailing_ones() >= IN_A_ROW;
        let percentile_ns = self.percentile_95();
        self.percentile_ns = percentile_ns.or(self.percentile_ns);
        self.percentile_ns.inspect(|ns| self.lateness.raise(bound_ns, *ns, &self.params, self.ranks));
        let from_times = percentile_ns.map(|ns| ns.saturating_mul(HEADROOM));
        let from_hits = is_short.then(|| bound_ns.saturating_mul(2));
        // Without stage times of this bound, it may only be lengthened.
        let busy_ns = Some(self.lateness.busy_ns).filter(|ns| percentile_ns.is_some() || *ns > bound_ns);
        let wanted_ns = from_times.max(from_hits).max(busy_ns)?.clamp(min_ns, max_ns);
        let percent = |of: u64| (u128::from(wanted_ns) * 100 / u128::from(of.max(1))) as u64;
        let is_first = self.params.is_measuring(bound_ns) && wanted_ns < max_ns;
        let fits = (LOWER_PERCENT..=RAISE_PERCENT).contains(&percent(bound_ns)) && !is_first;
        // Small changes repeat the last request, which sends no message.
        let is_told = |asked_ns: &u64| (100 * 100 / RAISE_PERCENT..=RAISE_PERCENT).contains(&percent(*asked_ns));
        self.asked_ns = if fits { None } else { Some(self.asked_ns.filter(is_told).unwrap_or(wanted_ns)) };
        self.asked_ns
    }

    fn percentile_95(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.stages_ns.iter().copied().collect();
        sorted.sort_unstable();
        let nearest = (sorted.len() * 95).div_ceil(100);
        (sorted.len() >= STAGES_MIN).then(|| sorted[nearest - 1])
    }

    fn forget(&mut self) {
        self.stages_ns.clear();
        self.hits = 0;
        self.asked_ns = None;
    }
}

/// Peers that missed a stage closed by its deadline; none if most peers missed it.
fn late_peers(summary: &StageSummary, silent: &Ranks) -> Vec<usize> {
    let expected = summary.expected_bytes_per_rank.iter().zip(&summary.received_fraction_per_rank).enumerate();
    let peers: Vec<(usize, f64)> =
        expected.filter(|(_, (bytes, _))| **bytes > 0).map(|(rank, (_, fraction))| (rank, *fraction)).collect();
    let is_late = |(rank, fraction): &&(usize, f64)| *fraction < LATE_FRACTION && !silent.contains(*rank);
    let late: Vec<usize> = peers.iter().filter(is_late).map(|(rank, _)| *rank).collect();
    let some = summary.closed_by == ClosedBy::Deadline && 2 * late.len() <= peers.len().max(2);
    if some { late } else { Vec::new() }
}

/// Returns whether a stage reached its bound while two peers (or the only one) were sending, or
/// packets arrived in its last tenth.
fn is_hit(summary: &StageSummary, bound_ns: u64, silent: &Ranks, came_late: Option<bool>) -> bool {
    if summary.closed_by != ClosedBy::Deadline {
        return false;
    }
    let expected = summary.expected_bytes_per_rank.iter().zip(&summary.received_fraction_per_rank).enumerate();
    let peers = expected.filter(|(_, (expected, _))| **expected > 0);
    let fractions: Vec<(usize, f64)> = peers.map(|(rank, (_, fraction))| (rank, *fraction)).collect();
    let late = fractions.iter().filter(|(rank, fraction)| *fraction < 0.5 && !silent.contains(*rank)).count();
    let most_are_late = late >= fractions.len().clamp(1, 2) && came_late.unwrap_or(true);
    let still_came = summary.transfer_ns.is_some_and(|ns| ns > bound_ns / 10 * 9);
    most_are_late || still_came
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{AllReduce, JobParams, Kind, PlaneLimits, Safeguard};

    const PARAMS: BoundParams = BoundParams { min_ns: 10, max_ns: 1_000_000 };

    fn report(bound_ns: u64, elements: usize, transfer_ns: Option<u64>, late: &[usize]) -> Report {
        let params = JobParams::new(0, 4, 22, bound_ns, &PlaneLimits::CARD);
        let mut report = AllReduce::new(&params, 0, 0, elements, false).unwrap().finish(&mut Safeguard::default());
        for stage in &mut report.stages {
            stage.closed_by = if late.is_empty() { ClosedBy::Complete } else { ClosedBy::Deadline };
            let fraction = |peer: usize| if late.contains(&peer) { 0.0 } else { 1.0 };
            stage.received_fraction_per_rank = (0..4).map(fraction).collect();
        }
        report.stages[Stage::Contribute.index()].transfer_ns = transfer_ns;
        report
    }

    fn observe(estimator: &mut BoundEstimator, report: &Report, collectives: usize) {
        (0..collectives).for_each(|_| estimator.observe(report, &Ranks::none(4), Some(true)));
    }

    #[test]
    fn the_first_bound_is_twice_the_nearest_rank_of_twenty_collectives() {
        let mut estimator = BoundEstimator::new(PARAMS);
        for collective in 1..=19 {
            observe(&mut estimator, &report(PARAMS.max_ns, 1000, Some(100 * collective), &[]), 1);
            assert_eq!(estimator.wanted(PARAMS.max_ns), None);
        }
        observe(&mut estimator, &report(PARAMS.max_ns, 1000, Some(2000), &[]), 1);
        assert_eq!(estimator.wanted(PARAMS.max_ns), Some(2 * 1900));
        assert_eq!(BoundParams { min_ns: 1, max_ns: 5 }.check(), Ok(()));
        assert!(BoundParams { min_ns: 6, max_ns: 5 }.check().is_err());
        assert!(BoundParams { min_ns: 0, max_ns: 5 }.check().is_err());
    }

    #[test]
    fn what_is_wanted_lies_between_the_shortest_and_the_longest_and_stands_until_it_differs() {
        let wanted = |transfer_ns| {
            let mut estimator = BoundEstimator::new(PARAMS);
            observe(&mut estimator, &report(PARAMS.max_ns, 1000, Some(transfer_ns), &[]), 20);
            let first = estimator.wanted(PARAMS.max_ns);
            observe(&mut estimator, &report(PARAMS.max_ns, 1000, Some(transfer_ns + transfer_ns / 8), &[]), 50);
            assert_eq!(estimator.wanted(PARAMS.max_ns), first);
            first
        };
        assert_eq!([2, 500, 400_000].map(wanted), [Some(10), Some(1000), Some(800_000)]);
        assert_eq!(wanted(600_000), None);
    }

    #[test]
    fn another_bound_is_wanted_when_the_times_no_longer_fit_in_either_direction() {
        for (transfer_ns, expected) in [(260, Some(520)), (500, None), (620, None), (640, Some(1280))] {
            let mut estimator = BoundEstimator::new(PARAMS);
            assert_eq!(estimator.wanted(1000), None);
            observe(&mut estimator, &report(1000, 1000, Some(transfer_ns), &[]), 50);
            assert_eq!(estimator.wanted(1000), expected.filter(|ns| !(500..=1250).contains(ns)), "{transfer_ns} ns");
        }
    }

    #[test]
    fn now_one_peer_late_and_now_another_is_a_bound_too_short_and_a_straggler_is_not() {
        const SHORTEST: BoundParams = BoundParams { min_ns: 500, ..PARAMS };
        let late = |estimator: &mut BoundEstimator, bound_ns: u64, peers: &[usize]| {
            assert_eq!(estimator.wanted(bound_ns), None);
            let stage = |late: &[usize]| report(bound_ns, 1000, Some(100), late);
            for peer in peers {
                (0..100).for_each(|_| estimator.observe(&stage(&[]), &Ranks::none(4), Some(false)));
                estimator.observe(&stage(&[*peer]), &Ranks::none(4), Some(false));
                estimator.observe(&stage(&[]), &Ranks::none(4), Some(true));
            }
            estimator.wanted(bound_ns)
        };
        let mut raised = BoundEstimator::new(SHORTEST);
        assert_eq!([&[][..], &[2], &[2; 9]].map(|peers| late(&mut raised.clone(), 1000, peers)), [None; 3]);
        assert_eq!(late(&mut raised, 1000, &[2, 3]), Some(2000));
        assert_eq!(late(&mut raised, 2000, &[2, 3, 1, 2, 3]), None, "four times the shortest is enough");
        // The raised headroom lasts, then decays.
        observe(&mut raised, &report(2000, 1000, Some(100), &[]), QUIET_STAGES as usize / 2);
        assert_eq!(raised.wanted(2000), None);
        observe(&mut raised, &report(2000, 1000, Some(100), &[]), 4 * QUIET_STAGES as usize);
        assert_eq!(raised.wanted(2000), Some(500));
        // Lost packets and stages that most peers miss do not raise it.
        for (peers, came_late) in [(&[2][..], false), (&[3], false), (&[1, 2], true)] {
            let mut estimator = BoundEstimator::new(PARAMS);
            assert_eq!(estimator.wanted(1000), None);
            for late in [&[1][..], peers] {
                (0..50)
                    .for_each(|_| estimator.observe(&report(1000, 1000, Some(400), &[]), &Ranks::none(4), Some(false)));
                estimator.observe(&report(1000, 1000, Some(400), late), &Ranks::none(4), Some(came_late));
            }
            assert_eq!(estimator.wanted(1000), None, "{peers:?} are late, bytes came late: {came_late}");
        }
    }

    #[test]
    fn one_peer_that_misses_three_stages_in_a_row_lengthens_it_at_once_within_limits() {
        const SHORTEST: BoundParams = BoundParams { min_ns: 1000, ..PARAMS };
        let start = || {
            let mut estimator = BoundEstimator::new(SHORTEST);
            observe(&mut estimator, &report(PARAMS.max_ns, 1000, Some(100), &[]), STAGES_MIN);
            assert_eq!(estimator.wanted(PARAMS.max_ns), Some(1000));
            assert_eq!(estimator.wanted(1000), None);
            estimator
        };
        let mut estimator = start();
        // Its packets arrive late, and stage times of this bound are few.
        for (bound_ns, expected) in [(1000, Some(2000)), (2000, Some(4000)), (4000, None)] {
            for stage in 1..=3 {
                assert_eq!(estimator.wanted(bound_ns), None, "stage {stage} with {bound_ns} ns");
                observe(&mut estimator, &report(bound_ns, 1000, None, &[2]), 1);
            }
            assert_eq!(estimator.wanted(bound_ns), expected);
            // The request stands while the ranks agree.
            observe(&mut estimator, &report(bound_ns, 1000, Some(100), &[]), 1);
            assert_eq!(estimator.wanted(bound_ns), expected);
        }
        // Two of three stages, different peers that take turns, lost packets, and a silent rank.
        let late = |peer| report(1000, 1000, None, &[peer]);
        let mut estimator = start();
        for peers in [[2, 2], [2, 2], [2, 2]] {
            peers.iter().for_each(|peer| observe(&mut estimator, &late(*peer), 1));
            observe(&mut estimator, &report(1000, 1000, Some(100), &[]), 1);
        }
        assert_eq!(estimator.wanted(1000), None);
        let mut estimator = start();
        (0..9).for_each(|_| estimator.observe(&late(2), &Ranks::none(4), Some(false)));
        (0..9).for_each(|_| estimator.observe(&late(2), &Ranks::none(4).with([2]), Some(true)));
        assert_eq!(estimator.wanted(1000), None);
        // Two peers that miss three stages in a row have no limit.
        let mut estimator = start();
        (0..3).for_each(|_| observe(&mut estimator, &report(1000, 1000, None, &[1, 2]), 1));
        assert_eq!(estimator.wanted(1000), Some(2000));
    }

    #[test]
    fn means_that_wait_for_their_owners_do_not_raise_it() {
        let mut estimator = BoundEstimator::new(PARAMS);
        assert_eq!(estimator.wanted(1000), None);
        let mut waits = report(1000, 1000, Some(400), &[1, 2]);
        waits.stages[0].closed_by = ClosedBy::Complete;
        observe(&mut estimator, &waits, 100);
        assert_eq!(estimator.wanted(1000), None);
        // The broadcast stage of an all-gather counts, and so does a card's.
        let gather = Report { kind: Kind::AllGather, ..waits.clone() };
        observe(&mut estimator, &gather, 6);
        assert_eq!(estimator.wanted(1000), Some(2000));
        let mut card = report(2000, 1000, None, &[]);
        card.stages[Stage::Broadcast.index()].transfer_ns = Some(1900);
        assert_eq!(estimator.wanted(2000), None);
        observe(&mut estimator, &card, 20);
        assert_eq!(estimator.wanted(2000), Some(3800));
    }

    #[test]
    fn over_five_of_the_last_hundred_stages_that_ran_into_the_bound_double_it() {
        let mut estimator = BoundEstimator::new(PARAMS);
        assert_eq!(estimator.wanted(1000), None);
        let (fine, hit) = (report(1000, 1000, Some(500), &[]), report(1000, 1000, None, &[1, 2]));
        observe(&mut estimator, &hit, 2);
        observe(&mut estimator, &fine, 95);
        for _ in 0..5 {
            observe(&mut estimator, &fine, 1);
            observe(&mut estimator, &hit, 1);
        }
        assert_eq!(estimator.wanted(1000), None, "five of the last hundred");
        observe(&mut estimator, &fine, 1);
        observe(&mut estimator, &hit, 1);
        assert_eq!(estimator.wanted(1000), Some(2000), "six of the last hundred");
        assert_eq!(estimator.wanted(2000), None, "with another bound all is forgotten");
        observe(&mut estimator, &report(2000, 1000, None, &[3]), 50);
        assert_eq!(estimator.wanted(2000), None);
        let hit = report(2000, 1000, None, &[1, 2]);
        (0..50).for_each(|_| estimator.observe(&hit, &Ranks::none(4).with([2]), Some(true)));
        (0..50).for_each(|_| estimator.observe(&hit, &Ranks::none(4), Some(false)));
        assert_eq!(estimator.wanted(2000), None);
    }
}
