//! Waveform signals of the functional card: the state of its window slots.

use optireduce_contract::limits::SLOTS;
use optireduce_contract::rules::gate::Gate;

use super::FunctionalCard;
use crate::card::SignalDef;

const STAGES: [&str; 2] = ["contribute", "broadcast"];
const PER_STAGE: usize = 3;

/// Signals of each slot and stage: `state` (0 free, 1 armed, 2 clock runs, 3 complete, 4 early, 5
/// deadline), `received` beats of peers, and mask `heard` of ranks.
pub fn signals() -> Vec<SignalDef> {
    let of_stage = |slot: usize, stage: &'static str| {
        [("state", 3), ("received", 17), ("heard", 64)]
            .map(|(what, bits)| SignalDef { name: format!("slot{slot}.{stage}.{what}"), bits })
    };
    (0..SLOTS).flat_map(|slot| STAGES.into_iter().flat_map(move |stage| of_stage(slot, stage))).collect()
}

impl FunctionalCard {
    pub(super) fn record_changes(&mut self) {
        let Some(waves) = &mut self.waves else { return };
        for (slot, window) in self.slots.iter().enumerate() {
            for stage in 0..STAGES.len() {
                let gate = window.as_ref().map(|window| &window.gates[stage]);
                let values = [
                    gate.map_or(0, state),
                    gate.map_or(0, |gate| gate.received_beats() as u64),
                    gate.map_or(0, |gate| gate.heard().bits()),
                ];
                for (what, value) in values.into_iter().enumerate() {
                    waves.set(self.now_ns, (slot * STAGES.len() + stage) * PER_STAGE + what, value);
                }
            }
        }
    }
}

fn state(gate: &Gate<[u64; 1]>) -> u64 {
    match (gate.closed(), gate.clock_ns()) {
        (Some((_, by)), _) => 3 + by as u64,
        (None, Some(_)) => 2,
        (None, None) => 1,
    }
}
