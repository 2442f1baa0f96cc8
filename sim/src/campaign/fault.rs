//! The catalogue of faults: what may go wrong, when, and for how long.

use crate::random::Random;

/// A fault: when it begins, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub trigger: Trigger,
    /// The rank that it befalls; if it waits for a transition, the rank at which that happened.
    pub rank: usize,
    pub kind: FaultKind,
    /// How long it lasts, in ns.
    pub lasts_ns: u64,
}

/// When a fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// At a time, in ns.
    At(u64),
    /// When something happens for the `nth` time (from 0), at any rank that may be befallen.
    On { transition: Transition, nth: u32 },
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
    /// What can go wrong.
    FaultKind {
        /// Half of what the rank sends is lost.
        LossOut = "loss of what a rank sends",
        /// Half of what is sent to the rank is lost.
        LossIn = "loss of what a rank receives",
        /// Nothing that the rank sends leaves it: ENOBUFS, EPERM, an interface that is down.
        SendErrors = "send errors",
        /// Everything between the rank and the others comes twice or three times.
        Duplicate = "duplication",
        /// Packets of the rank are held back for up to a bound, one by one: they overtake one another.
        Reorder = "reordering",
        /// Packets to and from the rank take half a bound longer.
        Delay = "delay",
        /// Any bit of a packet to or from the rank flips, or its end is missing: kernels and cards must find it.
        Corrupt = "corruption",
        /// The rank and its neighbour are cut off from the others; control messages wait for the end of it.
        Partition = "partition",
        /// The rank's host does nothing; what arrives waits, as far as the socket's buffer goes.
        Freeze = "frozen host",
        /// The rank's program needs long before each call.
        Slow = "slow host",
        /// The rank's process ends, and its connections with it.
        Crash = "crash",
        /// The rank's host ends; nobody is told.
        PowerLoss = "power loss",
        /// The rank's process ends and is started again; it asks to join.
        Restart = "restart",
        /// The rank's clock jumps ahead.
        ClockJump = "clock jump",
        /// Packets of nobody, and of other jobs, arrive at the rank.
        Strangers = "strangers",
        /// Packets of earlier collectives arrive at the rank again.
        Replay = "replayed packets",
        /// Control messages to and from the rank take long, each pair its own time.
        SlowControl = "slow control messages",
        /// The control connection between the rank and its neighbour breaks for good.
        BreakControl = "broken control connection",
        /// What the rank sends is lost for moments, all of it.
        BurstLoss = "bursts of loss",
        /// Larger packets of the rank are lost: the path there has a smaller MTU than the path back.
        AsymmetricMtu = "smaller MTU one way",
        /// The rank's receive buffer is all but full: of packets that come close together most are lost.
        FullBuffer = "full receive buffer",
        /// The rank's card leaves the bus.
        CardRemoval = "card removal",
        /// The rank's card flips a bit of a completion or stage report, or writes a completion twice.
        CardLies = "wrong completion",
        /// Some accesses of the rank's card to host memory fail.
        DmaErrors = "DMA errors",
        /// The rank's card needs long for each access to host memory.
        SlowDma = "slow DMA",
    }
}

catalogue! {
    /// What can be seen of a rank from outside: the moments at which faults are aimed.
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
        Decided = "view told",
        ViewKnown = "view known",
        Joins = "request to join",
        Dropped = "rank dropped",
        Waits = "call waits for a view",
    }
}

impl FaultKind {
    /// Whether the rank is gone after it for good.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Crash | Self::PowerLoss | Self::CardRemoval)
    }

    /// Whether it befalls cards only.
    pub const fn needs_card(self) -> bool {
        matches!(self, Self::CardRemoval | Self::CardLies | Self::DmaErrors | Self::SlowDma)
    }

    /// Whether a rank may have to be dropped because of it, or cannot reach others any more.
    pub const fn may_cost_a_rank(self) -> bool {
        !matches!(self, Self::Duplicate | Self::Slow | Self::Strangers | Self::Replay)
    }

    /// Whether it befalls a rank and its neighbour.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Partition | Self::BreakControl)
    }

    /// Whether it needs ranks that come and go.
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

/// The job that faults are drawn for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub seed: u64,
    /// The ranks that faults may befall.
    pub targets: &'a [usize],
    pub span_ns: u64,
    pub bound_ns: u64,
    /// Whether ranks come and go.
    pub views: bool,
    /// Whether ranks have cards.
    pub cards: bool,
}

/// Kinds that are drawn by [`draw`]. Those that came later are drawn apart, so that a seed's job stays what it was.
const FIRST_KINDS: &[FaultKind] = FaultKind::ALL.split_at(18).0;
/// Kinds that are drawn by [`draw_later`].
const LATER_KINDS: &[FaultKind] = FaultKind::ALL.split_at(18).1;

/// Faults of a job: some at any time, and one at a moment that the number of the job chooses, so that jobs with successive
/// seeds go through all pairs of transition and fault.
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

/// One or two faults of the other kinds, in every other job: the first at the moment that the number of the job chooses.
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

/// Moves the moments of some faults, at least one: to a neighbouring time, to the time before or after at which the same happens, or
/// to another moment.
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
            // The first times are the rarest ones.
            let most = 1 << random.below(6);
            Trigger::On { transition, nth: random.below(most) as u32 }
        } else {
            Trigger::At(random.below(self.span_ns))
        };
        let (rank, lasts_ns) = (random.one_of(self.targets), kind.lasts_ns(random, self.bound_ns));
        Fault { trigger, rank, kind, lasts_ns }
    }
}

/// The transition and the fault, of some kinds, at which the job of a seed aims first.
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
            Trigger::On { transition, nth } => write!(f, " or another, upon {} number {nth}", transition.name())?,
        }
        if kind.is_final() { Ok(()) } else { write!(f, ", for {} us", lasts_ns / 1000) }
    }
}
