//! The commands `optireduce-sim check-bus` and `optireduce-sim demo`.

use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};
use optireduce_driver::CardBus;

use crate::check::bus::{DMA_BYTES, check_bus};
use crate::error::SimError;

/// Arguments of `check-bus`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = CHECK_EXAMPLES, after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckBusArgs {
    /// The card: a PCI address, or the path of the socket where it is served. Whatever it does is ended
    #[arg(value_name = "CARD")]
    card: String,
    /// Bound on each stage of a window, in ms: longer for a card that is simulated cycle by cycle (100 for one whose Verilog runs)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4000))]
    bound_ms: u32,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

const CHECK_EXAMPLES: &str = "Examples:
  optireduce-sim check-bus 0000:5e:00.0
  optireduce-sim check-bus /tmp/card.sock --json";

/// Holds a card to the rules of a bus; what is to be printed.
///
/// # Errors
/// The first rule that does not hold; or that there is no such card.
pub(crate) fn check(args: &CheckBusArgs) -> Result<String, SimError> {
    let CheckBusArgs { card, bound_ms, json } = args;
    let open = || CardBus::open(card, DMA_BYTES);
    // Whether it is there at all is another matter than what it does.
    drop(open().map_err(|error| SimError::Argument(error.to_string()))?);
    let rules = check_bus(bound_ms * 1_000_000, open).map_err(|broken| SimError::Check(format!("{card}: {broken}")))?;
    if *json {
        return Ok(format!("{}\n", serde_json::json!({"card": card, "rules": rules})));
    }
    Ok(rules.iter().map(|rule| format!("{card}: {rule}\n")).collect())
}

/// Arguments of `demo`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = DEMO_EXAMPLES, after_long_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    /// What to show
    #[arg(value_enum)]
    what: Demo,
}

const DEMO_EXAMPLES: &str = "Examples:
  cargo run --release -p optireduce-sim -- demo vm";

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Demo {
    /// Cards behind an unmodified kernel: two virtual machines with cards and two ranks without share jobs
    Vm,
}

const VM: &str = "\
Cards behind an unmodified kernel. Two virtual machines (QEMU, emulated) boot Debian's kernel with a virtual IOMMU; on their PCI buses are
simulated cards, functional ones and ones whose Verilog runs. In the machines `optireduce-nic` binds the cards to vfio-pci and tests them. Then jobs of
four ranks, two with cards in the machines and two without on this side: exact means, a machine that stands still, packets that are lost, a card
that is pulled out. Every bit of every result is checked. Downloads 60 MB once, builds for some minutes the first time, and runs for two minutes.

";

/// Shows something to a person; the exit code.
///
/// # Errors
/// If it cannot be started, with what is missing.
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
    // It has said what was missing, or what was not as it should be.
    Ok(status.code().map_or(1, |code| code.clamp(0, 2) as u8))
}
