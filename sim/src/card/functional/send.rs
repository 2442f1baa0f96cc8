//! Send path of the functional card: contributions, means and the MAC.

use std::collections::VecDeque;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    FLAG_LAST_PERCENTILE, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader, write_header, write_udp_checksum,
};
use optireduce_contract::rules::send::{self, Cut, Packets};

use super::FunctionalCard;
use super::job::Job;
use super::window::{Lanes, Window};
use crate::wire::Departure;
use crate::wire::wire_ps;

impl FunctionalCard {
    /// Sums the local shard and sends the others. Contributes nothing if the read failed.
    pub(super) fn gradient(&mut self, job: &Job, slot: u8, address: u64, beats: u16) {
        let mut gradient = vec![0; usize::from(beats) * BEAT_BYTES];
        let readable = self.read(address, &mut gradient);
        let Some(mut window) = self.slots[usize::from(slot)].take() else { return };
        window.reading = false;
        if readable {
            let contribution = window.encode(&gradient);
            window.take_own(self.now_ns, &contribution, &mut self.trace);
            let shards = window.shape.shards;
            let shard_of = |peer| shards.range_of(peer);
            self.send_stage(job, &mut window, STAGE_CONTRIBUTE, shard_of, |at| Some(contribution[at]));
        }
        window.dma_failed |= !readable;
        self.slots[usize::from(slot)] = Some(window);
        // Both gates may have closed during the read.
        self.start_finish(usize::from(slot));
    }

    pub(super) fn broadcast(&mut self, job: &Job, index: usize) {
        let Some(mut window) = self.slots[index].take() else { return };
        if window.broadcast_wanted && !window.gates[0].is_open() {
            window.broadcast_wanted = false;
            let local = window.local.clone();
            let means: Vec<_> = local.clone().map(|at| window.mean(at).copied()).collect();
            self.send_stage(job, &mut window, STAGE_BROADCAST, |_| local.clone(), |at| means[at - local.start]);
        }
        self.slots[index] = Some(window);
    }

    /// Sends a frame outside of windows, at line rate.
    pub(super) fn send_frame(&mut self, frame: Vec<u8>) {
        self.mac_free_ps = self.mac_free_ps.max(self.now_ns * 1000) + wire_ps(frame.len());
        self.outbox.push_back(Departure { at_ns: self.mac_free_ps.div_ceil(1000), frame });
    }

    /// Peers of a round alternate packet by packet; blocked ones are skipped. Packets whose first
    /// beat is missing are omitted.
    fn send_stage(
        &mut self,
        job: &Job,
        window: &mut Window,
        stage: u8,
        shard_of: impl Fn(usize) -> Range<usize>,
        beat: impl Fn(usize) -> Option<Lanes>,
    ) {
        let incast = window.arm.send_incast.into();
        for round in 0..send::rounds(job.ranks, incast) {
            let peers = send::peers_in_round(job.rank, job.ranks, incast, round);
            let frames_to = |peer: usize| (peer, frames(job, window, peer, stage, shard_of(peer), &beat));
            let mut queues: VecDeque<(usize, VecDeque<Vec<u8>>)> = peers.map(frames_to).collect();
            loop {
                queues.retain(|(_, frames)| !frames.is_empty());
                let free_ps = self.mac_free_ps.max(self.now_ns * 1000);
                let ready = queues.iter().map(|(peer, frames)| self.pacer.ready_ps(*peer, frames[0].len(), free_ps));
                let Some((turn, begin_ps)) = ready.enumerate().min_by_key(|(turn, ready_ps)| (*ready_ps, *turn)) else {
                    break;
                };
                queues.rotate_left(turn);
                let (peer, frames) = &mut queues[0];
                if let Some(frame) = frames.pop_front() {
                    self.pacer.take(*peer, frame.len(), begin_ps);
                    self.mac_free_ps = begin_ps + wire_ps(frame.len());
                    window.sent_ns = self.mac_free_ps.div_ceil(1000);
                    self.outbox.push_back(Departure { at_ns: window.sent_ns, frame });
                }
                queues.rotate_left(1);
            }
        }
    }
}

fn frames(
    job: &Job,
    window: &Window,
    peer: usize,
    stage: u8,
    shard: Range<usize>,
    beat: impl Fn(usize) -> Option<Lanes>,
) -> VecDeque<Vec<u8>> {
    let cut = Cut {
        packet_beats: window.shape.packet_beats(job.payload_beats),
        mark_packets: window.arm.mark_packets.into(),
    };
    let frame = |packet: send::Packet| {
        beat(packet.beats.start)?;
        let offset = window.arm.base + (packet.beats.start * BEAT_BYTES) as u32;
        let lanes: Vec<u32> = packet.beats.flat_map(|at| beat(at).unwrap_or_default()).collect();
        let payload = if window.shape.bf16 { narrowed(&lanes) } else { plain(&lanes) };
        let ubt = UbtHeader {
            bucket: window.arm.bucket,
            offset,
            timeout_16us: window.timeout_16us,
            incast: window.incast,
            flags: (u8::from(packet.marked) * FLAG_LAST_PERCENTILE) | window.shape.packet_flags(),
            stage,
            sender: job.rank as u16,
            step: window.arm.step,
            job_tag: job.job_tag,
        };
        let mut header = [0; HEADER_BYTES];
        write_header(&mut header, job.local, job.peers[peer], job.udp_port, &ubt, payload.len());
        let mut frame = [&header[..], &payload].concat();
        write_udp_checksum(&mut frame);
        Some(frame)
    };
    Packets::new(shard, cut).filter_map(frame).collect()
}

fn plain(lanes: &[u32]) -> Vec<u8> {
    lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect()
}

/// An odd number of window beats leaves half a beat of zeros.
fn narrowed(lanes: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = lanes.iter().flat_map(|lane| ((lane >> 16) as u16).to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(BEAT_BYTES), 0);
    bytes
}
