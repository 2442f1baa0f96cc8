//! The fuzzer's entry: see `play/manifests.rs`. Started by `run`.
#![no_main]

#[path = "../play/manifests.rs"]
mod manifests;

libfuzzer_sys::fuzz_target!(|data: &[u8]| manifests::play(data));
