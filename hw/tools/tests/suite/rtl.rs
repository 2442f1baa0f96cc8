//! `hw/rtl` matches the sources, and tools accept it.

use super::elaborate;
use optireduce_hdl::flows::{eda, passed};
use optireduce_hdl::verilog::{emit, rtl};
use optireduce_hw::card::build::Build;
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl")
}

#[test]
fn the_committed_verilog_is_current() {
    let files = rtl::files(&emit::endpoint(Build::default())).expect("the card is in rust-hdl's style");
    assert_eq!(rtl::check(&folder(), &files), Ok(None));
}

/// `$` becomes `__`, so a name that already has `__` could collide with another.
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

/// Returns Verilator's warnings, except of widths and of several modules in one file.
fn lint(name: &str, verilog: &str) -> String {
    let path = env::temp_dir().join(format!("optireduce-lint-{name}-{}.v", process::id()));
    fs::write(&path, verilog).expect("it can be written");
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall", "-Wno-WIDTH", "-Wno-DECLFILENAME", "--top-module", "top"]).arg(&path);
    let output =
        command.output().unwrap_or_else(|error| panic!("verilator: {error}. Run `tests/run`, which installs it."));
    fs::remove_file(&path).expect("it is there");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{name}: {said}");
    said
}

#[test]
fn every_block_and_every_build_of_the_card_passes_verilators_lint() {
    let sizes =
        [(7, 8), (8, 10), (12, 14), (14, 14)].map(|(window_log2, hadamard_log2)| Build { window_log2, hadamard_log2 });
    let cards =
        sizes.map(|build| (format!("endpoint-{}-{}", build.window_log2, build.hadamard_log2), emit::endpoint(build)));
    let blocks = emit::BLOCKS.iter().map(|block| (block.name.to_owned(), block.verilog()));
    let all: Vec<(String, String)> = cards.into_iter().chain(blocks).collect();
    let said = eda::in_parallel(&all, |(name, verilog)| {
        passed::once(&format!("lint/{name}"), &[verilog, include_str!("rtl.rs")], || {
            let said = lint(&name.replace(|c: char| !c.is_alphanumeric(), "_"), verilog);
            if said.is_empty() { Ok(()) } else { Err(format!("{name}: {said}")) }
        })
    });
    let said: Vec<String> = said.into_iter().filter_map(Result::err).collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
}

#[test]
fn a_forgotten_signal_and_a_loop_are_found() {
    let msix = emit::BLOCKS.iter().find(|block| block.name == "msix").expect("it is in the list").verilog();
    let end = msix.rfind("endmodule").expect("a module ends");
    let with = |text: &str| format!("{}{text}\n{}", &msix[..end], &msix[end..]);
    let said = lint("forgotten", &with("    wire forgotten = valid && ready;"));
    assert!(said.contains("UNUSEDSIGNAL") && said.contains("forgotten"), "{said}");
    let (from, to) =
        ("assign valid = ", "wire around;\n    assign around = ready && ~valid;\n    assign valid = around || ");
    assert!(msix.contains(from), "{msix}");
    let said = lint("loop", &msix.replace(from, to));
    assert!(said.contains("UNOPTFLAT") && said.contains("valid"), "{said}");
}
