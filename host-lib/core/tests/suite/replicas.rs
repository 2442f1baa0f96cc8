//! Replicas end with the same updates, and ranks with different calls all report it. Software ranks
//! train at their own pace on a virtual network.

use optireduce_contract::packet::{FLAG_BF16, FLAG_HADAMARD, STAGE_BROADCAST, UbtHeader};
use optireduce_core::protocol::{
    HadamardMode, JobParams, Kind, MembershipParams, Stream, StreamId, UpdateAction, VoteParams,
};
use optireduce_core::{Call, CollectivesError, DataPlane, Repair};

use crate::seeds;
use crate::virtual_network::{Impairments, JOB_TAG, Network, Outcome, Random};

const BOUND_NS: u64 = 1_000_000;
const RANKS: usize = 4;
const ELEMENTS: usize = 1500;
const UPDATES: u32 = 100;

fn network(seed: u64, loss: f64) -> Network {
    let impairments = Impairments { loss, delay_ns: 1000..30_000, ..Impairments::default() };
    Network::new(RANKS, 4, impairments, seed, |rank, plane| JobParams {
        window_beats_max: 40,
        ..JobParams::new(rank, RANKS, 4, BOUND_NS, &plane.limits())
    })
}

/// Values are multiples of 2^-10 up to 1, so that sums of means in f64 are exact.
fn gradient(seed: u64, rank: usize, call: u32) -> Vec<f32> {
    let mut random = Random(seed << 40 | (rank as u64) << 32 | u64::from(call) << 12);
    (0..ELEMENTS).map(|_| (random.below(2049) as f32 - 1024.0) / 1024.0).collect()
}

/// Call of one of two declared buckets; `hadamard` selects the encoded one.
fn bucket(call: u32, hadamard: impl Fn(u32) -> bool) -> Call {
    let hadamard = hadamard(call);
    let [plain, encoded] = BUCKETS;
    let bucket = if hadamard { encoded } else { plain };
    Call { hadamard: hadamard.into(), ..Call::declared(Kind::AllReduce, bucket, ELEMENTS, 0) }
}

const BUCKETS: [u16; 2] = [3, 4];

#[derive(Default)]
struct Replicas {
    sums: Vec<Vec<f64>>,
    skipped: [u32; RANKS],
    corrected: u32,
}

impl Replicas {
    fn new() -> Self {
        Self { sums: vec![vec![0.0; ELEMENTS]; RANKS], ..Self::default() }
    }

    fn add(&mut self, rank: usize, values: &[f32]) {
        self.sums[rank].iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
    }

    fn observe(&mut self, seed: u64, rank: usize, outcome: &Outcome) {
        let Outcome { report, result, .. } = outcome;
        self.corrected += u32::from(report.repair.corrected);
        match report.action {
            UpdateAction::Apply => self.add(rank, result),
            _ => {
                self.skipped[rank] += 1;
                assert_eq!(result, &gradient(seed, rank, report.op), "seed {seed}: not what was given");
                assert!(report.missing_ranges().is_empty() && !report.repair.corrected, "seed {seed}");
            }
        }
    }

    fn settle(&mut self, network: &mut Network, of: &[usize]) {
        for &rank in of {
            for bucket in BUCKETS {
                let stream = StreamId { bucket, generation: 0, elements: ELEMENTS };
                while let Some(correction) = network.ranks[rank].take_correction(stream) {
                    self.add(rank, &correction);
                }
            }
        }
    }

    fn apart(&self, of: &[usize]) -> f64 {
        let pairs = of.iter().flat_map(|rank| self.sums[*rank].iter().zip(&self.sums[of[0]]));
        pairs.fold(0.0, |max, (a, b)| (a - b).abs().max(max))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Design {
    Nothing,
    Repair,
    Vote,
}

/// Returns replica divergence, skipped updates by rank, messages, and mean time of a call in ns.
fn train(seed: u64, design: Design, hadamard: fn(u32) -> bool) -> (f64, [u32; RANKS], usize, u64) {
    let mut network = network(seed, 0.005);
    for rank in &mut network.ranks {
        if design != Design::Nothing {
            rank.repair();
        }
        if design == Design::Vote {
            rank.agree_on_updates(VoteParams { leader_ns: 2 * BOUND_NS, others_ns: 4 * BOUND_NS });
        }
    }
    let late = seed as usize % RANKS;
    let (mut replicas, mut took_ns) = (Replicas::new(), 0);
    let errors = network.train(
        UPDATES,
        |rank, call| if rank == late && call % 10 == 9 { 5 * BOUND_NS } else { 200_000 },
        |rank, call| (bucket(call, hadamard), gradient(seed, rank, call)),
        |rank, outcome| {
            took_ns += outcome.took_ns;
            replicas.observe(seed, rank, &outcome);
        },
    );
    assert!(errors.iter().all(Option::is_none), "seed {seed}: {errors:?}");
    replicas.settle(&mut network, &[0, 1, 2, 3]);
    if design != Design::Nothing {
        for rank in &network.ranks {
            let report = rank.repaired().unwrap();
            assert_eq!((report.outstanding_bytes, report.drift_bytes), (0, 0), "seed {seed}: {report:?}");
            assert!(rank.is_settled(), "seed {seed}");
        }
        assert!(replicas.corrected > 0, "seed {seed}: nothing was repaired");
    }
    (
        replicas.apart(&[0, 1, 2, 3]),
        replicas.skipped,
        network.letters_sent(),
        took_ns / (RANKS as u64 * u64::from(UPDATES)),
    )
}

#[test]
fn after_the_last_repair_all_replicas_have_the_same_sum() {
    let (mut apart_without, mut runs) = (0, 0);
    let mut table =
        [(Design::Nothing, [0; RANKS], 0, 0), (Design::Repair, [0; RANKS], 0, 0), (Design::Vote, [0; RANKS], 0, 0)];
    for seed in seeds(0..12) {
        for (design, skipped, letters, took_ns) in &mut table {
            let (apart, skips, sent, ns) = train(seed, *design, |_| false);
            if *design == Design::Nothing {
                apart_without += u32::from(apart > 0.1);
            } else {
                assert_eq!(apart, 0.0, "seed {seed}, {design:?}: skipped {skips:?}");
            }
            (0..RANKS).for_each(|rank| skipped[rank] += skips[(seed as usize + rank) % RANKS]);
            *letters += sent;
            *took_ns += ns;
        }
        let (apart, ..) = train(seed, Design::Repair, |call| call % 3 == 0);
        assert!(apart < 1e-9, "seed {seed}, some encoded: {apart} apart");
        runs += 1;
    }
    for (design, skipped, letters, took_ns) in table {
        let skipped = skipped.map(|skipped| f64::from(skipped) / f64::from(runs));
        println!(
            "{design:?}: skipped of 100 (late rank first) {skipped:.1?}, {} messages, {} us a call",
            letters / runs as usize,
            took_ns / u64::from(runs) / 1000
        );
    }
    assert!(apart_without * 10 > runs * 9, "{apart_without} of {runs} drift apart without repair");
}

/// Returns the outputs of each rank, and the incomplete ones.
fn outputs(seed: u64, repair: Repair) -> (Vec<Vec<Vec<f32>>>, Vec<String>) {
    let mut network = network(seed, 0.01);
    for rank in &mut network.ranks {
        rank.repair();
    }
    let late = seed as usize % RANKS;
    let (mut outputs, mut incomplete) = (vec![Vec::new(); 40], Vec::new());
    let mut ended = outputs.len();
    let errors = network.train(
        40,
        |rank, call| if rank == late && call % 10 == 9 { 5 * BOUND_NS } else { 200_000 },
        |rank, call| (Call { repair, ..bucket(call, |call| call % 3 == 0) }, gradient(seed, rank, call)),
        |rank, Outcome { report, result, .. }| {
            let (action, missing) = (report.action, report.missing_ranges());
            // A halt ends the job: contributions to this rank's shard were lost three times.
            if action == UpdateAction::Halt && missing.is_empty() {
                ended = ended.min(report.op as usize);
                return;
            }
            if action != UpdateAction::Apply || !missing.is_empty() {
                let (received, late) = (report.received_fraction, &report.late_peers);
                incomplete
                    .push(format!("op {} rank {rank} {action:?} {missing:?} {received:?} late {late:?}", report.op));
            }
            outputs[report.op as usize].push(result);
        },
    );
    assert!(errors.iter().all(Option::is_none), "seed {seed}: {errors:?}");
    outputs.truncate(ended);
    (outputs, incomplete)
}

#[test]
fn with_repairs_waited_for_every_output_is_whole_and_the_same_on_all_ranks() {
    let mut incomplete_without = 0;
    for seed in seeds(0..12) {
        incomplete_without += outputs(seed, Repair::NextUpdate).1.len();
        let (outputs, incomplete) = outputs(seed, Repair::ThisUpdate);
        assert!(incomplete.is_empty(), "seed {seed}: {incomplete:#?}");
        for (op, outputs) in outputs.iter().enumerate() {
            assert_eq!(outputs.len(), RANKS, "seed {seed}, collective {op}");
            assert!(outputs.iter().all(|output| output == &outputs[0]), "seed {seed}, collective {op}: outputs differ");
        }
    }
    assert!(
        incomplete_without > 100 || std::env::var("SEEDS").is_ok(),
        "only {incomplete_without} outputs lacked something"
    );
}

#[test]
fn with_repairs_waited_for_a_rank_that_is_always_late_holds_the_others_back_until_its_means_have_come() {
    for seed in seeds(0..8) {
        let mut network = network(seed, 0.01);
        for rank in &mut network.ranks {
            rank.repair();
        }
        let (late, mut incomplete) = (seed as usize % RANKS, Vec::new());
        let errors = network.train(
            40,
            |rank, _| if rank == late { 4 * BOUND_NS } else { 200_000 },
            |rank, call| (Call { repair: Repair::ThisUpdate, ..bucket(call, |_| false) }, gradient(seed, rank, call)),
            |rank, Outcome { report, .. }| {
                let (action, missing) = (report.action, report.missing_ranges());
                if action != UpdateAction::Apply || !missing.is_empty() {
                    incomplete.push(format!("op {} rank {rank}: {action:?} {missing:?}", report.op));
                }
            },
        );
        assert!(errors.iter().all(Option::is_none), "seed {seed}: {errors:?}");
        assert!(incomplete.is_empty(), "seed {seed}: {incomplete:#?}");
    }
}

/// Three buckets of one job. Rank 1 loses the first mean of rank 0's shard in each.
#[test]
fn a_lost_mean_arrives_never_with_the_next_result_or_before_the_call_ends_as_its_bucket_says() {
    const RANKS: usize = 8;
    let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
    let mut network = Network::new(RANKS, 4, impairments, 1, |rank, plane| JobParams {
        window_beats_max: 128,
        ..JobParams::new(rank, RANKS, 4, BOUND_NS, &plane.limits())
    });
    network.ranks.iter_mut().for_each(|rank| rank.repair());
    // The second set of values is larger, so that sums show their parts.
    let given = |round: u32| (0..RANKS).map(move |rank| vec![(rank as u32 * 8 + (round << 10)) as f32; ELEMENTS]);
    let mean = |round: u32| (28 + (round << 10)) as f32;
    let mut shards: Vec<std::ops::Range<usize>> = Vec::new();
    for round in 0..3 {
        network.impairments.lose =
            (round == 0).then_some(|from, to, header| (from, to, header.stage) == (0, 1, STAGE_BROADCAST));
        for (bucket, repair) in (3..).zip(Repair::ALL) {
            let what = format!("{repair}, round {round}");
            let call = Call { repair, ..Call::declared(Kind::AllReduce, bucket, ELEMENTS, 0) };
            let outcomes = network.collective(call, &given(round).collect::<Vec<_>>(), &[Some(0); RANKS]);
            for (rank, Outcome { report, result, took_ns, .. }) in outcomes.into_iter().flatten().enumerate() {
                assert_eq!(report.action, UpdateAction::Apply, "{what}, rank {rank}");
                let missing = report.missing_ranges();
                let (is_here, is_corrected) = (rank == 1, report.repair.corrected);
                if round > 0 || !is_here {
                    let is_second = round == 1 && is_here && repair == Repair::NextUpdate;
                    assert_eq!((is_corrected, missing.is_empty()), (is_second, true), "{what}, rank {rank}");
                    let before = |at| if is_second && shards[1].contains(&at) { mean(0) } else { 0.0 };
                    assert!((0..ELEMENTS).all(|at| result[at] == mean(round) + before(at)), "{what}, rank {rank}");
                    continue;
                }
                assert!(report.lost_bytes > 0 && !is_corrected, "{what}");
                if repair == Repair::ThisUpdate {
                    assert!(missing.is_empty() && result.iter().all(|value| *value == mean(0)), "{what}: {missing:?}");
                    assert!(took_ns > BOUND_NS && took_ns < 6 * BOUND_NS, "{what}: {took_ns} ns");
                    continue;
                }
                let [ref shard] = missing[..] else { panic!("{what}: {missing:?}") };
                shards.push(shard.clone());
                assert!(shard.len() >= ELEMENTS / RANKS, "{what}: {shard:?}");
                let expected = |at| if shard.contains(&at) { 0.0 } else { mean(0) };
                assert!((0..ELEMENTS).all(|at| result[at] == expected(at)), "{what}");
                assert!(took_ns < 2 * BOUND_NS + 200_000, "{what}: {took_ns} ns");
            }
        }
    }
    assert_eq!(shards.len(), 2, "{shards:?}");
    let report = |bucket| network.ranks[1].repaired_of(bucket).unwrap();
    let counts = [3, 4, 5].map(|bucket| (report(bucket).missing_bytes > 0, report(bucket).outstanding_bytes));
    assert_eq!(counts, [(false, 0), (true, 0), (true, 0)]);
    assert!(network.ranks.iter().all(|rank| rank.is_settled()));
}

#[test]
fn what_a_crashed_owner_took_with_it_is_reported_as_drift() {
    let mut apart = 0;
    for seed in seeds(0..30) {
        let mut network = network(seed, 0.02);
        for rank in &mut network.ranks {
            rank.repair();
            let members = MembershipParams {
                silent_ops: Some(5),
                silent_ns: BOUND_NS,
                lead_ops: 4,
                retry_ns: BOUND_NS,
                ..MembershipParams::new(RANKS)
            };
            rank.agree_on_views(members, HadamardMode::Off).unwrap();
        }
        let crashed = 1 + seed as usize % (RANKS - 1);
        network.dies_ns[crashed] = Some(5_000_000 + 10_000 * seed);
        let mut replicas = Replicas::new();
        let errors = network.train(
            60,
            |_, _| 200_000,
            |rank, call| (bucket(call, |_| false), gradient(seed, rank, call)),
            |rank, outcome| replicas.observe(seed, rank, &outcome),
        );
        assert!(errors.iter().all(Option::is_none), "seed {seed}: {errors:?}");
        let live: Vec<usize> = (0..RANKS).filter(|rank| *rank != crashed).collect();
        replicas.settle(&mut network, &live);
        let drift: u64 = live.iter().map(|rank| network.ranks[*rank].repaired().unwrap().drift_bytes).sum();
        let outstanding: u64 = live.iter().map(|rank| network.ranks[*rank].repaired().unwrap().outstanding_bytes).sum();
        assert_eq!(outstanding, 0, "seed {seed}");
        let differs = |at: &usize| live.iter().any(|rank| replicas.sums[*rank][*at] != replicas.sums[live[0]][*at]);
        let differing = (0..ELEMENTS).filter(differs).count() as u64;
        // Means that the crashed rank sent to no other count as drift, since no rank can tell.
        assert!(4 * differing <= drift, "seed {seed}: {differing} elements differ, {drift} bytes are reported");
        apart += u32::from(differing > 0);
    }
    println!("replicas of {apart} seeds stay apart");
    assert!(apart > 0 || std::env::var("SEEDS").is_ok(), "no owner has taken anything with it");
}

#[test]
fn a_difference_between_ranks_is_the_same_error_on_all_of_them() {
    type Change = fn(Call) -> Call;
    let odd_calls: [(&str, Change); 5] = [
        ("bucket", |call| Call { bucket: 9, ..call }),
        ("kind", |call| Call { kind: Kind::ReduceScatter, ..call }),
        ("hadamard", |call| Call { hadamard: HadamardMode::On, ..call }),
        ("elements", |call| Call { elements: 700, ..call }),
        ("declaration", |call| Call { stream: optireduce_core::protocol::Stream::OneOff, ..call }),
    ];
    for seed in seeds(0..20) {
        for (field, change) in odd_calls {
            let mut network = network(seed, 0.0);
            for rank in &mut network.ranks {
                rank.repair();
                rank.compare_calls(BOUND_NS);
            }
            let odd = seed as usize % RANKS;
            let call_of = |rank: usize, call: u32| {
                let usual = bucket(call, |_| false);
                if rank == odd && call == 7 { change(usual) } else { usual }
            };
            let errors = network.train(
                20,
                |_, _| 200_000,
                |rank, call| {
                    let what = call_of(rank, call);
                    (what, gradient(seed, rank, call)[..what.elements].to_vec())
                },
                |_, _| {},
            );
            for (rank, error) in errors.iter().enumerate() {
                let Some((_, CollectivesError::Mismatch(mismatch))) = error else {
                    panic!("seed {seed}, {field}, rank {rank}: {error:?}");
                };
                let found = (mismatch.op, mismatch.rank, mismatch.field, mismatch.is_majority, mismatch.by.len());
                assert_eq!(found, (7, odd, field, true, RANKS - 1), "seed {seed}, rank {rank}: {mismatch}");
            }
        }
    }
}

#[test]
fn a_one_off_collective_returns_whole_or_says_what_is_missing() {
    for seed in seeds(0..20) {
        let mut network = network(seed, 0.03);
        for rank in &mut network.ranks {
            rank.repair();
            rank.compare_calls(BOUND_NS);
            rank.set_one_off_wait(20 * BOUND_NS);
        }
        let mut results: Vec<Vec<Vec<f32>>> = vec![Vec::new(); RANKS];
        let errors = network.train(
            8,
            |_, _| 200_000,
            |rank, call| {
                let elements = ELEMENTS - 100 * call as usize;
                (Call::one_off(Kind::AllReduce, 3, elements), gradient(seed, rank, call)[..elements].to_vec())
            },
            |rank, outcome| {
                assert!(outcome.report.missing_ranges().is_empty(), "seed {seed}: {:?}", outcome.report.missing);
                results[rank].push(outcome.result);
            },
        );
        assert!(errors.iter().all(Option::is_none), "seed {seed}: {errors:?}");
        assert!(results.iter().all(|result| *result == results[0]), "seed {seed}: ranks have different results");
    }
}

#[test]
fn a_rank_that_is_late_does_not_take_a_bucket_declared_anew_for_the_old_one() {
    for seed in seeds(0..40) {
        let mut network = network(seed, 0.0);
        let late = seed as usize % RANKS;
        let mut replicas = Replicas::new();
        for (generation, elements) in [(0, ELEMENTS), (1, 700), (2, ELEMENTS)] {
            for rank in &mut network.ranks {
                if generation == 0 {
                    rank.repair();
                }
                rank.release_bucket(BUCKETS[0]).unwrap();
            }
            let call = Call {
                stream: Stream::Declared { generation },
                ..Call::declared(Kind::AllReduce, BUCKETS[0], elements, 0)
            };
            let errors = network.train(
                3,
                |rank, call| if rank == late && call == 0 { 5 * BOUND_NS } else { 200_000 },
                |rank, number| (call, gradient(seed, rank, number)[..elements].to_vec()),
                |rank, outcome| {
                    if outcome.report.action == UpdateAction::Apply {
                        replicas.add(rank, &outcome.result);
                    }
                },
            );
            assert!(errors.iter().all(Option::is_none), "seed {seed}, generation {generation}: {errors:?}");
            for rank in 0..RANKS {
                let stream = StreamId { bucket: BUCKETS[0], generation, elements };
                assert!(network.ranks[rank].is_repaired(stream), "seed {seed}, generation {generation}, rank {rank}");
                while let Some(correction) = network.ranks[rank].take_correction(stream) {
                    replicas.add(rank, &correction);
                }
            }
            let apart = replicas.apart(&[0, 1, 2, 3]);
            assert_eq!(apart, 0.0, "seed {seed}, generation {generation}, rank {late} was late");
        }
    }
}

#[test]
fn a_bucket_that_is_released_gives_up_what_was_preposted_of_it() {
    let mut network = network(1, 0.0);
    let call = Call::declared(Kind::AllReduce, BUCKETS[0], ELEMENTS, 0);
    let errors = network.train(1, |_, _| 0, |rank, _| (call, gradient(1, rank, 0)), |_, _| ());
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
    let header = UbtHeader { bucket: BUCKETS[0], sender: 1, step: 1, job_tag: JOB_TAG, ..UbtHeader::default() };
    let mut datagram = header.to_bytes().to_vec();
    datagram.resize(datagram.len() + 64, 0x3f);
    let rank = &mut network.ranks[0];
    let mut next_op_after_packet = || {
        rank.plane_mut().handle_datagram(Some(1), &datagram);
        assert!(matches!(rank.poll(network.now_ns), Ok(None)));
        let preposted = rank.next_op();
        rank.release_bucket(BUCKETS[1]).unwrap();
        assert_eq!(rank.next_op(), preposted, "another bucket changes nothing");
        rank.release_bucket(BUCKETS[0]).unwrap();
        (preposted, rank.next_op())
    };
    assert_eq!(next_op_after_packet(), (2, 1));
    assert_eq!(next_op_after_packet(), (1, 1), "what is not declared any more is not preposted");
}

#[test]
fn forged_packets_make_no_rank_fail_and_what_the_caller_calls_counts() {
    for seed in seeds(0..40) {
        let mut network = network(seed, 0.0);
        for rank in &mut network.ranks {
            rank.repair();
            rank.compare_calls(BOUND_NS);
        }
        let mut random = Random(seed << 20);
        // Two declared buckets alternate, so that forged packets can name the wrong one.
        let call_of = |call: u32| Call { bucket: 3 + (call % 2) as u16, ..bucket(call, |_| false) };
        let mut exact = 0;
        for round in 0..10 {
            let forged = round < 8;
            let errors = network.train(
                4,
                |_, _| 200_000,
                |rank, call| (call_of(call), gradient(seed, rank, call)),
                |_, outcome| exact += u32::from(round == 9 && outcome.report.lost_bytes == 0),
            );
            assert!(errors.iter().all(Option::is_none), "seed {seed}, round {round}: {errors:?}");
            for to in (0..RANKS).filter(|_| forged) {
                let next = network.ranks[to].next_op();
                for _ in 0..20 {
                    let from = (to + 1 + random.below(RANKS as u64 - 1) as usize) % RANKS;
                    let header = UbtHeader {
                        bucket: [3, 4, 4, 9, 3 | 1 << 14, 4 | 2 << 14][random.below(6) as usize],
                        offset: 64 * random.below(100) as u32,
                        timeout_16us: random.below(1 << 16) as u16,
                        incast: random.below(16) as u8,
                        flags: [0, 1, 2, 4, 7][random.below(5) as usize],
                        stage: [0, 2, 0, 3, 1, 4][random.below(6) as usize],
                        sender: from as u16,
                        step: (next as u16).wrapping_add(random.below(4) as u16).wrapping_sub(random.below(2) as u16),
                        job_tag: JOB_TAG,
                    };
                    let mut datagram = header.to_bytes().to_vec();
                    datagram.resize(datagram.len() + 64 * random.below(5) as usize, 0x3f);
                    network.ranks[to].plane_mut().handle_datagram(Some(from), &datagram);
                }
                let polled = network.ranks[to].poll(network.now_ns);
                assert!(matches!(polled, Ok(None)), "seed {seed}, round {round}, rank {to}: {polled:?}");
            }
        }
        assert_eq!(exact, 4 * RANKS as u32, "seed {seed}: calls that no forged packet was for lose nothing");
    }
}

#[test]
fn a_forged_flag_does_not_decide_how_a_window_is_armed() {
    for seed in seeds(0..20) {
        for (hadamard, bf16) in [(false, false), (false, true), (true, false), (true, true)] {
            let case = format!("seed {seed}, hadamard {hadamard}, bf16 {bf16}");
            let mut network = network(seed, 0.0);
            let late = seed as usize % RANKS;
            let call = Call { bf16: Some(bf16), ..bucket(0, |_| hadamard) };
            let mut outcomes = Vec::new();
            for calls in 0..2 {
                if calls == 1 {
                    let from = (late + 1) % RANKS;
                    let header = UbtHeader {
                        bucket: call.bucket,
                        flags: (u8::from(!hadamard) * FLAG_HADAMARD) | (u8::from(!bf16) * FLAG_BF16),
                        sender: from as u16,
                        step: 1,
                        job_tag: JOB_TAG,
                        ..UbtHeader::default()
                    };
                    let mut datagram = header.to_bytes().to_vec();
                    datagram.resize(datagram.len() + 64, 0x3f);
                    let rank = &mut network.ranks[late];
                    rank.plane_mut().handle_datagram(Some(from), &datagram);
                    assert!(matches!(rank.poll(network.now_ns), Ok(None)), "{case}");
                    assert_eq!(rank.plane().counters().drop_flags, 1, "{case}: it is dropped, and says why");
                }
                let errors = network.train(
                    1,
                    |rank, _| if calls == 1 && rank == late { BOUND_NS / 2 } else { 0 },
                    |rank, _| (call, gradient(seed, rank, calls)),
                    |_, outcome| outcomes.push(outcome.report),
                );
                assert!(errors.iter().all(Option::is_none), "{case}: {errors:?}");
            }
            for report in outcomes {
                assert_eq!((report.lost_bytes, report.hadamard), (0, hadamard), "{case}: {report:?}");
            }
        }
    }
}
