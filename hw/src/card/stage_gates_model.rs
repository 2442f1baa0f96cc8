//! Stages by the contract's rules, with the delays of the hardware's pipelines: one event, one beat and one close per cycle.

use optireduce_contract::ranks::CardRanks;
use optireduce_contract::rules::gate::{self, Gate};

/// How the stage is to close.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Bound on the stage.
    pub bound_ns: u64,
    /// Silence that closes early.
    pub grace_ns: u64,
    /// Distinct peers that start the clock; 0: none.
    pub start_peers: u32,
    /// The early rule applies.
    pub early: bool,
    /// Peers that have something to send.
    pub senders: u64,
    /// Beats expected, own ones included.
    pub expected: u64,
    /// Own beats expected: the early rule waits for them.
    pub own: u64,
}

/// What happens in one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    /// The time.
    pub now_ns: u64,
    /// No frame waits.
    pub quiet: bool,
    /// Bit s: this rank enters the stage of slot s.
    pub enter: u8,
    /// A packet was accepted: its slot, its sender, and whether it carries the mark.
    pub packet: Option<(usize, u32, bool)>,
    /// A beat was accepted: its slot; `true`: an own one.
    pub beat: Option<(usize, bool)>,
    /// A slot is armed.
    pub arm: Option<(usize, Rules)>,
    /// Bit s: slot s is freed.
    pub free: u8,
}

/// An armed stage: the gate of the contract's rules, and the beats that were counted but have not had their effect on it.
#[derive(Clone, Debug)]
pub struct Stage {
    rules: gate::Rules,
    gate: Gate<[u64; 1]>,
    expected: u64,
    own: u64,
    /// Beats accepted from peers, and own ones.
    pub received: [u64; 2],
}

impl Stage {
    /// Opens the stage.
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

    /// Beats still expected.
    pub fn left(&self) -> u64 {
        self.expected - self.received[0] - self.received[1]
    }

    /// Own beats still expected.
    pub fn own_left(&self) -> u64 {
        self.own - self.received[1]
    }

    /// Ranks heard.
    pub fn heard(&self) -> u64 {
        self.gate.heard().bits()
    }

    /// Start of the clock.
    pub fn start_ns(&self) -> Option<u64> {
        self.gate.clock_ns()
    }

    /// Reason (0 complete, 1 early, 2 deadline) and time of the close.
    pub fn closed(&self) -> Option<(u64, u64)> {
        self.gate.closed().map(|(at_ns, by)| (by as u64, at_ns))
    }

    /// Earliest time at which it closes by the clock, if nothing else happens.
    pub fn timer_ns(&self) -> Option<u64> {
        self.gate.timer_ns(&self.rules)
    }
}

/// A packet, or an entry, on its way to its effect.
#[derive(Clone, Copy, Debug)]
struct Event {
    slot: usize,
    at_ns: u64,
    packet: Option<(u32, bool)>,
}

/// The stages of all slots: one event, one beat and one close a cycle.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    /// The armed ones.
    pub stages: [Option<Stage>; 8],
    entering: u8,
    events: [Option<Event>; 2],
    /// A beat on its way to being counted.
    pub beat: Option<(usize, bool)>,
    /// A beat that was counted, on its way to its effect.
    counted: Option<(usize, bool)>,
}

impl Gates {
    /// Bit s: beats of slot s are accepted.
    pub fn open(&self) -> u8 {
        self.bits(|stage| stage.gate.is_open())
    }

    /// Bit s: the stage of slot s is over.
    pub fn closed(&self) -> u8 {
        self.bits(|stage| !stage.gate.is_open())
    }

    fn bits(&self, is: impl Fn(&Stage) -> bool) -> u8 {
        (0..8).filter(|slot| self.stages[*slot].as_ref().is_some_and(&is)).map(|slot| 1 << slot).sum()
    }

    /// One cycle. All decisions use the state before it.
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
