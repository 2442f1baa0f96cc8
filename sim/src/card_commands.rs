//! The commands `optireduce-sim check-bus` and `optireduce-sim demo`.

use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};
use optireduce_driver::CardBus;

use crate::check::bus::{DMA_BYTES, check_bus};
use crate::error::SimError;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = CHECK_EXAMPLES, after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckBusArgs {
    /// PCI address or vfio-user socket of the card; a job that uses the card is aborted
    #[arg(value_name = "CARD")]
    card: String,
    /// Bound on each stage, in ms, 1 to 4000; simulated Verilog needs 100
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4000))]
    bound_ms: u32,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

const CHECK_EXAMPLES: &str = "Exit codes:
  0  the card obeys all rules
  1  the card breaks a rule
  2  could not run: bad arguments, no card

Examples:
  optireduce-sim check-bus 0000:5e:00.0
  optireduce-sim check-bus /tmp/card.sock --json";

/// Returns the text to print.
///
/// # Errors
/// The first broken rule, or an error if the card cannot be opened.
pub(crate) fn check(args: &CheckBusArgs) -> Result<String, SimError> {
    let CheckBusArgs { card, bound_ms, json } = args;
    let open = || CardBus::open(card, DMA_BYTES);
    // A missing card is a wrong argument, not a failed check.
    drop(open().map_err(|error| SimError::Argument(error.to_string()))?);
    let rules = check_bus(bound_ms * 1_000_000, open).map_err(|broken| SimError::Check(format!("{card}: {broken}")))?;
    if *json {
        return Ok(format!("{}\n", serde_json::json!({"card": card, "rules": rules})));
    }
    Ok(rules.iter().map(|rule| format!("{card}: {rule}\n")).collect())
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = DEMO_EXAMPLES, after_long_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Demonstration to run
    #[arg(value_enum)]
    what: Demo,
}

const DEMO_EXAMPLES: &str = "Examples:
  cargo run --release -p optireduce-sim -- demo vm";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Demo {
    /// Cards behind an unmodified kernel, in jobs of two virtual machines and two other ranks
    Vm,
}

const VM: &str = "\
Cards behind an unmodified kernel. Two virtual machines (QEMU, emulated) boot
Debian's kernel with a virtual IOMMU. Their PCI buses hold simulated cards,
functional and Verilog ones. In the machines `optireduce-nic` binds the cards to
vfio-pci and tests them. Then jobs of four ranks run, two with cards in the
machines and two without cards on this host: exact means, a stopped machine,
lost packets, a removed card. Every bit of every result is checked. Downloads
60 MB once, builds for some minutes the first time, and runs for two minutes.

";

/// Returns the exit code.
///
/// # Errors
/// If the script is missing or cannot be started.
pub(crate) fn demo(args: &DemoArgs, print: &mut dyn FnMut(&str) -> Result<(), SimError>) -> Result<u8, SimError> {
    let Demo::Vm = args.what;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vm/run");
    if !script.exists() {
        return Err(SimError::Argument(format!(
            "{} is missing: the demonstration needs the source tree that this program was built from; clone the repository and run tests/vm/run there",
            script.display()
        )));
    }
    print(VM)?;
    let status =
        Command::new(&script).status().map_err(|source| SimError::File { path: script, action: "run", source })?;
    // The script has already printed the error.
    Ok(status.code().map_or(1, |code| code.clamp(0, 2) as u8))
}
