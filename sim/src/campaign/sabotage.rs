//! Every judge is shown to object to a planted fault: a job without faults, in which one result is changed on its way to the
//! caller.

use optireduce_core::Finished;
use optireduce_core::protocol::{Kind, UpdateAction};

use super::job::Job;
use super::judge::{JudgeKind, Violation};
use super::plan::{Edits, JobPlan};
use super::values::LANES;

/// Changes a result of a collective.
type Sabotage = fn(&JobPlan, usize, u32, &mut Finished);

/// A job of three ranks without any loss; `op` is the first whole plain all-reduce that it applies.
fn judged(sabotage: Sabotage) -> Option<Violation> {
    let edits = Edits { only: Some(Vec::new()), ranks: Some(3), calls: Some(20) };
    let mut plan = JobPlan::new(3, &edits);
    (plan.loss, plan.settings.slots, plan.settings.unexpected_bytes) = (0.0, 32, 1 << 20);
    (plan.settings.repair, plan.settings.votes, plan.depth) = (true, false, 1);
    plan.sabotage = Some(sabotage);
    let mut job = Job::new(&plan, false).unwrap();
    job.run();
    job.judge.violation.clone()
}

/// At rank 1, in the fifth collective and those after it, if they are all-reduces.
fn at(plan: &JobPlan, rank: usize, op: u32) -> bool {
    rank == 1 && op >= 5 && plan.calls[op as usize].kind == Kind::AllReduce
}

#[test]
fn without_sabotage_no_judge_objects() {
    assert_eq!(judged(|_, _, _, _| ()), None);
}

#[test]
fn each_judge_objects_to_its_planted_fault() {
    let cases: [(&str, JudgeKind, Sabotage); 9] = [
        ("a contribution counted twice", JudgeKind::Exact, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let own = plan.gradient(rank, op);
                finished.result.iter_mut().zip(own).for_each(|(value, own)| *value += own / 3.0);
            }
        }),
        ("a result of the collective before", JudgeKind::Exact, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                let length = finished.result.len();
                finished.result = plan.stamp(op - 1).mean(7, 0, length);
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
                    finished.partial = Some(std::mem::replace(&mut finished.result, plan.gradient(rank, op)));
                }
            }
        }),
        ("other members", JudgeKind::Members, |plan, rank, op, finished| {
            if at(plan, rank, op) {
                finished.report.live = vec![0, 2];
            }
        }),
        ("a panic", JudgeKind::Panic, |plan, rank, op, _| assert!(!at(plan, rank, op), "planted")),
    ];
    for (name, judge, sabotage) in cases {
        let violation = match std::panic::catch_unwind(|| judged(sabotage)) {
            Ok(violation) => violation.map(|violation| violation.judge),
            Err(_) => Some(JudgeKind::Panic),
        };
        assert_eq!(violation, Some(judge), "{name}");
    }
}
