//! Elaborates Verilog around the committed card with Verilator and yosys.

use optireduce_hdl::flows::eda::{Job, Tool};
use optireduce_hdl::flows::passed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// # Panics
/// If Verilator or yosys reports anything.
pub fn all(name: &str, top: &str, files: &[PathBuf]) {
    let files = with_the_card(files);
    let mut input = texts(&files);
    input.extend([top, include_str!("mod.rs"), include_str!("waivers.vlt")].map(str::to_owned));
    let input: Vec<&str> = input.iter().map(String::as_str).collect();
    let done = passed::once(&format!("elaborate/{name}"), &input, || {
        verilator(top, &files)?;
        yosys(name, top, &files)
    });
    done.unwrap_or_else(|error| panic!("{name}: {error}"));
}

pub fn texts(files: &[PathBuf]) -> Vec<String> {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    files.iter().map(read).collect()
}

pub fn with_the_card(files: &[PathBuf]) -> Vec<PathBuf> {
    let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/optireduce_card.v");
    [card].into_iter().chain(files.iter().cloned()).collect()
}

/// Elaborates with all Verilator warnings. An error is the start of Verilator's output.
pub fn verilator(top: &str, files: &[PathBuf]) -> Result<(), String> {
    let waivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/elaborate/waivers.vlt");
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall", "--top-module", top]).arg(&waivers).args(files);
    let output =
        command.output().map_err(|error| format!("verilator: {error}. Run `tests/run`, which installs it."))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().take(24).collect::<Vec<_>>().join("\n")),
    }
}

/// Checks that every module and port exists, and that no wire has two drivers.
pub fn yosys(name: &str, top: &str, files: &[PathBuf]) -> Result<(), String> {
    let texts = texts(files);
    let names: Vec<String> = (0..files.len()).map(|index| format!("{index}.v")).collect();
    let script = format!("read_verilog -sv {}; hierarchy -check -top {top}; proc; check -assert", names.join(" "));
    let inputs: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let job = Job::new(name, "elaborate", &inputs, &script, &[Tool::Yosys])?;
    if !job.is_done() {
        job.yosys(&script)?;
        job.keep()?;
    }
    Ok(())
}
