//! Recorder of signal changes for waveforms.

use crate::card::SignalChange;

/// Recorder of signal changes.
#[derive(Default)]
pub struct Waves {
    values: Vec<Option<u64>>,
    changes: Vec<SignalChange>,
}

impl Waves {
    /// Returns the changes since the last call.
    pub fn take(&mut self) -> Vec<SignalChange> {
        std::mem::take(&mut self.changes)
    }

    /// Records a value if it differs from the last one.
    pub fn set(&mut self, at_ns: u64, signal: usize, value: u64) {
        if self.values.len() <= signal {
            self.values.resize(signal + 1, None);
        }
        if self.values[signal].replace(value) != Some(value) {
            self.changes.push(SignalChange { at_ns, signal: signal as u32, value });
        }
    }
}
