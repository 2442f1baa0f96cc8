//! Field tables: name, offset and meaning of every field of a fixed layout.

/// One field of a register-like or packet-like layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in code and documentation.
    pub name: &'static str,
    /// Byte offset of the field's first byte.
    pub offset: usize,
    /// Length in bytes.
    pub bytes: usize,
    /// One sentence: meaning and unit.
    pub doc: &'static str,
}

impl Field {
    /// Offset of the first byte after the field.
    pub const fn end(&self) -> usize {
        self.offset + self.bytes
    }

    /// Reads the field as a little-endian number (up to 8 bytes) from a layout in `buffer`.
    pub fn get(&self, buffer: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(&buffer[self.offset..self.end()]);
        u64::from_le_bytes(word)
    }

    /// Writes the field as a little-endian number; excess bits of `value` are dropped.
    pub fn set(&self, buffer: &mut [u8], value: u64) {
        buffer[self.offset..self.end()].copy_from_slice(&value.to_le_bytes()[..self.bytes]);
    }
}

/// Declares the fields of a layout one after another, so that none overlaps and none is forgotten:
/// constants of type [`Field`], and the table `ALL` of them in order. `_` leaves reserved bytes, which are zero.
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
        /// Every field, in order of offset.
        pub const ALL: &[Field] = &[$($all),*];
        const END: usize = $at;
    };
}
