//! Means that a rank owns, kept for ranks that missed parts of them.

use std::collections::BTreeMap;
use std::ops::Range;

use optireduce_contract::limits::LANES;

use super::message::ANSWER_BEATS_MAX;
use super::{BeatRange, RepairMessage, WindowKey};

/// Mean shards of the last collectives, limited in bytes.
#[derive(Clone, Debug)]
pub struct ShardStore {
    ops: u32,
    bytes_max: usize,
    bytes: usize,
    newest_op: u32,
    shards: BTreeMap<WindowKey, Shard>,
    /// Memory of a discarded shard, for reuse.
    spare: Vec<f32>,
}

#[derive(Clone, Debug)]
struct Shard {
    first: u16,
    values: Vec<f32>,
    /// Beats of the window without any contribution, in order.
    nobody: Vec<BeatRange>,
}

impl ShardStore {
    /// Creates a store for the last `ops` collectives and at most `bytes_max` bytes of values. If
    /// it is too small, late requests are refused and replicas diverge.
    pub fn new(ops: u32, bytes_max: usize) -> Self {
        Self { ops, bytes_max, bytes: 0, newest_op: 0, shards: BTreeMap::new(), spare: Vec::new() }
    }

    /// Keeps a shard as sent, from beat `first` of the window on, in place of older ones. Returns
    /// `false` if the shard is not whole beats of a window, larger than the store, or too old.
    /// `nobody`: beats of the window without any contribution, in order.
    pub fn keep(&mut self, key: WindowKey, first: u16, values: &[f32], nobody: Vec<BeatRange>) -> bool {
        let bytes = size_of_val(values);
        let beats_end = usize::from(first) + values.len() / LANES;
        if !values.len().is_multiple_of(LANES) || beats_end > u16::MAX.into() || bytes > self.bytes_max {
            return false;
        }
        self.newest_op = self.newest_op.max(key.op);
        if let Some(old) = self.shards.remove(&key) {
            self.free(old);
        }
        if self.newest_op - key.op >= self.ops {
            return false;
        }
        // Discard before copying, so that the discarded memory is reused.
        while let Some(oldest) = self.shards.first_entry() {
            if self.bytes + bytes <= self.bytes_max && self.newest_op - oldest.key().op < self.ops {
                break;
            }
            if *oldest.key() > key {
                return false;
            }
            let oldest = oldest.remove();
            self.free(oldest);
        }
        let mut kept = std::mem::take(&mut self.spare);
        kept.clear();
        kept.extend_from_slice(values);
        self.bytes += bytes;
        self.shards.insert(key, Shard { first, values: kept, nobody });
        true
    }

    fn free(&mut self, shard: Shard) {
        self.bytes -= size_of_val(shard.values.as_slice());
        if shard.values.capacity() > self.spare.capacity() {
            self.spare = shard.values;
        }
    }

    /// Answers a request, with a single [`RepairMessage::Gone`] if any beat is not kept.
    pub fn answer(&self, request: &RepairMessage) -> Vec<RepairMessage> {
        let RepairMessage::Request { key, ranges } = request else { return Vec::new() };
        let answers = request.check().ok().and_then(|()| {
            let shard = self.shards.get(key)?;
            ranges.iter().map(|range| shard.answers(*key, range)).collect::<Option<Vec<_>>>()
        });
        answers.map_or_else(|| vec![RepairMessage::Gone { key: *key }], |answers| answers.concat())
    }

    /// Discards the shards of a collective.
    pub fn forget_op(&mut self, op: u32) {
        for (_, shard) in self.shards.extract_if(.., |key, _| key.op == op) {
            self.bytes -= size_of_val(shard.values.as_slice());
        }
    }

    /// Returns whether a shard of this window is kept.
    pub fn contains(&self, key: WindowKey) -> bool {
        self.shards.contains_key(&key)
    }

    /// Raises the limit to `bytes_max`.
    pub fn grow(&mut self, bytes_max: usize) {
        self.bytes_max = self.bytes_max.max(bytes_max);
    }

    /// Number of bytes of values kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Shard {
    fn answers(&self, key: WindowKey, range: &BeatRange) -> Option<Vec<RepairMessage>> {
        let values = |beats: Range<usize>| {
            let start = beats.start.checked_sub(self.first.into())? * LANES;
            self.values.get(start..start + beats.len() * LANES)
        };
        values(range.beats())?;
        let (mut answers, mut at) = (Vec::new(), range.beats().start);
        let end = range.beats().end;
        while at < end {
            let nobody = self.nobody.iter().map(BeatRange::beats).find(|nobody| nobody.end > at);
            let hole = nobody.map_or(end..end, |nobody| nobody.start.clamp(at, end)..nobody.end.min(end));
            for start in (at..hole.start).step_by(ANSWER_BEATS_MAX) {
                let values = values(start..hole.start.min(start + ANSWER_BEATS_MAX))?.to_vec();
                answers.push(RepairMessage::Answer { key, first: start as u16, values });
            }
            if hole.start < hole.end {
                let beats = BeatRange { first: hole.start as u16, count: hole.len() as u16 };
                answers.push(RepairMessage::Nobody { key, beats });
            }
            at = hole.end;
        }
        Some(answers)
    }
}
