//! Valid and invalid arguments of calls, from the fuzzer's bytes.

use std::ffi::c_char;
use std::mem::offset_of;
use std::ops::Range;

use optireduce_c::types::{
    optr_bucket_options_t, optr_config_t, optr_partial_member_t, optr_partial_options_t, optr_partial_report_t,
    optr_peer_report_t, optr_report_t,
};

use super::memory::Memory;

/// Elements of most buckets and calls.
pub const ELEMENTS: usize = 64;
/// Largest number of elements with memory.
const ELEMENTS_MAX: usize = 312;
/// At most 8 bytes for each element, from any offset below 2 KiB.
pub const VALUES: Range<usize> = 0..2048 + 8 * ELEMENTS_MAX + 8;
/// The largest struct that is accepted.
pub const STRUCT: Range<usize> = VALUES.end..VALUES.end + 4096 + 256;
/// Two of the largest rows that are accepted.
pub const ROWS: Range<usize> = STRUCT.end..STRUCT.end + 2 * 4096;
pub const PLACES: Range<usize> = ROWS.end..ROWS.end + 256;
pub const HANDLE: usize = PLACES.start + 8;
/// Unterminated texts, as long as the library reads.
pub const TEXT: Range<usize> = PLACES.end..PLACES.end + 4096;

/// Bytes for one call. Their number is fixed, so that ranks that differ in one call agree on the
/// next.
pub struct Arguments {
    bytes: [u8; Self::BYTES],
    at: usize,
}

/// An address, and whether calls must refuse it.
#[derive(Clone, Copy)]
pub struct Pointer<T> {
    pub address: *mut T,
    pub is_wrong: bool,
}

impl Arguments {
    pub const BYTES: usize = 14;

    /// Takes bytes of `data`: 0 selects a valid value. `mask` is subtracted from each.
    pub fn new(data: &[u8], mask: u8) -> Self {
        let mut bytes = [u8::MAX - mask; Self::BYTES];
        bytes.iter_mut().zip(data).for_each(|(byte, given)| *byte = byte.wrapping_sub(*given));
        Self { bytes, at: 0 }
    }

    /// Returns the next byte; small values select rare cases.
    pub fn u8(&mut self) -> u8 {
        self.at += 1;
        self.bytes.get(self.at - 1).copied().unwrap_or(u8::MAX)
    }

    /// A number of elements or bytes: usually `usual`, or another one, even beyond any memory.
    pub fn count(&mut self, usual: usize) -> usize {
        match self.u8() {
            few @ 0..=39 => 8 * usize::from(few),
            near @ 40..=47 => usual.saturating_add(near.into()).saturating_sub(43).min(ELEMENTS_MAX),
            48..=51 => 1 << 63,
            52..=55 => usize::MAX,
            _ => usual,
        }
    }

    /// A small number, or an extreme one.
    pub fn number(&mut self) -> i32 {
        match self.u8() {
            0..=9 => i32::MAX,
            10..=19 => i32::MIN,
            20..=29 => -1,
            small => i32::from(small) - 34,
        }
    }

    /// Address and offset of values. Ranges may be equal or overlap.
    pub fn values<T>(&mut self, memory: &Memory, elements: usize, align: usize) -> (Pointer<T>, usize) {
        let (how, place) = (self.u8(), usize::from(self.u8()));
        let too_many = elements > ELEMENTS_MAX;
        let (address, begin, is_wrong) = match how {
            0..=3 => (std::ptr::null_mut(), 0, elements > 0),
            4..=7 => (memory.at(8 * place + 1), 8 * place + 1, align > 1),
            _ => (memory.at(8 * place), 8 * place, false),
        };
        (Pointer { address, is_wrong: is_wrong || too_many }, begin)
    }

    /// A place for a number or handle, the `index`th of this call.
    pub fn place<T>(&mut self, memory: &Memory, index: usize) -> (Pointer<T>, Range<usize>) {
        let begin = HANDLE + 32 * index;
        let pointer = match self.u8() {
            0..=2 => Pointer { address: std::ptr::null_mut(), is_wrong: true },
            3..=5 => Pointer { address: memory.at(begin + 1), is_wrong: true },
            _ => Pointer { address: memory.at(begin), is_wrong: false },
        };
        (pointer, begin..begin + size_of::<T>())
    }

    /// A struct's size, and whether it must be refused. `least`: size in the first version.
    fn size(&mut self, least: usize, right: usize) -> (usize, bool) {
        match self.u8() {
            few @ 0..=7 => (8 * usize::from(few), 8 * usize::from(few) < least),
            8 => (right - 8, right - 8 < least),
            9 => (right + 8, false),
            10 => (4096, false),
            11 => (4097, true),
            12 => (usize::MAX, true),
            _ => (right, false),
        }
    }

    /// A text: NULL, one of `texts`, or unterminated.
    pub fn text(&mut self, memory: &Memory, texts: &[&[u8]]) -> Pointer<c_char> {
        let write = |bytes: &[u8]| {
            bytes.iter().chain([&0]).enumerate().for_each(|(at, byte)| memory.set(TEXT.start + at, *byte));
        };
        let (how, which) = (self.u8(), usize::from(self.u8()));
        match how {
            0..=1 => (TEXT).for_each(|at| memory.set(at, b'x')),
            2..=127 => return Pointer { address: std::ptr::null_mut(), is_wrong: false },
            _ => write(texts[which % texts.len()]),
        }
        Pointer { address: memory.at(TEXT.start), is_wrong: how <= 1 }
    }
}

pub trait Report {
    const BYTES: usize;
    /// Size in the first version.
    const BYTES_MIN: usize;
    const ROW_BYTES: usize;
    const ROW_SIZE: usize;
    const ROWS: usize;
    const CAPACITY: usize;
    /// Leading bytes from the caller.
    const GIVEN: usize;
}

impl Report for optr_report_t {
    const BYTES: usize = size_of::<Self>();
    const BYTES_MIN: usize = Self::BYTES;
    const ROW_BYTES: usize = size_of::<optr_peer_report_t>();
    const ROW_SIZE: usize = offset_of!(Self, peer_size);
    const ROWS: usize = offset_of!(Self, peers);
    const CAPACITY: usize = offset_of!(Self, peer_capacity);
    const GIVEN: usize = Self::CAPACITY + 4;
}

impl Report for optr_partial_report_t {
    const BYTES: usize = size_of::<Self>();
    const BYTES_MIN: usize = Self::BYTES;
    const ROW_BYTES: usize = size_of::<optr_partial_member_t>();
    const ROW_SIZE: usize = offset_of!(Self, member_size);
    const ROWS: usize = offset_of!(Self, members);
    const CAPACITY: usize = offset_of!(Self, member_capacity);
    const GIVEN: usize = Self::CAPACITY + 4;
}

/// A report, and the ranges that success may write.
pub struct ReportPlace<R> {
    pub pointer: Pointer<R>,
    pub is_null: bool,
    pub may_write: [Range<usize>; 2],
}

/// A report with memory for two rows of at most 4096 bytes.
pub fn report<R: Report>(arguments: &mut Arguments, memory: &Memory) -> ReportPlace<R> {
    let ((size, wrong_size), rows, how) = (arguments.size(R::BYTES_MIN, R::BYTES), arguments.u8(), arguments.u8());
    let begin = STRUCT.start + usize::from(how == 1);
    let (row_bytes, wrong_rows) = match rows / 4 {
        0 => (0, true),
        1 => (R::ROW_BYTES - 1, true),
        2 => (4096, false),
        3 => (4097, true),
        4 => (R::ROW_BYTES + 5, false),
        _ => (R::ROW_BYTES, false),
    };
    let (first, capacity) = match rows % 4 {
        0 | 1 if rows > 20 => (0, u32::MAX),
        3 if (20..40).contains(&rows) => (memory.at::<u8>(ROWS.start + 1).addr(), 1),
        capacity => (memory.at::<u8>(ROWS.start).addr(), u32::from(capacity.min(2))),
    };
    let wrong_rows = first != 0 && (wrong_rows || first % 8 != 0);
    memory.set(begin, size);
    memory.set(begin + R::ROW_SIZE, row_bytes);
    memory.set(begin + R::ROWS, first);
    memory.set(begin + R::CAPACITY, capacity);
    let written = begin + R::GIVEN..begin + size.clamp(R::GIVEN, R::BYTES);
    let (address, is_null) = if how == 0 { (std::ptr::null_mut(), true) } else { (memory.at(begin), false) };
    let is_wrong = !is_null && (how == 1 || wrong_size || wrong_rows);
    let rows = if first == 0 { 0..0 } else { ROWS.start..ROWS.start + capacity as usize * row_bytes };
    ReportPlace { pointer: Pointer { address, is_wrong }, is_null, may_write: [written, rows] }
}

/// Zeros, except for up to two of `fields`.
fn options<T>(arguments: &mut Arguments, memory: &Memory, fields: &[usize]) -> Pointer<T> {
    let begin = STRUCT.start;
    (begin..STRUCT.end).for_each(|at| memory.set(at, 0_u8));
    let (size, is_wrong) = arguments.size(size_of::<T>(), size_of::<T>());
    memory.set(begin, size);
    let how = arguments.u8();
    for _ in 0..2 {
        let (field, value) = (arguments.u8(), arguments.u8());
        let value = if value > 250 { u32::MAX - 255 + u32::from(value) } else { u32::from(value) % 16 };
        if field < 200 {
            memory.set(begin + fields[usize::from(field) % fields.len()], value);
        }
    }
    match how {
        0 => Pointer { address: memory.at(begin + 1), is_wrong: true },
        1..=99 => Pointer { address: std::ptr::null_mut(), is_wrong: false },
        _ => Pointer { address: memory.at(begin), is_wrong },
    }
}

pub fn bucket_options(arguments: &mut Arguments, memory: &Memory) -> Pointer<optr_bucket_options_t> {
    type Of = optr_bucket_options_t;
    let fields = [offset_of!(Of, op), offset_of!(Of, hadamard), offset_of!(Of, bf16), offset_of!(Of, repair)];
    options(arguments, memory, &fields)
}

pub fn partial_options(arguments: &mut Arguments, memory: &Memory) -> Pointer<optr_partial_options_t> {
    type Of = optr_partial_options_t;
    // `decay` is a double: its upper half alone gives numbers near zero, or no number.
    let fields = [
        offset_of!(Of, weights),
        offset_of!(Of, group_size),
        offset_of!(Of, mix_within),
        offset_of!(Of, repair),
        offset_of!(Of, decay) + 4,
    ];
    let pointer = options::<Of>(arguments, memory, &fields);
    // Short times, so that no call waits for long.
    for of in [offset_of!(Of, patience_s), offset_of!(Of, repair_timeout_s)] {
        memory.set(STRUCT.start + of, 0.005_f64);
    }
    memory.set(STRUCT.start + offset_of!(Of, bound_ms), 5_f64);
    pointer
}

/// A configuration with a fast rendezvous, and a bound that suffices on a busy machine.
pub fn config(memory: &Memory) -> Pointer<optr_config_t> {
    type Of = optr_config_t;
    (STRUCT.start..STRUCT.end).for_each(|at| memory.set(at, 0_u8));
    memory.set(STRUCT.start, size_of::<Of>());
    memory.set(STRUCT.start + offset_of!(Of, timeout_s), 5_f64);
    memory.set(STRUCT.start + offset_of!(Of, bound_ms), 20_f64);
    memory.set(STRUCT.start + offset_of!(Of, mtu), 1500_u32);
    memory.set(STRUCT.start + offset_of!(Of, shared_memory), 1_u32);
    Pointer { address: memory.at(STRUCT.start), is_wrong: false }
}

/// A configuration with chosen fields. Times stay short.
pub fn any_config(arguments: &mut Arguments, memory: &Memory) -> Pointer<optr_config_t> {
    type Of = optr_config_t;
    config(memory);
    // The first version ended with `card`.
    let (size, wrong_size) = arguments.size(offset_of!(Of, card) + 8, size_of::<Of>());
    memory.set(STRUCT.start, size);
    let numbers = (offset_of!(Of, interface) - offset_of!(Of, timeout_s)) / 4;
    for _ in 0..2 {
        let (field, value) = (usize::from(arguments.u8()), u32::from(arguments.u8()));
        let value = if value > 200 { u32::MAX - 255 + value } else { value };
        if field < 200 {
            memory.set(STRUCT.start + offset_of!(Of, timeout_s) + 4 * (field % numbers), value);
        }
    }
    for field in [offset_of!(Of, bound_ms), offset_of!(Of, bound_max_ms)] {
        let found = memory.get::<f64>(STRUCT.start + field);
        memory.set(STRUCT.start + field, if found <= 4290.0 { found.min(20.0) } else { found });
    }
    let field = STRUCT.start + offset_of!(Of, timeout_s);
    // Between a millisecond and a day, and the default: calls would wait for that long.
    if (0.001..=86_400.0).contains(&memory.get::<f64>(field)) || memory.get::<f64>(field) == 0.0 {
        memory.set(field, 0.02_f64);
    }
    match arguments.u8() {
        0 => Pointer { address: memory.at(STRUCT.start + 1), is_wrong: true },
        _ => Pointer { address: memory.at(STRUCT.start), is_wrong: wrong_size },
    }
}
