//! Host memory accessible to a served card: windows mapped by its client.
//!
//! An access may span windows, since behind a virtual IOMMU each page is one. It fails at the first
//! byte that is unmapped or lacks permission. Without bus mastering every access fails.
//!
//! Trust: a window is a memory file of another process, which may change its contents at any time,
//! so bytes are accessed as atomics. A file that shrinks would crash this process, so files without
//! a seal against shrinking are rejected.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memmap2::MmapOptions;
use optireduce_driver::{DmaFault, DmaMap, HostMemory};
use rustix::fs::{SealFlags, fcntl_get_seals};

/// 256 MiB in pages.
const WINDOWS_MAX: usize = 1 << 16;

/// Non-overlapping windows by IOVA.
#[derive(Default)]
pub(super) struct Windows {
    windows: RwLock<BTreeMap<u64, Window>>,
    bus_master: AtomicBool,
}

struct Window {
    memory: DmaMap,
    readable: bool,
    writable: bool,
}

impl Windows {
    pub fn set_bus_master(&self, on: bool) {
        self.bus_master.store(on, Ordering::Release);
    }

    pub fn is_bus_master(&self) -> bool {
        self.bus_master.load(Ordering::Acquire)
    }

    /// Maps a part of `file` at `iova`.
    ///
    /// # Errors
    /// If the file may shrink or is too short, or the window is not whole pages, overlaps another
    /// or exceeds the limit of windows.
    pub fn map(
        &self,
        iova: u64,
        bytes: u64,
        file: &File,
        offset: u64,
        [readable, writable]: [bool; 2],
    ) -> io::Result<()> {
        let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        let seals = fcntl_get_seals(file)?;
        if !seals.contains(SealFlags::SHRINK) {
            return refuse(format!("the file may shrink: found the seals {seals:?}, expected SHRINK among them"));
        }
        let (found, end) = (file.metadata()?.len(), offset.checked_add(bytes));
        if end.is_none_or(|end| end > found) {
            return refuse(format!("{bytes} bytes at {offset:#x} are not within the {found} bytes of the file"));
        }
        let length = usize::try_from(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut windows = self.locked_mut();
        let (before, last) = (windows.range(..=iova).next_back(), iova.saturating_add(bytes).saturating_sub(1));
        let overlaps = before.is_some_and(|(start, window)| start + window.memory.bytes() as u64 > iova)
            || windows.range(iova..=last.max(iova)).next().is_some();
        if overlaps {
            return refuse(format!("{bytes} bytes at IOVA {iova:#x} overlap an existing mapping"));
        }
        if windows.len() >= WINDOWS_MAX {
            return refuse(format!("{WINDOWS_MAX} windows are mapped already, the limit of a card"));
        }
        let memory = DmaMap::from_mapping(MmapOptions::new().offset(offset).len(length).map_raw(file)?, iova)?;
        windows.insert(iova, Window { memory, readable, writable });
        Ok(())
    }

    /// Removes the windows that begin within the range.
    pub fn unmap(&self, iova: u64, bytes: u64) {
        let last = iova.saturating_add(bytes.saturating_sub(1));
        self.locked_mut().retain(|start, _| !(iova..=last).contains(start));
    }

    pub fn clear(&self) {
        self.locked_mut().clear();
    }

    fn locked(&self) -> RwLockReadGuard<'_, BTreeMap<u64, Window>> {
        self.windows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, Window>> {
        self.windows.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `act` for each piece of an access with window, IOVA and range of bytes.
    fn pieces(
        &self,
        iova: u64,
        bytes: usize,
        allowed: impl Fn(&Window) -> bool,
        mut act: impl FnMut(&DmaMap, u64, std::ops::Range<usize>) -> Result<(), DmaFault>,
    ) -> Result<(), DmaFault> {
        let windows = self.locked();
        let mut done = 0;
        while done < bytes {
            let at = iova.checked_add(done as u64).ok_or(DmaFault::Unmapped { iova })?;
            let window = windows.range(..=at).next_back().filter(|(_, window)| self.is_bus_master() && allowed(window));
            let left = window.and_then(|(start, window)| (window.memory.bytes() as u64).checked_sub(at - start));
            let (Some((_, window)), Some(left @ 1..)) = (window, left) else {
                return Err(DmaFault::Unmapped { iova: at });
            };
            let end = bytes.min(done.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
            act(&window.memory, at, done..end)?;
            done = end;
        }
        Ok(())
    }
}

impl HostMemory for Windows {
    fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let bytes = out.len();
        self.pieces(iova, bytes, |window| window.readable, |memory, at, piece| memory.read(at, &mut out[piece]))
    }

    fn write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        self.pieces(iova, bytes.len(), |window| window.writable, |memory, at, piece| memory.write(at, &bytes[piece]))
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{MemfdFlags, fcntl_add_seals, ftruncate, memfd_create};

    use super::*;

    const PAGE: u64 = 4096;
    const BOTH: [bool; 2] = [true, true];

    fn file(bytes: u64, seals: SealFlags) -> File {
        let file = memfd_create("windows", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&file, bytes).unwrap();
        fcntl_add_seals(&file, seals).unwrap();
        file.into()
    }

    fn windows() -> Windows {
        let windows = Windows::default();
        windows.set_bus_master(true);
        windows
    }

    #[test]
    fn an_access_is_split_at_the_edges_of_windows_and_fails_beyond_them() {
        let (windows, file) = (windows(), file(4 * PAGE, SealFlags::SHRINK));
        // Adjacent in IOVA, distant and in another order in the file.
        windows.map(8 * PAGE, PAGE, &file, 3 * PAGE, BOTH).unwrap();
        windows.map(9 * PAGE, 2 * PAGE, &file, 0, BOTH).unwrap();
        let sent: Vec<u8> = (0..300_u32).map(|byte| byte as u8).collect();
        for at in [9 * PAGE - 150, 9 * PAGE - 1, 9 * PAGE, 10 * PAGE - 7] {
            windows.write(at, &sent).unwrap();
            let mut got = vec![0; 300];
            windows.read(at, &mut got).unwrap();
            assert_eq!(got, sent, "at {at:#x}");
        }
        // The end of the first window is in the file's last page.
        let mut last = [0; 2];
        windows.write(9 * PAGE - 2, &[7, 8, 9]).unwrap();
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut last, 4 * PAGE - 2).unwrap();
        assert_eq!(last, [7, 8]);
        let fault = DmaFault::Unmapped { iova: 11 * PAGE };
        assert_eq!(windows.write(11 * PAGE - 100, &sent), Err(fault));
        assert_eq!(windows.write(8 * PAGE - 1, &sent), Err(DmaFault::Unmapped { iova: 8 * PAGE - 1 }));
        assert!(windows.write(u64::MAX - 1, &sent).is_err());
        windows.unmap(9 * PAGE, PAGE);
        assert_eq!(windows.write(9 * PAGE - 1, &sent), Err(DmaFault::Unmapped { iova: 9 * PAGE }));
        windows.set_bus_master(false);
        assert!(windows.write(8 * PAGE, &sent).is_err(), "without bus mastering");
    }

    #[test]
    fn what_may_vanish_or_overlaps_is_not_mapped() {
        let (windows, whole) = (windows(), file(4 * PAGE, SealFlags::SHRINK));
        let refused = |iova, bytes, file: &File, offset, part: &str| {
            let error = windows.map(iova, bytes, file, offset, BOTH).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(0, PAGE, &file(PAGE, SealFlags::GROW), 0, "may shrink");
        refused(0, 5 * PAGE, &whole, 0, "not within");
        refused(0, PAGE, &whole, u64::MAX - 1, "not within");
        refused(0, 100, &whole, 0, "multiples of 4096");
        windows.map(2 * PAGE, 2 * PAGE, &whole, 0, [true, false]).unwrap();
        refused(PAGE, 2 * PAGE, &whole, 0, "overlap");
        refused(3 * PAGE, PAGE, &whole, 0, "overlap");
        assert!(windows.write(2 * PAGE, &[0]).is_err(), "only to be read");
        windows.clear();
        windows.map(3 * PAGE, PAGE, &whole, 0, BOTH).unwrap();
    }
}
