//! The network between the ranks: lossy packets, and reliable control messages in order per pair.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{HEADER_BYTES, UBT_BYTES};

use super::fault::FaultKind;
use super::plan::JobPlan;
use crate::card::functional::DMA_NS;
use crate::random::Random;

/// Largest payload for the smaller MTU, in beats.
const NARROW_BEATS: usize = 4;
/// Capacity of an almost full receive buffer, and the interval at which it drains.
const FULL_BYTES: usize = 2048;
const EMPTIED_NS: u64 = 100_000;
const KEPT_MAX: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub kind: FaultKind,
    pub rank: usize,
    /// Second rank of a partition or a broken connection.
    pub neighbour: usize,
    pub until_ns: u64,
}

pub(super) struct Copy {
    pub at_ns: u64,
    pub damage: Damage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    None,
    /// Truncated to this number of bytes.
    CutTo(usize),
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
    /// Arrival of the last control message of each pair.
    last_control_ns: Vec<u64>,
    broken: Vec<bool>,
    /// Packets for replay: from, to, bytes.
    kept: Vec<(usize, usize, Vec<u8>)>,
    seen: u64,
    /// Interval and bytes received in it, by rank.
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

    pub fn end(&mut self, now_ns: u64) {
        self.active.retain(|one| one.until_ns > now_ns);
    }

    fn is_on(&self, now_ns: u64, is_it: impl Fn(&Active) -> bool) -> bool {
        self.active.iter().any(|one| one.until_ns > now_ns && is_it(one))
    }

    fn cut_until_ns(&self, now_ns: u64, from: usize, to: usize) -> Option<u64> {
        let inside = |one: &Active, rank: usize| rank == one.rank || self.ranks > 4 && rank == one.neighbour;
        let cuts = |one: &&Active| one.kind == FaultKind::Partition && inside(one, from) != inside(one, to);
        self.active.iter().filter(|one| one.until_ns > now_ns).filter(cuts).map(|one| one.until_ns).max()
    }

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
        // A third of the time, in intervals of some packets.
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

    fn damage(&mut self, bytes: usize) -> Damage {
        if self.random.chance(0.2) {
            Damage::CutTo(self.random.below(bytes as u64) as usize)
        } else {
            Damage::Bit(self.random.below(8 * bytes as u64) as usize)
        }
    }

    pub fn replay(&mut self, to: usize) -> Option<(usize, Vec<u8>)> {
        let kept: Vec<_> = self.kept.iter().filter(|(_, of, _)| *of == to).collect();
        let (from, _, datagram) = kept.get(self.random.below(kept.len() as u64) as usize)?;
        Some((*from, datagram.clone()))
    }

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

    pub fn set_broken(&mut self, one: usize, other: usize, is_broken: bool) {
        self.broken[one * self.ranks + other] = is_broken;
        self.broken[other * self.ranks + one] = is_broken;
    }

    pub fn is_broken(&self, one: usize, other: usize) -> bool {
        self.broken[one * self.ranks + other]
    }

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

    pub fn dma_ns(&self, now_ns: u64, rank: usize) -> u64 {
        let is_slow = self.is_on(now_ns, |one| one.kind == FaultKind::SlowDma && one.rank == rank);
        if is_slow { self.hold_ns / 8 } else { DMA_NS }
    }

    pub fn slowed_ns(&self, now_ns: u64, rank: usize) -> u64 {
        let slow = |one: &&Active| one.kind == FaultKind::Slow && one.rank == rank && one.until_ns > now_ns;
        self.active.iter().filter(slow).map(|one| one.until_ns - now_ns).max().unwrap_or(0)
    }
}

impl Damage {
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
