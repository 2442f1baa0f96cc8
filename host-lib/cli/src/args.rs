//! The command line.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use optireduce::binding::Launch;
use optireduce::binding::memory::require_each;
use optireduce::{Origin, Setting, Settings};
use optireduce_core::protocol::{LOSS_SKIP, SKIPS_HALT};
use tracing_subscriber::filter::Targets;

use crate::settings::{Flags, OUTPUT, PLACE, SettingsArgs, TRANSPORT};
use crate::tensors::is_safetensors;

/// Most ranks of a job, on two levels.
const RANKS_MAX: usize = 65_536;

/// End of the short help: the first examples.
fn short_end(examples: &str) -> String {
    examples.lines().take(4).collect::<Vec<_>>().join("\n")
}

fn help_end(examples: &str) -> String {
    let percent = LOSS_SKIP * 100.0;
    format!(
        "Exit codes:
  0  done
  1  done, but the result is incomplete
  2  could not run or finish: bad arguments, files, peers
  3  the safeguard halted: {SKIPS_HALT} collectives in a row lost over {percent} % each

{examples}"
    )
}

const EXAMPLES: &str = "Examples:
  optireduce bench allreduce --ranks 2,4 --bench 64K,1M
  torchrun --nproc-per-node 4 --no-python optireduce run --bench 1M,25M
  optireduce run --rank 0 --world-size 2 --root 10.0.0.1:29517 --bench 1M";

const RUN_EXAMPLES: &str = "Examples:
  torchrun --nproc-per-node 4 --no-python optireduce run --bench 64K,1M,25M
  optireduce run --rank 0 --world-size 2 --root 10.0.0.1:29517 --bench 1M
  torchrun --nproc-per-node 4 --no-python optireduce run --partial 2 --json
  mpirun -n 4 optireduce run --file 'in.{rank}.f32' --out 'mean.{rank}.f32'
  mpirun -n 2 optireduce run --bench 64K --card '/tmp/card.sock.{rank}'";

const BENCH_EXAMPLES: &str = "Examples:
  optireduce bench allreduce --ranks 2,4,8 --bench 1M
  optireduce bench allreduce --ranks 4 --bench 1M --straggler-ms 50 --engine tcp
  optireduce bench allreduce --ranks 4 --bench 20M --in-flight 20
  optireduce bench allreduce --ranks 4 --bench 1M,25M --shared-memory off
  optireduce bench allreduce --ranks 4 --rounds 5 --json > before.jsonl
  optireduce bench allreduce --ranks 4 --rounds 5 --compare before.jsonl";

const HADAMARD_EXAMPLES: &str = "Examples:
  optireduce bench hadamard
  optireduce bench hadamard --megabytes 25 --rounds 50
  optireduce bench hadamard --megabytes 1 --json > rows.jsonl";

// Headings of `--help`.
const MEASUREMENT: &str = "Measurement";
const FILES: &str = "Averaging a file";

/// Memory of a rank per byte of its largest size: up to 4 buffers with the encoding, 1 for repairs.
const MEMORY_PER_BYTE: u64 = 5;
/// Memory of a rank that does not depend on sizes.
const MEMORY_BYTES: u64 = 32 << 20;

const TIME_S_MAX: f64 = 3600.0;

/// Bounded-time all-reduce over UDP: stages end by a deadline and report losses
#[derive(Debug, Parser)]
#[command(name = "optireduce", version, arg_required_else_help = true, after_help = short_end(EXAMPLES), after_long_help = help_end(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    // Not `--log`: torchrun's argparse sees the whole command line, takes `--log` for an ambiguous
    // abbreviation of its own --log-dir and --logs-specs, and refuses it.
    /// Log level, or filters [default: warn]
    ///
    /// optireduce=debug logs every collective with its stages. Logs go to stderr. The default is
    /// $OPTIREDUCE_LOG or $RUST_LOG, if they are set.
    #[arg(long, global = true, value_name = "FILTER", help_heading = OUTPUT)]
    pub log_filter: Option<String>,
}

impl Args {
    pub fn filter(&self) -> Result<Targets, String> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given = self.log_filter.clone().or_else(|| variable("OPTIREDUCE_LOG")).or_else(|| variable("RUST_LOG"));
        let filter = given.unwrap_or_else(|| "warn".into());
        filter.parse::<Targets>().map_err(|error| format!("log filter {filter:?}: {error}"))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one rank of a job, which measures all-reduces or averages a file
    ///
    /// Start every rank with the same command: by torchrun, mpirun or srun, or by hand with --rank,
    /// --world-size and --root.
    Run(RunArgs),
    /// Measure on this machine, without a launcher
    #[command(subcommand)]
    Bench(BenchCommand),
    /// List all settings, with their values in force and where these come from
    Settings(SettingsArgs),
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure all-reduces between ranks that it starts on this machine
    Allreduce(BenchAllReduceArgs),
    /// Measure the Hadamard transform on one core
    ///
    /// Compares the transform with a copy of the same bytes and a plain loop.
    Hadamard(BenchHadamardArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = short_end(HADAMARD_EXAMPLES), after_long_help = help_end(HADAMARD_EXAMPLES))]
pub struct BenchHadamardArgs {
    /// Size of the gradient, 1 to 4096 MiB [default: 25 MiB]
    #[arg(long, value_name = "MIB", default_value_t = 25, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = MEASUREMENT)]
    pub megabytes: u16,
    /// Number of rounds, 1 to 10000; each runs every kernel once [default: 20 rounds]
    #[arg(long, value_name = "N", default_value_t = 20, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=10_000), help_heading = MEASUREMENT)]
    pub rounds: u16,
    /// Print one line of JSON per row instead of a table
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// OptiReduce over UDP: bounded time, lost gradients are not retransmitted
    Udp,
    /// Transpose AllReduce over TCP: exact, waits for every rank
    Tcp,
}

/// Arguments that `run` and `bench allreduce` share.
#[derive(Clone, Debug, clap::Args)]
pub struct JobArgs {
    /// Buffer sizes, in bytes, K, M or G [default: 64K,1M,25M]
    ///
    /// K is KiB, M is MiB, G is GiB.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = size, default_value = "64K,1M,25M",
          hide_default_value = true, help_heading = MEASUREMENT)]
    pub bench: Vec<usize>,
    /// Measuring time per size [default: 3 s]
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds, hide_default_value = true,
          help_heading = MEASUREMENT)]
    pub secs: f64,
    /// Buckets in flight, 1 to 1024 [default: 1 bucket]
    ///
    /// Each size is split into as many. DDP reduces a model in this way. Not with --groups,
    /// --engine tcp or --rejoin.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = MEASUREMENT)]
    pub in_flight: u16,
    /// Omit the barrier before each call; times then include waiting for late ranks
    #[arg(long, hide_short_help = true, help_heading = MEASUREMENT)]
    pub back_to_back: bool,
    /// Delay of a straggler before each call [default: 0 ms]
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds, hide_default_value = true,
          allow_negative_numbers = true, help_heading = MEASUREMENT)]
    pub straggler_ms: f64,
    /// Rank of the straggler; negative numbers count from the end [default: -1, the last rank]
    #[arg(long, value_name = "RANK", default_value_t = -1, hide_default_value = true, allow_negative_numbers = true,
          hide_short_help = true, help_heading = MEASUREMENT)]
    pub straggler_rank: i64,
    /// Transport of gradients [default: udp]
    ///
    /// udp includes shared memory between ranks of a host.
    #[arg(long, value_enum, value_name = "udp|tcp", default_value_t = EngineKind::Udp, hide_default_value = true,
          hide_possible_values = true, help_heading = TRANSPORT)]
    pub engine: EngineKind,
    #[command(flatten)]
    pub flags: Flags<false>,
    /// Print one line of JSON per size instead of a table
    ///
    /// Keys contain units.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = short_end(RUN_EXAMPLES), after_long_help = help_end(RUN_EXAMPLES))]
pub struct RunArgs {
    #[command(flatten)]
    pub place: Flags<true>,
    /// Use a --secret-file that other users of this host may access
    #[arg(long, hide_short_help = true, requires = "secret_file", help_heading = PLACE)]
    pub allow_readable_secret: bool,
    /// Average the tensors of this file instead of measuring
    ///
    /// {rank} is replaced by the rank. F32, BF16 or F16 tensors in safetensors, or raw
    /// little-endian fp32 with other extensions.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bench", "secs", "in_flight", "back_to_back", "straggler_ms", "straggler_rank"],
          help_heading = FILES)]
    pub file: Option<String>,
    /// File for the mean, in the format of --file
    ///
    /// {rank} is replaced by the rank. If any rank lacks values, no rank writes, and the exit code
    /// is 1. If some values are means of fewer ranks, all ranks write, and the exit code is 1.
    #[arg(long, value_name = "FILE", requires = "file", help_heading = FILES)]
    pub out: Option<String>,
    /// Measure Partial Reduce in groups of this size
    ///
    /// A group has 2 to all ranks and begins once they are ready. The ranks of a group average
    /// their models without waiting for other ranks.
    #[arg(long, value_name = "RANKS", conflicts_with_all = ["file", "groups", "rejoin", "bf16", "in_flight", "back_to_back"], help_heading = MEASUREMENT)]
    pub partial: Option<usize>,
    #[command(flatten)]
    pub job: JobArgs,
}

const NOT_ENTERED: &str = "a job with --file, --groups, --partial, --in-flight, --card or --engine tcp cannot be rejoined; restart all its ranks";

impl RunArgs {
    /// Settings of the library: flags, and otherwise the environment.
    pub fn settings(&self) -> Result<Settings, String> {
        let mut settings = Settings::new();
        self.place.apply(&mut settings)?;
        self.job.flags.apply(&mut settings)?;
        Ok(settings)
    }

    /// Place of this process in its job.
    pub fn launch(&self) -> Result<Launch, String> {
        let settings = self.settings()?;
        let launch = settings.launch().map_err(|error| error.to_string())?;
        if launch.rejoin && !self.may_be_entered() {
            let origin = settings.find("rejoin").map_or(Origin::Default, |(_, origin)| origin);
            let by = Setting::named("rejoin").map_or(String::new(), |rejoin| rejoin.origin(origin));
            return Err(format!("{by}: {NOT_ENTERED}"));
        }
        Ok(launch)
    }

    fn has_card(&self) -> bool {
        self.place.has("card")
    }

    fn may_be_entered(&self) -> bool {
        let is_plain = self.file.is_none() && !self.job.has_groups() && self.partial.is_none();
        is_plain && !self.has_card() && self.job.in_flight == 1 && self.job.engine == EngineKind::Udp
    }

    /// Whether the job has one level, whatever the environment says.
    pub fn has_one_level(&self) -> bool {
        self.partial.is_some() || self.has_card() || self.job.engine == EngineKind::Tcp
    }

    pub fn check(&self) -> Result<(), String> {
        if let (Some(file), Some(out)) = (&self.file, &self.out)
            && is_safetensors(file) != is_safetensors(out)
        {
            return Err(format!(
                "--out is {out}, expected the format of --file {file}; end both names with .safetensors, or neither"
            ));
        }
        if self.partial.is_some() && self.job.engine == EngineKind::Tcp {
            return Err("--partial: groups average over UDP; leave out --engine tcp".into());
        }
        let beside_card = [
            ("--engine tcp", self.job.engine == EngineKind::Tcp, "uses TCP"),
            ("--groups", self.job.flags.has("groups"), "uses the kernel's UDP"),
            ("--partial", self.partial.is_some(), "uses the kernel's UDP"),
        ];
        let over_udp = [("--groups", self.job.flags.has("groups")), ("--partial", self.partial.is_some())];
        if self.place.get("card_fallback").is_some_and(|fallback| fallback != "off")
            && let Some((option, _)) = over_udp.into_iter().find(|(_, is_given)| *is_given)
        {
            return Err(format!("--card-fallback: {option} uses the kernel's UDP; leave out one of them"));
        }
        if self.has_card()
            && let Some((option, _, because)) = beside_card.into_iter().find(|(_, is_given, _)| *is_given)
        {
            return Err(format!("--card: {option} {because}; leave out one of them"));
        }
        self.job.check_in_flight()?;
        if self.place.get("rejoin").is_some_and(|value| value == "on") && !self.may_be_entered() {
            return Err(format!("--rejoin: {NOT_ENTERED}"));
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = short_end(BENCH_EXAMPLES), after_long_help = help_end(BENCH_EXAMPLES))]
pub struct BenchAllReduceArgs {
    /// Numbers of ranks to measure, 2 to 65536; above 1024 see --groups [default: 2,4 ranks]
    #[arg(long, value_name = "RANKS,...", value_delimiter = ',', default_value = "2,4", hide_default_value = true,
          value_parser = ranks, help_heading = MEASUREMENT)]
    pub ranks: Vec<usize>,
    /// Number of rounds over all sizes and numbers of ranks, 1 to 100 [default: 1 round]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u8).range(1..=100), help_heading = MEASUREMENT)]
    pub rounds: u8,
    /// Also print ratios to an earlier run, whose --json output is in this file
    #[arg(long, value_name = "FILE", conflicts_with = "json", help_heading = OUTPUT)]
    pub compare: Option<String>,
    #[command(flatten)]
    pub job: JobArgs,
}

impl BenchAllReduceArgs {
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
    fn has_groups(&self) -> bool {
        let mut settings = Settings::new();
        self.flags.apply(&mut settings).is_ok() && settings.get("groups").is_ok_and(|groups| groups != "none")
    }

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

    fn check_in_flight(&self) -> Result<(), String> {
        if self.in_flight > 1 && (self.has_groups() || self.engine == EngineKind::Tcp) {
            return Err(
                "--in-flight: several buckets are not possible with --groups or --engine tcp; leave out one of them"
                    .into(),
            );
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

    /// Fails if this host lacks the memory for `ranks` ranks that measure these sizes.
    pub fn require_memory(&self, ranks: usize) -> Result<(), String> {
        let size = self.bench.iter().copied().max().unwrap_or(0) as u64;
        let needed = size.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BYTES);
        let what = format!("--bench {} with {ranks} rank(s) on this host", crate::times::size_text(size as usize));
        require_each(what, ranks, needed, "give smaller sizes, or fewer ranks").map_err(|error| error.to_string())
    }

    pub fn timeout(&self) -> Result<Duration, String> {
        let mut settings = Settings::new();
        self.flags.apply(&mut settings)?;
        let timeout_s = settings.get("timeout_s").map_err(|error| error.to_string())?;
        Ok(Duration::from_secs_f64(timeout_s.parse().unwrap_or(0.0)))
    }
}

fn ranks(text: &str) -> Result<usize, String> {
    let ranks = text.parse().ok().filter(|ranks| (2..=RANKS_MAX).contains(ranks));
    ranks.ok_or_else(|| format!("expected 2 to {RANKS_MAX} ranks"))
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

    /// Long options of torchrun (PyTorch 2.9). It also accepts them with underscores.
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
    fn help_fits_a_terminal_of_80_columns_and_a_page() {
        for mut command in commands() {
            let name = command.get_name().to_owned();
            command = command.term_width(80).max_term_width(80);
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let wide: Vec<_> = short.lines().chain(long.lines()).filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{name}: {wide:#?}");
            let lines = short.lines().count();
            assert!(lines <= 64, "the short help of {name} has {lines} lines:\n{short}");
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
