//! Small card on an in-process bus. It implements the queue protocol without windows: it completes
//! `ARM` and `CONTRIBUTE`, and refuses anything else.
#![allow(dead_code, missing_docs)] // Each test binary uses its part.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use optireduce_contract::limits::{CONTRACT_VERSION, MAGIC, QUEUES};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::queue::*;
use optireduce_contract::registers::{self as regs, Register};
use optireduce_driver::{CardEnd, CardHook, InProcessBus, JobConfig, in_process};

pub const IOVA: u64 = 0x8_0000_0000;

#[derive(Default)]
struct State {
    deaf: bool,
    never_stops: bool,
    queues: [Queue; QUEUES],
    seen: Vec<Submission>,
}

#[derive(Default)]
struct Queue {
    sq_head: u16,
    cq_tail: u16,
    waiting: VecDeque<Completion>,
}

/// Card. If `threaded`, another thread calls `step`.
#[derive(Default)]
pub struct TestCard {
    end: OnceLock<CardEnd>,
    threaded: bool,
    state: Mutex<State>,
}

impl TestCard {
    pub fn new(dma_bytes: usize) -> (Arc<Self>, InProcessBus) {
        Self::build(dma_bytes, false)
    }

    pub fn threaded(dma_bytes: usize) -> (Arc<Self>, InProcessBus) {
        Self::build(dma_bytes, true)
    }

    fn build(dma_bytes: usize, threaded: bool) -> (Arc<Self>, InProcessBus) {
        let card = Arc::new(Self { threaded, ..Self::default() });
        let (bus, end) = in_process("sim0", dma_bytes, IOVA, card.clone()).unwrap();
        for register in regs::REGISTERS {
            end.write_register(register.word(), register.reset);
        }
        assert_eq!(end.read_register(0), MAGIC);
        assert_eq!(end.read_register(1), CONTRACT_VERSION);
        assert!(card.end.set(end).is_ok());
        (card, bus)
    }

    pub fn end(&self) -> &CardEnd {
        self.end.get().unwrap()
    }

    /// Ignores poisoning, so that a failed test can still disable the card.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn register(&self, register: &Register) -> u32 {
        self.end().read_register(register.word())
    }

    pub fn set(&self, register: &Register, value: u32) {
        self.end().write_register(register.word(), value);
    }

    pub fn make_deaf(&self) {
        self.state().deaf = true;
    }

    pub fn make_unstoppable(&self) {
        self.state().never_stops = true;
    }

    pub fn seen(&self) -> Vec<Submission> {
        self.state().seen.clone()
    }

    /// Fetches all announced submissions and writes all completions that fit.
    pub fn step(&self) {
        let state = &mut *self.state();
        if self.register(&regs::CONTROL) & regs::CONTROL_ENABLE == 0 {
            if !state.never_stops {
                state.queues = Default::default();
            }
            return;
        }
        for (number, queue) in state.queues.iter_mut().enumerate() {
            self.step_queue(number, queue, &mut state.seen);
        }
    }

    fn step_queue(&self, number: usize, queue: &mut Queue, seen: &mut Vec<Submission>) {
        let mine = |register: &Register| self.register(&register.of_queue(number));
        let log2 = |register| mine(register) & 0xf;
        let ring = |lo, hi, log2: u32, index: u16| {
            let base = u64::from(mine(lo)) | u64::from(mine(hi)) << 32;
            base.wrapping_add((u64::from(index) % (1 << log2)) * ENTRY_BYTES as u64)
        };
        let sq_log2 = log2(&regs::SQ_LOG2);
        // Bounded, since a hostile tail may be more than a ring ahead.
        for _ in 0..1 << sq_log2 {
            if queue.sq_head == mine(&regs::SQ_TAIL) as u16 {
                break;
            }
            let mut bytes = [0; ENTRY_BYTES];
            let at = ring(&regs::SQ_BASE_LO, &regs::SQ_BASE_HI, sq_log2, queue.sq_head);
            if self.end().dma_read(at, &mut bytes).is_err() {
                return self.stop(number);
            }
            queue.sq_head = queue.sq_head.wrapping_add(1);
            let submission = Submission::from_bytes(&bytes);
            let (opcode, status) = match submission.opcode {
                OP_ARM => (DONE_CONTRIBUTE, STATUS_OK),
                OP_CONTRIBUTE => (DONE_BROADCAST, STATUS_OK),
                _ => (DONE_REFUSED, STATUS_BAD_COMMAND),
            };
            let (slot, cookie, sq_head) = (submission.slot, submission.cookie, queue.sq_head);
            queue.waiting.push_back(Completion { opcode, status, slot, cookie, sq_head, ..Completion::default() });
            seen.push(submission);
        }
        let cq_log2 = log2(&regs::CQ_LOG2);
        let entries = 1u16 << cq_log2;
        while queue.cq_tail.wrapping_sub(mine(&regs::CQ_HEAD) as u16) < entries {
            let Some(completion) = queue.waiting.pop_front() else { break };
            let phase = (queue.cq_tail >> cq_log2) & 1 == 0;
            let at = ring(&regs::CQ_BASE_LO, &regs::CQ_BASE_HI, cq_log2, queue.cq_tail);
            if self.end().dma_write(at, &Completion { phase, ..completion }.to_bytes()).is_err() {
                return self.stop(number);
            }
            queue.cq_tail = queue.cq_tail.wrapping_add(1);
        }
    }

    fn stop(&self, number: usize) {
        self.set(&regs::STATUS, self.register(&regs::STATUS) | regs::STATUS_DMA_ERROR | regs::status_stopped(number));
    }

    fn publish(&self) {
        let state = self.state();
        if !state.deaf {
            self.set(&regs::SCRATCH_ECHO, !self.register(&regs::SCRATCH));
        }
        for (number, queue) in state.queues.iter().enumerate() {
            self.set(&regs::SQ_HEAD.of_queue(number), queue.sq_head.into());
            self.set(&regs::CQ_TAIL.of_queue(number), queue.cq_tail.into());
        }
    }
}

impl CardHook for TestCard {
    fn flush(&self) {
        self.publish();
    }

    fn relax(&self) {
        if self.threaded { std::thread::yield_now() } else { self.step() }
    }
}

pub fn job(ring_log2: u32) -> JobConfig {
    JobConfig {
        rank: 2,
        ranks: 4,
        job_tag: 0x1122_3344_5566_7788,
        payload_beats: 22,
        udp_port: 5791,
        endpoints: (0..4).map(Endpoint::of_rank).collect(),
        rates_bytes_per_us: Vec::new(),
        queue: 0,
        ring_log2,
    }
}

/// Submission that the driver accepts in a job of four ranks.
pub fn arm(cookie: u32) -> Submission {
    Submission {
        opcode: OP_ARM,
        slot: (cookie % 8) as u8,
        cookie,
        beats: 7,
        shard_quotient: 1,
        shard_remainder: 3,
        host_address: IOVA,
        report_address: IOVA,
        ..Submission::default()
    }
}
