//! `bitstreams/`: shells elaborate around the committed card, hand-written Verilog works in
//! simulation, and the ECP5 bitstream matches its manifest and these sources.

use super::elaborate;
use optireduce_hdl::flows::{bitstream, passed};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bitstreams").canonicalize().expect("it is in the tree")
}

fn files(names: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for name in names {
        let path = folder().join(name);
        match fs::read_dir(&path) {
            Err(_) => files.push(path),
            Ok(entries) => files.extend(entries.map(|entry| entry.expect("it can be read").path())),
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "v"));
    files.sort();
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/optireduce_top.v"));
    files
}

#[test]
fn the_alveo_shells_elaborate_with_their_stubs() {
    for board in ["alveo-u250", "alveo-u50"] {
        elaborate::all(board, "shell", &files(&["common", "common/stubs", board]));
    }
}

/// Included files are inlined, because yosys sees only one folder.
#[test]
fn the_opennic_plugin_elaborates_in_its_box() {
    let mut files = files(&["common/axil_crossing.v", "common/reset_crossing.v", "opennic"]);
    let mut text = fs::read_to_string(folder().join("opennic/stubs/box_250mhz.v")).expect("it is in the tree");
    for name in ["box_250mhz_address_map_inst.vh", "user_plugin_250mhz_inst.vh"] {
        let included = fs::read_to_string(folder().join("opennic/box_250mhz").join(name)).expect("it is in the tree");
        let include = format!("`include \"{name}\"");
        assert!(text.contains(&include), "the box does not include {name}");
        text = text.replace(&include, &included);
    }
    let scratch = scratch("opennic");
    files.push(scratch.join("box_250mhz.v"));
    fs::write(scratch.join("box_250mhz.v"), text).expect("it can be written");
    elaborate::all("opennic", "box_250mhz", &files);
    fs::remove_dir_all(scratch).expect("it is there");
}

#[test]
fn a_wrong_width_and_a_wrong_name_are_found() {
    let files = elaborate::with_the_card(&files(&["common", "common/stubs", "alveo-u50"]));
    let scratch = scratch("mutants");
    let mutate = |from: &str, to: &str| -> Vec<PathBuf> {
        let alveo = fs::read_to_string(folder().join("common/alveo.v")).expect("it is in the tree");
        assert!(alveo.contains(from), "{from}");
        fs::write(scratch.join("alveo.v"), alveo.replacen(from, to, 1)).expect("it can be written");
        let others = files.iter().filter(|file| !file.ends_with("alveo.v")).cloned();
        others.chain([scratch.join("alveo.v")]).collect()
    };
    let narrow = mutate("wire  [63:0] dma_awaddr", "wire  [62:0] dma_awaddr");
    once("wrong-width", &narrow, || match elaborate::verilator("shell", &narrow) {
        Err(error) if error.contains("WIDTH") => Ok(()),
        found => Err(format!("63 bits for an address of 64: found {found:?}")),
    });
    let misnamed = mutate(".s_axib_awaddr(", ".s_axib_awadr(");
    once("wrong-name", &misnamed, || match elaborate::yosys("mutant", "shell", &misnamed) {
        Err(error) if error.contains("s_axib_awadr") => Ok(()),
        found => Err(format!("there is no such port: found {found:?}")),
    });
    fs::remove_dir_all(scratch).expect("it is there");
}

/// Runs `check` of files unless it has passed with their present text.
fn once(name: &str, files: &[PathBuf], check: impl FnOnce() -> Result<(), String>) {
    let mut input = elaborate::texts(files);
    input.extend([include_str!("boards.rs"), include_str!("elaborate/mod.rs")].map(str::to_owned));
    let input: Vec<&str> = input.iter().map(String::as_str).collect();
    passed::once(&format!("boards/{name}"), &input, check).unwrap_or_else(|error| panic!("{error}"));
}

/// Builds a test bench with Verilator and runs it with three seeds.
fn bench(name: &str, defines: &[&str], files: &[PathBuf], top_folder: &Path) {
    let mut read: Vec<PathBuf> =
        fs::read_dir(top_folder).expect("it is there").map(|entry| entry.expect("it can be read").path()).collect();
    read.retain(|path| path.is_file() && !files.contains(path));
    read.sort();
    let input = [files, &read].concat();
    once(name, &input, || run(name, defines, files, top_folder));
}

fn run(name: &str, defines: &[&str], files: &[PathBuf], top_folder: &Path) -> Result<(), String> {
    let scratch = scratch(name);
    let built = Command::new("verilator")
        .args(["--binary", "--timing", "--assert", "-Wno-fatal", "-Wno-WIDTH", "-Wno-TIMESCALEMOD", "-O3"])
        .args(["-Mdir", "obj", "--top-module", "tb", "-j", "2"])
        .args(defines)
        .args(files)
        .arg(format!("-I{}", top_folder.display()))
        .current_dir(&scratch)
        .output()
        .map_err(|error| format!("verilator: {error}. Run `tests/run`, which installs it."))?;
    if !built.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&built.stderr)));
    }
    for seed in 1..=3 {
        let run = Command::new(scratch.join("obj/Vtb")).arg(format!("+verilator+seed+{seed}")).output();
        let run = run.map_err(|error| format!("{name}: {error}"))?;
        let text = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        if !run.status.success() || !text.contains("ok") {
            return Err(format!("{name}, seed {seed}: {text}"));
        }
    }
    fs::remove_dir_all(scratch).map_err(|error| format!("{name}: {error}"))
}

fn common(name: &str, parameters: &[&str]) {
    let common = folder().join("common");
    let files = [common.join(format!("{name}.v")), common.join(format!("tests/{name}_tb.sv"))];
    bench(&format!("{name}{}", parameters.concat()), parameters, &files, &common);
}

#[test]
fn frames_cross_clocks_whole_in_order_and_without_a_gap_or_are_dropped_and_counted() {
    common("axis_frame_crossing", &["-GDROP=0"]);
    common("axis_frame_crossing", &["-GDROP=0", "-GS_PERIOD=3.1", "-GM_PERIOD=4.0"]);
    common("axis_frame_crossing", &["-GDROP=1", "-GS_PERIOD=3.1", "-GM_PERIOD=4.0"]);
}

#[test]
fn a_frame_whose_source_is_reset_is_dropped_and_the_next_one_is_whole() {
    common("axis_frame_crossing", &["-GDROP=0", "-GCUTS=20"]);
    common("axis_frame_crossing", &["-GDROP=1", "-GCUTS=20", "-GS_PERIOD=3.1", "-GM_PERIOD=4.0"]);
}

#[test]
fn registers_cross_clocks() {
    common("axil_crossing", &[]);
    common("axil_crossing", &["-GS_PERIOD=4.0", "-GM_PERIOD=7.3"]);
}

#[test]
fn interrupts_become_messages_once_nothing_masks_them() {
    common("msix_table", &[]);
}

#[test]
fn the_reduced_card_answers_over_the_pins_of_its_shell() {
    use optireduce_contract::limits::{CONTRACT_VERSION, MAGIC};
    use optireduce_contract::registers::REGISTERS;
    let scratch = scratch("ecp5-card");
    let write = |name: &str, text: &str| {
        let path = scratch.join(name);
        fs::write(&path, text).expect("it can be written");
        path
    };
    let registers: String =
        REGISTERS.iter().map(|register| format!("`define {} 16'h{:x}\n", register.name, register.offset)).collect();
    let values = format!("`define MAGIC_VALUE 32'h{MAGIC:x}\n`define CONTRACT_VALUE 32'd{CONTRACT_VERSION}\n");
    write("registers.vh", &(registers + &values));
    let card = write("card.v", &bitstream::card().unwrap_or_else(|error| panic!("{error}")));
    let ecp5 = folder().join("ecp5-85f");
    bench("ecp5-shell", &[], &[card, ecp5.join("shell.v"), ecp5.join("shell_tb.sv")], &scratch);
    fs::remove_dir_all(scratch).expect("it is there");
}

#[test]
fn the_ecp5_bitstream_is_that_of_its_manifest_and_of_these_sources() {
    assert_eq!(bitstream::check(&folder().join("ecp5-85f")), Ok(None));
}

fn scratch(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("optireduce-boards-{}-{name}", process::id()));
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}
