//! Submission and completion queue entries, and the stage report.
//!
//! Both rings are in host memory. An entry is 64 bytes, and all fields are little-endian. The host
//! writes submissions, then the tail index to `SQ_TAIL`. The card writes completions. Their phase
//! bit flips in every turn of the ring, so the host finds a new completion without reading a
//! register.
//!
//! Life of a window:
//!
//! 1. `ARM` reserves a slot and opens both stages to the peers.
//! 2. `CONTRIBUTE` sends this rank's gradient.
//! 3. The card closes the contribute stage (complete, early or at the deadline) and writes a stage
//!    report and a completion.
//! 4. The card sends the mean of this rank's shard: immediately with [`FLAG_AUTO_BROADCAST`],
//!    otherwise on `BROADCAST`.
//! 5. The card closes the broadcast stage and writes report and completion. The slot is free again.

use crate::layout;

/// Bytes of an entry of either ring.
pub const ENTRY_BYTES: usize = 64;
/// Bytes of a stage's report: received beats per rank, little-endian u16.
pub const STAGE_REPORT_BYTES: usize = 128;
/// Bytes at `REPORT_ADDRESS`: report of the contribute stage, then of the broadcast stage.
pub const REPORT_BYTES: usize = 2 * STAGE_REPORT_BYTES;

/// Opcode: reserve a slot and open its stages.
pub const OP_ARM: u8 = 1;
/// Opcode: read this rank's gradient from host memory, encode it, send the shards, add its own
/// shard.
///
/// Accepted once per window, until the card finishes the broadcast stage. Later commands are
/// refused with [`STATUS_STALE`].
pub const OP_CONTRIBUTE: u8 = 2;
/// Opcode: send the mean of the slot's shard to all peers.
///
/// Valid after [`DONE_CONTRIBUTE`], for windows without [`FLAG_AUTO_BROADCAST`].
pub const OP_BROADCAST: u8 = 3;

/// Submission flag: the window is Hadamard-encoded.
pub const FLAG_HADAMARD: u8 = 0x1;
/// Submission flag: send the mean as soon as the contribute stage has closed.
pub const FLAG_AUTO_BROADCAST: u8 = 0x2;
/// Submission flag: stages may close early.
pub const FLAG_EARLY: u8 = 0x4;
/// Submission flag: payloads are bf16, half the bytes. Sums stay fp32.
pub const FLAG_BF16: u8 = 0x8;

/// Completion: the contribute stage has closed.
pub const DONE_CONTRIBUTE: u8 = 1;
/// Completion: the broadcast stage has closed, the result is in host memory, and the slot is free.
pub const DONE_BROADCAST: u8 = 2;
/// Completion: a submission was refused, for the reason in the status.
pub const DONE_REFUSED: u8 = 3;

/// Status: no error.
pub const STATUS_OK: u8 = 0;
/// Status: an access to host memory failed. Result and reports of this window are invalid.
pub const STATUS_DMA_ERROR: u8 = 1;
/// Status: unknown opcode, a field outside the limits of card or job, or `BROADCAST` of a mean that
/// is sent automatically.
pub const STATUS_BAD_COMMAND: u8 = 2;
/// Status: `ARM` of a slot in use.
pub const STATUS_SLOT_BUSY: u8 = 3;
/// Status: `CONTRIBUTE` or `BROADCAST` for a window that this queue has not armed in the slot, or
/// that does not accept the command in its present state.
pub const STATUS_STALE: u8 = 4;

/// `CLOSED_BY`: all beats arrived.
pub const CLOSED_COMPLETE: u8 = 0;
/// `CLOSED_BY`: silence for the grace time after all last-percentile marks.
pub const CLOSED_EARLY: u8 = 1;
/// `CLOSED_BY`: the deadline, one bound after the clock started.
pub const CLOSED_DEADLINE: u8 = 2;

layout! {
    /// Byte offsets of a submission. Fields that an opcode does not use are zero.
    pub mod submission: 64 bytes {
        OPCODE 1 "1 ARM, 2 CONTRIBUTE, 3 BROADCAST.";
        SLOT 1 "Number of the window slot.";
        STEP 2 "Collective number modulo 65536.";
        COOKIE 4 "Identifier of the window, chosen by the host. CONTRIBUTE and BROADCAST must repeat the armed one, and completions return it.";
        BUCKET 2 "ARM: bucket id.";
        FLAGS 1 "ARM: 1 Hadamard, 2 broadcast without a command, 4 early close, 8 bf16 payloads.";
        LOG2_N 1 "ARM: log2 of the Hadamard block in elements.";
        BASE 4 "ARM: byte offset of the window in the padded bucket, a multiple of 64.";
        BEATS 2 "ARM: beats of the window, padding included.";
        SHARD_QUOTIENT 2 "ARM: beats of a shard; the first SHARD_REMAINDER shards have one more.";
        SHARD_REMAINDER 1 "ARM: number of shards, from the first, with one more beat.";
        ROTATION 1 "ARM: rank r owns shard (r + ROTATION) mod RANKS.";
        START_PEERS 1 "ARM: a stage's clock starts when this many peers were heard, at most RANKS - 1, or when this rank enters. 0: only when it enters.";
        LOG2_BLOCKS 1 "ARM: log2 of the number of Hadamard blocks in the window.";
        BOUND_NS 4 "ARM: bound on each stage, t_B, in ns.";
        GRACE_NS 4 "ARM: grace time, the silence after the last mark that closes a stage early, in ns.";
        HOST_BEATS 2 "ARM: beats to write to HOST_ADDRESS; CONTRIBUTE: beats to read from it. The rest of the window is padding.";
        TIMEOUT_16US 2 "CONTRIBUTE: stage time sample in units of 16 us, for the timeout field of the window's frames in both stages.";
        INCAST 1 "CONTRIBUTE: incast that the window's frames advertise in both stages.";
        MARK_PACKETS 1 "ARM: number of last packets to each peer that carry the last-percentile mark, at least 1.";
        SEND_INCAST 1 "ARM: number of peers in a round of sending, at most 15; they take turns packet by packet. 0 counts as 1.";
        _ 1;
        HOST_ADDRESS 8 "ARM: IOVA of the result; CONTRIBUTE: IOVA of the gradient. A multiple of 64.";
        REPORT_ADDRESS 8 "ARM: IOVA of the stage reports, a multiple of 256.";
        SIGN_KEY 8 "ARM: key of the window's Hadamard signs.";
    }
}

layout! {
    /// Byte offsets of a completion.
    pub mod completion: 64 bytes {
        OPCODE 1 "1 contribute stage closed, 2 broadcast stage closed and result written, 3 submission refused.";
        SLOT 1 "Number of the window slot.";
        CLOSED_BY 1 "0 complete, 1 early, 2 deadline.";
        STATUS 1 "0 ok, 1 DMA error, 2 bad command, 3 slot busy, 4 stale.";
        COOKIE 4 "The window's cookie.";
        RECEIVED_BEATS 4 "Beats received from peers in this stage, each counted once.";
        EXPECTED_BEATS 4 "Beats expected from peers in this stage.";
        ELAPSED_NS 8 "Time from the start of the stage's clock to its close, in ns.";
        HEARD 8 "Bit r: a packet from rank r arrived in this stage.";
        CLOSED_NS 8 "Card time at which the stage closed, in ns.";
        SQ_HEAD 2 "Submissions consumed so far, modulo 65536.";
        OWN_BEATS 2 "Contribute stage: beats of this rank's own shard that were summed.";
        _ 19;
        PHASE 1 "Bit 0: phase, 1 in the first turn of the ring and flipped in every further turn.";
    }
}

/// A command for the card. Fields as in [`submission`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Submission {
    pub opcode: u8,
    pub slot: u8,
    pub step: u16,
    pub cookie: u32,
    pub bucket: u16,
    pub flags: u8,
    pub log2_n: u8,
    pub base: u32,
    pub beats: u16,
    pub shard_quotient: u16,
    pub shard_remainder: u8,
    pub rotation: u8,
    pub start_peers: u8,
    pub log2_blocks: u8,
    pub bound_ns: u32,
    pub grace_ns: u32,
    pub host_beats: u16,
    pub timeout_16us: u16,
    pub incast: u8,
    pub mark_packets: u8,
    pub send_incast: u8,
    pub host_address: u64,
    pub report_address: u64,
    pub sign_key: u64,
}

/// A completion of the card. Fields as in [`completion`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Completion {
    pub opcode: u8,
    pub slot: u8,
    pub closed_by: u8,
    pub status: u8,
    pub cookie: u32,
    pub received_beats: u32,
    pub expected_beats: u32,
    pub elapsed_ns: u64,
    pub heard: u64,
    pub closed_ns: u64,
    pub sq_head: u16,
    pub own_beats: u16,
    pub phase: bool,
}

macro_rules! codec {
    ($type:ident, $layout:ident: $($member:ident = $field:ident as $int:ident),* $(,)?) => {
        impl $type {
        /// Encodes the entry. Reserved bytes are zero.
            pub fn to_bytes(&self) -> [u8; ENTRY_BYTES] {
                let mut out = [0; ENTRY_BYTES];
                $($layout::$field.set(&mut out, self.$member as u64);)*
                out
            }

        /// Decodes an entry without checking values.
            pub fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
                let mut entry = Self::default();
                $(codec!(@get entry.$member, $layout::$field.get(bytes), $int);)*
                entry
            }
        }
    };
    (@get $to:expr, $word:expr, bool) => { $to = $word & 1 == 1 };
    (@get $to:expr, $word:expr, $int:ident) => { $to = $word as $int };
}

codec!(Submission, submission:
    opcode = OPCODE as u8, slot = SLOT as u8, step = STEP as u16, cookie = COOKIE as u32, bucket = BUCKET as u16,
    flags = FLAGS as u8, log2_n = LOG2_N as u8, base = BASE as u32, beats = BEATS as u16,
    shard_quotient = SHARD_QUOTIENT as u16, shard_remainder = SHARD_REMAINDER as u8, rotation = ROTATION as u8,
    start_peers = START_PEERS as u8, log2_blocks = LOG2_BLOCKS as u8, bound_ns = BOUND_NS as u32,
    grace_ns = GRACE_NS as u32, host_beats = HOST_BEATS as u16, timeout_16us = TIMEOUT_16US as u16,
    incast = INCAST as u8, mark_packets = MARK_PACKETS as u8, send_incast = SEND_INCAST as u8,
    host_address = HOST_ADDRESS as u64,
    report_address = REPORT_ADDRESS as u64, sign_key = SIGN_KEY as u64);

codec!(Completion, completion:
    opcode = OPCODE as u8, slot = SLOT as u8, closed_by = CLOSED_BY as u8, status = STATUS as u8, cookie = COOKIE as u32,
    received_beats = RECEIVED_BEATS as u32, expected_beats = EXPECTED_BEATS as u32, elapsed_ns = ELAPSED_NS as u64,
    heard = HEARD as u64, closed_ns = CLOSED_NS as u64, sq_head = SQ_HEAD as u16, own_beats = OWN_BEATS as u16,
    phase = PHASE as bool);

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that differ from their neighbours, so that swapped or overlapping fields show.
    fn patterned() -> [u8; 64] {
        core::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ 0x5a)
    }

    #[test]
    fn submissions_round_trip_field_by_field() {
        let mut bytes = patterned();
        bytes[39] = 0; // reserved
        assert_eq!(Submission::from_bytes(&bytes).to_bytes(), bytes);
        assert_eq!(Submission::from_bytes(&bytes).sign_key, u64::from_le_bytes(bytes[56..64].try_into().unwrap()));
    }

    #[test]
    fn completions_round_trip_field_by_field() {
        let mut bytes = patterned();
        bytes[44..63].fill(0); // reserved
        bytes[63] = 1;
        assert_eq!(Completion::from_bytes(&bytes).to_bytes(), bytes);
        assert!(Completion::from_bytes(&bytes).phase);
    }

    #[test]
    fn layouts_are_sorted_and_do_not_overlap() {
        for table in [submission::ALL, completion::ALL, crate::packet::frame::ALL] {
            for pair in table.windows(2) {
                assert!(pair[0].end() <= pair[1].offset, "{} overlaps {}", pair[0].name, pair[1].name);
            }
        }
    }
}
