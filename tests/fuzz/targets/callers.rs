//! The fuzzer's entry: see `play/callers/mod.rs`. Started by `run`.
#![no_main]

#[path = "../play/callers/mod.rs"]
mod callers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| callers::play(data));
