//! Bound t_B, measured by software ranks in their first collectives, in virtual time.

use std::collections::BTreeMap;

use optireduce_core::protocol::{BoundParams, HadamardMode, JobParams, MembershipParams};
use optireduce_core::{DataPlane, MembershipEvent};

use crate::seeds;
use crate::virtual_network::{Impairments, Network, Random};

const RANKS: usize = 4;
const CAP_NS: u64 = 1_000_000_000;
const BOUND: BoundParams = BoundParams { min_ns: 1000, max_ns: CAP_NS };
const PAUSE_NS: u64 = 1_000_000;

struct Job {
    what: String,
    network: Network,
    random: Random,
    op: u32,
    elements: usize,
    hadamard: HadamardMode,
    encoded_from: Option<u32>,
    bounds_ns: BTreeMap<u32, u64>,
}

impl Job {
    fn new(seed: u64, ranks: usize, loss: f64) -> Self {
        Self::with_transform(seed, ranks, loss, HadamardMode::Off)
    }

    fn with_transform(seed: u64, ranks: usize, loss: f64, hadamard: HadamardMode) -> Self {
        Self::with_bound(seed, ranks, loss, hadamard, BOUND)
    }

    fn with_bound(seed: u64, ranks: usize, loss: f64, hadamard: HadamardMode, bound: BoundParams) -> Self {
        let impairments = Impairments { loss, delay_ns: 50_000..100_000, ..Impairments::default() };
        let mut network = Network::new(ranks, 4, impairments, seed, |rank, plane| JobParams {
            window_beats_max: 256,
            ..JobParams::new(rank, ranks, 4, CAP_NS, &plane.limits())
        });
        for rank in &mut network.ranks {
            rank.follow_stage_times(20_000);
            let params = MembershipParams {
                bound: Some(bound),
                silent_ns: 3_000_000,
                retry_ns: 1_000_000,
                ..MembershipParams::new(ranks)
            };
            rank.agree_on_views(params, hadamard).unwrap();
        }
        let what = format!("seed {seed}, {ranks} ranks, loss {loss}");
        Self {
            what,
            network,
            random: Random(seed << 20),
            op: 0,
            elements: 1000,
            hadamard,
            encoded_from: None,
            bounds_ns: BTreeMap::new(),
        }
    }

    /// `late_ns`: delay of a rank's call; `None` if it does not call.
    fn run(&mut self, collectives: u32, late_ns: impl Fn(usize, u32) -> Option<u64>) {
        for _ in 0..collectives {
            let ranks = self.network.ranks.len();
            let gradients = vec![vec![1.0; self.elements]; ranks];
            let jitter_ns: Vec<_> = (0..ranks).map(|_| self.random.below(20_000)).collect();
            let starts =
                (0..ranks).map(|rank| late_ns(rank, self.op).map(|late_ns| PAUSE_NS + jitter_ns[rank] + late_ns));
            let starts: Vec<_> = starts.collect();
            for outcome in self.network.all_reduce(0, &gradients, self.hadamard, &starts).into_iter().flatten() {
                let report = outcome.report;
                self.encoded_from = self.encoded_from.or(report.hadamard.then_some(report.op));
                let bound_ns = *self.bounds_ns.entry(report.op).or_insert(report.bound_ns);
                assert_eq!(report.bound_ns, bound_ns, "{}: ranks differ in collective {}", self.what, report.op);
            }
            self.op += 1;
        }
    }

    fn bound_ns(&self) -> u64 {
        *self.bounds_ns.last_key_value().expect("a collective").1
    }

    fn changes(&self) -> usize {
        let bounds: Vec<_> = self.bounds_ns.values().collect();
        bounds.windows(2).filter(|two| two[0] != two[1]).count()
    }
}

/// A bound measured without the transform may be too short with it, so it is measured again.
#[test]
fn collectives_that_begin_to_be_encoded_have_twice_the_bound() {
    for seed in seeds(0..10) {
        let mut job = Job::with_transform(seed, 4, 0.0, HadamardMode::Auto);
        job.run(40, on_time);
        let measured_ns = job.bound_ns();
        assert!(measured_ns < CAP_NS && job.encoded_from.is_none(), "{}", job.what);
        job.network.impairments.loss = 0.1;
        while job.encoded_from.is_none() {
            assert!(job.op < 200, "{}: not encoded", job.what);
            job.run(1, on_time);
        }
        let first = job.encoded_from.unwrap_or(0);
        let (before_ns, encoded_ns) = (job.bounds_ns[&(first - 1)], job.bounds_ns[&first]);
        assert_eq!(encoded_ns, 2 * before_ns, "{}: encoded from {first}", job.what);
    }
}

#[test]
fn while_the_bound_is_measured_a_lost_mark_does_not_cost_it() {
    for seed in seeds(0..20) {
        let mut job = Job::new(seed, 4, 0.05);
        job.run(10, on_time);
        assert_eq!(job.bound_ns(), CAP_NS, "{}: measured already", job.what);
        assert!(job.network.now_ns < CAP_NS / 2, "{}: ten collectives took {} ns", job.what, job.network.now_ns);
    }
}

/// One rank is silent for longer than a bound, and duplicates arrive late. The grace time must
/// follow the duration of stages, not that wait.
#[test]
fn a_stage_that_waited_for_the_bound_does_not_slow_down_those_that_follow() {
    for seed in seeds(0..10) {
        let mut job = Job::new(seed, RANKS, 0.01);
        job.elements = 4 * 256 * 16;
        job.network.impairments.duplicate = 0.05;
        job.run(2, on_time);
        let now_ns = job.network.now_ns;
        job.network.impairments.outage = Some((seed as usize % RANKS, now_ns..now_ns + CAP_NS));
        job.run(1, on_time);
        assert!(job.network.now_ns > now_ns + CAP_NS, "{}: the outage cost nothing", job.what);
        job.run(1, on_time);
        let grace_ns: Vec<_> = job.network.ranks.iter().map(|rank| rank.grace_ns(0)).collect();
        assert!(
            grace_ns.iter().all(|ns| ns.is_some_and(|ns| u64::from(ns) < CAP_NS / 100)),
            "{}: {grace_ns:?}",
            job.what
        );
    }
}

fn on_time(_: usize, _: u32) -> Option<u64> {
    Some(0)
}

#[test]
fn loss_does_not_change_the_bound_by_more_than_a_factor_of_two() {
    let (mut low, mut high) = (f64::MAX, 0.0f64);
    for seed in seeds(0..10) {
        let measured = |loss: f64| {
            let mut job = Job::new(seed, RANKS, loss);
            job.run(60, on_time);
            assert!(job.bound_ns() < CAP_NS, "{}: no bound after 60 collectives", job.what);
            assert!(job.bounds_ns.iter().take(20).all(|(_, bound_ns)| *bound_ns == CAP_NS), "{}", job.what);
            job.bound_ns() as f64
        };
        let clean = measured(0.0);
        // A stage takes up to 100 us of network delay and 20 us until the peers have started.
        assert!((100e3..500e3).contains(&clean), "seed {seed}: {clean} ns");
        for loss in [0.01, 0.05, 0.2] {
            let factor = measured(loss) / clean;
            (low, high) = (low.min(factor), high.max(factor));
            assert!((0.5..=2.0).contains(&factor), "seed {seed}, loss {loss}: {factor} of {clean} ns");
        }
    }
    println!("under loss the bound was {low:.2} to {high:.2} of that without");
}

#[test]
fn one_straggler_does_not_set_the_bound() {
    for seed in seeds(0..10) {
        let mut clean = Job::new(seed, RANKS, 0.01);
        clean.run(60, on_time);
        let straggler = seed as usize % RANKS;
        for late_ns in [30_000_000, 2 * CAP_NS] {
            let mut job = Job::new(seed, RANKS, 0.01);
            job.run(60, |rank, _| Some(if rank == straggler { late_ns } else { 0 }));
            let (found, expected) = (job.bound_ns(), clean.bound_ns());
            let what = format!("{}, rank {straggler} is {late_ns} ns late", job.what);
            // The slowest peer counts for at most twice the next slowest. The rest is sampling.
            assert!((expected / 2..=5 * expected / 2).contains(&found), "{what}: {found} ns, without {expected} ns");
        }
    }
}

/// The host of one rank becomes busy after the measurement. Every contribution of that rank is
/// late, and only the others see it: with two ranks, a single rank.
#[test]
fn a_rank_that_is_late_in_a_row_lengthens_a_short_bound_after_a_few_collectives() {
    const MIN_NS: u64 = 1_000_000;
    for seed in seeds(0..10) {
        for ranks in [2, 3, 4, 8] {
            let mut job = Job::with_bound(seed, ranks, 0.0, HadamardMode::Off, BoundParams { min_ns: MIN_NS, ..BOUND });
            job.run(40, on_time);
            assert_eq!(job.bound_ns(), MIN_NS, "{}", job.what);
            let busy = seed as usize % ranks;
            let late_ns = 3 * MIN_NS + MIN_NS / 2;
            let first = job.op;
            job.run(100, |rank, _| Some(if rank == busy { late_ns } else { 0 }));
            let lengthened = job.bounds_ns.iter().find(|(op, bound_ns)| **op >= first && **bound_ns >= 4 * MIN_NS);
            let after = lengthened.map(|(op, _)| op - first);
            assert!(
                after.is_some_and(|after| after <= 30),
                "{}, rank {busy}: {after:?}: {:?}",
                job.what,
                job.bounds_ns
            );
            assert!(job.bound_ns() >= 4 * MIN_NS, "{}: {:?}", job.what, job.bounds_ns);
        }
    }
}

#[test]
fn a_frozen_rank_does_not_set_the_bound() {
    for seed in seeds(0..10) {
        let mut clean = Job::new(seed, RANKS, 0.0);
        clean.run(60, on_time);
        let frozen = seed as usize % RANKS;
        let mut job = Job::new(seed, RANKS, 0.0);
        job.network.dead[frozen] = true;
        job.run(60, |rank, _| (rank != frozen).then_some(0));
        let (found, expected) = (job.bound_ns(), clean.bound_ns());
        let what = format!("{}, rank {frozen} is frozen", job.what);
        assert!((expected / 2..=2 * expected).contains(&found), "{what}: {found} ns, without {expected} ns");
        assert!(job.network.events.iter().any(|(_, event)| *event == MembershipEvent::Silent { rank: frozen }));
    }
}

#[test]
fn the_bound_follows_the_network_in_both_directions() {
    for seed in seeds(0..4) {
        let mut job = Job::new(seed, RANKS, 0.0);
        job.run(60, on_time);
        let fast = job.bound_ns();
        assert_eq!(job.changes(), 1, "{}: {:?}", job.what, job.bounds_ns);
        for factor in [4, 40] {
            job.network.impairments.delay_ns = 50_000 * factor..100_000 * factor;
            job.run(120, on_time);
            let slow = job.bound_ns() as f64 / fast as f64;
            let range = factor as f64 * 0.4..factor as f64 * 2.5;
            assert!(range.contains(&slow), "{}, {factor} times slower: bound {slow} times", job.what);
        }
        job.network.impairments.delay_ns = 50_000..100_000;
        job.run(120, on_time);
        let again = job.bound_ns();
        assert!((fast / 2..=2 * fast).contains(&again), "{}: {again} ns, at first {fast} ns", job.what);
        assert!(job.changes() < 20, "{}: {:?}", job.what, job.bounds_ns);
    }
}

#[test]
fn short_buckets_between_large_ones_do_not_lower_the_bound() {
    for seed in seeds(0..3) {
        // Links of 100 MB/s pass 100 kB of a rank in 750 us.
        let job_of = |elements: &[usize]| {
            let mut job = Job::new(seed, RANKS, 0.0);
            let link = crate::virtual_network::Link { bytes_per_us: 100, queue_bytes: 1 << 30 };
            job.network.impairments.link = Some(link);
            for turn in 0..80 {
                job.elements = elements[turn % elements.len()];
                job.run(1, on_time);
            }
            job
        };
        let (mixed, large) = (job_of(&[25_000, 100, 100]), job_of(&[25_000]));
        let factor = mixed.bound_ns() as f64 / large.bound_ns() as f64;
        assert!((0.5..=2.0).contains(&factor), "{}: {factor} of {} ns", mixed.what, large.bound_ns());
    }
}

#[test]
fn all_ranks_have_the_same_bound_in_the_same_collective_however_late_messages_are() {
    let mut changes = 0;
    for seed in seeds(0..20) {
        let mut random = Random(seed << 32);
        let ranks = 2 + random.below(5) as usize;
        let mut job = Job::new(seed, ranks, [0.0, 0.05][random.below(2) as usize]);
        job.network.letters_ns = 20_000..20_000 + [200_000, 3_000_000, 20_000_000][random.below(3) as usize];
        for _ in 0..6 {
            let factor = 1 + random.below(30);
            job.network.impairments.delay_ns = 50_000 * factor..100_000 * factor;
            let late = random.below(ranks as u64) as usize;
            let late_ns = random.below(5_000_000);
            job.run(30 + random.below(40) as u32, |rank, op| {
                Some(if rank == late && op % 3 == 0 { late_ns } else { 0 })
            });
        }
        changes += job.changes();
    }
    assert!(changes > 20, "{changes} changes: nothing happens");
}
