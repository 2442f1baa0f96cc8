//! Validity of commands.
//!
//! A command is refused for the first of these conditions that fails:
//!
//! 1. The card has the slot, and the opcode is known.
//! 2. `ARM`: every field is within its limits, and the slot is free.
//! 3. Other commands: the slot's window is the named one, is not finishing, and accepts the
//!    command.
//! 4. Other commands: their own fields are within the limits.

use crate::limits::{HADAMARD_LOG2_LIMIT, HADAMARD_LOG2_MIN, LANES, LOG2_BLOCKS_MAX, SLOTS};
use crate::queue::{
    FLAG_AUTO_BROADCAST, FLAG_HADAMARD, OP_ARM, OP_BROADCAST, OP_CONTRIBUTE, STATUS_BAD_COMMAND, STATUS_SLOT_BUSY,
    STATUS_STALE, Submission,
};
use crate::shard::ShardMap;

/// Largest number of peers in a round of sending.
pub const SEND_INCAST_MAX: u8 = 15;

/// Largest window in beats and log2 of the largest Hadamard block in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Limits {
    pub window_beats: usize,
    pub hadamard_log2: u32,
}

/// State of a slot in use: its `ARM`, from `queue`, and the progress of its window.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // described above
pub struct Armed<'a> {
    pub arm: &'a Submission,
    pub queue: usize,
    pub contributed: bool,
    /// True once the mean of this rank's shard is complete.
    pub has_mean: bool,
    /// True once the broadcast stage is finishing.
    pub finishing: bool,
}

/// A valid command, by opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum Order {
    Arm,
    Contribute,
    Broadcast,
}

/// Returns the shards that an `ARM` describes.
pub fn shards(arm: &Submission, ranks: usize) -> ShardMap {
    ShardMap {
        quotient: arm.shard_quotient.into(),
        remainder: arm.shard_remainder.into(),
        ranks,
        rotation: arm.rotation.into(),
    }
}

/// Checks a command from `queue` to a card in a job of `ranks`. `slot` returns the state of a slot.
///
/// # Errors
/// The `STATUS_*` of the refusal.
pub fn judge<'a>(
    command: &Submission,
    queue: usize,
    ranks: usize,
    limits: &Limits,
    slot: impl FnOnce(usize) -> Option<Armed<'a>>,
) -> Result<Order, u8> {
    let index = usize::from(command.slot);
    if index >= SLOTS || ![OP_ARM, OP_CONTRIBUTE, OP_BROADCAST].contains(&command.opcode) {
        return Err(STATUS_BAD_COMMAND);
    }
    if command.opcode == OP_ARM {
        return match slot(index) {
            _ if !is_armable(command, ranks, limits) => Err(STATUS_BAD_COMMAND),
            Some(_) => Err(STATUS_SLOT_BUSY),
            None => Ok(Order::Arm),
        };
    }
    let is_meant = |armed: &Armed<'_>| {
        let same = armed.arm.cookie == command.cookie && armed.arm.step == command.step;
        same && armed.queue == queue && !armed.finishing
    };
    let armed = slot(index).filter(is_meant).ok_or(STATUS_STALE)?;
    if command.opcode == OP_CONTRIBUTE {
        if armed.contributed {
            return Err(STATUS_STALE);
        }
        let within = command.host_beats <= armed.arm.beats && command.host_address.is_multiple_of(64);
        return if within { Ok(Order::Contribute) } else { Err(STATUS_BAD_COMMAND) };
    }
    if !armed.has_mean {
        return Err(STATUS_STALE);
    }
    if armed.arm.flags & FLAG_AUTO_BROADCAST != 0 { Err(STATUS_BAD_COMMAND) } else { Ok(Order::Broadcast) }
}

fn is_armable(arm: &Submission, ranks: usize, limits: &Limits) -> bool {
    let (beats, shards) = (usize::from(arm.beats), shards(arm, ranks));
    (1..=limits.window_beats).contains(&beats)
        && arm.host_beats <= arm.beats
        && shards.quotient <= limits.window_beats / 2
        && shards.remainder < ranks
        && shards.quotient * ranks + shards.remainder == beats
        && shards.rotation < ranks
        && usize::from(arm.start_peers) < ranks
        && arm.send_incast <= SEND_INCAST_MAX
        && arm.host_address.is_multiple_of(64)
        && arm.report_address.is_multiple_of(256)
        && arm.base.is_multiple_of(64)
        && (arm.flags & FLAG_HADAMARD == 0 || has_whole_blocks(arm, limits))
}

/// Returns whether the blocks have a supported size, a power of four, and a power of two of them
/// fill the window.
fn has_whole_blocks(arm: &Submission, limits: &Limits) -> bool {
    let (log2_n, log2_blocks) = (u32::from(arm.log2_n), u32::from(arm.log2_blocks));
    (HADAMARD_LOG2_MIN..=limits.hadamard_log2.min(HADAMARD_LOG2_LIMIT)).contains(&log2_n)
        && log2_n.is_multiple_of(2)
        && log2_blocks <= LOG2_BLOCKS_MAX
        && 1usize << (log2_n - LANES.ilog2() + log2_blocks) == usize::from(arm.beats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{HADAMARD_LOG2_MAX, WINDOW_BEATS, WINDOW_BEATS_LIMIT};

    const SIMULATED: Limits = Limits { window_beats: WINDOW_BEATS, hadamard_log2: HADAMARD_LOG2_MAX };
    const LARGEST: Limits = Limits { window_beats: WINDOW_BEATS_LIMIT, hadamard_log2: HADAMARD_LOG2_LIMIT };

    /// 16 beats on 3 ranks in slot 5: shards of 6, 5 and 5.
    const ARM: Submission = Submission {
        opcode: OP_ARM,
        slot: 5,
        step: 3,
        cookie: 77,
        bucket: 0,
        flags: FLAG_HADAMARD,
        log2_n: 8,
        base: 64,
        beats: 16,
        shard_quotient: 5,
        shard_remainder: 1,
        rotation: 2,
        start_peers: 2,
        log2_blocks: 0,
        bound_ns: 1,
        grace_ns: 1,
        host_beats: 16,
        timeout_16us: 0,
        incast: 0,
        mark_packets: 1,
        send_incast: 15,
        host_address: 64,
        report_address: 256,
        sign_key: 0,
    };

    fn arm(change: impl FnOnce(&mut Submission), limits: &Limits) -> Result<Order, u8> {
        let mut command = ARM;
        change(&mut command);
        judge(&command, 0, 3, limits, |_| None)
    }

    #[test]
    fn an_arm_at_its_limits_is_taken_and_one_beyond_is_not() {
        type Change = fn(&mut Submission);
        let good: [(&str, Change); 5] = [
            ("as it is", |_| ()),
            ("nothing to read", |c| c.host_beats = 0),
            ("no round", |c| c.send_incast = 0),
            ("no peer starts the clock", |c| c.start_peers = 0),
            ("block sizes without encoding", |c| (c.flags, c.log2_n, c.log2_blocks) = (0, 99, 99)),
        ];
        for (what, change) in good {
            assert_eq!(arm(change, &SIMULATED), Ok(Order::Arm), "{what}");
        }
        let bad: [(&str, Change); 20] = [
            ("opcode 0", |c| c.opcode = 0),
            ("opcode 4", |c| c.opcode = 4),
            ("slot", |c| c.slot = 8),
            ("no beats", |c| (c.flags, c.beats, c.host_beats, c.shard_quotient, c.shard_remainder) = (0, 0, 0, 0, 0)),
            ("host beats", |c| c.host_beats = 17),
            ("quotient", |c| c.shard_quotient = 4),
            ("remainder", |c| (c.shard_quotient, c.shard_remainder) = (4, 4)),
            ("remainder of all ranks", |c| {
                (c.flags, c.beats, c.host_beats, c.shard_quotient, c.shard_remainder) = (0, 15, 15, 4, 3);
            }),
            ("rotation", |c| c.rotation = 3),
            ("start_peers", |c| c.start_peers = 3),
            ("send_incast", |c| c.send_incast = 16),
            ("host address", |c| c.host_address = 32),
            ("report address", |c| c.report_address = 128),
            ("base", |c| c.base = 32),
            ("odd block", |c| {
                (c.beats, c.shard_quotient, c.shard_remainder, c.log2_n) = (32, 10, 2, 9);
            }),
            ("fewer blocks than the window holds", |c| {
                (c.beats, c.shard_quotient, c.shard_remainder) = (32, 10, 2);
            }),
            ("block of an odd size and beats of another", |c| c.log2_n = 9),
            ("small block", |c| (c.log2_n, c.log2_blocks) = (6, 2)),
            ("block larger than the window", |c| c.log2_n = 10),
            ("more blocks than the window holds", |c| c.log2_blocks = 1),
        ];
        for (what, change) in bad {
            assert_eq!(arm(change, &SIMULATED), Err(STATUS_BAD_COMMAND), "{what}");
        }
    }

    #[test]
    fn windows_and_blocks_are_as_large_as_the_card_was_built() {
        let of = |beats: usize, log2_n, limits: &Limits| {
            let log2_blocks = (beats.ilog2() + 4).saturating_sub(u32::from(log2_n)) as u8;
            let cut = ShardMap::new(beats, 3, 0);
            let change = |c: &mut Submission| {
                (c.beats, c.host_beats, c.log2_n, c.log2_blocks) = (beats as u16, 0, log2_n, log2_blocks);
                (c.shard_quotient, c.shard_remainder) = (cut.quotient as u16, cut.remainder as u8);
            };
            arm(change, limits).is_ok()
        };
        for (log2_n, simulated, largest) in
            [(8, true, true), (10, true, true), (12, true, true), (14, false, true), (16, false, false)]
        {
            assert_eq!(of(1024, log2_n, &SIMULATED), simulated, "2^{log2_n}");
            assert_eq!(of(16_384, log2_n, &LARGEST), largest, "2^{log2_n}");
        }
        assert!(!of(2048, 8, &SIMULATED) && of(2048, 8, &LARGEST));
        assert!(!of(32_768, 8, &LARGEST));
        assert!(arm(|c| c.log2_blocks = 200, &LARGEST).is_err());
        // With many ranks, even the shards of an oversized window are small.
        let many = |beats: usize| {
            let cut = ShardMap::new(beats, 64, 0);
            let (shard_quotient, shard_remainder) = (cut.quotient as u16, cut.remainder as u8);
            let arm = Submission { flags: 0, beats: beats as u16, shard_quotient, shard_remainder, ..ARM };
            judge(&arm, 0, 64, &SIMULATED, |_| None)
        };
        assert_eq!([many(1024), many(1025)], [Ok(Order::Arm), Err(STATUS_BAD_COMMAND)]);
        // With two ranks, shards have their largest size.
        let cut = Submission { flags: 0, beats: 1024, shard_quotient: 512, shard_remainder: 0, ..ARM };
        let two = Submission { rotation: 1, start_peers: 1, ..cut };
        assert_eq!(judge(&two, 0, 2, &SIMULATED, |_| None), Ok(Order::Arm));
        // With one rank, a whole window does not fit into a shard.
        let alone = Submission { flags: 0, shard_quotient: 16, shard_remainder: 0, rotation: 0, start_peers: 0, ..ARM };
        assert_eq!(judge(&alone, 0, 1, &SIMULATED, |_| None), Ok(Order::Arm));
        let whole = Submission { beats: 1024, shard_quotient: 1024, ..alone };
        assert_eq!(judge(&whole, 0, 1, &SIMULATED, |_| None), Err(STATUS_BAD_COMMAND));
    }

    /// Armed from queue 1.
    const SLOT: Armed<'static> = Armed { arm: &ARM, queue: 1, contributed: false, has_mean: false, finishing: false };

    #[test]
    fn a_slot_in_use_is_busy_unless_the_command_is_bad() {
        assert_eq!(judge(&ARM, 0, 3, &SIMULATED, |_| Some(SLOT)), Err(STATUS_SLOT_BUSY));
        let bad = Submission { beats: 0, ..ARM };
        assert_eq!(judge(&bad, 0, 3, &SIMULATED, |_| Some(SLOT)), Err(STATUS_BAD_COMMAND));
        let other = judge(&Submission { slot: 2, ..ARM }, 0, 3, &SIMULATED, |slot| (slot == 5).then_some(SLOT));
        assert_eq!(other, Ok(Order::Arm));
    }

    #[test]
    fn a_contribution_is_for_the_window_meant_and_only_once() {
        let contribute = Submission { opcode: OP_CONTRIBUTE, ..ARM };
        let judge = |command: &Submission, queue, slot: Armed<'_>| judge(command, queue, 3, &SIMULATED, |_| Some(slot));
        assert_eq!(judge(&contribute, 1, SLOT), Ok(Order::Contribute));
        assert_eq!(judge(&contribute, 1, Armed { has_mean: true, ..SLOT }), Ok(Order::Contribute), "late, but heard");
        assert_eq!(judge(&contribute, 0, SLOT), Err(STATUS_STALE), "another queue's");
        assert_eq!(judge(&Submission { cookie: 78, ..contribute }, 1, SLOT), Err(STATUS_STALE));
        assert_eq!(judge(&Submission { step: 4, ..contribute }, 1, SLOT), Err(STATUS_STALE));
        assert_eq!(judge(&contribute, 1, Armed { contributed: true, ..SLOT }), Err(STATUS_STALE));
        assert_eq!(judge(&contribute, 1, Armed { finishing: true, ..SLOT }), Err(STATUS_STALE));
        assert_eq!(super::judge(&contribute, 1, 3, &SIMULATED, |_| None), Err(STATUS_STALE));
        assert_eq!(judge(&Submission { host_beats: 17, ..contribute }, 1, SLOT), Err(STATUS_BAD_COMMAND));
        assert_eq!(judge(&Submission { host_address: 4, ..contribute }, 1, SLOT), Err(STATUS_BAD_COMMAND));
        let bad = Submission { host_beats: 17, ..contribute };
        assert_eq!(judge(&bad, 1, Armed { contributed: true, ..SLOT }), Err(STATUS_STALE));
    }

    #[test]
    fn a_broadcast_is_for_a_mean_that_waits_for_it() {
        let broadcast = Submission { opcode: OP_BROADCAST, ..ARM };
        let judge = |slot: Armed<'_>| judge(&broadcast, 1, 3, &SIMULATED, |_| Some(slot));
        assert_eq!(judge(SLOT), Err(STATUS_STALE), "there is no mean yet");
        let with_mean = Armed { has_mean: true, ..SLOT };
        assert_eq!(judge(with_mean), Ok(Order::Broadcast));
        assert_eq!(judge(Armed { contributed: true, ..with_mean }), Ok(Order::Broadcast));
        assert_eq!(judge(Armed { finishing: true, ..with_mean }), Err(STATUS_STALE));
        let automatic = Submission { flags: FLAG_AUTO_BROADCAST, ..ARM };
        assert_eq!(judge(Armed { arm: &automatic, ..with_mean }), Err(STATUS_BAD_COMMAND));
        assert_eq!(judge(Armed { arm: &automatic, ..SLOT }), Err(STATUS_STALE), "stale comes before bad");
    }
}
