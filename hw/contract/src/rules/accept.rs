//! Assignment of packets to windows, and reasons to drop them.
//!
//! The checks follow [`super::filter`], in this order. The first that fails is counted:
//!
//! 1. Foreign: EtherType, protocol or port.
//! 2. Malformed: lengths, then the ranges of sender, stage and offset.
//! 3. Another version, then another job.
//! 4. No window, or stale if its bucket is armed for a later step.
//! 5. Encoding or number format other than the window's.
//! 6. Outside the shard that its sender may write.
//!
//! The window's gate accepts the remaining packets while it is open, each beat of each sender once.

use core::ops::Range;

use super::{Stage, Window};
use crate::limits::BEAT_BYTES;
use crate::packet::{
    self, FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, FrameError, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE,
    STAGE_FEEDBACK, UBT_BYTES, UbtHeader,
};
use crate::registers::{self as reg, Register};

/// Reason to drop a packet; see the counter of [`counter`](Self::counter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // described above
pub enum Cause {
    Bad,
    Mac,
    IpChecksum,
    Ip,
    Source,
    TooLong,
    Foreign,
    Malformed,
    Version,
    Job,
    NoWindow,
    Stale,
    Flags,
    OutOfShard,
}

impl Cause {
    /// Returns the card's counter of this cause.
    pub const fn counter(self) -> Register {
        match self {
            Self::Bad => reg::RX_BAD,
            Self::Mac => reg::DROP_MAC,
            Self::IpChecksum => reg::DROP_IP_CHECKSUM,
            Self::Ip => reg::DROP_IP,
            Self::Source => reg::DROP_SOURCE,
            Self::TooLong => reg::DROP_TOO_LONG,
            Self::Foreign => reg::DROP_FOREIGN,
            Self::Malformed => reg::DROP_MALFORMED,
            Self::Version => reg::DROP_VERSION,
            Self::Job => reg::DROP_JOB,
            Self::NoWindow => reg::DROP_NO_WINDOW,
            Self::Stale => reg::DROP_STALE,
            Self::Flags => reg::DROP_FLAGS,
            Self::OutOfShard => reg::DROP_OUT_OF_SHARD,
        }
    }
}

impl From<FrameError> for Cause {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Foreign => Self::Foreign,
            FrameError::Malformed => Self::Malformed,
            FrameError::Version(_) => Self::Version,
            FrameError::Job(_) => Self::Job,
        }
    }
}

/// The receiver of packets: a rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Receiver {
    pub rank: usize,
    pub ranks: usize,
    pub job_tag: u64,
    /// True if packets of [`STAGE_FEEDBACK`] are accepted, as without cards.
    pub takes_feedback: bool,
}

/// Reads the UBT header and the payload of a whole frame.
///
/// # Errors
/// The first failed check.
pub fn frame<'a>(bytes: &'a [u8], port: u16, receiver: &Receiver) -> Result<(UbtHeader, &'a [u8]), Cause> {
    let mut head = [0; HEADER_BYTES];
    let present = bytes.len().min(HEADER_BYTES);
    head[..present].copy_from_slice(&bytes[..present]);
    let header = frame_header(&head, bytes.len(), port, receiver)?;
    Ok((header, &bytes[HEADER_BYTES..]))
}

/// Reads the UBT header of a frame of `frame_bytes` with the first beat `head`.
///
/// # Errors
/// The first failed check.
pub fn frame_header(
    head: &[u8; HEADER_BYTES],
    frame_bytes: usize,
    port: u16,
    receiver: &Receiver,
) -> Result<UbtHeader, Cause> {
    let payload_bytes = packet::read_frame(head, frame_bytes, port)?;
    let ubt = head.last_chunk().ok_or(Cause::Malformed)?;
    header(ubt, payload_bytes, receiver)
}

/// Reads a UBT header that `payload_bytes` follow.
///
/// # Errors
/// The first failed check.
pub fn header(ubt: &[u8; UBT_BYTES], payload_bytes: usize, receiver: &Receiver) -> Result<UbtHeader, Cause> {
    let header = UbtHeader::of_any_job(ubt);
    let sender = usize::from(header.sender);
    let has_its_payload = match header.stage {
        STAGE_CONTRIBUTE | STAGE_BROADCAST => payload_bytes > 0 && payload_bytes.is_multiple_of(BEAT_BYTES),
        STAGE_FEEDBACK => receiver.takes_feedback && payload_bytes == 0,
        _ => false,
    };
    let is_well_formed = has_its_payload
        && sender < receiver.ranks
        && sender != receiver.rank
        && (header.offset as usize).is_multiple_of(BEAT_BYTES);
    if !is_well_formed {
        return Err(Cause::Malformed);
    }
    Ok(UbtHeader::from_bytes(ubt, receiver.job_tag)?)
}

/// Returns whether collective number `step` is before `other`, in serial-number arithmetic; see
/// [`UbtHeader::step`].
pub const fn is_before(step: u16, other: u16) -> bool {
    (step.wrapping_sub(other) as i16) < 0
}

/// Finds the window in which a packet's payload begins.
///
/// # Errors
/// [`Cause::Stale`] or [`Cause::NoWindow`].
pub fn find<'a, K>(
    windows: impl Iterator<Item = (K, &'a Window)> + Clone,
    packet: &UbtHeader,
) -> Result<(K, &'a Window), Cause> {
    let found = windows.clone().find(|(_, window)| window.holds(packet));
    found.ok_or_else(|| {
        let is_later = |window: &Window| window.bucket == packet.bucket && is_before(packet.step, window.step);
        let mut windows = windows;
        if windows.any(|(_, window)| is_later(window)) { Cause::Stale } else { Cause::NoWindow }
    })
}

/// Destination of a packet's beats, and whether it carries the last-percentile mark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Place {
    pub stage: Stage,
    pub sender: usize,
    pub marked: bool,
    /// Beats of the window, without the half beat of padding behind an odd bf16 shard.
    pub beats: Range<usize>,
}

/// Returns the destination at `rank` of a packet that [`header`] accepted.
///
/// # Errors
/// [`Cause::Flags`] or [`Cause::OutOfShard`].
pub fn place(window: &Window, rank: usize, packet: &UbtHeader, payload_beats: usize) -> Result<Place, Cause> {
    if packet.flags & (FLAG_HADAMARD | FLAG_BF16) != window.packet_flags() {
        return Err(Cause::Flags);
    }
    let stage = if packet.stage == STAGE_BROADCAST { Stage::Broadcast } else { Stage::Contribute };
    let sender = usize::from(packet.sender);
    let shard = window.allowed(stage, rank, sender);
    let first = (packet.offset - window.base_bytes) as usize / BEAT_BYTES;
    let mut end = first + window.packet_beats(payload_beats);
    if window.bf16 && end == shard.end + 1 {
        end -= 1;
    }
    if first < shard.start || end > shard.end {
        return Err(Cause::OutOfShard);
    }
    Ok(Place { stage, sender, marked: packet.flags & FLAG_LAST_PERCENTILE != 0, beats: first..end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Endpoint, frame as field, write_header};
    use crate::shard::ShardMap;

    const PORT: u16 = 5791;
    const RECEIVER: Receiver = Receiver { rank: 0, ranks: 3, job_tag: 7, takes_feedback: false };

    fn packet() -> UbtHeader {
        UbtHeader { bucket: 5, offset: 12 * 64, sender: 1, step: 9, job_tag: 7, ..UbtHeader::default() }
    }

    /// 9 beats from beat 10 of the bucket on, for 3 ranks.
    fn window() -> Window {
        Window {
            bucket: 5,
            step: 9,
            base_bytes: 640,
            beats: 9,
            shards: ShardMap::new(9, 3, 0),
            hadamard: false,
            bf16: false,
            sends: [true; 2],
        }
    }

    fn framed(ubt: &UbtHeader, payload_bytes: usize) -> ([u8; 64], usize) {
        let mut head = [0xa5; 64];
        write_header(&mut head, Endpoint::of_rank(1), Endpoint::of_rank(0), PORT, ubt, payload_bytes);
        (head, 64 + payload_bytes)
    }

    #[test]
    fn each_fault_has_its_cause_and_the_first_one_counts() {
        type Fault = (&'static str, Cause, fn(&mut [u8; 64], &mut usize));
        let faults: [Fault; 13] = [
            ("type", Cause::Foreign, |head, _| head[field::ETH_TYPE.offset] = 0x86),
            ("protocol", Cause::Foreign, |head, _| head[field::IP_PROTOCOL.offset] = 6),
            ("port", Cause::Foreign, |head, _| head[field::UDP_DST.offset] ^= 1),
            ("length", Cause::Malformed, |_, bytes| *bytes -= 64),
            ("UDP length", Cause::Malformed, |head, _| head[field::UDP_LENGTH.offset + 1] ^= 1),
            ("own sender", Cause::Malformed, |head, _| head[field::SENDER.offset + 1] = 0),
            ("sender", Cause::Malformed, |head, _| head[field::SENDER.offset + 1] = 3),
            ("wide sender", Cause::Malformed, |head, _| head[field::SENDER.offset] = 1),
            ("stage 1", Cause::Malformed, |head, _| head[field::VERSION_STAGE.offset] = head[51] & 0xf0 | 1),
            ("feedback", Cause::Malformed, |head, _| head[field::VERSION_STAGE.offset] = head[51] & 0xf0 | 3),
            ("offset", Cause::Malformed, |head, _| head[field::OFFSET.end() - 1] = 32),
            ("version", Cause::Version, |head, _| head[field::VERSION_STAGE.offset] ^= 0x30),
            ("job", Cause::Job, |head, _| head[field::JOB_TAG.end() - 1] ^= 1),
        ];
        assert_eq!(field::VERSION_STAGE.offset, 51);
        let judged = |damage: &dyn Fn(&mut [u8; 64], &mut usize)| {
            let (mut head, mut bytes) = framed(&packet(), 128);
            damage(&mut head, &mut bytes);
            frame_header(&head, bytes, PORT, &RECEIVER)
        };
        assert_eq!(judged(&|_, _| ()), Ok(packet()));
        for (at, (name, cause, fault)) in faults.iter().enumerate() {
            assert_eq!(judged(&|head, bytes| fault(head, bytes)), Err(*cause), "{name}");
            for (later, _, other) in &faults[at + 1..] {
                let both = |head: &mut [u8; 64], bytes: &mut usize| {
                    other(head, bytes);
                    fault(head, bytes);
                };
                assert_eq!(judged(&both), Err(*cause), "{name} and {later}");
            }
        }
    }

    #[test]
    fn a_whole_frame_gives_its_payload_and_a_short_one_is_no_packet() {
        let (head, bytes) = framed(&packet(), 128);
        let mut whole = [0u8; 192];
        whole[..64].copy_from_slice(&head);
        whole[64] = 9;
        let (found, payload) = frame(&whole[..bytes], PORT, &RECEIVER).unwrap();
        assert_eq!((found, payload.len(), payload[0]), (packet(), 128, 9));
        for bytes in [0, 13, 33, 63, 64, 65, 191] {
            assert!(frame(&whole[..bytes], PORT, &RECEIVER).is_err(), "{bytes} bytes");
        }
    }

    #[test]
    fn data_has_whole_beats_of_payload_and_feedback_has_none() {
        let judged = |stage, payload_bytes, takes_feedback| {
            let ubt = UbtHeader { stage, ..packet() }.to_bytes();
            header(&ubt, payload_bytes, &Receiver { takes_feedback, ..RECEIVER }).is_ok()
        };
        for takes_feedback in [false, true] {
            for stage in [STAGE_CONTRIBUTE, STAGE_BROADCAST] {
                let of = |bytes| judged(stage, bytes, takes_feedback);
                assert_eq!([0, 32, 64, 65, 128].map(of), [false, false, true, false, true]);
            }
            assert_eq!([0, 64].map(|bytes| judged(STAGE_FEEDBACK, bytes, takes_feedback)), [takes_feedback, false]);
            assert_eq!([0, 64].map(|bytes| judged(1, bytes, takes_feedback)), [false, false]);
        }
    }

    #[test]
    fn a_packet_goes_to_the_window_that_it_begins_in() {
        let next = Window { base_bytes: 640 + 9 * 64, ..window() };
        let windows = [window(), next, Window { bucket: 6, ..window() }];
        let found = |change: fn(&mut UbtHeader)| {
            let mut packet = packet();
            change(&mut packet);
            find(windows.iter().enumerate(), &packet).map(|(key, _)| key)
        };
        assert_eq!(found(|_| ()), Ok(0));
        assert_eq!(found(|p| p.offset = 640), Ok(0));
        assert_eq!(found(|p| p.offset = 640 + 8 * 64), Ok(0));
        assert_eq!(found(|p| p.offset = 640 + 9 * 64), Ok(1));
        assert_eq!(found(|p| p.bucket = 6), Ok(2));
        assert_eq!(found(|p| p.offset = 576), Err(Cause::NoWindow));
        assert_eq!(found(|p| p.offset = 640 + 18 * 64), Err(Cause::NoWindow));
        assert_eq!(found(|p| p.bucket = 7), Err(Cause::NoWindow));
        assert_eq!(found(|p| p.step = 10), Err(Cause::NoWindow));
        assert_eq!(found(|p| p.step = 8), Err(Cause::Stale));
        assert_eq!(found(|p| (p.step, p.bucket) = (8, 7)), Err(Cause::NoWindow));
        assert_eq!(found(|p| p.step = 9u16.wrapping_sub(0x7fff)), Err(Cause::Stale));
        assert_eq!(found(|p| p.step = 9u16.wrapping_add(0x7fff)), Err(Cause::NoWindow));
    }

    #[test]
    fn a_window_at_the_end_of_a_bucket_of_4_gib_holds_its_last_beat() {
        let last = Window { base_bytes: 0u32.wrapping_sub(9 * 64), ..window() };
        let packet = UbtHeader { offset: 0u32.wrapping_sub(64), ..packet() };
        assert!(last.holds(&packet));
        assert!(!last.holds(&UbtHeader { offset: 0, ..packet }));
    }

    #[test]
    fn a_packet_stays_in_the_shard_that_its_sender_may_write() {
        let beats = |stage: u8, sender: u16, first: u32, payload_beats| {
            let packet = UbtHeader { stage, sender, offset: 640 + 64 * first, ..packet() };
            place(&window(), 0, &packet, payload_beats).map(|place| place.beats)
        };
        assert_eq!(beats(STAGE_CONTRIBUTE, 1, 0, 3), Ok(0..3));
        assert_eq!(beats(STAGE_CONTRIBUTE, 2, 2, 1), Ok(2..3));
        assert_eq!(beats(STAGE_CONTRIBUTE, 1, 2, 2), Err(Cause::OutOfShard));
        assert_eq!(beats(STAGE_CONTRIBUTE, 1, 3, 1), Err(Cause::OutOfShard));
        assert_eq!(beats(STAGE_BROADCAST, 1, 3, 3), Ok(3..6));
        assert_eq!(beats(STAGE_BROADCAST, 1, 2, 1), Err(Cause::OutOfShard));
        assert_eq!(beats(STAGE_BROADCAST, 1, 5, 2), Err(Cause::OutOfShard));
        assert_eq!(beats(STAGE_BROADCAST, 2, 3, 1), Err(Cause::OutOfShard));
        assert_eq!(beats(STAGE_BROADCAST, 2, 8, 1), Ok(8..9));
        // In an all-gather no rank contributes to the shards of others.
        let gather = Window { sends: [false, true], ..window() };
        let at =
            |stage, offset| place(&gather, 0, &UbtHeader { stage, offset, ..packet() }, 1).map(|place| place.beats);
        assert_eq!(at(STAGE_CONTRIBUTE, 640), Err(Cause::OutOfShard));
        assert_eq!(at(STAGE_BROADCAST, 640 + 64 * 3), Ok(3..4));
    }

    #[test]
    fn a_bf16_payload_beat_holds_two_beats_and_the_last_half_may_be_padding() {
        let window = Window { bf16: true, ..window() };
        let beats = |first: u32, payload_beats| {
            let packet = UbtHeader { offset: 640 + 64 * first, flags: FLAG_BF16, ..packet() };
            place(&window, 0, &packet, payload_beats).map(|place| place.beats)
        };
        assert_eq!([beats(0, 1), beats(0, 2), beats(2, 1)], [Ok(0..2), Ok(0..3), Ok(2..3)]);
        assert_eq!([beats(1, 2), beats(3, 1)], [const { Err(Cause::OutOfShard) }; 2]);
        assert_eq!(beats(1, 1), Ok(1..3));
        let even = Window { shards: ShardMap::new(6, 3, 0), beats: 6, bf16: true, ..window };
        let packet = UbtHeader { offset: 640, flags: FLAG_BF16, ..packet() };
        assert_eq!(place(&even, 0, &packet, 1).map(|place| place.beats), Ok(0..2));
        assert_eq!(place(&even, 0, &packet, 2), Err(Cause::OutOfShard));
        // A window with fewer beats than ranks: rank 2 owns nothing.
        let short = Window { shards: ShardMap::new(2, 3, 0), beats: 2, bf16: true, ..window };
        let at = |beat: u32| UbtHeader { offset: 640 + 64 * beat, flags: FLAG_BF16, ..packet };
        assert_eq!([0, 1].map(|beat| place(&short, 2, &at(beat), 1)), [Err(Cause::OutOfShard), Err(Cause::OutOfShard)]);
    }

    #[test]
    fn flags_come_before_the_shard_and_the_mark_is_no_such_flag() {
        let judged = |flags, first: u32| {
            let packet = UbtHeader { flags, offset: 640 + 64 * first, ..packet() };
            place(&window(), 0, &packet, 1).map(|place| place.marked)
        };
        assert_eq!([judged(0, 0), judged(FLAG_LAST_PERCENTILE, 0)], [Ok(false), Ok(true)]);
        assert_eq!([judged(FLAG_BF16, 5), judged(FLAG_HADAMARD, 5)], [Err(Cause::Flags); 2]);
        assert_eq!(judged(0, 5), Err(Cause::OutOfShard));
        let encoded = Window { hadamard: true, ..window() };
        assert_eq!(place(&encoded, 0, &packet(), 1), Err(Cause::Flags));
    }

    #[test]
    fn every_cause_has_a_counter_of_its_own() {
        use Cause::*;
        let causes = [
            Bad, Mac, IpChecksum, Ip, Source, TooLong, Foreign, Malformed, Version, Job, NoWindow, Stale, Flags,
            OutOfShard,
        ];
        for (at, cause) in causes.iter().enumerate() {
            assert!(causes[..at].iter().all(|other| other.counter().word() != cause.counter().word()), "{cause:?}");
        }
    }
}
