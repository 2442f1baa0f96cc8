//! Command-line arguments and help texts.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use optireduce_driver::serve_command;

/// End of a command's help: exit codes and examples.
fn help_end(examples: &str) -> String {
    format!(
        "Exit codes:
  0  done
  1  a check failed, the doctor found no usable card,
     or a bitstream does not match
  2  could not run or finish: bad arguments, no card, card in use

{examples}"
    )
}

fn examples() -> String {
    format!(
        "Examples:
  optireduce-nic list
  optireduce-nic selftest 0000:5e:00.0

With a simulated card, served from a clone of the project in another terminal:
  {}
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
  optireduce-nic selftest 0000:5e:00.0 --loopback  # loopback plug in its port
  optireduce-nic selftest /tmp/card.sock --bound-ms 300  # simulated Verilog
  optireduce-nic selftest /tmp/card.sock --json";

const BENCH_EXAMPLES: &str = "Examples:
  optireduce-nic bench /tmp/card.sock
  optireduce-nic bench 0000:5e:00.0 --commands 10000
  optireduce-nic bench /tmp/card.sock --json";

const STATS_EXAMPLES: &str = "Examples:
  OPTIREDUCE_CARD_STATS=/tmp/job optireduce run --card /tmp/card.sock ...
  optireduce-nic stats /tmp/card.sock --from /tmp/job --watch
  optireduce-nic stats 0000:5e:00.0 --from /tmp/job --watch --json --count 10";

const STATS: &str = "Show counters and rings of a card in use, as published by its job

A card has one driver at a time, and opening it resets it, so only its job can
read its counters. A job started with OPTIREDUCE_CARD_STATS=FOLDER writes them
to that folder once a second. This command does not access the card.";

const PROGRAM_EXAMPLES: &str = "Examples:
  optireduce-nic program bitstreams/ecp5-85f               # checks, loads nothing
  optireduce-nic program bitstreams/ecp5-85f --board NAME  # loads a board
  optireduce-nic program FOLDER --card 0000:5e:00.0        # prints the steps";

const PROGRAM: &str = "Load a bitstream into a board, or print the steps. Not yet tested on a board.

The manifest beside the bitstream must have this program's contract version,
state that the bitstream was built, and match the file's SHA-256.

Boards that openFPGALoader lists are loaded by it, after a check that their JTAG
chain has the manifest's part. It loads the FPGA's memory, which a power cycle
clears. For other boards the commands of Vivado or xbutil are printed, and the
exit code is 2, since nothing was programmed.

With --card, contract version and build of the card at that address are shown if
it can be opened, which resets it. Only a device 10ee:903f is accepted, whatever
its contract version. For a board with another image leave out --card. A card
does not identify its board, so whether --card and the JTAG cable lead to the
manifest's board is not checked.";

const BENCH: &str = "Measure a card's latency, register accesses and CPU time

Measures the time from doorbell to completion, and the register accesses and CPU
time of a collective. As in the self-test, the card is rank 0 of a two-rank job
whose other rank is absent. It sends its packets to 192.0.2.1.";

const INFO: &str = "Show a card's identity, limits and network address";

const DUMP: &str = "Show all registers of a card after a reset, decoded

The peer table is left out, since cards need not allow reading it. So are rings,
since a reset card has none: `stats` shows the rings of a card in use.";

const SELFTEST: &str = "Test a card: registers, queues, interrupts, DMA, windows, arithmetic

The card is rank 0 of a two-rank job whose other rank is absent, so every stage
ends at its deadline and every bit of the results is known. The card sends its
packets to 192.0.2.1, an address that no host has (RFC 5737). After the test it
is reset.";

const BIND: &str = "Bind a card to VFIO, so that programs without root can open it

The current driver is unbound, and only vfio-pci can bind the card until
`unbind` or a reboot. Needs root. Refuses other devices, and cards whose IOMMU
group also holds other devices.";

const UNBIND: &str = "Return a card to the kernel, whose drivers can then bind it

Needs root. Refused while a process uses the card.";

const DOCTOR: &str = "Diagnose why a card cannot be opened and suggest fixes

Checks the cards on the PCI bus: IOMMU, IOMMU group, kernel module, driver,
permissions, limits. If all checks pass, the card is opened and identified.";

/// Paragraph that ends the help of commands that open a card.
const OPENING: &str = "Opening a card resets it, and a card has one driver at a time: first end any job
that uses it.";

/// Finds, describes and tests OptiReduce SmartNICs
///
/// CARD is the PCI address of a card, or the path of the vfio-user socket of a simulated card
/// (`optireduce-sim serve`).
#[derive(Debug, Parser)]
#[command(name = "optireduce-nic", version, arg_required_else_help = true, after_help = help_end(&examples()))]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the cards on the PCI bus, with their drivers and IOMMU groups
    List(ListArgs),
    /// Bind a card to VFIO, so that it can be opened
    #[command(long_about = BIND, after_help = help_end(BIND_EXAMPLES))]
    Bind(BindArgs),
    /// Return a card to the kernel
    #[command(long_about = UNBIND, after_help = help_end(UNBIND_EXAMPLES))]
    Unbind(BindArgs),
    /// Diagnose why a card cannot be opened and suggest fixes
    #[command(long_about = about(DOCTOR), after_help = help_end(DOCTOR_EXAMPLES))]
    Doctor(DoctorArgs),
    /// Show a card's identity, limits and network address
    #[command(long_about = about(INFO), after_help = help_end(INFO_EXAMPLES))]
    Info(CardArgs),
    /// Test a card: registers, queues, interrupts, DMA, windows, arithmetic
    #[command(long_about = about(SELFTEST), after_help = help_end(SELFTEST_EXAMPLES))]
    Selftest(SelftestArgs),
    /// Measure a card's latency, register accesses and CPU time
    #[command(long_about = about(BENCH), after_help = help_end(BENCH_EXAMPLES))]
    Bench(BenchArgs),
    /// Show counters and rings of a card in use, as published by its job
    #[command(long_about = STATS, after_help = help_end(STATS_EXAMPLES))]
    Stats(StatsArgs),
    /// Load a bitstream into a board, or print the steps
    #[command(long_about = PROGRAM, after_help = help_end(PROGRAM_EXAMPLES))]
    Program(ProgramArgs),
    /// Show all registers of a card, decoded
    #[command(long_about = about(DUMP), after_help = help_end(DUMP_EXAMPLES))]
    Dump(CardArgs),
}

fn about(what: &str) -> String {
    format!("{what}\n\n{OPENING}")
}

#[derive(Debug, clap::Args)]
#[command(after_help = help_end(LIST_EXAMPLES))]
pub struct ListArgs {
    /// Open and reset each card that is not in use, and show its contract version and build
    #[arg(long)]
    pub identify: bool,
    /// Print one line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct BindArgs {
    /// PCI address of the card, with or without domain, as shown by `list`
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// Print one line of JSON instead of sentences
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// PCI address of the card, with or without domain [default: all cards of this machine]
    #[arg(value_name = "ADDRESS")]
    pub address: Option<String>,
    /// Print one line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// PCI address or vfio-user socket of the card, as in the job [default: $OPTIREDUCE_CARD]
    #[arg(value_name = "CARD")]
    pub card: Option<String>,
    /// Folder to which the job writes its counters [default: $OPTIREDUCE_CARD_STATS]
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
    /// Repeat, with rates per second, until the job ends
    #[arg(long)]
    pub watch: bool,
    /// Minimum time between two outputs, in ms; the job writes once a second
    #[arg(long, value_name = "MS", default_value_t = 1000, requires = "watch", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub interval_ms: u64,
    /// Stop after N outputs
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Print one line of JSON per output instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct ProgramArgs {
    /// Folder with a bitstream and its manifest.toml
    #[arg(value_name = "BITSTREAM_DIR")]
    pub folder: PathBuf,
    /// PCI address of the card that the board now holds, to show its contract version and build
    ///
    /// The card must not be in use. The printed steps use this address.
    #[arg(long, value_name = "ADDRESS")]
    pub card: Option<String>,
    /// Board, as named by `openFPGALoader --list-boards` [default: the manifest's board]
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    /// Print one line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct CardArgs {
    /// PCI address or vfio-user socket of the card [default: $OPTIREDUCE_CARD]
    ///
    /// The path of the socket may follow `vfio-user:`.
    #[arg(value_name = "CARD")]
    pub card: Option<String>,
    /// Print one line of JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct SelftestArgs {
    #[command(flatten)]
    pub card: CardArgs,
    /// Seed of the test's random choices [default: random, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Bound on each stage, in ms, 1 to 4000; simulated Verilog needs 300
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub bound_ms: u32,
    /// Require every sent packet to return unchanged
    ///
    /// Needs a loopback plug in the card's port, or a simulated card with `--network udp:ADDRESS`.
    #[arg(long)]
    pub loopback: bool,
}

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub card: CardArgs,
    /// Number of commands whose round trip is measured
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub commands: u32,
    /// Number of collectives of each size
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub collectives: u32,
}
