//! Fields of settings structs.

use std::ffi::c_char;

/// Field of a settings struct. Zero and NULL are the default.
#[derive(Debug)]
pub enum Field<'a> {
    /// Decimal number.
    Number(&'a mut f64),
    /// Whole number.
    Whole(&'a mut u32),
    /// Constant of the setting's C enum.
    Word(&'a mut u32),
    /// Text.
    Text(&'a mut *const c_char),
    /// Room for a later version.
    Reserved(&'a mut u32),
}

/// Value that the caller set.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    Number(f64),
    Whole(u32),
    Word(u32),
    Text(&'a str),
}
