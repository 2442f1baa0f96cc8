//! Allocator of buffers in DMA memory: first fit over sorted holes, merged on free.
//!
//! Simple because a job allocates its buffers once.

use std::collections::BTreeMap;

/// Minimum alignment of buffers in bytes: one beat, one cache line.
pub(crate) const BUFFER_ALIGN: usize = 64;

/// A buffer in DMA memory. Access to it goes through [`crate::Nic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DmaBuffer {
    /// IOVA of the first byte.
    pub iova: u64,
    /// Length in bytes.
    pub len: usize,
}

#[derive(Debug)]
pub(crate) struct Arena {
    bytes: usize,
    /// Length by start; adjacent holes are merged.
    holes: BTreeMap<u64, usize>,
    /// Requested and allocated length by start.
    buffers: BTreeMap<u64, (usize, usize)>,
}

impl Arena {
    pub fn new(iova: u64, bytes: usize) -> Self {
        Self { bytes, holes: BTreeMap::from([(iova, bytes)]), buffers: BTreeMap::new() }
    }

    pub fn alloc(&mut self, bytes: usize, align: usize) -> Option<DmaBuffer> {
        let taken = bytes.checked_next_multiple_of(BUFFER_ALIGN)?;
        let align = align.max(BUFFER_ALIGN) as u64;
        let (hole, iova, end) = self.holes.iter().find_map(|(start, len)| {
            let iova = start.checked_next_multiple_of(align)?;
            let end = iova.checked_add(taken as u64)?;
            (end <= start + *len as u64).then_some(((*start, *len), iova, end))
        })?;
        let (start, len) = hole;
        self.holes.remove(&start);
        self.add_hole(start, iova);
        self.add_hole(end, start + len as u64);
        self.buffers.insert(iova, (bytes, taken));
        Some(DmaBuffer { iova, len: bytes })
    }

    /// Frees a buffer; `false` if it is not allocated.
    pub fn free(&mut self, buffer: DmaBuffer) -> bool {
        let Some((_, taken)) = self.buffers.get(&buffer.iova).copied().filter(|(len, _)| *len == buffer.len) else {
            return false;
        };
        self.buffers.remove(&buffer.iova);
        let (mut start, mut end) = (buffer.iova, buffer.iova + taken as u64);
        if let Some((before, len)) = self.holes.range(..start).next_back().map(|(at, len)| (*at, *len))
            && before + len as u64 == start
        {
            start = before;
        }
        if let Some(len) = self.holes.remove(&end) {
            end += len as u64;
        }
        self.add_hole(start, end);
        true
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn free_bytes(&self) -> usize {
        self.holes.values().sum()
    }

    pub fn largest_bytes(&self) -> usize {
        self.holes.values().copied().max().unwrap_or(0)
    }

    fn add_hole(&mut self, start: u64, end: u64) {
        if end > start {
            self.holes.insert(start, (end - start) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_disjoint_and_merge_again_when_freed() {
        let mut arena = Arena::new(0x10_0000, 0x10000);
        let mut live: Vec<DmaBuffer> = Vec::new();
        // Pseudo-random allocations and frees (Knuth's 64-bit LCG).
        let mut state = 1u64;
        for _ in 0..10_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let draw = (state >> 33) as usize;
            if draw.is_multiple_of(3) && !live.is_empty() {
                assert!(arena.free(live.swap_remove(draw % live.len())));
            } else if let Some(buffer) = arena.alloc(draw % 3000 + 1, 1 << (draw % 13)) {
                assert_eq!(buffer.iova % (1 << (draw % 13)).max(64), 0);
                assert!(buffer.iova >= 0x10_0000 && buffer.iova + buffer.len as u64 <= 0x11_0000);
                let overlaps = |other: &DmaBuffer| {
                    buffer.iova < other.iova + other.len as u64 && other.iova < buffer.iova + buffer.len as u64
                };
                assert!(!live.iter().any(overlaps), "{buffer:?} overlaps one of {live:?}");
                live.push(buffer);
            }
            let used: usize = live.iter().map(|buffer| buffer.len.next_multiple_of(64)).sum();
            assert_eq!(arena.free_bytes(), 0x10000 - used);
        }
        for buffer in live.drain(..) {
            assert!(arena.free(buffer));
        }
        assert_eq!((arena.holes.len(), arena.largest_bytes()), (1, 0x10000));
    }

    #[test]
    fn what_is_not_allocated_is_not_freed() {
        let mut arena = Arena::new(0, 4096);
        let buffer = arena.alloc(100, 1).unwrap();
        assert!(!arena.free(DmaBuffer { len: 64, ..buffer }));
        assert!(!arena.free(DmaBuffer { iova: 64, ..buffer }));
        assert!(arena.free(buffer));
        assert!(!arena.free(buffer));
        assert_eq!(arena.free_bytes(), 4096);
    }

    #[test]
    fn sizes_beyond_all_memory_are_refused() {
        let mut arena = Arena::new(u64::MAX - 8191, 4096);
        assert_eq!(arena.alloc(usize::MAX, 64), None);
        assert_eq!(arena.alloc(4097, 64), None);
        assert_eq!(arena.alloc(64, 1 << 63), None);
        assert!(arena.alloc(4096, 4096).is_some());
    }
}
