//! Tests of contribute engine, planner and builder together. The host memory has 700 ns of latency.

use super::builder::Builder;
use super::contribute::Contribute;
use super::planner::Planner;
use super::stimulus::context_of;
use super::testing::random_beat;
use super::types::{ContributeOrder, FrameBeat, JobWords, SlotContext};
use super::window_model::{Code, sent};
use crate::arith::bf16::round;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::shard::ShardMap;
use std::collections::{HashMap, VecDeque};

/// Cycles from a read request to its first beat.
const MEMORY: u64 = 175;
const BEATS: usize = 1024;

#[derive(LogicBlock, Default)]
struct SendPath {
    clock: Signal<In, Clock>,
    now_ns: Signal<In, W<48>>,
    job: Signal<In, JobWords>,
    arm: Signal<In, W<8>>,
    arm_slot: Signal<In, W<3>>,
    arm_context: Signal<In, SlotContext>,
    order_valid: Signal<In, bool>,
    order: Signal<In, ContributeOrder>,
    order_ready: Signal<Out, bool>,
    ar_valid: Signal<Out, bool>,
    ar_address: Signal<Out, W<64>>,
    ar_beats: Signal<Out, W<7>>,
    ar_ready: Signal<In, bool>,
    r_valid: Signal<In, bool>,
    r_data: Signal<In, Beat>,
    held: Signal<Out, W<8>>,
    mac_valid: Signal<Out, bool>,
    mac: Signal<Out, FrameBeat>,
    mac_ready: Signal<In, bool>,
    working: Signal<Out, bool>,
    contribute: Contribute,
    planner: Planner,
    builder: Builder,
}

impl Logic for SendPath {
    #[hdl_gen]
    fn update(&mut self) {
        self.contribute.clock.next = self.clock.val();
        self.contribute.clear.next = false;
        self.contribute.job.next = self.job.val();
        self.contribute.arm.next = self.arm.val();
        self.contribute.arm_slot.next = self.arm_slot.val();
        self.contribute.arm_context.next = self.arm_context.val();
        self.contribute.order_valid.next = self.order_valid.val();
        self.contribute.order.next = self.order.val();
        self.order_ready.next = self.contribute.order_ready.val();
        self.ar_valid.next = self.contribute.ar_valid.val();
        self.ar_address.next = self.contribute.ar_address.val();
        self.ar_beats.next = self.contribute.ar_beats.val();
        self.contribute.ar_ready.next = self.ar_ready.val();
        self.contribute.r_valid.next = self.r_valid.val();
        self.contribute.r_data.next = self.r_data.val();
        self.contribute.own_ready.next = true;
        self.contribute.send_ready.next = self.planner.contribute_ready.val();
        self.contribute.read_valid.next = self.builder.buffer_valid.val();
        self.contribute.read_address.next = self.builder.buffer_address.val();
        self.contribute.sent.next = self.builder.sent_bank.val();
        self.held.next = self.contribute.held.val();

        self.planner.clock.next = self.clock.val();
        self.planner.clear.next = false;
        self.planner.job.next = self.job.val();
        self.planner.now_ns.next = self.now_ns.val();
        self.planner.peer_write.next = false;
        self.planner.peer_word.next = bits_w::<8>(0);
        self.planner.peer_data.next = bits_w::<32>(0);
        self.planner.arm.next = self.arm.val();
        self.planner.arm_slot.next = self.arm_slot.val();
        self.planner.arm_context.next = self.arm_context.val();
        self.planner.enter.next = bits_w::<8>(0);
        self.planner.advert.next.timeout = bits_w::<16>(0);
        self.planner.advert.next.incast = bits_w::<4>(0);
        self.planner.contribute_valid.next = self.contribute.send_valid.val();
        self.planner.contribute.next = self.contribute.send.val();
        self.planner.filled_low.next = self.contribute.filled_low.val();
        self.planner.filled_high.next = self.contribute.filled_high.val();
        self.planner.broadcast_valid.next = false;
        self.planner.broadcast.next = self.contribute.send.val();
        self.planner.ask_ready.next = true;
        self.planner.word.next.data = bits_beat(0);
        self.planner.word.next.epoch = bits_w::<8>(0);
        self.planner.ready.next = self.builder.order_ready.val();

        self.builder.clock.next = self.clock.val();
        self.builder.clear.next = false;
        self.builder.job.next = self.job.val();
        self.builder.peer_write.next = false;
        self.builder.peer_word.next = bits_w::<8>(0);
        self.builder.peer_data.next = bits_w::<32>(0);
        self.builder.order_valid.next = self.planner.valid.val();
        self.builder.order.next = self.planner.order.val();
        self.builder.buffer_data.next = self.contribute.read_data.val();
        self.builder.gather_word.next.data = bits_beat(0);
        self.builder.gather_word.next.epoch = bits_w::<8>(0);
        self.mac_valid.next = self.builder.mac_valid.val();
        self.mac.next = self.builder.mac.val();
        self.builder.mac_ready.next = self.mac_ready.val();
        self.working.next = self.contribute.working.val() || self.planner.working.val() || self.builder.working.val();
    }
}
clocked!(SendPath);

#[derive(Clone, Copy)]
struct Job {
    ranks: usize,
    payload_beats: u64,
    incast: u64,
    log2_n: Option<u32>,
    bf16: bool,
    windows: usize,
    /// The MAC sends at 100 Gb/s with 24 bytes between frames, and buffers a frame. Otherwise it
    /// accepts a beat a cycle.
    wire: bool,
}

const PLAIN: Job = Job { ranks: 8, payload_beats: 22, incast: 1, log2_n: None, bf16: false, windows: 16, wire: false };

#[derive(Debug, PartialEq)]
struct Seen {
    /// Cycles from the first order to the first beat.
    latency: u64,
    /// Cycles from the first beat to the last.
    cycles: u64,
    beats: u64,
    headers: u64,
    /// Time in which the wire of a paced MAC is busy, in picoseconds.
    busy_ps: u64,
}

impl Seen {
    /// Idle share of the wire in thousandths.
    fn idle(&self) -> u64 {
        let all_ps = self.cycles * 4000;
        all_ps.saturating_sub(self.busy_ps) * 1000 / all_ps
    }
}

fn send(job: Job) -> Seen {
    let build = || Box::new(Bench::new(SendPath::default()));
    let builder = std::thread::Builder::new().stack_size(64 << 20);
    builder.spawn(move || send_on(build().as_mut(), job)).expect("a thread").join().expect("sent")
}

fn send_on(bench: &mut Bench<SendPath>, job: Job) -> Seen {
    let mut random = Random::new(1);
    let Job { ranks, payload_beats, log2_n, bf16, .. } = job;
    bench.block.job.next =
        JobWords { ranks: bits_w(ranks as u64), payload_beats: bits_w(payload_beats), ..Default::default() };
    let (mut expected, mut orders) = (HashMap::new(), VecDeque::new());
    let mut memory = HashMap::new();
    let mut wanted = 0;
    for number in 0..job.windows {
        let base = (number * BEATS) as u64;
        let log2_blocks = log2_n.map_or(0, |log2_n| BEATS.ilog2() + 4 - log2_n);
        let context = SlotContext {
            base_beat: bits_w(base),
            hadamard: log2_n.is_some(),
            log2_n: bits_w(log2_n.unwrap_or(0).into()),
            log2_blocks: bits_w(log2_blocks.into()),
            bf16,
            send_incast: bits_w(job.incast),
            mark_packets: bits_w(1),
            ..context_of(BEATS, ranks, 0, number as u32)
        };
        let gradient: Vec<Beat> = (0..BEATS)
            .map(|_| match log2_n {
                Some(_) => Beat([(); 16].map(|_| (random.below(2000) as f32 - 1000.0).to_bits())),
                None => random_beat(&mut random),
            })
            .collect();
        let address = 0x10_0000 + base * 64;
        memory.extend((0..).zip(&gradient).map(|(at, beat)| (address + at * 64, *beat)));
        let mut window = sent(&gradient, BEATS, log2_n.map(|log2_n| Code { log2_n, log2_blocks, key: 0 }));
        if bf16 {
            window.iter_mut().for_each(|beat| beat.0 = beat.0.map(round));
        }
        wanted += BEATS - context.own_beats.index();
        expected.extend((base..).zip(window));
        let slot = bits_w(number as u64 % 8);
        orders.push_back((
            context,
            ContributeOrder { slot, host_address: bits_w(address), host_beats: bits_w(BEATS as u64) },
        ));
    }

    let shard_of = |beat: u64| {
        let map = ShardMap::new(BEATS, ranks, 0);
        (0..ranks).find(|shard| map.shard(*shard).contains(&(beat as usize % BEATS)))
    };
    let mut reads: VecDeque<(u64, u64)> = VecDeque::new(); // address, cycle of arrival
    let (mut armed, mut at) = (false, None::<(u64, bool)>); // beat and half within a frame
    let mut frame_beats = 0;
    let mut free_ps = 0u64;
    let mut seen = Seen { latency: 0, cycles: 0, beats: 0, headers: 0, busy_ps: 0 };
    let (mut first, mut last) = (None, 0);
    for cycle in 0..200_000u64 {
        let block = &mut bench.block;
        block.now_ns.next = bits_w(cycle * 4);
        block.arm.next = bits_w(0);
        block.order_valid.next = false;
        if let Some((context, order)) = orders.front() {
            block.arm_slot.next = order.slot;
            block.arm_context.next = *context;
            block.order.next = *order;
            if armed {
                block.order_valid.next = true;
            } else if !block.held.val().get_bit(order.slot.index()) {
                block.arm.next = bits_w(1 << order.slot.raw());
                armed = true;
            }
        }
        let beat = reads.front().filter(|(_, from)| *from <= cycle).map(|(address, _)| memory[address]);
        block.ar_ready.next = true;
        block.r_valid.next = beat.is_some();
        block.r_data.next = beat.unwrap_or_default();
        block.mac_ready.next = !job.wire || at.is_some() || free_ps <= cycle * 4000 + 750_000;
        bench.settle();
        let block = &bench.block;
        if beat.is_some() {
            reads.pop_front();
        }
        if block.ar_valid.val() {
            let (address, beats) = (block.ar_address.val().raw(), block.ar_beats.val().raw());
            reads.extend((0..beats).map(|beat| (address + beat * 64, cycle + MEMORY)));
        }
        if block.order_valid.val() && block.order_ready.val() {
            orders.pop_front();
            armed = false;
        }
        if block.mac_valid.val() && block.mac_ready.val() {
            let FrameBeat { data, last: ends } = block.mac.val();
            if first.is_none() {
                (first, seen.latency) = (Some(cycle), cycle - 1);
            }
            last = cycle;
            frame_beats += 1;
            match at {
                None => {
                    let bytes = data.to_bytes();
                    let offset = u32::from_be_bytes([bytes[44], bytes[45], bytes[46], bytes[47]]);
                    at = Some((u64::from(offset) / 64, false));
                    seen.headers += 1;
                }
                Some((beat, _)) if bf16 => {
                    let halves = [Some(beat), Some(beat + 1).filter(|second| shard_of(*second) == shard_of(beat))];
                    let halves = halves.map(|beat| beat.and_then(|beat| expected.remove(&beat)).unwrap_or_default());
                    let bytes: Vec<u8> = halves
                        .iter()
                        .flat_map(|half| half.0.iter().flat_map(|lane| lane.to_le_bytes()[2..].to_vec()))
                        .collect();
                    assert_eq!(data.to_bytes().to_vec(), bytes, "beat {beat}");
                    at = Some((beat + 2, false));
                    seen.beats += 1;
                }
                Some((beat, _)) => {
                    assert_eq!(Some(data), expected.remove(&beat), "beat {beat}");
                    at = Some((beat + 1, false));
                    seen.beats += 1;
                }
            }
            if ends {
                let ps = (frame_beats * 64 + 24) * 80;
                free_ps = free_ps.max(cycle * 4000) + ps;
                seen.busy_ps += ps;
                frame_beats = 0;
                at = None;
            }
        }
        bench.tick();
        if orders.is_empty() && !bench.block.working.val() {
            break;
        }
    }
    seen.cycles = last + 1 - first.expect("something was sent");
    let own: usize = job.windows * BEATS - wanted;
    assert!(expected.len() == own, "{} beats were not sent, expected the {own} of the local shards", expected.len());
    seen
}

/// Cycles at an eager MAC, and idle share of a paced wire in thousandths.
fn figures(job: Job) -> (u64, u64) {
    let beats = (BEATS - BEATS / job.ranks) * job.windows;
    let [eager, paced] = [false, true].map(|wire| send(Job { wire, ..job }));
    assert_eq!((eager.beats, paced.beats), (beats as u64, beats as u64));
    (eager.cycles, paced.idle())
}

#[test]
fn sixteen_windows_of_eight_ranks_keep_the_wire_busy() {
    // 14336 payload beats. Reading a window, local shard included, takes 1024 cycles for 896 beats
    // sent.
    let plain = |payload_beats| figures(Job { payload_beats, ..PLAIN });
    assert_eq!([22, 63, 139].map(plain), [(16355, 0), (16336, 0), (16307, 0)]);
}

#[test]
fn encoded_windows_follow_each_other_in_the_encoder() {
    let encoded = |log2_n| figures(Job { log2_n: Some(log2_n), ..PLAIN });
    assert_eq!([10, 12].map(encoded), [(17367, 0), (18399, 0)]);
}

#[test]
fn with_few_ranks_reading_the_own_shard_is_the_bound() {
    let ranks = |ranks| figures(Job { ranks, ..PLAIN });
    assert_eq!([2, 4].map(ranks), [(15953, 300), (16221, 0)]);
}

#[test]
fn incast_interleaves_at_the_same_pace() {
    let cycles = [2, 4, 7].map(|incast| send(Job { incast, ..PLAIN }).cycles);
    assert_eq!(cycles, [16447, 16658, 16973]);
}

#[test]
fn bf16_takes_two_cycles_a_beat_and_half_the_wire() {
    let bf16 = |ranks, payload_beats| {
        let seen = send(Job { ranks, payload_beats, bf16: true, ..PLAIN });
        (seen.cycles, seen.beats)
    };
    assert_eq!(bf16(8, 22), (16310, 7168));
    // Shards of 342 and 341 beats: the last beat of odd ones is half full.
    assert_eq!(bf16(3, 63), (16025, 5472));
}

#[test]
fn the_first_frame_leaves_before_its_window_is_read() {
    // 175 cycles of host memory, 22 beats, and 14 before and after them.
    assert_eq!(send(Job { windows: 1, ..PLAIN }).latency, 211);
}
