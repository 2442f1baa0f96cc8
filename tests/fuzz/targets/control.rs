//! The fuzzer's entry: see `host-lib/src/control/fuzz.rs`. Started by `run`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| optireduce::fuzzing::control(data));
