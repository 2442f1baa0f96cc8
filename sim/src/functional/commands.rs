//! The host's side of the functional card: submissions and completions.

use optireduce_contract::limits::{HADAMARD_LOG2_MAX, HADAMARD_LOG2_MIN, LANES, SLOTS, WINDOW_BEATS};
use optireduce_contract::queue::{
    Completion, DONE_REFUSED, ENTRY_BYTES, FLAG_AUTO_BROADCAST, FLAG_HADAMARD, OP_ARM, OP_BROADCAST,
    STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK, STATUS_SLOT_BUSY, STATUS_STALE, Submission,
};

use super::job::Job;
use super::window::Window;
use super::{DMA_NS, Event, FunctionalCard};
use optireduce_contract::limits::CYCLE_NS;

impl FunctionalCard {
    /// Fetches what the host has submitted, all of it with one access.
    pub(super) fn start_fetch(&mut self) {
        if self.job.is_some() && !self.fetching && self.sq_tail != self.sq_head {
            self.fetching = true;
            self.at(self.now_ns + DMA_NS, Event::Fetched(self.sq_tail));
        }
    }

    pub(super) fn fetched(&mut self, job: &Job, tail: u16) {
        self.fetching = false;
        while self.sq_head != tail {
            let mut entry = [0; ENTRY_BYTES];
            let readable = self.read(job.sq.entry(self.sq_head), &mut entry);
            self.sq_head = self.sq_head.wrapping_add(1);
            let command = Submission::from_bytes(&entry);
            let status = if readable { self.execute(job, &command) } else { STATUS_DMA_ERROR };
            if status != STATUS_OK {
                let (slot, cookie) = (command.slot, command.cookie);
                self.complete(Completion { opcode: DONE_REFUSED, slot, cookie, status, ..Default::default() });
            }
        }
        self.start_fetch();
    }

    fn execute(&mut self, job: &Job, command: &Submission) -> u8 {
        let index = usize::from(command.slot);
        if index >= SLOTS || !(OP_ARM..=OP_BROADCAST).contains(&command.opcode) {
            return STATUS_BAD_COMMAND;
        }
        if command.opcode == OP_ARM {
            if !armable(job, command) {
                return STATUS_BAD_COMMAND;
            }
            if self.slots[index].is_some() {
                return STATUS_SLOT_BUSY;
            }
            self.slots[index] = Some(Window::new(*command, job.rank, job.ranks));
            return STATUS_OK;
        }
        let takes = |window: &&mut Window| {
            window.arm.cookie == command.cookie && window.arm.step == command.step && !window.finishing
        };
        let Some(window) = self.slots[index].as_mut().filter(takes) else { return STATUS_STALE };
        if command.opcode == OP_BROADCAST {
            if window.gates[0].closed.is_none() {
                return STATUS_STALE;
            }
            if window.arm.flags & FLAG_AUTO_BROADCAST != 0 {
                return STATUS_BAD_COMMAND;
            }
            window.broadcast_wanted = true;
            self.broadcast(job, index);
            return STATUS_OK;
        }
        if window.contributed {
            return STATUS_STALE;
        }
        if command.host_beats > window.arm.beats {
            return STATUS_BAD_COMMAND;
        }
        window.contributed = true;
        window.gates[0].enter(self.now_ns);
        window.reading = true;
        self.reader_free_ns = self.reader_free_ns.max(self.now_ns + DMA_NS) + u64::from(command.host_beats) * CYCLE_NS;
        let event = Event::Gradient {
            slot: command.slot,
            address: command.host_address,
            beats: command.host_beats,
            timeout_16us: command.timeout_16us,
            incast: command.incast,
        };
        self.at(self.reader_free_ns, event);
        STATUS_OK
    }

    /// Queues a completion; it waits while the host's ring is full.
    pub(super) fn complete(&mut self, completion: Completion) {
        self.completions.push_back(completion);
        self.write_completions();
    }

    /// Writes queued completions while the host's ring has room.
    pub(super) fn write_completions(&mut self) {
        let Some(job) = self.job.clone() else { return };
        while self.cq_tail.wrapping_sub(self.cq_head) < job.cq.size() {
            let Some(mut completion) = self.completions.pop_front() else { break };
            completion.phase = job.cq.phase(self.cq_tail);
            completion.sq_head = self.sq_head;
            self.write(job.cq.entry(self.cq_tail), &completion.to_bytes());
            self.cq_tail = self.cq_tail.wrapping_add(1);
        }
    }
}

/// Whether an `ARM` lies within the card's limits.
fn armable(job: &Job, arm: &Submission) -> bool {
    let beats = usize::from(arm.beats);
    let shards = usize::from(arm.shard_quotient) * job.ranks + usize::from(arm.shard_remainder);
    let log2_n = u32::from(arm.log2_n);
    let blocks_fit = (HADAMARD_LOG2_MIN..=HADAMARD_LOG2_MAX).contains(&log2_n)
        && log2_n % 2 == 0
        && arm.log2_blocks < 16
        && ((1usize << log2_n) / LANES) << arm.log2_blocks == beats;
    (1..=WINDOW_BEATS).contains(&beats)
        && arm.host_beats <= arm.beats
        && shards == beats
        && usize::from(arm.shard_remainder) < job.ranks
        && usize::from(arm.rotation) < job.ranks
        && (arm.flags & FLAG_HADAMARD == 0 || blocks_fit)
}
