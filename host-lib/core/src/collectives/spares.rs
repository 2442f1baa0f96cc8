//! Result buffers: a contributed gradient becomes the result of a later call of its bucket.
//!
//! A caller passes in one buffer and receives one back, which is its own gradient if the update is
//! skipped. A collective therefore needs two buffers, which swap roles from call to call without
//! copies or allocations. Halves (reduce-scatters and all-gathers) are packed into two more, shared
//! by buckets of equal length.
//!
//! Limits: declared buckets only. Per bucket, as many buffers as all-reduces ran concurrently;
//! [`OF_HALVES_MAX`] for halves, whose callers want to save memory.

use std::collections::{HashMap, VecDeque};

use super::types::Call;
use crate::protocol::Kind;
use crate::values::Values;

/// Enough for two halves that run concurrently.
const OF_HALVES_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Spares {
    of_bucket: HashMap<u16, Vec<Vec<f32>>>,
    of_halves: VecDeque<Vec<f32>>,
}

impl Spares {
    /// Returns a buffer for a call with `elements` on the wire. Its content is unspecified.
    pub fn take(&mut self, call: &Call, elements: usize) -> Vec<f32> {
        let spare = match kept_by(call) {
            None => None,
            Some(Keeper::Bucket(bucket)) => {
                let spares = self.of_bucket.get_mut(&bucket);
                spares.and_then(Vec::pop).filter(|spare| spare.len() == elements)
            }
            Some(Keeper::Halves) => {
                let newest = self.of_halves.iter().rposition(|spare| spare.len() == elements);
                newest.and_then(|at| self.of_halves.remove(at))
            }
        };
        let Some(mut buffer) = spare else {
            // Filling touches all pages now, not while peers wait for the first writes.
            return vec![if kept_by(call).is_some() { f32::NAN } else { 0.0 }; elements];
        };
        if cfg!(debug_assertions) {
            buffer.fill(f32::NAN);
        }
        buffer
    }

    pub fn put(&mut self, call: &Call, buffer: Values) {
        let Values::Own(buffer) = buffer else { return };
        match kept_by(call) {
            None => {}
            Some(Keeper::Bucket(bucket)) => self.of_bucket.entry(bucket).or_default().push(buffer),
            Some(Keeper::Halves) => {
                self.of_halves.push_back(buffer);
                if self.of_halves.len() > OF_HALVES_MAX {
                    self.of_halves.pop_front();
                }
            }
        }
    }

    pub fn forget(&mut self, bucket: u16) {
        self.of_bucket.remove(&bucket);
    }
}

enum Keeper {
    Bucket(u16),
    Halves,
}

fn kept_by(call: &Call) -> Option<Keeper> {
    let keeper = if call.kind == Kind::AllReduce { Keeper::Bucket(call.bucket) } else { Keeper::Halves };
    (!call.is_one_off()).then_some(keeper)
}
