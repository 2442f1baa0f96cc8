//! The simulated network: delay, tail, loss, duplication, reordering, corruption and incast.
//!
//! Model of a frame: a one-way delay from a lognormal distribution (median, P99/P50, minimum
//! [`DELAY_MIN_NS`]), then the receiver's port, which passes frames one by one at 100 Gb/s. Frames
//! queue at the port, so incast costs time. The queue is unbounded, so only injected loss drops
//! frames. A link (one sender, one receiver) is first in, first out, except for frames held on
//! purpose ([`Impairments::hold`]).
//!
//! Every decision is a pure function of the seed and the identity of the packet (sender, receiver,
//! bucket, step, stage, offset, copy), not of the time. Different engines and transports therefore
//! lose the same packets.
//!
//! Limits: independent loss without bursts, one switch hop, no finite switch buffers.

pub(crate) mod capture;
pub(crate) mod control_channel;
pub mod reliable;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::Range;

use optireduce_contract::packet::{Endpoint, HEADER_BYTES, frame};
use optireduce_contract::signs::splitmix64;

use crate::wire::{Arrival, Departure, wire_ps};

/// Smallest delay of a frame, and lookahead of the cluster's event loop.
pub const DELAY_MIN_NS: u64 = 1000;
/// Impairments of packets. Probabilities are at least 0 and less than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // described above
pub struct Impairments {
    pub seed: u64,
    pub delay_us_median: f64,
    /// P99 / P50 of the delay, at least 1.
    pub tail_ratio: f64,
    pub loss: f64,
    /// Probability of a duplicate, which has its own delay and loss.
    pub duplicate: f64,
    /// Probability that a packet is held for [`Impairments::HOLD_NS`], so that others overtake it.
    pub hold: f64,
    /// Probability that one bit flips, from the Ethernet header on, as in a switch's memory.
    pub corrupt: f64,
}

impl Default for Impairments {
    fn default() -> Self {
        Self { seed: 1, delay_us_median: 10.0, tail_ratio: 1.5, loss: 0.0, duplicate: 0.0, hold: 0.0, corrupt: 0.0 }
    }
}

impl Impairments {
    /// Delay of a held packet.
    pub const HOLD_NS: u64 = 20_000;

    /// Returns whether a copy of a packet is lost.
    pub fn loses(&self, packet: &PacketId, copy: u32) -> bool {
        unit(self.hash(packet, copy, 1)) < self.loss
    }

    /// Returns the one-way delay of a copy, without the receiver's port.
    pub fn delay_ns(&self, packet: &PacketId, copy: u32) -> u64 {
        // ln(P99/P50) = 2.3263 sigma for a lognormal.
        let sigma = self.tail_ratio.ln() / 2.326_347_874_040_841;
        // Box-Muller; 1 - u keeps the logarithm's argument above zero.
        let radius = (-2.0 * (1.0 - unit(self.hash(packet, copy, 2))).ln()).sqrt();
        let normal = radius * (core::f64::consts::TAU * unit(self.hash(packet, copy, 3))).cos();
        ((self.delay_us_median * 1000.0 * (sigma * normal).exp()) as u64).max(DELAY_MIN_NS)
    }

    /// Returns whether a copy is held outside the link's queue.
    fn holds(&self, packet: &PacketId, copy: u32) -> bool {
        unit(self.hash(packet, copy, 4)) < self.hold
    }

    /// Returns the bit that flips, lowest bit of the first byte first.
    fn flips(&self, packet: &PacketId, copy: u32, bytes: usize) -> Option<usize> {
        let is_hit = unit(self.hash(packet, copy, 6)) < self.corrupt;
        is_hit.then(|| (unit(self.hash(packet, copy, 7)) * (8 * bytes) as f64) as usize)
    }

    fn duplicates(&self, packet: &PacketId) -> bool {
        unit(self.hash(packet, 0, 5)) < self.duplicate
    }

    fn hash(&self, packet: &PacketId, copy: u32, purpose: u64) -> u64 {
        let place = u64::from(packet.src) << 48
            | u64::from(packet.dst) << 32
            | u64::from(packet.stage) << 24
            | u64::from(copy & 0xffff) << 8
            | purpose;
        let what = u64::from(packet.step) << 48 | u64::from(packet.bucket) << 32 | u64::from(packet.offset);
        splitmix64(splitmix64(splitmix64(self.seed).wrapping_add(place)).wrapping_add(what))
    }
}

/// Maps a hash to [0, 1) by 53 bits.
pub(crate) fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Identity of a packet; `step` is its collective and `offset` the byte in its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // described above
pub struct PacketId {
    pub src: u8,
    pub dst: u8,
    pub step: u16,
    pub stage: u8,
    pub bucket: u16,
    pub offset: u32,
}

impl PacketId {
    /// Reads the identity of a frame from port `src`. `None` if it is short or for no port.
    pub fn of_frame(src: usize, bytes: &[u8], ports: usize) -> Option<Self> {
        let header = bytes.get(..HEADER_BYTES)?;
        let be = |f: optireduce_contract::field::Field| {
            header[f.offset..f.end()].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let dst = usize::from(header[frame::IP_DST.end() - 1]).checked_sub(1)?;
        let to_us = dst < ports && header[frame::IP_DST.offset..frame::IP_DST.end()] == Endpoint::of_rank(dst).ip;
        to_us.then(|| Self {
            src: src as u8,
            dst: dst as u8,
            step: be(frame::STEP) as u16,
            stage: be(frame::VERSION_STAGE) as u8 & 0xf,
            bucket: be(frame::BUCKET) as u16,
            offset: be(frame::OFFSET) as u32,
        })
    }
}

/// Fate of one sent packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Fate {
    pub packet: PacketId,
    pub payload_bytes: u32,
    /// Copies delivered; 0 if the packet was lost.
    pub delivered: u8,
    /// Copies lost.
    pub lost: u8,
    /// Copies delivered with a flipped bit.
    pub corrupted: u8,
}

/// The switch.
#[derive(Debug)]
pub struct Network {
    impairments: Impairments,
    ports: Vec<Port>,
    /// Arrival of the last packet by link (source * ports + destination), for first in, first out.
    links: Vec<u64>,
    copies: Copies,
    fates: Vec<Fate>,
    strays: u64,
    sequence: u64,
}

/// Copies of each packet, so that retransmits have independent fates. Keeps the last 16384 to 32768
/// packets.
#[derive(Debug, Default)]
struct Copies {
    newer: HashMap<PacketId, u32>,
    older: HashMap<PacketId, u32>,
}

impl Copies {
    const KEPT: usize = 1 << 14;

    fn take(&mut self, packet: PacketId, count: u32) -> Range<u32> {
        let taken = self.newer.get(&packet).or_else(|| self.older.get(&packet)).copied().unwrap_or(0);
        if self.newer.len() == Self::KEPT {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(packet, taken + count);
        taken..taken + count
    }
}

#[derive(Debug, Default)]
struct Port {
    /// Ordered by arrival at the port, then by sending.
    flying: BinaryHeap<Reverse<Flight>>,
    free_ps: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    at_ns: u64,
    sequence: u64,
    frame: Vec<u8>,
}

impl Network {
    /// Creates a switch with one port per rank, addressed as [`Endpoint::of_rank`].
    pub fn new(ports: usize, impairments: Impairments) -> Self {
        Self {
            impairments,
            ports: (0..ports).map(|_| Port::default()).collect(),
            links: vec![0; ports * ports],
            copies: Copies::default(),
            fates: Vec::new(),
            strays: 0,
            sequence: 0,
        }
    }

    /// Sends frames from port `src`. Frames with unknown destinations are discarded and counted.
    pub fn send(&mut self, src: usize, departures: impl IntoIterator<Item = Departure>) {
        for departure in departures {
            let Some(packet) = PacketId::of_frame(src, &departure.frame, self.ports.len()) else {
                self.strays += 1;
                continue;
            };
            let copies = 1 + u32::from(self.impairments.duplicates(&packet));
            let payload_bytes = (departure.frame.len() - HEADER_BYTES) as u32;
            let mut fate = Fate { packet, payload_bytes, delivered: 0, lost: 0, corrupted: 0 };
            for copy in self.copies.take(packet, copies) {
                if self.impairments.loses(&packet, copy) {
                    fate.lost += 1;
                    continue;
                }
                fate.delivered += 1;
                let mut at_ns = departure.at_ns + self.impairments.delay_ns(&packet, copy);
                if self.impairments.holds(&packet, copy) {
                    at_ns += Impairments::HOLD_NS;
                } else {
                    let link = &mut self.links[src * self.ports.len() + usize::from(packet.dst)];
                    at_ns = at_ns.max(*link);
                    *link = at_ns;
                }
                let mut frame = departure.frame.clone();
                if let Some(bit) = self.impairments.flips(&packet, copy, frame.len()) {
                    frame[bit / 8] ^= 1 << (bit % 8);
                    fate.corrupted += 1;
                }
                let flight = Flight { at_ns, sequence: self.sequence, frame };
                self.sequence += 1;
                self.ports[usize::from(packet.dst)].flying.push(Reverse(flight));
            }
            self.fates.push(fate);
        }
    }

    /// Passes frames that reach port `dst` before `until_ns` to `rx`. All departures before
    /// `until_ns` - [`DELAY_MIN_NS`] must have been sent.
    pub fn deliver(&mut self, dst: usize, until_ns: u64, rx: &mut VecDeque<Arrival>) {
        let port = &mut self.ports[dst];
        while port.flying.peek().is_some_and(|Reverse(flight)| flight.at_ns < until_ns) {
            let Some(Reverse(flight)) = port.flying.pop() else { break };
            port.free_ps = port.free_ps.max(flight.at_ns * 1000) + wire_ps(flight.frame.len());
            rx.push_back(Arrival { at_ns: port.free_ps.div_ceil(1000), frame: flight.frame });
        }
    }

    /// Arrival of the next frame at port `dst`.
    pub fn next_ns(&self, dst: usize) -> Option<u64> {
        self.ports[dst].flying.peek().map(|Reverse(flight)| flight.at_ns)
    }

    /// Returns the fates of packets sent since the last call, in order.
    pub fn take_fates(&mut self) -> Vec<Fate> {
        std::mem::take(&mut self.fates)
    }

    /// Number of discarded frames.
    pub fn strays(&self) -> u64 {
        self.strays
    }
}

#[cfg(test)]
mod tests {
    use optireduce_contract::packet::{UbtHeader, write_header};

    use super::*;

    fn frame_of(src: usize, dst: usize, offset: u32, payload_bytes: usize) -> Vec<u8> {
        let mut header = [0; 64];
        let ubt = UbtHeader { offset, sender: src as u16, ..Default::default() };
        write_header(&mut header, Endpoint::of_rank(src), Endpoint::of_rank(dst), 5791, &ubt, payload_bytes);
        [header.to_vec(), vec![0; payload_bytes]].concat()
    }

    fn packets(count: u32) -> impl Iterator<Item = PacketId> {
        (0..count).map(|i| PacketId { src: 0, dst: 1, step: 0, stage: 0, bucket: 0, offset: i * 64 })
    }

    #[test]
    fn delays_have_the_median_and_the_tail_that_were_asked_for() {
        for ratio in [1.0, 1.5, 3.0] {
            let impairments = Impairments { tail_ratio: ratio, ..Impairments::default() };
            let mut delays: Vec<_> = packets(100_000).map(|p| impairments.delay_ns(&p, 0) as f64).collect();
            delays.sort_by(f64::total_cmp);
            let (p50, p99) = (delays[50_000], delays[99_000]);
            assert!((p50 / 10_000.0 - 1.0).abs() < 0.01, "ratio {ratio}: median {p50} ns");
            assert!((p99 / p50 / ratio - 1.0).abs() < 0.02, "ratio {ratio}: P99/P50 {}", p99 / p50);
        }
    }

    #[test]
    fn losses_come_as_often_as_asked_and_follow_the_packet() {
        let impairments = Impairments { loss: 0.01, ..Impairments::default() };
        let lost = packets(100_000).filter(|p| impairments.loses(p, 0)).count();
        assert!(lost.abs_diff(1000) < 160, "{lost} of 100000 lost at 1 %"); // 5 standard deviations of 31.5
        let other = Impairments { seed: 2, ..impairments };
        let both = packets(100_000).filter(|p| impairments.loses(p, 0) && other.loses(p, 0)).count();
        assert!(both < 40, "{both} packets lost under both seeds, about 10 expected");
    }

    #[test]
    fn incast_queues_at_the_receivers_port() {
        let mut network = Network::new(9, Impairments { tail_ratio: 1.0, ..Impairments::default() });
        for src in 1..9 {
            network.send(src, [Departure { at_ns: 500, frame: frame_of(src, 0, 0, 1408) }]);
        }
        let mut rx = VecDeque::new();
        network.deliver(0, 1_000_000, &mut rx);
        let times: Vec<_> = rx.iter().map(|arrival| arrival.at_ns).collect();
        // After 10 us, eight frames of 1496 bytes with overhead take 119.68 ns each.
        let expected: Vec<_> = (1..=8).map(|k: u64| (10_500_000 + k * 119_680u64).div_ceil(1000)).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn a_link_is_first_in_first_out_but_for_packets_held() {
        let order = |hold| {
            let mut network = Network::new(2, Impairments { tail_ratio: 5.0, hold, ..Impairments::default() });
            for i in 0..1000 {
                network.send(0, [Departure { at_ns: i * 120, frame: frame_of(0, 1, i as u32 * 64, 64) }]);
            }
            let mut rx = VecDeque::new();
            network.deliver(1, u64::MAX, &mut rx);
            let offset = |a: &Arrival| u32::from_be_bytes(a.frame[frame::OFFSET.offset..][..4].try_into().unwrap());
            rx.iter().zip(rx.iter().skip(1)).filter(|(a, b)| offset(a) > offset(b)).count()
        };
        assert_eq!(order(0.0), 0);
        assert!(order(0.1) > 20);
    }

    #[test]
    fn the_record_tells_lost_and_doubled_packets() {
        let impairments = Impairments { loss: 0.3, duplicate: 0.3, ..Impairments::default() };
        let mut network = Network::new(2, impairments);
        for i in 0..1000 {
            network.send(0, [Departure { at_ns: i * 120, frame: frame_of(0, 1, i as u32 * 64, 64) }]);
        }
        let mut rx = VecDeque::new();
        network.deliver(1, u64::MAX, &mut rx);
        let fates = network.take_fates();
        assert_eq!(fates.len(), 1000);
        assert_eq!(rx.len(), fates.iter().map(|fate| usize::from(fate.delivered)).sum::<usize>());
        for kind in [(0, 1), (1, 0), (1, 1), (2, 0), (0, 2)] {
            assert!(fates.iter().any(|fate| (fate.delivered, fate.lost) == kind), "no packet with fate {kind:?}");
        }
        assert!(rx.iter().zip(rx.iter().skip(1)).all(|(a, b)| a.at_ns <= b.at_ns));
    }

    #[test]
    fn corrupted_packets_have_one_flipped_bit_each_anywhere_and_come_as_often_as_asked() {
        let mut network = Network::new(2, Impairments { corrupt: 0.25, ..Impairments::default() });
        let frames: Vec<_> = (0..4000).map(|i| frame_of(0, 1, i * 64, 64)).collect();
        network.send(0, frames.iter().cloned().map(|frame| Departure { at_ns: 0, frame }));
        let mut rx = VecDeque::new();
        network.deliver(1, u64::MAX, &mut rx);
        let flipped: Vec<Vec<usize>> = (frames.iter().zip(&rx))
            .map(|(sent, came)| {
                (0..8 * sent.len()).filter(|bit| (sent[bit / 8] ^ came.frame[bit / 8]) >> (bit % 8) & 1 == 1).collect()
            })
            .collect();
        let fates = network.take_fates();
        assert!(fates.iter().zip(&flipped).all(|(fate, bits)| usize::from(fate.corrupted) == bits.len()));
        let bits: std::collections::BTreeSet<usize> = flipped.concat().into_iter().collect();
        let count = flipped.concat().len();
        assert!(count.abs_diff(1000) < 137, "{count} of 4000 corrupted at 25 %"); // 5 standard deviations of 27.4
        assert!(bits.len() > 500, "only {} different bits of 1024 flipped", bits.len());
        assert!(bits.first() < Some(&16) && bits.last() > Some(&1007), "header and payload are hit");
    }

    #[test]
    fn a_packet_that_is_sent_again_has_a_fate_of_its_own() {
        let impairments = Impairments { loss: 0.5, ..Impairments::default() };
        let mut network = Network::new(2, impairments);
        for at_ns in 0..1000 {
            network.send(0, [Departure { at_ns, frame: frame_of(0, 1, 0, 64) }]);
        }
        let fates = network.take_fates();
        let lost = fates.iter().filter(|fate| fate.lost == 1).count();
        assert!(lost.abs_diff(500) < 80, "{lost} of 1000 lost at 50 %"); // 5 standard deviations of 15.8
        // The fate of the first copy does not depend on later copies.
        assert_eq!(fates[0].lost == 1, impairments.loses(&fates[0].packet, 0));
    }

    #[test]
    fn of_the_copies_of_packets_the_newest_are_remembered() {
        let mut copies = Copies::default();
        let packet = |offset| PacketId { src: 0, dst: 1, step: 0, stage: 0, bucket: 0, offset };
        let kept = Copies::KEPT as u32;
        (0..kept).for_each(|offset| assert_eq!(copies.take(packet(offset), 2), 0..2));
        (0..kept).for_each(|offset| assert_eq!(copies.take(packet(offset), 1), 2..3));
        (kept..3 * kept).for_each(|offset| assert_eq!(copies.take(packet(offset), 1), 0..1));
        assert_eq!(copies.take(packet(3 * kept - 1), 1), 1..2);
        assert_eq!(copies.take(packet(0), 1), 0..1);
        assert!(copies.newer.len() + copies.older.len() <= 2 * Copies::KEPT);
    }

    #[test]
    fn a_frame_for_nobody_is_counted_and_vanishes() {
        let mut network = Network::new(2, Impairments::default());
        network.send(0, [Departure { at_ns: 0, frame: frame_of(0, 5, 0, 64) }, Departure { at_ns: 0, frame: vec![1] }]);
        assert_eq!((network.strays(), network.next_ns(0), network.next_ns(1)), (2, None, None));
    }
}
