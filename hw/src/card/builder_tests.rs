//! The frame builder against the contract's `write_header`, byte for byte.

use super::builder::Builder;
use super::stimulus::{EAGER, beat_of};
use super::testing::{Pace, at_every_pace, linear, random_beat};
use super::types::{FrameBeat, GatherWord, JobWords, PacketOrder};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{
    Endpoint, FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader,
    write_header,
};
use std::collections::VecDeque;

struct Job {
    rank: usize,
    port: u16,
    tag: u64,
    peers: Vec<Endpoint>,
}

impl Job {
    /// Addresses are partly all ones, for carries in the checksum.
    fn random(random: &mut Random) -> Self {
        let mut byte = || if random.one_in(3) { 0xff } else { random.next() as u8 };
        let peers = (0..64).map(|_| Endpoint { mac: [(); 6].map(|_| byte()), ip: [(); 4].map(|_| byte()) }).collect();
        Job { rank: random.below(64) as usize, port: random.next() as u16, tag: random.next(), peers }
    }

    /// Wire bytes loaded little-endian.
    fn words(&self) -> JobWords {
        let mut mac = [0; 8];
        mac[..6].copy_from_slice(&self.peers[self.rank].mac);
        JobWords {
            rank: bits_w(self.rank as u64),
            ranks: bits_w(64),
            job_tag: bits_w(u64::from_le_bytes(self.tag.to_be_bytes())),
            payload_beats: bits_w(22),
            udp_port: bits_w(u16::from_le_bytes(self.port.to_be_bytes()).into()),
            ip: bits_w(u32::from_le_bytes(self.peers[self.rank].ip).into()),
            mac: bits_w(u64::from_le_bytes(mac)),
            window_beats: bits_w(1024),
            log2_n_max: bits_w(12),
        }
    }

    fn load(&self, bench: &mut Bench<Builder>) {
        bench.block.job.next = self.words();
        bench.block.peer_write.next = true;
        for (rank, peer) in self.peers.iter().enumerate() {
            let [a, b, c, d, e, f] = peer.mac;
            let words = [peer.ip, [a, b, c, d], [e, f, 0, 0], [0xaa; 4]].map(u32::from_le_bytes);
            for (word, data) in words.into_iter().enumerate() {
                bench.block.peer_word.next = bits_w((rank * 4 + word) as u64);
                bench.block.peer_data.next = bits_w(data.into());
                bench.tick();
            }
        }
        bench.block.peer_write.next = false;
    }

    fn header(&self, order: &PacketOrder) -> Beat {
        let ubt = UbtHeader {
            bucket: order.bucket.raw() as u16,
            offset: order.beat.raw() as u32 * 64,
            timeout_16us: order.timeout.raw() as u16,
            incast: order.incast.raw() as u8,
            flags: [(order.mark, FLAG_LAST_PERCENTILE), (order.hadamard, FLAG_HADAMARD), (order.bf16, FLAG_BF16)]
                .map(|(set, flag)| u8::from(set) * flag)
                .iter()
                .sum(),
            stage: if order.broadcast { STAGE_BROADCAST } else { STAGE_CONTRIBUTE },
            sender: self.rank as u16,
            step: order.step.raw() as u16,
            job_tag: self.tag,
        };
        let mut out = [0xa5; 64];
        let payload_bytes = order.beats.raw() as usize * 64;
        write_header(&mut out, self.peers[self.rank], self.peers[order.peer.index()], self.port, &ubt, payload_bytes);
        Beat::from_bytes(&out)
    }
}

fn buffer(address: u64) -> Beat {
    beat_of(address, 1)
}

fn gather(address: u64) -> Beat {
    beat_of(address, 2)
}

/// Window beats in a packet.
fn words_of(order: &PacketOrder) -> u64 {
    (order.beats.raw() << u64::from(order.bf16)) - u64::from(order.half)
}

fn payload(order: &PacketOrder) -> Vec<Beat> {
    let (broadcast, slot, bank) = (order.broadcast, order.slot.raw(), u64::from(order.bank));
    let position = order.position.raw();
    let word = |at| if broadcast { gather(slot << 10 | at) } else { buffer(bank << 10 | at) };
    let beats: Vec<Beat> = (position..position + words_of(order)).map(word).collect();
    if !order.bf16 {
        return beats;
    }
    let pack = |pair: &[Beat]| {
        let lanes = [pair[0], pair.get(1).copied().unwrap_or_default()].map(|beat| beat.0);
        let bytes: Vec<u8> = lanes.as_flattened().iter().flat_map(|lane| lane.to_le_bytes()[2..].to_vec()).collect();
        Beat::from_bytes(&bytes.try_into().expect("32 values of two bytes"))
    };
    beats.chunks(2).map(pack).collect()
}

fn any_order(random: &mut Random, beats_max: u64) -> PacketOrder {
    let beats = 1 + random.below(beats_max);
    let bf16 = random.one_in(2);
    PacketOrder {
        slot: bits_w(random.next()),
        broadcast: random.one_in(2),
        bank: random.one_in(2),
        peer: bits_w(random.next()),
        position: bits_w(random.below(1025 - 2 * beats)),
        beats: bits_w(beats),
        half: bf16 && random.one_in(2),
        mark: random.one_in(2),
        last: false,
        timeout: bits_w(random.next()),
        incast: bits_w(random.next()),
        step: bits_w(random.next()),
        bucket: bits_w(random.next()),
        beat: bits_w(random.next()),
        hadamard: random.one_in(2),
        bf16,
    }
}

fn step(bench: &mut Bench<Builder>, random: &mut Random, reads: &mut (Option<u64>, Option<u64>)) -> Option<FrameBeat> {
    bench.block.buffer_data.next = reads.0.take().map_or_else(|| random_beat(random), buffer);
    let data = reads.1.take().map_or_else(|| random_beat(random), gather);
    bench.block.gather_word.next = GatherWord { data, epoch: bits_w(random.next()) };
    bench.settle();
    let block = &bench.block;
    reads.0 = block.buffer_valid.val().then(|| linear(block.buffer_address.val()));
    reads.1 = block.gather_valid.val().then(|| linear(block.gather_address.val()));
    let taken = (block.mac_valid.val() && block.mac_ready.val()).then(|| block.mac.val());
    bench.tick();
    taken
}

fn run(bench: &mut Bench<Builder>, random: &mut Random, pace: Pace, frames: usize, beats_max: u64) {
    let job = Job::random(random);
    job.load(bench);
    let mut expected: VecDeque<FrameBeat> = VecDeque::new();
    let mut ends: VecDeque<(u64, u64, u64)> = VecDeque::new(); // beats read before the end, banks, slots
    let mut reads = (None, None);
    let (mut ordered, mut asked, mut began, mut inside) = (0, 0u64, 0, false);
    let mut to_read = 0u64;
    let mut next = None::<PacketOrder>;
    let mut end_next = None::<PacketOrder>;
    let mut cycle = 0;
    while ordered < frames || !expected.is_empty() || !ends.is_empty() || next.is_some() || end_next.is_some() {
        cycle += 1;
        assert!(cycle < frames * 1000, "stuck with {} beats outstanding", expected.len());
        if next.is_none() && pace.comes(random) {
            next = end_next.take().or_else(|| (ordered < frames).then(|| any_order(random, beats_max)));
        }
        bench.block.order_valid.next = next.is_some();
        bench.block.order.next = next.unwrap_or_else(|| any_order(random, beats_max));
        bench.block.mac_ready.next = pace.takes(random);
        bench.settle();
        let block = &bench.block;
        if inside {
            assert!(block.mac_valid.val(), "cycle {cycle}: a gap inside a frame");
        }
        began += usize::from(block.began.val());
        let ended = (block.sent_bank.val().raw(), block.sent_slot.val().raw());
        if ended != (0, 0) {
            let (after, banks, slots) = ends.pop_front().expect("no more ends than windows");
            assert_eq!(ended, (banks, slots), "cycle {cycle}");
            assert_eq!(asked, after, "cycle {cycle}: a window counts as sent before its last beat was read");
        }
        asked += u64::from(block.buffer_valid.val()) + u64::from(block.gather_valid.val());
        if let Some(order) = next.filter(|_| block.order_ready.val()) {
            if order.last {
                let (slot, bank) = (1 << order.slot.raw(), 1 << u64::from(order.bank));
                ends.push_back((
                    to_read,
                    if order.broadcast { 0 } else { bank },
                    if order.broadcast { slot } else { 0 },
                ));
            } else {
                expected.push_back(FrameBeat { data: job.header(&order), last: false });
                let beats = order.beats.raw();
                to_read += words_of(&order);
                expected.extend(
                    payload(&order).into_iter().zip(1..).map(|(data, at)| FrameBeat { data, last: at == beats }),
                );
                ordered += 1;
                end_next = random.one_in(3).then(|| PacketOrder { last: true, beats: bits_w(0), ..order });
            }
            next = None;
        }
        let valid = block.mac_valid.val();
        let header = valid && !inside;
        if let Some(beat) = step(bench, random, &mut reads) {
            let wanted = expected.pop_front().expect("no more beats than ordered");
            assert_eq!(beat.data.to_bytes(), wanted.data.to_bytes(), "cycle {cycle}: header {header}");
            assert_eq!(beat.last, wanted.last, "cycle {cycle}");
            inside = !beat.last;
        }
    }
    assert_eq!(began, frames);
    bench.block.order_valid.next = false;
    bench.tick();
    assert!(!bench.block.working.val(), "working after the last frame");
}

#[test]
fn every_frame_is_the_contracts_byte_for_byte() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Builder::default()), random, pace, 60, 139));
}

#[test]
fn the_verilog_builds_alike() {
    let mut bench = Bench::recording(Builder::default());
    for pace in [EAGER, Pace::RANDOM] {
        run(&mut bench, &mut Random::new(4), pace, 15, 12);
    }
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("builder");
}

/// Returns each beat's cycle at an eager MAC, and whether it is the last.
fn leaving(orders: Vec<PacketOrder>) -> Vec<(u64, bool)> {
    let mut bench = Bench::new(Builder::default());
    let mut random = Random::new(3);
    Job::random(&mut random).load(&mut bench);
    bench.block.mac_ready.next = true;
    let mut reads = (None, None);
    let mut orders = orders.into_iter().peekable();
    let mut taken = Vec::new();
    for cycle in 0..1200 {
        bench.block.order_valid.next = orders.peek().is_some();
        bench.block.order.next = orders.peek().copied().unwrap_or_default();
        bench.settle();
        if bench.block.order_ready.val() {
            orders.next();
        }
        if let Some(beat) = step(&mut bench, &mut random, &mut reads) {
            taken.push((cycle, beat.last));
        }
    }
    taken
}

#[test]
fn a_header_leaves_six_cycles_after_its_order_and_waiting_frames_follow_without_a_bubble() {
    let beats = [1, 1, 1, 22, 1, 139, 2];
    let taken = leaving(beats.map(|beats| PacketOrder { beats: bits_w(beats), ..Default::default() }).into());
    let total = beats.iter().map(|beats| 1 + beats).sum::<u64>();
    assert_eq!(taken.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>(), (6..6 + total).collect::<Vec<_>>());
}

#[test]
fn a_bf16_beat_takes_two_cycles_and_its_frame_leaves_once_it_is_whole() {
    let order = |beats, half| PacketOrder { beats: bits_w(beats), half, bf16: true, ..Default::default() };
    let taken = leaving(vec![order(139, false), order(139, true), order(139, false), order(22, false)]);
    let ends: Vec<u64> = taken.iter().filter(|(_, last)| *last).map(|(cycle, _)| *cycle).collect();
    // 278 reads (one less if the last beat is half full) and a cycle for the header. The last frame
    // is complete before the previous one has left.
    let whole = 6 + 277;
    assert_eq!(ends, [whole + 139, whole + 139 + 278, whole + 139 + 278 + 279, whole + 139 + 278 + 279 + 23]);
    let first = |frame: usize| ends[frame] - [139, 139, 139, 22][frame];
    assert!((0..4).all(|frame| taken.contains(&(first(frame), false))));
    assert_eq!(first(0), whole);
}

#[test]
fn clear_drops_what_is_under_way() {
    let mut bench = Bench::new(Builder::default());
    let mut random = Random::new(3);
    bench.block.order_valid.next = true;
    bench.block.order.next = PacketOrder { bf16: false, half: false, ..any_order(&mut random, 100) };
    let mut reads = (None, None);
    for _ in 0..30 {
        step(&mut bench, &mut random, &mut reads);
    }
    assert!(bench.block.mac_valid.val() && bench.block.working.val());
    bench.block.order_valid.next = false;
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    for _ in 0..20 {
        assert!(!bench.block.mac_valid.val() && !bench.block.working.val());
        bench.tick();
    }
}
