//! The rules of a window as code, called by software, the functional card and the hardware models.
//!
//! * [`filter`] and [`accept`]: which packets are accepted.
//! * [`gate`]: when a stage closes.
//! * [`send`]: which packets a rank sends, in which order.
//! * [`command`]: which commands are valid.
//!
//! The rules neither allocate nor read a clock. Callers keep storage and time, and the hardware
//! models add pipelines, epochs and hazards.
//!
//! The hardware description and the simulator's oracle and rule tests do not use this code, so that
//! they check it independently.

pub mod accept;
pub mod command;
pub mod filter;
pub mod gate;
pub mod send;

use core::fmt;
use core::ops::Range;

use crate::packet::{FLAG_BF16, FLAG_HADAMARD, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use crate::queue::{self, CLOSED_COMPLETE, CLOSED_DEADLINE, CLOSED_EARLY, Submission};
use crate::shard::ShardMap;

/// The two stages of Transpose AllReduce (OptiReduce 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Stage {
    /// Ranks send shards to their owners.
    Contribute,
    /// Owners send the mean of their shard to all.
    Broadcast,
}

impl Stage {
    /// Both stages in order.
    pub const ALL: [Self; 2] = [Self::Contribute, Self::Broadcast];

    /// Returns the index in arrays of stages.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the stage's number on the wire.
    pub const fn on_wire(self) -> u8 {
        match self {
            Self::Contribute => STAGE_CONTRIBUTE,
            Self::Broadcast => STAGE_BROADCAST,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contribute => "contribute",
            Self::Broadcast => "broadcast",
        })
    }
}

/// Reason for closing a stage, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[allow(missing_docs)] // described in `gate`
pub enum ClosedBy {
    #[default]
    Complete = CLOSED_COMPLETE as isize,
    Early = CLOSED_EARLY as isize,
    Deadline = CLOSED_DEADLINE as isize,
}

impl fmt::Display for ClosedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Early => "early",
            Self::Deadline => "deadline",
        })
    }
}

/// An armed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Window {
    pub bucket: u16,
    /// Collective number on the wire.
    pub step: u16,
    /// Byte offset of the window in the padded bucket, a multiple of 64.
    pub base_bytes: u32,
    /// Beats of the window, padding included.
    pub beats: usize,
    pub shards: ShardMap,
    pub hadamard: bool,
    pub bf16: bool,
    /// By stage: true if peers send in it. An all-reduce sends in both.
    pub sends: [bool; 2],
}

impl Window {
    /// Reads the window from an `ARM` in a job of `ranks`.
    pub fn of(arm: &Submission, ranks: usize) -> Self {
        Self {
            bucket: arm.bucket,
            step: arm.step,
            base_bytes: arm.base,
            beats: arm.beats.into(),
            shards: command::shards(arm, ranks),
            hadamard: arm.flags & queue::FLAG_HADAMARD != 0,
            bf16: arm.flags & queue::FLAG_BF16 != 0,
            sends: [true; 2],
        }
    }

    /// Returns the flags of the window's packets, without the last-percentile mark.
    pub const fn packet_flags(&self) -> u8 {
        (self.hadamard as u8 * FLAG_HADAMARD) | (self.bf16 as u8 * FLAG_BF16)
    }

    /// Returns the beats of the window in `payload_beats`: twice as many if bf16.
    pub const fn packet_beats(&self, payload_beats: usize) -> usize {
        payload_beats << self.bf16 as u32
    }

    /// Returns the payload beats of `beats` of the window: half as many, rounded up, if bf16.
    pub const fn payload_beats(&self, beats: usize) -> usize {
        beats.div_ceil(1 << self.bf16 as u32)
    }

    /// Returns the beats that `sender` may send to `rank` in a stage: the shard of `rank` in the
    /// contribute stage, the sender's own in the broadcast stage. Empty if peers do not send.
    pub const fn allowed(&self, stage: Stage, rank: usize, sender: usize) -> Range<usize> {
        if !self.sends[stage.index()] {
            return 0..0;
        }
        self.shards.range_of(match stage {
            Stage::Contribute => rank,
            Stage::Broadcast => sender,
        })
    }

    /// Returns whether a packet's payload begins in this window.
    pub fn holds(&self, packet: &UbtHeader) -> bool {
        let begin = u64::from(self.base_bytes);
        let window = begin..begin + (self.beats * crate::limits::BEAT_BYTES) as u64;
        packet.bucket == self.bucket && packet.step == self.step && window.contains(&u64::from(packet.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_packets_hold_twice_the_beats_and_an_odd_one_takes_a_beat_of_its_own() {
        let plain = Window::of(&Submission { beats: 8, shard_quotient: 4, ..Submission::default() }, 2);
        let bf16 = Window { bf16: true, ..plain };
        assert_eq!((plain.packet_beats(5), bf16.packet_beats(5)), (5, 10));
        assert_eq!([1, 2, 3].map(|beats| plain.payload_beats(beats)), [1, 2, 3]);
        assert_eq!([1, 2, 3].map(|beats| bf16.payload_beats(beats)), [1, 1, 2]);
    }

    #[test]
    fn an_arm_describes_its_window() {
        let arm = Submission {
            bucket: 3,
            step: 4,
            base: 640,
            beats: 9,
            shard_quotient: 4,
            shard_remainder: 1,
            rotation: 1,
            flags: queue::FLAG_HADAMARD,
            ..Submission::default()
        };
        let shards = ShardMap { quotient: 4, remainder: 1, ranks: 2, rotation: 1 };
        let (base_bytes, sends) = (640, [true; 2]);
        let window = Window { bucket: 3, step: 4, base_bytes, beats: 9, shards, hadamard: true, bf16: false, sends };
        assert_eq!(Window::of(&arm, 2), window);
        assert_eq!(window.packet_flags(), FLAG_HADAMARD);
        let bf16 = Window { hadamard: false, bf16: true, ..window };
        assert_eq!(Window::of(&Submission { flags: queue::FLAG_BF16, ..arm }, 2), bf16);
        assert_eq!(bf16.packet_flags(), FLAG_BF16);
    }

    #[test]
    fn stages_and_reasons_have_the_numbers_of_packets_and_completions() {
        assert_eq!(Stage::ALL.map(|stage| (stage.index(), stage.on_wire())), [(0, 0), (1, 2)]);
        let reasons = [ClosedBy::Complete, ClosedBy::Early, ClosedBy::Deadline];
        assert_eq!(reasons.map(|by| by as u8), [CLOSED_COMPLETE, CLOSED_EARLY, CLOSED_DEADLINE]);
        assert!(reasons.is_sorted());
    }
}
