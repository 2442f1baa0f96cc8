//! The catalogue of faults: kind, trigger and duration.

use crate::random::Random;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub trigger: Trigger,
    /// Affected rank. [`Trigger::On`] replaces it by the rank of the transition.
    pub rank: usize,
    pub kind: FaultKind,
    pub lasts_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    At(u64),
    /// At the `nth` occurrence (from 0) of a transition.
    On {
        transition: Transition,
        nth: u32,
    },
}

macro_rules! catalogue {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

catalogue! {
    FaultKind {
        /// Half of the packets.
        LossOut = "loss of what a rank sends",
        /// Half of the packets.
        LossIn = "loss of what a rank receives",
        /// ENOBUFS, EPERM, or an interface that is down.
        SendErrors = "send errors",
        /// Two or three copies of all packets.
        Duplicate = "duplication",
        /// Individual delays of up to a bound.
        Reorder = "reordering",
        /// Half a bound for all packets.
        Delay = "delay",
        /// Flipped bits and truncated packets, which kernels and cards must detect.
        Corrupt = "corruption",
        /// The rank and its neighbour are cut off. Control messages arrive afterwards.
        Partition = "partition",
        /// Packets queue up to the size of the socket's buffer.
        Freeze = "frozen host",
        /// The program waits long before each call.
        Slow = "slow host",
        /// The process ends; its connections close.
        Crash = "crash",
        /// The connections stay open until a timeout.
        PowerLoss = "power loss",
        /// The process ends, restarts and asks to join.
        Restart = "restart",
        ClockJump = "clock jump",
        /// Packets from unknown senders and of other jobs.
        Strangers = "strangers",
        Replay = "replayed packets",
        SlowControl = "slow control messages",
        /// The connection to the neighbour breaks permanently.
        BreakControl = "broken control connection",
        /// All packets are lost during short intervals.
        BurstLoss = "bursts of loss",
        /// Larger packets sent by the rank are lost.
        AsymmetricMtu = "smaller MTU one way",
        /// Most packets of a burst are lost.
        FullBuffer = "full receive buffer",
        CardRemoval = "card removal",
        /// A bit of a completion or stage report flips, or a completion is written twice.
        CardLies = "wrong completion",
        DmaErrors = "DMA errors",
        SlowDma = "slow DMA",
    }
}

catalogue! {
    Transition {
        Called = "call",
        Contributes = "first packet of a contribution",
        Broadcasts = "first packet of a mean (contribute stage closed)",
        Finished = "collective finished",
        RepairRequest = "repair request",
        RepairAnswer = "repair answer",
        CallQuestion = "question about a call",
        Vote = "vote",
        Decision = "decision",
        Suspects = "rank suspected",
        Prepares = "prepare of a view",
        Promises = "promise",
        Accepts = "accept of a view",
        Accepted = "view accepted",
        Decided = "view announced",
        ViewKnown = "view known",
        Joins = "request to join",
        Dropped = "rank dropped",
        Waits = "call waits for a view",
    }
}

impl FaultKind {
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Crash | Self::PowerLoss | Self::CardRemoval)
    }

    pub const fn needs_card(self) -> bool {
        matches!(self, Self::CardRemoval | Self::CardLies | Self::DmaErrors | Self::SlowDma)
    }

    pub const fn may_cost_a_rank(self) -> bool {
        !matches!(self, Self::Duplicate | Self::Slow | Self::Strangers | Self::Replay)
    }

    /// Returns whether the neighbour is affected as well.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Partition | Self::BreakControl)
    }

    pub const fn needs_views(self) -> bool {
        matches!(self, Self::Restart)
    }

    fn lasts_ns(self, random: &mut Random, bound_ns: u64) -> u64 {
        match self {
            Self::Freeze | Self::Partition | Self::Restart => random.between(bound_ns / 4, 30 * bound_ns),
            Self::Slow | Self::SlowControl => random.between(bound_ns, 20 * bound_ns),
            Self::ClockJump => random.between(1, 5 * bound_ns),
            _ => random.between(bound_ns / 10, 6 * bound_ns),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub seed: u64,
    pub targets: &'a [usize],
    pub span_ns: u64,
    pub bound_ns: u64,
    /// True if ranks may be dropped and join.
    pub views: bool,
    pub cards: bool,
}

/// Kinds drawn by [`draw`]. Separate draws of later kinds keep the jobs of existing seeds.
const FIRST_KINDS: &[FaultKind] = FaultKind::ALL.split_at(18).0;
const LATER_KINDS: &[FaultKind] = FaultKind::ALL.split_at(18).1;

/// Draws faults at random times, and one whose pair of transition and fault follows from the seed.
pub(super) fn draw(random: &mut Random, count: u64, scope: &Scope<'_>) -> Vec<Fault> {
    let kinds: Vec<FaultKind> = FIRST_KINDS.iter().copied().filter(|kind| scope.may(*kind)).collect();
    let draw = |number: u64| {
        let aimed = number == 0 || random.chance(0.3);
        let (mut kind, mut transition) = (random.one_of(&kinds), random.one_of(Transition::ALL));
        if number == 0 {
            let pair = pair_of(FIRST_KINDS, scope.seed);
            (kind, transition) = (if kinds.contains(&pair.1) { pair.1 } else { kind }, pair.0);
        }
        scope.fault(random, kind, transition, aimed)
    };
    (0..count).map(draw).collect()
}

/// Draws up to two faults of later kinds. The pair of the first follows from the seed.
pub(super) fn draw_later(random: &mut Random, scope: &Scope<'_>) -> Vec<Fault> {
    let kinds: Vec<FaultKind> = LATER_KINDS.iter().copied().filter(|kind| scope.may(*kind)).collect();
    let count = random.one_of(&[0, 0, 1, 2]);
    let draw = |number: u64| {
        let (mut kind, mut transition) = (random.one_of(&kinds), random.one_of(Transition::ALL));
        let pair = pair_of(LATER_KINDS, scope.seed);
        if number == 0 && kinds.contains(&pair.1) {
            (transition, kind) = pair;
        }
        let aimed = random.chance(0.7);
        scope.fault(random, kind, transition, aimed)
    };
    (0..count).map(draw).collect()
}

/// Redraws the trigger of at least one fault: a nearby time or occurrence, or another transition.
pub(super) fn shift(random: &mut Random, faults: &mut [Fault], scope: &Scope<'_>) {
    let chosen = random.below(faults.len() as u64);
    for (number, fault) in (0..).zip(faults) {
        if number != chosen && random.chance(0.7) {
            continue;
        }
        let near_ns = random.below(2 * scope.bound_ns);
        fault.trigger = match fault.trigger {
            _ if random.chance(0.25) => Trigger::On { transition: random.one_of(Transition::ALL), nth: 0 },
            Trigger::At(at_ns) => Trigger::At((at_ns + near_ns).saturating_sub(scope.bound_ns)),
            Trigger::On { transition, nth } => {
                Trigger::On { transition, nth: (nth + random.below(4) as u32 + 1).saturating_sub(2) }
            }
        };
    }
}

impl Scope<'_> {
    fn may(&self, kind: FaultKind) -> bool {
        (self.views || !kind.needs_views()) && (self.cards || !kind.needs_card())
    }

    fn fault(&self, random: &mut Random, kind: FaultKind, transition: Transition, aimed: bool) -> Fault {
        let trigger = if aimed {
            // Prefers first occurrences, as later ones may never happen.
            let most = 1 << random.below(6);
            Trigger::On { transition, nth: random.below(most) as u32 }
        } else {
            Trigger::At(random.below(self.span_ns))
        };
        let (rank, lasts_ns) = (random.one_of(self.targets), kind.lasts_ns(random, self.bound_ns));
        Fault { trigger, rank, kind, lasts_ns }
    }
}

fn pair_of(kinds: &[FaultKind], seed: u64) -> (Transition, FaultKind) {
    let (count, transitions) = (kinds.len() as u64, Transition::ALL.len() as u64);
    let pair = seed % (count * transitions);
    (Transition::ALL[(pair / count) as usize], kinds[(pair % count) as usize])
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rank, kind, lasts_ns, .. } = self;
        write!(f, "{} of rank {rank}", kind.name())?;
        match self.trigger {
            Trigger::At(at_ns) => write!(f, " at {} us", at_ns / 1000)?,
            Trigger::On { transition, nth } => write!(f, " or another, at {} number {nth}", transition.name())?,
        }
        if kind.is_final() { Ok(()) } else { write!(f, ", for {} us", lasts_ns / 1000) }
    }
}
