//! Window lookup as a function of a packet's header: the contract's rules over its [`ShardMap`].

use optireduce_contract::packet::{FLAG_BF16, FLAG_HADAMARD, STAGE_BROADCAST, UbtHeader};
use optireduce_contract::shard::ShardMap;

/// An armed window.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Bucket id.
    pub bucket: u16,
    /// Collective number.
    pub step: u16,
    /// First beat in the bucket.
    pub base_beat: usize,
    /// Beats of the window.
    pub beats: usize,
    /// How it is cut.
    pub shards: ShardMap,
    /// It is Hadamard-encoded.
    pub hadamard: bool,
    /// Its payloads are bf16.
    pub bf16: bool,
    /// Generation of its slot.
    pub epoch: u8,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No window is armed for it.
    NoWindow,
    /// None either, and its bucket is armed for a later step.
    Stale,
    /// Hadamard or bf16 flag differs from the window's.
    Flags,
    /// Not inside the shard that its sender and stage allow.
    OutOfShard,
    /// Its payload begins at this beat of the window in this slot.
    Accepted {
        /// Slot.
        slot: usize,
        /// Beat of the window.
        position: usize,
    },
}

/// The slot whose window the packet begins in.
pub fn find(slots: &[Option<Window>; 8], ubt: &UbtHeader) -> Option<usize> {
    let beat = ubt.offset as usize / 64;
    slots.iter().position(|window| {
        window.is_some_and(|window| {
            let covered = window.base_beat..window.base_beat + window.beats;
            window.bucket == ubt.bucket && window.step == ubt.step && covered.contains(&beat)
        })
    })
}

/// Judges a packet of `payload_beats` at the card of `rank`.
pub fn judge(slots: &[Option<Window>; 8], rank: usize, ubt: &UbtHeader, payload_beats: usize) -> Verdict {
    let Some((slot, window)) = find(slots, ubt).and_then(|slot| Some((slot, slots[slot]?))) else {
        let before = |window: &Window| window.bucket == ubt.bucket && (ubt.step.wrapping_sub(window.step) as i16) < 0;
        return if slots.iter().flatten().any(before) { Verdict::Stale } else { Verdict::NoWindow };
    };
    let has = |flag: u8| ubt.flags & flag != 0;
    if (window.hadamard, window.bf16) != (has(FLAG_HADAMARD), has(FLAG_BF16)) {
        return Verdict::Flags;
    }
    let owner = if ubt.stage == STAGE_BROADCAST { ubt.sender as usize } else { rank };
    let shard = window.shards.range_of(owner);
    let position = ubt.offset as usize / 64 - window.base_beat;
    // A bf16 payload beat holds two window beats; the last half may be padding.
    let fits =
        if window.bf16 { position + 2 * payload_beats <= shard.end + 1 } else { position + payload_beats <= shard.end };
    if position >= shard.start && fits { Verdict::Accepted { slot, position } } else { Verdict::OutOfShard }
}
