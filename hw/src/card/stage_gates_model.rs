//! Stages as their rules read: what they count, when they are over and why. Time comes in as events.

/// How the stage is to close.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Bound on the stage.
    pub bound_ns: u64,
    /// Silence that closes early.
    pub grace_ns: u64,
    /// Distinct peers that start the clock, 0: none do.
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
    /// Bit s: the own entry into the stage of slot s.
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

/// An armed stage, see the module.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    rules: Rules,
    entered: bool,
    /// Start of the clock.
    pub start_ns: Option<u64>,
    /// Beats accepted from peers, and own ones.
    pub received: [u64; 2],
    /// Ranks heard.
    pub heard: u64,
    marked: u64,
    last_ns: u64,
    all_in: bool,
    own_in: bool,
    /// Reason (0 complete, 1 early, 2 deadline) and time of the close.
    pub closed: Option<(u64, u64)>,
}

impl Stage {
    /// Opens the stage.
    pub fn new(rules: Rules) -> Self {
        Self { rules, all_in: rules.expected == 0, own_in: rules.own == 0, ..Self::default() }
    }

    /// Beats still expected.
    pub fn left(&self) -> u64 {
        self.rules.expected - self.received[0] - self.received[1]
    }

    /// Own beats still expected.
    pub fn own_left(&self) -> u64 {
        self.rules.own - self.received[1]
    }

    /// Whether the early rule waits for nothing but silence.
    fn may_be_early(&self) -> bool {
        let all_marked = self.rules.senders & !self.marked == 0;
        self.rules.early && self.entered && all_marked && self.own_in
    }

    /// Why it is over in an instant before what happens in it is counted.
    fn reason(&self, now_ns: u64, quiet: bool) -> Option<u64> {
        let start_ns = self.start_ns?;
        if self.all_in {
            return Some(0);
        }
        let silent = now_ns - self.last_ns >= self.rules.grace_ns;
        if self.may_be_early() && quiet && silent {
            return Some(1);
        }
        (now_ns - start_ns >= self.rules.bound_ns).then_some(2)
    }

    /// Earliest time at which it closes by the clock, if nothing else happens.
    pub fn timer_ns(&self) -> Option<u64> {
        let deadline = self.start_ns.filter(|_| self.closed.is_none())? + self.rules.bound_ns;
        Some(if self.may_be_early() { deadline.min(self.last_ns + self.rules.grace_ns) } else { deadline })
    }

    /// A packet was heard.
    fn hear(&mut self, at_ns: u64, sender: u32, mark: bool) {
        self.heard |= 1 << sender;
        self.marked |= (mark as u64) << sender;
        self.last_ns = at_ns;
        if self.rules.start_peers != 0 && self.heard.count_ones() >= self.rules.start_peers {
            self.start(at_ns);
        }
    }

    /// The own entry.
    fn enter(&mut self, at_ns: u64) {
        self.entered = true;
        self.start(at_ns);
    }

    fn start(&mut self, at_ns: u64) {
        if self.start_ns.is_none() {
            self.start_ns = Some(at_ns);
            self.last_ns = at_ns;
        }
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
    /// Slot of a beat that was counted, on its way to its effect.
    counted: Option<usize>,
}

impl Gates {
    /// Bit s: beats of slot s are accepted.
    pub fn open(&self) -> u8 {
        self.bits(|stage| stage.closed.is_none())
    }

    /// Bit s: the stage of slot s is over.
    pub fn closed(&self) -> u8 {
        self.bits(|stage| stage.closed.is_some())
    }

    fn bits(&self, is: impl Fn(&Stage) -> bool) -> u8 {
        (0..8).filter(|slot| self.stages[*slot].as_ref().is_some_and(&is)).map(|slot| 1 << slot).sum()
    }

    /// One cycle. What it decides, it decides by what was before.
    pub fn step(&mut self, cycle: Cycle) {
        let open = self.open();
        let waiting = (self.entering | cycle.enter) & self.bits(|stage| stage.closed.is_none() && !stage.entered);
        let reason =
            |stage: &Stage| (stage.closed.is_none()).then(|| stage.reason(cycle.now_ns, cycle.quiet)).flatten();
        let due = (0..8).find_map(|slot| Some((slot, reason(self.stages[slot].as_ref()?)?)));

        let event = self.events[1].take();
        self.events[1] = self.events[0].take();
        if let Some(Event { slot, at_ns, packet }) = event
            && let Some(stage) = &mut self.stages[slot]
        {
            match packet {
                Some((sender, mark)) => stage.hear(at_ns, sender, mark),
                None => stage.enter(at_ns),
            }
        }
        if let Some(stage) = self.counted.take().and_then(|slot| self.stages[slot].as_mut()) {
            (stage.all_in, stage.own_in) = (stage.left() == 0, stage.own_left() == 0);
        }
        self.counted = self.beat.map(|(slot, _)| slot);
        if let Some((slot, own)) = self.beat.take()
            && let Some(stage) = &mut self.stages[slot]
        {
            stage.received[own as usize] += 1;
        }
        if let Some((slot, reason)) = due
            && let Some(stage) = &mut self.stages[slot]
        {
            stage.closed = Some((reason, cycle.now_ns));
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
