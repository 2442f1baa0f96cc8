//! When a stage of a window closes at the rank that receives it.
//!
//! A stage closes when everything has arrived; or early, once this rank's own beats are in, every peer that has something to
//! send has sent its last-percentile mark, and `grace_ns` of silence followed; or `bound_ns` after its clock started. If
//! several conditions hold at the same instant, the first of these is the reason. The clock starts when this rank enters the stage, or by itself
//! once `start_peers` peers were heard. Silence counts from the last packet or from the start of the clock, whichever is later:
//! silence before this rank's own entry does not count.
//! Source: OptiReduce 3.2.1; the start by peers is ours.

use super::{ClosedBy, Stage, Window};
use crate::queue::{FLAG_EARLY, Submission};
use crate::ranks::{RankSet, Words};

/// How the stages of a window close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Bound on a stage, from the start of its clock.
    pub bound_ns: u64,
    /// Silence that closes a stage early; `None`: the early rule does not apply.
    pub grace_ns: Option<u64>,
    /// Distinct peers that start the clock; 0: only this rank's own entry does.
    pub start_peers: usize,
}

impl Rules {
    /// The rules that an `ARM` gives.
    pub fn of(arm: &Submission) -> Self {
        Self {
            bound_ns: arm.bound_ns.into(),
            grace_ns: (arm.flags & FLAG_EARLY != 0).then_some(arm.grace_ns.into()),
            start_peers: arm.start_peers.into(),
        }
    }
}

/// The receiving side of one stage: what is expected, what came, when it closes.
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
    /// Opens a stage that expects `expected_beats` from the peers in `senders`, and `own_beats` of this rank.
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

    /// Opens a stage of a window at `rank`; `room`: an empty set with room for the ranks of the job.
    ///
    /// Contribute: every peer sends this rank's shard, and so does the rank itself. Broadcast: every peer sends its own.
    /// Peers without a beat to send are not waited for.
    pub fn of(stage: Stage, window: &Window, rank: usize, room: RankSet<W>) -> Self {
        let beats_of = |peer: usize| window.allowed(stage, rank, peer).len();
        let senders = (0..window.shards.ranks).filter(|peer| *peer != rank && beats_of(*peer) > 0);
        let expected = senders.clone().map(beats_of).sum();
        let own = if stage == Stage::Contribute { window.shards.range_of(rank).len() } else { 0 };
        Self::new(expected, own, room.with(senders))
    }

    /// This rank enters the stage.
    pub fn enter(&mut self, now_ns: u64) {
        self.entered = true;
        self.start(now_ns);
    }

    /// A packet from `sender` arrived while the gate was open.
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

    /// Nothing more comes of `sender`: the early rule needs no mark of it. For software, whose host knows that a process has ended.
    pub fn excuse(&mut self, sender: usize) {
        self.marked.insert(sender);
    }

    fn start(&mut self, now_ns: u64) {
        if self.clock_ns.is_none() {
            self.clock_ns = Some(now_ns);
            self.silent_since_ns = now_ns;
        }
    }

    /// Counts new beats taken from peers.
    pub fn take(&mut self, beats: usize) {
        self.received_beats += beats;
    }

    /// Counts beats taken from this rank itself.
    pub fn take_own(&mut self, beats: usize) {
        self.own_missing_beats -= beats;
    }

    /// Why the stage is over at `at_ns`, if it is open and nothing else comes before; `quiet`: no packet waits to be taken.
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

    /// When the stage closes by the clock if nothing more comes; `None` before its clock runs, and once it is closed.
    pub fn timer_ns(&self, rules: &Rules) -> Option<u64> {
        let clock_ns = self.clock_ns.filter(|_| self.is_open())?;
        let deadline_ns = clock_ns.saturating_add(rules.bound_ns);
        Some(self.silence_ends_ns(rules).map_or(deadline_ns, |end_ns| end_ns.min(deadline_ns)))
    }

    /// When the stage closes if nothing more arrives, and why. If that is in the past, the stage is overdue.
    pub fn due(&self, now_ns: u64, rules: &Rules) -> Option<(u64, ClosedBy)> {
        let timer_ns = self.timer_ns(rules)?;
        let at_ns = if self.is_complete() { now_ns } else { timer_ns };
        self.over(at_ns, true, rules).map(|by| (at_ns, by))
    }

    /// When silence closes the stage, once silence is all that the early rule still needs.
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

    /// Whether packets are taken.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// When the stage closed, and why.
    pub fn closed(&self) -> Option<(u64, ClosedBy)> {
        self.closed
    }

    /// Whether this rank has entered the stage.
    pub fn is_entered(&self) -> bool {
        self.entered
    }

    /// When the stage's clock started.
    pub fn clock_ns(&self) -> Option<u64> {
        self.clock_ns
    }

    /// How long the clock of a closed stage ran; 0 if it never did.
    pub fn elapsed_ns(&self) -> u64 {
        self.closed.map_or(0, |(at_ns, _)| at_ns.saturating_sub(self.clock_ns.unwrap_or(at_ns)))
    }

    /// Ranks heard while the stage was open.
    pub fn heard(&self) -> &RankSet<W> {
        &self.heard
    }

    /// Peers that have something to send.
    pub fn senders(&self) -> &RankSet<W> {
        &self.senders
    }

    /// Beats expected from peers.
    pub fn expected_beats(&self) -> usize {
        self.expected_beats
    }

    /// Beats received from peers.
    pub fn received_beats(&self) -> usize {
        self.received_beats
    }

    /// Own beats not yet taken.
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

    /// Rank 0 of 4; peers 1, 2 and 3 send 2 beats each, this rank 2.
    fn gate() -> Gate<[u64; 1]> {
        Gate::of(Stage::Contribute, &window(8, 0), 0, CardRanks::default())
    }

    #[test]
    fn a_stage_expects_its_shards_from_those_who_have_one() {
        let contribute = gate();
        assert_eq!((contribute.expected_beats(), contribute.own_missing_beats()), (6, 2));
        assert_eq!(contribute.senders().bits(), 0b1110);
        // 2 beats on 4 ranks, rotated by one: ranks 3 and 0 own them.
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

    /// All peers were early and have sent their marks; the clock waits for this rank alone.
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
