//! Packets of views that are not announced yet: a group member may send before this rank learns
//! that it is a member.
//!
//! Limits: bounded in bytes; the oldest packets are dropped first. Off by default.

use std::collections::VecDeque;

use optireduce_contract::packet::{UBT_BYTES, UbtHeader};

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

    pub fn tag(&self, datagram: &[u8]) -> Option<u64> {
        let ubt = datagram.first_chunk::<UBT_BYTES>().filter(|_| datagram.len() <= self.bytes_max)?;
        Some(UbtHeader::of_any_job(ubt).job_tag)
    }

    /// Keeps a datagram of rank `from`. Returns the number of dropped older ones.
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

    pub fn take(&mut self, tag: u64) -> Vec<(usize, Box<[u8]>)> {
        let (found, kept): (VecDeque<_>, _) = self.kept.drain(..).partition(|(of, ..)| *of == tag);
        self.kept = kept;
        self.bytes -= found.iter().map(|(_, _, datagram)| datagram.len()).sum::<usize>();
        found.into_iter().map(|(_, from, datagram)| (from, datagram)).collect()
    }
}
