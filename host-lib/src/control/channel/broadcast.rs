//! A broadcast that loses nothing, over the control channel.
//!
//! Why: models are larger than what may wait in memory, and take longer than any timeout that finds a stopped rank soon. So
//! the timeout is for progress: each chunk is answered, and a few are on their way.

use std::time::{Duration, Instant};

use super::{CHUNK_BYTES, ControlChannel, ControlError};

/// Chunks of a broadcast that are on their way to a peer at most: they wait in memory.
const BROADCAST_CHUNKS: usize = 8;

impl ControlChannel {
    /// Hands the root's bytes to all ranks, which must have room for as many. Returns once this rank has all of them and,
    /// at the root, once every rank has. However long it takes in all: it fails once a rank, for `timeout`, takes no further
    /// chunk of half a MiB.
    /// The root sends them to each rank: it takes (ranks - 1) times what its link takes for them once.
    ///
    /// # Errors
    /// Names a rank that is gone or silent, on all ranks. `data` is then in between.
    pub fn broadcast_from(&mut self, root: usize, data: &mut [u8], timeout: Duration) -> Result<(), ControlError> {
        if root != self.rank() {
            // The root may wait for others, and says so when it gives up.
            let longer = timeout + timeout / 4;
            let mut done = 0;
            for chunk in data.chunks_mut(CHUNK_BYTES) {
                self.receive_chunk(root, chunk, longer)?;
                done += chunk.len();
                self.send(root, &(done as u64).to_le_bytes());
            }
            return Ok(());
        }
        let mut expected = data.chunks(CHUNK_BYTES).scan(0, |done, chunk| {
            *done += chunk.len();
            Some(*done)
        });
        for (number, chunk) in data.chunks(CHUNK_BYTES).enumerate() {
            if number >= BROADCAST_CHUNKS {
                expected.next().map_or(Ok(()), |expected| self.all_have(expected, timeout))?;
            }
            self.peers().for_each(|peer| self.send(peer, chunk));
        }
        expected.try_for_each(|expected| self.all_have(expected, timeout))
    }

    /// At the root of a broadcast: waits until all ranks have answered with `expected` bytes; if one does not, tells the
    /// others.
    fn all_have(&mut self, expected: usize, timeout: Duration) -> Result<(), ControlError> {
        let deadline = Instant::now() + timeout;
        for peer in self.peers() {
            let error = match self.receive_by(peer, deadline, timeout) {
                Ok(answer) if answer == (expected as u64).to_le_bytes() => continue,
                Ok(answer) => ControlError::WrongLength { rank: peer, found: answer.len(), expected: 8 },
                Err(error) if self.skips(&error) => continue,
                Err(error) => error,
            };
            for other in self.peers().filter(|other| *other != peer) {
                self.send(other, &[]);
                self.send(other, &(peer as u64).to_le_bytes());
            }
            return Err(error);
        }
        Ok(())
    }

    /// A chunk of a broadcast, or in its stead an empty message and the rank for which the root gives up.
    fn receive_chunk(&mut self, root: usize, chunk: &mut [u8], timeout: Duration) -> Result<(), ControlError> {
        let bytes = self.receive_from(root, timeout)?;
        let wrong = |bytes: &[u8], expected| ControlError::WrongLength { rank: root, found: bytes.len(), expected };
        if bytes.is_empty() {
            let missing = self.receive_from(root, timeout)?;
            let missing = <[u8; 8]>::try_from(missing.as_slice()).map_err(|_| wrong(&missing, 8))?;
            return Err(ControlError::GivenUp { root, missing: u64::from_le_bytes(missing) as usize });
        }
        if bytes.len() != chunk.len() {
            return Err(wrong(&bytes, chunk.len()));
        }
        chunk.copy_from_slice(&bytes);
        Ok(())
    }
}
