//! Small card on an in-process bus: rank 0 of a two-rank job whose other rank is absent. A fault
//! can change its output.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use optireduce_contract::limits::{BEAT_BYTES, LANES, NAN_BITS, QUEUES};
use optireduce_contract::queue::*;
use optireduce_contract::registers::{self as reg, CONTROL_ENABLE, PEER_BYTES, Register};
use optireduce_contract::rules::command::shards;
use optireduce_driver::{Bus, CardEnd, CardHook, DmaMap, DriverError, InProcessBus, in_process};

pub struct Written {
    pub arm: Submission,
    pub result: Vec<u8>,
    pub reports: [u8; REPORT_BYTES],
    pub completions: [Completion; 2],
    pub packets: u32,
    /// IOVA and byte.
    pub strays: Vec<(u64, u8)>,
}

type Fault = Box<dyn Fn(&mut Written) + Send + Sync>;

pub struct TestCard {
    end: OnceLock<CardEnd>,
    state: Mutex<State>,
    fault: Fault,
    /// Number of commands after which the card stops.
    commands_max: usize,
}

#[derive(Default)]
struct State {
    queues: [Queue; QUEUES],
    armed: Option<Submission>,
    packets: u32,
    commands: usize,
}

#[derive(Default)]
struct Queue {
    sq_head: u16,
    cq_tail: u16,
    waiting: VecDeque<Completion>,
}

pub fn good_card() -> TestBus {
    card(usize::MAX, |_| ())
}

pub fn card(commands_max: usize, fault: impl Fn(&mut Written) + Send + Sync + 'static) -> TestBus {
    let fault = Box::new(fault);
    let card = Arc::new(TestCard { end: OnceLock::new(), state: Mutex::default(), fault, commands_max });
    let (inner, end) = in_process("sim0", super::DMA_BYTES, 0x8_0000_0000, card.clone()).unwrap();
    assert!(card.end.set(end).is_ok());
    card.power_on();
    TestBus { inner, card, rings: true }
}

impl TestCard {
    fn end(&self) -> &CardEnd {
        self.end.get().unwrap()
    }

    fn register(&self, register: &Register) -> u32 {
        self.end().read_register(register.word())
    }

    fn set(&self, register: &Register, value: u32) {
        self.end().write_register(register.word(), value);
    }

    fn power_on(&self) {
        self.end().clear();
        reg::REGISTERS.iter().for_each(|register| self.set(register, register.reset));
    }

    fn step(&self) {
        let state = &mut *self.state.lock().unwrap();
        if self.register(&reg::CONTROL) & CONTROL_ENABLE == 0 {
            *state = State { commands: state.commands, ..State::default() };
        } else {
            (0..QUEUES).for_each(|number| self.step_queue(number, state));
        }
    }

    fn step_queue(&self, number: usize, state: &mut State) {
        let mine = |register: &Register| self.register(&register.of_queue(number));
        let ring = |lo, hi, log2, index: u16| {
            let base = u64::from(mine(lo)) | u64::from(mine(hi)) << 32;
            base + (u64::from(index) % (1 << mine(log2))) * ENTRY_BYTES as u64
        };
        while state.queues[number].sq_head != mine(&reg::SQ_TAIL) as u16 && state.commands < self.commands_max {
            state.commands += 1;
            let mut bytes = [0; ENTRY_BYTES];
            let head = state.queues[number].sq_head;
            self.end().dma_read(ring(&reg::SQ_BASE_LO, &reg::SQ_BASE_HI, &reg::SQ_LOG2, head), &mut bytes).unwrap();
            let done = self.execute(&Submission::from_bytes(&bytes), state);
            let queue = &mut state.queues[number];
            queue.sq_head = head.wrapping_add(1);
            queue.waiting.extend(done.into_iter().map(|done| Completion { sq_head: queue.sq_head, ..done }));
        }
        let queue = &mut state.queues[number];
        while queue.cq_tail.wrapping_sub(mine(&reg::CQ_HEAD) as u16) < 1 << mine(&reg::CQ_LOG2) {
            let Some(completion) = queue.waiting.pop_front() else { break };
            let phase = (queue.cq_tail >> mine(&reg::CQ_LOG2)) & 1 == 0;
            let at = ring(&reg::CQ_BASE_LO, &reg::CQ_BASE_HI, &reg::CQ_LOG2, queue.cq_tail);
            self.end().dma_write(at, &Completion { phase, ..completion }.to_bytes()).unwrap();
            queue.cq_tail = queue.cq_tail.wrapping_add(1);
        }
    }

    fn execute(&self, command: &Submission, state: &mut State) -> Vec<Completion> {
        match (command.opcode, state.armed) {
            (OP_ARM, None) => {
                state.armed = Some(*command);
                Vec::new()
            }
            (OP_CONTRIBUTE, Some(arm)) => {
                state.armed = None;
                let mut gradient = vec![0; usize::from(command.host_beats) * BEAT_BYTES];
                self.end().dma_read(command.host_address, &mut gradient).unwrap();
                let mut written = window(arm, &gradient);
                (self.fault)(&mut written);
                self.end().dma_write(arm.host_address, &written.result).unwrap();
                self.end().dma_write(arm.report_address, &written.reports).unwrap();
                written.strays.iter().for_each(|(iova, byte)| self.end().dma_write(*iova, &[*byte]).unwrap());
                state.packets += written.packets;
                written.completions.to_vec()
            }
            _ => {
                let (slot, cookie) = (command.slot, command.cookie);
                vec![Completion {
                    opcode: DONE_REFUSED,
                    status: STATUS_BAD_COMMAND,
                    slot,
                    cookie,
                    ..Completion::default()
                }]
            }
        }
    }

    fn publish(&self) {
        self.set(&reg::SCRATCH_ECHO, !self.register(&reg::SCRATCH));
        let state = self.state.lock().unwrap();
        self.set(&reg::TX_PACKETS, state.packets);
        for (number, queue) in state.queues.iter().enumerate() {
            self.set(&reg::SQ_HEAD.of_queue(number), queue.sq_head.into());
            self.set(&reg::CQ_TAIL.of_queue(number), queue.cq_tail.into());
        }
    }
}

fn window(arm: Submission, gradient: &[u8]) -> Written {
    let shards = shards(&arm, 2);
    let own = shards.range_of(0);
    let lane = |at: usize| {
        let at_bytes = gradient.get(4 * at..4 * at + 4).filter(|_| own.contains(&(at / LANES)));
        let bits = at_bytes.map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        if f32::from_bits(bits).is_nan() { NAN_BITS } else { bits }
    };
    let mut reports = [0; REPORT_BYTES];
    reports[..2].copy_from_slice(&(own.len() as u16).to_le_bytes());
    let stage = |opcode, expected: usize, own_beats| Completion {
        opcode,
        slot: arm.slot,
        cookie: arm.cookie,
        closed_by: if expected == 0 { CLOSED_COMPLETE } else { CLOSED_DEADLINE },
        expected_beats: expected as u32,
        own_beats,
        elapsed_ns: if expected == 0 { 0 } else { arm.bound_ns.into() },
        ..Completion::default()
    };
    let other = shards.range_of(1).len();
    Written {
        result: (0..usize::from(arm.host_beats) * LANES).flat_map(|at| lane(at).to_le_bytes()).collect(),
        reports,
        completions: [stage(DONE_CONTRIBUTE, own.len(), own.len() as u16), stage(DONE_BROADCAST, other, 0)],
        packets: (own.len().div_ceil(22) + other.div_ceil(22)) as u32,
        strays: Vec::new(),
        arm,
    }
}

impl CardHook for TestCard {
    fn flush(&self) {
        self.step();
        self.publish();
    }

    fn relax(&self) {
        self.step();
    }
}

pub struct TestBus {
    inner: InProcessBus,
    card: Arc<TestCard>,
    pub rings: bool,
}

impl TestBus {
    pub fn reset(&self) -> Result<(), DriverError> {
        self.card.power_on();
        Ok(())
    }
}

impl Bus for TestBus {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dma(&self) -> &DmaMap {
        self.inner.dma()
    }

    fn flush(&self) -> Result<(), DriverError> {
        self.inner.flush()
    }

    fn relax(&self) {
        self.inner.relax();
    }

    fn read(&self, register: &Register) -> u32 {
        self.inner.read(register)
    }

    fn write(&self, register: &Register, value: u32) {
        self.inner.write(register, value);
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        self.inner.write_peer(rank, words);
    }

    fn wait_interrupt(&self, _: Duration) -> Option<bool> {
        self.inner.relax();
        Some(self.rings)
    }
}
