//! Sizes and numeric constants that both sides build on.

/// Version of this contract; the driver refuses a card that reports another.
pub const CONTRACT_VERSION: u32 = 2;
/// First register of a card: "ORNC" in ASCII.
pub const MAGIC: u32 = 0x4f52_4e43;
/// Bytes in one beat of the 512-bit datapath.
pub const BEAT_BYTES: usize = 64;
/// fp32 lanes in one beat.
pub const LANES: usize = 16;
/// Datapath clock in MHz: one cycle is 4 ns.
pub const CLOCK_MHZ: u64 = 250;
/// Nanoseconds in one cycle of the datapath clock.
pub const CYCLE_NS: u64 = 1000 / CLOCK_MHZ;
/// Largest number of ranks in a job with cards: arrival maps are 64 bits wide.
pub const RANKS_MAX: usize = 64;
/// Window slots of a card.
pub const SLOTS: usize = 8;
/// Queue pairs of a card.
pub const QUEUES: usize = 4;
/// Largest window in beats of the card that is simulated and committed as Verilog: 64 KiB. A build parameter; the driver reads it
/// from `WINDOW_BEATS_MAX`.
pub const WINDOW_BEATS: usize = 1024;
/// Largest window that a card can be built for, in beats: 1 MiB.
pub const WINDOW_BEATS_LIMIT: usize = 16384;
/// Largest shard of the simulated card in beats: half a window, since two ranks are the fewest.
pub const SHARD_BEATS: usize = WINDOW_BEATS / 2;
/// Smallest Hadamard block, as log2 of its elements.
pub const HADAMARD_LOG2_MIN: u32 = 8;
/// Largest Hadamard block of the simulated card, as log2 of its elements; block sizes are powers of four. A build
/// parameter; the driver reads it from `HADAMARD_LOG2_MAX`.
pub const HADAMARD_LOG2_MAX: u32 = 12;
/// Default payload of a packet in beats: 1408 bytes, for an MTU of 1500.
pub const PAYLOAD_BEATS_DEFAULT: usize = 22;
/// Largest payload of a packet in beats: 8896 bytes, for an MTU of 9000.
pub const PAYLOAD_BEATS_MAX: usize = 139;
/// log2 of the elements in the largest Hadamard block of any build.
pub const HADAMARD_LOG2_LIMIT: u32 = 14;
/// log2 of the largest number of Hadamard blocks in a window: the smallest blocks in the largest window.
pub const LOG2_BLOCKS_MAX: u32 = WINDOW_BEATS_LIMIT.ilog2() - (HADAMARD_LOG2_MIN - LANES.ilog2());
/// Bits of the only NaN that sums and means produce, whatever NaNs or infinities went into them.
pub const NAN_BITS: u32 = 0x7fc0_0000;
