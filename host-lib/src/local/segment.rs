//! Memory that processes of one host share. Unsafe code of this crate is here, for [`Buffer`](crate::Buffer), whose memory is shared
//! like this, too, and in `udp::pieces`, for memory that the kernel sends from on another thread.
//!
//! A segment is a memory file. Its owner maps it to write; then it is sealed, so that nobody else can map it to write, and
//! nobody can change its length or give back its pages: reading it never meets a page that is gone (SIGBUS). Others map it to read.
//! Trust: a peer's segment may change at any time, to anything. It is seen as atomics only, and each value that matters is
//! read once and checked.
//! Limits: what Miri cannot run (mapped files, sockets) stays here; the rings work on any atomics. Miri needs a nightly Rust, and has not run here.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate,
    memfd_create,
};

use crate::buffer::SEALED;

/// The unit of a file's blocks.
const BLOCK_BYTES: i64 = 512;
/// Files in memory with small pages: of huge ones there may be none left when one is first touched.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Memory of this process that others can read.
#[derive(Debug)]
pub(super) struct Segment {
    map: MmapRaw,
    file: OwnedFd,
}

impl Segment {
    /// `words` words of zeros. All of its memory is allocated now.
    ///
    /// # Errors
    /// If the kernel has no memory files with these seals (before Linux 5.1), or no memory.
    pub fn new(words: usize) -> io::Result<Self> {
        let bytes = words * size_of::<u64>();
        let file = memfd_create("optireduce", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, bytes as u64)?;
        fallocate(&file, FallocateFlags::empty(), 0, bytes as u64)?;
        let map = MmapOptions::new().len(bytes).map_raw(file.as_raw_fd())?;
        fcntl_add_seals(&file, SEALED | SealFlags::SEAL)?;
        Ok(Self { map, file })
    }

    /// Its words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `map` is a mapping to read and write of `map.len()` bytes at a page's start, so aligned; it lives as long as
        // `self`, and nothing but this function knows its address: no other reference into it is formed. The file cannot
        // shrink (sealed in `new`).
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / size_of::<u64>()) }
    }
}

impl AsFd for Segment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Memory of another process.
#[derive(Debug)]
pub(super) struct PeerSegment(MmapRaw);

impl PeerSegment {
    /// Maps a file of `words` words that another process gave.
    ///
    /// # Errors
    /// If it is not a memory file, is not sealed, has another length, or has holes.
    pub fn open(file: &OwnedFd, words: usize) -> io::Result<Self> {
        let (found, expected) = (fstat(file)?.st_size, words * size_of::<u64>());
        if found != expected as i64 {
            return Err(io::Error::other(format!("the peer's segment has {found} bytes, expected {expected}")));
        }
        Self::open_any(file)
    }

    /// Maps a file of any length that another process gave.
    ///
    /// # Errors
    /// If it is not a memory file, is not sealed, or has holes.
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
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        Ok(Self(MmapOptions::new().len(bytes).map_raw_read_only(file.as_raw_fd())?))
    }

    /// Its words.
    pub fn words(&self) -> Peeked<'_> {
        // SAFETY: the mapping has `len()` bytes, begins at a page, so aligned, and lives as long as `self`; the file cannot
        // shrink or lose a page (its seals and its blocks were seen in `open`, and no seal can be taken off). Other processes may write it at any time, which
        // atomics allow; `Peeked` only loads, so that the memory may be read-only.
        Peeked(unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() / size_of::<u64>()) })
    }
}

/// Words that another process writes. Only relaxed loads: others are not defined for memory that cannot be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peeked<'a>(&'a [AtomicU64]);

impl<'a> Peeked<'a> {
    /// The same words, of memory that is somebody's.
    #[cfg(test)]
    pub fn of(words: &'a [AtomicU64]) -> Self {
        Self(words)
    }

    /// The words of this range.
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        Self(&self.0[range])
    }

    pub fn len(self) -> usize {
        self.0.len()
    }

    /// A word's value at this moment. Fence (acquire) before what it says of other words is read.
    pub fn load(self, at: usize) -> u64 {
        self.0[at].load(Ordering::Relaxed)
    }

    /// Fills `bytes` from the first words on.
    ///
    /// # Panics
    /// If there are not so many words.
    pub fn read(self, bytes: &mut [u8]) {
        assert!(bytes.len() <= size_of_val(self.0), "{} bytes of {} words", bytes.len(), self.0.len());
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if bytes.len() >= STRING_BYTES_MIN {
            // SAFETY: there are so many bytes to read, as was checked, and to write; nobody else writes the latter. To the compiler this is no access
            // of its own memory model, so that others may write what is read, as with atomics.
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

/// Stores bytes from the first word on; what the last word has behind them means nothing.
///
/// # Panics
/// If there are not so many words.
pub(super) fn store(words: &[AtomicU64], bytes: &[u8]) {
    assert!(bytes.len() <= size_of_val(words), "{} bytes to {} words", bytes.len(), words.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes.len() >= STRING_BYTES_MIN {
        // SAFETY: there is room for so many bytes, as was checked, in memory that atomics may write at any time. As in `Peeked::read`.
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

/// From so many bytes on a string instruction is faster than word by word.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const STRING_BYTES_MIN: usize = 256;

/// Copies bytes as the processor does it fastest. It orders them as relaxed loads and stores: all of them after what was loaded, and before what is
/// stored with a fence in between.
///
/// # Safety
/// So many bytes at `from` can be read, and at `to` written, as a relaxed atomic could.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's. The direction flag is clear, as between all instructions of a Rust program.
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
    use super::*;

    #[test]
    fn a_peer_sees_what_the_owner_writes_and_can_neither_write_nor_shrink_it() {
        let own = Segment::new(1024).unwrap();
        let file = own.file.try_clone().unwrap();
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
        assert_eq!(refused(&own.file), "the peer's segment has 8192 bytes, expected 4096");
        let holes = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&holes, 4096).unwrap();
        fcntl_add_seals(&holes, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        assert!(refused(&holes).contains("sealed with"), "its owner can punch holes: {}", refused(&holes));
        fcntl_add_seals(&holes, SEALED).unwrap();
        assert_eq!(refused(&holes), "the peer's segment has memory for 0 bytes, expected 4096");
        let program = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        assert!(PeerSegment::open(&program, 512).is_err());
    }
}
