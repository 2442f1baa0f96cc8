//! One stage of one window as its rules read: what it counts, when it is over and why. Time comes in as events.

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

/// What happens in one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instant {
    /// The time.
    pub now_ns: u64,
    /// No frame waits.
    pub quiet: bool,
    /// The own entry into the stage.
    pub enter: bool,
    /// A packet was accepted: its sender, and whether it carries the mark.
    pub packet: Option<(u32, bool)>,
    /// A beat was accepted; `true`: an own one.
    pub beat: Option<bool>,
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
    /// Reason (0 complete, 1 early, 2 deadline) and time of the close.
    pub closed: Option<(u64, u64)>,
}

impl Stage {
    /// Opens the stage.
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
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
        self.rules.early && self.entered && all_marked && self.own_left() == 0
    }

    /// Why it is over in an instant before what happens in it is counted.
    fn reason(&self, now_ns: u64, quiet: bool) -> Option<u64> {
        let start_ns = self.start_ns?;
        if self.left() == 0 {
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

    /// One instant. What comes in the instant of the close still counts, what comes later does not.
    pub fn handle(&mut self, instant: Instant) {
        if self.closed.is_some() {
            return;
        }
        self.closed = self.reason(instant.now_ns, instant.quiet).map(|reason| (reason, instant.now_ns));
        if let Some((sender, mark)) = instant.packet {
            self.heard |= 1 << sender;
            self.marked |= (mark as u64) << sender;
            self.last_ns = instant.now_ns;
        }
        if let Some(own) = instant.beat {
            self.received[own as usize] += 1;
        }
        self.entered |= instant.enter;
        let enough = self.rules.start_peers != 0 && self.heard.count_ones() >= self.rules.start_peers;
        if self.start_ns.is_none() && (instant.enter || enough) {
            self.start_ns = Some(instant.now_ns);
            self.last_ns = instant.now_ns;
        }
    }
}
