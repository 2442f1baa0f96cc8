//! `optireduce-vm`: cards behind an unmodified kernel. See the README.

mod guest;
mod host;
mod image;
mod job;
mod judge;
mod rank;
mod scenario;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use scenario::Places;

/// Demonstrates simulated cards behind an unmodified kernel, in virtual machines
#[derive(Parser)]
#[command(name = "optireduce-vm")]
struct Args {
    /// Folder filled by tests/vm/fetch [default: vm beside the folder of this program]
    #[arg(long, value_name = "FOLDER")]
    packages: Option<PathBuf>,
    /// Leave out Verilated cards and machines that stop
    #[arg(long)]
    short: bool,
    #[command(subcommand)]
    command: Option<Inner>,
}

#[derive(Subcommand)]
enum Inner {
    /// Run one rank of a job
    #[command(hide = true)]
    Rank(rank::RankArgs),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.command {
        Some(Inner::Rank(rank)) => rank::run(&rank),
        None => show(args.packages, args.short),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("optireduce-vm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Converts an error of another crate to text.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn values_of(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn show(packages: Option<PathBuf>, is_short: bool) -> Result<(), String> {
    let program = std::env::current_exe().map_err(text)?;
    let programs = program.parent().ok_or("this program is in no folder")?.to_path_buf();
    let packages = packages.or_else(|| Some(programs.parent()?.join("vm"))).ok_or("no folder for packages")?;
    if !packages.join("ready").exists() {
        return Err(format!(
            "{} does not have QEMU and a kernel; download them (60 MB): tests/vm/fetch {0}",
            packages.display()
        ));
    }
    if !packages.join("optireduce-nic").exists() {
        return Err(format!("{0}/optireduce-nic is missing; build it: tests/vm/static {0}", packages.display()));
    }
    for name in ["optireduce", "optireduce-sim"] {
        if !programs.join(name).exists() {
            return Err(format!(
                "{} is missing; build it: cargo build -p optireduce-cli -p optireduce-vm -p optireduce-sim --features \
                 optireduce-sim/serve",
                programs.join(name).display()
            ));
        }
    }
    host::enter()?;
    let scratch = tempfile::Builder::new().prefix("optireduce-vm").tempdir().map_err(text)?;
    scenario::run(Places { packages, programs, scratch: scratch.path().into() }, is_short)
}
