//! Memory for gradients and results that a card, or another rank of this host, accesses in place.
//!
//! A buffer is a mapped memory file.
//! Cards ([`find`]) and ranks of this host (`local::regions`) map the file at first use, until the
//! memory is freed. Without a file ([`memory_file`] fails, or [`FILES_MAX`] are open) a buffer is
//! private memory, whose values are copied.
//!
//! Trust: a faulty card may change the owner's values at any time. The IOMMU blocks access to all
//! other memory. A failed card is cut off before its memory returns to the owner.
//!
//! Limits: pages of 4 KiB. A forked process shares the memory instead of copying it.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use memmap2::{MmapMut, MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create};
use rustix::process::{Resource, getrlimit};

use optireduce_contract::limits::BEAT_BYTES;

use crate::memory::{NotEnoughMemory, refused, require};

/// Required seals of a file that other processes read. The last one also forbids holes.
pub(crate) const SEALED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE);
const PAGE_BYTES: usize = 4096;
const WHAT: &str = "the memory";
const REMEDY: &str = "ask for less, or raise this rank's memory limit";

/// Most buffers with a file. A rank shares 64 regions with a peer, and a process has 1024 files.
const FILES_MAX: usize = 128;

/// Open files of buffers.
static FILES: AtomicUsize = AtomicUsize::new(0);

/// Pages of all buffers, by first address.
static ALL: Mutex<BTreeMap<usize, Weak<Pages>>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<usize, Weak<Pages>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a memory file of `bytes` bytes.
///
/// # Errors
/// Names the limit if a file of this size would end the process (SIGXFSZ), or the system call if
/// the host denies it, as some containers do.
pub(crate) fn memory_file(name: &str, bytes: usize) -> io::Result<OwnedFd> {
    if let Some(limit) = getrlimit(Resource::Fsize).current.filter(|limit| bytes as u64 > *limit) {
        let what = format!("a memory file of {bytes} bytes exceeds `ulimit -f` ({limit} bytes); raise the limit");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(name, flags).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("memfd_create: {error}; does a seccomp profile of the container deny it?"))
    })?;
    ftruncate(&file, bytes as u64)?;
    Ok(file)
}

/// The file of a buffer.
#[derive(Debug)]
struct Counted(OwnedFd);

impl Counted {
    /// Returns `None` if there are too many, or the host denies them.
    fn new(bytes: usize) -> Option<Self> {
        let is_free = |files: usize| (files < FILES_MAX).then_some(files + 1);
        FILES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_free).ok()?;
        let file = memory_file("optireduce-buffer", bytes);
        let file = file.and_then(|file| {
            // An access beyond the file's end would kill any process that maps it.
            fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
            Ok(file)
        });
        if let Err(error) = &file {
            FILES.fetch_sub(1, Ordering::Relaxed);
            tracing::debug!(%error, "memory is private: ranks of this host and cards copy it");
        }
        file.ok().map(Self)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        FILES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct Pages {
    map: MmapRaw,
    file: Option<Counted>,
    /// The rest of the last page is padding.
    value_bytes: usize,
    is_shared: OnceLock<bool>,
}

impl Pages {
    fn new(bytes: usize, value_bytes: usize) -> io::Result<Arc<Self>> {
        let file = Counted::new(bytes);
        let map = match &file {
            Some(Counted(file)) => MmapOptions::new().len(bytes).map_raw(file.as_raw_fd())?,
            None => MmapMut::map_anon(bytes)?.into(),
        };
        let pages = Arc::new(Self { map, file, value_bytes, is_shared: OnceLock::new() });
        all().insert(pages.addresses().start, Arc::downgrade(&pages));
        Ok(pages)
    }

    /// Allocates all pages and seals the file, for other processes. Returns `None` without a file,
    /// if memory is short, or if the address space is limited, as it then is for other ranks.
    pub fn share(&self) -> Option<BorrowedFd<'_>> {
        let Counted(file) = self.file.as_ref()?;
        let share = || {
            if getrlimit(Resource::As).current.is_some() {
                return Err(rustix::io::Errno::NOMEM);
            }
            fallocate(file, FallocateFlags::empty(), 0, self.map.len() as u64)?;
            fcntl_add_seals(file, SEALED | SealFlags::SEAL)
        };
        self.is_shared.get_or_init(|| share().is_ok()).then(|| file.as_fd())
    }

    /// The file; `None` if the memory is private.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(|Counted(file)| file.as_fd())
    }

    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping starts at a page, so it is aligned, has whole pages, and lives as
        // long as `self`. Its file cannot shrink. `local` only loads these words, and only while
        // they are lent to a collective that has sent from them, so there are no writers.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / size_of::<u64>()) }
    }

    pub fn addresses(&self) -> Range<usize> {
        let start = self.map.as_ptr().addr();
        start..start + self.map.len()
    }

    /// Zeroes the rest of the last beat if the values end at `end`, since cards access whole beats.
    /// Returns whether they do.
    pub fn pad(&self, end: usize) -> bool {
        let ends = end == self.addresses().start + self.value_bytes;
        if ends {
            let padding = self.value_bytes..self.value_bytes.next_multiple_of(BEAT_BYTES);
            // SAFETY: pages are whole beats, so these bytes are inside the mapping. They follow the
            // values, and other references cover values only.
            unsafe { self.map.as_mut_ptr().add(padding.start).write_bytes(0, padding.len()) };
        }
        ends
    }

    fn pointer(&self) -> *mut f32 {
        self.map.as_mut_ptr().cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Must precede the unmapping, after which another mapping may reuse these addresses.
        all().remove(&self.addresses().start);
    }
}

pub(crate) fn find(addresses: &Range<usize>) -> Option<Arc<Pages>> {
    let pages = all().range(..=addresses.start).next_back()?.1.upgrade()?;
    (addresses.end <= pages.addresses().end).then_some(pages)
}

/// Memory from [`Communicator::alloc`](crate::Communicator::alloc), zeroed and aligned to 64 bytes.
/// Collectives take it by value, and return it: see [`Memory`](crate::Memory).
pub struct Buffer {
    pages: Arc<Pages>,
    elements: usize,
}

impl Buffer {
    #[doc(hidden)]
    pub fn new(elements: usize) -> Result<Self, NotEnoughMemory> {
        let bytes =
            elements.checked_mul(size_of::<f32>()).and_then(|bytes| bytes.max(1).checked_next_multiple_of(PAGE_BYTES));
        let bytes = bytes.ok_or_else(|| refused(WHAT, u64::MAX, REMEDY))?;
        require(WHAT, bytes as u64, REMEDY)?;
        let pages = Pages::new(bytes, elements * size_of::<f32>()).map_err(|_| refused(WHAT, bytes as u64, REMEDY))?;
        Ok(Self { pages, elements })
    }

    /// Address of the values, for bindings that keep track of their users. They make no reference.
    #[doc(hidden)]
    pub fn pointer(&self) -> *mut f32 {
        self.pages.pointer()
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: the mapping has room for `elements` values, starts at a page, so it is aligned,
        // and lives as long as `self`. The file cannot shrink (sealed in `new`), and any 32 bits
        // are a valid `f32`. `self` is the only owner; users of `pointer` make no reference.
        unsafe { std::slice::from_raw_parts(self.pages.pointer(), self.elements) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pages.pointer(), self.elements) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("elements", &self.elements).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn of(values: &[f32]) -> Range<usize> {
        let start = values.as_ptr().addr();
        start..start + size_of_val(values)
    }

    #[test]
    fn values_are_zeros_aligned_to_beats() {
        let mut buffer = Buffer::new(1025).unwrap();
        assert!(buffer.len() == 1025 && buffer.iter().all(|value| *value == 0.0));
        assert!(buffer.as_ptr().addr().is_multiple_of(BEAT_BYTES));
        buffer[1024] = 7.0;
        assert_eq!(buffer[1024], 7.0);
    }

    #[test]
    fn the_last_beat_is_padded_with_zeros_and_values_are_left_alone() {
        let mut buffer = Buffer::new(1024 + 17).unwrap();
        buffer.fill(5.0);
        let all = of(&buffer);
        let file = std::fs::File::from(buffer.pages.file().unwrap().try_clone_to_owned().unwrap());
        let mut bytes = [7; 64];
        file.write_all_at(&bytes, all.len() as u64).unwrap();
        assert!(!buffer.pages.pad(all.end - 4) && buffer.pages.pad(all.end));
        file.read_exact_at(&mut bytes, all.len() as u64).unwrap();
        assert_eq!((&bytes[..60], &bytes[60..]), (&[0; 60][..], &[7; 4][..]));
        assert!(buffer.iter().all(|value| *value == 5.0));
        assert!(!buffer.pages.pad(usize::MAX));
    }

    #[test]
    fn memory_is_found_by_its_addresses_until_it_is_freed() {
        let mut buffers = [1, 5000].map(|elements| Buffer::new(elements).unwrap());
        for buffer in &mut buffers {
            let whole = of(buffer);
            let found = find(&whole).unwrap();
            assert!(Arc::ptr_eq(&found, &buffer.pages) && found.addresses().end - whole.start >= whole.len());
            assert!(find(&(whole.start..found.addresses().end + 1)).is_none_or(|other| !Arc::ptr_eq(&other, &found)));
        }
        let other = vec![0f32; 100];
        assert!(find(&of(&other)).is_none());
        let [small, _] = &mut buffers;
        let addresses = of(small);
        *small = Buffer::new(1).unwrap();
        assert!(find(&addresses).is_none_or(|found| found.addresses().start == of(small).start));
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        for elements in [usize::MAX, usize::MAX / 4, 1 << 50] {
            assert!(Buffer::new(elements).unwrap_err().to_string().starts_with("the memory needs "));
        }
        assert!(Buffer::new(0).unwrap().is_empty());
    }
}
