//! DMA memory: host memory shared with the card, and the fences that order accesses to it.
//!
//! The memory is an array of 32-bit atomics, addressed by IOVA, so that both ends of an in-process
//! bus may access it concurrently: a word is old or new, never torn. Byte copies store words in
//! order with release. A reader that has seen the last word and then fences sees all of them. fp32
//! copies are relaxed, and ordered only by a fence.
//!
//! Limits: copies run word by word, which the compiler may not vectorise.
#![allow(unsafe_code)]

use std::any::Any;
use std::io::{Error, ErrorKind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use memmap2::MmapRaw;

/// Alignment of DMA memory in bytes, in this process and in the card's address space.
pub const DMA_ALIGN: usize = 4096;

/// Refused access to DMA memory. `iova` is its start; `base` and `len` describe the DMA memory.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DmaFault {
    #[error("{bytes} bytes at IOVA {iova:#x} are outside the DMA memory, {len} bytes at {base:#x}")]
    OutOfRange { iova: u64, bytes: usize, base: u64, len: usize },
    #[error("IOVA {iova:#x} is not mapped for the card, or does not permit this access")]
    Unmapped { iova: u64 },
    #[error("IOVA {iova:#x} is not a multiple of 4")]
    Misaligned { iova: u64 },
}

/// The DMA memory, mapped. Clones share the mapping.
#[derive(Clone)]
pub struct DmaMap {
    base: NonNull<AtomicU32>,
    words: usize,
    iova: u64,
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: `base` points into a mapping that `_owner` (itself `Send + Sync`) keeps until the last
// clone is dropped. The mapping is bound to no thread; all accesses go through `words()`, as
// atomics.
unsafe impl Send for DmaMap {}
// SAFETY: as above.
unsafe impl Sync for DmaMap {}

impl DmaMap {
    /// DMA memory in `mapping`, which the card addresses from `iova`.
    ///
    /// # Errors
    /// As [`DmaMap::from_raw`].
    pub fn from_mapping(mapping: MmapRaw, iova: u64) -> Result<Self, Error> {
        let (base, bytes) = (mapping.as_mut_ptr(), mapping.len());
        let base = NonNull::new(base).ok_or(ErrorKind::InvalidInput)?;
        // SAFETY: `mapping` is readable and writable for `bytes` bytes at `base` and is the owner
        // passed along. Its address is used nowhere else, so no reference into it exists.
        unsafe { Self::from_raw(base, bytes, iova, Arc::new(mapping)) }
    }

    /// DMA memory at `base`, which the card addresses from `iova`.
    ///
    /// # Errors
    /// `base`, `bytes` or `iova` is not a multiple of 4096, `bytes` is 0, or the IOVAs wrap around.
    ///
    /// # Safety
    /// `base` is readable and writable for `bytes` bytes while `owner` lives. No ordinary reference
    /// (`&[u8]`, `&mut`) into them exists, since the card may change them at any time.
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

    /// Splits the memory into `parts` of equal size in whole pages; empty if a part would have
    /// none.
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

    /// Copies `out.len()` bytes out of DMA memory.
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

    /// Copies `bytes` into DMA memory, in ascending order.
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

    /// Copies fp32 values out of DMA memory, from a multiple of 4.
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

    /// Copies fp32 values into DMA memory, at a multiple of 4.
    ///
    /// # Errors
    /// [`DmaFault`]; nothing was copied.
    pub fn write_f32(&self, iova: u64, values: &[f32]) -> Result<(), DmaFault> {
        for (value, word) in values.iter().zip(self.numbers(iova, values.len())?) {
            word.store(value.to_bits().to_le(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the little-endian 32-bit word at `iova` by an acquire load.
    pub fn read_word(&self, iova: u64) -> Result<u32, DmaFault> {
        Ok(self.numbers(iova, 1)?.first().map_or(0, |word| u32::from_le(word.load(Ordering::Acquire))))
    }

    fn numbers(&self, iova: u64, count: usize) -> Result<&[AtomicU32], DmaFault> {
        match self.span(iova, count.saturating_mul(4))? {
            (words, 0) => Ok(words),
            _ => Err(DmaFault::Misaligned { iova }),
        }
    }

    /// Words touched by `bytes` bytes, and offset of `iova` in the first word.
    fn span(&self, iova: u64, bytes: usize) -> Result<(&[AtomicU32], usize), DmaFault> {
        let fault = DmaFault::OutOfRange { iova, bytes, base: self.iova, len: self.bytes() };
        let start = iova.checked_sub(self.iova).and_then(|offset| usize::try_from(offset).ok()).ok_or(fault)?;
        let end = start.checked_add(bytes).filter(|end| *end <= self.bytes()).ok_or(fault)?;
        Ok((&self.words()[start / 4..end.div_ceil(4).max(start / 4)], start % 4))
    }

    fn words(&self) -> &[AtomicU32] {
        // SAFETY: `base` is aligned (checked in `from_raw`) and readable and writable for `words`
        // words while `_owner` lives, which is longer than this borrow of `self`. Atomics are
        // `UnsafeCell`s, so card and other threads may change them under the reference; any 32 bits
        // are valid.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }
}

/// Bytes of a copy before its first whole word.
fn head_bytes(skip: usize, bytes: usize) -> usize {
    ((4 - skip) % 4).min(bytes)
}

fn load(word: &AtomicU32) -> [u8; 4] {
    word.load(Ordering::Relaxed).to_ne_bytes()
}

fn merge(word: &AtomicU32, skip: usize, bytes: &[u8]) {
    let merged = |old: u32| {
        let mut new = old.to_ne_bytes();
        new[skip..skip + bytes.len()].copy_from_slice(bytes);
        Some(u32::from_ne_bytes(new))
    };
    // The closure never refuses, so this cannot fail.
    let _ = word.fetch_update(Ordering::Release, Ordering::Relaxed, merged);
}

/// Completes accesses to DMA memory before a register write that lets the card read or overwrite
/// it: SQ_TAIL, CQ_HEAD, or enabling CONTROL.
pub fn fence_before_doorbell() {
    fence(Ordering::Release);
    // SAFETY: a barrier touches no memory. The release fence orders this core against other cores
    // (inner shareable) only; a device is in the outer shareable domain.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dmb osh", options(nostack, preserves_flags));
    }
}

/// Orders reads of an entry and its results after the load of its phase bit.
pub fn fence_after_phase() {
    fence(Ordering::Acquire);
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}
