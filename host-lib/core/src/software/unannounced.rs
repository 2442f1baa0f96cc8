//! Packets of views that were not announced here yet, kept until they are.
//!
//! Why: a member of a group may send before this rank has heard that it is one.
//! Limits: bounded in bytes, the oldest go first; only from ranks of the job. Off unless it is asked for.

use std::collections::VecDeque;

use optireduce_contract::packet::{UBT_BYTES, UbtHeader};

/// Datagrams whose tag nobody knows yet.
#[derive(Debug, Default)]
pub(super) struct Unannounced {
    bytes_max: usize,
    bytes: usize,
    kept: VecDeque<(u64, usize, Box<[u8]>)>,
}

impl Unannounced {
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// The tag of a datagram, if it may be kept.
    pub fn tag(&self, datagram: &[u8]) -> Option<u64> {
        let ubt = datagram.first_chunk::<UBT_BYTES>().filter(|_| datagram.len() <= self.bytes_max)?;
        Some(UbtHeader::of_any_job(ubt).job_tag)
    }

    /// Keeps a datagram of rank `from`; returns how many others gave way.
    pub fn keep(&mut self, tag: u64, from: usize, datagram: &[u8]) -> u64 {
        let mut forgotten = 0;
        while self.bytes + datagram.len() > self.bytes_max
            && let Some((_, _, oldest)) = self.kept.pop_front()
        {
            self.bytes -= oldest.len();
            forgotten += 1;
        }
        self.bytes += datagram.len();
        self.kept.push_back((tag, from, datagram.into()));
        forgotten
    }

    /// What came with this tag, in order.
    pub fn take(&mut self, tag: u64) -> Vec<(usize, Box<[u8]>)> {
        let (found, kept): (VecDeque<_>, _) = self.kept.drain(..).partition(|(of, ..)| *of == tag);
        self.kept = kept;
        self.bytes -= found.iter().map(|(_, _, datagram)| datagram.len()).sum::<usize>();
        found.into_iter().map(|(_, from, datagram)| (from, datagram)).collect()
    }
}
