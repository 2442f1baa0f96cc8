//! Exact transfer of bytes over TCP.

use super::request::{Pending, block_on};
use super::{Communicator, Error};
use crate::control::{ControlError, Terms};
use crate::exact::Bytes as _;

impl Communicator {
    /// Copies the root's values to all ranks. Exact, over TCP. Collective.
    ///
    /// `data` has the same length on all ranks. Returns once this rank has all values and, at the
    /// root, once every rank has. A rank makes no progress if it accepts less than half a MiB
    /// within the [timeout](crate::Settings::timeout).
    ///
    /// # Errors
    /// Names a rank that is gone, makes no progress for the timeout, or uses another root or
    /// length; `data` is then unchanged. Waiting ranks learn the cause at most a quarter of the
    /// timeout later.
    pub fn broadcast(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        block_on(self.broadcast_async(root, data))
    }

    /// Async form of [`broadcast`](Self::broadcast).
    pub async fn broadcast_async(&mut self, root: usize, data: &mut [f32]) -> Result<(), Error> {
        let terms = Terms::default().with("the call", "broadcast").with("the root", root).with("elements", data.len());
        let bytes = if root == self.rank() { f32::to_bytes(data) } else { vec![0; size_of_val(data)] };
        let bytes = self.start_broadcast_of(root, bytes, terms).await?;
        f32::put(&bytes, data);
        Ok(())
    }

    /// As [`broadcast`](Self::broadcast), for bytes. Collective.
    ///
    /// # Errors
    /// See [`broadcast`](Self::broadcast).
    pub fn broadcast_bytes(&mut self, root: usize, data: &mut [u8]) -> Result<(), Error> {
        block_on(self.broadcast_bytes_async(root, data))
    }

    /// Async form of [`broadcast_bytes`](Self::broadcast_bytes).
    pub async fn broadcast_bytes_async(&mut self, root: usize, data: &mut [u8]) -> Result<(), Error> {
        data.copy_from_slice(&self.start_broadcast_bytes(root, data.to_vec()).await?);
        Ok(())
    }

    /// Starts [`broadcast_bytes`](Self::broadcast_bytes), which returns the root's bytes.
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

    /// Gathers the bytes of every rank, of any lengths, and returns them by rank. Exact, over TCP.
    /// Collective. Ranks that are [left out](Self::skip_gone_ranks) have no bytes.
    ///
    /// # Errors
    /// Names a rank that is gone, makes no progress for the timeout, or makes another call. If this
    /// host has too little memory.
    pub fn all_gather_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_gather_bytes(bytes.to_vec()).wait()
    }

    /// Async form of [`all_gather_bytes`](Self::all_gather_bytes).
    pub async fn all_gather_bytes_async(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_gather_bytes(bytes.to_vec()).await
    }

    /// Starts [`all_gather_bytes`](Self::all_gather_bytes).
    pub fn start_all_gather_bytes(&mut self, bytes: Vec<u8>) -> Pending<Vec<Vec<u8>>> {
        let terms = Terms::default().with("the call", "all_gather_bytes");
        self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&bytes), false, timeout))
    }

    /// As [`start_all_gather_bytes`](Self::start_all_gather_bytes), with `None` for left-out ranks.
    pub fn start_all_gather_of_present(&mut self, bytes: Vec<u8>) -> Pending<Vec<Option<Vec<u8>>>> {
        let terms = Terms::default().with("the call", "all_gather_bytes");
        self.shared.call(terms, move |channel, timeout| channel.collect(|_| Some(&bytes), false, timeout))
    }

    /// Gathers the bytes of every rank at the root; the other ranks get an empty vector. Otherwise
    /// as [`all_gather_bytes`](Self::all_gather_bytes). Collective.
    ///
    /// # Errors
    /// See [`all_gather_bytes`](Self::all_gather_bytes). Also if there is no such root.
    pub fn gather_bytes(&mut self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_gather_bytes(root, bytes.to_vec()).wait()
    }

    /// Async form of [`gather_bytes`](Self::gather_bytes).
    pub async fn gather_bytes_async(&mut self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_gather_bytes(root, bytes.to_vec()).await
    }

    /// Starts [`gather_bytes`](Self::gather_bytes).
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

    /// Sends each rank its part of the root's bytes. Exact, over TCP. Collective.
    ///
    /// `parts` has one part for each rank, of any length, and is ignored except at the root.
    /// Returns once this rank has its part and, at the root, once every rank has.
    ///
    /// # Errors
    /// See [`all_gather_bytes`](Self::all_gather_bytes). Also if there is no such root, and on all
    /// ranks if the root does not pass one part for each rank.
    pub fn scatter_bytes(&mut self, root: usize, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
        self.start_scatter_bytes(root, owned(parts)).wait()
    }

    /// Async form of [`scatter_bytes`](Self::scatter_bytes).
    pub async fn scatter_bytes_async(&mut self, root: usize, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
        self.start_scatter_bytes(root, owned(parts)).await
    }

    /// Starts [`scatter_bytes`](Self::scatter_bytes).
    pub fn start_scatter_bytes(&mut self, root: usize, parts: Vec<Vec<u8>>) -> Pending<Vec<u8>> {
        let (own, ranks) = (self.rank(), self.world_size());
        let (name, found) = ("parts at the root", if own == root { parts.len() } else { ranks });
        let terms = Terms::default().with("the call", "scatter_bytes").with("the root", root).with(name, found);
        // No other rank compares the number if this one is alone.
        let valid = self.check_rank("the root", root).and_then(|root| check_parts(name, found, ranks).map(|()| root));
        self.shared.call_with(terms, valid, move |root, channel, timeout| {
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

    /// Sends a part to each rank, and returns the parts received, by rank. `parts` has one part for
    /// each rank. Otherwise as [`all_gather_bytes`](Self::all_gather_bytes). Collective.
    ///
    /// # Errors
    /// See [`all_gather_bytes`](Self::all_gather_bytes). Also, on all ranks, if `parts` has a wrong
    /// length on one.
    pub fn all_to_all_bytes(&mut self, parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_to_all_bytes(owned(parts)).wait()
    }

    /// Async form of [`all_to_all_bytes`](Self::all_to_all_bytes).
    pub async fn all_to_all_bytes_async(&mut self, parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
        self.start_all_to_all_bytes(owned(parts)).await
    }

    /// Starts [`all_to_all_bytes`](Self::all_to_all_bytes).
    pub fn start_all_to_all_bytes(&mut self, parts: Vec<Vec<u8>>) -> Pending<Vec<Vec<u8>>> {
        let (name, found, ranks) = ("parts", parts.len(), self.world_size());
        let terms = Terms::default().with("the call", "all_to_all_bytes").with(name, found);
        self.shared.call_with(terms, check_parts(name, found, ranks), move |(), channel, timeout| {
            channel.hand_over(|peer| parts.get(peer).map(Vec::as_slice), false, timeout)
        })
    }
}

fn check_parts(name: &'static str, found: usize, ranks: usize) -> Result<(), Error> {
    let wrong = || Error::Argument { name, found, expected: format!("{ranks}, one for each rank") };
    if found == ranks { Ok(()) } else { Err(wrong()) }
}

fn owned(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part.to_vec()).collect()
}
