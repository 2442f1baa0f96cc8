//! DMA memory: host memory that card and driver share, and the fences that order accesses to it.
//!
//! The memory is seen as an array of 32-bit atomics and addressed by IOVA, the card's name for a place in it. Both ends
//! of an in-process bus use the same view, so that two threads at once are no data race: a word is old or new, never
//! torn. What spans words is ordered by the protocol: the writer's last word is a release, and a reader that has seen
//! it (a phase bit, a doorbell) fences before it reads the rest.
//!
//! Limits: copies run word by word, which the compiler may not vectorise.
#![allow(unsafe_code)]

use std::any::Any;
use std::io::{Error, ErrorKind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use memmap2::MmapRaw;

/// DMA memory starts at a multiple of this, in our address space and in the card's.
pub const DMA_ALIGN: usize = 4096;

/// An access to DMA memory that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DmaFault {
    /// Not wholly inside the DMA memory.
    #[error("{bytes} bytes at IOVA {iova:#x} are outside the DMA memory, {len} bytes at {base:#x}")]
    OutOfRange {
        /// Where the access starts.
        iova: u64,
        /// Its length.
        bytes: usize,
        /// Where DMA memory starts.
        base: u64,
        /// Length of DMA memory.
        len: usize,
    },
    /// Memory that is not mapped for the card, or not to be accessed like that.
    #[error("IOVA {iova:#x} is not mapped for the card, or may not be accessed like that")]
    Unmapped {
        /// The first byte of it.
        iova: u64,
    },
    /// An access to numbers that is not on a multiple of four bytes.
    #[error("IOVA {iova:#x} is not a multiple of 4")]
    Misaligned {
        /// Where the access starts.
        iova: u64,
    },
}

/// The DMA memory, mapped. Clones share the mapping.
#[derive(Clone)]
pub struct DmaMap {
    base: NonNull<AtomicU32>,
    words: usize,
    iova: u64,
    /// Keeps the mapping alive.
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: `base` points into a mapping that `_owner` (itself `Send + Sync`) keeps until the last clone is dropped and
// that belongs to no thread; it is accessed only through `words()`, as atomics.
unsafe impl Send for DmaMap {}
// SAFETY: as above.
unsafe impl Sync for DmaMap {}

impl DmaMap {
    /// DMA memory in `mapping`; the card knows its first byte as `iova`.
    ///
    /// # Errors
    /// As [`DmaMap::from_raw`].
    pub fn from_mapping(mapping: MmapRaw, iova: u64) -> Result<Self, Error> {
        let (base, bytes) = (mapping.as_mut_ptr(), mapping.len());
        let base = NonNull::new(base).ok_or(ErrorKind::InvalidInput)?;
        // SAFETY: `mapping` is readable and writable for `bytes` bytes at `base` and is the owner passed along; nothing
        // else knows its address, so no reference into it exists.
        unsafe { Self::from_raw(base, bytes, iova, Arc::new(mapping)) }
    }

    /// DMA memory at `base`, which the card knows as `iova`.
    ///
    /// # Errors
    /// `base`, `bytes` or `iova` is not a multiple of 4096, there are no bytes, or the IOVAs would wrap around.
    ///
    /// # Safety
    /// `base` is readable and writable for `bytes` bytes for as long as `owner` lives, and nothing forms an ordinary
    /// reference (`&[u8]`, `&mut`) into them; the card may change them at any time.
    pub unsafe fn from_raw(
        base: NonNull<u8>,
        bytes: usize,
        iova: u64,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        let aligned =
            [base.addr().get() as u64, bytes as u64, iova].iter().all(|at| at.is_multiple_of(DMA_ALIGN as u64));
        if !aligned || bytes == 0 || iova.checked_add(bytes as u64).is_none() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "found {bytes} bytes at IOVA {iova:#x}, expected multiples of {DMA_ALIGN} that do not wrap around"
                ),
            ));
        }
        Ok(Self { base: base.cast(), words: bytes / 4, iova, _owner: owner })
    }

    /// The same memory cut into `parts` of equal size, each a multiple of 4096 bytes; none if there is not enough for
    /// each to have any. What does not divide is in no part.
    pub fn split(&self, parts: usize) -> Vec<Self> {
        let words = (self.words / parts.max(1)) / (DMA_ALIGN / 4) * (DMA_ALIGN / 4);
        let part = |(index, cells): (usize, &[AtomicU32])| Self {
            base: NonNull::from(cells).cast(),
            words,
            iova: self.iova + (index * words * 4) as u64,
            _owner: self._owner.clone(),
        };
        if words == 0 {
            Vec::new()
        } else {
            self.words().chunks_exact(words).take(parts).enumerate().map(part).collect()
        }
    }

    /// IOVA of the first byte.
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.words * 4
    }

    /// Copies `out.len()` bytes out.
    ///
    /// # Errors
    /// [`DmaFault::OutOfRange`]; nothing was copied.
    pub fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let (words, skip) = self.span(iova, out.len())?;
        let (head, rest) = out.split_at_mut(head_bytes(skip, out.len()));
        let (head_word, words) = words.split_at(usize::from(!head.is_empty()));
        for word in head_word {
            head.copy_from_slice(&load(word)[skip..skip + head.len()]);
        }
        let mut chunks = rest.chunks_exact_mut(4);
        for (chunk, word) in chunks.by_ref().zip(words) {
            chunk.copy_from_slice(&load(word));
        }
        let tail = chunks.into_remainder();
        if let Some(word) = words.last() {
            let bytes = tail.len();
            tail.copy_from_slice(&load(word)[..bytes]);
        }
        Ok(())
    }

    /// Copies `bytes` in, in ascending order. Who sees the last word sees all of them, if he fences after it.
    ///
    /// # Errors
    /// [`DmaFault::OutOfRange`]; nothing was copied.
    pub fn write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        let (words, skip) = self.span(iova, bytes.len())?;
        let (head, rest) = bytes.split_at(head_bytes(skip, bytes.len()));
        let (head_word, words) = words.split_at(usize::from(!head.is_empty()));
        for word in head_word {
            merge(word, skip, head);
        }
        let (whole, tail) = rest.split_at(rest.len() / 4 * 4);
        for (chunk, word) in whole.chunks_exact(4).zip(words) {
            word.store(u32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]), Ordering::Release);
        }
        if let (Some(word), false) = (words.last(), tail.is_empty()) {
            merge(word, 0, tail);
        }
        Ok(())
    }

    /// Copies numbers out.
    ///
    /// # Errors
    /// [`DmaFault`]; nothing was copied.
    pub fn read_f32(&self, iova: u64, out: &mut [f32]) -> Result<(), DmaFault> {
        let words = self.numbers(iova, out.len())?;
        for (value, word) in out.iter_mut().zip(words) {
            *value = f32::from_bits(u32::from_le(word.load(Ordering::Relaxed)));
        }
        Ok(())
    }

    /// Copies numbers in.
    ///
    /// # Errors
    /// [`DmaFault`]; nothing was copied.
    pub fn write_f32(&self, iova: u64, values: &[f32]) -> Result<(), DmaFault> {
        for (value, word) in values.iter().zip(self.numbers(iova, values.len())?) {
            word.store(value.to_bits().to_le(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The little-endian 32-bit word at `iova`, for a poll.
    ///
    /// # Errors
    /// [`DmaFault`].
    pub fn read_word(&self, iova: u64) -> Result<u32, DmaFault> {
        Ok(self.numbers(iova, 1)?.first().map_or(0, |word| u32::from_le(word.load(Ordering::Acquire))))
    }

    fn numbers(&self, iova: u64, count: usize) -> Result<&[AtomicU32], DmaFault> {
        match self.span(iova, count.saturating_mul(4))? {
            (words, 0) => Ok(words),
            _ => Err(DmaFault::Misaligned { iova }),
        }
    }

    /// The words that `bytes` bytes at `iova` touch, and how many bytes of the first one lie before them.
    fn span(&self, iova: u64, bytes: usize) -> Result<(&[AtomicU32], usize), DmaFault> {
        let fault = DmaFault::OutOfRange { iova, bytes, base: self.iova, len: self.bytes() };
        let start = iova.checked_sub(self.iova).and_then(|offset| usize::try_from(offset).ok()).ok_or(fault)?;
        let end = start.checked_add(bytes).filter(|end| *end <= self.bytes()).ok_or(fault)?;
        Ok((&self.words()[start / 4..end.div_ceil(4).max(start / 4)], start % 4))
    }

    fn words(&self) -> &[AtomicU32] {
        // SAFETY: `base` is aligned (checked in `from_raw`) and readable and writable for `words` words while `_owner`
        // lives, which is longer than this borrow of `self`. Atomics are `UnsafeCell`s, so card and other threads may
        // change them under the reference; any 32 bits are valid.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }
}

/// Bytes before the first whole word of a copy of `bytes` bytes that skips `skip` bytes of its first word.
fn head_bytes(skip: usize, bytes: usize) -> usize {
    ((4 - skip) % 4).min(bytes)
}

fn load(word: &AtomicU32) -> [u8; 4] {
    word.load(Ordering::Relaxed).to_ne_bytes()
}

/// Replaces some bytes of a word without disturbing the others.
fn merge(word: &AtomicU32, skip: usize, bytes: &[u8]) {
    let merged = |old: u32| {
        let mut new = old.to_ne_bytes();
        new[skip..skip + bytes.len()].copy_from_slice(bytes);
        Some(u32::from_ne_bytes(new))
    };
    // The closure never refuses, so this cannot fail.
    let _ = word.fetch_update(Ordering::Release, Ordering::Relaxed, merged);
}

/// Before a register write that lets the card read, or overwrite, DMA memory (SQ_TAIL, CQ_HEAD, CONTROL): all our
/// earlier accesses to DMA memory are done when the card sees it. Volatile alone does not order the two.
pub fn fence_before_doorbell() {
    fence(Ordering::Release);
    // SAFETY: a barrier touches no memory. The release fence orders this core against other cores (inner shareable)
    // only; a device is in the outer shareable domain.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dmb osh", options(nostack, preserves_flags));
    }
}

/// After a phase bit was seen: the rest of the entry, and the results it speaks of, are read after it.
pub fn fence_after_phase() {
    fence(Ordering::Acquire);
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}
