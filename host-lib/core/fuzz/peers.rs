//! The fuzzer's entry: see `rank.rs`. Started by `run`.
#![no_main]

mod rank;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rank::play(data));
