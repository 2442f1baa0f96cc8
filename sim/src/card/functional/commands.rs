//! Execution of commands on the functional card.

use optireduce_contract::limits::CYCLE_NS;
use optireduce_contract::queue::{STATUS_OK, Submission};
use optireduce_contract::rules::command::{Limits, Order, judge};

use super::job::Job;
use super::window::Window;
use super::{Event, FunctionalCard};

impl FunctionalCard {
    /// Returns `STATUS_OK` or the status of a rejection.
    pub(super) fn execute(&mut self, job: &Job, queue: usize, command: &Submission) -> u8 {
        let limits = Limits { window_beats: 1 << self.build.window_log2, hadamard_log2: self.build.hadamard_log2 };
        let armed = |slot: usize| self.slots[slot].as_ref().map(Window::as_armed);
        let index = usize::from(command.slot);
        match judge(command, queue, job.ranks, &limits, armed) {
            Ok(Order::Arm) => self.slots[index] = Some(Window::new(*command, queue, job.rank, job.ranks)),
            Ok(Order::Contribute) => self.contribute(command),
            Ok(Order::Broadcast) => {
                if let Some(window) = &mut self.slots[index] {
                    window.broadcast_wanted = true;
                }
                self.broadcast(job, index);
            }
            Err(status) => return status,
        }
        STATUS_OK
    }

    fn contribute(&mut self, command: &Submission) {
        let Some(window) = &mut self.slots[usize::from(command.slot)] else { return };
        window.contributed = true;
        (window.timeout_16us, window.incast) = (command.timeout_16us, command.incast);
        window.gates[0].enter(self.now_ns);
        window.reading = true;
        self.reader_free_ns =
            self.reader_free_ns.max(self.now_ns + self.faults.dma_ns) + u64::from(command.host_beats) * CYCLE_NS;
        let event = Event::Gradient { slot: command.slot, address: command.host_address, beats: command.host_beats };
        self.at(self.reader_free_ns, event);
    }
}
