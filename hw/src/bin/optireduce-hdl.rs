//! `optireduce-hdl`: the card's Verilog and the contract's reference, from the sources.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use optireduce_hw::card::build::Build;
use optireduce_hw::emit::{self, Emittable};
use optireduce_hw::{bitstream, eda, reference, report, rtl};

/// Emits the OptiReduce card as Verilog, and the reference of the contract between card and software.
#[derive(Parser)]
#[command(
    version,
    arg_required_else_help = true,
    after_help = "Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl emit --out target/rtl --block fp_add
  optireduce-hdl contract > contract.md"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes Verilog, one file a block, each with a top module called `top`; the card is smartnic.v.
    #[command(after_help = "Examples:
  optireduce-hdl emit --out target/rtl
  optireduce-hdl emit --out target/rtl --block reduce --block hadamard
  verilator --lint-only -Wno-fatal --top-module top target/rtl/smartnic.v")]
    Emit {
        /// Folder to write to; made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Only this block; may be given more than once [default: all blocks].
        #[arg(long, value_name = "NAME")]
        block: Vec<String>,
    },
    /// Writes the whole card for use without Rust: optireduce_card.v and its ANSI top, optireduce_top.v.
    #[command(after_help = "Examples:
  optireduce-hdl rtl --out hw/rtl
  optireduce-hdl rtl --out hw/rtl --check
  optireduce-hdl rtl --out target/rtl-large --window-log2 14")]
    Rtl {
        /// Folder to write to; made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write nothing; exit code 1 if the folder does not hold just this.
        #[arg(long)]
        check: bool,
        /// log2 of the largest window in beats of 64 bytes [default: that of the simulated card]
        #[arg(long, value_name = "N")]
        window_log2: Option<u32>,
        /// log2 of the largest Hadamard block in elements [default: that of the simulated card]
        #[arg(long, value_name = "N")]
        hadamard_log2: Option<u32>,
    },
    /// Builds the reduced card's bitstream for ECP5, with its manifest; needs yosys, nextpnr-ecp5 and ecppack.
    #[command(after_help = "Examples:
  optireduce-hdl bitstream bitstreams/ecp5-85f
  optireduce-hdl bitstream bitstreams/ecp5-85f --check
  bitstreams/ecp5-85f/build")]
    Bitstream {
        /// The board's folder.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Build nothing; exit code 1 if the bitstream is not that of its manifest, or the manifest not of these sources.
        #[arg(long)]
        check: bool,
        /// Build nothing; write the reduced card's Verilog to this file.
        #[arg(long, value_name = "FILE", conflicts_with = "check")]
        card: Option<PathBuf>,
    },
    /// Prints the contract between card and software as Markdown: registers, queue entries, packet.
    #[command(after_help = "Examples:
  optireduce-hdl contract
  optireduce-hdl contract > contract.md
  optireduce-hdl contract | grep DROP_")]
    Contract,
    /// What blocks cost on an FPGA (yosys, UltraScale+) and how fast they are (nextpnr, ECP5); exit code 1: goal missed.
    #[command(after_help = "Examples:
  optireduce-hdl report
  optireduce-hdl report stage_gate reduce --fmax
  optireduce-hdl report smartnic --json")]
    Report {
        /// Blocks to report on [default: all].
        #[arg(value_name = "BLOCK")]
        blocks: Vec<String>,
        /// The clock frequency too, of all but the whole card.
        #[arg(long)]
        fmax: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("optireduce-hdl: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether what was checked holds.
fn run(cli: Cli) -> Result<bool, String> {
    match cli.command {
        Command::Contract => {
            eda::print(&reference::markdown())?;
            Ok(true)
        }
        Command::Emit { out, block } => {
            let wanted = select(&block)?;
            std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
            for wanted in wanted {
                let path = out.join(format!("{}.v", wanted.name));
                let verilog = wanted.verilog();
                std::fs::write(&path, &verilog).map_err(|error| format!("{}: {error}", path.display()))?;
                println!("{} ({} lines)", path.display(), verilog.lines().count());
            }
            Ok(true)
        }
        Command::Rtl { out, check, window_log2, hadamard_log2 } => {
            let default = Build::default();
            let build = Build {
                window_log2: window_log2.unwrap_or(default.window_log2),
                hadamard_log2: hadamard_log2.unwrap_or(default.hadamard_log2),
            };
            build.check()?;
            let files = rtl::files(&emit::endpoint(build))?;
            if check {
                if let Err(difference) = rtl::check(&out, &files) {
                    eprintln!("{difference}");
                    return Ok(false);
                }
            } else {
                rtl::write(&out, &files)?;
            }
            Ok(true)
        }
        Command::Bitstream { card: Some(path), .. } => {
            std::fs::write(&path, bitstream::card()?).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(true)
        }
        Command::Bitstream { folder, check: true, .. } => match bitstream::check(&folder) {
            Ok(()) => Ok(true),
            Err(difference) => {
                eprintln!("{difference}");
                Ok(false)
            }
        },
        Command::Bitstream { folder, .. } => {
            bitstream::build(&folder)?;
            Ok(true)
        }
        Command::Report { blocks, fmax, json } => report::run(&select(&blocks)?, fmax, json),
    }
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
