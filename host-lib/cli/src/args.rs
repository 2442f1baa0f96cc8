//! The command line.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use optireduce::bootstrap::Launch;
use optireduce::protocol::HadamardMode;
use tracing_subscriber::EnvFilter;

/// Bounded-time all-reduce over UDP: every stage ends by its deadline, and what was lost is reported.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// What is logged to stderr: a level, or filters as `optireduce=debug`, which shows every collective and its stages as
    /// they end. Default: OPTIREDUCE_LOG, or RUST_LOG, or warn.
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
}

impl Args {
    /// What is logged.
    pub fn filter(&self) -> Result<EnvFilter, String> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given = self.log.clone().or_else(|| variable("OPTIREDUCE_LOG")).or_else(|| variable("RUST_LOG"));
        let filter = given.unwrap_or_else(|| "warn".into());
        EnvFilter::try_new(&filter).map_err(|error| format!("log filter {filter:?}: {error}"))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one rank of a job; every rank runs the same command.
    Run(RunArgs),
    /// Measure on this machine; starts the ranks itself.
    #[command(subcommand)]
    Bench(BenchCommand),
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// All-reduce among processes on this machine, over loopback.
    Allreduce(BenchAllReduceArgs),
    /// The Hadamard transform on one core, beside a copy of the same bytes and a plain loop.
    Hadamard(BenchHadamardArgs),
}

/// Arguments of `bench hadamard`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  optireduce bench hadamard --megabytes 25 --rounds 50 --json")]
pub struct BenchHadamardArgs {
    /// MiB of gradient a round.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub megabytes: u16,
    /// Rounds, in which all candidates take turns.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub rounds: u16,
    /// A line of JSON for each row instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// How gradients travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// OptiReduce over UDP: bounded, never sends again.
    Udp,
    /// Transpose AllReduce over TCP: reliable, waits for everybody.
    Tcp,
}

/// When collectives are Hadamard-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Hadamard {
    Off,
    On,
    /// Once more than 2 % were lost.
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

/// What both kinds of run take.
#[derive(Clone, Debug, clap::Args)]
pub struct JobArgs {
    /// Sizes of the all-reduced buffers: bytes, or with K, M or G.
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = size, default_value = "64K,1M,25M")]
    pub bench: Vec<usize>,
    /// Seconds for each size.
    #[arg(long, default_value_t = 3.0, value_parser = positive)]
    pub secs: f64,
    /// How gradients travel.
    #[arg(long, value_enum, default_value_t = EngineKind::Udp)]
    pub engine: EngineKind,
    /// Milliseconds that a rank is late in every call.
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    pub straggler_ms: f64,
    /// The late rank; negative numbers count from the end.
    #[arg(long, value_name = "R", default_value_t = -1, allow_negative_numbers = true)]
    pub straggler_rank: i64,
    /// Bound on each stage in milliseconds; 0: measured, the 95th percentile of 20 reliable collectives of the size.
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    pub bound_ms: f64,
    /// Silence after all peers' last packets that ends a stage, in microseconds; 0: stages wait for their bound. Default:
    /// follows loss and stage times.
    #[arg(long, value_name = "T")]
    pub grace_us: Option<u64>,
    /// Bytes of the largest IP packet. Default: what gets through between all ranks.
    #[arg(long)]
    pub mtu: Option<usize>,
    /// When collectives are Hadamard-encoded.
    #[arg(long, value_enum, default_value_t = Hadamard::Auto)]
    pub hadamard: Hadamard,
    /// Gradients travel as bf16.
    #[arg(long)]
    pub bf16: bool,
    /// Peers that a rank sends to at a time, 1 to 15. Default: as many as their loss allows.
    #[arg(long, value_name = "I")]
    pub incast: Option<usize>,
    /// The rate of each peer follows the round-trip times of its answers.
    #[arg(long)]
    pub rate_control: bool,
    /// What broadcasts lose is not fetched afterwards.
    #[arg(long)]
    pub no_repair: bool,
    /// Collectives in a row without a sign of a rank after which the others go on without it; 0: never.
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub drop_silent_after: u32,
    /// All-reduces on two levels, in so many groups of neighbouring ranks.
    #[arg(long, value_name = "G")]
    pub groups: Option<usize>,
    /// All ranks take the same action after each collective: what one would skip, all skip.
    #[arg(long)]
    pub agree: bool,
    /// Seconds that ranks wait for one another.
    #[arg(long, default_value_t = 60.0, value_parser = positive)]
    pub timeout_s: f64,
    /// A line of JSON for each size instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  torchrun --nproc-per-node 4 --no-python optireduce run --bench 64K,1M,25M
  optireduce run --rank 0 --world-size 2 --root 10.0.0.1:29517 --bench 1M --secs 5 --json
  torchrun --nproc-per-node 4 --no-python optireduce run --file 'gradients.{rank}.safetensors' --out 'mean.{rank}.safetensors'")]
pub struct RunArgs {
    /// This rank. Default: from the environment of torchrun, Open MPI, MPICH or Slurm.
    #[arg(long, requires = "world_size", requires = "root")]
    pub rank: Option<usize>,
    /// Ranks of the job.
    #[arg(long, requires = "rank")]
    pub world_size: Option<usize>,
    /// Where rank 0 listens.
    #[arg(long, value_name = "HOST:PORT")]
    pub root: Option<String>,
    /// Name or address of the interface to use. Default: the one on the way to rank 0.
    #[arg(long, value_name = "IF")]
    pub interface: Option<String>,
    /// Averages the tensors of this file among the ranks instead of measuring: fp32 in safetensors, or raw little-endian fp32
    /// under any other extension. {rank} stands for this rank.
    #[arg(long, value_name = "F", conflicts_with_all = ["bench", "secs", "straggler_ms", "straggler_rank"])]
    pub file: Option<String>,
    /// Where the mean goes, in the file's own format; {rank} as in --file. Not written if too much was lost.
    #[arg(long, value_name = "F", requires = "file")]
    pub out: Option<String>,
    #[command(flatten)]
    pub job: JobArgs,
}

impl RunArgs {
    /// This rank's place in its job.
    pub fn launch(&self) -> Result<Launch, String> {
        let launch = match (self.rank, self.world_size, &self.root) {
            (Some(rank), Some(world_size), Some(root)) => Launch::new(rank, world_size, root.clone()),
            _ => Launch::from_variables(|name| match (name, &self.root) {
                ("OPTIREDUCE_ROOT", Some(root)) => Some(root.clone()),
                _ => std::env::var(name).ok().filter(|value| !value.is_empty()),
            }),
        };
        launch.map_err(|error| error.to_string())
    }
}

/// Arguments of `bench allreduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  optireduce bench allreduce --ranks 2,4,8 --bench 1M
  optireduce bench allreduce --ranks 4 --bench 1M --straggler-ms 50 --engine tcp --json")]
pub struct BenchAllReduceArgs {
    /// Numbers of ranks.
    #[arg(long, value_delimiter = ',', default_value = "2,4")]
    pub ranks: Vec<usize>,
    #[command(flatten)]
    pub job: JobArgs,
}

impl JobArgs {
    /// The straggler's rank, if there is one.
    pub fn straggler(&self, ranks: usize) -> Option<usize> {
        (self.straggler_ms > 0.0).then(|| self.straggler_rank.rem_euclid(ranks as i64) as usize)
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_s)
    }
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

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value > 0.0)
        .ok_or_else(|| "expected a positive number".into())
}
