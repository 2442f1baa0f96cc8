//! Memory for results: gradients that were contributed become the results of later calls of their bucket.
//!
//! Why: a caller hands in a buffer and gets one back, and on a skip it gets its gradient back unchanged; so a collective takes two
//! buffers, the gradient's and the result's. They swap roles from call to call, and nothing is copied or allocated.
//! Limits: all-reduces of declared buckets; as many buffers a bucket as it has had collectives running at once.

use std::collections::HashMap;

use super::types::Call;
use crate::protocol::Kind;
use crate::values::Values;

/// Buffers that are free, by bucket.
#[derive(Debug, Default)]
pub(super) struct Spares(HashMap<u16, Vec<Vec<f32>>>);

impl Spares {
    /// A buffer for the result of a call with `elements` on the wire. What it holds means nothing.
    pub fn take(&mut self, call: &Call, elements: usize) -> Vec<f32> {
        let spares = self.0.get_mut(&call.bucket).filter(|_| is_recycled(call));
        let spare = spares.and_then(Vec::pop).filter(|spare| spare.len() == elements);
        let Some(mut buffer) = spare else {
            // One that is kept has all of its pages from the beginning: it may be written first when peers wait for what is written.
            return if is_recycled(call) { vec![f32::NAN; elements] } else { vec![0.0; elements] };
        };
        if cfg!(debug_assertions) {
            buffer.fill(f32::NAN);
        }
        buffer
    }

    /// Takes back a buffer that a call does not need any more. Lent memory is given back.
    pub fn put(&mut self, call: &Call, buffer: Values) {
        if let Values::Own(buffer) = buffer
            && is_recycled(call)
        {
            self.0.entry(call.bucket).or_default().push(buffer);
        }
    }

    /// Gives the memory of a bucket back.
    pub fn forget(&mut self, bucket: u16) {
        self.0.remove(&bucket);
    }
}

/// Other calls get results of another length than what they give, or are not repeated.
fn is_recycled(call: &Call) -> bool {
    call.kind == Kind::AllReduce && !call.is_one_off()
}
