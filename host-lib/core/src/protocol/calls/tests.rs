//! Simulated ranks that call collectives at random times, over channels with random delays.

use super::*;
use optireduce_contract::signs::splitmix64;

const WAIT_NS: u64 = 1_000_000;
const CALL: CallInfo = CallInfo {
    kind: Kind::AllReduce,
    bucket: 3,
    elements: 100,
    hadamard: false,
    bf16: false,
    stream: Stream::Declared { generation: 0 },
    misfit: None,
};

struct Draw(u64, u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.1 += 1;
        splitmix64(self.0 << 24 | self.1) % end
    }
}

struct Job {
    ranks: Vec<CallCheck>,
    called: Vec<u32>,
    channels: BTreeMap<(usize, usize), VecDeque<CallMessage>>,
    sent: usize,
}

impl Job {
    fn new(ranks: usize) -> Self {
        let checks = (0..ranks).map(|rank| CallCheck::new(rank, WAIT_NS)).collect();
        Self { ranks: checks, called: vec![0; ranks], channels: BTreeMap::new(), sent: 0 }
    }

    fn call(&mut self, rank: usize, call: CallInfo) {
        let live = (0..self.ranks.len()).collect();
        self.ranks[rank].called(0, self.called[rank], call, live);
        self.called[rank] += 1;
    }

    fn deliver(&mut self, draw: &mut Draw) -> bool {
        for (from, rank) in self.ranks.iter_mut().enumerate() {
            while let Some((to, message)) = rank.poll() {
                assert_ne!(from, to);
                self.sent += 1;
                self.channels.entry((from, to)).or_default().push_back(message);
            }
        }
        let waiting: Vec<_> =
            self.channels.iter().filter(|(_, queue)| !queue.is_empty()).map(|(pair, _)| *pair).collect();
        let Some(&(from, to)) = waiting.get(draw.below(waiting.len().max(1) as u64) as usize) else { return false };
        let message = self.channels.get_mut(&(from, to)).and_then(VecDeque::pop_front).unwrap();
        self.ranks[to].handle_message(0, from, message);
        true
    }

    fn run(&mut self, draw: &mut Draw, ops: u32, call: impl Fn(usize, u32) -> CallInfo, doubts: u64) {
        let ranks = self.ranks.len();
        while self.called.iter().any(|called| *called < ops) {
            let rank = draw.below(ranks as u64) as usize;
            if self.called[rank] < ops {
                self.call(rank, call(rank, self.called[rank]));
            }
            if draw.below(100) < doubts {
                let op = draw.below(u64::from(self.called[rank]).max(1)) as u32;
                let peer = draw.below(ranks as u64) as usize;
                self.ranks[rank].doubt(op, [peer]);
            }
            for _ in 0..draw.below(4) {
                self.deliver(draw);
            }
        }
        while self.deliver(draw) {}
    }
}

#[test]
fn ranks_that_call_the_same_have_no_mismatch_whatever_they_doubt() {
    for seed in 0..300 {
        let draw = &mut Draw(seed, 0);
        let (ranks, doubts) = (2 + draw.below(7) as usize, draw.below(100));
        let mut job = Job::new(ranks);
        job.run(draw, 20, |_, op| CallInfo { bucket: op as u16 % 3, ..CALL }, doubts);
        for (rank, check) in job.ranks.iter().enumerate() {
            assert_eq!(check.mismatch(u64::MAX), None, "seed {seed}, rank {rank}");
            assert!(check.is_settled(), "seed {seed}, rank {rank}");
        }
        assert!(doubts > 0 || job.sent == 0, "seed {seed}: a job without doubt sends nothing");
    }
}

#[test]
fn all_ranks_name_the_same_rank_field_and_values_with_a_majority_or_without() {
    type Change = fn(CallInfo) -> CallInfo;
    let changes: [(&str, Change); 6] = [
        ("kind", |call| CallInfo { kind: Kind::AllGather, ..call }),
        ("bucket", |call| CallInfo { bucket: 9, ..call }),
        ("declaration", |call| CallInfo { stream: Stream::OneOff, ..call }),
        ("elements", |call| CallInfo { elements: 99, ..call }),
        ("hadamard", |call| CallInfo { hadamard: true, ..call }),
        ("bf16", |call| CallInfo { bf16: true, ..call }),
    ];
    for seed in 0..600 {
        let draw = &mut Draw(seed, 1 << 20);
        let (field, change) = changes[seed as usize % changes.len()];
        let ranks = 2 + draw.below(7) as usize;
        // The majority, or else the group of the lowest rank, decides which of them are wrong.
        let mut odd: BTreeSet<usize> = (0..ranks).filter(|_| draw.below(2) == 0).collect();
        if odd.is_empty() || odd.len() == ranks {
            odd = BTreeSet::from([draw.below(ranks as u64) as usize]);
        }
        let at = draw.below(10) as u32;
        let call = |rank: usize, op: u32| if op == at && odd.contains(&rank) { change(CALL) } else { CALL };
        let mut job = Job::new(ranks);
        job.run(draw, 10, call, 30);
        // One doubt is enough.
        let (one, other) = (*odd.first().unwrap(), (0..ranks).find(|rank| !odd.contains(rank)).unwrap());
        match draw.below(2) {
            0 => job.ranks[one].doubt(at, [other]),
            _ => job.ranks[other].doubt(at, [one]),
        }
        while job.deliver(draw) {}
        let usual: Vec<usize> = (0..ranks).filter(|rank| !odd.contains(rank)).collect();
        let odd: Vec<usize> = odd.into_iter().collect();
        let odd_is_larger = odd.len() > usual.len() || odd.len() == usual.len() && odd[0] == 0;
        let (by, differing) = if odd_is_larger { (&odd, &usual) } else { (&usual, &odd) };
        for (rank, check) in job.ranks.iter().enumerate() {
            let what = format!("seed {seed}, {field}, rank {rank} of {ranks}, odd {odd:?}");
            let found = check.mismatch(0).unwrap_or_else(|| panic!("{what}: no mismatch"));
            assert_eq!((found.op, found.rank, found.field), (at, differing[0], field), "{what}: {found}");
            assert_eq!((&found.by, found.is_majority), (by, 2 * by.len() > ranks), "{what}: {found}");
            assert_ne!(found.found, found.expected, "{what}");
            assert_eq!(Some(&found), job.ranks[0].mismatch(0).as_ref(), "{what}");
        }
    }
}

#[test]
fn a_rank_that_never_answers_is_waited_for_once() {
    for seed in 0..100 {
        let draw = &mut Draw(seed, 2 << 20);
        let ranks = 3 + draw.below(6) as usize;
        let silent = draw.below(ranks as u64) as usize;
        let odd = (silent + 1 + draw.below(ranks as u64 - 1) as usize) % ranks;
        let leaves = draw.below(2) == 0;
        let mut job = Job::new(ranks);
        for rank in (0..ranks).filter(|rank| *rank != silent) {
            job.call(rank, if rank == odd { CallInfo { elements: 7, ..CALL } } else { CALL });
            job.ranks[rank].doubt(0, 0..ranks);
        }
        while job.deliver(draw) {}
        let others = (0..ranks).filter(|rank| *rank != silent);
        if leaves {
            others.clone().for_each(|rank| job.ranks[rank].drop_rank(silent));
        }
        for rank in others {
            let check = &job.ranks[rank];
            let what = format!("seed {seed}, rank {rank} of {ranks}, {silent} is silent, {odd} is odd");
            assert_eq!(check.mismatch(0).is_some(), leaves, "{what}");
            assert_eq!(check.next_timeout(), Some(WAIT_NS), "{what}");
            let found = check.mismatch(WAIT_NS).unwrap_or_else(|| panic!("{what}: no mismatch"));
            assert_eq!((found.field, found.by.contains(&silent)), ("elements", false), "{what}: {found}");
            assert_eq!(Some(found), job.ranks[(silent + 1) % ranks].mismatch(WAIT_NS), "{what}");
        }
    }
}

#[test]
fn memory_is_bounded_and_what_is_far_away_is_not_listened_to() {
    let mut check = CallCheck::new(0, WAIT_NS);
    for op in 0..10_000 {
        check.called(0, op, CALL, vec![0, 1]);
        for far in [op.wrapping_sub(OPS_MAX + 1), op + OPS_MAX + 1, op ^ 1 << 31] {
            check.handle_message(0, 1, CallMessage::Ask { op: far, call: CallInfo { elements: 7, ..CALL } });
        }
        check.handle_message(0, 0, CallMessage::Tell { op, call: CallInfo { elements: 7, ..CALL } });
    }
    assert!(check.ops.len() <= 2 * OPS_MAX as usize + 1, "{}", check.ops.len());
    assert_eq!((check.mismatch(u64::MAX), check.poll()), (None, None));
}

#[test]
fn a_rank_that_joins_is_not_asked_about_collectives_before_it_takes_part() {
    let call = CallInfo { stream: Stream::OneOff, ..CALL };
    let mut check = CallCheck::new(0, 1000);
    // Rank 1 rejoins at collective 9. This rank still runs collective 3.
    check.add_rank(1, 9);
    check.called(0, 3, call, vec![0, 1, 2]);
    check.doubt(3, [1, 2]);
    let asked: Vec<_> = std::iter::from_fn(|| check.poll()).map(|(to, _)| to).collect();
    assert_eq!(asked, [2]);
    assert!(check.is_confirmed(3, 1) && !check.is_confirmed(3, 2));
    check.called(0, 9, call, vec![0, 1, 2]);
    check.doubt(9, [1]);
    assert!(matches!(check.poll(), Some((1, CallMessage::Ask { op: 9, .. }))));
    assert!(!check.is_confirmed(9, 1));
}

#[test]
fn what_a_dropped_rank_calls_in_its_old_view_is_no_difference() {
    let mut check = CallCheck::new(1, WAIT_NS);
    let tell = |op, elements| CallMessage::Tell { op, call: CallInfo { elements, ..CALL } };
    check.handle_message(0, 2, tell(9, 7));
    check.handle_message(0, 0, tell(9, CALL.elements));
    assert!(!check.is_settled());
    check.leave_rank(2, 9);
    assert!(check.is_settled());
    check.handle_message(0, 2, tell(10, 7));
    for op in 8..=10 {
        check.called(0, op, CALL, if op < 9 { vec![0, 1, 2] } else { vec![0, 1] });
    }
    assert_eq!((check.next_timeout(), check.mismatch(u64::MAX)), (None, None));
    // Rank 2 was in the view at collective 8, and is again from 20.
    check.handle_message(0, 2, tell(8, 7));
    assert!(check.mismatch(u64::MAX).is_some_and(|mismatch| mismatch.op == 8));
    check.add_rank(2, 20);
    check.handle_message(0, 2, tell(19, 7));
    check.handle_message(0, 2, tell(20, 7));
    check.called(0, 19, CALL, vec![0, 1]);
    check.called(0, 20, CALL, vec![0, 1, 2]);
    let ops = |check: &CallCheck| -> Vec<u32> {
        check.ops.iter().filter(|(_, one)| one.until_ns.is_some()).map(|(op, _)| *op).collect()
    };
    assert_eq!(ops(&check), [8, 20]);
    // It is dropped a second time: its calls in its second view count.
    check.drop_rank(2);
    check.leave_rank(2, 30);
    assert_eq!(ops(&check), [8, 20]);
}

#[test]
fn a_rank_that_joins_again_waits_for_no_answer_of_before() {
    let mut check = CallCheck::new(1, WAIT_NS);
    check.called(0, 3, CALL, vec![0, 1, 2]);
    check.doubt(3, [0, 2]);
    // Rank 0 differs, but in a view without this rank, so the job continues.
    check.handle_message(0, 0, CallMessage::Tell { op: 3, call: CallInfo { elements: 7, ..CALL } });
    assert!(!check.is_settled() && check.next_timeout().is_some());
    check.leave();
    check.called(0, 4, CALL, vec![0, 1, 2]);
    check.handle_message(0, 0, CallMessage::Tell { op: 4, call: CallInfo { elements: 7, ..CALL } });
    assert_eq!((check.next_timeout(), check.mismatch(u64::MAX)), (None, None));
    check.join();
    check.joined(9);
    assert!(check.is_settled());
    assert_eq!((check.next_timeout(), check.mismatch(u64::MAX), check.poll()), (None, None, None));
}

#[test]
fn a_rank_that_joins_answers_what_it_was_asked_before_it_knew_its_view() {
    for first_op in [2, OPS_MAX + 1, 5000, u32::MAX - 70] {
        let mut check = CallCheck::new(1, WAIT_NS);
        check.join();
        // Rank 0 already has the view and runs its first two collectives; rank 2 is late.
        for (from, op) in [(2, first_op - 1), (0, first_op), (0, first_op + 1)] {
            check.handle_message(0, from, CallMessage::Ask { op, call: CALL });
        }
        assert_eq!(check.poll(), None, "before this rank calls anything");
        check.joined(first_op);
        for op in [first_op, first_op + 1] {
            check.called(0, op, CALL, vec![0, 1, 2]);
            assert_eq!(check.poll(), Some((0, CallMessage::Tell { op, call: CALL })), "first collective {first_op}");
            assert!(check.is_confirmed(op, 0) && !check.is_confirmed(op, 2));
        }
        assert_eq!(check.poll(), None);
    }
}

#[test]
fn memory_is_bounded_while_a_rank_waits_to_take_part() {
    let mut check = CallCheck::new(1, WAIT_NS);
    check.join();
    for op in (0..10_000).map(|op| op * 7) {
        check.handle_message(0, 0, CallMessage::Ask { op, call: CALL });
    }
    assert!(check.ops.len() <= 2 * OPS_MAX as usize + 1, "{}", check.ops.len());
    check.joined(100_000);
    assert!(check.ops.is_empty());
}

#[test]
fn a_wrong_length_has_the_same_text_on_all_ranks_even_if_all_of_them_pass_it() {
    for seed in 0..200 {
        let draw = &mut Draw(seed, 1 << 20);
        let ranks = 2 + draw.below(6) as usize;
        let mut odd: BTreeSet<usize> = (0..ranks).filter(|_| draw.below(2) == 0).collect();
        match draw.below(3) {
            0 => odd = (0..ranks).collect(),
            _ if odd.is_empty() => odd = BTreeSet::from([ranks - 1]),
            _ => {}
        }
        let at = draw.below(10) as u32;
        let is_odd = |rank: usize, op: u32| op == at && odd.contains(&rank);
        let mut job = Job::new(ranks);
        job.run(draw, 10, |rank, op| CallInfo { misfit: is_odd(rank, op).then_some(7), ..CALL }, 0);
        odd.iter().for_each(|rank| job.ranks[*rank].announce(at));
        while job.deliver(draw) {}
        let expected = format!(
            "in collective {at}, the number of elements passed to an all-reduce is 7 on rank {}",
            odd.first().unwrap()
        );
        for (rank, check) in job.ranks.iter().enumerate() {
            let found = check.mismatch(0).or_else(|| check.misfit(at));
            let found = found.map(|found| found.to_string()).unwrap_or_default();
            assert!(found.starts_with(&expected), "seed {seed}, rank {rank} of {ranks}, odd {odd:?}: {found}");
        }
    }
}

#[test]
fn a_mismatch_of_every_field_can_be_passed_on_with_other_numbers() {
    let others = [
        CallInfo { kind: Kind::AllGather, ..CALL },
        CallInfo { bucket: 4, ..CALL },
        CallInfo { stream: Stream::OneOff, ..CALL },
        CallInfo { elements: 99, ..CALL },
        CallInfo { hadamard: true, ..CALL },
        CallInfo { bf16: true, ..CALL },
    ];
    let differ = others.map(|other| judge(5, &BTreeMap::from([(0, CALL), (1, CALL), (2, other)]), 3).unwrap());
    let kinds = [Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather];
    let lengths = kinds.map(|kind| Mismatch::of_length(5, 2, &CallInfo { kind, ..CALL }, 7));
    for one in differ.into_iter().chain(lengths) {
        let Mismatch { op, rank, field, found, expected, by, is_majority } = one.clone();
        let again = Mismatch::of_fields(op, rank, field, found, expected, by, is_majority);
        assert_eq!(again.as_ref(), Some(&one));
        let renumbered = again.unwrap().renumbered(|rank| 10 * rank);
        let text = one.to_string().replace("on rank 2", "on rank 20").replace("ranks 0, 1", "ranks 0, 10");
        assert_eq!(renumbered.to_string(), text);
    }
    assert_eq!(Mismatch::of_fields(0, 0, "weather", "rain".into(), "sun".into(), vec![], false), None);
}
