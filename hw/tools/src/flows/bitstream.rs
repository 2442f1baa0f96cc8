//! The bitstream of the reduced card for ECP5, by open tools (`bitstreams/ecp5-85f/build`).
//!
//! The reduced card has windows of 8 KiB and Hadamard blocks of 256, and shares one unit among the
//! sixteen lanes of every adder and multiplier ([`fold`]). The target is an LFE5U-85F of speed
//! grade 8 in CABGA756. A build takes up to an hour, so the check only compares hashes.
//!
//! Limits: built, but never run on a board.

use crate::flows::eda::{self, Job, Tool};
use crate::verilog::fold::{self, Lane, Substitute};
use crate::verilog::{emit, rtl};
use optireduce_contract::limits::CONTRACT_VERSION;
use optireduce_hw::arith::fp_add::{self, FpAdd};
use optireduce_hw::arith::fp_mul::{self, Multiply, Unpack};
use optireduce_hw::arith::fp_to_int::{self, FpToScaledInt};
use optireduce_hw::arith::int_to_fp::{self, ScaledIntToFp};
use optireduce_hw::card::build::Build;
use optireduce_hw::hadamard::butterflies::Butterflies;
use optireduce_hw::hadamard::value_by_value::ValueByValue;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub(crate) const BUILD: Build = Build { window_log2: 7, hadamard_log2: 8 };
const PACE: usize = 16;
const TOOLS: [Tool; 3] = [Tool::Yosys, Tool::Nextpnr, Tool::Ecppack];
const SYNTHESIS: &str = "read_verilog -sv card.v shell.v; synth_ecp5 -top shell; techmap -map tie.v; clean; \
                         write_json shell.json; tee -q -o stat.json stat -json";
const TIE: &str = include_str!("tie.v");
/// Cell types, and the resources that each uses.
type Cells = &'static [(&'static str, u64)];
/// Resources of an LFE5U-85F. A carry cell uses two LUTs. A distributed memory uses four, and its
/// write port blocks two more.
const DEVICE: &[(&str, u64, Cells)] = &[
    ("LUT", 83_640, &[("LUT4", 1), ("CCU2C", 2), ("TRELLIS_DPR16X4", 6)]),
    ("FF", 83_640, &[("TRELLIS_FF", 1)]),
    ("block RAM", 208, &[("DP16KD", 1)]),
    ("multipliers", 156, &[("MULT18X18D", 1)]),
];
/// Options of place and route. The default placer `heap` needs two fifths more wire than `static`
/// for this card's wide buses, and then no router succeeds. Routing also depends on the seed.
const PLACE: &[&str] = &[
    "--no-tmdriv",
    "--placer",
    "static",
    "--router",
    "router2",
    "--85k",
    "--speed",
    "8",
    "--package",
    "CABGA756",
    "--lpf",
    "shell.lpf",
    "--lpf-allow-unconstrained",
    "--timing-allow-fail",
    "--seed",
    "3",
    "--json",
    "shell.json",
    "--textcfg",
    "shell.config",
    "--report",
    "report.json",
];
const PACK: &[&str] = &["--compress", "--input", "shell.config", "--bit", "shell.bit"];

fn lanes() -> Vec<Lane> {
    let unit = |verilog, latency| Lane { verilog, latency, late: &[] };
    let mut lanes = hadamard_lanes();
    lanes.push(unit(emit::of::<FpAdd>(), fp_add::LATENCY));
    lanes.push(unit(emit::of::<Unpack>(), 2));
    lanes.push(unit(emit::of::<Multiply>(), fp_mul::LATENCY - 2));
    lanes
}

pub(crate) fn hadamard_lanes() -> Vec<Lane> {
    let late = &["scale", "negate", "special"];
    vec![
        Lane { verilog: emit::of::<FpToScaledInt>(), latency: fp_to_int::LATENCY, late: &[] },
        Lane { verilog: emit::of::<ScaledIntToFp>(), latency: int_to_fp::LATENCY, late },
    ]
}

/// Butterflies of a Hadamard engine for blocks of 256, replaced by a serial unit.
pub(crate) fn butterflies() -> Substitute {
    Substitute { verilog: emit::of_built(Box::new(Butterflies::new(8))), by: emit::of::<ValueByValue>() }
}

/// Returns the Verilog of the reduced card, with top module `optireduce_card`.
pub fn card() -> Result<String, String> {
    Ok(rtl::renamed(&fold::folded(&emit::smartnic(BUILD), &lanes(), &[butterflies()], PACE)?))
}

struct Sources {
    folder: PathBuf,
    card: String,
    shell: String,
    constraints: String,
}

impl Sources {
    fn read(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|error| {
                format!("{}: {error}; expected the folder of a board, bitstreams/ecp5-85f", path.display())
            })
        };
        // Before the card, since generating it takes seconds.
        let (shell, constraints) = (read("shell.v")?, read("shell.lpf")?);
        Ok(Self { folder: folder.to_owned(), card: card()?, shell, constraints })
    }

    fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        for text in [&self.card, &self.shell, &self.constraints, TIE] {
            hasher.update(text.len().to_le_bytes());
            hasher.update(text);
        }
        hex(&hasher.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Builds the bitstream in `folder` (`bitstreams/ecp5-85f`) and writes its manifest.
///
/// # Errors
/// If sources are not committed, a tool is missing or fails, or the card does not fit.
pub fn build(folder: &Path) -> Result<(), String> {
    eda::demand(&TOOLS)?;
    let sources = Sources::read(folder)?;
    let git = commit(folder)?;
    let inputs = [
        ("card.v", sources.card.as_str()),
        ("shell.v", sources.shell.as_str()),
        ("shell.lpf", sources.constraints.as_str()),
        ("tie.v", TIE),
    ];
    let recipe = format!("{SYNTHESIS}{PLACE:?}{PACK:?}");
    let mut job = Job::new("ecp5-85f", "bitstream", &inputs, &recipe, &TOOLS)?;
    if !job.is_done() {
        let start = Instant::now();
        let stage = |what: &str| eda::progress(&format!("{:3} min: {what}", start.elapsed().as_secs() / 60));
        stage(&format!("synthesis in {}", job.path("").display()));
        job.yosys(SYNTHESIS)?;
        stage(&fits(&job.read("stat.json")?)?);
        stage("place and route");
        job.succeed(Tool::Nextpnr, PLACE, "nextpnr.log")?;
        stage("bitstream");
        job.succeed(Tool::Ecppack, PACK, "ecppack.log")?;
        job = job.keep()?;
        stage("done");
    }
    let bitstream =
        fs::read(job.path("shell.bit")).map_err(|error| format!("{}: {error}", job.path("shell.bit").display()))?;
    let report: Value =
        serde_json::from_str(&job.read("report.json")?).map_err(|error| format!("report.json: {error}"))?;
    let manifest = manifest(&sources.sha256(), &hex(&Sha256::digest(&bitstream)), &git, &report)?;
    for (name, bytes) in [("shell.bit", bitstream.as_slice()), ("manifest.toml", manifest.as_bytes())] {
        let path = sources.folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn fits(stat: &str) -> Result<String, String> {
    let stat: Value = serde_json::from_str(stat).map_err(|error| format!("stat.json: {error}"))?;
    let cells = stat["design"]["num_cells_by_type"].as_object().ok_or("stat.json: no design.num_cells_by_type")?;
    let mut text = Vec::new();
    for (what, there, kinds) in DEVICE {
        let used: u64 =
            kinds.iter().map(|(kind, each)| cells.get(*kind).and_then(Value::as_u64).unwrap_or(0) * each).sum();
        if used > *there {
            return Err(format!("the reduced card does not fit: it needs {used} {what}, an LFE5U-85F has {there}"));
        }
        text.push(format!("{used} of {there} {what}"));
    }
    Ok(text.join(", "))
}

fn manifest(sources: &str, sha256: &str, git: &str, report: &Value) -> Result<String, String> {
    let used = |cell: &str| {
        let used = report["utilization"][cell]["used"].as_u64();
        used.ok_or_else(|| format!("report.json: no utilization.{cell}.used"))
    };
    let clocks = report["fmax"].as_object().into_iter().flatten();
    let fmax =
        clocks.filter_map(|(_, clock)| clock["achieved"].as_f64()).reduce(f64::min).ok_or("report.json: no fmax")?;
    Ok(format!(
        "# Written by bitstreams/ecp5-85f/build. Built; not run on a board.\n\
         board = \"ecp5-85f\"\n\
         part = \"LFE5U-85F-8BG756C\"\n\
         contract = {CONTRACT_VERSION}\n\
         state = \"built\"\n\
         git = \"{git}\"\n\
         # Hashes of shell.bit and its sources: the reduced card's Verilog, shell.v, shell.lpf, tie.v.\n\
         sha256 = \"{sha256}\"\n\
         sources_sha256 = \"{sources}\"\n\
         tool = \"yosys, nextpnr-ecp5, ecppack\"\n\
         tool_version = \"{}; {}\"\n\
         fmax_mhz = {fmax:.2}\n\
         \n\
         [utilisation]\n\
         lut = {}\n\
         ff = {}\n\
         bram = {}\n\
         dsp = {}\n",
        Tool::Yosys.version()?,
        Tool::Nextpnr.version()?.replace('"', ""),
        used("TRELLIS_COMB")?,
        used("TRELLIS_FF")?,
        used("DP16KD")?,
        used("MULT18X18D")?,
    ))
}

/// Returns the commit of the sources, or an error if they have uncommitted changes.
fn commit(folder: &Path) -> Result<String, String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
        let output = output.map_err(|error| format!("git: {error}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim())),
        }
    };
    let changed = git(&["status", "--porcelain", "--", ":/hw", "shell.v", "shell.lpf"])?;
    match changed.lines().next() {
        Some(line) => {
            Err(format!("{}: commit the sources first: the manifest names their commit ({line})", folder.display()))
        }
        None => git(&["rev-parse", "HEAD"]),
    }
}

/// Returns the first difference of the bitstream in `folder` from its manifest, or of the manifest
/// from these sources.
pub fn check(folder: &Path) -> Result<Option<String>, String> {
    let path = folder.join("manifest.toml");
    let manifest = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let bitstream = folder.join("shell.bit");
    if manifest.lines().any(|line| line == "state = \"not built here\"") {
        if bitstream.exists() {
            let path = bitstream.display();
            return Ok(Some(format!("{path}: exists, but its manifest reports that none was built")));
        }
        return Ok(None);
    }
    let bytes = fs::read(&bitstream).map_err(|error| format!("{}: {error}", bitstream.display()))?;
    let expected = [
        ("contract", CONTRACT_VERSION.to_string()),
        ("sha256", hex(&Sha256::digest(&bytes))),
        ("sources_sha256", Sources::read(folder)?.sha256()),
    ];
    for (field, expected) in expected {
        let values = manifest.lines().filter_map(|line| line.split_once(" = "));
        let found = values.filter(|(name, _)| *name == field).map(|(_, value)| value.trim_matches('"')).next();
        if found != Some(expected.as_str()) {
            return Ok(Some(format!(
                "{}: {field} is {}, expected {expected}: the bitstream was not built from these sources. Rebuild it (up to an hour):\n  \
                 bitstreams/ecp5-85f/build",
                path.display(),
                found.unwrap_or("missing"),
            )));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_hw::cosim::Bench;
    use optireduce_hw::hdl::prelude::*;
    use optireduce_hw::mem::ram::LutRam;
    use optireduce_hw::random::Random;

    /// Maps an eight-word memory, checks its address pins, and returns a model of its cells.
    fn tied(verilog: &str) -> String {
        const MAP: &str = "read_verilog -sv block.v; synth_ecp5 -top top; techmap -map tie.v; clean; \
                           setparam -set INITVAL 64'h0 t:TRELLIS_DPR16X4; write_verilog -noattr cells.v";
        const MODEL: &str = "read_verilog cells.v; read_verilog -D NO_INCLUDES +/lattice/cells_sim_ecp5.v; \
                             hierarchy -top top; proc; flatten; clean; write_verilog -noattr model.v";
        let inputs = [("block.v", verilog), ("tie.v", TIE)];
        let mut job =
            Job::new("lut_ram", "tie", &inputs, &format!("{MAP}{MODEL}"), &[Tool::Yosys]).expect("yosys is there");
        if !job.is_done() {
            job.yosys(MAP).and_then(|()| job.yosys(MODEL)).expect("it is a memory");
            job = job.keep().expect("it can be kept");
        }
        let cells = job.read("cells.v").expect("yosys wrote it");
        let pins = |pin| cells.lines().filter(move |line| line.trim().starts_with(pin));
        for (pin, address) in [(".RAD", "read_address"), (".WAD", "write_address")] {
            let wired = format!("{pin}({{ {address}[0], {address} }}),");
            assert!(pins(pin).count() == 2 && pins(pin).all(|line| line.trim() == wired), "{wired}\n{cells}");
        }
        // Flattening leaves unused signals behind.
        format!("/* verilator lint_off UNUSEDSIGNAL */\n{}", job.read("model.v").expect("yosys wrote it"))
    }

    #[test]
    fn a_memory_with_tied_addresses_holds_the_same_words() {
        let mut random = Random::new(76);
        let mut bench = Bench::recording(LutRam::<W<8>, 3>::default());
        for _ in 0..500 {
            bench.block.read_address.next = bits_w(random.below(8));
            bench.block.write_address.next = bits_w(random.below(8));
            bench.block.write_data.next = bits_w(random.below(256));
            bench.block.write_enable.next = random.one_in(2);
            bench.tick();
        }
        bench.verify_rewritten("tie", 1, |verilog| tied(&verilog));
    }

    #[test]
    fn what_does_not_fit_is_said_before_it_is_placed() {
        let stat = |luts: u64, rams: u64| {
            format!(
                r#"{{"design":{{"num_cells_by_type":{{"LUT4":{luts},"CCU2C":100,"TRELLIS_DPR16X4":10,"DP16KD":{rams}}}}}}}"#
            )
        };
        assert!(fits(&stat(83_380, 208)).is_ok_and(|text| text.starts_with("83640 of 83640 LUT, 0 of")));
        assert!(fits(&stat(83_381, 208)).is_err_and(|error| error.contains("83641 LUT")));
        assert!(fits(&stat(1, 209)).is_err_and(|error| error.contains("209 block RAM")));
        assert!(fits("{}").is_err_and(|error| error.contains("num_cells_by_type")));
    }
}
