//! The sending side of the functional card: contributions, means, and the MAC.

use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    FLAG_LAST_PERCENTILE, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader, write_header,
};

use super::FunctionalCard;
use super::job::Job;
use super::window::{Lanes, Window};
use crate::card::Departure;
use crate::network::wire_ps;

impl FunctionalCard {
    /// The gradient of the window in `slot` has come: sums the own shard, sends the others. If it could not be read, this
    /// rank contributes nothing.
    pub(super) fn gradient(&mut self, job: &Job, slot: u8, address: u64, beats: u16, extra: UbtHeader) {
        let mut gradient = vec![0; usize::from(beats) * BEAT_BYTES];
        let readable = self.read(address, &mut gradient);
        let Some(mut window) = self.slots[usize::from(slot)].take() else { return };
        window.reading = false;
        if readable {
            let contribution = window.encode(&gradient);
            window.take_own(self.now_ns, &contribution, &mut self.trace);
            let ubt = UbtHeader { stage: STAGE_CONTRIBUTE, ..extra };
            let shards = window.shards;
            let shard_of = |peer| shards.range_of(peer);
            self.send_stage(job, &mut window, ubt, shard_of, |at| Some(contribution[at]));
        }
        window.dma_failed |= !readable;
        self.slots[usize::from(slot)] = Some(window);
        // Both gates may have closed meanwhile.
        self.start_finish(usize::from(slot));
    }

    /// Sends the mean of the own shard to all peers, if it is wanted and there.
    pub(super) fn broadcast(&mut self, job: &Job, index: usize) {
        let Some(mut window) = self.slots[index].take() else { return };
        if window.broadcast_wanted && window.gates[0].closed.is_some() {
            window.broadcast_wanted = false;
            let ubt = UbtHeader { stage: STAGE_BROADCAST, ..UbtHeader::default() };
            let own = window.own.clone();
            let means: Vec<_> = own.clone().map(|at| window.mean(at).copied()).collect();
            self.send_stage(job, &mut window, ubt, |_| own.clone(), |at| means[at - own.start]);
        }
        self.slots[index] = Some(window);
    }

    /// Sends each peer its shard of a window, round by round, within a round packet by packet in turn. Packets whose first
    /// beat is missing are left out.
    fn send_stage(
        &mut self,
        job: &Job,
        window: &mut Window,
        extra: UbtHeader,
        shard_of: impl Fn(usize) -> Range<usize>,
        beat: impl Fn(usize) -> Option<Lanes>,
    ) {
        // Window beats of a full packet.
        let full = job.payload_beats << u8::from(window.bf16());
        for peers in job.rounds(window.arm.send_incast) {
            let packets_of = |peer: usize| shard_of(peer).len().div_ceil(full);
            let packets_max = peers.iter().map(|peer| packets_of(*peer)).max().unwrap_or(0);
            for (number, &peer) in (0..packets_max).flat_map(|number| peers.iter().map(move |peer| (number, peer))) {
                let (shard, packets) = (shard_of(peer), packets_of(peer));
                let first = shard.start + number * full;
                if number >= packets || beat(first).is_none() {
                    continue;
                }
                let beats = first..shard.end.min(first + full);
                let lanes: Vec<u32> = beats.flat_map(|at| beat(at).unwrap_or_default()).collect();
                let payload = if window.bf16() { narrowed(&lanes) } else { plain(&lanes) };
                let marked = number + usize::from(window.arm.mark_packets.max(1)) >= packets;
                let ubt = UbtHeader {
                    bucket: window.arm.bucket,
                    offset: window.arm.base + (first * BEAT_BYTES) as u32,
                    flags: (u8::from(marked) * FLAG_LAST_PERCENTILE) | window.packet_flags(),
                    sender: job.rank as u16,
                    step: window.arm.step,
                    job_tag: job.job_tag,
                    ..extra
                };
                window.sent_ns = self.send(job, peer, &ubt, &payload);
            }
        }
    }

    /// Queues a frame; returns when its last byte is on the wire.
    fn send(&mut self, job: &Job, peer: usize, ubt: &UbtHeader, payload: &[u8]) -> u64 {
        let mut header = [0; HEADER_BYTES];
        write_header(&mut header, job.local, job.peers[peer], job.udp_port, ubt, payload.len());
        let frame = [&header, payload].concat();
        let begin_ps = self.pacer.begin_ps(peer, frame.len(), self.mac_free_ps.max(self.now_ns * 1000));
        self.mac_free_ps = begin_ps + wire_ps(frame.len());
        let at_ns = self.mac_free_ps.div_ceil(1000);
        self.outbox.push_back(Departure { at_ns, frame });
        at_ns
    }
}

/// An fp32 payload.
fn plain(lanes: &[u32]) -> Vec<u8> {
    lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect()
}

/// A bf16 payload of rounded lanes, in whole beats: an odd number of window beats leaves half a beat of zeros.
fn narrowed(lanes: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = lanes.iter().flat_map(|lane| ((lane >> 16) as u16).to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(BEAT_BYTES), 0);
    bytes
}
