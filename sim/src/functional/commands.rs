//! What the functional card does with commands.

use optireduce_contract::limits::{CYCLE_NS, HADAMARD_LOG2_MIN, LANES, SLOTS};
use optireduce_contract::queue::{
    FLAG_AUTO_BROADCAST, FLAG_HADAMARD, OP_ARM, OP_BROADCAST, STATUS_BAD_COMMAND, STATUS_OK, STATUS_SLOT_BUSY,
    STATUS_STALE, Submission,
};
use optireduce_hw::card::build::Build;

use super::job::Job;
use super::window::Window;
use super::{DMA_NS, Event, FunctionalCard};

/// Most peers that are sent to at a time.
const SEND_INCAST_MAX: usize = 15;

impl FunctionalCard {
    /// Does what a command of a queue says; the status of its refusal if it cannot.
    pub(super) fn execute(&mut self, job: &Job, queue: usize, command: &Submission) -> u8 {
        let index = usize::from(command.slot);
        if index >= SLOTS || !(OP_ARM..=OP_BROADCAST).contains(&command.opcode) {
            return STATUS_BAD_COMMAND;
        }
        if command.opcode == OP_ARM {
            if !armable(self.build, job, command) {
                return STATUS_BAD_COMMAND;
            }
            if self.slots[index].is_some() {
                return STATUS_SLOT_BUSY;
            }
            self.slots[index] = Some(Window::new(*command, queue, job.rank, job.ranks));
            return STATUS_OK;
        }
        let takes = |window: &&mut Window| {
            let same = window.arm.cookie == command.cookie && window.arm.step == command.step;
            same && window.queue == queue && !window.finishing
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
        if command.host_beats > window.arm.beats || !command.host_address.is_multiple_of(64) {
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
}

/// Whether an `ARM` lies within the card's limits.
fn armable(build: Build, job: &Job, arm: &Submission) -> bool {
    let beats = usize::from(arm.beats);
    let shards = usize::from(arm.shard_quotient) * job.ranks + usize::from(arm.shard_remainder);
    let log2_n = u32::from(arm.log2_n);
    let blocks_fit = (HADAMARD_LOG2_MIN..=build.hadamard_log2).contains(&log2_n)
        && log2_n % 2 == 0
        && arm.log2_blocks < 16
        && ((1usize << log2_n) / LANES) << arm.log2_blocks == beats;
    (1..=1 << build.window_log2).contains(&beats)
        && arm.host_beats <= arm.beats
        && shards == beats
        && usize::from(arm.shard_remainder) < job.ranks
        && usize::from(arm.rotation) < job.ranks
        && usize::from(arm.start_peers) < job.ranks
        && usize::from(arm.send_incast) <= SEND_INCAST_MAX
        && arm.host_address.is_multiple_of(64)
        && arm.report_address.is_multiple_of(256)
        && arm.base.is_multiple_of(64)
        && (arm.flags & FLAG_HADAMARD == 0 || blocks_fit)
}
