//! What lies between the ranks: packets that may be lost, and control messages that are reliable, in order for each pair.
//!
//! Damage: any bit of a frame flips, or its end is missing. It is for the receivers to find: a kernel, or a card.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{HEADER_BYTES, UBT_BYTES};

use super::fault::FaultKind;
use super::plan::JobPlan;
use crate::card::functional::DMA_NS;
use crate::random::Random;

/// Beats of payload that pass where the MTU is small.
const NARROW_BEATS: usize = 4;
/// Bytes that an all but full receive buffer takes at a time, and how often it is emptied.
const FULL_BYTES: usize = 2048;
const EMPTIED_NS: u64 = 100_000;
/// Most packets that are kept to be replayed.
const KEPT_MAX: usize = 64;

/// A fault that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub kind: FaultKind,
    pub rank: usize,
    /// Shares it: the other rank of a partition, or of a broken connection.
    pub neighbour: usize,
    pub until_ns: u64,
}

/// A copy of a packet that will arrive.
pub(super) struct Copy {
    pub at_ns: u64,
    /// What was done to it.
    pub damage: Damage,
}

/// What was done to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    None,
    /// So many bytes are left.
    CutTo(usize),
    /// This bit was flipped.
    Bit(usize),
}

pub(super) struct Wire {
    random: Random,
    loss: f64,
    delay_ns: (u64, u64),
    control_ns: (u64, u64),
    hold_ns: u64,
    active: Vec<Active>,
    ranks: usize,
    /// When the last control message of each pair arrives.
    last_control_ns: Vec<u64>,
    /// Pairs whose control connection is broken.
    broken: Vec<bool>,
    /// Packets to be replayed: from, to, bytes.
    kept: Vec<(usize, usize, Vec<u8>)>,
    seen: u64,
    /// By rank, where the receive buffer is all but full: the slice of time, and the bytes that have come in it.
    held: Vec<(u64, usize)>,
}

impl Wire {
    pub fn new(plan: &JobPlan) -> Self {
        let ranks = plan.ranks;
        Self {
            random: Random::new(plan.seed, 4),
            loss: plan.loss,
            delay_ns: plan.delay_ns,
            control_ns: plan.control_ns,
            hold_ns: plan.settings.bound_ns,
            active: Vec::new(),
            ranks,
            last_control_ns: vec![0; ranks * ranks],
            broken: vec![false; ranks * ranks],
            kept: Vec::new(),
            seen: 0,
            held: vec![(0, 0); ranks],
        }
    }

    pub fn begin(&mut self, fault: Active) {
        self.active.push(fault);
    }

    /// Forgets the faults that are over.
    pub fn end(&mut self, now_ns: u64) {
        self.active.retain(|one| one.until_ns > now_ns);
    }

    fn is_on(&self, now_ns: u64, is_it: impl Fn(&Active) -> bool) -> bool {
        self.active.iter().any(|one| one.until_ns > now_ns && is_it(one))
    }

    /// Until when nothing passes between two ranks.
    fn cut_until_ns(&self, now_ns: u64, from: usize, to: usize) -> Option<u64> {
        let inside = |one: &Active, rank: usize| rank == one.rank || self.ranks > 4 && rank == one.neighbour;
        let cuts = |one: &&Active| one.kind == FaultKind::Partition && inside(one, from) != inside(one, to);
        self.active.iter().filter(|one| one.until_ns > now_ns).filter(cuts).map(|one| one.until_ns).max()
    }

    /// The copies of a packet that arrive.
    pub fn send(&mut self, now_ns: u64, from: usize, to: usize, datagram: &[u8]) -> Vec<Copy> {
        self.seen += 1;
        if self.kept.len() < KEPT_MAX {
            self.kept.push((from, to, datagram.to_vec()));
        } else if self.random.below(self.seen / 16) < 1 {
            let place = self.random.below(KEPT_MAX as u64) as usize;
            self.kept[place] = (from, to, datagram.to_vec());
        }
        let of = |kind: FaultKind, rank: usize| self.is_on(now_ns, |one| one.kind == kind && one.rank == rank);
        let either = |kind: FaultKind| of(kind, from) || of(kind, to);
        let half_lost = of(FaultKind::LossOut, from) || of(FaultKind::LossIn, to);
        let [twice, late, mixed, damaged] =
            [FaultKind::Duplicate, FaultKind::Delay, FaultKind::Reorder, FaultKind::Corrupt].map(either);
        let [bursts, narrow] = [FaultKind::BurstLoss, FaultKind::AsymmetricMtu].map(|kind| of(kind, from));
        // A third of the time, in slices of some packets; the smaller MTU takes a few beats of payload.
        let in_burst = bursts && (now_ns / (self.hold_ns / 16).max(1)).is_multiple_of(3);
        let too_large = narrow && datagram.len() > UBT_BYTES + NARROW_BEATS * BEAT_BYTES;
        if in_burst || too_large || of(FaultKind::SendErrors, from) || self.cut_until_ns(now_ns, from, to).is_some() {
            return Vec::new();
        }
        let count = if twice { 2 + self.random.below(2) } else { 1 };
        let mut copies = Vec::new();
        for _ in 0..count {
            let (shortest, longest) = self.delay_ns;
            let mut at_ns = now_ns + self.random.between(shortest, longest);
            at_ns += if late { self.hold_ns / 2 } else { 0 };
            at_ns += if mixed { self.random.below(self.hold_ns) } else { 0 };
            if self.random.chance(self.loss) || half_lost && self.random.chance(0.5) {
                continue;
            }
            let is_hit = damaged && self.random.chance(0.3);
            let damage = if is_hit { self.damage(HEADER_BYTES + datagram.len() - UBT_BYTES) } else { Damage::None };
            copies.push(Copy { at_ns, damage });
        }
        copies
    }

    /// What is done to a frame of so many bytes.
    fn damage(&mut self, bytes: usize) -> Damage {
        if self.random.chance(0.2) {
            Damage::CutTo(self.random.below(bytes as u64) as usize)
        } else {
            Damage::Bit(self.random.below(8 * bytes as u64) as usize)
        }
    }

    /// A packet of earlier to replay to a rank.
    pub fn replay(&mut self, to: usize) -> Option<(usize, Vec<u8>)> {
        let kept: Vec<_> = self.kept.iter().filter(|(_, of, _)| *of == to).collect();
        let (from, _, datagram) = kept.get(self.random.below(kept.len() as u64) as usize)?;
        Some((*from, datagram.clone()))
    }

    /// When a control message arrives; `None`: there is no connection.
    pub fn send_control(&mut self, now_ns: u64, from: usize, to: usize) -> Option<u64> {
        if self.broken[from * self.ranks + to] {
            return None;
        }
        let (shortest, longest) = self.control_ns;
        let slow = self.is_on(now_ns, |one| one.kind == FaultKind::SlowControl && (one.rank == from || one.rank == to));
        let longest = if slow { longest + 3 * self.hold_ns } else { longest };
        let after_ns = self.cut_until_ns(now_ns, from, to).unwrap_or(now_ns);
        let at_ns = after_ns + self.random.between(shortest, longest);
        let last_ns = &mut self.last_control_ns[from * self.ranks + to];
        *last_ns = at_ns.max(*last_ns + 1);
        Some(*last_ns)
    }

    /// The control connection of two ranks is broken, or whole again.
    pub fn set_broken(&mut self, one: usize, other: usize, is_broken: bool) {
        self.broken[one * self.ranks + other] = is_broken;
        self.broken[other * self.ranks + one] = is_broken;
    }

    pub fn is_broken(&self, one: usize, other: usize) -> bool {
        self.broken[one * self.ranks + other]
    }

    /// Whether a packet finds room in the receive buffer of a rank.
    pub fn has_room(&mut self, now_ns: u64, to: usize, bytes: usize) -> bool {
        if !self.is_on(now_ns, |one| one.kind == FaultKind::FullBuffer && one.rank == to) {
            return true;
        }
        let (slice, held) = &mut self.held[to];
        if *slice != now_ns / EMPTIED_NS {
            (*slice, *held) = (now_ns / EMPTIED_NS, 0);
        }
        *held += bytes;
        *held <= FULL_BYTES
    }

    /// How long a rank's card needs for an access to host memory.
    pub fn dma_ns(&self, now_ns: u64, rank: usize) -> u64 {
        let is_slow = self.is_on(now_ns, |one| one.kind == FaultKind::SlowDma && one.rank == rank);
        if is_slow { self.hold_ns / 8 } else { DMA_NS }
    }

    /// How much longer a program waits before its next call.
    pub fn slowed_ns(&self, now_ns: u64, rank: usize) -> u64 {
        let slow = |one: &&Active| one.kind == FaultKind::Slow && one.rank == rank && one.until_ns > now_ns;
        self.active.iter().filter(slow).map(|one| one.until_ns - now_ns).max().unwrap_or(0)
    }
}

impl Damage {
    /// Does it to a frame.
    pub fn apply(self, frame: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::CutTo(bytes) => frame.truncate(bytes),
            Self::Bit(bit) => {
                if let Some(byte) = frame.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
    }
}
