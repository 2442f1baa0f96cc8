//! Frames on a 100 Gb/s wire, and their duration.

/// Preamble 8, check sequence 4, gap 12.
pub const WIRE_OVERHEAD_BYTES: u64 = 24;
/// 100 Gb/s.
pub const PS_PER_BYTE: u64 = 80;

/// Duration of a frame on the wire in picoseconds.
pub const fn wire_ps(frame_bytes: usize) -> u64 {
    (frame_bytes as u64 + WIRE_OVERHEAD_BYTES) * PS_PER_BYTE
}

/// A frame that reaches a card, from the Ethernet header on, without check sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Arrival {
    /// Time at which the last byte leaves the wire.
    pub at_ns: u64,
    pub frame: Vec<u8>,
}

/// A frame that leaves a card, as [`Arrival`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Departure {
    /// Time at which the last byte is on the wire. Not before the interval that sent the frame.
    pub at_ns: u64,
    pub frame: Vec<u8>,
}
