//! `optireduce-hdl`: the card's Verilog and the contract's reference, from the sources.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use optireduce_hw::emit::{self, Emittable};
use optireduce_hw::{eda, reference, report};

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
