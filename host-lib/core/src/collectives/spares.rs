//! Memory for results: gradients that were contributed become the results of later calls of their bucket.
//!
//! Why: a caller hands in a buffer and gets one back, and on a skip it gets its gradient back unchanged; so a collective takes two
//! buffers, the gradient's and the result's. They swap roles from call to call, and nothing is copied or allocated. Halves of an
//! all-reduce are packed for the windows, and take two buffers for that, which buckets of a length share.
//! Limits: calls of declared buckets; as many buffers a bucket as it has had all-reduces running at once; [`OF_HALVES_MAX`] of halves, since
//! who calls these wants to keep only parts.

use std::collections::{HashMap, VecDeque};

use super::types::Call;
use crate::protocol::Kind;
use crate::values::Values;

/// Buffers of halves that are kept: those of two that run at once.
const OF_HALVES_MAX: usize = 4;

/// Buffers that are free.
#[derive(Debug, Default)]
pub(super) struct Spares {
    of_bucket: HashMap<u16, Vec<Vec<f32>>>,
    /// Of all buckets, the newest last.
    of_halves: VecDeque<Vec<f32>>,
}

impl Spares {
    /// A buffer for a call with `elements` on the wire. What it holds means nothing.
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
            // One that is kept has all of its pages from the beginning: it may be written first when peers wait for what is written.
            return vec![if kept_by(call).is_some() { f32::NAN } else { 0.0 }; elements];
        };
        if cfg!(debug_assertions) {
            buffer.fill(f32::NAN);
        }
        buffer
    }

    /// Takes back a buffer that a call does not need any more. Lent memory is given back.
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

    /// Gives the memory of a bucket back.
    pub fn forget(&mut self, bucket: u16) {
        self.of_bucket.remove(&bucket);
    }
}

/// Who keeps the buffers of a call.
enum Keeper {
    Bucket(u16),
    Halves,
}

/// `None`: nobody, it is not repeated.
fn kept_by(call: &Call) -> Option<Keeper> {
    let keeper = if call.kind == Kind::AllReduce { Keeper::Bucket(call.bucket) } else { Keeper::Halves };
    (!call.is_one_off()).then_some(keeper)
}
