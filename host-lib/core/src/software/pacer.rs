//! Pacing of each peer.
//!
//! A peer with a rate receives at most `rate * T` bytes plus one burst and one batch in any
//! interval T. Feedback and retransmitted ends do not wait. A rate of 0 is no limit.

/// Burst allowance in ns at the peer's rate.
const BURST_NS: u64 = 20_000;
/// Maximum duration of a batch at the peer's rate, unless it is one datagram.
const BATCH_US: u64 = 1000;
/// Ethernet with preamble and gap (38), IPv4 (20) and UDP (8) bytes per datagram.
const OVERHEAD_BYTES: usize = 66;

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    rate_bytes_per_us: u32,
    /// Time at which the bytes sent so far have left the wire.
    busy_until_ns: u64,
}

#[derive(Debug)]
pub(super) struct Pacer(Vec<Peer>);

impl Pacer {
    pub fn new(ranks: usize) -> Self {
        Self(vec![Peer::default(); ranks])
    }

    pub fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) {
        if let Some(peer) = self.0.get_mut(peer) {
            peer.rate_bytes_per_us = rate_bytes_per_us;
        }
    }

    pub fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        let peer = &self.0[peer];
        if peer.rate_bytes_per_us == 0 { now_ns } else { peer.busy_until_ns.saturating_sub(BURST_NS).max(now_ns) }
    }

    pub fn batch_bytes_max(&self, peer: usize) -> usize {
        match self.0[peer].rate_bytes_per_us {
            0 => usize::MAX,
            rate => (u64::from(rate) * BATCH_US) as usize,
        }
    }

    pub fn sent(&mut self, peer: usize, bytes: usize, datagrams: usize, now_ns: u64) {
        let peer = &mut self.0[peer];
        if peer.rate_bytes_per_us > 0 {
            let wire_bytes = (bytes + datagrams * OVERHEAD_BYTES) as u64;
            let busy_ns = wire_bytes * 1000 / u64::from(peer.rate_bytes_per_us);
            peer.busy_until_ns = peer.busy_until_ns.max(now_ns) + busy_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_any_interval_a_peer_gets_its_rate_and_at_most_a_burst_and_a_batch_more() {
        let (rate, batch) = (1000, 30_000);
        let mut pacer = Pacer::new(2);
        pacer.set_rate(1, rate);
        let (mut now_ns, mut sent) = (1_000_000, Vec::new());
        for turn in 0..200 {
            assert_eq!(pacer.ready_ns(0, now_ns), now_ns, "rank 0 is not paced");
            assert_eq!((pacer.batch_bytes_max(0), pacer.batch_bytes_max(1)), (usize::MAX, 1_000_000));
            // Unused time is not credited.
            now_ns += if turn % 50 == 49 { 10_000_000 } else { 0 };
            now_ns = pacer.ready_ns(1, now_ns);
            pacer.sent(1, batch - OVERHEAD_BYTES, 1, now_ns);
            sent.push(now_ns);
        }
        for first in 0..sent.len() {
            for last in first..sent.len() {
                let bytes = ((last - first + 1) * batch) as u64;
                let allowed = (sent[last] - sent[first]) + BURST_NS + batch as u64;
                assert!(bytes <= allowed, "batches {first} to {last}: {bytes} bytes, allowed {allowed}");
            }
        }
        assert_eq!(
            sent[48] - sent[0],
            48 * batch as u64 - BURST_NS,
            "no time is lost while there is something to send"
        );
    }
}
