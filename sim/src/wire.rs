//! Frames on a 100 Gb/s wire, and how long they occupy it.

/// Bytes a frame takes on the wire beside its own: preamble 8, check sequence 4, gap 12.
pub const WIRE_OVERHEAD_BYTES: u64 = 24;
/// Line rate: picoseconds per byte at 100 Gb/s.
pub const PS_PER_BYTE: u64 = 80;

/// Time a frame occupies a 100 Gb/s wire, in picoseconds.
pub const fn wire_ps(frame_bytes: usize) -> u64 {
    (frame_bytes as u64 + WIRE_OVERHEAD_BYTES) * PS_PER_BYTE
}

/// A frame that reaches a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its last byte is off the wire.
    pub at_ns: u64,
    /// The frame from the Ethernet header on, without preamble and check sequence.
    pub frame: Vec<u8>,
}

/// A frame that leaves a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its last byte is on the wire; never before the start of the interval in which it was handed over.
    pub at_ns: u64,
    /// The frame from the Ethernet header on, without preamble and check sequence.
    pub frame: Vec<u8>,
}
