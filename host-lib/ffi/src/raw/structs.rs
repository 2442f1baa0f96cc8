//! Structs that begin with their size: settings that the caller gives, and reports that it wants.

use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};

use super::{check_aligned, null};
use crate::status::Failure;
use crate::types::{
    optr_bucket_options_t, optr_config_t, optr_partial_member_t, optr_partial_options_t, optr_partial_report_t,
    optr_peer_report_t, optr_report_t,
};

/// Largest struct that a caller may give: no version will be larger, so that a size that was not set does not lead out of memory.
const STRUCT_BYTES_MAX: usize = 4096;

/// A struct that begins with its size, and of which zeros are a value.
///
/// # Safety
/// `repr(C)`, its first field is a `usize` that says how many bytes it has, and all bytes zero are a valid value.
pub unsafe trait SizeFirst: Copy {
    /// Its name in the header.
    const NAME: &str;
    /// Its bytes in the first version.
    const BYTES_MIN: usize;
    /// Whether bytes behind those that are known here must be zero: the caller wants what this library cannot.
    const IS_GIVEN: bool;
}

// SAFETY: `repr(C)`, `size: usize` first; integers and pointers, of which zeros are values.
unsafe impl SizeFirst for optr_config_t {
    const NAME: &str = "optr_config_t";
    const BYTES_MIN: usize = offset_of!(Self, secret_file) + size_of::<*const c_char>();
    const IS_GIVEN: bool = true;
}

// SAFETY: as above.
unsafe impl SizeFirst for optr_bucket_options_t {
    const NAME: &str = "optr_bucket_options_t";
    const BYTES_MIN: usize = offset_of!(Self, repair) + size_of::<u32>();
    const IS_GIVEN: bool = true;
}

// SAFETY: as above, and floats.
unsafe impl SizeFirst for optr_report_t {
    const NAME: &str = "optr_report_t";
    const BYTES_MIN: usize = offset_of!(Self, deadline_changed) + size_of::<u32>();
    const IS_GIVEN: bool = false;
}

// SAFETY: as above.
unsafe impl SizeFirst for optr_partial_options_t {
    const NAME: &str = "optr_partial_options_t";
    const BYTES_MIN: usize = offset_of!(Self, repair) + size_of::<u32>();
    const IS_GIVEN: bool = true;
}

// SAFETY: as above.
unsafe impl SizeFirst for optr_partial_report_t {
    const NAME: &str = "optr_partial_report_t";
    const BYTES_MIN: usize = offset_of!(Self, missing_elements) + size_of::<u64>();
    const IS_GIVEN: bool = false;
}

/// A struct that the caller gives; `None`: NULL. What its version lacks is zero.
///
/// # Safety
/// NULL, or at least as many bytes as its first field says can be read.
pub unsafe fn sized<T: SizeFirst>(name: &str, pointer: *const T) -> Result<Option<T>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    check_aligned(name, pointer)?;
    // SAFETY: not NULL, aligned, and the caller's struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(T::BYTES_MIN..=STRUCT_BYTES_MAX).contains(&size) {
        let (kind, known) = (T::NAME, size_of::<T>());
        let expected = format!("sizeof({kind}), which is {known} here (use {}_init)", kind.trim_end_matches("_t"));
        return Err(Failure::argument(&format!("{name}->size"), size, expected));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `size` bytes can be read, which the caller says; no more than `T` has are written; the two do not overlap,
    // since one is ours.
    unsafe { pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), size.min(size_of::<T>())) };
    if T::IS_GIVEN && size > size_of::<T>() {
        // SAFETY: these bytes lie within the `size` that can be read.
        let more =
            unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(size_of::<T>()), size - size_of::<T>()) };
        if let Some(at) = more.iter().position(|byte| *byte != 0) {
            let found = format!("set at byte {} of {size}", size_of::<T>() + at);
            let expected = format!(
                "zeros behind the {} bytes that this version of the library knows; install a library as new as the header",
                size_of::<T>()
            );
            return Err(Failure::argument(name, found, expected));
        }
    }
    // SAFETY: zeros are a value of `T`, and so is what a caller wrote over them (`SizeFirst`).
    Ok(Some(unsafe { value.assume_init() }))
}

/// The rows of a report, for which the caller may have room.
#[derive(Debug)]
pub struct Rows<T> {
    /// Bytes of each, as the caller knows it.
    bytes: usize,
    /// NULL: there is no room.
    first: *mut T,
    room: u32,
}

// By hand: rows need not be `Copy` for their place to be.
impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

/// A report with a row for each of some ranks.
///
/// # Safety
/// `Row` is `repr(C)`, and [`rows`](Self::rows) and [`given`](Self::given) read and write the same fields.
pub unsafe trait ReportWithRows: SizeFirst {
    type Row: Copy;
    /// What is to be known from it.
    const WHY: &str;
    /// Name of the rows, of the field with the bytes of each, and of their type.
    const ROWS: [&str; 3];
    /// Bytes of a row in the first version.
    const ROW_BYTES_MIN: usize;

    /// What the caller gives of its rows.
    fn rows(&self) -> Rows<Self::Row>;
    /// With what the caller gives.
    fn given(self, size: usize, rows: Rows<Self::Row>) -> Self;
}

// SAFETY: `optr_peer_report_t` is `repr(C)`; the same fields in both.
unsafe impl ReportWithRows for optr_report_t {
    type Row = optr_peer_report_t;
    const WHY: &str = "its action says whether the update counts";
    const ROWS: [&str; 3] = ["peers", "peer_size", "optr_peer_report_t"];
    const ROW_BYTES_MIN: usize = offset_of!(optr_peer_report_t, reserved) + size_of::<u32>();

    fn rows(&self) -> Rows<Self::Row> {
        Rows { bytes: self.peer_size, first: self.peers, room: self.peer_capacity }
    }

    fn given(self, size: usize, Rows { bytes, first, room }: Rows<Self::Row>) -> Self {
        Self { size, peer_size: bytes, peers: first, peer_capacity: room, ..self }
    }
}

// SAFETY: `optr_partial_member_t` is `repr(C)`; the same fields in both.
unsafe impl ReportWithRows for optr_partial_report_t {
    type Row = optr_partial_member_t;
    const WHY: &str = "its iteration is the model's from now on";
    const ROWS: [&str; 3] = ["members", "member_size", "optr_partial_member_t"];
    const ROW_BYTES_MIN: usize = offset_of!(optr_partial_member_t, is_uncounted) + size_of::<u32>();

    fn rows(&self) -> Rows<Self::Row> {
        Rows { bytes: self.member_size, first: self.members, room: self.member_capacity }
    }

    fn given(self, size: usize, Rows { bytes, first, room }: Rows<Self::Row>) -> Self {
        Self { size, member_size: bytes, members: first, member_capacity: room, ..self }
    }
}

/// A call that has a report was given no place for it.
pub fn no_report<R: ReportWithRows>() -> Failure {
    null("report", &format!("where to write the report: {}", R::WHY))
}

/// A report of the caller's, to be filled in.
#[derive(Debug)]
pub struct ReportPlace<R: ReportWithRows = optr_report_t> {
    pointer: *mut R,
    size: usize,
    rows: Rows<R::Row>,
}

// SAFETY: addresses; the caller has promised that this library may write there until the call, or the request, is done.
unsafe impl<R: ReportWithRows> Send for ReportPlace<R> {}

impl<R: ReportWithRows> ReportPlace<R> {
    /// As [`new`](Self::new), for a report that need not be.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn optional(pointer: *mut R) -> Result<Option<Self>, Failure> {
        // SAFETY: as this function.
        if pointer.is_null() { Ok(None) } else { unsafe { Self::new(pointer) }.map(Some) }
    }

    /// # Safety
    /// NULL, or a report whose `size` bytes can be read and written, as can as many of its rows as it says that there is room for, of as
    /// many bytes as it says, if their address is not NULL, until this is dropped.
    pub unsafe fn new(pointer: *mut R) -> Result<Self, Failure> {
        // SAFETY: as this function.
        let Some(given) = (unsafe { sized("report", pointer) })? else {
            return Err(no_report::<R>());
        };
        // SAFETY: not NULL, aligned, and it begins with its size: `sized` has read it.
        let (size, rows) = (unsafe { pointer.cast::<usize>().read() }, given.rows());
        if !rows.first.is_null() {
            let [name, bytes, kind] = R::ROWS;
            if !(R::ROW_BYTES_MIN..=STRUCT_BYTES_MAX).contains(&rows.bytes) {
                let (known, init) = (size_of::<R::Row>(), R::NAME.trim_end_matches("_t"));
                let expected = format!("sizeof({kind}), which is {known} here (use {init}_init)");
                return Err(Failure::argument(&format!("report->{bytes}"), rows.bytes, expected));
            }
            check_aligned(&format!("report->{name}"), rows.first)?;
        }
        Ok(Self { pointer, size, rows })
    }

    /// Fills in all that this caller's version has; what it has given stays.
    pub fn write(&mut self, report: &R, rows: &[R::Row]) {
        let (size, room) = (self.size, self.rows);
        let report = report.given(size, room);
        let bytes = size.min(size_of::<R>());
        // SAFETY: `size` bytes can be written (`new`), and `report` has as many; one of the two is ours, so they do not overlap.
        unsafe { (&raw const report).cast::<u8>().copy_to_nonoverlapping(self.pointer.cast(), bytes) };
        if room.first.is_null() {
            return;
        }
        for (index, row) in rows.iter().take(room.room as usize).enumerate() {
            let bytes = room.bytes.min(size_of::<R::Row>());
            // SAFETY: there is room for as many rows of so many bytes (`new`), `index` is below that; `row` is ours.
            unsafe {
                let to = room.first.cast::<u8>().add(index * room.bytes);
                (&raw const *row).cast::<u8>().copy_to_nonoverlapping(to, bytes);
            }
        }
    }
}
