//! Tests of the judges: each must object to a planted fault, the only one of its job.

use optireduce_contract::packet::{STAGE_CONTRIBUTE, UbtHeader};
use optireduce_core::protocol::{HadamardMode, Kind, UpdateAction};
use optireduce_core::{Call, Finished, Repair};

use super::fault::{Fault, FaultKind, Trigger};
use super::job::{Event, Job};
use super::judge::{JudgeKind, Violation};
use super::plan::{Edits, JobPlan};
use super::rank::{Outstanding, State, engine};
use super::states::States;
use super::values::LANES;

/// Applied when a collective finishes, before a judge sees the result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sabotage {
    Result(Change),
    Rank(Harm),
    /// Kernels skip checksums.
    NoChecksums,
}

type Change = fn(&JobPlan, usize, u32, &mut Finished);
type Harm = fn(&mut Job<'_>, usize, Outstanding);

impl Job<'_> {
    pub(super) fn sabotaged(&mut self, rank: usize, call: Outstanding, mut finished: Finished) -> Finished {
        match self.plan.sabotage {
            Some(Sabotage::Result(change)) => change(self.plan, rank, call.op, &mut finished),
            Some(Sabotage::Rank(harm)) if at(self.plan, rank, call.op) => harm(self, rank, call),
            _ => {}
        }
        finished
    }
}

fn planted() -> JobPlan {
    let edits = Edits { only: Some(Vec::new()), ranks: Some(3), calls: Some(20), plain: true, ..Edits::default() };
    let mut plan = JobPlan::new(3, &edits);
    (plan.loss, plan.settings.slots, plan.settings.unexpected_bytes) = (0.0, 32, 1 << 20);
    (plan.settings.repair, plan.settings.votes, plan.settings.silent_ops, plan.depth) = (true, false, Some(3), 1);
    plan.cards = 0;
    plan
}

fn judged(sabotage: Sabotage) -> Option<Violation> {
    judged_in(planted(), sabotage)
}

fn judged_in(plan: JobPlan, sabotage: Sabotage) -> Option<Violation> {
    let plan = JobPlan { sabotage: Some(sabotage), ..plan };
    let mut job = Job::new(&plan, States::default(), false).unwrap();
    job.run();
    job.judge.violation.clone()
}

/// All-reduces of rank 1 from the sixth collective on.
fn at(plan: &JobPlan, rank: usize, op: u32) -> bool {
    rank == 1 && op >= 5 && plan.calls[op as usize].kind == Kind::AllReduce
}

#[test]
fn without_sabotage_no_judge_objects() {
    assert_eq!(judged(Sabotage::Result(|_, _, _, _| ())), None);
    assert_eq!(judged(Sabotage::Rank(|_, _, _| ())), None);
}

#[test]
fn each_judge_of_results_objects_to_its_planted_fault() {
    let cases: [(&str, JudgeKind, Change); 10] = [
        ("a contribution counted twice", JudgeKind::Exact, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let own = plan.gradient(rank, op);
                finished.result.iter_mut().zip(own).for_each(|(value, own)| *value += own / 3.0);
            }
        }),
        ("a result of the collective before", JudgeKind::Exact, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let length = finished.result.len();
                finished.result = plan.stamp(op - 1).mean(7, 0, length).into();
            }
        }),
        ("one bit", JudgeKind::Exact, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.result[0] = f32::from_bits(finished.result[0].to_bits() ^ 1);
            }
        }),
        ("a beat of zeros that is not reported", JudgeKind::Reported, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let end = LANES.min(finished.result.len());
                finished.result[..end].fill(0.0);
            }
        }),
        ("a beat that is there and reported missing", JudgeKind::Reported, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.missing = std::iter::once(0..LANES.min(finished.result.len())).collect();
            }
        }),
        ("bytes that were lost and are not counted", JudgeKind::Reported, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.lost_bytes += 64;
            }
        }),
        ("an update that one rank leaves out, as all would have", JudgeKind::Replicas, |plan, rank, op, finished| {
            if plan.calls[op as usize].stream_id().is_some() {
                finished.report.agreed = true;
                if at(plan, rank, op) {
                    finished.report.action = UpdateAction::Skip;
                    finished.partial = Some(std::mem::replace(&mut finished.result, plan.gradient(rank, op).into()));
                }
            }
        }),
        ("a call that is encoded although it is not to be", JudgeKind::Members, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.hadamard = true;
            }
        }),
        ("other members", JudgeKind::Members, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.live = vec![0, 2];
            }
        }),
        ("a panic", JudgeKind::Panic, |plan, rank, op, _| assert!(!at(plan, rank, op), "planted")),
    ];
    for (name, judge, change) in cases {
        let violation = match std::panic::catch_unwind(|| judged(Sabotage::Result(change))) {
            Ok(violation) => violation.map(|violation| violation.judge),
            Err(_) => Some(JudgeKind::Panic),
        };
        assert_eq!(violation, Some(judge), "{name}");
    }
}

/// Changes the all-reduces of the planted job, which get 1024 elements each.
fn styled(change: fn(&mut Call)) -> JobPlan {
    let mut plan = planted();
    plan.settings.window_beats = 64;
    for call in plan.calls.iter_mut().filter(|call| call.kind == Kind::AllReduce) {
        call.elements = 1024;
        change(call);
    }
    plan
}

fn encoded() -> JobPlan {
    styled(|call| call.hadamard = HadamardMode::On)
}

fn as_bf16() -> JobPlan {
    styled(|call| call.bf16 = Some(true))
}

#[test]
fn results_that_are_rounded_are_judged_by_what_may_be_rounded() {
    type Case = (&'static str, fn() -> JobPlan, Option<JudgeKind>, Change);
    let cases: [Case; 9] = [
        ("encoded, as it is", encoded, None, |_, _, _, _| ()),
        ("encoded, one value off by 64", encoded, Some(JudgeKind::Exact), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.result[5] += 64.0;
            }
        }),
        (
            "encoded, a beat that is lost but spread nowhere",
            encoded,
            Some(JudgeKind::Exact),
            |plan, rank, op, finished| {
                if at(plan, rank, op) {
                    finished.result[..LANES].fill(0.0);
                    finished.report.missing = std::iter::once(0..1024).collect();
                }
            },
        ),
        ("encoded, one bit", encoded, Some(JudgeKind::Replicas), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.result[9] = f32::from_bits(finished.result[9].to_bits() ^ 1);
            }
        }),
        ("encoded, there and reported missing", encoded, Some(JudgeKind::Reported), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.missing = std::iter::once(0..1024).collect();
            }
        }),
        ("bf16, as it is", as_bf16, None, |_, _, _, _| ()),
        ("bf16, a value that is 3 % off", as_bf16, Some(JudgeKind::Exact), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.result[9] *= 1.03;
            }
        }),
        ("bf16, a contribution counted twice", as_bf16, Some(JudgeKind::Exact), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let own = plan.gradient(rank, op);
                finished.result.iter_mut().zip(own).for_each(|(value, own)| *value += own / 3.0);
            }
        }),
        ("bf16, a beat of zeros", as_bf16, Some(JudgeKind::Reported), |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.result[..LANES].fill(0.0);
            }
        }),
    ];
    for (name, plan, judge, change) in cases {
        let violation = judged_in(plan(), Sabotage::Result(change));
        assert_eq!(violation.as_ref().map(|found| found.judge), judge, "{name}: {violation:?}");
    }
}

/// The job has losses and no repair.
#[test]
fn an_encoded_block_of_which_beats_are_missing_must_be_reported() {
    let lossy = || {
        let mut plan = styled(|call| (call.hadamard, call.repair) = (HadamardMode::On, Repair::Off));
        (plan.loss, plan.settings.payload_beats) = (0.02, 1);
        plan
    };
    assert_eq!(judged_in(lossy(), Sabotage::Result(|_, _, _, _| ())), None);
    let hidden: Change = |_, _, _, finished| finished.report.missing.clear();
    let violation = judged_in(lossy(), Sabotage::Result(hidden));
    assert_eq!(violation.as_ref().map(|found| found.judge), Some(JudgeKind::Reported), "{violation:?}");
}

/// A corrected output has values 8 too large, so the outputs do not add up.
#[test]
fn corrections_of_encoded_buckets_must_reach_the_caller() {
    let lossy = || {
        let mut plan = encoded();
        plan.loss = 0.05;
        plan
    };
    assert_eq!(judged_in(lossy(), Sabotage::Result(|_, _, _, _| ())), None);
    let kept: Change = |_, _, _, finished| {
        if finished.report.repair.corrected {
            finished.result.iter_mut().for_each(|value| *value += 8.0);
        }
    };
    let violation = judged_in(lossy(), Sabotage::Result(kept));
    assert_eq!(violation.as_ref().map(|found| found.judge), Some(JudgeKind::Replicas), "{violation:?}");
}

/// Bits flip in packets of rank 1.
#[test]
fn a_flipped_bit_that_no_checksum_finds_is_found_in_a_result() {
    let flips = || {
        let lasts_ns = 1_000_000_000;
        let fault = Fault { trigger: Trigger::At(0), rank: 1, kind: FaultKind::Corrupt, lasts_ns };
        let mut plan = JobPlan { faults: vec![(0, fault)], ..planted() };
        plan.settings.silent_ops = None;
        plan
    };
    assert_eq!(judged_in(flips(), Sabotage::Result(|_, _, _, _| ())), None);
    let violation = judged_in(flips(), Sabotage::NoChecksums);
    assert_eq!(violation.as_ref().map(|found| found.judge), Some(JudgeKind::Exact), "{violation:?}");
}

/// Floods rank 1 with packets of future collectives. Its engine queues up to `unexpected_bytes`;
/// the job's settings allow 4096.
fn flooded(unexpected_bytes: usize) -> Option<Violation> {
    let flood: Harm = |job, rank, call| {
        let beats = job.plan.settings.payload_beats;
        for packet in 0..1000 {
            let header = UbtHeader {
                bucket: 77,
                offset: (64 * beats * (packet % 20)) as u32,
                stage: STAGE_CONTRIBUTE,
                step: (call.op + 2 + packet as u32 / 50) as u16,
                job_tag: job.plan.job_tag(),
                ..UbtHeader::default()
            };
            let mut datagram = header.to_bytes().to_vec();
            datagram.resize(datagram.len() + 64 * beats, 0x3f);
            job.schedule(job.now_ns, Event::Datagram { from: Some(0), to: rank, datagram });
        }
    };
    let mut plan = JobPlan { sabotage: Some(Sabotage::Rank(flood)), ..planted() };
    plan.settings.unexpected_bytes = 4096;
    let mut other = plan.clone();
    other.settings.unexpected_bytes = unexpected_bytes;
    let mut job = Job::new(&plan, States::default(), false).unwrap();
    job.ranks[1].engine = Some(engine(&other, 1).unwrap().0);
    job.run();
    job.judge.violation.clone()
}

#[test]
fn the_judge_of_memory_objects_to_a_queue_without_its_limit() {
    assert_eq!(flooded(4096), None);
    let violation = flooded(64 << 20);
    assert_eq!(violation.as_ref().map(|found| found.judge), Some(JudgeKind::Memory), "{violation:?}");
}

#[test]
fn each_judge_of_ranks_objects_to_its_planted_fault() {
    let cases: [(&str, JudgeKind, Harm); 4] = [
        ("a result that never reaches its caller", JudgeKind::Returns, |job, rank, call| {
            job.ranks[rank].outstanding.push_front(call);
        }),
        ("a rank that hangs", JudgeKind::Continues, |job, rank, _| job.ranks[rank].state = State::Failed),
        ("a rank that calls nothing more", JudgeKind::Continues, |job, rank, _| {
            job.ranks[rank].next_call_ns = u64::MAX;
        }),
        ("a message of nobody", JudgeKind::Sound, |job, rank, _| {
            let [from, to] = [0, rank].map(|of| (of, job.ranks[of].incarnation));
            job.schedule(job.now_ns, Event::Control { from, to, message: vec![0xff; 3] });
        }),
    ];
    for (name, judge, harm) in cases {
        let violation = judged(Sabotage::Rank(harm));
        assert_eq!(violation.as_ref().map(|violation| violation.judge), Some(judge), "{name}: {violation:?}");
    }
}
