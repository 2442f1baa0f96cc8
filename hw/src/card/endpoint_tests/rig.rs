use super::super::endpoint::Endpoint;
use super::super::reset::RESET_CYCLES;
use super::super::stimulus::{EAGER, float_beat};
use super::super::testing::Pace;
use crate::arith::fp_add_model::fp_add;
use crate::arith::fp_mul_model::fp_mul;
use crate::arith::recip_rom::recip;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{
    self, Endpoint as Address, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader, write_header,
};
use optireduce_contract::queue::*;
use optireduce_contract::registers::{self as reg, PEER_BYTES, PEER_TABLE, Register, STATUS_BUSY};
use optireduce_contract::shard::ShardMap;
use std::collections::{HashMap, VecDeque};

const PORT: u16 = 5791;
const JOB: u64 = 0x1122_3344_5566_7788;
pub(super) const RING_LOG2: u32 = 4;
pub(super) const PAYLOAD: usize = 22;
/// First address without memory.
pub(super) const NOWHERE: u64 = 1 << 50;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    Write(u64, Beat),
    Read(u64, u64),
    Frame(Beat, bool, bool),
    Msix(u64),
}

pub(super) struct Rig {
    pub(super) bench: Box<Bench<Endpoint>>,
    pub(super) memory: HashMap<u64, Beat>,
    /// Address, beats left, cycle of the answer.
    pub(super) reads: VecDeque<(u64, u64, u64)>,
    r_offered: bool,
    addresses: VecDeque<(u64, u64)>,
    data: VecDeque<Vec<Beat>>,
    pub(super) filling: Vec<Beat>,
    acks: VecDeque<(bool, u64)>,
    b_offered: bool,
    pub(super) rx: VecDeque<(Beat, bool)>,
    /// `tkeep` of the next beats of `rx`, all ones when empty.
    pub(super) keeps: VecDeque<u64>,
    pub(super) sent: Vec<Vec<Beat>>,
    pub(super) sending: Vec<Beat>,
    offers: [Option<Seen>; 5],
    tails: [u16; 4],
    heads: [u16; 4],
    pub(super) log: Vec<(u64, Seen)>,
    pub(super) pace: Pace,
    /// One in this number of accesses fails; 0 for none.
    pub(super) fails_one_in: u64,
    pub(super) cycle: u64,
}

fn sq_at(queue: usize) -> u64 {
    0x10_0000 + 0x2000 * queue as u64
}

fn cq_at(queue: usize) -> u64 {
    sq_at(queue) + 0x1000
}

impl Rig {
    pub(super) fn new(recording: bool) -> Self {
        let bench =
            Box::new(if recording { Bench::recording(Endpoint::default()) } else { Bench::new(Endpoint::default()) });
        let mut rig = Rig {
            bench,
            memory: HashMap::new(),
            reads: VecDeque::new(),
            r_offered: false,
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            filling: Vec::new(),
            acks: VecDeque::new(),
            b_offered: false,
            rx: VecDeque::new(),
            keeps: VecDeque::new(),
            sent: Vec::new(),
            sending: Vec::new(),
            offers: Default::default(),
            tails: [0; 4],
            heads: [0; 4],
            log: Vec::new(),
            pace: EAGER,
            fails_one_in: 0,
            cycle: 0,
        };
        rig.bench.block.aresetn.next = true;
        rig
    }

    fn offer(&mut self, channel: usize, offer: Option<Seen>, ready: bool) -> Option<Seen> {
        let before = &self.offers[channel];
        assert!(before.is_none() || *before == offer, "cycle {}: {before:x?} became {offer:x?}", self.cycle);
        self.offers[channel] = offer.clone().filter(|_| !ready);
        offer.filter(|_| ready)
    }

    pub(super) fn step(&mut self, random: &mut Random) {
        self.cycle += 1;
        let (cycle, pace) = (self.cycle, self.pace);
        let fails = |random: &mut Random, one_in: u64| one_in > 0 && random.one_in(one_in);
        let block = &mut self.bench.block;
        block.m_axi_awready.next = pace.takes(random);
        block.m_axi_wready.next = pace.takes(random);
        block.m_axi_arready.next = pace.takes(random);
        block.m_axis_tx_tready.next = pace.takes(random);
        block.msix_ready.next = pace.takes(random);
        let read = self.reads.front().copied().filter(|read| read.2 <= cycle);
        let answers = read.is_some() && (self.r_offered || pace.comes(random));
        block.m_axi_rvalid.next = answers;
        if let Some((address, beats, _)) = read.filter(|_| answers && !self.r_offered) {
            let failed = address >= NOWHERE || fails(random, self.fails_one_in);
            block.m_axi_rresp.next = bits_w(if failed { 2 + random.below(2) } else { 0 });
            block.m_axi_rdata.next = self.memory.get(&address).copied().unwrap_or(Beat([0x7fc1_2345; 16]));
            block.m_axi_rlast.next = beats == 1;
            block.m_axi_rid.next = bits_w(random.next());
        }
        let ack = self.acks.front().copied().filter(|ack| ack.1 <= cycle);
        let acks = ack.is_some() && (self.b_offered || pace.comes(random));
        block.m_axi_bvalid.next = acks;
        block.m_axi_bresp.next = bits_w(ack.map_or(0, |ack| if ack.0 { 2 } else { 0 }));
        let comes = self.rx.front().copied().filter(|_| pace.comes(random));
        block.s_axis_rx_tvalid.next = comes.is_some();
        let keep = self.keeps.front().copied().unwrap_or(u64::MAX);
        block.s_axis_rx_tkeep.next = bits_w(if comes.is_some() { keep } else { 0 });
        block.s_axis_rx_tdata.next = comes.map_or(Beat::default(), |beat| beat.0);
        block.s_axis_rx_tlast.next = comes.is_some_and(|beat| beat.1);
        self.bench.settle();

        let block = &self.bench.block;
        assert!(block.m_axi_bready.val() && block.s_axis_rx_tready.val(), "the card is always ready for these");
        if comes.is_some() {
            self.rx.pop_front();
            self.keeps.pop_front();
        }
        self.r_offered = answers && !block.m_axi_rready.val();
        if answers && block.m_axi_rready.val() {
            let (address, beats, _) = self.reads.front_mut().expect("answering");
            (*address, *beats) = (*address + 64, *beats - 1);
            if *beats == 0 {
                self.reads.pop_front();
            }
        }
        self.b_offered = false;
        if acks {
            self.acks.pop_front();
        }
        let fixed = |size: u64, burst: u64, lock: u64| assert_eq!((size, burst, lock), (6, 1, 0));
        let within = |address: u64, beats: u64| {
            assert!(
                address.is_multiple_of(64) && address % 4096 + beats * 64 <= 4096 && beats <= 64,
                "{beats} at {address:#x}"
            );
        };
        let aw = block.m_axi_awvalid.val().then(|| {
            fixed(block.m_axi_awsize.val().raw(), block.m_axi_awburst.val().raw(), block.m_axi_awlock.val().raw());
            Seen::Read(block.m_axi_awaddr.val().raw(), block.m_axi_awlen.val().raw() + 1)
        });
        let ar = block.m_axi_arvalid.val().then(|| {
            fixed(block.m_axi_arsize.val().raw(), block.m_axi_arburst.val().raw(), block.m_axi_arlock.val().raw());
            Seen::Read(block.m_axi_araddr.val().raw(), block.m_axi_arlen.val().raw() + 1)
        });
        let w = block.m_axi_wvalid.val().then(|| {
            assert_eq!(block.m_axi_wstrb.val().raw(), u64::MAX);
            Seen::Frame(block.m_axi_wdata.val(), block.m_axi_wlast.val(), false)
        });
        let tx = block.m_axis_tx_tvalid.val().then(|| {
            assert_eq!(block.m_axis_tx_tkeep.val().raw(), u64::MAX);
            Seen::Frame(block.m_axis_tx_tdata.val(), block.m_axis_tx_tlast.val(), block.m_axis_tx_tuser.val())
        });
        let msix = block.msix_valid.val().then(|| Seen::Msix(block.msix_vector.val().raw()));
        let readies = [
            block.m_axi_awready.val(),
            block.m_axi_arready.val(),
            block.m_axi_wready.val(),
            block.m_axis_tx_tready.val(),
            block.msix_ready.val(),
        ];
        if let Some(Seen::Read(address, beats)) = self.offer(0, aw, readies[0]) {
            within(address, beats);
            self.addresses.push_back((address, beats));
        }
        if let Some(Seen::Read(address, beats)) = self.offer(1, ar, readies[1]) {
            within(address, beats);
            self.reads.push_back((address, beats, cycle + 20));
            self.log.push((cycle, Seen::Read(address, beats)));
        }
        if let Some(Seen::Frame(beat, last, _)) = self.offer(2, w, readies[2]) {
            self.filling.push(beat);
            if last {
                self.data.push_back(std::mem::take(&mut self.filling));
            }
        }
        if let Some(Seen::Frame(beat, last, error)) = self.offer(3, tx, readies[3]) {
            self.log.push((cycle, Seen::Frame(beat, last, error)));
            self.sending.push(beat);
            if last {
                let frame = std::mem::take(&mut self.sending);
                self.sent.extend((!error).then_some(frame));
            }
        }
        // A reset may withdraw an interrupt request, which is not a bus handshake.
        if msix.is_none() {
            self.offers[4] = None;
        }
        if let Some(seen) = self.offer(4, msix, readies[4]) {
            self.log.push((cycle, seen));
        }
        while let (Some((address, beats)), Some(data)) = (self.addresses.front().copied(), self.data.front()) {
            assert_eq!(data.len() as u64, beats, "beats of the burst at {address:#x}");
            let failed = address >= NOWHERE || fails(random, self.fails_one_in);
            for (at, beat) in (0..).map(|at| address + 64 * at).zip(data) {
                self.log.push((cycle, Seen::Write(at, *beat)));
                if !failed {
                    self.memory.insert(at, *beat);
                }
            }
            self.acks.push_back((failed, cycle + 10));
            self.addresses.pop_front();
            self.data.pop_front();
        }
        self.bench.tick();
    }

    /// Time restarts at 0.
    pub(super) fn reset(&mut self) {
        let block = &mut self.bench.block;
        block.aresetn.next = false;
        block.s_axis_rx_tvalid.next = false;
        block.m_axi_rvalid.next = false;
        block.m_axi_bvalid.next = false;
        (0..RESET_CYCLES).for_each(|_| self.bench.tick());
        let block = &mut self.bench.block;
        let offers = [
            block.m_axi_awvalid.val(),
            block.m_axi_arvalid.val(),
            block.m_axi_wvalid.val(),
            block.m_axis_tx_tvalid.val(),
            block.msix_valid.val(),
            block.s_axil_rvalid.val(),
            block.s_axil_bvalid.val(),
        ];
        assert_eq!(offers, [false; 7], "something is offered in reset");
        block.aresetn.next = true;
        self.reads.clear();
        self.addresses.clear();
        self.data.clear();
        self.filling.clear();
        self.acks.clear();
        self.rx.clear();
        self.keeps.clear();
        self.sending.clear();
        self.log.clear();
        self.memory.clear();
        (self.r_offered, self.b_offered, self.offers, self.cycle) = (false, false, Default::default(), 0);
    }

    fn write(&mut self, random: &mut Random, offset: usize, value: u32) {
        self.bench.block.s_axil_awaddr.next = bits_w(offset as u64);
        self.bench.block.s_axil_wdata.next = bits_w(value.into());
        self.bench.block.s_axil_wstrb.next = bits_w(15);
        self.bench.block.s_axil_awvalid.next = true;
        self.bench.block.s_axil_wvalid.next = true;
        self.bench.block.s_axil_bready.next = true;
        self.step(random);
        self.bench.block.s_axil_awvalid.next = false;
        self.bench.block.s_axil_wvalid.next = false;
        for _ in 0..2 {
            self.step(random);
        }
    }

    pub(super) fn set(&mut self, random: &mut Random, register: Register, value: u32) {
        self.write(random, register.offset, value);
    }

    pub(super) fn get(&mut self, random: &mut Random, register: Register) -> u32 {
        self.bench.block.s_axil_araddr.next = bits_w(register.offset as u64);
        self.bench.block.s_axil_arvalid.next = true;
        self.bench.block.s_axil_rready.next = true;
        self.step(random);
        self.bench.block.s_axil_arvalid.next = false;
        for _ in 0..5 {
            self.bench.settle();
            if self.bench.block.s_axil_rvalid.val() {
                let value = self.bench.block.s_axil_rdata.val().raw() as u32;
                self.step(random);
                return value;
            }
            self.step(random);
        }
        panic!("no answer");
    }

    /// Rank 0 of two.
    pub(super) fn configure(&mut self, random: &mut Random) {
        let (local, peer) = (Address::of_rank(0), Address::of_rank(1));
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let job = [
            (reg::RANK, 0),
            (reg::RANKS, 2),
            (reg::JOB_TAG_LO, word(&JOB.to_be_bytes()[..4])),
            (reg::JOB_TAG_HI, word(&JOB.to_be_bytes()[4..])),
            (reg::PAYLOAD_BEATS, PAYLOAD as u32),
            (reg::UDP_PORT, word(&PORT.to_be_bytes())),
            (reg::LOCAL_IP, word(&local.ip)),
            (reg::LOCAL_MAC_LO, word(&local.mac[..4])),
            (reg::LOCAL_MAC_HI, word(&local.mac[4..])),
        ];
        job.into_iter().for_each(|(register, value)| self.set(random, register, value));
        for (at, value) in [word(&peer.ip), word(&peer.mac[..4]), word(&peer.mac[4..]), 0].into_iter().enumerate() {
            self.write(random, PEER_TABLE + PEER_BYTES + 4 * at, value);
        }
        for queue in 0..4 {
            let rings = [
                (reg::SQ_BASE_LO, sq_at(queue) as u32),
                (reg::SQ_LOG2, RING_LOG2),
                (reg::CQ_BASE_LO, cq_at(queue) as u32),
                (reg::CQ_LOG2, RING_LOG2),
                (reg::SQ_TAIL, 0),
                (reg::CQ_HEAD, 0),
            ];
            rings.into_iter().for_each(|(register, value)| self.set(random, register.of_queue(queue), value));
            let places = (0..1 << RING_LOG2).map(|at| cq_at(queue) + 64 * at);
            self.memory.extend(places.map(|at| (at, Beat::default())));
        }
        (self.tails, self.heads) = ([0; 4], [0; 4]);
    }

    pub(super) fn submit(&mut self, random: &mut Random, queue: usize, commands: &[Submission]) {
        for command in commands {
            let at = u64::from(self.tails[queue]) % (1 << RING_LOG2);
            self.memory.insert(sq_at(queue) + 64 * at, Beat::from_bytes(&command.to_bytes()));
            self.tails[queue] += 1;
        }
        let tail = self.tails[queue].into();
        self.set(random, reg::SQ_TAIL.of_queue(queue), tail);
    }

    pub(super) fn completions(&mut self, queue: usize) -> Vec<Completion> {
        let mut found = Vec::new();
        loop {
            let (at, turn) = (self.heads[queue] as u64 % (1 << RING_LOG2), self.heads[queue] >> RING_LOG2);
            let entry = self.memory.get(&(cq_at(queue) + 64 * at)).map(|beat| Completion::from_bytes(&beat.to_bytes()));
            match entry {
                Some(entry) if entry.opcode != 0 && entry.phase == (turn % 2 == 0) => found.push(entry),
                _ => return found,
            }
            self.heads[queue] += 1;
        }
    }

    pub(super) fn receive(&mut self, window: &Window, stage: u8, position: usize, beats: &[Beat]) {
        let ubt = UbtHeader {
            bucket: window.arm.bucket,
            offset: window.arm.base + 64 * position as u32,
            flags: if window.arm.flags & FLAG_BF16 != 0 { packet::FLAG_BF16 } else { 0 },
            stage,
            sender: 1,
            step: window.arm.step,
            job_tag: JOB,
            ..UbtHeader::default()
        };
        let mut header = [0; 64];
        write_header(&mut header, Address::of_rank(1), Address::of_rank(0), PORT, &ubt, 64 * beats.len());
        let frame = std::iter::once(Beat::from_bytes(&header)).chain(beats.iter().copied());
        self.rx.extend(frame.enumerate().map(|(at, beat)| (beat, at == beats.len())));
    }

    fn is_quiet(&self) -> bool {
        let bus = self.reads.is_empty() && self.addresses.is_empty() && self.data.is_empty() && self.filling.is_empty();
        bus && self.acks.is_empty() && self.sending.is_empty() && self.offers[..4].iter().all(Option::is_none)
    }
}

pub(super) struct Window {
    pub(super) arm: Submission,
    pub(super) contribute: Submission,
    pub(super) gradient: Vec<Beat>,
    pub(super) peers: Vec<Beat>,
    pub(super) map: ShardMap,
}

impl Window {
    pub(super) fn new(random: &mut Random, slot: u8, cookie: u32, beats: usize) -> Self {
        let map = ShardMap::new(beats, 2, cookie);
        let place = u64::from(slot) << 24 | 1 << 32;
        let arm = Submission {
            opcode: OP_ARM,
            slot,
            step: 7,
            cookie,
            bucket: 40 + u16::from(slot),
            flags: FLAG_AUTO_BROADCAST,
            beats: beats as u16,
            shard_quotient: map.quotient as u16,
            shard_remainder: map.remainder as u8,
            rotation: map.rotation as u8,
            bound_ns: 12_000,
            host_beats: beats as u16,
            mark_packets: 1,
            host_address: place | 0x0f80,
            report_address: place | 0x80_0000,
            ..Submission::default()
        };
        let contribute = Submission { opcode: OP_CONTRIBUTE, host_address: place | 0x40_0f40, ..arm };
        let beats = |random: &mut Random| (0..beats).map(|_| float_beat(random)).collect();
        Window { arm, contribute, gradient: beats(random), peers: beats(random), map }
    }

    pub(super) fn load(&self, rig: &mut Rig) {
        let places = (0..).map(|at| self.contribute.host_address + 64 * at);
        rig.memory.extend(places.zip(self.gradient.iter().copied()));
    }

    pub(super) fn play_peer(&self, rig: &mut Rig, stage: u8) {
        let range = self.map.range_of(if stage == STAGE_CONTRIBUTE { 0 } else { 1 });
        for first in range.clone().step_by(PAYLOAD) {
            let last = (first + PAYLOAD).min(range.end);
            rig.receive(self, stage, first, &self.peers[first..last]);
        }
    }

    fn result(&self) -> Vec<Beat> {
        let own = self.map.range_of(0);
        let beat = |at: usize| {
            let (a, b) = (self.gradient[at].0, self.peers[at].0);
            let lane = |lane: usize| {
                let sum = fp_add(fp_add(0x8000_0000, a[lane]), b[lane]);
                if own.contains(&at) {
                    fp_mul(fp_mul(sum, recip(2)), 0x3f80_0000)
                } else {
                    fp_mul(b[lane], 0x3f80_0000)
                }
            };
            Beat(std::array::from_fn(lane))
        };
        (0..self.gradient.len()).map(beat).collect()
    }

    fn assert_result(&self, rig: &Rig) {
        for (at, beat) in self.result().into_iter().enumerate() {
            let found = rig.memory.get(&(self.arm.host_address + 64 * at as u64));
            assert_eq!(found, Some(&beat), "beat {at} of the result");
        }
    }
}

/// Runs one window through both stages on queue 2.
pub(super) fn known_job(rig: &mut Rig, random: &mut Random) -> Vec<Completion> {
    let window = Window::new(&mut Random::new(99), 3, 6, 64);
    window.load(rig);
    rig.submit(random, 2, &[window.arm, window.contribute]);
    (0..150).for_each(|_| rig.step(random));
    window.play_peer(rig, STAGE_CONTRIBUTE);
    window.play_peer(rig, STAGE_BROADCAST);
    let mut told = Vec::new();
    for _ in 0..6000 {
        rig.step(random);
        told.extend(rig.completions(2));
        if told.len() == 2 && rig.is_quiet() {
            break;
        }
    }
    (0..20).for_each(|_| rig.step(random));
    let kinds: Vec<_> = told.iter().map(|done| (done.opcode, done.status, done.closed_by)).collect();
    assert_eq!(kinds, [(DONE_CONTRIBUTE, STATUS_OK, 0), (DONE_BROADCAST, STATUS_OK, 0)]);
    window.assert_result(rig);
    told
}

pub(super) fn with_stack(test: impl FnOnce() + Send + 'static) {
    let name = std::thread::current().name().unwrap_or_default().to_string();
    let thread = std::thread::Builder::new().name(name).stack_size(256 << 20).spawn(test).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

pub(super) fn wait_quiet(rig: &mut Rig, random: &mut Random) {
    for _ in 0..1000 {
        if rig.get(random, reg::STATUS) & STATUS_BUSY == 0 {
            assert!(rig.is_quiet(), "not busy, but a transaction is outstanding");
            return;
        }
    }
    panic!("busy after 1000 reads of STATUS");
}

pub(super) type Run = (Vec<(u64, Seen)>, Vec<Completion>);

/// Times become relative to cycle `from`.
pub(super) fn relative(rig: &Rig, from: u64, told: &[Completion]) -> Run {
    let in_rings = |address: u64| (sq_at(0)..sq_at(4)).contains(&address);
    let log = rig.log.iter().filter(|(at, _)| *at > from).map(|(at, seen)| match seen {
        // Completions hold absolute times, which are compared below.
        Seen::Write(address, _) if in_rings(*address) => (at - from, Seen::Read(*address, 1)),
        other => (at - from, other.clone()),
    });
    let told = told.iter().map(|done| Completion { closed_ns: done.closed_ns - 4 * from, ..*done });
    (log.collect(), told.collect())
}

pub(super) fn play_everything(rig: &mut Rig, random: &mut Random, turn: u32) {
    for slot in 0..6u8 {
        let beats = 2 + random.below(200) as usize;
        let mut window = Window::new(random, slot, turn * 8 + u32::from(slot), beats);
        if random.one_in(3) {
            let hadamard = |it: Submission| {
                let map = ShardMap::new(64, 2, it.cookie);
                Submission {
                    flags: it.flags | FLAG_HADAMARD,
                    beats: 64,
                    host_beats: 60,
                    log2_n: 8,
                    log2_blocks: 2,
                    shard_quotient: map.quotient as u16,
                    shard_remainder: map.remainder as u8,
                    ..it
                }
            };
            (window.arm, window.contribute) = (hadamard(window.arm), hadamard(window.contribute));
        }
        window.load(rig);
        rig.submit(random, slot as usize % 4, &[window.arm, window.contribute]);
        window.play_peer(rig, STAGE_BROADCAST);
        window.play_peer(rig, STAGE_CONTRIBUTE);
    }
}
