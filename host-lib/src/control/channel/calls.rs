//! Calls that all ranks make together.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::again::AGAIN;
use super::super::terms::{Mismatch, Terms};
use super::exchange::{Collect, Place, kind};
use super::{CHUNK_BYTES, ControlChannel, ControlError};

impl ControlChannel {
    /// Compares the calls of all ranks, then runs `call`.
    ///
    /// # Errors
    /// [`ControlError::Differs`] on all ranks. If a rank is gone or silent, later calls fail with
    /// that reason. After errors of `call` itself the ranks stay in step.
    pub fn call<T>(
        &mut self,
        terms: &Terms,
        timeout: Duration,
        call: impl FnOnce(&mut Self) -> Result<T, ControlError>,
    ) -> Result<T, ControlError> {
        if let Some(error) = &self.failed {
            return Err(ControlError::OutOfStep(error.clone()));
        }
        if self.outside.load(Ordering::Acquire) {
            return Err(ControlError::Outside);
        }
        self.compare(terms, timeout)?;
        call(self)
    }

    pub(super) fn skips(&self, error: &ControlError) -> bool {
        self.skip_gone
            && matches!(error, ControlError::Gone(_) | ControlError::Cut { .. } | ControlError::Overrun { .. })
    }

    /// Every rank sends to every other, so each detects which rank is missing or differs.
    fn compare(&mut self, terms: &Terms, timeout: Duration) -> Result<(), ControlError> {
        let deadline = Instant::now() + timeout;
        let message = serde_json::to_vec(terms).unwrap_or_default();
        self.peers().for_each(|peer| self.send_parts(peer, kind::TERMS, &[&message]));
        self.present.clear();
        // In the order of ranks, so that all of them find the same difference.
        let mut first: Option<(usize, Vec<u8>)> = None;
        let mut differs: Result<(), Mismatch> = Ok(());
        let parse = |terms: &[u8]| serde_json::from_slice::<Terms>(terms).unwrap_or_default();
        for rank in 0..self.ranks() {
            let theirs = if rank == self.rank() {
                message.clone()
            } else {
                match self.receive_terms(rank, deadline, timeout) {
                    Ok(terms) => terms,
                    Err(error) if self.skips(&error) => continue,
                    Err(error) => {
                        self.failed = Some(Arc::new(error.clone()));
                        let error = differs.map_or_else(ControlError::Differs, |()| error);
                        // Others may have all terms, and wait for this rank.
                        let peers: Vec<usize> = self.peers().collect();
                        self.tell_given_up(&peers, &error);
                        return Err(error);
                    }
                }
            };
            self.present.push(rank);
            match &first {
                None => first = Some((rank, theirs)),
                Some((_, first)) if *first == theirs => {}
                // The next call must not find the remaining terms.
                Some((reference, first)) => {
                    differs = differs.and_then(|()| parse(first).compare(*reference, rank, &parse(&theirs)));
                }
            }
        }
        Ok(differs?)
    }

    #[cfg(test)]
    pub fn barrier(&mut self, timeout: Duration) -> Result<(), ControlError> {
        self.compare(&Terms::default().with("the call", "barrier"), timeout)
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank();
        (0..self.ranks()).filter(move |peer| *peer != rank)
    }

    /// Returns a peer's next terms; skips leftovers of a failed call.
    fn receive_terms(&mut self, from: usize, deadline: Instant, waited: Duration) -> Result<Vec<u8>, ControlError> {
        loop {
            let mut message = self.receive_by(from, deadline, waited)?;
            if message.first() == Some(&kind::TERMS) {
                message.remove(0);
                return Ok(message);
            }
        }
    }

    /// Returns the ranks that take part in this call, in order. The ranks agree on them, because a
    /// dying rank may have been present for only some.
    ///
    /// # Errors
    /// On all ranks if two of them have no connection, but both have one to this rank.
    pub fn members(&mut self, timeout: Duration) -> Result<Vec<usize>, ControlError> {
        if !self.skip_gone {
            return Ok((0..self.ranks()).collect());
        }
        let present = self.present.clone();
        let own = self.rank();
        let mut bits = vec![0; self.ranks().div_ceil(8)];
        present.iter().for_each(|rank| bits[rank / 8] |= 1 << (rank % 8));
        present.iter().filter(|rank| **rank != own).for_each(|rank| self.send_parts(*rank, kind::PRESENT, &[&bits]));
        let mut agreed = present.clone();
        let mut absent: Vec<(usize, Vec<usize>)> = Vec::new();
        for peer in present.iter().copied().filter(|rank| *rank != own) {
            match self.receive_part(peer, kind::PRESENT, timeout) {
                // Missing bits count as absent.
                Ok(bits) => {
                    let has = |rank: &usize| bits.get(1 + rank / 8).is_some_and(|byte| byte >> (rank % 8) & 1 == 1);
                    absent.push((peer, present.iter().copied().filter(|rank| !has(rank)).collect()));
                    agreed.retain(has);
                }
                Err(error) if self.skips(&error) => agreed.retain(|rank| *rank != peer),
                Err(error) => return Err(self.give_up(&present, error, timeout)),
            }
        }
        // Of a dying rank only one end notices.
        let lacks = |a: usize, b: usize| absent.iter().any(|(rank, absent)| *rank == a && absent.contains(&b));
        let cut =
            present.iter().flat_map(|a| present.iter().map(|b| [*a, *b])).find(|[a, b]| lacks(*a, *b) && lacks(*b, *a));
        if let Some(ranks) = cut {
            return Err(self.give_up(&present, ControlError::Cut { ranks, waited: AGAIN }, timeout));
        }
        match agreed.contains(&own) {
            true => {
                // They may still wait for this rank.
                let left_out: Vec<usize> = present.iter().copied().filter(|rank| !agreed.contains(rank)).collect();
                self.tell_given_up(&left_out, &ControlError::LeftOut);
                Ok(agreed)
            }
            false => Err(self.give_up(&present, ControlError::LeftOut, timeout)),
        }
    }

    /// Sends `given(rank)` to each rank, and returns the data received, by rank. With `None`, the
    /// pair exchanges nothing. `confirm`: waits until all ranks have received everything.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    pub fn hand_over<'a>(
        &mut self,
        given: impl Fn(usize) -> Option<&'a [u8]>,
        confirm: bool,
        timeout: Duration,
    ) -> Result<Vec<Vec<u8>>, ControlError> {
        let all = self.collect(given, confirm, timeout)?;
        Ok(all.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// As [`hand_over`](Self::hand_over), with `None` for left-out ranks.
    pub fn collect<'a>(
        &mut self,
        given: impl Fn(usize) -> Option<&'a [u8]>,
        confirm: bool,
        timeout: Duration,
    ) -> Result<Vec<Option<Vec<u8>>>, ControlError> {
        let members = self.members(timeout)?;
        let given: Vec<_> = members.iter().map(|rank| given(*rank)).collect();
        let mut collected = Collect::new(members.len());
        self.exchange(&members, &given, confirm, timeout, &mut collected)?;
        let mut all = vec![None; self.ranks()];
        members.into_iter().zip(collected.parts).for_each(|(rank, part)| all[rank] = part);
        Ok(all)
    }

    /// Sends the root's data to all ranks, with buffers of the same length. Returns once this rank
    /// has all data and, at the root, once every rank has.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange). The contents of `data` are then undefined.
    pub fn broadcast_from(&mut self, root: usize, data: &mut [u8], timeout: Duration) -> Result<(), ControlError> {
        let (members, own) = (self.members(timeout)?, self.rank());
        if !members.contains(&root) {
            return Err(ControlError::Gone(root));
        }
        let (given, places, into): (Vec<Option<&[u8]>>, _, _) = if root == own {
            let given = members.iter().map(|rank| (*rank != own).then_some(&*data)).collect();
            (given, vec![0..0; members.len()], [].as_mut_slice())
        } else {
            let given = members.iter().map(|rank| (*rank == root).then_some([].as_slice())).collect();
            let places = members.iter().map(|rank| 0..if *rank == root { data.len() } else { 0 }).collect();
            (given, places, data)
        };
        self.exchange(&members, &given, true, timeout, &mut Place { members: &members, into, places })
    }

    /// Returns every rank's data at rank 0, nothing elsewhere.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn gather(&mut self, given: &[u8], timeout: Duration) -> Result<Vec<Vec<u8>>, ControlError> {
        if self.rank() > 0 {
            given.chunks(CHUNK_BYTES).for_each(|chunk| self.send(0, chunk));
            self.send(0, &[]);
            return Ok(Vec::new());
        }
        let deadline = Instant::now() + timeout;
        let mut all = vec![given.to_vec()];
        for peer in 1..self.ranks() {
            all.push(self.receive_chunks(peer, deadline, timeout)?);
        }
        Ok(all)
    }

    /// Returns rank 0's data at every rank.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn broadcast(&mut self, own: &[u8], timeout: Duration) -> Result<Vec<u8>, ControlError> {
        if self.rank() > 0 {
            return self.receive_chunks(0, Instant::now() + timeout, timeout);
        }
        for peer in 1..self.ranks() {
            own.chunks(CHUNK_BYTES).for_each(|chunk| self.send(peer, chunk));
            self.send(peer, &[]);
        }
        Ok(own.to_vec())
    }

    /// Returns the joined messages up to an empty one.
    fn receive_chunks(&mut self, from: usize, deadline: Instant, waited: Duration) -> Result<Vec<u8>, ControlError> {
        let mut whole = Vec::new();
        loop {
            let chunk = self.receive_by(from, deadline, waited)?;
            if chunk.is_empty() {
                return Ok(whole);
            }
            whole.extend(chunk);
        }
    }
}
