//! When silence ends a stage: what the software plane adds to the early rule of the [gate](optireduce_contract::rules::gate).
//!
//! Why: where packets are lost, marks are on the last few packets of a shard, not on the last alone. A sender that loses the CPU or
//! waits for credit between two of them is silent for longer than the grace time, and what it had not sent yet would be lost
//! although no network lost it.
//! How: of a peer whose last packet has come, nothing more is on its way but what was reordered, and the grace time is enough. One
//! whose last packet has not come must be silent besides, in all windows, for an eighth of the bound,
//! [`silence_ns_min`](super::SoftwareJob::silence_ns_min) at least, and 50 ms at most: while the bound is measured, it is as long as it
//! may be.
//! A peer whose process has ended sends nothing more: no mark of it is waited for, and it need not be silent for longer than that minimum.
//! A peer that sends through memory loses nothing on the way: what is missing of it is late, so nothing but the bound ends its stage.
//! Limits: never later than the bound. A card knows marks only.

use optireduce_contract::rules::gate::{Gate, Rules};

use super::window::Window;
use crate::protocol::{ClosedBy, Ranks, Stage};

/// A peer whose last packet is missing may be silent for this part of the bound.
const BOUND_PARTS: u64 = 8;
/// That part of a bound is at most so long.
const PART_NS_MAX: u64 = 50_000_000;

/// When each rank of the job was heard last, in whatever window.
#[derive(Debug)]
pub(super) struct Silence {
    last_ns: Vec<u64>,
    /// Whether all that a rank sends comes.
    lossless: Vec<bool>,
    /// Whose processes have ended.
    gone: Ranks,
    min_ns: u64,
}

impl Silence {
    pub fn new(ranks: usize, min_ns: u64) -> Self {
        Self { last_ns: vec![0; ranks], lossless: vec![false; ranks], gone: Ranks::none(ranks), min_ns }
    }

    /// Something came from a rank.
    pub fn hear(&mut self, peer: usize, now_ns: u64) {
        self.last_ns[peer] = now_ns;
    }

    /// Whether all that a rank sends comes, sooner or later.
    pub fn set_lossless(&mut self, peer: usize, is_lossless: bool) {
        self.lossless[peer] = is_lossless;
    }

    /// The process of a rank has ended, or there is a new one.
    pub fn set_gone(&mut self, peer: usize, is_gone: bool) {
        if is_gone {
            self.gone.insert(peer);
        } else {
            self.gone.remove(peer);
        }
    }

    /// The peers whose processes have ended.
    pub fn gone(&self) -> &Ranks {
        &self.gone
    }

    /// When a stage of a window closes if nothing more arrives, and why.
    pub fn due(&self, window: &Window, stage: Stage, now_ns: u64) -> Option<(u64, ClosedBy)> {
        let gate = &window.gates[stage.index()];
        let rules = Rules { bound_ns: window.bound_ns(stage), ..window.rules };
        let (at_ns, by) = gate.due(now_ns, &rules)?;
        if by != ClosedBy::Early || self.min_ns == 0 {
            return Some((at_ns, by));
        }
        let ended = &window.ended[stage.index()];
        let peers =
            gate.senders().iter().filter(|sender| !ended.contains(*sender)).map(|sender| window.view.peers[sender]);
        let Some(end_ns) = self.silent_ns(peers, window.rules.bound_ns) else { return Some((at_ns, by)) };
        let deadline_ns = deadline_ns(gate, rules.bound_ns);
        Some(if end_ns > deadline_ns { (deadline_ns, ClosedBy::Deadline) } else { (at_ns.max(end_ns), by) })
    }

    /// When the last of these peers has been silent for long enough; `None` if there are none.
    fn silent_ns(&self, peers: impl Iterator<Item = usize>, bound_ns: u64) -> Option<u64> {
        let part_ns = self.min_ns.max((bound_ns / BOUND_PARTS).min(PART_NS_MAX));
        let silent_ns = |peer: usize| match (self.gone.contains(peer), self.lossless[peer]) {
            (true, _) => self.last_ns[peer].saturating_add(self.min_ns),
            (_, true) => u64::MAX,
            _ => self.last_ns[peer].saturating_add(part_ns),
        };
        peers.map(silent_ns).max()
    }
}

fn deadline_ns(gate: &Gate<Vec<u64>>, bound_ns: u64) -> u64 {
    gate.clock_ns().map_or(u64::MAX, |clock_ns| clock_ns.saturating_add(bound_ns))
}
