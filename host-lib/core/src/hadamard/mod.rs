//! The randomised Hadamard transform on the CPU, with the bits of the card.
//!
//! What: a window is K = 2^`log2_blocks` blocks of n = 2^`log2_n` values. [`encode`] makes y = H diag(s) x / sqrt(n) of
//! each block and lays the blocks' 64-byte beats out interleaved, as they travel; [`decode`] takes what arrived, undoes
//! both, and rescales each block by its beats over the beats received.
//! Why: a burst of losses becomes a little noise everywhere. Ranks with and without a card share jobs, and replicas must
//! hold the same bits: this is the arithmetic of the card, not an approximation of it.
//! How: block floating point in `i32`. The block's largest exponent gives one scale, values are rounded to it, every
//! second butterfly stage halves, results are rounded back; always to nearest even. A block is gathered into 1 to 64 KiB
//! of stack, several of them at a time when decoding (at most 128 KiB); conversions, signs, halving, rescaling and interleave happen on the passes that the stages need anyway.
//! Limits: n is 256, 1024, 4096 or 16384. A block that holds an infinity or a NaN becomes all NaN (0x7fc00000); a result
//! too large is an infinity; one below the smallest normal number is +0, as is every zero.
//! Fastest where the memory of what it leaves is aligned to 64 bytes: from windows of 256 KiB on, it then bypasses the caches (x86-64).
//! Needs: the rounding mode every thread starts with, to nearest even. Flushing subnormals changes nothing.
//! Source: OptiReduce (NSDI'25) 3.3; arithmetic and signs as `hw/src/hadamard/model.rs`, against which the tests compare.

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

/// How a window is encoded. All ranks of a job must use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// log2 of the block in elements: 8, 10, 12 or 14.
    pub log2_n: u32,
    /// log2 of the blocks in the window, at most 16.
    pub log2_blocks: u32,
    /// Key of the window's signs, from [`optireduce_contract::signs::window_key`].
    pub sign_key: u64,
}

impl Code {
    /// Blocks of the window.
    pub const fn blocks(&self) -> usize {
        1 << self.log2_blocks
    }

    /// Elements of the window, padding included.
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

/// Encodes a window: `gradient`, padded with zeros to the window, into `out`, the whole window in the order of the wire.
///
/// # Panics
/// When `code` is out of its limits, `gradient` is longer than the window, or `out` is not as long: the caller has cut
/// the window wrongly.
pub fn encode(code: Code, gradient: &[f32], out: &mut [f32]) {
    encode_with(Kernel::best(), code, gradient, out);
}

/// Decodes a window: `gathered`, the whole window in the order of the wire, into `out`, its first elements.
///
/// `present`: bit p % 64 of word p / 64 says whether the beat at position p arrived; `None`: all did. What the others hold
/// is not looked at. A block of which nothing arrived becomes zeros.
///
/// # Panics
/// When `code` is out of its limits, `gathered` is not as long as the window, `out` is longer, or `present` has no bit
/// for some beat: the caller has cut the window wrongly.
pub fn decode(code: Code, gathered: &[f32], present: Option<&[u64]>, out: &mut [f32]) {
    decode_with(Kernel::best(), code, gathered, present, out);
}

/// [`encode`] with a chosen kernel.
///
/// # Panics
/// As [`encode`], and when this processor cannot run the kernel.
pub fn encode_with(kernel: Kernel, code: Code, gradient: &[f32], out: &mut [f32]) {
    code.check();
    let elements = code.elements();
    assert!(gradient.len() <= elements, "the gradient has {} elements, its window {elements}", gradient.len());
    assert_eq!(out.len(), elements, "elements of the encoded window, and of its code");
    kernel.run(Encode { code, gradient, out });
}

/// [`decode`] with a chosen kernel.
///
/// # Panics
/// As [`decode`], and when this processor cannot run the kernel.
pub fn decode_with(kernel: Kernel, code: Code, gathered: &[f32], present: Option<&[u64]>, out: &mut [f32]) {
    code.check();
    let elements = code.elements();
    assert_eq!(gathered.len(), elements, "elements of the gathered window, and of its code");
    assert!(out.len() <= elements, "the result has {} elements, its window {elements}", out.len());
    let bits = present.map_or(usize::MAX, |words| 64 * words.len());
    assert!(bits >= elements / LANES, "{bits} bits say which of {} beats arrived", elements / LANES);
    kernel.run(Decode { code, gathered, present, out });
}

/// The instructions that a transform is made of. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// What the target of the build has.
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512 F.
    Avx512,
    /// NEON.
    Neon,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The fastest kernel of this processor.
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The kernels of this processor, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available())
    }

    /// Whether this processor can run the kernel.
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

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    fn run(self, task: impl Task) {
        assert!(self.is_available(), "this processor cannot run the kernel {}: take Kernel::best()", self.name());
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

/// Work on a window. Its `run` is `inline(always)`, so that it is compiled with the instructions of the kernel.
trait Task {
    fn run<E: Engine>(self);
}
