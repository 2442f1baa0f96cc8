//! `optireduce-hdl`: the card's Verilog and the contract's reference, from the sources.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use optireduce_hw::{emit, reference};

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
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("optireduce-hdl: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> Result<(), String> {
    match cli.command {
        Command::Contract => {
            use std::io::Write;
            match std::io::stdout().write_all(reference::markdown().as_bytes()) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    Err(format!("standard output: {error}"))
                }
                _ => Ok(()),
            }
        }
        Command::Emit { out, block } => {
            let known = emit::BLOCKS.iter().map(|block| block.name);
            if let Some(unknown) = block.iter().find(|name| !known.clone().any(|known| known == name.as_str())) {
                let names: Vec<_> = known.collect();
                return Err(format!("--block {unknown}: no such block, expected one of {}", names.join(", ")));
            }
            std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
            for wanted in emit::BLOCKS.iter().filter(|b| block.is_empty() || block.iter().any(|name| name == b.name)) {
                let path = out.join(format!("{}.v", wanted.name));
                let verilog = wanted.verilog();
                std::fs::write(&path, &verilog).map_err(|error| format!("{}: {error}", path.display()))?;
                println!("{} ({} lines)", path.display(), verilog.lines().count());
            }
            Ok(())
        }
    }
}
