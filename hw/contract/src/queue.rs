//! Submission and completion queue entries, and the stage report.
//!
//! Both rings live in host memory and hold entries of 64 bytes, one beat of the datapath, all fields little-endian.
//! The host writes submissions and then the tail index to `SQ_TAIL`; the card writes completions, whose phase bit
//! flips with every turn of the ring, so that the host sees a new one without reading a register.
//!
//! Life of a window: `ARM` reserves a slot and opens both its stages to the peers; `CONTRIBUTE` sends this rank's
//! gradient; the card closes each stage (complete, early or by its deadline), writes a stage report and a completion.
//! With [`FLAG_AUTO_BROADCAST`] the mean goes out as soon as the contribute stage has closed, even if the host sleeps;
//! without it the card waits for `BROADCAST`. The slot is free again after the completion of the broadcast stage.

use crate::layout;

/// Bytes of one entry of either ring.
pub const ENTRY_BYTES: usize = 64;
/// Bytes of the report of one stage: received beats per rank, [`crate::limits::RANKS_MAX`] little-endian u16.
pub const STAGE_REPORT_BYTES: usize = 128;
/// Bytes at `REPORT_ADDRESS` of a window: the contribute stage's report, then the broadcast stage's.
pub const REPORT_BYTES: usize = 2 * STAGE_REPORT_BYTES;

/// Opcode: reserve a slot, open its stages.
pub const OP_ARM: u8 = 1;
/// Opcode: read this rank's gradient from host memory, encode it, send the shards, add its own. Once per
/// window, and before its broadcast stage is being finished ([`STATUS_STALE`] afterwards).
pub const OP_CONTRIBUTE: u8 = 2;
/// Opcode: send the mean of the slot's shard to all peers; after [`DONE_CONTRIBUTE`], and only for windows without
/// [`FLAG_AUTO_BROADCAST`].
pub const OP_BROADCAST: u8 = 3;

/// Submission flag: the window is Hadamard-encoded.
pub const FLAG_HADAMARD: u8 = 0x1;
/// Submission flag: broadcast the mean without asking the host.
pub const FLAG_AUTO_BROADCAST: u8 = 0x2;
/// Submission flag: the early rule may close a stage before its deadline.
pub const FLAG_EARLY: u8 = 0x4;
/// Submission flag: payloads travel as bf16, half the bytes; sums stay fp32.
pub const FLAG_BF16: u8 = 0x8;

/// Completion: the contribute stage of a window has closed.
pub const DONE_CONTRIBUTE: u8 = 1;
/// Completion: the broadcast stage has closed and the result is in host memory; the slot is free.
pub const DONE_BROADCAST: u8 = 2;
/// Completion: a submission was refused; the status says why.
pub const DONE_REFUSED: u8 = 3;

/// Status: no error.
pub const STATUS_OK: u8 = 0;
/// Status: an access to host memory failed; the data of this window cannot be trusted.
pub const STATUS_DMA_ERROR: u8 = 1;
/// Status: unknown opcode, or a slot, length, size or count outside the limits of card or job.
pub const STATUS_BAD_COMMAND: u8 = 2;
/// Status: `ARM` of a slot in use.
pub const STATUS_SLOT_BUSY: u8 = 3;
/// Status: `CONTRIBUTE` or `BROADCAST` for a window that is not (or no longer) armed in the slot by this queue.
pub const STATUS_STALE: u8 = 4;

/// `CLOSED_BY`: every beat of every peer arrived.
pub const CLOSED_COMPLETE: u8 = 0;
/// `CLOSED_BY`: all peers sent their last-percentile mark and the grace time passed in silence.
pub const CLOSED_EARLY: u8 = 1;
/// `CLOSED_BY`: the stage ran into its bound.
pub const CLOSED_DEADLINE: u8 = 2;

layout! {
    /// Byte offsets of a submission. Fields that an opcode does not use are zero.
    pub mod submission: 64 bytes {
        OPCODE 1 "1 ARM, 2 CONTRIBUTE, 3 BROADCAST.";
        SLOT 1 "Window slot.";
        STEP 2 "Collective number.";
        COOKIE 4 "Host's name for the window; CONTRIBUTE and BROADCAST must carry the armed one; completions return it.";
        BUCKET 2 "ARM: bucket id.";
        FLAGS 1 "ARM: 1 Hadamard, 2 broadcast without asking, 4 early rule, 8 bf16 payloads.";
        LOG2_N 1 "ARM: log2 of the Hadamard block in elements.";
        BASE 4 "ARM: byte offset of the window in the (padded) bucket, a multiple of 64.";
        BEATS 2 "ARM: beats of the window, padding included.";
        SHARD_QUOTIENT 2 "ARM: beats every shard has.";
        SHARD_REMAINDER 1 "ARM: how many of the first shards have one beat more.";
        ROTATION 1 "ARM: rank r owns shard (r + ROTATION) mod ranks.";
        START_PEERS 1 "ARM: a stage's clock starts by itself once this many peers were heard, at most all; 0: only by the host's entry.";
        LOG2_BLOCKS 1 "ARM: log2 of the Hadamard blocks in the window.";
        BOUND_NS 4 "ARM: bound on each stage, t_B, in ns.";
        GRACE_NS 4 "ARM: silence after the last mark that closes a stage early, in ns.";
        HOST_BEATS 2 "ARM: beats to write to HOST_ADDRESS; CONTRIBUTE: beats to read from it. The rest is padding.";
        TIMEOUT_16US 2 "CONTRIBUTE: stage time sample for the timeout field of the window's frames, in both stages.";
        INCAST 1 "CONTRIBUTE: incast that the window's frames advertise, in both stages.";
        MARK_PACKETS 1 "ARM: last packets to a peer that carry the last-percentile mark, at least 1.";
        SEND_INCAST 1 "ARM: peers that are sent to at a time, packet by packet, at most 15; 0 counts as 1.";
        _ 1;
        HOST_ADDRESS 8 "ARM: where the result goes; CONTRIBUTE: where the gradient is. Multiple of 64.";
        REPORT_ADDRESS 8 "ARM: where the stage reports go. Multiple of 256.";
        SIGN_KEY 8 "ARM: key of the window's Hadamard signs.";
    }
}

layout! {
    /// Byte offsets of a completion.
    pub mod completion: 64 bytes {
        OPCODE 1 "1 contribute stage closed, 2 broadcast stage closed and result written, 3 submission refused.";
        SLOT 1 "Window slot.";
        CLOSED_BY 1 "0 complete, 1 early, 2 deadline.";
        STATUS 1 "0 ok, 1 DMA error, 2 bad command, 3 slot busy, 4 stale.";
        COOKIE 4 "The window's cookie.";
        RECEIVED_BEATS 4 "Beats received from peers in this stage, each counted once.";
        EXPECTED_BEATS 4 "Beats that peers were to send in this stage.";
        ELAPSED_NS 8 "Time from the start of the stage's clock to its close, in ns.";
        HEARD 8 "Bit r: something came from rank r in this stage.";
        CLOSED_NS 8 "Card time at which the stage closed, in ns.";
        SQ_HEAD 2 "Submissions consumed so far, modulo 65536.";
        OWN_BEATS 2 "Contribute stage: beats of this rank's own shard that were summed.";
        _ 19;
        PHASE 1 "Bit 0: phase; flips with every turn of the ring, 1 on the first.";
    }
}

/// A command for the card, as the host builds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// `OP_*`.
    pub opcode: u8,
    /// Window slot.
    pub slot: u8,
    /// Collective number.
    pub step: u16,
    /// The host's identifier of the window.
    pub cookie: u32,
    /// Bucket id.
    pub bucket: u16,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// log2 of the Hadamard block in elements.
    pub log2_n: u8,
    /// Byte offset of the window in the padded bucket.
    pub base: u32,
    /// Beats of the window.
    pub beats: u16,
    /// Beats every shard has.
    pub shard_quotient: u16,
    /// Shards with one beat more.
    pub shard_remainder: u8,
    /// Rank r owns shard (r + rotation) mod ranks.
    pub rotation: u8,
    /// Peers that start a stage's clock.
    pub start_peers: u8,
    /// log2 of the blocks in the window.
    pub log2_blocks: u8,
    /// Bound on each stage in ns.
    pub bound_ns: u32,
    /// Early rule's silence in ns.
    pub grace_ns: u32,
    /// Beats in host memory.
    pub host_beats: u16,
    /// Stage time sample for the header.
    pub timeout_16us: u16,
    /// Incast to advertise.
    pub incast: u8,
    /// Packets that carry the mark.
    pub mark_packets: u8,
    /// Peers that are sent to at a time.
    pub send_incast: u8,
    /// Result or gradient address.
    pub host_address: u64,
    /// Stage report address.
    pub report_address: u64,
    /// Hadamard sign key.
    pub sign_key: u64,
}

/// A completion, as the host reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// `DONE_*`.
    pub opcode: u8,
    /// Window slot.
    pub slot: u8,
    /// `CLOSED_*`.
    pub closed_by: u8,
    /// `STATUS_*`.
    pub status: u8,
    /// The window's cookie.
    pub cookie: u32,
    /// Beats received from peers.
    pub received_beats: u32,
    /// Beats expected from peers.
    pub expected_beats: u32,
    /// Stage time in ns.
    pub elapsed_ns: u64,
    /// Ranks heard in the stage.
    pub heard: u64,
    /// Card time of the close in ns.
    pub closed_ns: u64,
    /// Submissions consumed so far.
    pub sq_head: u16,
    /// Beats of this rank's own shard that were summed.
    pub own_beats: u16,
    /// Phase bit.
    pub phase: bool,
}

macro_rules! codec {
    ($type:ident, $layout:ident: $($member:ident = $field:ident as $int:ident),* $(,)?) => {
        impl $type {
            /// The entry as 64 bytes; reserved bytes are zero.
            pub fn to_bytes(&self) -> [u8; ENTRY_BYTES] {
                let mut out = [0; ENTRY_BYTES];
                $($layout::$field.set(&mut out, self.$member as u64);)*
                out
            }

            /// Reads an entry. Any bytes are accepted; the caller checks what they mean.
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

    /// Every field holds a different pattern, so that swapped or overlapping fields show.
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
