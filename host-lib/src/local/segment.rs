//! Memory that processes of one host share.
//!
//! A segment is a memory file. Its owner maps it writable and then seals it: no other process can
//! map it writable, resize it or free its pages, so a reader never hits a missing page (SIGBUS).
//! Readers populate holes first, since blocks may also lie behind the file's end.
//!
//! Trust: a peer's segment may change at any time, to anything. It is accessed by atomics only, and
//! each value that matters is read once and checked. Unsafe code of this crate is here, in
//! [`Buffer`](crate::Buffer), in `udp::pieces` and in its caller, `udp::plane`.
//!
//! Limits: before Linux 5.14, which cannot populate, blocks are only counted. Miri cannot run
//! mapped files and sockets, and has not checked the rings.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, MmapOptions, MmapRaw};
use rustix::fs::{
    FallocateFlags, SealFlags, SeekFrom, fallocate, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, seek,
};

use crate::buffer::{SEALED, memory_file};

/// Unit of `st_blocks`.
const BLOCK_BYTES: i64 = 512;
/// File system of memory files with small pages. Huge pages may be exhausted at first touch.
const TMPFS_MAGIC: i64 = 0x0102_1994;

#[derive(Debug)]
pub(super) struct Segment {
    map: MmapRaw,
    /// `None` once all peers have mapped it.
    file: Option<OwnedFd>,
}

impl Segment {
    /// Allocates `words` words of zeros, with all pages present. Fails if memory is short, or if
    /// the kernel lacks these seals (before Linux 5.1).
    pub fn new(words: usize) -> io::Result<Self> {
        let bytes = words * size_of::<u64>();
        let file = memory_file("optireduce", bytes)?;
        fallocate(&file, FallocateFlags::empty(), 0, bytes as u64)?;
        let map = MmapOptions::new().len(bytes).map_raw(file.as_raw_fd())?;
        fcntl_add_seals(&file, SEALED | SealFlags::SEAL)?;
        Ok(Self { map, file: Some(file) })
    }

    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Closes the file. The mappings remain.
    pub fn close_file(&mut self) {
        self.file = None;
    }

    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `map` is a readable and writable mapping of `map.len()` bytes. It starts at a
        // page, so it is aligned, and it lives as long as `self`. Only this function exposes its
        // address, so no other references into it exist. The file cannot shrink (sealed in `new`).
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / size_of::<u64>()) }
    }
}

#[derive(Debug)]
pub(super) struct PeerSegment(MmapRaw);

impl PeerSegment {
    /// Like [`open_any`](Self::open_any), for a file of exactly `words` words.
    pub fn open(file: &OwnedFd, words: usize) -> io::Result<Self> {
        let (found, expected) = (fstat(file)?.st_size, words * size_of::<u64>());
        if found != expected as i64 {
            return Err(io::Error::other(format!("the peer's segment has {found} bytes, expected {expected}")));
        }
        Self::open_any(file)
    }

    /// Maps a peer's file. Fails if it is not a memory file, is not sealed, or has holes.
    pub fn open_any(file: &OwnedFd) -> io::Result<Self> {
        let refuse = |what: String| Err(io::Error::other(what));
        if fstatfs(file)?.f_type as i64 != TMPFS_MAGIC {
            return refuse("the peer's segment is not a memory file".into());
        }
        let seals = fcntl_get_seals(file)?;
        if !seals.contains(SEALED) {
            return refuse(format!("the peer's segment is sealed with {seals:?}, expected at least {SEALED:?}"));
        }
        let stat = fstat(file)?;
        let (bytes, allocated) = (stat.st_size, stat.st_blocks * BLOCK_BYTES);
        if allocated < bytes {
            return refuse(format!("the peer's segment has memory for {allocated} bytes, expected {bytes}"));
        }
        let size = usize::try_from(bytes).map_err(io::Error::other)?;
        let map = MmapOptions::new().len(size).map_raw_read_only(file.as_raw_fd())?;
        // Pages that were never written count as holes, so most files have some.
        if seek(file, SeekFrom::Hole(0))? < bytes as u64 {
            match map.advise(Advice::PopulateRead) {
                Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INVAL.raw_os_error()) => {
                    return refuse(format!("the peer's segment has pages that cannot be read: {error}"));
                }
                _ => {}
            }
        }
        Ok(Self(map))
    }

    pub fn words(&self) -> Peeked<'_> {
        // SAFETY: the mapping has `len()` bytes, starts at a page, so it is aligned, and lives as
        // long as `self`. The file cannot shrink or lose a page: `open_any` checked its seals and
        // populated it, and seals cannot be removed. Other processes may write to it at any time,
        // which atomics allow. `Peeked` only loads, so the memory may be read-only.
        Peeked(unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() / size_of::<u64>()) })
    }
}

/// Words that another process writes. Only relaxed loads are defined on read-only memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peeked<'a>(&'a [AtomicU64]);

impl<'a> Peeked<'a> {
    #[cfg(test)]
    pub fn of(words: &'a [AtomicU64]) -> Self {
        Self(words)
    }

    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        Self(&self.0[range])
    }

    pub fn len(self) -> usize {
        self.0.len()
    }

    /// An acquire fence must precede reads of words that this one announces.
    pub fn load(self, at: usize) -> u64 {
        self.0[at].load(Ordering::Relaxed)
    }

    /// # Panics
    /// If `bytes` is longer than the words.
    pub fn read(self, bytes: &mut [u8]) {
        assert!(bytes.len() <= size_of_val(self.0), "{} bytes of {} words", bytes.len(), self.0.len());
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if bytes.len() >= STRING_BYTES_MIN {
            // SAFETY: the assertion above ensures that the source is large enough. No other thread
            // writes `bytes`. Inline assembly is opaque to the compiler's memory model, so other
            // processes may write the source meanwhile, as with atomics.
            return unsafe { copy(bytes.as_mut_ptr(), self.0.as_ptr().cast(), bytes.len()) };
        }
        let (whole, rest) = bytes.as_chunks_mut::<8>();
        let mut words = self.0.iter();
        for (bytes, word) in whole.iter_mut().zip(&mut words) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if let Some(word) = words.next() {
            rest.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes()[..rest.len()]);
        }
    }
}

/// Stores bytes from the first word on. The unused end of the last word is unspecified.
///
/// # Panics
/// If `bytes` is longer than `words`.
pub(super) fn store(words: &[AtomicU64], bytes: &[u8]) {
    assert!(bytes.len() <= size_of_val(words), "{} bytes to {} words", bytes.len(), words.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes.len() >= STRING_BYTES_MIN {
        // SAFETY: the assertion above ensures that the destination is large enough. Atomics may
        // write there at any time. Otherwise as in `Peeked::read`.
        return unsafe { copy(words.as_ptr().cast_mut().cast(), bytes.as_ptr(), bytes.len()) };
    }
    let (whole, rest) = bytes.as_chunks::<8>();
    let mut words = words.iter();
    for (bytes, word) in whole.iter().zip(&mut words) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    if !rest.is_empty()
        && let Some(word) = words.next()
    {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_ne_bytes(last), Ordering::Relaxed);
    }
}

/// Minimum size at which a string instruction beats a loop over words.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const STRING_BYTES_MIN: usize = 256;

/// Copies bytes by the processor's string instruction. Fences order its accesses like relaxed loads
/// and stores: after earlier loads and before later stores that a fence separates from them.
///
/// # Safety
/// `bytes` bytes must be readable at `from` and writable at `to`, by relaxed atomic accesses.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: guaranteed by the caller. Rust keeps the direction flag clear.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    use super::*;

    #[test]
    fn a_peer_sees_what_the_owner_writes_and_can_neither_write_nor_shrink_it() {
        let own = Segment::new(1024).unwrap();
        let file = own.file().unwrap().try_clone_to_owned().unwrap();
        let peer = PeerSegment::open(&file, 1024).unwrap();
        own.words()[7].store(0x0123_4567_89ab_cdef, Ordering::Release);
        assert_eq!((peer.words().load(7), peer.words().load(8)), (0x0123_4567_89ab_cdef, 0));
        let mut bytes = [0xa5; 13];
        peer.words().slice(7..9).read(&mut bytes);
        assert_eq!(bytes[..8], 0x0123_4567_89ab_cdef_u64.to_ne_bytes());
        assert_eq!(bytes[8..], [0; 5]);
        assert!(MmapOptions::new().len(8192).map_raw(&file).is_err(), "a second mapping to write");
        assert!(ftruncate(&file, 0).is_err() && ftruncate(&file, 1 << 20).is_err());
        assert!(rustix::io::pwrite(&file, &[1], 0).is_err());
        assert!(fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, 4096).is_err());
    }

    #[test]
    fn files_that_could_vanish_are_refused() {
        let refused = |file: &OwnedFd| PeerSegment::open(file, 512).unwrap_err().to_string();
        let open = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&open, 4096).unwrap();
        assert!(refused(&open).contains("sealed with"), "{}", refused(&open));
        let own = Segment::new(1024).unwrap();
        assert_eq!(refused(own.file.as_ref().unwrap()), "the peer's segment has 8192 bytes, expected 4096");
        let holes = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&holes, 4096).unwrap();
        fcntl_add_seals(&holes, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        assert!(refused(&holes).contains("sealed with"), "its owner can punch holes: {}", refused(&holes));
        fcntl_add_seals(&holes, SEALED).unwrap();
        assert_eq!(refused(&holes), "the peer's segment has memory for 0 bytes, expected 4096");
        // All holes, with as many blocks behind the end as a whole file has.
        let behind = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&behind, 4096).unwrap();
        fallocate(&behind, FallocateFlags::KEEP_SIZE, 4096, 4096).unwrap();
        fcntl_add_seals(&behind, SEALED).unwrap();
        let blocks = || fstat(&behind).unwrap().st_blocks * BLOCK_BYTES;
        assert_eq!(blocks(), 4096, "the test makes no blocks behind the end");
        PeerSegment::open(&behind, 512).unwrap();
        assert_eq!(blocks(), 8192, "a page is still missing");
        let program = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        assert!(PeerSegment::open(&program, 512).is_err());
    }
}
