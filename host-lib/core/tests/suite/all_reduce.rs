//! One collective against a scripted data plane in virtual time. The script decides when and how
//! each stage of each window closes.

use std::collections::BTreeMap;

use optireduce_contract::signs::splitmix64;
use optireduce_core::PlaneLimits;
use optireduce_core::protocol::{
    Action, AllReduce, ClosedBy, EarlyRule, JobParams, ProtocolError, Ranks, RefusedStatus, Report, Safeguard, Stage,
    StageReport, UpdateAction, WindowPlan,
};

const BOUND_NS: u64 = 1_000_000;
const SLACK_NS: u64 = 50_000_000;
const RANKS: usize = 4;
const WINDOW: usize = 16 * 1024;

fn params() -> JobParams {
    JobParams {
        early: Some(EarlyRule { grace_ns: 1000 }),
        ..JobParams::new(0, RANKS, 22, BOUND_NS, &PlaneLimits::CARD)
    }
}

#[derive(Clone, Copy)]
struct Fate {
    closed_by: ClosedBy,
    /// Time from this rank's entry (or from arming, if `unasked`) to the report.
    after_ns: u64,
    /// Mask of ranks, and number of beats missing from each.
    missing: (u64, usize),
    /// True if peers start the contribute stage when the window is armed, without this rank's data.
    unasked: bool,
    never: bool,
}

const COMPLETE: Fate =
    Fate { closed_by: ClosedBy::Complete, after_ns: 1000, missing: (0, 0), unasked: false, never: false };

fn lossy(closed_by: ClosedBy, from: usize, beats: usize) -> Fate {
    Fate { closed_by, after_ns: BOUND_NS, missing: (1 << from, beats), ..COMPLETE }
}

type Script<'a> = &'a dyn Fn(u16, Stage) -> Fate;

fn bytes(plan: &WindowPlan, stage: Stage, fate: &Fate) -> Vec<u64> {
    let received = |from: usize| {
        let expected = plan.expected_beats(stage, 0, from);
        let local_late = fate.unasked && stage == Stage::Contribute && from == 0;
        let missing = if fate.missing.0 >> from & 1 == 1 { fate.missing.1.min(expected) } else { 0 };
        64 * if local_late { 0 } else { expected - missing } as u64
    };
    (0..RANKS).map(received).collect()
}

fn report(plan: &WindowPlan, stage: Stage, fate: &Fate) -> StageReport {
    StageReport {
        cookie: plan.cookie,
        stage,
        closed_by: fate.closed_by,
        received_bytes_per_rank: bytes(plan, stage, fate),
        elapsed_ns: fate.after_ns,
        heard: Ranks::default(),
        last_ns_per_rank: Vec::new(),
        hints: Vec::new(),
    }
}

struct Run {
    /// Time, window, and true for contributions, false for arms.
    actions: Vec<(u64, u16, bool)>,
    end_ns: u64,
    in_flight_max: usize,
    armed_max: usize,
    outcome: Result<Report, ProtocolError>,
}

/// The gradient is available at `start_ns`.
fn run(params: &JobParams, elements: usize, start_ns: u64, script: Script) -> Run {
    let mut machine = AllReduce::new(params, 5, 2, elements, false).unwrap();
    let mut run = Run { actions: vec![], end_ns: 0, in_flight_max: 0, armed_max: 0, outcome: Err(unknown()) };
    let mut events: BTreeMap<(u64, usize), StageReport> = BTreeMap::new();
    let (mut now, mut serial, mut started) = (0, 0, false);
    let mut contributed = vec![];
    let mut push = |events: &mut BTreeMap<_, _>, at: u64, event| {
        serial += 1;
        events.insert((at, serial), event);
    };
    let outcome = loop {
        if now >= start_ns && !started {
            started = true;
            machine.start();
        }
        while let Some(action) = machine.poll(now, params.slots - machine.slots_in_use()) {
            let (plan, contribute) = match action {
                Action::Arm(plan) => (plan, false),
                Action::Contribute(plan) => (plan, true),
            };
            run.actions.push((now, plan.index, contribute));
            let fate = script(plan.index, Stage::Contribute);
            if fate.unasked != contribute && !fate.never {
                push(&mut events, now + fate.after_ns, report(&plan, Stage::Contribute, &fate));
            }
            if contribute {
                contributed.push(plan.cookie);
            }
            run.in_flight_max = run.in_flight_max.max(contributed.len());
            run.armed_max = run.armed_max.max(machine.slots_in_use());
        }
        if let Err(error) = machine.handle_timeout(now) {
            break Err(error);
        }
        if machine.is_done() {
            break Ok(());
        }
        let next = events.keys().next().map(|(at, _)| *at);
        let waits = [next, machine.next_timeout(), (!started).then_some(start_ns)];
        now = waits.into_iter().flatten().min().expect("the collective waits for nothing").max(now);
        while let Some(entry) = events.first_entry().filter(|entry| entry.key().0 <= now) {
            let event = entry.remove();
            let plan = machine.plan_of(event.cookie).unwrap().clone();
            if event.stage == Stage::Contribute {
                let fate = script(plan.index, Stage::Broadcast);
                if !fate.never {
                    push(&mut events, now + fate.after_ns, report(&plan, Stage::Broadcast, &fate));
                }
            } else {
                contributed.retain(|cookie| *cookie != plan.cookie);
            }
            machine.handle_report(now, event).unwrap();
        }
    };
    run.end_ns = now;
    run.outcome = outcome.map(|()| machine.finish(&mut Safeguard::default()));
    run
}

fn unknown() -> ProtocolError {
    ProtocolError::UnknownWindow { op: 0, cookie: 0, windows: 0 }
}

#[test]
fn a_collective_without_loss_is_complete() {
    let run = run(&params(), 3 * WINDOW + 7, 500, &|_, _| COMPLETE);
    let report = run.outcome.unwrap();
    assert_eq!((report.op, report.bucket, report.elements), (5, 2, 3 * WINDOW + 7));
    assert_eq!(report.received_fraction, [1.0, 1.0]);
    assert_eq!((report.lost_bytes, report.loss()), (0, 0.0));
    assert_eq!(report.closed_by, [ClosedBy::Complete; 2]);
    assert_eq!(report.stages[0].closed_by_window.len(), 4);
    assert_eq!(report.stages[1].elapsed_ns_max, 1000);
    assert!(report.late_peers.is_empty() && report.local_contribution);
    assert_eq!(report.action, UpdateAction::Apply);
    let arms = (0..4).map(|window| (0, window, false));
    let contributions = (0..4).map(|window| (500, window, true));
    assert_eq!(run.actions, arms.chain(contributions).collect::<Vec<_>>());
    assert_eq!(run.end_ns, 2500);
}

#[test]
fn slots_and_windows_in_flight_are_bounded_and_refilled() {
    let params = JobParams { slots: 3, in_flight: 2, ..params() };
    let run = run(&params, 10 * WINDOW, 0, &|_, _| COMPLETE);
    assert!(run.outcome.unwrap().local_contribution);
    assert_eq!((run.armed_max, run.in_flight_max), (3, 2));
    assert_eq!(run.end_ns, 5 * 2000); // ten windows, two at a time
    for contribute in [false, true] {
        let order: Vec<_> = run.actions.iter().filter(|action| action.2 == contribute).map(|action| action.1).collect();
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn windows_may_close_in_any_order() {
    let script = |window: u16, _| Fate { after_ns: 10_000 / (1 + u64::from(window)), ..COMPLETE };
    let run = run(&params(), 12 * WINDOW, 0, &script);
    assert_eq!(run.outcome.unwrap().received_fraction, [1.0, 1.0]);
    assert_eq!((run.armed_max, run.in_flight_max), (8, 4));
    assert_eq!(run.end_ns, 20_000);
}

#[test]
fn lost_beats_are_counted_by_stage_and_peer() {
    // Window 1 loses 10 of rank 2's 256 contributed beats, window 0 all means of rank 3.
    let script = |window, stage| match (window, stage) {
        (1, Stage::Contribute) => lossy(ClosedBy::Deadline, 2, 10),
        (0, Stage::Broadcast) => lossy(ClosedBy::Early, 3, 256),
        _ => COMPLETE,
    };
    let report = run(&params(), 4 * WINDOW, 0, &script).outcome.unwrap();
    let expected = 4 * 3 * 256 * 64;
    assert_eq!(report.stages[0].expected_bytes, expected);
    assert_eq!(report.stages[1].expected_bytes, expected);
    assert_eq!(report.lost_bytes, (10 + 256) * 64);
    assert_eq!(report.received_fraction[0], 1.0 - 10.0 / (12.0 * 256.0));
    assert_eq!(report.stages[0].received_fraction_per_rank, [1.0, 1.0, 1014.0 / 1024.0, 1.0]);
    assert_eq!(report.stages[1].received_fraction_per_rank, [1.0, 1.0, 1.0, 0.75]);
    assert_eq!(report.closed_by, [ClosedBy::Deadline, ClosedBy::Early]);
    let windows = [ClosedBy::Complete, ClosedBy::Deadline, ClosedBy::Complete, ClosedBy::Complete];
    assert_eq!(report.stages[0].closed_by_window, windows);
    assert!(report.late_peers.is_empty());
    assert!((report.loss() - 266.0 / 6144.0).abs() < 1e-12);
    assert_eq!(report.action, UpdateAction::Apply);
}

#[test]
fn a_peer_of_whom_less_than_half_came_in_time_is_late() {
    let silent_in = |windows: u16| {
        let script = move |window, stage| match stage {
            Stage::Contribute if window < windows => lossy(ClosedBy::Deadline, 3, usize::MAX),
            _ => COMPLETE,
        };
        run(&params(), 3 * WINDOW, 0, &script).outcome.unwrap()
    };
    assert!(silent_in(1).late_peers.is_empty());
    let report = silent_in(2);
    assert_eq!(report.late_peers, [3]);
    assert!(report.local_contribution);
}

#[test]
fn more_than_ten_percent_loss_skips_the_update() {
    let script =
        |beats| move |_, stage| if stage == Stage::Broadcast { lossy(ClosedBy::Deadline, 3, beats) } else { COMPLETE };
    // One window: 2 * 768 beats expected.
    assert_eq!(run(&params(), WINDOW, 0, &script(153)).outcome.unwrap().action, UpdateAction::Apply);
    assert_eq!(run(&params(), WINDOW, 0, &script(154)).outcome.unwrap().action, UpdateAction::Skip);
}

#[test]
fn one_late_peer_does_not_skip_the_update_but_loss_beside_it_does() {
    // Rank 3 is silent: a sixth of all bytes. Of the other 2 * 768 - 256 = 1280, 128 may be lost.
    let script = |beats| {
        move |_, stage| match stage {
            Stage::Contribute => lossy(ClosedBy::Deadline, 3, usize::MAX),
            Stage::Broadcast => lossy(ClosedBy::Deadline, 1, beats),
        }
    };
    let report = run(&params(), WINDOW, 0, &script(128)).outcome.unwrap();
    assert_eq!((report.late_peers.clone(), report.action), (vec![3], UpdateAction::Apply));
    assert!((report.loss() - 384.0 / 1536.0).abs() < 1e-12 && (report.network_loss() - 0.1).abs() < 1e-12);
    assert_eq!(run(&params(), WINDOW, 0, &script(129)).outcome.unwrap().action, UpdateAction::Skip);
}

#[test]
fn a_late_rank_ends_cleanly_and_says_so() {
    // Peers start the clocks. Both stages of the first windows close before the gradient is there.
    let start_ns = 5 * BOUND_NS;
    let script = |window, stage| match (window < 8, stage) {
        (true, Stage::Contribute) => Fate { unasked: true, ..lossy(ClosedBy::Deadline, 0, 0) },
        _ => COMPLETE,
    };
    let run = run(&params(), 9 * WINDOW, start_ns, &script);
    let report = run.outcome.unwrap();
    assert!(!report.local_contribution);
    assert_eq!((report.lost_bytes, report.closed_by), (0, [ClosedBy::Deadline, ClosedBy::Complete]));
    assert!(report.late_peers.is_empty(), "its peers were on time");
    let contributions: Vec<_> =
        run.actions.iter().filter(|action| action.2).map(|action| (action.0, action.1)).collect();
    assert_eq!(contributions, [(start_ns, 8)]);
}

#[test]
fn a_window_that_closed_one_stage_without_this_rank_is_still_contributed_for_the_peers() {
    let script = |_, stage| match stage {
        Stage::Contribute => Fate { unasked: true, closed_by: ClosedBy::Deadline, ..COMPLETE },
        Stage::Broadcast => Fate { after_ns: 5000, ..COMPLETE },
    };
    let late = run(&params(), WINDOW, 3000, &script);
    assert_eq!(late.actions, [(0, 0, false), (3000, 0, true)]);
    assert!(!late.outcome.unwrap().local_contribution);

    // The contribution does not extend the deadline of the running stage.
    let stuck = |window, stage| Fate { never: stage == Stage::Broadcast, ..script(window, stage) };
    assert_eq!(run(&params(), WINDOW, 3000, &stuck).end_ns, 2 * BOUND_NS + SLACK_NS);
}

#[test]
fn a_gradient_that_came_partly_late_is_no_own_contribution() {
    let script = |_, stage| if stage == Stage::Contribute { lossy(ClosedBy::Deadline, 0, 1) } else { COMPLETE };
    let report = run(&params(), WINDOW, 0, &script).outcome.unwrap();
    assert!(!report.local_contribution);
    assert_eq!(report.lost_bytes, 0, "own beats are no loss of peers");
}

#[test]
fn the_watchdog_names_the_window_and_stage_that_are_overdue() {
    let stuck = |at| move |window: u16, stage| Fate { never: (window, stage) == at, ..COMPLETE };
    let overdue = run(&params(), 3 * WINDOW, 700, &stuck((1, Stage::Contribute)));
    let error =
        ProtocolError::StageOverdue { op: 5, window: 1, stage: Stage::Contribute, bound_ns: BOUND_NS, late_ns: 0 };
    assert_eq!(overdue.outcome.unwrap_err(), error);
    assert_eq!(overdue.end_ns, 700 + BOUND_NS + SLACK_NS);

    let overdue = run(&params(), 3 * WINDOW, 700, &stuck((2, Stage::Broadcast)));
    let error =
        ProtocolError::StageOverdue { op: 5, window: 2, stage: Stage::Broadcast, bound_ns: BOUND_NS, late_ns: 0 };
    assert_eq!(overdue.outcome.unwrap_err(), error);
    assert_eq!(overdue.end_ns, 700 + 2 * BOUND_NS + SLACK_NS);
}

#[test]
fn an_armed_window_may_wait_for_the_gradient_for_ever() {
    let mut machine = AllReduce::new(&params(), 0, 0, WINDOW, false).unwrap();
    assert!(matches!(machine.poll(0, 8), Some(Action::Arm(_))));
    assert_eq!((machine.poll(0, 8), machine.next_timeout()), (None, None));
    machine.handle_timeout(u64::MAX).unwrap();
}

#[test]
fn an_empty_bucket_is_done_at_once() {
    let run = run(&params(), 0, 0, &|_, _| COMPLETE);
    let report = run.outcome.unwrap();
    assert_eq!((report.received_fraction, report.closed_by), ([1.0, 1.0], [ClosedBy::Complete; 2]));
    assert!(report.local_contribution && run.actions.is_empty());
}

fn contributed() -> (AllReduce, WindowPlan) {
    let mut machine = AllReduce::new(&params(), 5, 2, 2 * WINDOW, false).unwrap();
    machine.start();
    while machine.poll(0, params().slots - machine.slots_in_use()).is_some() {}
    let plan = machine.plan_of(5 << 16).unwrap().clone();
    (machine, plan)
}

#[test]
fn reports_that_cannot_be_are_refused_and_change_nothing() {
    let (mut machine, plan) = contributed();
    let good = report(&plan, Stage::Contribute, &COMPLETE);
    let broadcast = report(&plan, Stage::Broadcast, &COMPLETE);
    let mut refuse = |report: StageReport| machine.handle_report(0, report).unwrap_err();

    let unknown = |cookie| ProtocolError::UnknownWindow { op: 5, cookie, windows: 2 };
    for cookie in [5 << 16 | 2, 6 << 16, u32::MAX] {
        assert_eq!(refuse(StageReport { cookie, ..good.clone() }), unknown(cookie));
    }
    let (op, window) = (5, 0);
    assert_eq!(refuse(broadcast.clone()), ProtocolError::UnexpectedReport { op, window, stage: Stage::Broadcast });
    let short = StageReport { received_bytes_per_rank: vec![0; 3], closed_by: ClosedBy::Deadline, ..good.clone() };
    let stage = Stage::Contribute;
    assert_eq!(refuse(short), ProtocolError::WrongRanks { op, window, stage, found: 3, expected: 4 });
    let mut too_much = good.clone();
    too_much.received_bytes_per_rank[2] += 64;
    let found = 257 * 64;
    assert_eq!(refuse(too_much), ProtocolError::WrongCount { op, window, stage, from: 2, found, expected: 256 * 64 });
    let mut too_little = good.clone();
    too_little.received_bytes_per_rank[3] = 0;
    assert_eq!(
        refuse(too_little),
        ProtocolError::WrongCount { op, window, stage, from: 3, found: 0, expected: 256 * 64 }
    );

    machine.handle_report(0, good.clone()).unwrap();
    let again = ProtocolError::UnexpectedReport { op, window, stage };
    assert_eq!(machine.handle_report(0, good), Err(again));
    machine.handle_report(0, broadcast.clone()).unwrap();
    let again = ProtocolError::UnexpectedReport { op, window, stage: Stage::Broadcast };
    assert_eq!(machine.handle_report(0, broadcast), Err(again));
}

#[test]
fn reports_of_windows_that_are_not_armed_are_refused() {
    let mut machine = AllReduce::new(&params(), 5, 2, 2 * WINDOW, false).unwrap();
    let plan = machine.plan_of(5 << 16).unwrap().clone();
    let error = ProtocolError::UnexpectedReport { op: 5, window: 0, stage: Stage::Contribute };
    assert_eq!(machine.handle_report(0, report(&plan, Stage::Contribute, &COMPLETE)), Err(error));
}

#[test]
fn a_stale_contribution_is_no_error_but_every_other_refusal_is() {
    let (mut machine, plan) = contributed();
    for status in [RefusedStatus::SlotBusy, RefusedStatus::BadCommand] {
        let error = ProtocolError::Refused { op: 5, window: 0, status };
        assert_eq!(machine.handle_refused(plan.cookie, status), Err(error));
    }
    let status = RefusedStatus::Stale;
    machine.handle_refused(plan.cookie, status).unwrap();
    let twice = ProtocolError::Refused { op: 5, window: 0, status };
    assert_eq!(machine.handle_refused(plan.cookie, status), Err(twice));
    assert!(machine.handle_refused(9 << 16, status).is_err());

    let mut idle = AllReduce::new(&params(), 5, 2, WINDOW, false).unwrap();
    idle.poll(0, 8);
    let never_sent = ProtocolError::Refused { op: 5, window: 0, status };
    assert_eq!(idle.handle_refused(plan.cookie, status), Err(never_sent));
}

#[test]
fn a_refused_contribution_is_no_own_contribution() {
    let (mut machine, _) = contributed();
    for cookie in [5 << 16, 5 << 16 | 1] {
        let plan = machine.plan_of(cookie).unwrap().clone();
        for stage in Stage::ALL {
            machine.handle_report(0, report(&plan, stage, &COMPLETE)).unwrap();
        }
    }
    assert!(machine.is_done());
    assert!(machine.clone().finish(&mut Safeguard::default()).local_contribution);
    machine.handle_refused(5 << 16, RefusedStatus::Stale).unwrap();
    assert!(!machine.finish(&mut Safeguard::default()).local_contribution);
}

#[test]
fn random_losses_and_delays_always_end_and_are_all_accounted_for() {
    for seed in 0..200u64 {
        let draw = |window: u16, stage: Stage, what: u64| {
            splitmix64(seed << 32 | u64::from(window) << 8 | (stage.index() as u64) << 4 | what)
        };
        let script = |window: u16, stage: Stage| match draw(window, stage, 0) % 4 {
            0 => lossy(
                ClosedBy::Deadline,
                1 + draw(window, stage, 1) as usize % 3,
                draw(window, stage, 2) as usize % 300,
            ),
            1 => {
                let from = 1 + draw(window, stage, 1) as usize % 3;
                Fate { after_ns: draw(window, stage, 3) % BOUND_NS, ..lossy(ClosedBy::Early, from, 1) }
            }
            _ => Fate { after_ns: draw(window, stage, 3) % BOUND_NS, ..COMPLETE },
        };
        let elements = draw(0, Stage::Contribute, 9) as usize % (30 * WINDOW);
        let run = run(&params(), elements, draw(0, Stage::Contribute, 10) % BOUND_NS, &script);
        let report = run.outcome.unwrap_or_else(|error| panic!("seed {seed}, {elements} elements: {error}"));
        let mut lost = 0;
        for plan in optireduce_core::protocol::plan_windows(&params(), 5, 2, elements, false).unwrap() {
            for stage in Stage::ALL {
                let fate = script(plan.index, stage);
                let all: u64 = bytes(&plan, stage, &COMPLETE).iter().sum();
                lost += all - bytes(&plan, stage, &fate).iter().sum::<u64>();
            }
        }
        assert_eq!(report.lost_bytes, lost, "seed {seed}, {elements} elements");
        let windows = elements.div_ceil(WINDOW) as u64;
        assert!(run.end_ns <= BOUND_NS + windows * 2 * BOUND_NS, "seed {seed}: took {} ns", run.end_ns);
        assert!(run.armed_max <= 8 && run.in_flight_max <= 4, "seed {seed}");
    }
}

#[test]
fn the_report_in_json_has_the_names_that_readers_rely_on() {
    let script = |_, stage| match stage {
        Stage::Contribute => lossy(ClosedBy::Deadline, 3, 999),
        Stage::Broadcast => COMPLETE,
    };
    let report = run(&params(), 64, 0, &script).outcome.unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["received_fraction"], serde_json::json!([2.0 / 3.0, 1.0]));
    assert_eq!(json["lost_bytes"], 64);
    assert_eq!(json["closed_by"], serde_json::json!(["deadline", "complete"]));
    assert_eq!(json["late_peers"], serde_json::json!([3]));
    assert_eq!(json["action"], "apply");
    assert_eq!(json["local_contribution"], true);
}

#[test]
fn the_packets_of_a_collective_are_counted_alike_on_all_ranks() {
    let packets = |rank: usize, elements: usize, bf16: bool| {
        let params = JobParams { rank, bf16, ..params() };
        AllReduce::new(&params, 0, 0, elements, false).unwrap().finish(&mut Safeguard::default()).packets
    };
    for rank in 0..RANKS {
        // Shards of 256 beats, in packets of 22 (44 as bf16), of three peers in two stages.
        let full = 12 * 3 * 2;
        assert_eq!([packets(rank, 4 * WINDOW, false), packets(rank, 4 * WINDOW, true)], [4 * full, 2 * full]);
        // A fourth window of three beats, without a shard for one of the ranks.
        assert_eq!(packets(rank, 3 * WINDOW + 3 * 16, false), 3 * full + 6);
        assert_eq!(packets(rank, 1, false), 6);
    }
}
