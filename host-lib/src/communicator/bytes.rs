//! Bytes from rank to rank over TCP, whole: weights, and whatever else trainers tell one another.

use super::request::{Pending, block_on};
use super::{Communicator, Error};
use crate::control::{ControlError, Terms};
use crate::exact::Bytes as _;

impl Communicator {
    /// Hands the root's values to all ranks, whole: over TCP, for weights. Returns once this rank has all of them and, at the
    /// root, once every rank has. Large models may take longer than the timeout: it is for progress, and a rank must take
    /// half a MiB within it. Collective; all ranks give as many.
    ///
    /// # Errors
    /// Names the rank that is gone, or makes no progress for the timeout, or has another root or length; `data` is then
    /// unchanged. Ranks that wait for others hear the cause at most a quarter of the timeout later.
    pub fn broadcast(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        block_on(self.broadcast_async(root, data))
    }

    /// As [`broadcast`](Self::broadcast), without blocking the thread.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub async fn broadcast_async(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        let terms = Terms::default().with("the call", "broadcast").with("the root", root).with("elements", data.len());
        let bytes = if root == self.rank() { f32::to_bytes(data) } else { vec![0; size_of_val(data)] };
        let bytes = self.start_broadcast_of(root, bytes, terms).await?;
        f32::put(&bytes, data);
        Ok(())
    }

    /// As [`broadcast`](Self::broadcast), of bytes. Collective; all ranks give as many.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn broadcast_bytes(&mut self, root: usize, data: &mut [u8]) -> Result<(), Error> {
        block_on(self.broadcast_bytes_async(root, data))
    }

    /// As [`broadcast_bytes`](Self::broadcast_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub async fn broadcast_bytes_async(&mut self, root: usize, data: &mut [u8]) -> Result<(), Error> {
        data.copy_from_slice(&self.start_broadcast_bytes(root, data.to_vec()).await?);
        Ok(())
    }

    /// Begins as [`broadcast_bytes`](Self::broadcast_bytes); on all ranks the bytes are the root's in the end.
    pub fn start_broadcast_bytes(&mut self, root: usize, data: Vec<u8>) -> Pending<Vec<u8>> {
        let terms =
            Terms::default().with("the call", "broadcast_bytes").with("the root", root).with("bytes", data.len());
        self.start_broadcast_of(root, data, terms)
    }

    fn start_broadcast_of(&mut self, root: usize, mut data: Vec<u8>, terms: Terms) -> Pending<Vec<u8>> {
        self.shared.call_with(terms, self.check_rank("the root", root), move |root, channel, timeout| {
            channel.broadcast_from(root, &mut data, timeout)?;
            Ok(data)
        })
    }

    /// Hands every rank's bytes to every rank: what each gave, by rank; nothing of ranks that are left out
    /// ([`skip_gone_ranks`](Self::skip_gone_ranks)). Over TCP; of any length, also different ones. Collective.
    ///
    /// # Errors
    /// Names a rank that is gone, or makes no progress for the timeout, or calls something else; if what the ranks hand over does not
    /// fit into this host's memory.
    pub fn all_gather_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_gather_bytes(bytes.to_vec()).wait()
    }

    /// As [`all_gather_bytes`](Self::all_gather_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`all_gather_bytes`](Self::all_gather_bytes).
    pub async fn all_gather_bytes_async(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_gather_bytes(bytes.to_vec()).await
    }

    /// Begins as [`all_gather_bytes`](Self::all_gather_bytes).
    pub fn start_all_gather_bytes(&mut self, bytes: Vec<u8>) -> Pending<Vec<Vec<u8>>> {
        let terms = Terms::default().with("the call", "all_gather_bytes");
        self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&bytes), false, timeout))
    }

    /// Begins as [`all_gather_bytes`](Self::all_gather_bytes), and tells ranks that are left out (`None`) from those that gave no bytes.
    pub fn start_all_gather_of_present(&mut self, bytes: Vec<u8>) -> Pending<Vec<Option<Vec<u8>>>> {
        let terms = Terms::default().with("the call", "all_gather_bytes");
        self.shared.call(terms, move |channel, timeout| channel.collect(|_| Some(&bytes), false, timeout))
    }

    /// Hands every rank's bytes to the root, which gets what each gave, by rank; the others get nothing. Otherwise as
    /// [`all_gather_bytes`](Self::all_gather_bytes). Collective.
    ///
    /// # Errors
    /// As [`all_gather_bytes`](Self::all_gather_bytes), or if there is no such root.
    pub fn gather_bytes(&mut self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_gather_bytes(root, bytes.to_vec()).wait()
    }

    /// As [`gather_bytes`](Self::gather_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`gather_bytes`](Self::gather_bytes).
    pub async fn gather_bytes_async(&mut self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_gather_bytes(root, bytes.to_vec()).await
    }

    /// Begins as [`gather_bytes`](Self::gather_bytes).
    pub fn start_gather_bytes(&mut self, root: usize, bytes: Vec<u8>) -> Pending<Vec<Vec<u8>>> {
        let (own, terms) = (self.rank(), Terms::default().with("the call", "gather_bytes").with("the root", root));
        self.shared.call_with(terms, self.check_rank("the root", root), move |root, channel, timeout| {
            let given = |peer: usize| match (peer == root, own == root) {
                (true, _) => Some(bytes.as_slice()),
                (false, is_root) => is_root.then_some([].as_slice()),
            };
            let all = channel.hand_over(given, false, timeout)?;
            Ok(if own == root { all } else { Vec::new() })
        })
    }

    /// Hands each rank its part of what the root gives: one for each rank, by rank, of any lengths; what other ranks give does not count.
    /// Returns once this rank has its part and, at the root, once every rank has. Collective.
    ///
    /// # Errors
    /// As [`all_gather_bytes`](Self::all_gather_bytes), or if there is no such root; on all ranks if the root has not one part for each.
    pub fn scatter_bytes(&mut self, root: usize, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
        self.start_scatter_bytes(root, owned(parts)).wait()
    }

    /// As [`scatter_bytes`](Self::scatter_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`scatter_bytes`](Self::scatter_bytes).
    pub async fn scatter_bytes_async(&mut self, root: usize, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
        self.start_scatter_bytes(root, owned(parts)).await
    }

    /// Begins as [`scatter_bytes`](Self::scatter_bytes).
    pub fn start_scatter_bytes(&mut self, root: usize, parts: Vec<Vec<u8>>) -> Pending<Vec<u8>> {
        let (own, ranks) = (self.rank(), self.world_size());
        let terms = Terms::default().with("the call", "scatter_bytes").with("the root", root);
        let terms = terms.with("parts at the root", if own == root { parts.len() } else { ranks });
        self.shared.call_with(terms, self.check_rank("the root", root), move |root, channel, timeout| {
            let given = |peer: usize| match own == root {
                true => Some(parts[peer].as_slice()),
                false => (peer == root).then_some([].as_slice()),
            };
            let mut all = channel.hand_over(given, true, timeout)?;
            match channel.is_present(root) {
                true => Ok(std::mem::take(&mut all[root])),
                false => Err(ControlError::Gone(root)),
            }
        })
    }

    /// Hands each rank its part of what this one gives, one for each rank, by rank; returns what each gave this rank. Otherwise
    /// as [`all_gather_bytes`](Self::all_gather_bytes). Collective.
    ///
    /// # Errors
    /// As [`all_gather_bytes`](Self::all_gather_bytes); on all ranks if one has not one part for each.
    pub fn all_to_all_bytes(&mut self, parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_to_all_bytes(owned(parts)).wait()
    }

    /// As [`all_to_all_bytes`](Self::all_to_all_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`all_to_all_bytes`](Self::all_to_all_bytes).
    pub async fn all_to_all_bytes_async(&mut self, parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_to_all_bytes(owned(parts)).await
    }

    /// Begins as [`all_to_all_bytes`](Self::all_to_all_bytes).
    pub fn start_all_to_all_bytes(&mut self, parts: Vec<Vec<u8>>) -> Pending<Vec<Vec<u8>>> {
        let (name, found, ranks) = ("parts", parts.len(), self.world_size());
        let terms = Terms::default().with("the call", "all_to_all_bytes").with(name, found);
        let expected = || format!("{ranks}, one for each rank");
        let valid = if found == ranks { Ok(()) } else { Err(Error::Argument { name, found, expected: expected() }) };
        self.shared.call_with(terms, valid, move |(), channel, timeout| {
            channel.hand_over(|peer| parts.get(peer).map(Vec::as_slice), false, timeout)
        })
    }
}

fn owned(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part.to_vec()).collect()
}
