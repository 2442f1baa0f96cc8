//! Validation of ring entries.

use optireduce_contract::field::Field;
use optireduce_contract::queue::{
    CLOSED_COMPLETE, CLOSED_DEADLINE, Completion, DONE_CONTRIBUTE, DONE_REFUSED, ENTRY_BYTES, OP_ARM, OP_CONTRIBUTE,
    STATUS_DMA_ERROR, STATUS_OK, STATUS_STALE, Submission, completion, submission,
};

use crate::identity::Limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadField {
    pub field: &'static str,
    pub found: u64,
    pub expected: String,
}

pub(crate) fn check(entry: &Submission, ranks: usize) -> Result<(), BadField> {
    let require = |holds: bool, field: Field, found: u64, expected: &str| {
        if holds { Ok(()) } else { Err(BadField { field: field.name, found, expected: expected.to_owned() }) }
    };
    let (arm, contribute) = (entry.opcode == OP_ARM, entry.opcode == OP_CONTRIBUTE);
    if arm || contribute {
        let address = entry.host_address;
        require(address.is_multiple_of(64), submission::HOST_ADDRESS, address, "a multiple of 64")?;
    }
    if arm {
        let (quotient, remainder) = (u64::from(entry.shard_quotient), u64::from(entry.shard_remainder));
        let (ranks, beats, base, report) = (ranks as u64, entry.beats.into(), entry.base.into(), entry.report_address);
        require(entry.base.is_multiple_of(64), submission::BASE, base, "a multiple of 64")?;
        require(report.is_multiple_of(256), submission::REPORT_ADDRESS, report, "a multiple of 256")?;
        require(remainder < ranks, submission::SHARD_REMAINDER, remainder, "less than the ranks of the job")?;
        let sum = "SHARD_QUOTIENT * ranks + SHARD_REMAINDER";
        require(quotient * ranks + remainder == beats, submission::BEATS, beats, sum)?;
    }
    Ok(())
}

/// Decodes a completion and checks its ranges; the submission ring checks `sq_head`.
///
/// `phase` is the bit seen before the entry was copied. With another bit in the copy the card has
/// reused the entry or is still writing it. A refusal echoes the submission's fields unchecked.
pub(crate) fn decode(
    bytes: &[u8; ENTRY_BYTES],
    phase: bool,
    limits: &Limits,
    ranks: usize,
) -> Result<Completion, BadField> {
    let entry = Completion::from_bytes(bytes);
    let within = |field, found: u64, first: u64, last: u64| {
        let expected = || if first == last { format!("{first:#x}") } else { format!("{first:#x} to {last:#x}") };
        if (first..=last).contains(&found) { Ok(()) } else { Err(BadField { field, found, expected: expected() }) }
    };
    within("PHASE", entry.phase.into(), phase.into(), phase.into())?;
    within("OPCODE", entry.opcode.into(), DONE_CONTRIBUTE.into(), DONE_REFUSED.into())?;
    let reserved = reserved_byte(bytes);
    within("a reserved byte", reserved.into(), 0, 0)?;
    within("CLOSED_BY", entry.closed_by.into(), CLOSED_COMPLETE.into(), CLOSED_DEADLINE.into())?;
    if entry.opcode == DONE_REFUSED {
        within("STATUS of a refusal", entry.status.into(), STATUS_DMA_ERROR.into(), STATUS_STALE.into())?;
        return Ok(entry);
    }
    within("STATUS of a stage", entry.status.into(), STATUS_OK.into(), STATUS_DMA_ERROR.into())?;
    within("SLOT", entry.slot.into(), 0, limits.slots as u64 - 1)?;
    let peers = ranks as u64 - 1;
    within("EXPECTED_BEATS", entry.expected_beats.into(), 0, peers * limits.window_beats_max as u64)?;
    within("RECEIVED_BEATS", entry.received_beats.into(), 0, entry.expected_beats.into())?;
    within("OWN_BEATS", entry.own_beats.into(), 0, limits.window_beats_max as u64)?;
    within("HEARD", entry.heard, 0, u64::MAX >> (64 - ranks))?;
    Ok(entry)
}

/// First nonzero byte outside all fields, or zero.
fn reserved_byte(bytes: &[u8; ENTRY_BYTES]) -> u8 {
    let mut rest = *bytes;
    for field in completion::ALL {
        let keep = if *field == completion::PHASE { 0xfe } else { 0 };
        rest[field.offset..field.end()].iter_mut().for_each(|byte| *byte &= keep);
    }
    rest.into_iter().find(|byte| *byte != 0).unwrap_or(0)
}
