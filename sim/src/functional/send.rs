//! The sending side of the functional card: contributions, means, and the MAC that paces them.

use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    FLAG_HADAMARD, FLAG_LAST_PERCENTILE, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader, write_header,
};
use optireduce_contract::registers as reg;

use super::FunctionalCard;
use super::job::Job;
use super::window::{Lanes, Window};
use crate::card::Departure;
use crate::network::wire_ps;

impl FunctionalCard {
    /// The gradient of the window in `slot` has come: sums the own shard, sends the others.
    pub(super) fn gradient(&mut self, job: &Job, slot: u8, address: u64, beats: u16, extra: UbtHeader) {
        let mut gradient = vec![0; usize::from(beats) * BEAT_BYTES];
        let readable = self.read(address, &mut gradient);
        let Some(mut window) = self.slots[usize::from(slot)].take() else { return };
        window.reading = false;
        window.dma_failed |= !readable;
        let contribution = window.encode(&gradient);
        window.take_own(self.now_ns, &contribution, &mut self.trace);
        for peer in job.peers_in_order() {
            let ubt = UbtHeader { stage: STAGE_CONTRIBUTE, ..extra };
            self.send_shard(job, &window, peer, window.shards.range_of(peer), ubt, |at| Some(&contribution[at]));
        }
        self.slots[usize::from(slot)] = Some(window);
        // Both gates may have closed meanwhile.
        self.start_finish(usize::from(slot));
    }

    /// Sends the mean of the own shard to all peers, if it is wanted and there.
    pub(super) fn broadcast(&mut self, job: &Job, index: usize) {
        let Some(mut window) = self.slots[index].take() else { return };
        if window.broadcast_wanted && window.gates[0].closed.is_some() {
            window.broadcast_wanted = false;
            for peer in job.peers_in_order() {
                let ubt = UbtHeader { stage: STAGE_BROADCAST, ..UbtHeader::default() };
                self.send_shard(job, &window, peer, window.own.clone(), ubt, |at| window.mean(at));
            }
        }
        self.slots[index] = Some(window);
    }

    /// Sends the beats `shard` of a window to `peer`; packets whose first beat is missing are left out.
    fn send_shard<'a>(
        &mut self,
        job: &Job,
        window: &Window,
        peer: usize,
        shard: Range<usize>,
        extra: UbtHeader,
        beat: impl Fn(usize) -> Option<&'a Lanes>,
    ) {
        let packets = shard.len().div_ceil(job.payload_beats);
        for (number, first) in shard.clone().step_by(job.payload_beats).enumerate() {
            if beat(first).is_none() {
                continue;
            }
            let last = shard.end.min(first + job.payload_beats);
            let payload = (first..last).flat_map(|at| beat(at).copied().unwrap_or_default());
            let bytes: Vec<u8> = payload.flat_map(u32::to_le_bytes).collect();
            let marked = number + usize::from(window.arm.mark_packets.max(1)) >= packets;
            let ubt = UbtHeader {
                bucket: window.arm.bucket,
                offset: window.arm.base + (first * BEAT_BYTES) as u32,
                flags: (u8::from(marked) * FLAG_LAST_PERCENTILE) | (u8::from(window.hadamard()) * FLAG_HADAMARD),
                sender: job.rank as u16,
                step: window.arm.step,
                job_tag: job.job_tag,
                ..extra
            };
            self.send(job, peer, &ubt, &bytes);
        }
    }

    fn send(&mut self, job: &Job, peer: usize, ubt: &UbtHeader, payload: &[u8]) {
        let mut header = [0; HEADER_BYTES];
        write_header(&mut header, job.local, job.peers[peer], job.udp_port, ubt, payload.len());
        let frame = [&header, payload].concat();
        self.mac_free_ps = self.mac_free_ps.max(self.now_ns * 1000) + wire_ps(frame.len());
        self.count(reg::TX_PACKETS, 1);
        self.outbox.push(Departure { at_ns: self.mac_free_ps.div_ceil(1000), frame });
    }
}
