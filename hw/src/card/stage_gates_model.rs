//! Stages by the contract's rules, with the delays of the hardware's pipelines: one event, one beat
//! and one close per cycle.

use optireduce_contract::ranks::CardRanks;
use optireduce_contract::rules::gate::{self, Gate};

/// As [`GateRules`](super::types::GateRules).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub bound_ns: u64,
    pub grace_ns: u64,
    pub start_peers: u32,
    pub early: bool,
    pub senders: u64,
    pub expected: u64,
    pub own: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    pub now_ns: u64,
    pub quiet: bool,
    pub enter: u8,
    /// Slot, sender, mark.
    pub packet: Option<(usize, u32, bool)>,
    /// Slot, and whether the beat is local.
    pub beat: Option<(usize, bool)>,
    pub arm: Option<(usize, Rules)>,
    pub free: u8,
}

/// Counted beats reach `gate` later than `received`.
#[derive(Clone, Debug)]
pub struct Stage {
    rules: gate::Rules,
    gate: Gate<[u64; 1]>,
    expected: u64,
    own: u64,
    /// Beats counted, from peers and local.
    pub received: [u64; 2],
}

impl Stage {
    pub fn new(rules: Rules) -> Self {
        let senders = CardRanks::from_bits(rules.senders);
        let Rules { bound_ns, grace_ns, start_peers, early, expected, own, .. } = rules;
        Self {
            rules: gate::Rules { bound_ns, grace_ns: early.then_some(grace_ns), start_peers: start_peers as usize },
            gate: Gate::new((expected - own) as usize, own as usize, senders),
            expected,
            own,
            received: [0; 2],
        }
    }

    pub fn left(&self) -> u64 {
        self.expected - self.received[0] - self.received[1]
    }

    pub fn own_left(&self) -> u64 {
        self.own - self.received[1]
    }

    pub fn heard(&self) -> u64 {
        self.gate.heard().bits()
    }

    pub fn start_ns(&self) -> Option<u64> {
        self.gate.clock_ns()
    }

    /// Reason (0 complete, 1 early, 2 deadline) and time of the close.
    pub fn closed(&self) -> Option<(u64, u64)> {
        self.gate.closed().map(|(at_ns, by)| (by as u64, at_ns))
    }

    /// Earliest close by the clock, if nothing else happens.
    pub fn timer_ns(&self) -> Option<u64> {
        self.gate.timer_ns(&self.rules)
    }
}

#[derive(Clone, Copy, Debug)]
struct Event {
    slot: usize,
    at_ns: u64,
    packet: Option<(u32, bool)>,
}

#[derive(Clone, Debug, Default)]
pub struct Gates {
    pub stages: [Option<Stage>; 8],
    entering: u8,
    events: [Option<Event>; 2],
    /// Not yet counted.
    pub beat: Option<(usize, bool)>,
    counted: Option<(usize, bool)>,
}

impl Gates {
    pub fn open(&self) -> u8 {
        self.bits(|stage| stage.gate.is_open())
    }

    pub fn closed(&self) -> u8 {
        self.bits(|stage| !stage.gate.is_open())
    }

    fn bits(&self, is: impl Fn(&Stage) -> bool) -> u8 {
        (0..8).filter(|slot| self.stages[*slot].as_ref().is_some_and(&is)).map(|slot| 1 << slot).sum()
    }

    /// All decisions use the state before the cycle.
    pub fn step(&mut self, cycle: Cycle) {
        let open = self.open();
        let waiting =
            (self.entering | cycle.enter) & self.bits(|stage| stage.gate.is_open() && !stage.gate.is_entered());
        let reason = |stage: &Stage| stage.gate.over(cycle.now_ns, cycle.quiet, &stage.rules);
        let due = (0..8).find_map(|slot| Some((slot, reason(self.stages[slot].as_ref()?)?)));

        let event = self.events[1].take();
        self.events[1] = self.events[0].take();
        if let Some(Event { slot, at_ns, packet }) = event
            && let Some(stage) = &mut self.stages[slot]
        {
            match packet {
                Some((sender, mark)) => stage.gate.hear(at_ns, sender as usize, mark, &stage.rules),
                None => stage.gate.enter(at_ns),
            }
        }
        if let Some((slot, own)) = self.counted.take()
            && let Some(Stage { gate, .. }) = &mut self.stages[slot]
        {
            if own { gate.take_own(1) } else { gate.take(1) }
        }
        self.counted = self.beat;
        if let Some((slot, own)) = self.beat.take()
            && let Some(stage) = &mut self.stages[slot]
        {
            stage.received[own as usize] += 1;
        }
        if let Some((slot, reason)) = due
            && let Some(stage) = &mut self.stages[slot]
        {
            stage.gate.close(cycle.now_ns, reason);
        }

        self.entering = waiting;
        if let Some((slot, sender, mark)) = cycle.packet {
            if open >> slot & 1 == 1 {
                self.events[0] = Some(Event { slot, at_ns: cycle.now_ns, packet: Some((sender, mark)) });
            }
        } else if waiting != 0 {
            self.events[0] = Some(Event { slot: waiting.trailing_zeros() as usize, at_ns: cycle.now_ns, packet: None });
            self.entering &= waiting - 1;
        }
        self.beat = cycle.beat;
        if let Some((slot, rules)) = cycle.arm {
            self.stages[slot] = Some(Stage::new(rules));
        }
        (0..8).filter(|slot| cycle.free >> slot & 1 == 1).for_each(|slot| self.stages[slot] = None);
    }
}
