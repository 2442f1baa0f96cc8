//! Last step of all-reduces on two levels, and their end.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce_core::Values;
use optireduce_core::levels::{self, Deferred, ShardState, Shards};
use optireduce_core::protocol::StreamId;
use optireduce_core::protocol::repair::RepairReport;

use super::super::abandoned::Abandoned;
use super::super::request::Outcome;
use super::super::{Report, Settled};
use super::Core;

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(super) struct Plan {
    pub core: Arc<Core>,
    pub shards: Shards,
    /// `None` without repairs.
    pub deferred: Option<Arc<Mutex<Deferred>>>,
    /// Updates of this bucket whose requests were dropped; also in the drift of all buckets.
    pub abandoned: Abandoned,
    /// Stream of the last step.
    pub stream: Option<StreamId>,
}

impl Plan {
    /// This rank's part of the all-gather. `average`: `None` for an empty shard.
    pub fn pack(&self, averaged: Option<(&[f32], &Report)>) -> Vec<f32> {
        let Some((shard, report)) = averaged else { return self.shards.pack(&[], ShardState::Whole) };
        self.shards.pack(shard, ShardState::of(report.action, &report.missing))
    }

    /// Returns the update, and defers it if it is skipped. `reports`: of the previous steps.
    /// `place`: memory for the update.
    pub fn finish(&self, gathered: &[f32], mut reports: Vec<Report>, last: Report, place: Option<Values>) -> Outcome {
        let missing = self.shards.missing(gathered, &last.missing);
        let gone = (0..self.core.numbers.inside.len()).filter(|member| !last.ranks.contains(member));
        let gone: usize = gone.map(|member| self.shards.shard_of(member).len()).sum();
        reports.push(last);
        let elements = self.shards.elements();
        let mut report = Report::of_levels(&self.core.numbers, reports, elements, missing);
        let mut result = place.unwrap_or_else(|| vec![0.0; elements].into());
        self.shards.unpack(gathered, &mut result);
        let mut drift_bytes = 0;
        if let Some(deferred) = &self.deferred {
            let mut deferred = lock(deferred);
            // Other groups have the shards of ranks that are gone.
            drift_bytes += deferred.lose(gone);
            if report.is_applied {
                report.is_corrected |= deferred.fold(&mut result);
            } else {
                drift_bytes += deferred.defer(&result);
            }
        }
        report.drift_bytes += self.core.drift_bytes.fetch_add(drift_bytes, Ordering::Relaxed) + drift_bytes;
        Outcome { report, result, scale: None, update: None }
    }

    /// Counts an update as drift because its request was dropped.
    pub fn abandon(&self) {
        let elements = self.shards.elements();
        self.core.drift_bytes.fetch_add((elements * size_of::<f32>()) as u64, Ordering::Relaxed);
        self.abandoned.add(self.stream, elements);
    }

    /// Outcome of the whole. `averages`: by member, see [`pack_settled`].
    ///
    /// # Errors
    /// A member whose bytes are malformed.
    pub fn settled(&self, averages: &[Vec<u8>], gathered: Settled) -> Result<Settled, usize> {
        let unpacked = averages.iter().enumerate().map(|(member, packed)| unpack_settled(packed).ok_or(member));
        let averages: Vec<_> = unpacked.collect::<Result<_, _>>()?;
        let Settled { correction: gathered, missing, is_settled, repairs, .. } = gathered;
        let (range, mut missing) = (0..self.shards.elements(), self.shards.unpacked(&missing));
        let mut whole = Settled { correction: None, range, missing: Vec::new(), is_settled, repairs };
        for (member, average) in averages.iter().enumerate() {
            let shard = self.shards.shard_of(member);
            let within = |at: usize| shard.start + at.min(shard.len());
            missing.extend(average.missing.iter().map(|range| within(range.start)..within(range.end)));
            whole.is_settled &= average.is_settled;
            whole.repairs = whole.repairs.and(average.repairs);
        }
        whole.missing = levels::union(missing);
        let mut deferred = None;
        if let Some(mut of_rank) = self.deferred.as_ref().map(|deferred| lock(deferred)) {
            deferred = of_rank.take();
            whole.repairs.missing_bytes += of_rank.drift_bytes();
            whole.repairs.drift_bytes += of_rank.drift_bytes();
        }
        whole.repairs = self.abandoned.add_to(whole.repairs);
        let averaged: Vec<_> = averages.into_iter().map(|average| average.correction).collect();
        whole.correction = levels::settled(&self.shards, &averaged, gathered.as_deref(), deferred);
        Ok(whole)
    }
}

const NUMBERS: usize = 6;

/// Bytes of an outcome for the ranks of the group.
pub(super) fn pack_settled(settled: &Settled) -> Vec<u8> {
    let RepairReport { missing_bytes, repaired_bytes, outstanding_bytes, drift_bytes, .. } = settled.repairs;
    let (is_settled, ranges) = (settled.is_settled.into(), settled.missing.len() as u64);
    let numbers: [u64; NUMBERS] = [is_settled, missing_bytes, repaired_bytes, outstanding_bytes, drift_bytes, ranges];
    let missing = settled.missing.iter().flat_map(|range| [range.start as u64, range.end as u64]);
    let values = settled.correction.iter().flatten().flat_map(|value| value.to_le_bytes());
    numbers.into_iter().chain(missing).flat_map(u64::to_le_bytes).chain(values).collect()
}

/// `None` if the bytes are malformed.
fn unpack_settled(packed: &[u8]) -> Option<Settled> {
    let numbers_of = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let (numbers, rest) = packed.split_at_checked(NUMBERS * size_of::<u64>())?;
    let numbers: Vec<u64> = numbers_of(numbers);
    let [is_settled, missing, repaired, outstanding, drift, ranges] = <[u64; NUMBERS]>::try_from(numbers).ok()?;
    let bytes_of_ranges = usize::try_from(ranges).ok()?.checked_mul(2 * size_of::<u64>())?;
    let (ranges, values) = rest.split_at_checked(bytes_of_ranges)?;
    let ranges: Vec<u64> = numbers_of(ranges);
    let (values, rest) = values.as_chunks();
    let correction: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    let mut settled = Settled { is_settled: is_settled == 1, ..Settled::default() };
    settled.missing = ranges.as_chunks().0.iter().map(|[start, end]| *start as usize..*end as usize).collect();
    settled.correction = (!correction.is_empty()).then_some(correction);
    let repairs = &mut settled.repairs;
    (repairs.missing_bytes, repairs.repaired_bytes) = (missing, repaired);
    (repairs.outstanding_bytes, repairs.drift_bytes) = (outstanding, drift);
    rest.is_empty().then_some(settled)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use optireduce_core::protocol::Kind;

    use super::super::LevelsBucket;
    use super::super::pipeline::Steps;
    use super::*;
    use crate::binding::lend;
    use crate::root::free_root;
    use crate::{BucketOptions, Communicator, Early, Groups, Settings};

    #[test]
    fn a_halt_of_a_step_is_an_error_with_zeros_and_the_next_result_has_the_update() {
        let root = free_root();
        let run = |rank| {
            let place = Settings::new().rank(rank).world_size(4).root(root.clone()).groups(Groups::Number(2));
            let settings = place.timeout(Duration::from_secs(20)).early(Early::Off).bound(Duration::from_secs(3));
            let mut communicator = Communicator::connect(settings).wait().unwrap();
            let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
            let LevelsBucket { scatter, steps: Steps { average, gather, plan } } = bucket.levels().unwrap();
            let (shard, scattered) = scatter.step(Kind::ReduceScatter, Values::from(vec![1.0; 1000])).wait().unwrap();
            let average = average.as_ref().unwrap();
            let (shard, averaged) = lock(average).step(Kind::AllReduce, shard).wait().unwrap();
            let given = plan.pack(Some((&shard, &averaged)));
            let (gathered, last) = lock(gather).step(Kind::AllGather, Values::from(given)).wait().unwrap();
            let (lent, back) = lend(vec![5.0; 1000]);
            let error =
                plan.finish(&gathered, vec![scattered.halting(), averaged], last, Some(lent)).whole().unwrap_err();
            let report = error.report().unwrap();
            assert!(!report.is_applied && back.take().unwrap() == [0.0; 1000], "rank {rank}: {report}");
            let mut next = vec![1.0; 1000];
            let report = bucket.all_reduce(&mut next).unwrap();
            assert!(report.is_applied && report.is_corrected && next == [2.0; 1000], "rank {rank}: {report}");
            communicator.close().wait().unwrap();
        };
        std::thread::scope(|ranks| (0..4).for_each(|rank| drop(ranks.spawn(move || run(rank)))));
    }

    #[test]
    fn an_outcome_survives_its_bytes_and_cut_ones_are_refused() {
        let mut settled = Settled { is_settled: true, correction: Some(vec![1.5, -2.0]), ..Settled::default() };
        (settled.repairs.drift_bytes, settled.repairs.outstanding_bytes) = (7, 9);
        settled.missing = vec![1..3, 5..6];
        let packed = pack_settled(&settled);
        assert_eq!(unpack_settled(&packed), Some(settled));
        assert_eq!(unpack_settled(&pack_settled(&Settled::default())), Some(Settled::default()));
        assert_eq!([packed.len() - 1, 79, 47, 0].map(|length| unpack_settled(&packed[..length])), [const { None }; 4]);
    }
}
