//! The submission unit as an interpreter of commands: what is armed, and what one command does. It knows no cycles.

use optireduce_contract::limits::{HADAMARD_LOG2_MAX, HADAMARD_LOG2_MIN, SHARD_BEATS, SLOTS, WINDOW_BEATS};
use optireduce_contract::queue::*;
use optireduce_contract::shard::ShardMap;

/// What a command does, in the order in which it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The memories of the slot are emptied.
    Scrub(u8),
    /// A window is armed.
    Arm(Armed),
    /// The gradient of a window is to be read and sent.
    Contribute(Submission),
    /// The mean of a window is to be sent.
    Broadcast(Submission),
    /// Refused with this status.
    Refuse {
        /// Queue it came from.
        queue: usize,
        /// Slot as submitted.
        slot: u8,
        /// Cookie as submitted.
        cookie: u32,
        /// Why.
        status: u8,
    },
}

/// An armed window: as submitted, and what the card adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The command.
    pub command: Submission,
    /// Queue that armed it.
    pub queue: usize,
    /// Generation of the slot.
    pub epoch: u8,
    /// First beat and length of the own shard.
    pub own: (usize, usize),
    /// Peers with something to send: contribute, broadcast.
    pub senders: [u64; 2],
    /// Beats expected: contribute (own ones included), broadcast.
    pub expected: [usize; 2],
}

/// Submission unit, see the module.
pub struct Interpreter {
    /// This rank.
    pub rank: usize,
    /// Ranks of the job.
    pub ranks: usize,
    /// Windows in the slots, whether they were contributed to, and the queue that armed them.
    pub slots: [Option<(Submission, bool, usize)>; SLOTS],
    /// Epoch of the window armed last in each slot.
    pub epochs: [u8; SLOTS],
    /// Bit s: the mean of slot s is stored.
    pub scaled: u8,
}

impl Interpreter {
    /// Executes one command.
    pub fn execute(&mut self, queue: usize, command: Submission) -> Vec<Effect> {
        let refuse = |status| vec![Effect::Refuse { queue, slot: command.slot, cookie: command.cookie, status }];
        let slot = command.slot as usize;
        let armed = self.slots.get(slot).copied().flatten();
        let same =
            armed.filter(|(it, _, owner)| *owner == queue && it.cookie == command.cookie && it.step == command.step);
        match command.opcode {
            _ if slot >= SLOTS => refuse(STATUS_BAD_COMMAND),
            OP_ARM if !self.in_limits(&command) => refuse(STATUS_BAD_COMMAND),
            OP_ARM if armed.is_some() => refuse(STATUS_SLOT_BUSY),
            OP_ARM => self.arm(queue, command),
            OP_CONTRIBUTE => match same {
                Some((it, false, _)) if command.host_beats > it.beats || !command.host_address.is_multiple_of(64) => {
                    refuse(STATUS_BAD_COMMAND)
                }
                Some((it, false, _)) => {
                    self.slots[slot] = Some((it, true, queue));
                    vec![Effect::Contribute(command)]
                }
                _ => refuse(STATUS_STALE),
            },
            OP_BROADCAST => match same.filter(|_| self.scaled >> slot & 1 == 1) {
                None => refuse(STATUS_STALE),
                Some((it, ..)) if it.flags & FLAG_AUTO_BROADCAST != 0 => refuse(STATUS_BAD_COMMAND),
                Some(_) => vec![Effect::Broadcast(command)],
            },
            _ => refuse(STATUS_BAD_COMMAND),
        }
    }

    fn in_limits(&self, command: &Submission) -> bool {
        let beats = command.beats as usize;
        let shards = ShardMap::new(beats, self.ranks, command.rotation as u32);
        let log2_n = command.log2_n as u32;
        let encoded = (HADAMARD_LOG2_MIN..=HADAMARD_LOG2_MAX).contains(&log2_n)
            && log2_n.is_multiple_of(2)
            && command.log2_blocks < 8
            && beats == 1 << (log2_n - 4 + command.log2_blocks as u32);
        (1..=WINDOW_BEATS).contains(&beats)
            && command.host_beats <= command.beats
            && command.shard_quotient as usize == shards.quotient
            && shards.quotient <= SHARD_BEATS
            && command.shard_remainder as usize == shards.remainder
            && (command.rotation as usize) < self.ranks
            && (command.start_peers as usize) < self.ranks
            && command.send_incast <= 15
            && command.host_address.is_multiple_of(64)
            && command.report_address.is_multiple_of(256)
            && command.base.is_multiple_of(64)
            && (command.flags & FLAG_HADAMARD == 0 || encoded)
    }

    fn arm(&mut self, queue: usize, command: Submission) -> Vec<Effect> {
        let (slot, beats) = (command.slot as usize, command.beats as usize);
        let shards = ShardMap::new(beats, self.ranks, command.rotation as u32);
        let own = shards.range_of(self.rank);
        let peers = |has: &dyn Fn(usize) -> bool| {
            (0..self.ranks).filter(|&r| r != self.rank && has(r)).fold(0, |mask, r| mask | 1 << r)
        };
        let senders = [peers(&|_| !own.is_empty()), peers(&|rank| !shards.range_of(rank).is_empty())];
        let wraps = self.epochs[slot] == 255;
        let epoch = if wraps { 1 } else { self.epochs[slot] + 1 };
        self.epochs[slot] = epoch;
        self.slots[slot] = Some((command, false, queue));
        let expected = [self.ranks * own.len(), beats - own.len()];
        let armed = Armed { command, queue, epoch, own: (own.start, own.len()), senders, expected };
        let scrub = wraps.then_some(Effect::Scrub(command.slot));
        scrub.into_iter().chain([Effect::Arm(armed)]).collect()
    }
}
