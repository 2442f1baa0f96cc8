//! Sizes and numeric constants of card and software.

/// Version of this contract. The driver refuses a card that reports another version.
pub const CONTRACT_VERSION: u32 = 2;
/// Value of the first register: "ORNC" in ASCII.
pub const MAGIC: u32 = 0x4f52_4e43;
/// Bytes in a beat, one word of the 512-bit datapath.
pub const BEAT_BYTES: usize = 64;
/// fp32 values in a beat.
pub const LANES: usize = 16;
/// Design clock of the datapath in MHz. One cycle is 4 ns.
pub const CLOCK_MHZ: u64 = 250;
/// Nanoseconds in one cycle of the design clock.
pub const CYCLE_NS: u64 = 1000 / CLOCK_MHZ;
/// Largest world size of a job with cards. Arrival maps are 64 bits wide.
pub const RANKS_MAX: usize = 64;
/// Window slots of a card.
pub const SLOTS: usize = 8;
/// Queue pairs of a card.
pub const QUEUES: usize = 4;
/// Largest window in beats of the simulated card and of the committed Verilog: 64 KiB.
///
/// A build parameter, reported by `WINDOW_BEATS_MAX`.
pub const WINDOW_BEATS: usize = 1024;
/// Largest window in beats of any build: 1 MiB.
pub const WINDOW_BEATS_LIMIT: usize = 16384;
/// Largest shard of the simulated card in beats: half a window, for two ranks.
pub const SHARD_BEATS: usize = WINDOW_BEATS / 2;
/// log2 of the smallest Hadamard block in elements.
pub const HADAMARD_LOG2_MIN: u32 = 8;
/// log2 of the largest Hadamard block of the simulated card in elements. Always even.
///
/// A build parameter, reported by `HADAMARD_LOG2_MAX`.
pub const HADAMARD_LOG2_MAX: u32 = 12;
/// Default payload of a packet in beats: 1408 bytes, for an MTU of 1500.
pub const PAYLOAD_BEATS_DEFAULT: usize = 22;
/// Largest payload of a packet in beats: 8896 bytes, for an MTU of 9000.
pub const PAYLOAD_BEATS_MAX: usize = 139;
/// log2 of the largest Hadamard block of any build in elements.
pub const HADAMARD_LOG2_LIMIT: u32 = 14;
/// log2 of the largest number of Hadamard blocks in a window.
pub const LOG2_BLOCKS_MAX: u32 = WINDOW_BEATS_LIMIT.ilog2() - (HADAMARD_LOG2_MIN - LANES.ilog2());
/// Bits of every NaN that sums and means produce.
pub const NAN_BITS: u32 = 0x7fc0_0000;
