//! Memory to be shared with a card: a memory file, mapped.
//!
//! Why a file and not anonymous memory: another process can map it, and after a fork both processes still have the pages that the card has;
//! of anonymous memory the one that writes first gets a copy. Source: memfd_create(2), fork(2).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};

use crate::dma::DMA_ALIGN;

/// Of what pages memory is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// Those of the processor, 4 KiB.
    Small,
    /// 2 MiB. They are there only if root has reserved some.
    Huge,
}

/// A memory file as [`Bus::map`](crate::Bus::map) takes it: `bytes` bytes, a multiple of 4096, of zeros. It can neither shrink nor grow: who maps it would
/// die of an access beyond its end.
///
/// # Errors
/// If there is no such memory.
pub fn memory_file(bytes: usize) -> io::Result<OwnedFd> {
    file(bytes, MemfdFlags::empty())
}

fn file(bytes: usize, flags: MemfdFlags) -> io::Result<OwnedFd> {
    let file = memfd_create("optireduce-dma", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | flags)?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// A memory file of `bytes` bytes, a multiple of the pages' size, and where it is mapped.
///
/// # Errors
/// If there is no such memory.
pub(super) fn shared_memory(bytes: usize, pages: Pages) -> io::Result<(OwnedFd, MmapRaw)> {
    let file = match pages {
        Pages::Small => memory_file(bytes)?,
        Pages::Huge => file(bytes, MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB)?,
    };
    let mapping = MmapOptions::new().len(bytes).map_raw(&file)?;
    Ok((file, mapping))
}

/// Maps the first `bytes` bytes of somebody's memory file.
///
/// # Errors
/// If they are no whole pages, the file can still shrink or grow, or it is shorter.
pub(super) fn others_memory(file: BorrowedFd<'_>, bytes: usize) -> io::Result<MmapRaw> {
    let (seals, expected) = (fcntl_get_seals(file)?, SealFlags::SHRINK | SealFlags::GROW);
    let found = fstat(file)?.st_size;
    if !seals.contains(expected) || !bytes.is_multiple_of(DMA_ALIGN) || bytes == 0 || found < bytes as i64 {
        let what = format!(
            "a memory file of {found} bytes with the seals {seals:?}, expected at least {bytes}, whole pages of {DMA_ALIGN}, and {expected:?}"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    MmapOptions::new().len(bytes).map_raw(file.as_raw_fd())
}
