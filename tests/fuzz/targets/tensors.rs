//! The fuzzer's entry: files of tensors, see `host-lib/cli/src/tensors.rs`. Started by `run`.
#![no_main]
#![allow(dead_code)]

#[path = "../../../host-lib/cli/src/tensors.rs"]
mod tensors;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tensors::play(data));
