//! Collectives over a scripted data plane: routing, order and failures.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Weak};

use optireduce_core::protocol::{
    BUCKETS_MAX, ClosedBy, HadamardMode, JobParams, Kind, MESSAGE_VERSION, MembershipParams, ProtocolError, Ranks,
    RefusedStatus, Stage, StageReport, UpdateAction, View, WindowPlan,
};
use optireduce_core::{
    Call, Capabilities, Capability, Collectives, CollectivesError, DataPlane, Destination, LentMemory, Memory,
    PlaneEvent, PlaneLimits, Role, Unsupported, Values, WindowOutput,
};

const RANKS: usize = 4;
const WINDOW: usize = 16 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("broken: {0}")]
struct Broken(&'static str);

/// Data plane whose peers contribute zeros, so that the mean is a quarter of this rank's gradient.
#[derive(Debug, Default)]
struct Plane {
    armed: Vec<(WindowPlan, Vec<f32>)>,
    lent: LentMemory,
    armed_max: usize,
    log: Vec<String>,
    events: VecDeque<PlaneEvent>,
    eager: bool,
    silent_peers: bool,
    broken: bool,
}

impl Plane {
    fn close(&mut self, cookie: u32, stage: Stage) {
        let (plan, _) = self.armed.iter().find(|(plan, _)| plan.cookie == cookie).expect("window is armed");
        let lost = |from| self.silent_peers && stage == Stage::Contribute && from != 0;
        let bytes = |from| if lost(from) { 0 } else { 64 * plan.expected_beats(stage, 0, from) as u64 };
        let closed_by = if self.silent_peers { ClosedBy::Deadline } else { ClosedBy::Complete };
        let received_bytes_per_rank = (0..RANKS).map(bytes).collect();
        let report = StageReport {
            cookie,
            stage,
            closed_by,
            received_bytes_per_rank,
            elapsed_ns: 1,
            heard: Ranks::default(),
            last_ns_per_rank: Vec::new(),
            hints: vec![],
        };
        self.events.push_back(PlaneEvent::Stage(report));
    }

    fn close_both(&mut self, cookie: u32) {
        for stage in Stage::ALL {
            self.close(cookie, stage);
        }
    }
}

impl DataPlane for Plane {
    type Error = Broken;

    fn capabilities(&self) -> Capabilities {
        Capabilities::NONE
    }

    fn late_bytes(&self) -> Option<u64> {
        None
    }

    fn set_rate(&mut self, _: usize, _: u32) -> Result<(), Broken> {
        Err(Broken("asked for rates"))
    }

    fn announce(&mut self, _: &View) {
        panic!("asked for views");
    }

    fn enter(&mut self, _: &View) -> Result<bool, Broken> {
        Err(Broken("asked for views"))
    }

    fn take_heard(&mut self) -> Ranks {
        panic!("asked for views");
    }

    fn limits(&self) -> PlaneLimits {
        PlaneLimits::CARD
    }

    fn arm(&mut self, plan: &WindowPlan, _: &JobParams) -> Result<(), Broken> {
        self.armed.push((plan.clone(), vec![]));
        self.armed_max = self.armed_max.max(self.armed.len());
        self.log.push(format!("arm {}.{}", plan.step, plan.index));
        Ok(())
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.lent.lend(memory, values);
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        self.lent.reclaim(memory)
    }

    fn relocate(&mut self, _: Memory, values: Values) -> Result<Values, Values> {
        Err(values)
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), Broken> {
        let (_, gradient) = self.armed.iter_mut().find(|(armed, _)| armed == plan).ok_or(Broken("not armed"))?;
        *gradient = self.lent.window(plan, Role::Gradient).map_err(|_| Broken("no gradient"))?.to_vec();
        self.log.push(format!("contribute {}.{}", plan.step, plan.index));
        if self.eager {
            self.close_both(plan.cookie);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Broken> {
        self.log.push("flush".into());
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, Broken> {
        if self.broken { Err(Broken("on request")) } else { Ok(self.events.pop_front()) }
    }

    fn cancel(&mut self, _: &WindowPlan) -> Result<(), Broken> {
        Err(Broken("cancelled"))
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), Broken> {
        let index = self.armed.iter().position(|(armed, _)| armed == plan).ok_or(Broken("not armed"))?;
        let (_, gradient) = self.armed.remove(index);
        let out = self.lent.window_mut(plan, Role::Result).map_err(|_| Broken("no result"))?;
        for (out, own) in out.iter_mut().zip(gradient) {
            *out = own / RANKS as f32;
        }
        look(WindowOutput { elements: out, not_finite: None, repair: None });
        Ok(())
    }
}

fn collectives(plane: Plane) -> Collectives<Plane> {
    Collectives::new(plane, JobParams::new(0, RANKS, 22, 1_000_000, &PlaneLimits::CARD)).unwrap()
}

fn ramp(elements: usize) -> Vec<f32> {
    (0..elements).map(|i| i as f32).collect()
}

#[test]
fn every_element_of_a_bucket_of_many_windows_comes_back_in_its_place() {
    for (elements, hadamard) in [(0, false), (1, false), (20 * WINDOW + 5, false), (9610, true)] {
        let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
        let mut data = ramp(elements);
        let report = collectives.all_reduce(3, &mut data, hadamard, || 0).unwrap();
        assert_eq!((report.bucket, report.elements, report.hadamard, report.op), (3, elements, hadamard, 0));
        assert_eq!(report.received_fraction, [1.0, 1.0]);
        let expected: Vec<f32> = ramp(elements).iter().map(|own| own / 4.0).collect();
        assert!(data == expected, "{elements} elements");
        assert!(collectives.plane().armed.is_empty() && collectives.plane().armed_max <= 8);
    }
}

/// Caller-owned memory, its address, and a handle that tells whether it is in use.
fn loan(value: f32) -> (Values, *const f32, Weak<()>) {
    struct Lent(Box<[f32]>, Arc<()>);
    impl Deref for Lent {
        type Target = [f32];
        fn deref(&self) -> &[f32] {
            &self.0
        }
    }
    impl DerefMut for Lent {
        fn deref_mut(&mut self) -> &mut [f32] {
            &mut self.0
        }
    }
    let lent = Lent(vec![value; WINDOW].into(), Arc::default());
    let (at, given_back) = (lent.0.as_ptr(), Arc::downgrade(&lent.1));
    (Values::lent(lent), at, given_back)
}

/// Results of windows armed before the call are copied once if the data plane cannot relocate them.
#[test]
fn results_lie_where_the_caller_wants_them() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let call = Call::declared(Kind::AllReduce, 0, WINDOW, 0);
    for round in 0..4_u16 {
        // In the third round, a peer starts before this rank.
        if round == 2 {
            collectives.plane_mut().events.push_back(PlaneEvent::Unexpected { bucket: 0, step: round });
            assert!(collectives.poll(0).unwrap().is_none());
            assert_eq!(collectives.plane().log.last().unwrap(), "flush", "its window is armed");
        }
        let ((gradient, from, gradient_back), (result, to, _)) = (loan(4.0), loan(0.0));
        let (destination, place) = match round {
            3 => (Destination::Gradient, from),
            _ => (Destination::Here(result), to),
        };
        let op = collectives.prepare_call_to(0, call, destination).unwrap();
        collectives.start(0, op, gradient).unwrap();
        let finished = collectives.poll(0).unwrap().unwrap();
        assert_eq!(finished.result, vec![1.0; WINDOW], "round {round}");
        assert_eq!(finished.result.as_ptr(), place, "round {round}");
        let copied = if round < 2 { 0 } else { WINDOW * 4 };
        assert_eq!(finished.copied_bytes, copied, "round {round}");
        assert_eq!(gradient_back.strong_count(), usize::from(round == 3));
        drop(finished);
        assert_eq!(gradient_back.strong_count(), 0);
    }
    let short = Destination::Here(vec![0.0; WINDOW - 1].into());
    let error = collectives.prepare_call_to(0, call, short).unwrap_err().to_string();
    assert!(error.contains(&format!("{} elements were passed, expected {WINDOW}", WINDOW - 1)), "{error}");
}

/// The destination holds the partial result.
#[test]
fn a_skipped_update_leaves_lent_memory_as_it_was() {
    for in_place in [true, false] {
        let mut collectives = collectives(Plane::default());
        let ((gradient, from, back), (result, to, _)) = (loan(4.0), loan(0.0));
        let destination = if in_place { Destination::Gradient } else { Destination::Here(result) };
        let call = Call::declared(Kind::AllReduce, 0, WINDOW, 0);
        let op = collectives.prepare_call_to(0, call, destination).unwrap();
        collectives.plane_mut().silent_peers = true;
        collectives.start(0, op, gradient).unwrap();
        collectives.plane_mut().close_both(0);
        let finished = collectives.poll(0).unwrap().unwrap();
        assert_eq!(finished.report.action, UpdateAction::Skip);
        assert_eq!((finished.result.as_ptr(), &finished.result), (from, &vec![4.0; WINDOW].into()));
        assert_eq!(finished.partial.as_ref().is_some_and(|partial| partial.as_ptr() == to), !in_place);
        assert_eq!(finished.copied_bytes, 0);
        drop(finished);
        assert_eq!(back.strong_count(), 0);
    }
}

#[test]
fn the_next_collective_is_armed_while_the_first_runs_and_slots_are_shared() {
    let mut collectives = collectives(Plane::default());
    assert_eq!(collectives.prepare(0, 0, 6 * WINDOW, false).unwrap(), 0);
    assert_eq!(collectives.prepare(0, 1, 3 * WINDOW, false).unwrap(), 1);
    let arms: Vec<String> = collectives.plane().log.iter().filter(|line| *line != "flush").cloned().collect();
    let expected = ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "1.0", "1.1"].map(|window| format!("arm {window}"));
    assert_eq!(arms, expected);

    collectives.start(0, 0, ramp(6 * WINDOW)).unwrap();
    collectives.plane_mut().log.clear();
    for cookie in [1, 0] {
        collectives.plane_mut().close_both(cookie);
    }
    assert!(collectives.poll(10).unwrap().is_none());
    assert_eq!(collectives.plane().log, ["contribute 0.4", "contribute 0.5", "arm 1.2", "flush"]);
    assert_eq!(collectives.plane().armed_max, 8);

    collectives.plane_mut().eager = true;
    collectives.start(20, 1, ramp(3 * WINDOW)).unwrap();
    assert!(collectives.poll(20).unwrap().is_none(), "collectives finish in their order");
    for cookie in 2..6 {
        collectives.plane_mut().close_both(cookie);
    }
    let first = collectives.poll(30).unwrap().unwrap();
    let second = collectives.poll(30).unwrap().unwrap();
    assert_eq!((first.report.op, first.result.len()), (0, 6 * WINDOW));
    assert_eq!((second.report.op, second.result[WINDOW]), (1, WINDOW as f32 / 4.0));
    assert!(collectives.poll(30).unwrap().is_none());
    assert_eq!(collectives.next_timeout(), None);
}

/// Ranks 0 and 2 have cards. This rank sends its message to all others, in order, once as many
/// windows are armed as may be in flight.
#[test]
fn ranks_with_cards_tell_what_they_have_armed_and_others_wait_for_it() {
    let mut card = collectives(Plane::default());
    card.wait_for_cards(Ranks::none(RANKS).with([0, 2]));
    let told = |card: &mut Collectives<Plane>| {
        std::iter::from_fn(|| card.poll_message()).map(|(to, bytes)| (to, bytes[1..].to_vec())).collect::<Vec<_>>()
    };
    // Message after the version: tag and collective.
    let armed = |op: u8| [1, 2, 3].map(|to| (to, vec![0x50, 0, 0, 0, op])).to_vec();
    assert_eq!(card.not_armed(0), None, "it is not prepared");
    card.prepare(0, 0, 6 * WINDOW, false).unwrap();
    assert_eq!(told(&mut card), armed(0));
    card.prepare(0, 1, 3 * WINDOW, false).unwrap();
    assert_eq!(told(&mut card), [], "one of its three windows has no slot");
    assert_eq!((card.not_armed(0), card.not_armed(1)), (Some(2), Some(2)));
    let message = |op: u8| [MESSAGE_VERSION, 0x50, 0, 0, 0, op];
    card.handle_message(0, 1, &message(0)).unwrap();
    assert_eq!(card.not_armed(0), Some(2));
    card.handle_message(0, 2, &message(0)).unwrap();
    assert_eq!((card.not_armed(0), card.not_armed(1)), (None, Some(2)));

    card.start(0, 0, ramp(6 * WINDOW)).unwrap();
    card.plane_mut().close_both(0);
    card.poll(10).unwrap();
    assert_eq!(told(&mut card), armed(1));
    card.handle_gone(2);
    assert_eq!(card.not_armed(1), None);
}

/// A window may close while it is contributed, if its peers were first. Nothing else wakes the
/// caller before the watchdog.
#[test]
fn what_closes_while_it_is_contributed_is_handled_in_the_same_poll() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let op = collectives.prepare(0, 0, 20 * WINDOW, false).unwrap();
    collectives.start(0, op, ramp(20 * WINDOW)).unwrap();
    let finished = collectives.poll(0).unwrap();
    assert_eq!(finished.map(|finished| finished.report.op), Some(op));
}

#[test]
fn a_late_rank_gets_the_result_and_its_refused_contribution_hurts_nobody() {
    let mut collectives = collectives(Plane::default());
    let op = collectives.prepare(0, 0, WINDOW, false).unwrap();
    for stage in Stage::ALL {
        collectives.plane_mut().silent_peers = true;
        collectives.plane_mut().close(0, stage);
    }
    assert!(collectives.poll(0).unwrap().is_none(), "not finished before it was started");
    collectives.start(5, op, vec![1.0; WINDOW]).unwrap();
    let finished = collectives.poll(5).unwrap().unwrap();
    assert!(!finished.report.local_contribution);
    assert_eq!(
        (finished.report.action, finished.result),
        (UpdateAction::Skip, vec![1.0; WINDOW].into()),
        "what was given"
    );
    assert!(!collectives.plane().log.iter().any(|line| line.starts_with("contribute")));

    // A refusal may follow the end of its collective.
    let refused = |status| PlaneEvent::Refused { cookie: 0, status };
    collectives.plane_mut().events.push_back(refused(RefusedStatus::Stale));
    assert!(collectives.poll(6).unwrap().is_none());
    collectives.plane_mut().events.push_back(refused(RefusedStatus::BadCommand));
    assert!(matches!(collectives.poll(7), Err(CollectivesError::Protocol(ProtocolError::UnknownWindow { .. }))));
}

#[test]
fn what_is_not_finite_in_a_result_is_counted_once_whatever_window_it_is_in() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let mut given = ramp(20 * WINDOW + 5);
    (given[3], given[WINDOW], given[20 * WINDOW + 4]) = (f32::NAN, f32::NEG_INFINITY, f32::INFINITY);
    let counts = [given, ramp(7), vec![f32::NAN; 7]].map(|mut data| {
        let report = collectives.all_reduce(3, &mut data, false, || 0).unwrap();
        report.not_finite
    });
    assert_eq!((counts, collectives.metrics().not_finite), ([3, 0, 7], 10));
}

#[test]
fn the_third_bad_collective_in_a_row_halts() {
    let mut collectives = collectives(Plane { eager: true, silent_peers: true, ..Plane::default() });
    // Enough packets to rule out chance.
    let mut act = || collectives.all_reduce(0, &mut ramp(40 * WINDOW), false, || 0).unwrap();
    assert_eq!([act().action, act().action], [UpdateAction::Skip; 2]);
    let third = act();
    assert_eq!((third.action, third.op, third.late_peers), (UpdateAction::Halt, 2, vec![1, 2, 3]));
}

#[test]
fn wrong_calls_are_errors_that_name_the_collective() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let error = collectives.start(0, 7, vec![]).unwrap_err();
    assert_eq!(error.to_string(), "collective 7 was not prepared, has started already, or is finished");
    let op = collectives.prepare(0, 0, 5, false).unwrap();
    let error = collectives.start(0, op, vec![0.0; 4]).unwrap_err();
    assert_eq!(error.to_string(), "collective 0: 4 elements were passed, expected 5");
    assert!(matches!(collectives.all_reduce(0, &mut [0.0], false, || 0), Err(CollectivesError::Busy { running: 1 })));
    collectives.start(0, op, vec![0.0; 5]).unwrap();
    assert!(matches!(collectives.start(0, op, vec![0.0; 5]), Err(CollectivesError::NotPrepared { op: 0 })));
    assert!(collectives.poll(0).unwrap().is_some());
}

#[test]
fn calls_that_cannot_be_change_nothing() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let gather = Call::one_off(Kind::AllGather, 0, 5);
    let error = collectives.prepare_call(0, gather).unwrap_err().to_string();
    assert!(error.starts_with("this rank's data plane does not support partial collectives"), "{error}");
    let error = collectives.prepare(0, BUCKETS_MAX, 5, false).unwrap_err().to_string();
    assert_eq!(error, "bucket 16384: expected 0 to 16383");
    assert_eq!(collectives.all_reduce(0, &mut [0.0; 5], false, || 0).unwrap().op, 0);
}

#[test]
fn a_data_plane_that_says_nothing_is_found_by_the_watchdog() {
    let mut collectives = collectives(Plane::default());
    let mut now = 0;
    let mut data = [1.0; 64];
    let error = collectives.all_reduce(0, &mut data, false, || {
        now += 1_000_000;
        now
    });
    assert!(matches!(error, Err(CollectivesError::Protocol(ProtocolError::StageOverdue { window: 0, .. }))));
    assert!(now <= 60_000_000);
    assert_eq!(data, [1.0; 64]);
}

#[test]
fn errors_of_the_data_plane_come_through() {
    let mut collectives = collectives(Plane { broken: true, ..Plane::default() });
    assert_eq!(collectives.poll(0).unwrap_err().to_string(), "data plane: broken: on request");
}

#[test]
fn parameters_are_checked_against_the_data_plane() {
    let params = JobParams { ranks: 65, ..JobParams::new(0, 4, 22, 1, &PlaneLimits::CARD) };
    let error = Collectives::new(Plane::default(), params).unwrap_err();
    assert_eq!(error.to_string(), "job parameter ranks is 65, expected 1 to 64");
}

#[test]
fn what_a_data_plane_cannot_do_is_refused_by_name_and_never_asked_of_it() {
    let mut collectives = collectives(Plane { eager: true, ..Plane::default() });
    let refused = |result: Result<(), CollectivesError<Broken>>, capability, text: &str| {
        let error = result.unwrap_err();
        assert!(matches!(&error, CollectivesError::Unsupported(Unsupported(found)) if *found == capability), "{error}");
        let expected = format!("this rank's data plane does not support {text}; the software data plane");
        assert!(error.to_string().starts_with(&expected), "{error}");
    };
    let members = MembershipParams::new(RANKS);
    refused(
        collectives.agree_on_views(members, HadamardMode::Off),
        Capability::Views,
        "ranks that are dropped or join",
    );
    refused(collectives.follow_round_trips(100), Capability::RoundTrips, "rates that follow round-trip times");
    for kind in [Kind::ReduceScatter, Kind::AllGather] {
        let call = Call::one_off(kind, 0, 100);
        let what = "partial collectives (reduce-scatter, all-gather)";
        refused(collectives.prepare_call(0, call).map(drop), Capability::PartialCollectives, what);
    }
    // The plane panics on requests beyond its capabilities.
    collectives.repair();
    collectives.all_reduce(0, &mut ramp(100), false, || 0).unwrap();
}
