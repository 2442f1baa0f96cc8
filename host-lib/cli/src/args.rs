//! The command line.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use optireduce::memory::require_each;
use optireduce::{CardFallback, Groups, HadamardMode, Launch, Local, RANKS_MAX_TWO_LEVEL};
use optireduce_core::protocol::{LOSS_SKIP, RANKS_MAX, SKIPS_HALT};
use tracing_subscriber::filter::Targets;

/// What every command's help ends with: the exit codes, and examples to copy.
fn help_end(examples: &str) -> String {
    let percent = LOSS_SKIP * 100.0;
    format!(
        "Exit codes:
  0  done
  1  it ran, but the result is incomplete
  2  it could not run, or not to the end: arguments, files, peers
  3  the safeguard said halt: {SKIPS_HALT} collectives in a row lost more than {percent} % each

{examples}"
    )
}

const EXAMPLES: &str = "Examples:
  optireduce bench allreduce --ranks 2,4 --bench 64K,1M
  torchrun --nproc-per-node 4 --no-python optireduce run --bench 1M,25M
  optireduce run --rank 0 --world-size 2 --root 10.0.0.1:29517 --bench 1M --json";

const RUN_EXAMPLES: &str = "Examples:
  torchrun --nproc-per-node 4 --no-python optireduce run --bench 64K,1M,25M
  optireduce run --rank 0 --world-size 2 --root 10.0.0.1:29517 --bench 1M --secs 5 --json
  torchrun --nproc-per-node 4 --no-python optireduce run --partial 2 --bench 1M --straggler-ms 50
  optireduce run --rank 0 --world-size 2 --root 127.0.0.1:29517 --bench 64K --card /tmp/card.sock
  mpirun -n 4 optireduce run --file 'gradients.{rank}.safetensors' --out 'mean.{rank}.safetensors'";

const BENCH_EXAMPLES: &str = "Examples:
  optireduce bench allreduce --ranks 2,4,8 --bench 1M
  optireduce bench allreduce --ranks 4 --bench 1M --straggler-ms 50 --engine tcp
  optireduce bench allreduce --ranks 4 --bench 20M --in-flight 20
  optireduce bench allreduce --ranks 4 --bench 1M,25M --shared-memory off
  optireduce bench allreduce --ranks 4 --bench 64K,1M,25M --rounds 5 --json > before.jsonl
  optireduce bench allreduce --ranks 4 --bench 64K,1M,25M --rounds 5 --compare before.jsonl";

const HADAMARD_EXAMPLES: &str = "Examples:
  optireduce bench hadamard
  optireduce bench hadamard --megabytes 25 --rounds 50
  optireduce bench hadamard --megabytes 1 --json > rows.jsonl";

// Headings of `--help`.
const PLACE: &str = "This rank's place in the job";
const MEASUREMENT: &str = "What is measured";
const FILES: &str = "Averaging a file";
const TRANSPORT: &str = "Transport";
const LOSS: &str = "Bounds, loss and repair";
const OUTPUT: &str = "Output";

/// Memory of a rank for each byte that it reduces: 3.2 buffers as long, 4.0 if they are encoded, measured at 64 MiB and 2 ranks, and as much
/// as a buffer for repairs.
const MEMORY_PER_BYTE: u64 = 5;
/// Memory of a rank for everything else.
const MEMORY_BYTES: u64 = 32 << 20;

/// Longest time that an option takes: an hour.
const TIME_S_MAX: f64 = 3600.0;

/// Bounded-time all-reduce over UDP: every stage ends by its deadline, and what was lost is reported.
#[derive(Debug, Parser)]
#[command(name = "optireduce", version, arg_required_else_help = true, after_help = help_end(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    // Not `--log`: torchrun parses the whole command line with Python's argparse, which takes `--log` for an ambiguous
    // abbreviation of its own --log-dir and --logs-specs, even behind the program's name.
    /// What to log to stderr: a level, or filters such as optireduce=debug, which shows every collective and its stages
    /// [default: $OPTIREDUCE_LOG, or $RUST_LOG, or warn]
    #[arg(long, global = true, value_name = "FILTER", help_heading = OUTPUT)]
    pub log_filter: Option<String>,
}

impl Args {
    /// What is logged.
    pub fn filter(&self) -> Result<Targets, String> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given = self.log_filter.clone().or_else(|| variable("OPTIREDUCE_LOG")).or_else(|| variable("RUST_LOG"));
        let filter = given.unwrap_or_else(|| "warn".into());
        filter.parse::<Targets>().map_err(|error| format!("log filter {filter:?}: {error}"))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one rank of a job; every rank runs the same command
    Run(RunArgs),
    /// Measure on this machine; starts the ranks itself
    #[command(subcommand)]
    Bench(BenchCommand),
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// All-reduce among processes on this machine, over loopback
    Allreduce(BenchAllReduceArgs),
    /// The Hadamard transform on one core, compared with a copy of the same bytes and with a plain loop
    Hadamard(BenchHadamardArgs),
}

/// Arguments of `bench hadamard`.
#[derive(Debug, clap::Args)]
#[command(after_help = help_end(HADAMARD_EXAMPLES))]
pub struct BenchHadamardArgs {
    /// Gradient per round, 1 to 4096 MiB [default: 25 MiB]
    #[arg(long, value_name = "MIB", default_value_t = 25, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = MEASUREMENT)]
    pub megabytes: u16,
    /// Rounds, in each of which all kernels take turns, 1 to 10000 [default: 20 rounds]
    #[arg(long, value_name = "N", default_value_t = 20, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=10_000), help_heading = MEASUREMENT)]
    pub rounds: u16,
    /// One line of JSON per row instead of a table
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// How gradients travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// OptiReduce over UDP: bounded, never retransmits
    Udp,
    /// Transpose AllReduce over TCP: reliable, waits for every rank
    Tcp,
}

/// Whether ranks of one host share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LocalArg {
    /// If they can
    Auto,
    /// All use UDP
    Off,
}

/// What becomes of the job when a card fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CardFallbackArg {
    /// Its rank ends with an error, the others go on
    Off,
    /// All ranks go on over UDP
    Udp,
}

impl From<CardFallbackArg> for CardFallback {
    fn from(fallback: CardFallbackArg) -> Self {
        match fallback {
            CardFallbackArg::Off => Self::Off,
            CardFallbackArg::Udp => Self::Udp,
        }
    }
}

impl From<LocalArg> for Local {
    fn from(local: LocalArg) -> Self {
        match local {
            LocalArg::Auto => Self::Auto,
            LocalArg::Off => Self::Off,
        }
    }
}

/// When collectives are Hadamard-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Hadamard {
    Off,
    On,
    /// Once more than 2 % are lost, over some hundred packets, until next to nothing was lost for a while.
    Auto,
}

impl From<Hadamard> for HadamardMode {
    fn from(hadamard: Hadamard) -> Self {
        match hadamard {
            Hadamard::Off => Self::Off,
            Hadamard::On => Self::On,
            Hadamard::Auto => Self::Auto,
        }
    }
}

/// When lost means are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Repair {
    /// Never: lost means stay lost
    Off,
    /// Later: the repair is added to the next result of the bucket
    NextUpdate,
    /// Before the call returns, which waits for at most 4 bounds: all ranks return the same values
    ThisUpdate,
}

/// What `run` and `bench allreduce` have in common.
#[derive(Clone, Debug, clap::Args)]
pub struct JobArgs {
    /// Buffer sizes in bytes; K, M and G stand for KiB, MiB and GiB [default: 64K,1M,25M]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = size, default_value = "64K,1M,25M",
          hide_default_value = true, help_heading = MEASUREMENT)]
    pub bench: Vec<usize>,
    /// Time for each size, in seconds [default: 3 s]
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds, hide_default_value = true,
          help_heading = MEASUREMENT)]
    pub secs: f64,
    /// Buckets that are in flight at once, as DDP has them: each size is cut into so many, 1 to 1024. Not with --groups, --engine tcp and
    /// --rejoin [default: 1 bucket]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = MEASUREMENT)]
    pub in_flight: u16,
    /// No barrier before a call, as in a trainer: each rank makes the next one when it has finished the one before, while others may be behind. Their
    /// lateness is then in the times
    #[arg(long, help_heading = MEASUREMENT)]
    pub back_to_back: bool,
    /// How late one rank enters every call, in milliseconds [default: 0 ms, nobody is late]
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds, hide_default_value = true,
          allow_negative_numbers = true, help_heading = MEASUREMENT)]
    pub straggler_ms: f64,
    /// Which rank is late; negative numbers count from the end [default: -1, the last rank]
    #[arg(long, value_name = "RANK", default_value_t = -1, hide_default_value = true, allow_negative_numbers = true,
          help_heading = MEASUREMENT)]
    pub straggler_rank: i64,
    /// How gradients travel [default: udp, and shared memory among ranks of one host]
    #[arg(long, value_enum, default_value_t = EngineKind::Udp, hide_default_value = true, help_heading = TRANSPORT)]
    pub engine: EngineKind,
    /// Whether ranks of one host send to one another through shared memory [default: $OPTIREDUCE_LOCAL, or auto]
    // Not --local, which torchrun takes for an abbreviation of its own.
    #[arg(long = "shared-memory", value_enum, help_heading = TRANSPORT)]
    pub local: Option<LocalArg>,
    /// Largest IP packet, in bytes [default: the largest that gets through between all ranks]
    #[arg(long, value_name = "BYTES", help_heading = TRANSPORT)]
    pub mtu: Option<usize>,
    /// Send gradients as bf16: half the bytes, each value rounded; sums stay fp32
    #[arg(long, help_heading = TRANSPORT)]
    pub bf16: bool,
    /// How many peers a rank sends to at a time, 1 to 15 [default: as many as their loss allows]
    #[arg(long, value_name = "PEERS", help_heading = TRANSPORT)]
    pub incast: Option<usize>,
    /// Let the rate to each peer follow its round-trip times
    #[arg(long, help_heading = TRANSPORT)]
    pub rate_control: bool,
    /// All-reduce on two levels: in this many groups of neighbouring ranks, in a group for each host with `hosts`, or in groups of at most 64 that
    /// take the fewest rounds with `auto`. A rank then connects only to the ranks of its group, and to those with its place in the other groups [default:
    /// auto with more than 1024 ranks over UDP, one level with fewer]
    #[arg(long, value_name = "GROUPS|hosts|auto", value_parser = groups, help_heading = TRANSPORT)]
    pub groups: Option<Groups>,
    /// How long ranks wait for one another to connect, and at barriers, in seconds [default: 60 s]
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, hide_default_value = true,
          help_heading = TRANSPORT)]
    pub timeout_s: f64,
    /// Bound on each stage, in milliseconds; 0: measured over the collectives that run anyway, from 5 ms to 1 s
    /// [default: 0 ms]
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds, hide_default_value = true,
          allow_negative_numbers = true, help_heading = LOSS)]
    pub bound_ms: f64,
    /// Silence after all peers' last packets that ends a stage early, in microseconds; 0: stages wait for their bound
    /// [default: follows loss and stage times]
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(..=3_600_000_000), help_heading = LOSS)]
    pub grace_us: Option<u64>,
    /// When collectives are Hadamard-encoded, so that a loss spreads over its block [default: auto]
    #[arg(long, value_enum, default_value_t = Hadamard::Auto, hide_default_value = true, help_heading = LOSS)]
    pub hadamard: Hadamard,
    /// When a mean that was lost on its way to this rank is repaired [default: this-update, as in PyTorch jobs]
    #[arg(long, value_enum, default_value_t = Repair::ThisUpdate, hide_default_value = true, help_heading = LOSS)]
    pub repair: Repair,
    /// Make all ranks take the same action after each collective: what one would skip, all skip
    #[arg(long, help_heading = LOSS)]
    pub agree: bool,
    /// Go on without a rank after this many collectives without a sign of it; 0: never [default: 3 collectives]
    #[arg(long, value_name = "N", default_value_t = 3, hide_default_value = true, help_heading = LOSS)]
    pub drop_silent_after: u32,
    /// One line of JSON per size instead of a table; units are in the keys
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = help_end(RUN_EXAMPLES))]
pub struct RunArgs {
    /// Number of this rank, from 0 [default: from the environment of torchrun, Open MPI, MPICH or Slurm]
    #[arg(long, requires = "world_size", requires = "root", help_heading = PLACE)]
    pub rank: Option<usize>,
    /// Number of ranks in the job, 2 to 65536; more than 1024 are on two levels, see --groups
    #[arg(long, value_name = "RANKS", requires = "rank", help_heading = PLACE)]
    pub world_size: Option<usize>,
    /// Where rank 0 listens
    #[arg(long, value_name = "HOST:PORT", help_heading = PLACE)]
    pub root: Option<String>,
    /// Id of the job, the same on all ranks, so that jobs that come to the same root do not mix [default: $OPTIREDUCE_JOB_ID,
    /// or the launcher's: torchrun's run and restart, Slurm's job and step, Open MPI's namespace]
    #[arg(long, value_name = "ID", help_heading = PLACE)]
    pub job_id: Option<String>,
    /// Come into the job if it runs already, in place of a process of the same rank that has ended, and go on with it; if
    /// it has not begun, begin it with the others. Not for rank 0, nor with cards, --file, --groups, --partial and --engine tcp, which cannot be entered
    /// [default: if $OPTIREDUCE_REJOIN is 1, or the restart counter of torchrun or Slurm is above 0]
    #[arg(long, help_heading = PLACE)]
    pub rejoin: bool,
    /// File with a secret that all ranks share, at least 16 random bytes: connections and packets are then encrypted and
    /// authenticated [default: the secret in $OPTIREDUCE_SECRET, or none]
    #[arg(long, value_name = "FILE", help_heading = PLACE)]
    pub secret_file: Option<String>,
    /// Name or address of the network interface to use [default: the one on the way to rank 0]
    #[arg(long, value_name = "INTERFACE", help_heading = PLACE)]
    pub interface: Option<String>,
    /// Let a SmartNIC move this rank's gradients instead of the kernel's UDP: its PCI address, or the path of a vfio-user socket, such as
    /// `optireduce-sim serve --socket PATH --network udp:ADDRESS` makes for a simulated card; {rank} stands for this rank. In a job with cards every rank has
    /// an IPv4 address of its own: ranks without a card on one host give different ones by --interface
    /// [default: $OPTIREDUCE_CARD, or none]
    #[arg(long, value_name = "CARD", conflicts_with = "secret_file", help_heading = PLACE)]
    pub card: Option<String>,
    /// The address that the card has on the network: `IP[/PREFIX][:PORT][,gateway=MAC]`, such as 10.0.0.2, a free one of the network on the card's cable, or
    /// 10.0.0.2/24,gateway=52:54:00:12:34:56 if other ranks are behind a router. A board needs it, a simulated card is served with one, and without a card it is refused; {rank} stands for this rank
    /// [default: $OPTIREDUCE_CARD_ADDRESS, or what the card says itself]
    #[arg(long, value_name = "ADDRESS", help_heading = PLACE)]
    pub card_address: Option<String>,
    /// What becomes of the job when a card fails: its rank ends with an error and the others go on, or, with `udp`, all ranks go on over UDP from a
    /// collective on which they agree. The same on all ranks [default: $OPTIREDUCE_CARD_FALLBACK, or off]
    #[arg(long, value_enum, conflicts_with_all = ["secret_file", "groups", "partial"], help_heading = PLACE)]
    pub card_fallback: Option<CardFallbackArg>,
    /// Average the tensors of this file over the ranks instead of measuring: F32, BF16 or F16 in safetensors, or raw
    /// little-endian fp32 under any other extension; {rank} stands for this rank
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bench", "secs", "in_flight", "back_to_back", "straggler_ms", "straggler_rank"],
          help_heading = FILES)]
    pub file: Option<String>,
    /// Where to write the mean, in the format of --file; {rank} stands for this rank. Written whole or not at all, and by no
    /// rank if any of them lacks values (exit code 1); where contributions were lost, values are means of fewer ranks, which are
    /// written (exit code 1, too)
    #[arg(long, value_name = "FILE", requires = "file", help_heading = FILES)]
    pub out: Option<String>,
    /// Measure Partial Reduce instead of all-reduces: groups of this many ranks that are ready average their models, 2 to all ranks,
    /// and nobody waits for the rest. Rows are of averages: of each rank as many as it makes in the time
    #[arg(long, value_name = "RANKS", conflicts_with_all = ["file", "groups", "rejoin", "bf16", "in_flight", "back_to_back"], help_heading = MEASUREMENT)]
    pub partial: Option<usize>,
    #[command(flatten)]
    pub job: JobArgs,
}

const NOT_ENTERED: &str = "--rejoin: a job with --file, --groups, --partial, --in-flight, --card or --engine tcp cannot be entered; start all its ranks again";

impl RunArgs {
    /// This rank's place in its job.
    pub fn launch(&self) -> Result<Launch, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let launch = match (self.rank, self.world_size, &self.root) {
            (Some(rank), Some(world_size), Some(root)) => Launch::new(rank, world_size, root.clone())
                .map(|launch| launch.job_id(variable("OPTIREDUCE_JOB_ID").unwrap_or_default()))
                .map(|launch| launch.rejoin(variable("OPTIREDUCE_REJOIN").as_deref() == Some("1"))),
            _ => Launch::from_variables(|name| match (name, &self.root) {
                ("OPTIREDUCE_ROOT", Some(root)) => Some(root.clone()),
                _ => variable(name),
            }),
        };
        let launch = launch.map_err(|error| error.to_string())?;
        let launch = match &self.job_id {
            Some(job_id) => launch.job_id(job_id.clone()),
            None => launch,
        };
        if launch.rejoin && !self.may_be_entered() {
            return Err(NOT_ENTERED.replacen("--rejoin", "OPTIREDUCE_REJOIN", 1));
        }
        let rejoin = self.rejoin || launch.rejoin;
        Ok(launch.rejoin(rejoin))
    }

    /// Whether a process may come into the job while it runs.
    fn may_be_entered(&self) -> bool {
        let is_plain = self.file.is_none() && self.job.groups.is_none() && self.partial.is_none();
        is_plain && self.card.is_none() && self.job.in_flight == 1 && self.job.engine == EngineKind::Udp
    }

    /// The groups of a job of so many ranks, if it is on two levels. Partial Reduce is not, nor are cards.
    pub fn groups(&self, ranks: usize) -> Option<Groups> {
        self.job.groups(ranks).filter(|_| self.partial.is_none() && self.card.is_none())
    }

    /// What the parser cannot see in a single value.
    pub fn check(&self) -> Result<(), String> {
        if self.partial.is_some() && self.job.engine == EngineKind::Tcp {
            return Err("--partial: groups average over UDP; leave out --engine tcp".into());
        }
        let beside_card = [
            ("--engine tcp", self.job.engine == EngineKind::Tcp, "goes over TCP"),
            ("--groups", self.job.groups.is_some(), "goes over the kernel's UDP"),
            ("--partial", self.partial.is_some(), "goes over the kernel's UDP"),
        ];
        if self.card.is_some()
            && let Some((option, _, because)) = beside_card.into_iter().find(|(_, is_given, _)| *is_given)
        {
            return Err(format!("--card: {option} {because}; leave out one of them"));
        }
        self.job.check_in_flight()?;
        if self.rejoin && !self.may_be_entered() {
            return Err(NOT_ENTERED.into());
        }
        Ok(())
    }
}

/// Arguments of `bench allreduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = help_end(BENCH_EXAMPLES))]
pub struct BenchAllReduceArgs {
    /// Numbers of ranks to measure one after the other, each 2 to 65536; more than 1024 are on two levels, see --groups [default: 2,4 ranks]
    #[arg(long, value_name = "RANKS,...", value_delimiter = ',', default_value = "2,4", hide_default_value = true,
          value_parser = ranks, help_heading = MEASUREMENT)]
    pub ranks: Vec<usize>,
    /// How often each is measured, 1 to 100; sizes and numbers of ranks take turns [default: 1 round]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u8).range(1..=100), help_heading = MEASUREMENT)]
    pub rounds: u8,
    /// At the end, print the ratios to the rows of this file, which an earlier run with --json has written
    #[arg(long, value_name = "FILE", conflicts_with = "json", help_heading = OUTPUT)]
    pub compare: Option<String>,
    #[command(flatten)]
    pub job: JobArgs,
}

impl BenchAllReduceArgs {
    /// What the parser cannot see in a single value.
    pub fn check(&self) -> Result<(), String> {
        for (at, ranks) in self.ranks.iter().enumerate() {
            if self.ranks[..at].contains(ranks) {
                return Err(format!("--ranks names {ranks} twice; give each number of ranks once"));
            }
            self.job.straggler(*ranks)?;
            self.job.check_in_flight()?;
            self.job.require_memory(*ranks)?;
        }
        Ok(())
    }
}

impl JobArgs {
    /// The groups of a job of so many ranks, if it is on two levels: as given, or because one level does not hold them.
    fn groups(&self, ranks: usize) -> Option<Groups> {
        let groups = self.groups.or((ranks > RANKS_MAX).then_some(Groups::Auto));
        groups.filter(|_| self.engine == EngineKind::Udp)
    }

    /// The rank that is late, if one is.
    pub fn straggler(&self, ranks: usize) -> Result<Option<usize>, String> {
        if self.straggler_ms == 0.0 {
            return Ok(None);
        }
        let (rank, count) = (self.straggler_rank, ranks as i64);
        if !(-count..count).contains(&rank) {
            return Err(format!("--straggler-rank is {rank}, expected {} to {} with {ranks} ranks", -count, count - 1));
        }
        Ok(Some(rank.rem_euclid(count) as usize))
    }

    /// What the parser cannot see in a single value.
    fn check_in_flight(&self) -> Result<(), String> {
        if self.in_flight > 1 && (self.groups.is_some() || self.engine == EngineKind::Tcp) {
            return Err("--in-flight: several buckets at once go neither on two levels (--groups) nor over --engine tcp; leave out one of them".into());
        }
        let buckets = usize::from(self.in_flight);
        match self.bench.iter().find(|bytes| !bytes.is_multiple_of(4 * buckets)) {
            Some(bytes) => Err(format!(
                "--bench {}: found {bytes} bytes, expected a multiple of {} for {buckets} buckets of as many fp32 each",
                crate::times::size_text(*bytes),
                4 * buckets
            )),
            None => Ok(()),
        }
    }

    /// Whether this host has memory for `ranks` ranks that measure these sizes.
    pub fn require_memory(&self, ranks: usize) -> Result<(), String> {
        let size = self.bench.iter().copied().max().unwrap_or(0) as u64;
        let needed = size.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BYTES);
        let what = format!("--bench {} with {ranks} rank(s) on this host", crate::times::size_text(size as usize));
        require_each(what, ranks, needed, "give smaller sizes, or fewer ranks").map_err(|error| error.to_string())
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_s)
    }
}

fn ranks(text: &str) -> Result<usize, String> {
    let ranks = text.parse().ok().filter(|ranks| (2..=RANKS_MAX_TWO_LEVEL).contains(ranks));
    ranks.ok_or_else(|| format!("expected 2 to {RANKS_MAX_TWO_LEVEL} ranks"))
}

fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    let bytes = bytes.filter(|bytes| *bytes > 0 && bytes.is_multiple_of(4));
    bytes.ok_or_else(|| "expected a multiple of 4 bytes, for instance 4096, 64K or 25M".into())
}

fn groups(text: &str) -> Result<Groups, String> {
    match text {
        "auto" => Ok(Groups::Auto),
        "hosts" => Ok(Groups::Hosts),
        _ => text.parse().map(Groups::Number).map_err(|_| "expected a number of groups, hosts or auto".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= TIME_S_MAX);
    seconds.ok_or_else(|| format!("expected more than 0 and at most {TIME_S_MAX} seconds"))
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let most = TIME_S_MAX * 1000.0;
    let milliseconds = text.parse().ok().filter(|milliseconds| (0.0..=most).contains(milliseconds));
    milliseconds.ok_or_else(|| format!("expected 0 to {most} milliseconds"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// torchrun's long options (PyTorch 2.9), each of which it also takes with underscores.
    const TORCHRUN: [&str; 25] = [
        "nnodes",
        "nproc-per-node",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "rdzv-conf",
        "standalone",
        "max-restarts",
        "monitor-interval",
        "start-method",
        "event-log-handler",
        "role",
        "module",
        "no-python",
        "run-path",
        "log-dir",
        "redirects",
        "tee",
        "local-ranks-filter",
        "node-rank",
        "master-addr",
        "master-port",
        "local-addr",
        "logs-specs",
        "signals-to-handle",
    ];

    /// The command and those below it.
    fn commands() -> Vec<clap::Command> {
        let mut command = Args::command();
        command.build();
        let mut commands = vec![command];
        let mut at = 0;
        while at < commands.len() {
            let below: Vec<_> = commands[at].get_subcommands().cloned().collect();
            commands.extend(below);
            at += 1;
        }
        commands
    }

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn no_option_is_an_abbreviation_of_torchruns() {
        for command in commands() {
            for ours in command.get_arguments().filter_map(clap::Arg::get_long) {
                let clash = TORCHRUN.iter().find(|theirs| theirs.starts_with(ours) && **theirs != ours);
                assert_eq!(clash, None, "torchrun would refuse --{ours} as ambiguous");
            }
        }
    }

    #[test]
    fn help_shows_the_default_that_is_used() {
        let (mut seen, mut missing) = (0, Vec::new());
        for command in commands() {
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                let takes_value = argument.get_action().takes_values();
                for default in argument.get_default_values().iter().filter(|_| takes_value) {
                    seen += 1;
                    let shown = format!("[default: {}", default.to_string_lossy());
                    if !help.contains(&shown) {
                        missing.push(format!("--{}: {shown}", argument.get_id()));
                    }
                }
            }
        }
        assert_eq!(missing, [""; 0]);
        assert!(seen > 10, "{seen} defaults");
    }

    #[test]
    fn a_straggler_outside_the_job_is_refused() {
        let job = |rank: &str| match Args::parse_from([
            "optireduce",
            "bench",
            "allreduce",
            "--straggler-ms",
            "1",
            "--straggler-rank",
            rank,
        ])
        .command
        {
            Command::Bench(BenchCommand::Allreduce(args)) => args.job,
            _ => unreachable!("parsed above"),
        };
        assert_eq!(job("-1").straggler(4), Ok(Some(3)));
        assert_eq!(job("3").straggler(4), Ok(Some(3)));
        assert_eq!(job("4").straggler(4), Err("--straggler-rank is 4, expected -4 to 3 with 4 ranks".into()));
        assert!(job("-5").straggler(4).is_err());
    }
}
