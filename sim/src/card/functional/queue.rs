//! A queue pair of the functional card.

use std::collections::VecDeque;

use optireduce_contract::queue::{Completion, DONE_CONTRIBUTE, DONE_REFUSED, ENTRY_BYTES, STATUS_OK, Submission};
use optireduce_contract::registers as reg;
use optireduce_driver::CardEnd;

use super::job::{Job, Ring};
use super::{Event, FunctionalCard};

#[derive(Default)]
pub struct Queue {
    sq: Ring,
    cq: Ring,
    sq_tail: u16,
    pub sq_head: u16,
    fetching: bool,
    cq_head: u16,
    pub cq_tail: u16,
    waiting: VecDeque<Completion>,
    /// True once a ring was inaccessible, until the card is disabled.
    pub stopped: bool,
}

impl Queue {
    pub fn sync(&mut self, end: &CardEnd, number: usize) {
        let mine = |register: reg::Register| register.of_queue(number);
        self.sq = Ring::from_registers(end, [reg::SQ_BASE_LO, reg::SQ_BASE_HI, reg::SQ_LOG2].map(mine));
        self.cq = Ring::from_registers(end, [reg::CQ_BASE_LO, reg::CQ_BASE_HI, reg::CQ_LOG2].map(mine));
        self.sq_tail = end.read_register(mine(reg::SQ_TAIL).word()) as u16;
        self.cq_head = end.read_register(mine(reg::CQ_HEAD).word()) as u16;
    }

    /// An unwritten rejection stops reading.
    fn owes_refusal(&self) -> bool {
        self.waiting.iter().any(|completion| completion.opcode == DONE_REFUSED)
    }
}

impl FunctionalCard {
    /// Starts reading all new submissions in one access.
    pub(super) fn start_fetch(&mut self, number: usize) {
        let queue = &mut self.queues[number];
        let works = self.job.is_some() && queue.sq.is_there() && queue.cq.is_there() && !queue.stopped;
        if works && !queue.fetching && !queue.owes_refusal() && queue.sq_tail != queue.sq_head {
            queue.fetching = true;
            let tail = queue.sq_tail;
            self.at(self.now_ns + self.faults.dma_ns, Event::Fetched { queue: number, tail });
        }
    }

    pub(super) fn fetched(&mut self, job: &Job, number: usize, tail: u16) {
        self.queues[number].fetching = false;
        while self.queues[number].sq_head != tail && !self.queues[number].owes_refusal() {
            let mut entry = [0; ENTRY_BYTES];
            let queue = &self.queues[number];
            let readable = self.read(queue.sq.entry(queue.sq_head), &mut entry);
            let queue = &mut self.queues[number];
            if !readable {
                queue.stopped = true;
                return;
            }
            queue.sq_head = queue.sq_head.wrapping_add(1);
            let command = Submission::from_bytes(&entry);
            let status = self.execute(job, number, &command);
            if status != STATUS_OK {
                let (slot, cookie) = (command.slot, command.cookie);
                self.complete(number, Completion { opcode: DONE_REFUSED, slot, cookie, status, ..Default::default() });
            }
        }
        self.start_fetch(number);
    }

    pub(super) fn complete(&mut self, number: usize, completion: Completion) {
        for _ in 0..self.faults.copies() {
            self.queues[number].waiting.push_back(completion);
        }
        self.write_completions(number);
    }

    pub(super) fn write_completions(&mut self, number: usize) {
        loop {
            let queue = &mut self.queues[number];
            if queue.cq_tail.wrapping_sub(queue.cq_head) >= queue.cq.size() {
                return;
            }
            let Some(mut completion) = queue.waiting.pop_front() else { return };
            completion.phase = queue.cq.phase(queue.cq_tail);
            completion.sq_head = queue.sq_head;
            let address = queue.cq.entry(queue.cq_tail);
            queue.cq_tail = queue.cq_tail.wrapping_add(1);
            let mut entry = completion.to_bytes();
            self.faults.take_completion(&mut entry);
            if !self.write(address, &entry) {
                self.queues[number].stopped = true;
                let window = self.slots.get_mut(usize::from(completion.slot)).and_then(Option::as_mut);
                if let Some(window) = window.filter(|_| completion.opcode == DONE_CONTRIBUTE) {
                    window.dma_failed = true;
                }
            }
        }
    }
}
