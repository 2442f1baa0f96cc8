//! The losses of a rank.

use std::collections::BTreeMap;

use optireduce_contract::limits::LANES;
use serde::Serialize;
use thiserror::Error;

use super::message::{BadRepairMessage, RANGES_MAX, RepairMessage};
use super::{BeatRange, WindowKey};

/// Repairs that one rank has requested.
///
/// Call order: [`miss`](Self::miss) for each owner of a window with an incomplete broadcast stage,
/// then [`receive`](Self::receive) with the owners' messages. A window without outstanding repairs
/// can be decoded again.
#[derive(Clone, Debug)]
pub struct RepairLedger {
    ops: u32,
    shards_max: usize,
    outstanding: BTreeMap<(WindowKey, usize), Vec<BeatRange>>,
    /// By bucket number on the wire.
    reports: BTreeMap<u16, RepairReport>,
}

/// Bytes of fp32 means since the start of the job: missing = repaired + outstanding + drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RepairReport {
    /// Bytes missing when the broadcast stage closed.
    pub missing_bytes: u64,
    /// Missing bytes fetched since.
    pub repaired_bytes: u64,
    /// Missing bytes still requested.
    pub outstanding_bytes: u64,
    /// Missing bytes given up, in which the replica differs permanently.
    pub drift_bytes: u64,
}

impl RepairReport {
    /// Sum of two reports.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            missing_bytes: self.missing_bytes + other.missing_bytes,
            repaired_bytes: self.repaired_bytes + other.repaired_bytes,
            outstanding_bytes: self.outstanding_bytes + other.outstanding_bytes,
            drift_bytes: self.drift_bytes + other.drift_bytes,
        }
    }
}

/// Result of [`RepairLedger::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The repaired window.
    pub key: WindowKey,
    /// Beats to copy into the window, as zeros after [`RepairMessage::Nobody`]; `None` if the owner
    /// does not have them.
    pub beats: Option<BeatRange>,
    /// Whether the window has no outstanding repairs.
    pub window_done: bool,
}

/// An unexpected message of an owner. It was ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnexpectedAnswer {
    /// The beats were never requested from this rank, or were given up.
    #[error("repair of collective {} bucket {} window {}: rank {from} sent {count} beats from {first} on that are not \
             outstanding from it", key.op, key.bucket, key.window)]
    #[allow(missing_docs)] // fields explain themselves
    NotOutstanding {
        key: WindowKey,
        from: usize,
        first: u16,
        /// 0 for a refusal.
        count: u16,
    },
    /// The message breaks a limit.
    #[error(transparent)]
    Bad(#[from] BadRepairMessage),
    /// The message is a request, which only an owner's store answers.
    #[error("repair: rank {from} sent a request to the ledger, expected an answer; pass it to the shard store")]
    #[allow(missing_docs)] // fields explain themselves
    Request { from: usize },
}

impl RepairLedger {
    /// Creates a ledger for losses in the last `ops` collectives, with requests for at most
    /// `shards_max` shards at a time.
    pub fn new(ops: u32, shards_max: usize) -> Self {
        Self { ops, shards_max, outstanding: BTreeMap::new(), reports: BTreeMap::new() }
    }

    /// Records the beats of `owner`'s shard that a window missed. Returns the requests to send.
    /// Call once per window and owner. Beats that cannot be requested become drift.
    pub fn miss(&mut self, key: WindowKey, owner: usize, ranges: &[BeatRange]) -> Vec<RepairMessage> {
        let bytes = bytes_of(ranges);
        let report = self.reports.entry(key.bucket).or_default();
        report.missing_bytes += bytes;
        let requests: Vec<_> =
            ranges.chunks(RANGES_MAX).map(|ranges| RepairMessage::Request { key, ranges: ranges.to_vec() }).collect();
        let in_order = ranges.windows(2).all(|two| two[0].beats().end < two[1].beats().start);
        let can_ask = in_order && requests.iter().all(|request| request.check().is_ok());
        let known = self.outstanding.contains_key(&(key, owner));
        if known || !can_ask || self.outstanding.len() >= self.shards_max || ranges.is_empty() {
            report.drift_bytes += bytes;
            return Vec::new();
        }
        report.outstanding_bytes += bytes;
        self.outstanding.insert((key, owner), ranges.to_vec());
        requests
    }

    /// Handles an owner's answer or refusal.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`]; the message is ignored.
    pub fn receive(&mut self, from: usize, message: &RepairMessage) -> Result<Received, UnexpectedAnswer> {
        message.check()?;
        let key = message.key();
        let (first, count) = match message {
            RepairMessage::Request { .. } => return Err(UnexpectedAnswer::Request { from }),
            RepairMessage::Answer { first, values, .. } => (*first, (values.len() / LANES) as u16),
            RepairMessage::Nobody { beats, .. } => (beats.first, beats.count),
            RepairMessage::Gone { .. } => (0, 0),
        };
        let unexpected = UnexpectedAnswer::NotOutstanding { key, from, first, count };
        let ranges = self.outstanding.get_mut(&(key, from)).ok_or(unexpected)?;
        let beats = if count == 0 {
            self.give_up(key, from);
            None
        } else {
            let beats = BeatRange { first, count };
            take(ranges, beats).ok_or(unexpected)?;
            if ranges.is_empty() {
                self.outstanding.remove(&(key, from));
            }
            let report = self.reports.entry(key.bucket).or_default();
            report.outstanding_bytes -= beats.bytes();
            match message {
                // The mean is zero on all ranks, so nothing is missing.
                RepairMessage::Nobody { .. } => report.missing_bytes -= beats.bytes(),
                _ => report.repaired_bytes += beats.bytes(),
            }
            Some(beats)
        };
        Ok(Received { key, beats, window_done: self.is_done(key) })
    }

    /// Gives up repairs that owners have discarded once collective `newest_op` has finished.
    /// Returns the windows without further outstanding repairs.
    pub fn expire(&mut self, newest_op: u32) -> Vec<WindowKey> {
        let ops = self.ops;
        self.give_up_all(|key, _| newest_op.saturating_sub(key.op) >= ops)
    }

    /// Likewise, from a dropped rank.
    pub fn owner_dropped(&mut self, owner: usize) -> Vec<WindowKey> {
        self.give_up_all(|_, of| of == owner)
    }

    /// Gives up the outstanding repairs of a collective. Returns their windows.
    pub fn give_up_op(&mut self, op: u32) -> Vec<WindowKey> {
        self.give_up_all(|key, _| key.op == op)
    }

    /// Removes the missing bytes of a collective whose update all ranks skip.
    pub fn cancel_op(&mut self, op: u32) {
        for ((key, _), ranges) in self.outstanding.extract_if(.., |(key, _), _| key.op == op) {
            let report = self.reports.entry(key.bucket).or_default();
            report.outstanding_bytes -= bytes_of(&ranges);
            report.missing_bytes -= bytes_of(&ranges);
        }
    }

    /// Records repaired bytes that can no longer correct an output as drift.
    pub fn lose(&mut self, bucket: u16, bytes: u64) {
        let report = self.reports.entry(bucket).or_default();
        report.missing_bytes += bytes;
        report.drift_bytes += bytes;
    }

    /// Returns whether a window has no outstanding repairs.
    pub fn is_done(&self, key: WindowKey) -> bool {
        self.outstanding.range((key, 0)..=(key, usize::MAX)).next().is_none()
    }

    /// Report of one bucket, by its number on the wire.
    pub fn report_of(&self, bucket: u16) -> RepairReport {
        self.reports.get(&bucket).copied().unwrap_or_default()
    }

    /// Sum of the reports of all buckets.
    pub fn report(&self) -> RepairReport {
        self.reports.values().fold(RepairReport::default(), |sum, one| RepairReport {
            missing_bytes: sum.missing_bytes + one.missing_bytes,
            repaired_bytes: sum.repaired_bytes + one.repaired_bytes,
            outstanding_bytes: sum.outstanding_bytes + one.outstanding_bytes,
            drift_bytes: sum.drift_bytes + one.drift_bytes,
        })
    }

    fn give_up_all(&mut self, gone: impl Fn(WindowKey, usize) -> bool) -> Vec<WindowKey> {
        let gone: Vec<_> = self.outstanding.keys().copied().filter(|(key, owner)| gone(*key, *owner)).collect();
        gone.iter().for_each(|(key, owner)| self.give_up(*key, *owner));
        let mut windows: Vec<_> = gone.into_iter().map(|(key, _)| key).filter(|key| self.is_done(*key)).collect();
        windows.dedup();
        windows
    }

    fn give_up(&mut self, key: WindowKey, owner: usize) {
        let bytes = self.outstanding.remove(&(key, owner)).map_or(0, |ranges| bytes_of(&ranges));
        let report = self.reports.entry(key.bucket).or_default();
        report.outstanding_bytes -= bytes;
        report.drift_bytes += bytes;
    }
}

fn take(ranges: &mut Vec<BeatRange>, beats: BeatRange) -> Option<()> {
    let (start, end) = (beats.beats().start, beats.beats().end);
    let at = ranges.iter().position(|range| range.beats().start <= start && end <= range.beats().end)?;
    let range = ranges[at].beats();
    let rest = [range.start..start, end..range.end].into_iter().filter(|rest| !rest.is_empty());
    let rest = rest.map(|rest| BeatRange { first: rest.start as u16, count: rest.len() as u16 });
    ranges.splice(at..=at, rest);
    Some(())
}

fn bytes_of(ranges: &[BeatRange]) -> u64 {
    ranges.iter().map(BeatRange::bytes).sum()
}
