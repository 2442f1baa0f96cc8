//! The receiving side of one stage of a window: what is expected, what came, when it closes. As on the card.
//!
//! A gate closes when everything came; or early, once every peer that has something to send has sent its
//! last-percentile mark and `grace_ns` of silence followed; or `bound_ns` after its clock started. The clock starts when
//! this rank enters the stage, or by itself once `start_peers` were heard.
//! Source: OptiReduce 3.2.1.

use crate::protocol::{ClosedBy, EarlyRule};

/// How a window's gates close.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub bound_ns: u64,
    pub early: Option<EarlyRule>,
    /// Peers whose packets start the clock; 0: only this rank's own entry does.
    pub start_peers: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// Beats that peers are to send.
    expected: usize,
    /// Beats that peers sent.
    received: usize,
    /// Own beats to come.
    own_missing: usize,
    /// Bit r: rank r was heard, was marked, has something to send.
    pub heard: u64,
    marked: u64,
    senders: u64,
    entered: bool,
    clock_ns: Option<u64>,
    last_packet_ns: u64,
    closed: Option<(u64, ClosedBy)>,
}

impl Gate {
    /// `expected` beats of the ranks in `senders`, and `own` beats of this rank.
    pub fn new(expected: usize, senders: u64, own: usize) -> Self {
        Self { expected, senders, own_missing: own, ..Self::default() }
    }

    /// This rank enters the stage.
    pub fn enter(&mut self, now_ns: u64) {
        self.entered = true;
        self.clock_ns.get_or_insert(now_ns);
    }

    /// A packet of `sender` came while the gate was open.
    pub fn hear(&mut self, now_ns: u64, sender: usize, marked: bool, rules: &Rules) {
        self.heard |= 1 << sender;
        self.marked |= u64::from(marked) << sender;
        self.last_packet_ns = now_ns;
        if rules.start_peers > 0 && self.heard.count_ones() >= rules.start_peers {
            self.clock_ns.get_or_insert(now_ns);
        }
    }

    /// So many new beats of peers were taken.
    pub fn take(&mut self, beats: usize) {
        self.received += beats;
    }

    /// All own beats were taken.
    pub fn take_own(&mut self) {
        self.own_missing = 0;
    }

    /// When the gate closes if nothing more comes, and why; `None` while it waits for its clock, and once it is closed.
    pub fn due(&self, now_ns: u64, rules: &Rules) -> Option<(u64, ClosedBy)> {
        let clock_ns = self.clock_ns.filter(|_| self.closed.is_none())?;
        if self.expected == self.received && self.own_missing == 0 {
            return Some((now_ns, ClosedBy::Complete));
        }
        let deadline = (clock_ns.saturating_add(rules.bound_ns), ClosedBy::Deadline);
        let all_marked = self.entered && self.own_missing == 0 && self.senders & !self.marked == 0;
        let early = rules.early.filter(|_| all_marked);
        let quiet = early.map(|rule| (self.last_packet_ns.saturating_add(rule.grace_ns.into()), ClosedBy::Early));
        Some(quiet.map_or(deadline, |quiet| quiet.min(deadline)))
    }

    pub fn close(&mut self, now_ns: u64, by: ClosedBy) {
        self.closed = Some((now_ns, by));
    }

    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// Why the gate closed, and how long its clock ran, in ns.
    pub fn outcome(&self) -> (ClosedBy, u64) {
        let (at_ns, by) = self.closed.unwrap_or_default();
        (by, at_ns.saturating_sub(self.clock_ns.unwrap_or(at_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { bound_ns: 1000, early: Some(EarlyRule { grace_ns: 50 }), start_peers: 2 };

    /// Rank 0 of 4; peers 1, 2 and 3 send 2 beats each, this rank 2.
    fn gate() -> Gate {
        Gate::new(6, 0b1110, 2)
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
        let never = Rules { start_peers: 0, ..RULES };
        let mut gate = Gate::new(6, 0b1110, 2);
        (1..4).for_each(|peer| gate.hear(10, peer, true, &never));
        assert_eq!(gate.due(20, &never), None);
    }

    #[test]
    fn it_is_complete_with_the_own_beats_only() {
        let mut gate = gate();
        gate.enter(0);
        gate.take(6);
        assert_eq!(gate.due(5, &RULES), Some((1000, ClosedBy::Deadline)));
        gate.take_own();
        assert_eq!(gate.due(6, &RULES), Some((6, ClosedBy::Complete)));
        gate.close(6, ClosedBy::Complete);
        assert_eq!((gate.due(7, &RULES), gate.is_open(), gate.outcome()), (None, false, (ClosedBy::Complete, 6)));
    }

    #[test]
    fn the_early_rule_wants_every_mark_the_own_entry_and_silence() {
        let mut gate = gate();
        (1..4).for_each(|peer| gate.hear(10, peer, peer != 2, &RULES));
        gate.enter(15);
        gate.take_own();
        assert_eq!(gate.due(20, &RULES), Some((1010, ClosedBy::Deadline)), "rank 2's mark is missing");
        gate.hear(100, 2, true, &RULES);
        assert_eq!(gate.due(100, &RULES), Some((150, ClosedBy::Early)));
        gate.hear(120, 1, false, &RULES);
        assert_eq!(gate.due(120, &RULES), Some((170, ClosedBy::Early)), "not silent yet");
        gate.hear(990, 1, false, &RULES);
        assert_eq!(gate.due(990, &RULES), Some((1010, ClosedBy::Deadline)), "never later than the bound");
    }
}
