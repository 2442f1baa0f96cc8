//! The pacer: how fast each peer is sent to.
//!
//! A token bucket for each peer: it fills with the peer's rate up to one largest frame of the job, and a frame begins once
//! its bytes on the wire are in it. So over any interval T at most burst + rate * T bytes begin to go to a peer. A rate of
//! 0 is no limit. Frames wait in sequence: one that waits holds up those behind it, whoever they are for.
//! Arithmetic is exact: tokens are millionths of a byte, which a rate in bytes per microsecond gives every picosecond.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::HEADER_BYTES;

use crate::network::WIRE_OVERHEAD_BYTES;

const TOKENS_PER_BYTE: u64 = 1_000_000;

/// The buckets of a job, by rank.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    burst_tokens: u64,
    buckets: Vec<Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate_bytes_per_us: u64,
    tokens: u64,
    at_ps: u64,
}

impl Pacer {
    /// Full buckets at `now_ps`.
    pub fn new(rates: &[u16], payload_beats: usize, now_ps: u64) -> Self {
        let frame_bytes = HEADER_BYTES + payload_beats * BEAT_BYTES;
        let burst_tokens = (frame_bytes as u64 + WIRE_OVERHEAD_BYTES) * TOKENS_PER_BYTE;
        let bucket = |rate: &u16| Bucket { rate_bytes_per_us: (*rate).into(), tokens: burst_tokens, at_ps: now_ps };
        Self { burst_tokens, buckets: rates.iter().map(bucket).collect() }
    }

    /// When a frame to `peer` may begin that could begin at `ps`, which never goes back; its bytes are taken.
    pub fn begin_ps(&mut self, peer: usize, frame_bytes: usize, ps: u64) -> u64 {
        let bucket = &mut self.buckets[peer];
        if bucket.rate_bytes_per_us == 0 {
            return ps;
        }
        let need = (frame_bytes as u64 + WIRE_OVERHEAD_BYTES) * TOKENS_PER_BYTE;
        bucket.fill(ps, self.burst_tokens);
        let wait_ps = need.saturating_sub(bucket.tokens).div_ceil(bucket.rate_bytes_per_us);
        bucket.fill(ps + wait_ps, need.max(self.burst_tokens));
        bucket.tokens -= need;
        ps + wait_ps
    }
}

impl Bucket {
    fn fill(&mut self, ps: u64, most: u64) {
        let gained = self.rate_bytes_per_us.saturating_mul(ps - self.at_ps);
        self.tokens = self.tokens.saturating_add(gained).min(most);
        self.at_ps = ps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_any_interval_a_peer_gets_its_rate_and_at_most_one_burst_more() {
        // Frames of a header and 1 to 22 beats; full ones take 1496 bytes of the wire.
        let (rate, burst) = (1000, 1496);
        let mut pacer = Pacer::new(&[0, rate], 22, 0);
        let (mut ps, mut begins) = (5_000_000, Vec::new());
        for k in 0..500 {
            let frame = 64 + 64 * (1 + k * 7 % 22);
            assert_eq!(pacer.begin_ps(0, frame, ps), ps, "rank 0 is not paced");
            // Every hundredth frame comes late: the bucket fills, but not beyond the burst.
            ps = pacer.begin_ps(1, frame, ps + if k % 100 == 99 { 50_000_000 } else { 0 });
            begins.push((ps, frame as u64 + 24));
        }
        for first in 0..begins.len() {
            let mut bytes = 0;
            for (at, (ps, frame)) in begins.iter().enumerate().skip(first) {
                bytes += frame;
                let allowed = (burst * TOKENS_PER_BYTE + u64::from(rate) * (ps - begins[first].0)) / TOKENS_PER_BYTE;
                assert!(bytes <= allowed, "frames {first} to {at}: {bytes} bytes, allowed {allowed}");
            }
        }
        // Backlogged for the first 99 frames: no bubble.
        let bytes: u64 = begins[1..99].iter().map(|(_, frame)| frame).sum();
        let ns = (begins[98].0 - begins[0].0) / 1000;
        assert!(bytes + burst > ns, "{bytes} bytes in {ns} ns at a byte a nanosecond");
    }
}
