//! The baseline: the same all-reduce (TAR) over a reliable transport on the same network.
//!
//! Model: a rank that enters a stage sends all its packets at line rate, window by window and peer
//! by peer. A lost packet is retransmitted after one round trip if a later packet of the same flow
//! arrives (fast retransmit), otherwise after [`RTO_NS`], which doubles each time. The receiver's
//! port passes packets one by one. A rank starts the broadcast once all contributions have arrived,
//! so all ranks wait for the slowest rank and the last packet.
//!
//! Packets have the same identities, hence the same losses and delays, as in the simulation of
//! cards. Each stage also costs [`STAGE_NS`] of host software.
//!
//! Simplifications in favour of the reliable transport: no congestion control, slow start,
//! handshakes, or queueing between the two stages.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_core::protocol::WindowPlan;

use crate::network::{Impairments, PacketId};
use crate::wire::{PS_PER_BYTE, wire_ps};

/// Smallest retransmission timeout: a tuned TCP minimum.
pub const RTO_NS: u64 = 5_000_000;
/// Host cost of a stage with a tuned kernel transport: system calls, copies, interrupts and
/// scheduling.
pub const STAGE_NS: u64 = 20_000;

/// Sending parameters of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Payload of a full packet in beats.
    pub payload_beats: usize,
    /// Total rate in bytes on the wire, at most [`WIRE_BYTES_PER_US`].
    pub bytes_per_us: u64,
}

/// 100 Gb/s.
pub const WIRE_BYTES_PER_US: u64 = 1_000_000 / PS_PER_BYTE;

/// Timing of one collective over the reliable transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReliableRun {
    /// Durations of both stages, by rank.
    pub stage_ns: Vec<[u64; 2]>,
    /// Time until the last rank is done.
    pub total_ns: u64,
    /// Retransmitted packets.
    pub retransmissions: u64,
}

/// Simulates one collective. `starts_ns`: each rank's delay from the start of the step.
pub fn run(plans: &[WindowPlan], sending: Sending, impairments: &Impairments, starts_ns: &[u64]) -> ReliableRun {
    let mut retransmissions = 0;
    let mut stage = |number, entries: &[u64]| {
        let mut arrivals: Vec<Vec<(u64, usize)>> = vec![Vec::new(); entries.len()];
        for (src, entry) in entries.iter().enumerate() {
            let flows = send_stage(plans, sending, number, src, entries.len(), entry + STAGE_NS);
            for flow in flows {
                retransmissions += flow.deliver(impairments, &mut arrivals);
            }
        }
        entries
            .iter()
            .zip(arrivals)
            .map(|(entry, arrivals)| last_through_port(arrivals).max(*entry))
            .collect::<Vec<_>>()
    };
    let contributed = stage(STAGE_CONTRIBUTE, starts_ns);
    let finished = stage(STAGE_BROADCAST, &contributed);
    let times = starts_ns.iter().zip(&contributed).zip(&finished);
    ReliableRun {
        stage_ns: times.map(|((start, middle), end)| [middle - start, end - middle]).collect(),
        total_ns: finished.into_iter().max().unwrap_or(0),
        retransmissions,
    }
}

/// Packets of one rank to one peer in one stage, in order of sending.
struct Flow {
    packets: Vec<(PacketId, u64, usize)>,
}

impl Flow {
    /// Adds arrivals at the receiver's port. Returns the number of retransmits.
    fn deliver(&self, impairments: &Impairments, arrivals: &mut [Vec<(u64, usize)>]) -> u64 {
        let round_trip_ns = (2000.0 * impairments.delay_us_median) as u64;
        let mut retransmissions = 0;
        for (index, (packet, sent_ns, frame_bytes)) in self.packets.iter().enumerate() {
            let noticed = self.packets[index + 1..].iter().any(|(later, ..)| !impairments.loses(later, 0));
            let (mut at_ns, mut copy, mut rto_ns) = (*sent_ns, 0, RTO_NS);
            // A real transport would also give up after 64 losses.
            while copy < 64 && impairments.loses(packet, copy) {
                if copy == 0 && noticed {
                    at_ns += round_trip_ns;
                } else {
                    at_ns += rto_ns;
                    rto_ns *= 2.min(u64::MAX / rto_ns.max(1));
                }
                copy += 1;
            }
            retransmissions += u64::from(copy);
            arrivals[usize::from(packet.dst)].push((at_ns + impairments.delay_ns(packet, copy), *frame_bytes));
        }
        retransmissions
    }
}

fn send_stage(plans: &[WindowPlan], sending: Sending, stage: u8, src: usize, ranks: usize, at_ns: u64) -> Vec<Flow> {
    let mut flows: Vec<Flow> = (0..ranks).map(|_| Flow { packets: Vec::new() }).collect();
    let mut sent_ps = at_ns * 1000;
    for plan in plans {
        for dst in (1..ranks).map(|k| (src + k) % ranks) {
            let shard = plan.shards.range_of(if stage == STAGE_CONTRIBUTE { dst } else { src });
            let full = plan.shape().packet_beats(sending.payload_beats);
            for first in shard.clone().step_by(full) {
                let beats = plan.shape().payload_beats(full.min(shard.end - first));
                let frame_bytes = HEADER_BYTES + beats * BEAT_BYTES;
                sent_ps += (wire_ps(frame_bytes) / PS_PER_BYTE * 1_000_000) / sending.bytes_per_us;
                let packet = PacketId {
                    src: src as u8,
                    dst: dst as u8,
                    step: plan.step,
                    stage,
                    bucket: plan.bucket,
                    offset: plan.base_bytes + (first * BEAT_BYTES) as u32,
                };
                flows[dst].packets.push((packet, sent_ps / 1000, frame_bytes));
            }
        }
    }
    flows
}

/// Time at which the last packet has passed the port; 0 without packets.
fn last_through_port(mut arrivals: Vec<(u64, usize)>) -> u64 {
    arrivals.sort_unstable();
    let free_ps = arrivals.into_iter().fold(0, |free_ps, (at_ns, bytes)| (at_ns * 1000).max(free_ps) + wire_ps(bytes));
    free_ps.div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::engine::Engine;
    use crate::cluster::ClusterConfig;

    /// Two shards of `packets` one-beat packets.
    fn plans(packets: usize) -> Vec<WindowPlan> {
        ClusterConfig::new(Engine::Functional, 2).plans(0, 2 * packets * 16, false).unwrap()
    }

    const ONE_BEAT: Sending = Sending { payload_beats: 1, bytes_per_us: WIRE_BYTES_PER_US };
    const CALM: Impairments = Impairments {
        seed: 1,
        delay_us_median: 10.0,
        tail_ratio: 1.0,
        loss: 0.0,
        duplicate: 0.0,
        hold: 0.0,
        corrupt: 0.0,
    };
    /// 152 bytes on the wire.
    const PACKET_PS: u64 = 12_160;

    #[test]
    fn without_loss_a_stage_takes_entry_wire_and_delay() {
        let found = run(&plans(3), ONE_BEAT, &CALM, &[0, 0]);
        // Three packets leave one after the other; the last also passes the receiver's port.
        let stage_ns = (STAGE_NS * 1000 + 3 * PACKET_PS) / 1000 * 1000 + 10_000_000;
        let stage_ns = (stage_ns + PACKET_PS).div_ceil(1000);
        assert_eq!(found.stage_ns[0][0], stage_ns);
        assert_eq!((found.stage_ns[0], found.retransmissions), (found.stage_ns[1], 0));
        assert_eq!(found.total_ns, found.stage_ns[0].iter().sum::<u64>());
        // At a quarter of the rate the packets leave four times as far apart.
        let slow = Sending { bytes_per_us: WIRE_BYTES_PER_US / 4, ..ONE_BEAT };
        let slow_ns = run(&plans(3), slow, &CALM, &[0, 0]).stage_ns[0][0];
        assert!(slow_ns.abs_diff(stage_ns + 9 * PACKET_PS / 1000) <= 1, "{slow_ns} ns, unpaced {stage_ns} ns");
    }

    #[test]
    fn everybody_waits_for_the_straggler() {
        let calm = run(&plans(3), ONE_BEAT, &CALM, &[0, 0]);
        let late = run(&plans(3), ONE_BEAT, &CALM, &[0, 700_000]);
        assert_eq!(late.total_ns, calm.total_ns + 700_000);
    }

    #[test]
    fn a_lost_packet_costs_a_round_trip_or_if_it_was_the_last_the_timeout() {
        let calm = run(&plans(3), ONE_BEAT, &CALM, &[0, 0]).total_ns;
        // Seeds with exactly one lost packet of all twelve, lost once.
        let lost_packet = |impairments: &Impairments| {
            let flow = |stage, src| send_stage(&plans(3), ONE_BEAT, stage, src, 2, 0).swap_remove(1 - src).packets;
            let all: Vec<_> = [STAGE_CONTRIBUTE, STAGE_BROADCAST]
                .into_iter()
                .flat_map(|stage| [flow(stage, 0), flow(stage, 1)].concat())
                .collect();
            let lost: Vec<usize> = (0..all.len()).filter(|at| impairments.loses(&all[*at].0, 0)).collect();
            let only = lost.first().copied().filter(|at| lost.len() == 1 && !impairments.loses(&all[*at].0, 1));
            only.map(|at| at % 3)
        };
        let mut seen = [0; 3];
        for seed in 0..200 {
            let impairments = Impairments { seed, loss: 0.1, ..CALM };
            let Some(at) = lost_packet(&impairments) else { continue };
            let found = run(&plans(3), ONE_BEAT, &impairments, &[0, 0]);
            let more_ns = found.total_ns - calm;
            let costs_ns = if at == 2 { RTO_NS } else { 20_000 };
            // Slightly less, as fewer packets queue before the retransmitted one.
            assert!(more_ns.abs_diff(costs_ns) < 100, "seed {seed}: packet {at} of its flow cost {more_ns} ns");
            assert_eq!(found.retransmissions, 1);
            seen[at] += 1;
        }
        assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    }
}
