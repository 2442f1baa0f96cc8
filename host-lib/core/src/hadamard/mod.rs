//! The randomised Hadamard transform on the CPU, with bit-identical results to the card.
//!
//! A window has 2^`log2_blocks` blocks of n = 2^`log2_n` values. [`encode`] computes y = H diag(s)
//! x / sqrt(n) for each block and interleaves the beats of the blocks in wire order. [`decode`]
//! inverts both, and rescales each block by its beats over the beats received. A burst of losses
//! thus becomes a little noise everywhere.
//!
//! Why bit-identical: ranks with and without a card share jobs, and replicas must hold the same
//! bits.
//!
//! How: block floating point in `i32`. The largest exponent of a block sets its scale, and every
//! second butterfly stage halves. All roundings are to nearest even. Blocks are copied to the
//! stack: 1 to 64 KiB to encode, up to about 200 KiB to decode.
//!
//! Limits: n is 256, 1024, 4096 or 16384. A block with an infinity or a NaN becomes all NaN
//! (0x7fc00000). Too large results are infinities; those below the smallest normal number are +0.
//! On x86-64, results of windows from 256 KiB on bypass the caches if aligned to 64 bytes.
//! Requires: the default rounding mode. Flushing of subnormals changes nothing.
//! Source: OptiReduce (NSDI'25) 3.3; arithmetic and signs as in `hw/src/hadamard/model.rs`.

mod bf16;
mod block;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod portable;
mod vector;
mod window;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

use optireduce_contract::limits::{LANES, LOG2_BLOCKS_MAX};

use block::Engine;
use portable::Portable;
use window::{Decode, Encode};

pub use bf16::{from_bf16, round_to_bf16, to_bf16, widen_bf16};

/// Encoding of a window; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// log2 of the block size in elements: 8, 10, 12 or 14.
    pub log2_n: u32,
    /// log2 of the number of blocks, at most 16.
    pub log2_blocks: u32,
    /// Key of the random signs, from [`optireduce_contract::signs::window_key`].
    pub sign_key: u64,
}

impl Code {
    /// Number of blocks in the window.
    pub const fn blocks(&self) -> usize {
        1 << self.log2_blocks
    }

    /// Number of elements in the window, with padding.
    pub const fn elements(&self) -> usize {
        1 << (self.log2_n + self.log2_blocks)
    }

    fn check(&self) {
        let Self { log2_n, log2_blocks, .. } = self;
        assert!(matches!(log2_n, 8 | 10 | 12 | 14), "log2_n of a Hadamard code is {log2_n}, not 8, 10, 12 or 14");
        assert!(
            *log2_blocks <= LOG2_BLOCKS_MAX,
            "log2_blocks of a Hadamard code is {log2_blocks}, above {LOG2_BLOCKS_MAX}"
        );
    }
}

/// Encodes `gradient`, padded with zeros, into the window `out` in wire order.
///
/// # Panics
/// If `code` is out of range, `gradient` is longer than the window, or `out` has another length.
pub fn encode(code: Code, gradient: &[f32], out: &mut [f32]) {
    encode_with(Kernel::best(), code, gradient, out);
}

/// Decodes the window `gathered`, in wire order, into `out`, the first elements of the result.
///
/// In `present`, bit p % 64 of word p / 64 is set if the beat at position p arrived (`None`: all).
/// Values of missing beats are ignored. A block without any beat becomes zeros.
///
/// # Panics
/// If `code` is out of range, `gathered` has another length than the window, `out` is longer, or
/// `present` is too short.
pub fn decode(code: Code, gathered: &[f32], present: Option<&[u64]>, out: &mut [f32]) {
    decode_with(Kernel::best(), code, gathered, present, out);
}

/// [`encode`] with a specific kernel.
///
/// # Panics
/// As [`encode`], and if this processor cannot run the kernel.
pub fn encode_with(kernel: Kernel, code: Code, gradient: &[f32], out: &mut [f32]) {
    code.check();
    let elements = code.elements();
    assert!(gradient.len() <= elements, "the gradient has {} elements, its window {elements}", gradient.len());
    assert_eq!(out.len(), elements, "length of the encoded window (left) and of its code (right)");
    kernel.run(Encode { code, gradient, out });
}

/// [`decode`] with a specific kernel.
///
/// # Panics
/// As [`decode`], and if this processor cannot run the kernel.
pub fn decode_with(kernel: Kernel, code: Code, gathered: &[f32], present: Option<&[u64]>, out: &mut [f32]) {
    code.check();
    let elements = code.elements();
    assert_eq!(gathered.len(), elements, "length of the gathered window (left) and of its code (right)");
    assert!(out.len() <= elements, "the result has {} elements, its window {elements}", out.len());
    let bits = present.map_or(usize::MAX, |words| 64 * words.len());
    assert!(bits >= elements / LANES, "the arrival map has {bits} bits for {} beats", elements / LANES);
    kernel.run(Decode { code, gathered, present, out });
}

/// Instruction set of a transform. All kernels produce the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of instruction sets
pub enum Kernel {
    /// Plain loops for the target of the build.
    Portable,
    Avx2,
    /// AVX-512 F.
    Avx512,
    Neon,
}

impl Kernel {
    /// All kernels, fastest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// Fastest kernel of this processor.
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// Kernels of this processor, fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available())
    }

    /// Returns whether this processor can run the kernel.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::has_avx512(),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => true,
            _ => false,
        }
    }

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    fn run(self, task: impl Task) {
        assert!(self.is_available(), "this processor cannot run the kernel {}; use Kernel::best()", self.name());
        match self {
            Self::Portable => task.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::run_avx2(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::run_avx512(task),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => neon::run_neon(task),
            _ => unreachable!("a kernel of another processor is not available"),
        }
    }
}

/// Work on a window. `inline(always)` on `run` compiles it with the kernel's instructions.
trait Task {
    fn run<E: Engine>(self);
}
