//! Closing of stages on silence, beyond the early rule of the
//! [gate](optireduce_contract::rules::gate).
//!
//! On lossy paths, the last few packets of a shard carry marks. A sender that loses the CPU or
//! waits for credit between two of them is silent for longer than the grace time. Its unsent data
//! would then be lost, although the network lost nothing.
//!
//! - After a peer's last packet, only reordered packets can follow, and the grace time is enough.
//! - A peer whose last packet is missing must also be silent in all windows, for
//!   [`silence_ns_min`](super::SoftwareJob::silence_ns_min) or, if longer, an eighth of the bound.
//!   That part is at most 50 ms, since the bound is very long while it is measured.
//! - A peer that is gone needs only `silence_ns_min` and no mark.
//! - A peer that sends through memory loses nothing, so only the bound closes the stage.
//!
//! Limits: never later than the bound.

use optireduce_contract::rules::gate::{Gate, Rules};

use super::window::Window;
use crate::protocol::{ClosedBy, Ranks, Stage};

const BOUND_PARTS: u64 = 8;
const PART_NS_MAX: u64 = 50_000_000;

/// By rank: time of the last packet, over all windows.
#[derive(Debug)]
pub(super) struct Silence {
    last_ns: Vec<u64>,
    lossless: Vec<bool>,
    gone: Ranks,
    min_ns: u64,
}

impl Silence {
    pub fn new(ranks: usize, min_ns: u64) -> Self {
        Self { last_ns: vec![0; ranks], lossless: vec![false; ranks], gone: Ranks::none(ranks), min_ns }
    }

    pub fn hear(&mut self, peer: usize, now_ns: u64) {
        self.last_ns[peer] = now_ns;
    }

    pub fn set_lossless(&mut self, peer: usize, is_lossless: bool) {
        self.lossless[peer] = is_lossless;
    }

    pub fn set_gone(&mut self, peer: usize, is_gone: bool) {
        if is_gone {
            self.gone.insert(peer);
        } else {
            self.gone.remove(peer);
        }
    }

    pub fn gone(&self) -> &Ranks {
        &self.gone
    }

    /// Time and reason of a stage's close if nothing more arrives.
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
