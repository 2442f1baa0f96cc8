//! Calls over TCP of a two-level job, in this rank's group and among its equals, so that no rank
//! talks to all others.
//!
//! Limits: they fail once a rank is gone, since no other rank connects its group and its equals.

use super::super::request::block_on;
use super::super::settle::add_bytes;
use super::super::{Cause, Error, Request};
use super::TwoLevel;
use super::plan::lock;
use crate::control::ControlError;

/// Header of a rank's bytes: job rank and length.
const RANK_BYTES: usize = size_of::<u32>();
const LENGTH_BYTES: usize = size_of::<u64>();

impl TwoLevel {
    /// Number of this rank in the job, from 0.
    pub fn rank(&self) -> usize {
        self.numbers.inside[self.inside.rank()]
    }

    /// Number of ranks in the job.
    pub fn world_size(&self) -> usize {
        self.numbers.world_size
    }

    /// Number of groups, all of equal size.
    pub fn groups(&self) -> usize {
        self.numbers.across.len()
    }

    /// Waits until all ranks have called it. Collective, over TCP.
    ///
    /// # Errors
    /// An error of [`Communicator::barrier`](super::Communicator::barrier).
    pub fn barrier(&mut self) -> Result<(), Error> {
        block_on(self.barrier_async())
    }

    /// Async form of [`barrier`](Self::barrier).
    pub async fn barrier_async(&mut self) -> Result<(), Error> {
        self.inside.barrier().await.map_err(in_group(&self.numbers.inside))?;
        self.across.barrier().await.map_err(in_group(&self.numbers.across))
    }

    /// Gathers the bytes of every rank, of any lengths, and returns them by job rank. Exact, over
    /// TCP. Collective.
    ///
    /// # Errors
    /// See [`Exact::all_gather`](crate::Exact::all_gather). The text names the group.
    pub fn all_gather_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        block_on(self.all_gather_bytes_async(bytes))
    }

    /// Async form of [`all_gather_bytes`](Self::all_gather_bytes).
    pub async fn all_gather_bytes_async(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let group = self.inside.exact().all_gather(bytes.to_vec()).await.map_err(in_group(&self.numbers.inside))?;
        let group = pack(&self.numbers.inside, &group);
        let groups = self.across.exact().all_gather(group).await.map_err(in_group(&self.numbers.across))?;
        let mut all = vec![Vec::new(); self.world_size()];
        for (group, from) in groups.iter().flatten().zip(&self.numbers.across) {
            unpack(group, &mut all).ok_or(ControlError::WrongMessage { rank: *from })?;
        }
        Ok(all)
    }

    /// Copies the values of job rank `root` to all ranks. Exact, over TCP. `data` has the same
    /// length on all ranks. Collective.
    ///
    /// # Errors
    /// See [`Exact::broadcast`](crate::Exact::broadcast). The text names the group; `data` may have
    /// changed.
    pub fn broadcast(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        block_on(self.broadcast_async(root, data))
    }

    /// Async form of [`broadcast`](Self::broadcast).
    pub async fn broadcast_async(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        if root >= self.world_size() {
            let expected = format!("a rank from 0 to {}", self.world_size() - 1);
            return Err(Cause::Argument { name: "the root", found: root, expected }.into());
        }
        // With groups of hosts, only the root's equals know their place.
        let place = self.numbers.across.iter().position(|rank| *rank == root);
        let is_equal = [u8::from(place.is_some())];
        let group = self.inside.exact().all_gather(is_equal.to_vec()).await.map_err(in_group(&self.numbers.inside))?;
        let equal =
            group.iter().position(|is_equal| is_equal.as_deref() == Some(&[1])).ok_or(ControlError::Gone(root))?;
        let mut values = data.to_vec();
        if let Some(place) = place {
            values = self.across.exact().broadcast(place, values).await.map_err(in_group(&self.numbers.across))?;
        }
        values = self.inside.exact().broadcast(equal, values).await.map_err(in_group(&self.numbers.inside))?;
        data.copy_from_slice(&values);
        Ok(())
    }

    /// Ends the job, as [`Communicator::close`](super::Communicator::close). Collective.
    ///
    /// # Errors
    /// See [`Communicator::close`](crate::Communicator::close). The text names the group of the
    /// first error. All connections are closed in any case.
    pub fn close(self) -> Request<()> {
        Request::on_a_thread("optireduce-close", move || self.end())
    }

    fn end(self) -> Result<(), Error> {
        let Self { inside, across, gather, numbers, deferred, .. } = self;
        let mut unsettled = inside.ending(Ok)().map_err(in_group(&numbers.inside))?;
        add_bytes(&mut unsettled, across.ending(Ok)().map_err(in_group(&numbers.across))?);
        add_bytes(&mut unsettled, gather.ending(Ok)().map_err(in_group(&numbers.inside))?);
        add_bytes(&mut unsettled, lock(&deferred).iter().map(|(bucket, deferred)| (*bucket, lock(deferred).bytes())));
        Cause::of_unsettled(unsettled)
    }
}

pub(super) fn in_group(ranks: &[usize]) -> impl FnOnce(Error) -> Error {
    |source| Cause::InGroup { ranks: ranks.to_vec(), source }.into()
}

fn pack(ranks: &[usize], given: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (rank, bytes) in ranks.iter().zip(given.iter().map(|bytes| bytes.as_deref().unwrap_or_default())) {
        packed.extend((*rank as u32).to_le_bytes());
        packed.extend((bytes.len() as u64).to_le_bytes());
        packed.extend(bytes);
    }
    packed
}

/// `None` if the bytes are malformed.
fn unpack(mut packed: &[u8], all: &mut [Vec<u8>]) -> Option<()> {
    while !packed.is_empty() {
        let (rank, rest) = packed.split_first_chunk::<RANK_BYTES>()?;
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (bytes, rest) = rest.split_at_checked(length)?;
        *all.get_mut(u32::from_le_bytes(*rank) as usize)? = bytes.to_vec();
        packed = rest;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_or_names_no_rank_is_refused() {
        let packed = pack(&[2, 0], &[Some(vec![1, 2, 3]), Some(vec![])]);
        let unpacked = |packed: &[u8]| {
            let mut all = vec![Vec::new(); 3];
            unpack(packed, &mut all).map(|()| all)
        };
        assert_eq!(unpacked(&packed), Some(vec![vec![], vec![], vec![1, 2, 3]]));
        let first = RANK_BYTES + LENGTH_BYTES + 3;
        for length in (1..packed.len()).filter(|length| *length != first) {
            assert_eq!(unpacked(&packed[..length]), None, "{length} of {} bytes", packed.len());
        }
        assert_eq!(unpacked(&pack(&[3], &[None])), None, "there is no rank 3");
        let huge = [&[0; RANK_BYTES][..], &u64::MAX.to_le_bytes()].concat();
        assert_eq!(unpacked(&huge), None);
    }
}
