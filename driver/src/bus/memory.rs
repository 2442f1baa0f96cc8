//! Memory files to share with a card.
//!
//! Anonymous memory would be copied on write after a fork, so that one process would lose the
//! card's pages. Source: memfd_create(2), fork(2).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};

use crate::dma::DMA_ALIGN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// 4 KiB.
    Small,
    /// 2 MiB, if root has reserved some.
    Huge,
}

/// Creates a zeroed memory file for [`Bus::map`](crate::Bus::map), with a multiple of 4096 bytes.
/// Its size is sealed, since an access beyond the end of a file kills a process that maps it.
///
/// # Errors
/// If there is not enough memory.
pub fn memory_file(bytes: usize) -> io::Result<OwnedFd> {
    file(bytes, MemfdFlags::empty())
}

fn file(bytes: usize, flags: MemfdFlags) -> io::Result<OwnedFd> {
    let file = memfd_create("optireduce-dma", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | flags)?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Creates and maps a memory file of `bytes` bytes, a multiple of the page size.
pub(super) fn shared_memory(bytes: usize, pages: Pages) -> io::Result<(OwnedFd, MmapRaw)> {
    let file = match pages {
        Pages::Small => memory_file(bytes)?,
        Pages::Huge => file(bytes, MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB)?,
    };
    let mapping = MmapOptions::new().len(bytes).map_raw(&file)?;
    Ok((file, mapping))
}

/// Maps whole pages of a caller-owned memory file, whose size must be sealed.
pub(super) fn others_memory(file: BorrowedFd<'_>, bytes: usize) -> io::Result<MmapRaw> {
    let (seals, expected) = (fcntl_get_seals(file)?, SealFlags::SHRINK | SealFlags::GROW);
    let found = fstat(file)?.st_size;
    if !seals.contains(expected) || !bytes.is_multiple_of(DMA_ALIGN) || bytes == 0 || found < bytes as i64 {
        let what = format!(
            "a memory file of {found} bytes with the seals {seals:?}, expected at least {bytes}, in whole pages of {DMA_ALIGN}, with {expected:?}"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    MmapOptions::new().len(bytes).map_raw(file.as_raw_fd())
}
