//! `hw/rtl` is what the sources give, and tools take it.

use optireduce_hw::card::build::Build;
use optireduce_hw::{emit, rtl};
use std::collections::HashSet;
use std::path::Path;

mod elaborate;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl")
}

#[test]
fn the_committed_verilog_is_current() {
    let files = rtl::files(&emit::endpoint(Build::default())).expect("the card is in rust-hdl's style");
    rtl::check(&folder(), &files).unwrap_or_else(|error| panic!("{error}"));
}

/// `$` becomes `__`: were there such a name before, two could become one.
#[test]
fn no_name_of_the_card_has_two_underscores() {
    let verilog = emit::endpoint(Build::default());
    let names = verilog.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    let doubled: HashSet<&str> = names.filter(|name| name.contains("__") || name.contains("_$")).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn verilator_and_yosys_elaborate_the_ansi_top() {
    elaborate::all("rtl", "optireduce_top", &[folder().join("optireduce_top.v")]);
}
