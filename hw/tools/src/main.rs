//! The command `optireduce-hdl`: writes the card's Verilog and the contract's reference, and checks the hardware description.
//!
//! Exit codes: 0 done; 1 it ran, and a check failed; 2 it could not run (arguments, input, a missing tool).

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use optireduce_hdl::checks::lint;
use optireduce_hdl::checks::testfloat::{BLOCKS, Checkable, Engine, Outcome};
use optireduce_hdl::flows::prove::{self, PROOFS, Proof};
use optireduce_hdl::flows::{bitstream, eda, report};
use optireduce_hdl::reference::Format;
use optireduce_hdl::verilog::emit::{self, Emittable};
use optireduce_hdl::verilog::rtl;
use optireduce_hw::card::build::Build;
use serde::Serialize;

/// Writes, checks, proves and synthesises the Verilog of the OptiReduce card
#[derive(Parser)]
#[command(version, arg_required_else_help = true, override_usage = "optireduce-hdl <COMMAND> [OPTIONS]", after_help = HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "Tools:
  emit, rtl, contract and lint need none; check --engine verilator needs Verilator.
  prove needs yosys and z3; report needs yosys, with --fmax nextpnr-ecp5 too; bitstream needs all of yosys,
  nextpnr-ecp5 and ecppack. yosys must be 0.40 or later. tests/run installs whatever is missing.

Exit codes: 0 done; 1 a check failed, a proof does not hold or a goal is missed; 2 could not run.
Results go to standard output, progress and messages to standard error.

Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl check fp32_add --vectors hw/tools/tests/vectors/f32_add.txt.gz --engine verilator
  optireduce-hdl prove fifo submission";

#[derive(Subcommand)]
enum Command {
    /// Write Verilog, one file per block; each has a top module called `top`, the card is checked_nic.v
    #[command(after_help = "Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl emit --out target/rtl --block reduce --block hadamard
  verilator --lint-only -Wno-fatal --top-module top target/rtl/checked_nic.v")]
    Emit {
        /// Folder to write to; created if it does not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write only this block; may be repeated [default: all blocks]
        #[arg(long, value_name = "NAME")]
        block: Vec<String>,
    },
    /// Write the whole card for use without Rust: optireduce_card.v, and optireduce_top.v with an ANSI port list
    #[command(after_help = "Examples:
  optireduce-hdl rtl --out hw/rtl
  optireduce-hdl rtl --out hw/rtl --check
  optireduce-hdl rtl --out target/rtl-large --window-log2 14")]
    Rtl {
        /// Folder to write to; created if it does not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write nothing; exit with 1 unless the folder holds exactly what would be written
        #[arg(long)]
        check: bool,
        /// log2 of the largest window in beats of 64 bytes, 7 to 14 [default: 10, as simulated]
        #[arg(long, value_name = "N", help_heading = "Build parameters")]
        window_log2: Option<u32>,
        /// log2 of the largest Hadamard block in elements: 8, 10, 12 or 14 [default: 12, as simulated]
        #[arg(long, value_name = "N", help_heading = "Build parameters")]
        hadamard_log2: Option<u32>,
    },
    /// Print the contract between card and software: registers, queue entries, packet
    #[command(after_help = "Examples:
  optireduce-hdl contract | grep DROP_
  optireduce-hdl contract --format c > optireduce_card.h
  optireduce-hdl contract --format wireshark > ubt.lua && tshark -X lua_script:ubt.lua -i eth0")]
    Contract {
        /// In which form
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// Find expressions that rust-hdl simulates one way and prints as Verilog that does another
    ///
    /// Reads every kernel (#[hdl_gen] fn) of Rust sources. Prints file:line:column, the class, the expression, and what to
    /// write instead. Exits with 0 if nothing is found, 1 if something is.
    #[command(after_help = LINT_HELP, after_long_help = LINT_HELP)]
    Lint {
        /// Rust files, or folders of them [default: the card's sources]
        paths: Vec<PathBuf>,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a file of test vectors through an arithmetic block, one vector per cycle
    ///
    /// Prints how many results agree, and the first that does not. Exits with 0 if all agree, 1 if one does not.
    #[command(after_help = CHECK_EXAMPLES, after_long_help = CHECK_EXAMPLES)]
    Check {
        /// Block to check
        #[arg(value_parser = PossibleValuesParser::new(BLOCKS.iter().map(|block| block.name)))]
        block: String,
        /// File of vectors, one per line in hexadecimal, as Berkeley TestFloat writes them: a b expected flags (conversions
        /// have no b); plain or gzip. Flags are not compared, and all NaNs count as equal
        #[arg(long, value_name = "FILE")]
        vectors: PathBuf,
        /// What runs the block
        #[arg(long, value_enum, default_value_t = Engine::Rtl)]
        engine: Engine,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Prove properties of the Verilog for all inputs and all time, and refute mutants of it; minutes
    #[command(
        after_help = "Exits with 1 if a proof does not hold or a mutant is not refuted. A result that is still current
is taken from target/eda.

Examples:
  optireduce-hdl prove
  optireduce-hdl prove submission stage_gates
  optireduce-hdl prove --json"
    )]
    Prove {
        /// Proofs to run [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Report what blocks cost on UltraScale+ (yosys) and how fast they are on ECP5 (nextpnr); minutes
    #[command(after_help = "Exits with 1 if a goal is missed. A result that is still current is taken from target/eda.

Examples:
  optireduce-hdl report
  optireduce-hdl report stage_gates reduce --fmax
  optireduce-hdl report checked_nic --json")]
    Report {
        /// Blocks to report on [default: all]
        #[arg(value_name = "BLOCK")]
        blocks: Vec<String>,
        /// Report the clock frequency too, for blocks that fit into the ECP5
        #[arg(long)]
        fmax: bool,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Build the reduced card's ECP5 bitstream and its manifest; half an hour to an hour
    #[command(after_help = "Examples:
  optireduce-hdl bitstream bitstreams/ecp5-85f
  optireduce-hdl bitstream bitstreams/ecp5-85f --check
  optireduce-hdl bitstream bitstreams/ecp5-85f --card target/card.v")]
    Bitstream {
        /// The board's folder: bitstreams/ecp5-85f
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Build nothing; exit with 1 unless bitstream, manifest and sources belong together
        #[arg(long)]
        check: bool,
        /// Build nothing; write the reduced card's Verilog to this file
        #[arg(long, value_name = "FILE", conflicts_with = "check")]
        card: Option<PathBuf>,
    },
}

const CHECK_EXAMPLES: &str = "Examples:
  optireduce-hdl check fp32_add --vectors hw/tools/tests/vectors/f32_add.txt.gz
  optireduce-hdl check fp32_mul --vectors hw/tools/tests/vectors/f32_mul.txt.gz --engine verilator --json
  testfloat_gen f32_to_i32 -rnear_even > v.txt && optireduce-hdl check fp32_to_int32 --vectors v.txt";

const LINT_HELP: &str = "Classes, each with an example (a, b: 8 bits):
  cast-of-sum        bit_cast_w::<9, 8>(a + b)   the carry: lost in Rust, kept in Verilog; also - and *
  compare-sum        (a - 1) > b                 Rust wraps at 8 bits, Verilog at 32 or more; also + * <<
  compare-not        !a == 0                     Verilog sets the bits above the eight first
  cast-of-not        bit_cast_w::<16, 8>(!a)     the same
  bit-op-precedence  a & b == b                  Rust compares last, Verilog first
  inclusive-range    for i in 0..=2              three turns in Rust, two in Verilog
  slice-or-shift-of-expression                   bits above the eight are seen, or shifted in, or no Verilog at all:
                     (a + b).get_bits::<4>(0), (a + 1).any(), bit_cast_w::<16, 8>(a << 4), (a - 1) >> 1, a >> (b + 1)

Examples:
  optireduce-hdl lint
  optireduce-hdl lint hw/src/card my_block.rs
  optireduce-hdl lint --json";

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eda::progress(&format!("optireduce-hdl: {message}"));
            ExitCode::from(2)
        }
    }
}

/// The proofs called `names`, or all.
fn select_proofs(names: &[String]) -> Result<Vec<&'static Proof>, String> {
    let known = PROOFS.iter();
    if let Some(unknown) = names.iter().find(|name| !known.clone().any(|known| known.name == name.as_str())) {
        let known: Vec<_> = known.map(|proof| proof.name).collect();
        return Err(format!("{unknown}: no such proof, expected one of {}", known.join(", ")));
    }
    Ok(known.filter(|proof| names.is_empty() || names.iter().any(|name| name == proof.name)).collect())
}

/// Whether what was checked holds.
fn run(cli: Cli) -> Result<bool, String> {
    match cli.command {
        Command::Contract { format } => {
            eda::print(&format.text())?;
            Ok(true)
        }
        Command::Check { block, vectors, engine, json } => {
            let block = Checkable::named(&block)?;
            let outcome = block.check(engine, &block.read(&vectors)?)?;
            eda::print(&if json { to_json(&outcome)? } else { check_text(block, &outcome) })?;
            Ok(outcome.first_difference.is_none())
        }
        Command::Lint { paths, json } => {
            let report = lint::paths(&paths)?;
            eda::print(&if json { to_json(&report)? } else { report.to_string() })?;
            Ok(report.findings.is_empty())
        }
        Command::Emit { out, block } => {
            let wanted = select(&block)?;
            std::fs::create_dir_all(&out)
                .map_err(|error| format!("{}: cannot make this folder: {error}", out.display()))?;
            for wanted in wanted {
                let path = out.join(format!("{}.v", wanted.name));
                let verilog = wanted.verilog();
                std::fs::write(&path, &verilog).map_err(|error| format!("{}: {error}", path.display()))?;
                eda::print(&format!("{} ({} lines)\n", path.display(), verilog.lines().count()))?;
            }
            Ok(true)
        }
        Command::Prove { names, json } => prove::run(&select_proofs(&names)?, json),
        Command::Rtl { out, check, window_log2, hadamard_log2 } => {
            let default = Build::default();
            let build = Build {
                window_log2: window_log2.unwrap_or(default.window_log2),
                hadamard_log2: hadamard_log2.unwrap_or(default.hadamard_log2),
            };
            build.check()?;
            let files = rtl::files(&emit::endpoint(build))?;
            if check {
                return Ok(is_current(rtl::check(&out, &files)?));
            }
            rtl::write(&out, &files)?;
            Ok(true)
        }
        Command::Bitstream { card: Some(path), .. } => {
            std::fs::write(&path, bitstream::card()?).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(true)
        }
        Command::Bitstream { folder, check: true, .. } => Ok(is_current(bitstream::check(&folder)?)),
        Command::Bitstream { folder, .. } => {
            bitstream::build(&folder)?;
            Ok(true)
        }
        Command::Report { blocks, fmax, json } => report::run(&select(&blocks)?, fmax, json),
    }
}

/// Whether there is no difference; one is shown.
fn is_current(difference: Option<String>) -> bool {
    if let Some(difference) = &difference {
        eda::progress(difference);
    }
    difference.is_none()
}

fn check_text(block: &Checkable, outcome: &Outcome) -> String {
    let Outcome { engine, vectors, agree, .. } = outcome;
    let engine = format!("{engine:?}").to_lowercase();
    let mut text = format!("{} on {engine}: {agree} of {vectors} vectors agree\n", block.name);
    if let Some(first) = &outcome.first_difference {
        let operands = block.operands.iter().zip(&first.operands).map(|(name, value)| format!("{name} = {value}"));
        let operands = operands.collect::<Vec<_>>().join(", ");
        let (line, found, expected) = (first.line, &first.found, &first.expected);
        text += &format!("first difference, line {line}: {operands}: found {found}, expected {expected}\n");
    }
    text
}

fn to_json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// The blocks called `names`, or all.
fn select(names: &[String]) -> Result<Vec<&'static Emittable>, String> {
    let known = emit::BLOCKS.iter();
    if let Some(unknown) = names.iter().find(|name| !known.clone().any(|known| known.name == name.as_str())) {
        let known: Vec<_> = known.map(|block| block.name).collect();
        return Err(format!("{unknown}: no such block, expected one of {}", known.join(", ")));
    }
    Ok(known.filter(|block| names.is_empty() || names.iter().any(|name| name == block.name)).collect())
}
