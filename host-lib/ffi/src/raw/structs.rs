//! Structs that start with their size: settings from the caller, and reports to the caller.

use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};

use super::{check_aligned, null};
use crate::status::Failure;
use crate::types::{
    optr_bucket_options_t, optr_config_t, optr_partial_member_t, optr_partial_options_t, optr_partial_report_t,
    optr_peer_report_t, optr_report_t, optr_stage_report_t,
};

/// Size limit of a struct in any version, so that an uninitialised size does not read out of
/// bounds.
const STRUCT_BYTES_MAX: usize = 4096;

/// Struct that starts with its size, and for which zeros are valid.
///
/// # Safety
/// It is `repr(C)`, its first field is a `usize` with its size in bytes, and all zero bytes are a
/// valid value.
pub unsafe trait SizeFirst: Copy {
    const NAME: &str;
    /// Size in the first version.
    const BYTES_MIN: usize;
    /// True for settings: bytes beyond this version must be zero, since this library does not
    /// support their fields.
    const IS_GIVEN: bool;
}

// SAFETY: `repr(C)`, `size: usize` first; zeros are valid integers, floats and pointers.
unsafe impl SizeFirst for optr_config_t {
    const NAME: &str = "optr_config_t";
    const BYTES_MIN: usize = offset_of!(Self, card) + size_of::<*const c_char>();
    const IS_GIVEN: bool = true;
}

// SAFETY: as above.
unsafe impl SizeFirst for optr_bucket_options_t {
    const NAME: &str = "optr_bucket_options_t";
    const BYTES_MIN: usize = offset_of!(Self, groups) + size_of::<*const c_char>();
    const IS_GIVEN: bool = true;
}

// SAFETY: as above; zeros are valid floats.
unsafe impl SizeFirst for optr_report_t {
    const NAME: &str = "optr_report_t";
    const BYTES_MIN: usize = offset_of!(Self, stages) + 2 * size_of::<optr_stage_report_t>();
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

/// Returns `None` for NULL. Fields beyond the caller's version are zero.
///
/// # Safety
/// NULL, or readable for the number of bytes in the first field.
pub unsafe fn sized<T: SizeFirst>(name: &str, pointer: *const T) -> Result<Option<T>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    check_aligned(name, pointer)?;
    // SAFETY: not NULL, aligned, and it starts with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(T::BYTES_MIN..=STRUCT_BYTES_MAX).contains(&size) {
        let (kind, known) = (T::NAME, size_of::<T>());
        let expected = format!("sizeof({kind}), which is {known} here (use {}_init)", kind.trim_end_matches("_t"));
        return Err(Failure::argument(&format!("{name}->size"), size, expected));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller guarantees `size` readable bytes, and at most the size of `T` is written.
    // The two do not overlap, since `value` is a local variable.
    unsafe { pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), size.min(size_of::<T>())) };
    if T::IS_GIVEN && size > size_of::<T>() {
        // SAFETY: the caller guarantees `size` readable bytes.
        let more =
            unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(size_of::<T>()), size - size_of::<T>()) };
        if let Some(at) = more.iter().position(|byte| *byte != 0) {
            let found = format!("set at byte {} of {size}", size_of::<T>() + at);
            let expected = format!(
                "zeros after the {} bytes that this version of the library supports; install a library as new as the header",
                size_of::<T>()
            );
            return Err(Failure::argument(name, found, expected));
        }
    }
    // SAFETY: zeros are a valid `T`, and so are the bytes of the caller (`SizeFirst`).
    Ok(Some(unsafe { value.assume_init() }))
}

/// Caller-owned rows of a report.
#[derive(Debug)]
pub struct Rows<T> {
    /// Size of a row in the caller's version.
    bytes: usize,
    /// NULL if the caller wants no rows.
    first: *mut T,
    room: u32,
}

// Not derived, since a derive would require `T: Copy`.
impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

/// Report with a row for each of several ranks.
///
/// # Safety
/// `Row` is `repr(C)`, and [`rows`](Self::rows) and [`given`](Self::given) use the same fields.
pub unsafe trait ReportWithRows: SizeFirst {
    type Row: Copy;
    /// Purpose of the report, for the error.
    const WHY: &str;
    /// Names of the rows, of the field with the size of a row, and of their type.
    const ROWS: [&str; 3];
    /// Size of a row in the first version.
    const ROW_BYTES_MIN: usize;

    fn rows(&self) -> Rows<Self::Row>;
    /// Replaces the fields that the caller sets.
    fn given(self, size: usize, rows: Rows<Self::Row>) -> Self;
}

// SAFETY: `optr_peer_report_t` is `repr(C)`, and both methods use the same fields.
unsafe impl ReportWithRows for optr_report_t {
    type Row = optr_peer_report_t;
    const WHY: &str = "it shows what was lost, and whether the update was applied";
    const ROWS: [&str; 3] = ["peers", "peer_size", "optr_peer_report_t"];
    const ROW_BYTES_MIN: usize = offset_of!(optr_peer_report_t, reserved) + size_of::<u32>();

    fn rows(&self) -> Rows<Self::Row> {
        Rows { bytes: self.peer_size, first: self.peers, room: self.peer_capacity }
    }

    fn given(self, size: usize, Rows { bytes, first, room }: Rows<Self::Row>) -> Self {
        Self { size, peer_size: bytes, peers: first, peer_capacity: room, ..self }
    }
}

// SAFETY: `optr_partial_member_t` is `repr(C)`, and both methods use the same fields.
unsafe impl ReportWithRows for optr_partial_report_t {
    type Row = optr_partial_member_t;
    const WHY: &str = "the model continues with its iteration";
    const ROWS: [&str; 3] = ["members", "member_size", "optr_partial_member_t"];
    const ROW_BYTES_MIN: usize = offset_of!(optr_partial_member_t, is_uncounted) + size_of::<u32>();

    fn rows(&self) -> Rows<Self::Row> {
        Rows { bytes: self.member_size, first: self.members, room: self.member_capacity }
    }

    fn given(self, size: usize, Rows { bytes, first, room }: Rows<Self::Row>) -> Self {
        Self { size, member_size: bytes, members: first, member_capacity: room, ..self }
    }
}

/// Caller-owned report to fill in.
#[derive(Debug)]
pub struct ReportPlace<R: ReportWithRows = optr_report_t> {
    pointer: *mut R,
    size: usize,
    rows: Rows<R::Row>,
}

// SAFETY: the caller guarantees that this library may write there until the call or request is
// done.
unsafe impl<R: ReportWithRows> Send for ReportPlace<R> {}

impl<R: ReportWithRows> ReportPlace<R> {
    /// # Safety
    /// NULL, or a report whose `size` bytes are readable and writable until this is dropped. Its
    /// rows are NULL, or writable for the number and the size in its fields.
    pub unsafe fn new(pointer: *mut R) -> Result<Self, Failure> {
        // SAFETY: as this function.
        let Some(given) = (unsafe { sized("report", pointer) })? else {
            return Err(null("report", &format!("an address to write the report to: {}", R::WHY)));
        };
        // SAFETY: not NULL, aligned, and it starts with its size, as `sized` found.
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

    /// Writes the fields of the caller's version, except fields that the caller sets.
    pub fn write(&mut self, report: &R, rows: &[R::Row]) {
        let (size, room) = (self.size, self.rows);
        let report = report.given(size, room);
        let bytes = size.min(size_of::<R>());
        // SAFETY: `size` bytes are writable (`new`), and `report` has as many. `report` is a local
        // variable, so they do not overlap.
        unsafe { (&raw const report).cast::<u8>().copy_to_nonoverlapping(self.pointer.cast(), bytes) };
        if room.first.is_null() {
            return;
        }
        for (index, row) in rows.iter().take(room.room as usize).enumerate() {
            let bytes = room.bytes.min(size_of::<R::Row>());
            // SAFETY: the rows are writable for `room` rows of this size (`new`), and `index` is
            // less. `row` is not the caller's.
            unsafe {
                let to = room.first.cast::<u8>().add(index * room.bytes);
                (&raw const *row).cast::<u8>().copy_to_nonoverlapping(to, bytes);
            }
        }
    }
}
