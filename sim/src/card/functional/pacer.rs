//! Pacing: a token bucket limits the rate to each peer.
//!
//! A bucket holds the largest frame of the job plus [`BUCKET_NS`] at the peer's rate, and is full
//! when the card is enabled. A frame starts once the bucket holds its bytes on the wire, so frames
//! of at most bucket + rate * T bytes start in any interval T. A rate of 0 disables the limit.
//!
//! Tokens are millionths of a byte: a rate in bytes per microsecond adds that many tokens per
//! picosecond, exactly.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::HEADER_BYTES;

use crate::wire::WIRE_OVERHEAD_BYTES;

/// Capacity of a bucket beyond one frame, as in the hardware.
const BUCKET_NS: u64 = 512;
const TOKENS_PER_BYTE: u64 = 1_000_000;

#[derive(Clone, Debug, Default)]
pub struct Pacer(Vec<Bucket>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate_bytes_per_us: u64,
    tokens_max: u64,
    tokens: u64,
    at_ps: u64,
}

impl Pacer {
    pub fn new(rates: &[u16], payload_beats: usize, now_ps: u64) -> Self {
        let frame_tokens = tokens_of(HEADER_BYTES + payload_beats * BEAT_BYTES);
        let bucket = |rate: &u16| {
            let rate_bytes_per_us = u64::from(*rate);
            let tokens_max = frame_tokens + rate_bytes_per_us * BUCKET_NS * 1000;
            Bucket { rate_bytes_per_us, tokens_max, tokens: tokens_max, at_ps: now_ps }
        };
        Self(rates.iter().map(bucket).collect())
    }

    /// Returns the earliest start of a frame, from `ps` on. `ps` must not decrease between calls.
    pub fn ready_ps(&mut self, peer: usize, frame_bytes: usize, ps: u64) -> u64 {
        let bucket = &mut self.0[peer];
        if bucket.rate_bytes_per_us == 0 {
            return ps;
        }
        let gained = bucket.rate_bytes_per_us.saturating_mul(ps - bucket.at_ps);
        bucket.tokens = bucket.tokens.saturating_add(gained).min(bucket.tokens_max);
        bucket.at_ps = ps;
        ps + tokens_of(frame_bytes).saturating_sub(bucket.tokens).div_ceil(bucket.rate_bytes_per_us)
    }

    /// Starts a frame at `ps`, which [`ready_ps`](Self::ready_ps) permits.
    pub fn take(&mut self, peer: usize, frame_bytes: usize, ps: u64) {
        self.ready_ps(peer, frame_bytes, ps);
        let bucket = &mut self.0[peer];
        if bucket.rate_bytes_per_us > 0 {
            bucket.tokens = bucket.tokens.saturating_sub(tokens_of(frame_bytes));
        }
    }
}

fn tokens_of(frame_bytes: usize) -> u64 {
    (frame_bytes as u64 + WIRE_OVERHEAD_BYTES) * TOKENS_PER_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_any_interval_a_peer_gets_its_rate_and_at_most_one_bucket_more() {
        // Frames of a header and 1 to 22 beats, up to 1496 bytes on the wire, at a byte per ns.
        let (rate, bucket) = (1000, 1496 + 512);
        let mut pacer = Pacer::new(&[0, rate], 22, 0);
        let (mut ps, mut begins) = (5_000_000, Vec::new());
        for k in 0..500 {
            let frame = 64 + 64 * (1 + k * 7 % 22);
            assert_eq!(pacer.ready_ps(0, frame, ps), ps, "rank 0 is not paced");
            // Every hundredth frame is late, so the bucket fills up.
            ps += if k % 100 == 99 { 50_000_000 } else { 0 };
            ps = pacer.ready_ps(1, frame, ps);
            pacer.take(1, frame, ps);
            begins.push((ps, frame as u64 + 24));
        }
        for first in 0..begins.len() {
            let mut bytes = 0;
            for (at, (ps, frame)) in begins.iter().enumerate().skip(first) {
                bytes += frame;
                let allowed = (bucket * TOKENS_PER_BYTE + u64::from(rate) * (ps - begins[first].0)) / TOKENS_PER_BYTE;
                assert!(bytes <= allowed, "frames {first} to {at}: {bytes} bytes, allowed {allowed}");
            }
        }
        // The first 99 frames are backlogged: no time is lost.
        let bytes: u64 = begins[..99].iter().map(|(_, frame)| frame).sum();
        assert_eq!((begins[98].0 - begins[0].0) / 1000, bytes - bucket);
    }
}
