//! The submission unit as an interpreter of commands.

use optireduce_contract::limits::{HADAMARD_LOG2_MAX, SLOTS, WINDOW_BEATS};
use optireduce_contract::queue::Submission;
use optireduce_contract::ranks::CardRanks;
use optireduce_contract::rules::command::{self, Limits, Order};
use optireduce_contract::rules::gate::Gate;
use optireduce_contract::rules::{Stage, Window};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Scrub(u8),
    Arm(Armed),
    Contribute(Submission),
    Broadcast(Submission),
    /// Slot and cookie are as submitted.
    Refuse {
        queue: usize,
        slot: u8,
        cookie: u32,
        status: u8,
    },
}

/// Command, and the values added by the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    pub command: Submission,
    pub queue: usize,
    pub epoch: u8,
    /// First beat and length of the local shard.
    pub own: (usize, usize),
    /// Peers with something to send: contribute, broadcast.
    pub senders: [u64; 2],
    /// Beats expected: contribute (local ones included), broadcast.
    pub expected: [usize; 2],
}

pub struct Interpreter {
    pub rank: usize,
    pub ranks: usize,
    /// Window of each slot, whether it was contributed to, and the queue that armed it.
    pub slots: [Option<(Submission, bool, usize)>; SLOTS],
    /// Epoch of the last window in each slot.
    pub epochs: [u8; SLOTS],
    /// Bit s: the mean of slot s is stored.
    pub scaled: u8,
}

impl Interpreter {
    pub fn execute(&mut self, queue: usize, command: Submission) -> Vec<Effect> {
        let limits = Limits { window_beats: WINDOW_BEATS, hadamard_log2: HADAMARD_LOG2_MAX };
        let slot = usize::from(command.slot);
        let armed = |slot: usize| {
            let (arm, contributed, queue) = self.slots[slot].as_ref()?;
            let has_mean = self.scaled >> slot & 1 == 1;
            Some(command::Armed { arm, queue: *queue, contributed: *contributed, has_mean, finishing: false })
        };
        match command::judge(&command, queue, self.ranks, &limits, armed) {
            Ok(Order::Arm) => self.arm(queue, command),
            Ok(Order::Contribute) => {
                self.slots[slot].iter_mut().for_each(|(_, contributed, _)| *contributed = true);
                vec![Effect::Contribute(command)]
            }
            Ok(Order::Broadcast) => vec![Effect::Broadcast(command)],
            Err(status) => {
                vec![Effect::Refuse { queue, slot: command.slot, cookie: command.cookie, status }]
            }
        }
    }

    fn arm(&mut self, queue: usize, command: Submission) -> Vec<Effect> {
        let slot = usize::from(command.slot);
        let window = Window::of(&command, self.ranks);
        let own = window.shards.range_of(self.rank);
        let gates = Stage::ALL.map(|stage| Gate::of(stage, &window, self.rank, CardRanks::default()));
        let wraps = self.epochs[slot] == 255;
        let epoch = if wraps { 1 } else { self.epochs[slot] + 1 };
        self.epochs[slot] = epoch;
        self.slots[slot] = Some((command, false, queue));
        let senders = gates.each_ref().map(|gate| gate.senders().bits());
        let expected = gates.each_ref().map(|gate| gate.expected_beats() + gate.own_missing_beats());
        let armed = Armed { command, queue, epoch, own: (own.start, own.len()), senders, expected };
        let scrub = wraps.then_some(Effect::Scrub(command.slot));
        scrub.into_iter().chain([Effect::Arm(armed)]).collect()
    }
}
