//! The receiving side of the functional card: checks in the card's order, one counter each.

use optireduce_contract::field::Field;
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, FrameError, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE,
    UbtHeader, frame, read_header,
};
use optireduce_contract::registers::{self as reg, Register};

use super::FunctionalCard;
use super::job::Job;
use super::window::{Lanes, Packet, Taken, Window, lanes_of};

impl FunctionalCard {
    /// Takes a frame off the wire.
    pub(super) fn receive(&mut self, frame: &[u8]) {
        let Some(job) = self.job.clone() else { return };
        self.count(reg::RX_PACKETS, 1);
        if let Err((counter, by)) = self.take_frame(&job, frame) {
            self.count(counter, by);
        }
    }

    /// The counter to advance, and by how much, if something of the frame is dropped.
    fn take_frame(&mut self, job: &Job, frame: &[u8]) -> Result<(), (Register, u32)> {
        let (ubt, payload) = header_of(job, frame).map_err(|counter| (counter, 1))?;
        let stage = usize::from(ubt.stage == STAGE_BROADCAST);
        let sender = usize::from(ubt.sender);
        let holds = |window: &&mut Window| {
            let (from, beats) = (u64::from(window.arm.base), u64::from(window.arm.beats));
            let inside = from..from + beats * BEAT_BYTES as u64;
            window.arm.bucket == ubt.bucket && window.arm.step == ubt.step && inside.contains(&u64::from(ubt.offset))
        };
        let is_ahead = |window: &Window| {
            window.arm.bucket == ubt.bucket && ubt.step.wrapping_sub(window.arm.step).cast_signed() < 0
        };
        let is_stale = self.slots.iter().flatten().any(is_ahead);
        let missing = (if is_stale { reg::DROP_STALE } else { reg::DROP_NO_WINDOW }, 1);
        let window = self.slots.iter_mut().flatten().find(holds).ok_or(missing)?;
        if ubt.flags & (FLAG_HADAMARD | FLAG_BF16) != window.packet_flags() {
            return Err((reg::DROP_FLAGS, 1));
        }
        let first = (ubt.offset - window.arm.base) as usize / BEAT_BYTES;
        let allowed = window.allowed(stage, sender);
        let mut beats = if window.bf16() { widened(payload) } else { plain(payload) };
        // The second half of the last bf16 beat is padding if the shard is odd.
        if window.bf16() && first + beats.len() == allowed.end + 1 {
            beats.pop();
        }
        if first < allowed.start || first + beats.len() > allowed.end {
            return Err((reg::DROP_OUT_OF_SHARD, 1));
        }
        let marked = ubt.flags & FLAG_LAST_PERCENTILE != 0;
        let packet = Packet { stage, sender, marked, first, beats: &beats };
        match window.take_packet(self.now_ns, &packet, &mut self.trace) {
            Taken::Late => Err((reg::DROP_LATE_BEATS, beats.len() as u32)),
            Taken::Open { duplicates: 0 } => Ok(()),
            Taken::Open { duplicates } => Err((reg::DROP_DUPLICATE_BEATS, duplicates)),
        }
    }
}

/// The window beats of an fp32 payload.
fn plain(payload: &[u8]) -> Vec<Lanes> {
    payload.chunks_exact(BEAT_BYTES).map(lanes_of).collect()
}

/// The window beats of a bf16 payload: two for each beat on the wire, the low half first.
fn widened(payload: &[u8]) -> Vec<Lanes> {
    let widen =
        |half: &[u8]| std::array::from_fn(|i| u32::from(u16::from_le_bytes([half[2 * i], half[2 * i + 1]])) << 16);
    payload.chunks_exact(BEAT_BYTES / 2).map(widen).collect()
}

/// Header and payload of a frame of this job, or the counter that says why it is none.
fn header_of<'a>(job: &Job, bytes: &'a [u8]) -> Result<(UbtHeader, &'a [u8]), Register> {
    let mut header = [0; HEADER_BYTES];
    let present = bytes.len().min(HEADER_BYTES);
    header[..present].copy_from_slice(&bytes[..present]);
    let found = read_header(&header, bytes.len(), job.udp_port, job.job_tag);
    match found {
        Err(FrameError::Foreign) => return Err(reg::DROP_FOREIGN),
        Err(FrameError::Malformed) => return Err(reg::DROP_MALFORMED),
        _ => {}
    }
    // Ranges count as form, so they come before version and job, whose headers are read by the same rules.
    let be =
        |field: Field| header[field.offset..field.end()].iter().fold(0, |word, byte| word << 8 | usize::from(*byte));
    let sender = be(frame::SENDER);
    let in_range = sender < job.ranks
        && sender != job.rank
        && [STAGE_CONTRIBUTE, STAGE_BROADCAST].contains(&(be(frame::VERSION_STAGE) as u8 & 0xf))
        && be(frame::OFFSET) % BEAT_BYTES == 0;
    match found {
        _ if !in_range => Err(reg::DROP_MALFORMED),
        Err(FrameError::Version(_)) => Err(reg::DROP_VERSION),
        Err(_) => Err(reg::DROP_JOB),
        Ok((ubt, _)) => Ok((ubt, &bytes[HEADER_BYTES..])),
    }
}
