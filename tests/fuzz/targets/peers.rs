//! The fuzzer's entry: see `play/peers.rs`. Started by `run`.
#![no_main]

#[path = "../play/peers.rs"]
mod peers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| peers::play(data));
