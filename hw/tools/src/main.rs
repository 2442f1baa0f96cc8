//! The command `optireduce-hdl`.
//!
//! Exit codes: 0 done, 1 a check failed, 2 could not run (arguments, input, a missing tool).

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
  check      Verilator, with --engine verilator
  prove      yosys, z3
  report     yosys, and nextpnr-ecp5 with --fmax
  bitstream  yosys, nextpnr-ecp5, ecppack
The other commands need none. yosys must be 0.40 or later. tests/run installs
missing tools. Results go to stdout, progress and messages to stderr.

Exit codes:
  0  done
  1  a check failed, a proof does not hold or a goal is missed
  2  could not run: bad arguments or files, missing tools

Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl check fp32_add --vectors hw/tools/tests/vectors/f32_add.txt.gz
  optireduce-hdl prove fifo submission";

#[derive(Subcommand)]
enum Command {
    /// Write Verilog, one file per block; the card is checked_nic.v
    ///
    /// Each file has the top module `top`.
    #[command(after_help = "Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl emit --out target/rtl --block reduce --block hadamard
  verilator --lint-only -Wno-fatal --top-module top target/rtl/checked_nic.v")]
    Emit {
        /// Folder to write to; created if it does not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write only this block; repeatable [default: all blocks]
        #[arg(long, value_name = "NAME")]
        block: Vec<String>,
    },
    /// Write the card's Verilog for use without Rust
    ///
    /// Writes optireduce_card.v, and optireduce_top.v with ANSI ports.
    #[command(after_help = "Examples:
  optireduce-hdl rtl --out hw/rtl
  optireduce-hdl rtl --out hw/rtl --check
  optireduce-hdl rtl --out target/rtl-large --window-log2 14")]
    Rtl {
        /// Folder to write to; created if it does not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write nothing; exit with 1 unless the files in the folder are current
        #[arg(long)]
        check: bool,
        /// log2 of the largest window in beats of 64 bytes, 7 to 14 [default: 10, as simulated]
        #[arg(long, value_name = "N", help_heading = "Build parameters")]
        window_log2: Option<u32>,
        /// log2 of the largest Hadamard block in elements, 8, 10, 12 or 14 [default: 12, as
        /// simulated]
        #[arg(long, value_name = "N", help_heading = "Build parameters")]
        hadamard_log2: Option<u32>,
    },
    /// Print the contract of card and software: registers, queues, packets
    #[command(after_help = "Examples:
  optireduce-hdl contract | grep DROP_
  optireduce-hdl contract --format c > optireduce_card.h
  optireduce-hdl contract --format wireshark > ubt.lua")]
    Contract {
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
    },
    /// Find expressions that Verilog and simulation evaluate differently
    ///
    /// Reads every kernel (#[hdl_gen] fn) of Rust sources. Prints file:line:column, the class, the
    /// expression and a remedy. Exits with 1 if it finds any.
    #[command(after_help = LINT_HELP, after_long_help = LINT_HELP)]
    Lint {
        /// Rust files, or folders of them [default: the card's sources]
        paths: Vec<PathBuf>,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run test vectors through an arithmetic block
    ///
    /// One vector enters per cycle. Prints the number of results that agree, and the first that
    /// differs. Exits with 1 unless all agree.
    #[command(after_help = CHECK_EXAMPLES, after_long_help = CHECK_EXAMPLES)]
    Check {
        /// Block to check
        #[arg(value_parser = PossibleValuesParser::new(BLOCKS.iter().map(|block| block.name)))]
        block: String,
        /// File of TestFloat vectors, plain or gzip
        ///
        /// A line is `a b expected flags` in hexadecimal; conversions have no b. Flags are not
        /// compared, and all NaNs are equal.
        #[arg(long, value_name = "FILE")]
        vectors: PathBuf,
        /// Implementation that runs the block
        #[arg(long, value_enum, default_value_t = Engine::Rtl)]
        engine: Engine,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Prove properties of the Verilog and refute mutants; takes minutes
    ///
    /// A proof covers all inputs and times.
    #[command(after_help = "Exits with 1 if a proof does not hold or a mutant is not refuted. Current results
are reused from target/eda.

Examples:
  optireduce-hdl prove
  optireduce-hdl prove submission stage_gates
  optireduce-hdl prove --json")]
    Prove {
        /// Proofs to run [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Report resources and clock frequency; takes minutes
    ///
    /// Resources on UltraScale+ are from yosys, clock frequencies on ECP5 from nextpnr.
    #[command(after_help = "Exits with 1 if a goal is missed. Current results are reused from target/eda.

Examples:
  optireduce-hdl report
  optireduce-hdl report stage_gates reduce --fmax
  optireduce-hdl report checked_nic --json")]
    Report {
        /// Blocks to report on [default: all]
        #[arg(value_name = "BLOCK")]
        blocks: Vec<String>,
        /// Also report the clock frequency, for blocks that fit into the ECP5
        #[arg(long)]
        fmax: bool,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Build the reduced card's ECP5 bitstream; takes up to an hour
    ///
    /// Writes the bitstream and its manifest.
    #[command(after_help = "Examples:
  optireduce-hdl bitstream bitstreams/ecp5-85f
  optireduce-hdl bitstream bitstreams/ecp5-85f --check
  optireduce-hdl bitstream bitstreams/ecp5-85f --card target/card.v")]
    Bitstream {
        /// Folder of the board, such as bitstreams/ecp5-85f
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Build nothing; exit with 1 unless bitstream, manifest and sources match
        #[arg(long)]
        check: bool,
        /// Build nothing; write the reduced card's Verilog to this file
        #[arg(long, value_name = "FILE", conflicts_with = "check")]
        card: Option<PathBuf>,
    },
}

const CHECK_EXAMPLES: &str = "Examples:
  optireduce-hdl check fp32_add --vectors hw/tools/tests/vectors/f32_add.txt.gz
  optireduce-hdl check fp32_mul --vectors v.txt.gz --engine verilator --json
  optireduce-hdl check fp32_to_int32 --vectors v.txt  # testfloat_gen f32_to_i32";

const LINT_HELP: &str = "Classes, each with an example (a, b: 8 bits):
  cast-of-sum (also - and *)
    bit_cast_w::<9, 8>(a + b)  the carry is lost in Rust, kept in Verilog
  compare-sum (also + * <<)
    (a - 1) > b                Rust wraps at 8 bits, Verilog at 32 or more
  compare-not
    !a == 0                    Verilog also inverts bits above the eight
  cast-of-not
    bit_cast_w::<16, 8>(!a)    the same
  bit-op-precedence
    a & b == b                 Rust compares last, Verilog first
  inclusive-range
    for i in 0..=2             three iterations in Rust, two in Verilog
  slice-or-shift-of-expression
    (a + b).get_bits::<4>(0)   Verilog keeps bits above the eight, or is invalid;
                               also (a + 1).any(), bit_cast_w::<16, 8>(a << 4),
                               (a - 1) >> 1, a >> (b + 1)

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

fn select_proofs(names: &[String]) -> Result<Vec<&'static Proof>, String> {
    let known = PROOFS.iter();
    if let Some(unknown) = names.iter().find(|name| !known.clone().any(|known| known.name == name.as_str())) {
        let known: Vec<_> = known.map(|proof| proof.name).collect();
        return Err(format!("{unknown}: no such proof, expected one of {}", known.join(", ")));
    }
    Ok(known.filter(|proof| names.is_empty() || names.iter().any(|name| name == proof.name)).collect())
}

/// Returns whether everything that was checked holds.
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

fn select(names: &[String]) -> Result<Vec<&'static Emittable>, String> {
    let known = emit::BLOCKS.iter();
    if let Some(unknown) = names.iter().find(|name| !known.clone().any(|known| known.name == name.as_str())) {
        let known: Vec<_> = known.map(|block| block.name).collect();
        return Err(format!("{unknown}: no such block, expected one of {}", known.join(", ")));
    }
    Ok(known.filter(|block| names.is_empty() || names.iter().any(|name| name == block.name)).collect())
}
