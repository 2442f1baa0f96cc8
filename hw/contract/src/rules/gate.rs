//! Conditions under which a stage of a window closes at the receiving rank.
//!
//! Once its clock has started, a stage closes for the first of these reasons:
//!
//! 1. Complete: everything arrived.
//! 2. Early: this rank's own beats are in, every peer with beats to send has sent its
//!    last-percentile mark, and `grace_ns` of silence followed.
//! 3. Deadline: `bound_ns` passed since the clock started.
//!
//! The clock starts when this rank enters the stage, or before once `start_peers` peers were heard.
//! Silence counts from the last packet or the start of the clock, whichever is later.
//! Source: OptiReduce 3.2.1. Deliberate difference from the paper: the start by peers.

use super::{ClosedBy, Stage, Window};
use crate::queue::{FLAG_EARLY, Submission};
use crate::ranks::{RankSet, Words};

/// Closing rules of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Bound on a stage in ns.
    pub bound_ns: u64,
    /// Grace time in ns. `None`: no early close.
    pub grace_ns: Option<u64>,
    /// Number of distinct peers that start the clock. 0: peers do not start it.
    pub start_peers: usize,
}

impl Rules {
    /// Reads the rules from an `ARM`.
    pub fn of(arm: &Submission) -> Self {
        Self {
            bound_ns: arm.bound_ns.into(),
            grace_ns: (arm.flags & FLAG_EARLY != 0).then_some(arm.grace_ns.into()),
            start_peers: arm.start_peers.into(),
        }
    }
}

/// Receiving side of one stage.
#[derive(Clone, Debug)]
pub struct Gate<W: Words> {
    expected_beats: usize,
    received_beats: usize,
    own_missing_beats: usize,
    heard: RankSet<W>,
    marked: RankSet<W>,
    senders: RankSet<W>,
    entered: bool,
    clock_ns: Option<u64>,
    silent_since_ns: u64,
    closed: Option<(u64, ClosedBy)>,
}

impl<W: Words + Clone> Gate<W> {
    /// Opens a stage that expects `expected_beats` from `senders`, and `own_beats` from this rank.
    pub fn new(expected_beats: usize, own_beats: usize, senders: RankSet<W>) -> Self {
        let mut none = senders.clone();
        none.clear();
        Self {
            expected_beats,
            received_beats: 0,
            own_missing_beats: own_beats,
            heard: none.clone(),
            marked: none,
            senders,
            entered: false,
            clock_ns: None,
            silent_since_ns: 0,
            closed: None,
        }
    }

    /// Opens a stage of a window at `rank`. `room` is an empty set with room for all ranks. Peers
    /// without beats to send are not waited for.
    pub fn of(stage: Stage, window: &Window, rank: usize, room: RankSet<W>) -> Self {
        let beats_of = |peer: usize| window.allowed(stage, rank, peer).len();
        let senders = (0..window.shards.ranks).filter(|peer| *peer != rank && beats_of(*peer) > 0);
        let expected = senders.clone().map(beats_of).sum();
        let own = if stage == Stage::Contribute { window.shards.range_of(rank).len() } else { 0 };
        Self::new(expected, own, room.with(senders))
    }

    /// Records that this rank enters the stage, which starts the clock.
    pub fn enter(&mut self, now_ns: u64) {
        self.entered = true;
        self.start(now_ns);
    }

    /// Records a packet from `sender` that arrived while the gate was open.
    pub fn hear(&mut self, now_ns: u64, sender: usize, marked: bool, rules: &Rules) {
        self.heard.insert(sender);
        if marked {
            self.marked.insert(sender);
        }
        self.silent_since_ns = now_ns;
        if rules.start_peers > 0 && self.heard.len() >= rules.start_peers {
            self.start(now_ns);
        }
    }

    /// Exempts `sender` from the early rule, in software whose peer's process has ended.
    pub fn excuse(&mut self, sender: usize) {
        self.marked.insert(sender);
    }

    fn start(&mut self, now_ns: u64) {
        if self.clock_ns.is_none() {
            self.clock_ns = Some(now_ns);
            self.silent_since_ns = now_ns;
        }
    }

    /// Counts new beats accepted from peers.
    pub fn take(&mut self, beats: usize) {
        self.received_beats += beats;
    }

    /// Counts beats accepted from this rank.
    pub fn take_own(&mut self, beats: usize) {
        self.own_missing_beats -= beats;
    }

    /// Returns why the stage is over at `at_ns` if nothing else arrives. `None`: not over, or
    /// closed already. `quiet`: no packet is waiting.
    pub fn over(&self, at_ns: u64, quiet: bool, rules: &Rules) -> Option<ClosedBy> {
        let clock_ns = self.clock_ns.filter(|_| self.is_open())?;
        if self.is_complete() {
            return Some(ClosedBy::Complete);
        }
        if quiet && self.silence_ends_ns(rules).is_some_and(|end_ns| end_ns <= at_ns) {
            return Some(ClosedBy::Early);
        }
        (clock_ns.saturating_add(rules.bound_ns) <= at_ns).then_some(ClosedBy::Deadline)
    }

    /// Returns when time closes the stage if nothing else arrives. `None` unless the clock runs.
    pub fn timer_ns(&self, rules: &Rules) -> Option<u64> {
        let clock_ns = self.clock_ns.filter(|_| self.is_open())?;
        let deadline_ns = clock_ns.saturating_add(rules.bound_ns);
        Some(self.silence_ends_ns(rules).map_or(deadline_ns, |end_ns| end_ns.min(deadline_ns)))
    }

    /// Returns when and why the stage closes if nothing else arrives. A past time means overdue.
    pub fn due(&self, now_ns: u64, rules: &Rules) -> Option<(u64, ClosedBy)> {
        let timer_ns = self.timer_ns(rules)?;
        let at_ns = if self.is_complete() { now_ns } else { timer_ns };
        self.over(at_ns, true, rules).map(|by| (at_ns, by))
    }

    /// Returns when silence closes the stage, if nothing else is missing.
    fn silence_ends_ns(&self, rules: &Rules) -> Option<u64> {
        let may_be_early = self.entered && self.own_missing_beats == 0 && self.marked.is_superset(&self.senders);
        rules.grace_ns.filter(|_| may_be_early).map(|grace_ns| self.silent_since_ns.saturating_add(grace_ns))
    }

    fn is_complete(&self) -> bool {
        self.received_beats == self.expected_beats && self.own_missing_beats == 0
    }

    /// Closes the stage.
    pub fn close(&mut self, now_ns: u64, by: ClosedBy) {
        self.closed = Some((now_ns, by));
    }

    /// True until the stage is closed.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// Time and reason of the close.
    pub fn closed(&self) -> Option<(u64, ClosedBy)> {
        self.closed
    }

    /// Returns whether this rank has entered the stage.
    pub fn is_entered(&self) -> bool {
        self.entered
    }

    /// Start time of the stage's clock.
    pub fn clock_ns(&self) -> Option<u64> {
        self.clock_ns
    }

    /// Time in ns that the clock of a closed stage ran; 0 if it never started.
    pub fn elapsed_ns(&self) -> u64 {
        self.closed.map_or(0, |(at_ns, _)| at_ns.saturating_sub(self.clock_ns.unwrap_or(at_ns)))
    }

    /// Ranks heard while the stage was open.
    pub fn heard(&self) -> &RankSet<W> {
        &self.heard
    }

    /// Peers with beats to send.
    pub fn senders(&self) -> &RankSet<W> {
        &self.senders
    }

    /// Number of beats expected from peers.
    pub fn expected_beats(&self) -> usize {
        self.expected_beats
    }

    /// Number of beats received from peers.
    pub fn received_beats(&self) -> usize {
        self.received_beats
    }

    /// Number of own beats not yet accepted.
    pub fn own_missing_beats(&self) -> usize {
        self.own_missing_beats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::CardRanks;
    use crate::shard::ShardMap;

    fn window(beats: usize, op: u32) -> Window {
        let arm = Submission { beats: beats as u16, ..Submission::default() };
        Window { shards: ShardMap::new(beats, 4, op), ..Window::of(&arm, 4) }
    }

    const RULES: Rules = Rules { bound_ns: 1000, grace_ns: Some(50), start_peers: 2 };
    const DEADLINE_ONLY: Rules = Rules { grace_ns: None, ..RULES };

    /// Rank 0 of 4, each of which sends 2 beats.
    fn gate() -> Gate<[u64; 1]> {
        Gate::of(Stage::Contribute, &window(8, 0), 0, CardRanks::default())
    }

    #[test]
    fn a_stage_expects_its_shards_from_those_who_have_one() {
        let contribute = gate();
        assert_eq!((contribute.expected_beats(), contribute.own_missing_beats()), (6, 2));
        assert_eq!(contribute.senders().bits(), 0b1110);
        // 2 beats on 4 ranks, rotated by one, belong to ranks 3 and 0.
        let short = window(2, 1);
        let of = |stage, rank| {
            let gate = Gate::of(stage, &short, rank, CardRanks::default());
            (gate.expected_beats(), gate.own_missing_beats(), gate.senders().bits())
        };
        assert_eq!(of(Stage::Contribute, 0), (3, 1, 0b1110));
        assert_eq!(of(Stage::Contribute, 1), (0, 0, 0));
        assert_eq!(of(Stage::Broadcast, 0), (1, 0, 0b1000));
        assert_eq!(of(Stage::Broadcast, 1), (2, 0, 0b1001));
        let gather = Window { sends: [false, true], ..short };
        let alone = Gate::of(Stage::Contribute, &gather, 0, CardRanks::default());
        assert_eq!((alone.expected_beats(), alone.own_missing_beats(), alone.senders().bits()), (0, 1, 0));
    }

    #[test]
    fn the_clock_starts_with_the_own_entry_or_with_enough_peers() {
        let mut gate = gate();
        gate.hear(10, 1, false, &RULES);
        gate.hear(20, 1, false, &RULES);
        assert_eq!(gate.due(25, &RULES), None, "one peer is not enough");
        gate.hear(30, 3, false, &RULES);
        assert_eq!(gate.due(30, &RULES), Some((1030, ClosedBy::Deadline)));
        gate.enter(40);
        assert_eq!(gate.due(40, &RULES), Some((1030, ClosedBy::Deadline)), "a running clock does not start again");
        assert_eq!((gate.clock_ns(), gate.heard().bits()), (Some(30), 0b1010));
        let never = Rules { start_peers: 0, ..RULES };
        let mut gate = super::tests::gate();
        (1..4).for_each(|peer| gate.hear(10, peer, true, &never));
        assert_eq!((gate.due(20, &never), gate.over(5000, true, &never)), (None, None));
    }

    #[test]
    fn it_is_complete_with_the_own_beats_only() {
        let mut gate = gate();
        gate.enter(0);
        gate.take(5);
        gate.take_own(2);
        assert_eq!(gate.due(5, &RULES), Some((1000, ClosedBy::Deadline)), "a peer's beat is missing");
        let mut gate = super::tests::gate();
        gate.enter(0);
        gate.take(6);
        gate.take_own(1);
        assert_eq!(gate.due(5, &RULES), Some((1000, ClosedBy::Deadline)), "an own beat is missing");
        gate.take_own(1);
        assert_eq!(gate.due(6, &RULES), Some((6, ClosedBy::Complete)));
        gate.close(6, ClosedBy::Complete);
        assert_eq!((gate.due(7, &RULES), gate.is_open(), gate.closed()), (None, false, Some((6, ClosedBy::Complete))));
        assert_eq!((gate.elapsed_ns(), gate.over(5000, true, &RULES), gate.timer_ns(&RULES)), (6, None, None));
    }

    #[test]
    fn a_stage_that_expects_nothing_is_complete_once_its_clock_runs() {
        let mut gate = Gate::new(0, 0, CardRanks::default());
        assert_eq!(gate.due(5, &RULES), None);
        gate.enter(7);
        assert_eq!(gate.due(7, &RULES), Some((7, ClosedBy::Complete)));
    }

    #[test]
    fn the_early_rule_wants_every_mark_the_own_beats_and_silence() {
        let mut gate = gate();
        (1..4).for_each(|peer| gate.hear(10, peer, peer != 2, &RULES));
        gate.enter(15);
        gate.take_own(2);
        assert_eq!(gate.due(20, &RULES), Some((1010, ClosedBy::Deadline)), "rank 2's mark is missing");
        gate.hear(100, 2, true, &RULES);
        assert_eq!(gate.due(100, &RULES), Some((150, ClosedBy::Early)));
        assert_eq!(gate.due(100, &DEADLINE_ONLY), Some((1010, ClosedBy::Deadline)));
        gate.hear(120, 1, false, &RULES);
        assert_eq!(gate.due(120, &RULES), Some((170, ClosedBy::Early)), "not silent yet");
        gate.hear(990, 1, false, &RULES);
        assert_eq!(gate.due(990, &RULES), Some((1010, ClosedBy::Deadline)), "never later than the bound");
    }

    #[test]
    fn the_early_rule_waits_for_the_own_entry_and_the_own_beats() {
        let mut gate = gate();
        (1..4).for_each(|peer| gate.hear(10, peer, true, &RULES));
        gate.take_own(2);
        assert_eq!(gate.due(20, &RULES), Some((1010, ClosedBy::Deadline)), "peers alone started the clock");
        gate.enter(30);
        assert_eq!(gate.due(30, &RULES), Some((60, ClosedBy::Early)));
        let mut gate = super::tests::gate();
        (1..4).for_each(|peer| gate.hear(10, peer, true, &RULES));
        gate.enter(30);
        gate.take_own(1);
        assert_eq!(gate.due(30, &RULES), Some((1010, ClosedBy::Deadline)), "an own beat is missing");
    }

    #[test]
    fn silence_before_the_own_entry_does_not_count() {
        let rules = Rules { start_peers: 0, ..RULES };
        let mut gate = gate();
        (1..4).for_each(|peer| gate.hear(10, peer, true, &rules));
        gate.enter(500);
        gate.take_own(2);
        assert_eq!(gate.due(500, &rules), Some((550, ClosedBy::Early)), "the grace time starts with the clock");
        assert_eq!(gate.over(549, true, &rules), None);
        assert_eq!(gate.over(550, true, &rules), Some(ClosedBy::Early));
    }

    #[test]
    fn at_one_instant_complete_comes_before_early_and_early_before_the_deadline() {
        let rules = Rules { bound_ns: 50, grace_ns: Some(50), start_peers: 0 };
        let mut gate = gate();
        gate.enter(100);
        gate.take_own(2);
        (1..4).for_each(|peer| gate.hear(100, peer, true, &rules));
        assert_eq!((gate.over(149, true, &rules), gate.due(100, &rules)), (None, Some((150, ClosedBy::Early))));
        assert_eq!(gate.over(150, true, &rules), Some(ClosedBy::Early));
        assert_eq!(gate.over(150, false, &rules), Some(ClosedBy::Deadline), "a packet waits");
        gate.take(6);
        assert_eq!(gate.over(150, true, &rules), Some(ClosedBy::Complete));
    }

    #[test]
    fn an_arm_gives_the_rules() {
        let arm = Submission { bound_ns: 7, grace_ns: 3, start_peers: 2, ..Submission::default() };
        assert_eq!(Rules::of(&arm), Rules { bound_ns: 7, grace_ns: None, start_peers: 2 });
        let arm = Submission { flags: FLAG_EARLY, ..arm };
        assert_eq!(Rules::of(&arm), Rules { bound_ns: 7, grace_ns: Some(3), start_peers: 2 });
    }
}
