//! The fuzzer's entry: see `play/messages.rs`. Started by `run`.
#![no_main]

#[path = "../play/messages.rs"]
mod messages;

libfuzzer_sys::fuzz_target!(|data: &[u8]| messages::play(data));
