//! The frame on the wire: a 64-byte header beat, then the payload.
//!
//! The header beat is Ethernet 14, IPv4 20, UDP 8 and UBT 22 bytes, in network byte order. The UBT
//! header is the nine bytes of the paper (OptiReduce 3.2) and thirteen more. Payloads are whole
//! beats, padded with zeros.
//!
//! The UDP checksum (RFC 768) protects addresses, UBT header and payload end to end. Switches
//! recompute the Ethernet FCS, which therefore covers neither their memory nor the host's. A
//! receiver drops a frame with a wrong checksum, and a card counts it in `RX_BAD`. A checksum of
//! zero means "none" and is not checked. Only cards built without the checksum send it (the reduced
//! card for ECP5).

use crate::layout;

/// Version of the UBT header.
pub const VERSION: u8 = 1;
/// Stage number on the wire of [`Stage::Contribute`](crate::rules::Stage::Contribute).
pub const STAGE_CONTRIBUTE: u8 = 0;
/// Stage number on the wire of [`Stage::Broadcast`](crate::rules::Stage::Broadcast).
pub const STAGE_BROADCAST: u8 = 2;
/// Stage number on the wire: feedback, a packet without payload, between ranks without cards.
///
/// Stage (in the flags) and payload end (in the offset) name the last packet received. The timeout
/// field counts the packets received from the addressed rank, modulo 2^16. The incast field is the
/// share of ECN marks since the last feedback, in fifteenths, rounded up.
pub const STAGE_FEEDBACK: u8 = 3;
/// Flag: one of the last 1 % of the sender's packets in this stage.
pub const FLAG_LAST_PERCENTILE: u8 = 0x1;
/// Flag: the payload is Hadamard-encoded.
pub const FLAG_HADAMARD: u8 = 0x2;
/// Flag: the payload is bf16, 32 values a beat. Offsets still count bytes of fp32.
pub const FLAG_BF16: u8 = 0x4;
/// Flag: the sender waits for feedback on this packet. Cards ignore it.
pub const FLAG_ANSWER: u8 = 0x8;
/// Unit of the timeout field in ns.
pub const TIMEOUT_UNIT_NS: u64 = 16_000;
/// Default UDP port of UBT.
pub const UDP_PORT_DEFAULT: u16 = 4791 + 1000;

layout! {
    /// Byte offsets in the header beat.
    pub mod frame: 64 bytes {
        ETH_DST 6 "Destination MAC address.";
        ETH_SRC 6 "Source MAC address.";
        ETH_TYPE 2 "0x0800: IPv4.";
        IP_VERSION_IHL 1 "0x45: IPv4, 20-byte header.";
        IP_TOS 1 "Differentiated services, zero.";
        IP_TOTAL_LENGTH 2 "Bytes from the IPv4 header to the end of the payload.";
        IP_IDENTIFICATION 2 "Zero, because packets are never fragmented.";
        IP_FRAGMENT 2 "0x4000: do not fragment.";
        IP_TTL 1 "64.";
        IP_PROTOCOL 1 "17: UDP.";
        IP_CHECKSUM 2 "Ones' complement checksum of the IPv4 header.";
        IP_SRC 4 "Source IPv4 address.";
        IP_DST 4 "Destination IPv4 address.";
        UDP_SRC 2 "Source port: the job's UBT port.";
        UDP_DST 2 "Destination port: the job's UBT port.";
        UDP_LENGTH 2 "Bytes from the UDP header to the end of the payload.";
        UDP_CHECKSUM 2 "Ones' complement checksum of addresses, protocol, UDP length, UDP header and payload. 0: none.";
        BUCKET 2 "Bucket id.";
        OFFSET 4 "Byte offset of the payload in the padded, encoded bucket.";
        TIMEOUT 2 "Sender's stage time sample in units of 16 us, saturating. 0: none.";
        INCAST_FLAGS 1 "High 4 bits: incast. Low 4 bits: flags, 1 last percentile, 2 Hadamard, 4 bf16, 8 answer.";
        VERSION_STAGE 1 "High 4 bits: header version. Low 4 bits: stage, 0 contribute, 2 broadcast.";
        SENDER 2 "Sender's rank.";
        STEP 2 "Low 16 bits of the collective number, compared in serial-number arithmetic.";
        JOB_TAG 8 "Random number of the job. A packet with another tag is dropped and counted.";
    }
}

/// Bytes of headers before the payload.
pub const HEADER_BYTES: usize = frame::BYTES;
/// Bytes of the UBT header, between UDP header and payload.
pub const UBT_BYTES: usize = HEADER_BYTES - frame::BUCKET.offset;

/// MAC and IPv4 address of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Endpoint {
    pub mac: [u8; 6],
    pub ip: [u8; 4],
}

impl Endpoint {
    /// Returns the simulator's address of `rank`: a local MAC and 10.77.0.(rank + 1).
    pub const fn of_rank(rank: usize) -> Self {
        let host = rank as u8 + 1;
        Self { mac: [0x02, 0x4f, 0x52, 0, 0, host], ip: [10, 77, 0, host] }
    }

    /// Returns `ip` with a MAC derived from it, for networks that ignore MACs.
    pub const fn of_ip(ip: [u8; 4]) -> Self {
        Self { mac: [0x02, 0x4f, ip[0], ip[1], ip[2], ip[3]], ip }
    }
}

/// Fields of a UBT header, as in [`frame`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct UbtHeader {
    pub bucket: u16,
    pub offset: u32,
    pub timeout_16us: u16,
    /// Advertised incast, 1 to 15. 0: none.
    pub incast: u8,
    pub flags: u8,
    /// [`STAGE_CONTRIBUTE`], [`STAGE_BROADCAST`] or [`STAGE_FEEDBACK`].
    pub stage: u8,
    pub sender: u16,
    /// Low 16 bits of the collective number.
    ///
    /// Ranks are less than 2^15 collectives apart, and no packet lives for 2^16, so a step means
    /// the collective nearest to the newest of the *job*. A bucket may be idle for longer than
    /// that. A card compares steps with armed windows only, to choose the drop counter of a packet
    /// without a window.
    pub step: u16,
    pub job_tag: u64,
}

/// Reason why a frame is not a UBT packet of this job. `Version` and `Job` hold the value found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum FrameError {
    /// Not IPv4/UDP to the UBT port.
    Foreign,
    /// Lengths disagree with each other or with the frame, or the payload is not whole beats.
    Malformed,
    Version(u8),
    Job(u64),
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Foreign => f.write_str("not an IPv4/UDP frame to the UBT port"),
            Self::Malformed => f.write_str("lengths disagree, or the payload is not a multiple of 64 bytes"),
            Self::Version(found) => write!(f, "UBT version {found}, expected {VERSION}"),
            Self::Job(found) => write!(f, "job tag {found:#018x} of another job"),
        }
    }
}

/// Writes the header beat of a frame with `payload_bytes` of payload.
///
/// The UDP checksum is left zero: see [`write_udp_checksum`].
pub fn write_header(
    out: &mut [u8; 64],
    src: Endpoint,
    dst: Endpoint,
    port: u16,
    ubt: &UbtHeader,
    payload_bytes: usize,
) {
    use frame::*;
    fn put<const N: usize>(out: &mut [u8; 64], field: crate::field::Field, bytes: [u8; N]) {
        out[field.offset..field.end()].copy_from_slice(&bytes);
    }
    *out = [0; 64];
    put(out, ETH_DST, dst.mac);
    put(out, ETH_SRC, src.mac);
    put(out, ETH_TYPE, [0x08, 0x00]);
    put(out, IP_VERSION_IHL, [0x45]);
    put(out, IP_TOTAL_LENGTH, (50 + payload_bytes as u16).to_be_bytes());
    put(out, IP_FRAGMENT, [0x40, 0x00]);
    put(out, IP_TTL, [64]);
    put(out, IP_PROTOCOL, [17]);
    put(out, IP_SRC, src.ip);
    put(out, IP_DST, dst.ip);
    put(out, UDP_SRC, port.to_be_bytes());
    put(out, UDP_DST, port.to_be_bytes());
    put(out, UDP_LENGTH, (30 + payload_bytes as u16).to_be_bytes());
    out[BUCKET.offset..].copy_from_slice(&ubt.to_bytes());
    let checksum = ipv4_checksum(&out[14..34]);
    put(out, IP_CHECKSUM, checksum.to_be_bytes());
}

/// Reads and checks a frame of `frame_bytes` with the first beat `header`. Returns the UBT header
/// and the payload length in bytes. Does not check the ranges of fields.
///
/// # Errors
/// The first failed check, in the order Foreign, Malformed, Version, Job.
pub fn read_header(
    header: &[u8; 64],
    frame_bytes: usize,
    port: u16,
    job_tag: u64,
) -> Result<(UbtHeader, usize), FrameError> {
    let payload = read_frame(header, frame_bytes, port)?;
    let ubt = header.last_chunk().ok_or(FrameError::Malformed)?;
    Ok((UbtHeader::from_bytes(ubt, job_tag)?, payload))
}

/// Checks the headers below UBT, as [`read_header`]. Returns the payload length in bytes.
///
/// # Errors
/// [`FrameError::Foreign`], then [`FrameError::Malformed`].
pub fn read_frame(header: &[u8; 64], frame_bytes: usize, port: u16) -> Result<usize, FrameError> {
    use frame::*;
    let be = |field: crate::field::Field| {
        header[field.offset..field.end()].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
    };
    let ours = be(ETH_TYPE) == 0x0800
        && be(IP_VERSION_IHL) == 0x45
        && be(IP_FRAGMENT) & 0x3fff == 0
        && be(IP_PROTOCOL) == 17
        && be(UDP_DST) == u64::from(port);
    if !ours {
        return Err(FrameError::Foreign);
    }
    let total = be(IP_TOTAL_LENGTH) as usize;
    let payload = total.wrapping_sub(50);
    if total < 50 + 64
        || be(UDP_LENGTH) as usize != total - 20
        || !payload.is_multiple_of(64)
        || frame_bytes != payload + 64
    {
        return Err(FrameError::Malformed);
    }
    Ok(payload)
}

impl UbtHeader {
    /// Returns the header as wire bytes.
    pub fn to_bytes(&self) -> [u8; UBT_BYTES] {
        let mut out = [0; UBT_BYTES];
        out[..2].copy_from_slice(&self.bucket.to_be_bytes());
        out[2..6].copy_from_slice(&self.offset.to_be_bytes());
        out[6..8].copy_from_slice(&self.timeout_16us.to_be_bytes());
        out[8] = self.incast << 4 | self.flags & 0xf;
        out[9] = VERSION << 4 | self.stage & 0xf;
        out[10..12].copy_from_slice(&self.sender.to_be_bytes());
        out[12..14].copy_from_slice(&self.step.to_be_bytes());
        out[14..].copy_from_slice(&self.job_tag.to_be_bytes());
        out
    }

    /// Reads and checks the wire bytes of a header.
    ///
    /// # Errors
    /// [`FrameError::Version`], then [`FrameError::Job`].
    pub fn from_bytes(bytes: &[u8; UBT_BYTES], job_tag: u64) -> Result<Self, FrameError> {
        let version = bytes[9] >> 4;
        if version != VERSION {
            return Err(FrameError::Version(version));
        }
        let header = Self::of_any_job(bytes);
        if header.job_tag == job_tag { Ok(header) } else { Err(FrameError::Job(header.job_tag)) }
    }

    /// Reads a header without checking version and job.
    pub fn of_any_job(bytes: &[u8; UBT_BYTES]) -> Self {
        let [b0, b1, o0, o1, o2, o3, t0, t1, incast_flags, version_stage, r0, r1, s0, s1, tag @ ..] = *bytes;
        Self {
            bucket: u16::from_be_bytes([b0, b1]),
            offset: u32::from_be_bytes([o0, o1, o2, o3]),
            timeout_16us: u16::from_be_bytes([t0, t1]),
            incast: incast_flags >> 4,
            flags: incast_flags & 0xf,
            stage: version_stage & 0xf,
            sender: u16::from_be_bytes([r0, r1]),
            step: u16::from_be_bytes([s0, s1]),
            job_tag: u64::from_be_bytes(tag),
        }
    }
}

/// Returns the IPv4 checksum of `header`, whose checksum field must be zero (RFC 791).
pub fn ipv4_checksum(header: &[u8]) -> u16 {
    !ones_complement_sum(0, header)
}

/// Fills in the UDP checksum of a whole frame that begins with the beat of [`write_header`].
///
/// A sum of zero is sent as 0xffff, because zero means "none" (RFC 768).
///
/// # Panics
/// If `frame` is shorter than [`HEADER_BYTES`].
pub fn write_udp_checksum(frame: &mut [u8]) {
    let field = frame::UDP_CHECKSUM.offset..frame::UDP_CHECKSUM.end();
    frame[field.clone()].fill(0);
    let checksum = !udp_sum(frame);
    frame[field].copy_from_slice(&if checksum == 0 { 0xffff } else { checksum }.to_be_bytes());
}

/// Returns false if a received frame has a wrong UDP checksum.
///
/// Frames shorter than [`HEADER_BYTES`], frames that are not IPv4/UDP, fragments, and a checksum of
/// zero ("none") are not checked.
pub fn udp_checksum_holds(frame: &[u8]) -> bool {
    use frame::*;
    let Some(header) = frame.first_chunk::<HEADER_BYTES>() else { return true };
    let is_udp = header[ETH_TYPE.offset..ETH_TYPE.end()] == [0x08, 0x00]
        && header[IP_VERSION_IHL.offset] == 0x45
        && header[IP_FRAGMENT.offset] & 0x3f == 0
        && header[IP_FRAGMENT.offset + 1] == 0
        && header[IP_PROTOCOL.offset] == 17;
    let has_checksum = header[UDP_CHECKSUM.offset..UDP_CHECKSUM.end()] != [0, 0];
    !(is_udp && has_checksum) || udp_sum(frame) == 0xffff
}

/// Sums the pseudo-header and the UDP header to the end of the frame, the checksum included.
fn udp_sum(frame: &[u8]) -> u16 {
    let length = &frame[frame::UDP_LENGTH.offset..frame::UDP_LENGTH.end()];
    let protocol_and_length = 17 + (u64::from(length[0]) << 8 | u64::from(length[1]));
    ones_complement_sum(protocol_and_length, &frame[frame::IP_SRC.offset..])
}

/// Sums `start` and the big-endian 16-bit words of `bytes` in ones' complement (RFC 1071).
fn ones_complement_sum(start: u64, bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
    let mut sum = start + bytes.chunks(2).map(word).sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

impl core::fmt::Display for UbtHeader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let stage = match self.stage {
            STAGE_CONTRIBUTE => "contribute",
            STAGE_BROADCAST => "broadcast",
            _ => "stage?",
        };
        write!(f, "UBT {stage} rank {} step {} bucket {} offset {}", self.sender, self.step, self.bucket, self.offset)?;
        write!(f, " flags {:#x} timeout {} us", self.flags, u32::from(self.timeout_16us) * 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> UbtHeader {
        UbtHeader {
            bucket: 0x0102,
            offset: 0x0304_0506,
            timeout_16us: 0x0708,
            incast: 9,
            flags: FLAG_LAST_PERCENTILE | FLAG_HADAMARD,
            stage: STAGE_BROADCAST,
            sender: 3,
            step: 0xfffe,
            job_tag: 0x1122_3344_5566_7788,
        }
    }

    #[test]
    fn header_has_the_papers_nine_bytes_first_and_ends_on_the_beat() {
        // Fixed by the paper (OptiReduce 3.2) and our extension.
        let base = frame::BUCKET.offset;
        assert_eq!(base, 42);
        assert_eq!(frame::OFFSET.offset - base, 2);
        assert_eq!(frame::TIMEOUT.offset - base, 6);
        assert_eq!(frame::INCAST_FLAGS.offset - base, 8);
        assert_eq!(frame::VERSION_STAGE.offset - base, 9);
        assert_eq!(frame::SENDER.offset - base, 10);
        assert_eq!(frame::STEP.offset - base, 12);
        assert_eq!(frame::JOB_TAG.offset - base, 14);
        assert_eq!(frame::JOB_TAG.end(), 64);
    }

    #[test]
    fn golden_frame_bytes() {
        let mut beat = [0xa5; 64];
        write_header(&mut beat, Endpoint::of_rank(3), Endpoint::of_rank(0), 5791, &sample(), 1408);
        // By hand from the layout, with the IPv4 checksum of RFC 1071.
        let expected: [u8; 64] = [
            0x02, 0x4f, 0x52, 0, 0, 1, 0x02, 0x4f, 0x52, 0, 0, 4, 0x08, 0x00, // Ethernet
            0x45, 0, 0x05, 0xb2, 0, 0, 0x40, 0, 64, 17, 0x20, 0x9d, 10, 77, 0, 4, 10, 77, 0, 1, // IPv4
            0x16, 0x9f, 0x16, 0x9f, 0x05, 0x9e, 0, 0, // UDP
            1, 2, 3, 4, 5, 6, 7, 8, 0x93, 0x12, 0, 3, 0xff, 0xfe, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
        ];
        assert_eq!(beat, expected);
    }

    /// Golden header and two beats of payload: 1, 2, .. 128.
    fn whole() -> [u8; 192] {
        let mut bytes = [0; 192];
        let mut beat = [0xa5; 64];
        write_header(&mut beat, Endpoint::of_rank(3), Endpoint::of_rank(0), 5791, &sample(), 128);
        bytes[..64].copy_from_slice(&beat);
        bytes[64..].iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
        bytes
    }

    #[test]
    fn golden_udp_checksums() {
        // By hand, RFC 1071: addresses 149f, protocol and UDP length af, UDP header 2ddc, UBT
        // 2b47b, payload 0x100000 + 0x1040 (high and low bytes). Sum 1307e5, folded 07f8,
        // complement f807.
        let mut bytes = whole();
        assert!(udp_checksum_holds(&bytes), "zero is no checksum");
        write_udp_checksum(&mut bytes);
        assert_eq!(bytes[40..42], [0xf8, 0x07]);
        assert!(udp_checksum_holds(&bytes));
        write_udp_checksum(&mut bytes);
        assert_eq!(bytes[40..42], [0xf8, 0x07]);
        // A sum of zero is sent as 0xffff: adding 0xf807 to a word of payload makes the sum 0xffff.
        bytes[64..66].copy_from_slice(&(0x0102u16 + 0xf807).to_be_bytes());
        write_udp_checksum(&mut bytes);
        assert_eq!(bytes[40..42], [0xff, 0xff]);
        assert!(udp_checksum_holds(&bytes));
    }

    #[test]
    fn no_flipped_bit_passes_that_decides_anything() {
        let mut bytes = whole();
        write_udp_checksum(&mut bytes);
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let found = udp_checksum_holds(&bytes);
            let header = *bytes.first_chunk().unwrap();
            let parsed = read_header(&header, bytes.len(), 5791, sample().job_tag);
            bytes[bit / 8] ^= 1 << (bit % 8);
            if found {
                // Ethernet addresses and ignored IPv4 fields, or the frame is not ours.
                assert!(bit / 8 < frame::IP_SRC.offset, "bit {bit} flipped unnoticed");
                assert!(parsed.is_err() || parsed == Ok((sample(), 128)), "bit {bit}: {parsed:?}");
            }
        }
    }

    #[test]
    fn what_is_not_whole_udp_has_nothing_to_check() {
        let mut bytes = whole();
        write_udp_checksum(&mut bytes);
        bytes[100] ^= 1;
        assert!(!udp_checksum_holds(&bytes));
        assert!(udp_checksum_holds(&bytes[..63]));
        let with = |field: crate::field::Field, byte: usize, value: u8| {
            let mut other = bytes;
            other[field.offset + byte] = value;
            udp_checksum_holds(&other)
        };
        assert!(
            with(frame::ETH_TYPE, 0, 0x86) && with(frame::IP_VERSION_IHL, 0, 0x46) && with(frame::IP_PROTOCOL, 0, 6)
        );
        assert!(with(frame::IP_FRAGMENT, 0, 0x20) && with(frame::IP_FRAGMENT, 1, 1));
        // "Do not fragment" is not a fragment.
        assert!(!with(frame::IP_FRAGMENT, 0, 0) && !with(frame::UDP_DST, 1, 0));
    }

    #[test]
    fn header_round_trips_and_each_damage_has_its_error() {
        let mut beat = [0xa5; 64];
        write_header(&mut beat, Endpoint::of_rank(3), Endpoint::of_rank(0), 5791, &sample(), 128);
        assert_eq!(read_header(&beat, 192, 5791, sample().job_tag), Ok((sample(), 128)));
        assert_eq!(read_header(&beat, 192, 5792, sample().job_tag), Err(FrameError::Foreign));
        assert_eq!(read_header(&beat, 256, 5791, sample().job_tag), Err(FrameError::Malformed));
        assert_eq!(read_header(&beat, 192, 5791, 1), Err(FrameError::Job(sample().job_tag)));
        beat[frame::VERSION_STAGE.offset] = 0x22;
        assert_eq!(read_header(&beat, 192, 5791, sample().job_tag), Err(FrameError::Version(2)));
    }
}
