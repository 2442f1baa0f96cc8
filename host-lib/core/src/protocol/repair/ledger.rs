//! What a rank missed, what it got back, and what it never will.

use std::collections::BTreeMap;

use optireduce_contract::limits::LANES;
use serde::Serialize;
use thiserror::Error;

use super::message::{BadRepairMessage, RANGES_MAX, RepairMessage};
use super::{BeatRange, WindowKey};

/// The repairs of one rank.
///
/// Call order: [`miss`](Self::miss) for each owner of a window whose broadcast stage was not complete; its requests go to
/// that owner; [`receive`](Self::receive) with what the owner says. A window with nothing outstanding any more is to be
/// decoded again and its difference folded into the next output of its bucket.
#[derive(Clone, Debug)]
pub struct RepairLedger {
    ops: u32,
    shards_max: usize,
    /// Beats outstanding from each owner.
    outstanding: BTreeMap<(WindowKey, usize), Vec<BeatRange>>,
    /// By bucket.
    reports: BTreeMap<u16, RepairReport>,
}

/// Bytes of means, as fp32, since the beginning of the job: missing = repaired + outstanding + drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RepairReport {
    /// Missing when the broadcast stage closed.
    pub missing_bytes: u64,
    /// Of them fetched since.
    pub repaired_bytes: u64,
    /// Of them still asked for.
    pub outstanding_bytes: u64,
    /// Of them given up: this replica differs there for good.
    pub drift_bytes: u64,
}

impl RepairReport {
    /// Those of two jobs together.
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

/// What a message of an owner changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The window.
    pub key: WindowKey,
    /// Beats to be put into the window, from the answer, zeros if nobody contributed; none if the owner does not have them.
    pub beats: Option<BeatRange>,
    /// Whether nothing of the window is outstanding any more.
    pub window_done: bool,
}

/// An owner's message that breaks a limit, or that nobody waits for: never asked for, or given up before it came. Nothing
/// of it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnexpectedAnswer {
    /// These beats are not outstanding from this rank.
    #[error("repair of collective {} bucket {} window {}: rank {from} sent {count} beats from {first} on that are not \
             outstanding from it", key.op, key.bucket, key.window)]
    NotOutstanding {
        /// The window.
        key: WindowKey,
        /// Sender.
        from: usize,
        /// First beat sent.
        first: u16,
        /// Beats sent; 0 for a refusal.
        count: u16,
    },
    /// The message breaks a limit.
    #[error(transparent)]
    Bad(#[from] BadRepairMessage),
    /// A request is for the store of an owner.
    #[error("repair: a request of rank {from} is none of the ledger's; give it to the shard store")]
    Request {
        /// Sender.
        from: usize,
    },
}

impl RepairLedger {
    /// A ledger that asks for what was missed in the last `ops` collectives, of at most `shards_max` shards at a time.
    /// `ops` should be that of the owners' stores.
    pub fn new(ops: u32, shards_max: usize) -> Self {
        Self { ops, shards_max, outstanding: BTreeMap::new(), reports: BTreeMap::new() }
    }

    /// Notes the beats of `owner`'s shard that a window missed, as of
    /// [`missing_ranges`](super::missing_ranges); returns the requests for `owner`. Once per window and owner. What the
    /// ledger has no room for is drift at once, and so is anything that cannot be asked for.
    pub fn miss(&mut self, key: WindowKey, owner: usize, ranges: &[BeatRange]) -> Vec<RepairMessage> {
        let bytes = bytes_of(ranges);
        let report = self.reports.entry(key.bucket).or_default();
        report.missing_bytes += bytes;
        let requests: Vec<_> =
            ranges.chunks(RANGES_MAX).map(|ranges| RepairMessage::Request { key, ranges: ranges.to_vec() }).collect();
        // The check of the whole is one of its parts' order, too.
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

    /// Takes an owner's answer or refusal.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`]; nothing of the message was used.
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
                // There is nothing that this rank lacks.
                RepairMessage::Nobody { .. } => report.missing_bytes -= beats.bytes(),
                _ => report.repaired_bytes += beats.bytes(),
            }
            Some(beats)
        };
        Ok(Received { key, beats, window_done: self.is_done(key) })
    }

    /// Gives up what is too old when collective `newest_op` is finished: owners do not have it any more. Returns the
    /// windows of which nothing is outstanding any more.
    pub fn expire(&mut self, newest_op: u32) -> Vec<WindowKey> {
        let ops = self.ops;
        self.give_up_all(|key, _| newest_op.saturating_sub(key.op) >= ops)
    }

    /// Gives up what is outstanding from a rank that was dropped. Returns the windows of which nothing is outstanding any
    /// more.
    pub fn owner_dropped(&mut self, owner: usize) -> Vec<WindowKey> {
        self.give_up_all(|_, of| of == owner)
    }

    /// Gives up what is outstanding of one collective. Returns the windows that had something outstanding.
    pub fn give_up_op(&mut self, op: u32) -> Vec<WindowKey> {
        self.give_up_all(|key, _| key.op == op)
    }

    /// All ranks have dropped the update of a collective: nothing of it is missing any more.
    pub fn cancel_op(&mut self, op: u32) {
        for ((key, _), ranges) in self.outstanding.extract_if(.., |(key, _), _| key.op == op) {
            let report = self.reports.entry(key.bucket).or_default();
            report.outstanding_bytes -= bytes_of(&ranges);
            report.missing_bytes -= bytes_of(&ranges);
        }
    }

    /// Beats that can no longer be corrected although they came: this replica differs there for good.
    pub fn lose(&mut self, bucket: u16, bytes: u64) {
        let report = self.reports.entry(bucket).or_default();
        report.missing_bytes += bytes;
        report.drift_bytes += bytes;
    }

    /// Whether nothing of the window is outstanding.
    pub fn is_done(&self, key: WindowKey) -> bool {
        self.outstanding.range((key, 0)..=(key, usize::MAX)).next().is_none()
    }

    /// The sums of one bucket so far. `bucket`: its number on the wire.
    pub fn report_of(&self, bucket: u16) -> RepairReport {
        self.reports.get(&bucket).copied().unwrap_or_default()
    }

    /// The sums of all buckets so far.
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

/// Takes `beats` out of `ranges`, which must have them all in one range.
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
