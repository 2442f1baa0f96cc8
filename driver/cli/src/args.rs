//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use optireduce_driver::serve_command;

/// What every command's help ends with: the exit codes, and examples to copy.
fn help_end(examples: &str) -> String {
    format!(
        "Exit codes:
  0  done
  1  a card did not do what it should, or cannot be used yet
  2  it could not run, or not to the end: arguments, no card there, card in use

{examples}"
    )
}

fn examples() -> String {
    format!(
        "Examples (the first, in a clone of the project and a terminal of its own, serves a simulated card):
  {}
  optireduce-nic info /tmp/card.sock
  optireduce-nic selftest /tmp/card.sock",
        serve_command("/tmp/card.sock".as_ref())
    )
}

const LIST_EXAMPLES: &str = "Examples:
  optireduce-nic list
  optireduce-nic list --identify
  optireduce-nic list --json";

const BIND_EXAMPLES: &str = "Examples:
  optireduce-nic bind 0000:5e:00.0
  optireduce-nic bind 5e:00.0 --json";

const UNBIND_EXAMPLES: &str = "Examples:
  optireduce-nic unbind 0000:5e:00.0
  optireduce-nic unbind 5e:00.0 --json";

const DOCTOR_EXAMPLES: &str = "Examples:
  optireduce-nic doctor
  optireduce-nic doctor 0000:5e:00.0
  optireduce-nic doctor --json";

const INFO_EXAMPLES: &str = "Examples:
  optireduce-nic info 0000:5e:00.0
  optireduce-nic info vfio-user:/tmp/card.sock --json
  OPTIREDUCE_CARD=/tmp/card.sock optireduce-nic info";

const DUMP_EXAMPLES: &str = "Examples:
  optireduce-nic dump /tmp/card.sock
  optireduce-nic dump /tmp/card.sock --json";

const SELFTEST_EXAMPLES: &str = "Examples:
  optireduce-nic selftest /tmp/card.sock
  optireduce-nic selftest 0000:5e:00.0 --seed 7
  optireduce-nic selftest 0000:5e:00.0 --loopback         # with a loopback plug in its port
  optireduce-nic selftest /tmp/card.sock --bound-ms 300
  optireduce-nic selftest /tmp/card.sock --json";

const BENCH_EXAMPLES: &str = "Examples:
  optireduce-nic bench /tmp/card.sock
  optireduce-nic bench 0000:5e:00.0 --commands 10000
  optireduce-nic bench /tmp/card.sock --json";

const STATS_EXAMPLES: &str = "Examples:
  OPTIREDUCE_CARD_STATS=/run/job optireduce run --card /tmp/card.sock ...      # the job
  optireduce-nic stats /tmp/card.sock --from /run/job --watch
  optireduce-nic stats 0000:5e:00.0 --from /run/job --watch --json --count 10";

const STATS: &str = "Show counters and rings of a card at work, as the process that has it shows them. No card is touched.

A card has one driver at a time, and opening it resets it, so nobody else can look at it. A job that was started with OPTIREDUCE_CARD_STATS=FOLDER \
writes its card's counters and rings into that folder, once a second.";

const PROGRAM_EXAMPLES: &str = "Examples:
  optireduce-nic program bitstreams/ecp5-85f                    # checks it, and says what is missing to load it
  optireduce-nic program bitstreams/ecp5-85f --board NAME       # loads it into a board that `openFPGALoader --list-boards` shows
  optireduce-nic program FOLDER --card 0000:5e:00.0             # another, once you have built it as its README says";

const PROGRAM: &str = "Load a bitstream into a board, or print how to. Not run on a board.

The manifest beside the bitstream must have the contract version of this program, say that it was built, and have the SHA-256 of the file. \
Boards that openFPGALoader lists are loaded by it, once their JTAG chain was found to have the manifest's part: into the FPGA's memory, which a \
power cycle clears. For others the commands of Vivado or xbutil are printed, and the exit code is 2, since nothing was programmed.

With --card, contract version and build of the card that is there are shown, if it can be asked, which resets it. Neither a blank board nor a card of another contract version is refused: that is what one programs. Nothing in a card names its \
board, so whether the one at --card is on the board of the manifest, or at the end of the JTAG cable, is not checked.";

const BENCH: &str = "Measure what a card costs its host: time from doorbell to completion, accesses to registers and CPU time of a collective.

As in the self-test, the card is rank 0 of a job of two whose other rank is absent, and sends its packets to 192.0.2.1.";

const INFO: &str = "Show what a card is, what it can do, and where it is on the network.";

const DUMP: &str = "Show all registers of a card as they are after a reset, decoded. The peer table is not among them: cards need not let it \
be read. Nor are rings, of which a card has none after a reset: `stats` shows those of a card at work.";

const SELFTEST: &str = "Test a card: registers, queues, interrupts, DMA, windows, numbers.

The card is rank 0 of a job of two whose other rank is absent, so every stage ends at its deadline and every bit of the results is known. \
It sends its packets to 192.0.2.1, an address that no host has (RFC 5737). At the end it is reset.";

const BIND: &str = "Hand a card to VFIO, so that programs without special rights can open it.

The driver that has it lets go of it, and only vfio-pci may take it from then on, until `unbind` or a restart. Needs root. Devices that are not \
ours are refused, and IOMMU groups that also hold others.";

const UNBIND: &str =
    "Hand a card back to the kernel, whose own drivers may then take it. Needs root, and that nobody uses the card.";

const DOCTOR: &str = "Check all that a card on the PCI bus needs, one after the other, and say what mends what is missing: IOMMU, its group, kernel \
module, driver, permissions, limits. If nothing is missing, the card is opened and identified.";

/// What opening a card means for whoever else wants it.
const OPENING: &str = "Opening a card resets it, and it has one driver at a time: a job that uses it must have ended.";

/// Finds, describes and tests OptiReduce SmartNICs.
///
/// CARD is the address of a card on the PCI bus, or the path of a vfio-user socket on which `optireduce-sim serve` serves one.
#[derive(Debug, Parser)]
#[command(name = "optireduce-nic", version, arg_required_else_help = true, after_help = help_end(&examples()))]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the cards on this machine's PCI bus, with their drivers and IOMMU groups
    List(ListArgs),
    /// Hand a card to VFIO, so that it can be opened
    #[command(long_about = BIND, after_help = help_end(BIND_EXAMPLES))]
    Bind(BindArgs),
    /// Hand a card back to the kernel
    #[command(long_about = UNBIND, after_help = help_end(UNBIND_EXAMPLES))]
    Unbind(BindArgs),
    /// Check what a card needs to be opened, and say what mends what is missing
    #[command(long_about = about(DOCTOR), after_help = help_end(DOCTOR_EXAMPLES))]
    Doctor(DoctorArgs),
    /// Show what a card is, what it can do, and where it is on the network
    #[command(long_about = about(INFO), after_help = help_end(INFO_EXAMPLES))]
    Info(CardArgs),
    /// Test a card: registers, queues, interrupts, DMA, windows, numbers
    #[command(long_about = about(SELFTEST), after_help = help_end(SELFTEST_EXAMPLES))]
    Selftest(SelftestArgs),
    /// Measure a card: doorbell to completion, accesses to registers, CPU time
    #[command(long_about = about(BENCH), after_help = help_end(BENCH_EXAMPLES))]
    Bench(BenchArgs),
    /// Show counters and rings of a card at work, as the job that has it shows them
    #[command(long_about = STATS, after_help = help_end(STATS_EXAMPLES))]
    Stats(StatsArgs),
    /// Load a bitstream into a board, or print how to
    #[command(long_about = PROGRAM, after_help = help_end(PROGRAM_EXAMPLES))]
    Program(ProgramArgs),
    /// Show all registers of a card, decoded
    #[command(long_about = about(DUMP), after_help = help_end(DUMP_EXAMPLES))]
    Dump(CardArgs),
}

fn about(what: &str) -> String {
    format!("{what}\n\n{OPENING}")
}

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
#[command(after_help = help_end(LIST_EXAMPLES))]
pub struct ListArgs {
    /// Open each card that can be opened and is not in use, which resets the card, and show its contract version and build
    #[arg(long)]
    pub identify: bool,
    /// One line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `bind` and `unbind`.
#[derive(Debug, clap::Args)]
pub struct BindArgs {
    /// The card's PCI address, with a domain or without, as `list` shows it
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// One line of JSON instead of sentences
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// The card's PCI address, with a domain or without [default: all cards of this machine]
    #[arg(value_name = "ADDRESS")]
    pub address: Option<String>,
    /// One line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `stats`.
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// The card, as the job was told it: its PCI address, or the path of its vfio-user socket [default: $OPTIREDUCE_CARD]
    #[arg(value_name = "CARD")]
    pub card: Option<String>,
    /// The folder that the job's OPTIREDUCE_CARD_STATS names [default: $OPTIREDUCE_CARD_STATS]
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
    /// Show them again and again, with counts per second, until the job has ended
    #[arg(long)]
    pub watch: bool,
    /// Time between two of them at least, in ms; the job writes them once a second
    #[arg(long, value_name = "MS", default_value_t = 1000, requires = "watch", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub interval_ms: u64,
    /// End after so many
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// A line of JSON each time instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `program`.
#[derive(Debug, clap::Args)]
pub struct ProgramArgs {
    /// A folder with a bitstream and its manifest.toml
    #[arg(value_name = "BITSTREAM_DIR")]
    pub folder: PathBuf,
    /// The board's PCI address: a card of ours that nobody uses must be there, which is asked for its contract version and build, not for its board, of which it knows
    /// nothing; what to do afterwards is printed with the address
    #[arg(long, value_name = "ADDRESS")]
    pub card: Option<String>,
    /// The board, as `openFPGALoader --list-boards` calls it [default: as the manifest calls it]
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    /// One line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of commands on one card.
#[derive(Debug, clap::Args)]
pub struct CardArgs {
    /// The card: its PCI address, or the path of its vfio-user socket, with or without "vfio-user:" before it [default: $OPTIREDUCE_CARD]
    #[arg(value_name = "CARD")]
    pub card: Option<String>,
    /// One line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `selftest`.
#[derive(Debug, clap::Args)]
pub struct SelftestArgs {
    #[command(flatten)]
    pub card: CardArgs,
    /// What random values, lengths and places follow from [default: another one each time; it is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Bound on each stage of a window, in ms: longer for a card that is simulated cycle by cycle (300 for one whose Verilog runs)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub bound_ms: u32,
    /// What the card sends comes back to it, by a loopback plug in its port, or because it is served on udp: each packet must arrive, whole
    #[arg(long)]
    pub loopback: bool,
}

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub card: CardArgs,
    /// Commands to and fro whose time is measured
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub commands: u32,
    /// Collectives of each size
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub collectives: u32,
}
