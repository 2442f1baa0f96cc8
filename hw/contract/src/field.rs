//! Field tables of fixed layouts.

/// One field of a fixed layout: name, offset and length in bytes, and meaning with unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub bytes: usize,
    pub doc: &'static str,
}

impl Field {
    /// Returns the offset of the first byte after the field.
    pub const fn end(&self) -> usize {
        self.offset + self.bytes
    }

    /// Reads the field, of at most 8 bytes, as a little-endian number.
    pub fn get(&self, buffer: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(&buffer[self.offset..self.end()]);
        u64::from_le_bytes(word)
    }

    /// Writes the field as a little-endian number without the excess bits of `value`.
    pub fn set(&self, buffer: &mut [u8], value: u64) {
        buffer[self.offset..self.end()].copy_from_slice(&value.to_le_bytes()[..self.bytes]);
    }
}

/// Declares the fields of a layout in order: a [`Field`] constant each, and the table `ALL`.
///
/// Offsets follow from the field before, so fields cannot overlap. A layout without the declared
/// length does not compile. `_` reserves bytes, which are zero.
#[macro_export]
macro_rules! layout {
    ($(#[$meta:meta])* $vis:vis mod $module:ident: $total:literal bytes { $($body:tt)* }) => {
        $(#[$meta])*
        $vis mod $module {
            use $crate::field::Field;
            $crate::layout!(@fields 0; []; $($body)*);
            /// Length of the layout in bytes.
            pub const BYTES: usize = $total;
            const _: () = assert!(END == BYTES, "the fields do not fill the layout");
        }
    };
    (@fields $at:expr; [$($all:ident)*]; _ $bytes:literal; $($rest:tt)*) => {
        $crate::layout!(@fields $at + $bytes; [$($all)*]; $($rest)*);
    };
    (@fields $at:expr; [$($all:ident)*]; $name:ident $bytes:literal $doc:literal; $($rest:tt)*) => {
        #[doc = $doc]
        pub const $name: Field = Field { name: stringify!($name), offset: $at, bytes: $bytes, doc: $doc };
        $crate::layout!(@fields $name.end(); [$($all)* $name]; $($rest)*);
    };
    (@fields $at:expr; [$($all:ident)*];) => {
        /// All fields, in order of offset.
        pub const ALL: &[Field] = &[$($all),*];
        const END: usize = $at;
    };
}
