//! IEEE-754 binary32 arithmetic, bf16 and reciprocals.
//!
//! Each has a bit-exact model in plain Rust, in `*_model` or in the same file.

pub mod bf16;
pub mod fp_add;
pub mod fp_add_model;
pub mod fp_mul;
pub mod fp_mul_model;
pub mod fp_to_int;
pub mod fp_to_int_model;
pub mod int_to_fp;
pub mod int_to_fp_model;
pub mod recip_rom;
