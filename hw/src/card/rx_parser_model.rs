//! The receive parser as a function of a frame's first beat: the contract's software reader, and the range checks that
//! need the job's registers.

use optireduce_contract::packet::{self, FrameError, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};

/// What the job's registers say.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// This rank.
    pub rank: u16,
    /// Ranks of the job.
    pub ranks: u16,
    /// UBT port.
    pub port: u16,
    /// Job tag.
    pub tag: u64,
}

/// Judges a frame of `frame_beats` that begins with `header`.
///
/// # Errors
/// Its first fault, in the order foreign, malformed, version, job.
pub fn judge(header: &[u8; 64], frame_beats: usize, job: &Job) -> Result<UbtHeader, FrameError> {
    let verdict = packet::read_header(header, 64 * frame_beats, job.port, job.tag).map(|(ubt, _)| ubt);
    if matches!(verdict, Err(FrameError::Foreign | FrameError::Malformed)) {
        return verdict;
    }
    // The ranges come before version and tag.
    let mut other = *header;
    packet::frame::JOB_TAG.set(&mut other, job.tag.swap_bytes());
    other[packet::frame::VERSION_STAGE.offset] =
        packet::VERSION << 4 | other[packet::frame::VERSION_STAGE.offset] & 0xf;
    let (ubt, _) = packet::read_header(&other, 64 * frame_beats, job.port, job.tag)?;
    let in_range = ubt.sender < job.ranks
        && ubt.sender != job.rank
        && (ubt.stage == STAGE_CONTRIBUTE || ubt.stage == STAGE_BROADCAST)
        && ubt.offset.is_multiple_of(64);
    if in_range { verdict } else { Err(FrameError::Malformed) }
}
