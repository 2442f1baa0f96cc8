//! The command `optireduce-sim`.
//!
//! Exit codes: 0 success, 1 a check or a rank failed, 2 could not run (arguments, files), 3 the
//! safeguard halted training.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use optireduce_contract::limits::RANKS_MAX;
use optireduce_core::protocol::HadamardMode;

use crate::bench;
use crate::campaign::cli::{self as campaign, CampaignArgs};
use crate::card::engine::Engine;
use crate::card_commands::{self, CheckBusArgs, DemoArgs};
use crate::check::oracle;
use crate::cluster::{Cluster, ClusterConfig, Early, StepRecord, Straggler, bound};
use crate::error::SimError;
use crate::input::{Gradients, SHIPPED, SHIPPED_NAME};
use crate::network::Impairments;
use crate::network::reliable;
use crate::report::{RunReport, StepReport};
use crate::report::{table, timeline};
use crate::serve_command::{self, ServeArgs};
use crate::stragglers::cli::{self as stragglers, StragglersArgs};

const EXAMPLES: &str = "Exit codes:
  0  done
  1  a check failed: a wrong result, or a rank that failed or hung
  2  could not run: bad arguments or files
  3  the safeguard halted: three steps in a row lost over 10 % each

Examples:
  optireduce-sim
  optireduce-sim allreduce --loss 0.01 --straggler 3:2000 --deadline-us 200
  optireduce-sim allreduce --engine functional --bf16 --rate-gbps 25 --json -";

const DEMONSTRATION: &str = "optireduce-sim allreduce --loss 0.01 --deadline-us 200 --straggler 3:2000";

/// Simulates jobs of OptiReduce SmartNICs and their network in virtual time
///
/// Simulates host library, driver and card of each rank. Without a command, runs a demonstration:
/// four ranks all-reduce built-in gradients, with 1 % packet loss and a straggler.
#[derive(Debug, Parser)]
#[command(name = "optireduce-sim", version, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All-reduce gradients step by step, and report loss and time
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Allreduce(Box<AllreduceArgs>),
    /// Run jobs with faults, one per seed, checked by independent judges
    Campaign(CampaignArgs),
    /// Compare all-reduces and Partial Reduce with slow workers
    ///
    /// Trains with workers that are slow or stall. All-reduces are reliable or bounded.
    Stragglers(StragglersArgs),
    /// Measure the card in cycles, or the driver in time
    Bench(BenchArgs),
    /// Serve simulated cards as PCIe devices on vfio-user sockets
    ///
    /// Cards run in wall-clock time until a signal arrives.
    Serve(ServeArgs),
    /// Check a card against the rules that every card bus obeys
    CheckBus(CheckBusArgs),
    /// Run a demonstration with virtual machines
    Demo(DemoArgs),
}

/// Arguments of `bench`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = BENCH_EXAMPLES, after_long_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Subject of the measurement
    #[arg(value_enum)]
    what: Bench,
    /// With `driver`: also measure the card at this PCI address or vfio-user socket; repeatable
    #[arg(long, value_name = "CARD")]
    card: Vec<String>,
    /// With `driver`: number of commands per card
    #[arg(long, value_name = "N", default_value_t = 1000)]
    commands: usize,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// Card: receive path and doorbell to completion in cycles, and simulated cycles per second
    /// with rust-hdl and Verilator
    Card,
    /// Driver: doorbell to completion, on a functional card in this process and on the cards of
    /// --card
    Driver,
}

const BENCH_EXAMPLES: &str = "Examples:
  optireduce-sim bench card
  optireduce-sim bench card --json
  optireduce-sim bench card --json > card.json
  optireduce-sim bench driver --card /tmp/card.sock";

/// Arguments of `allreduce`.
#[derive(Clone, Debug, PartialEq, Args)]
pub struct AllreduceArgs {
    /// Gradients as f32 tensors step0.rank0, step0.rank1, ... [default: built-in, of 4 ranks and 2
    /// steps]
    #[arg(long, value_name = "FILE.safetensors", help_heading = "Job")]
    input: Option<PathBuf>,
    /// Use only the first N ranks of the input, 2 to 64 [default: all]
    #[arg(long, value_name = "N", help_heading = "Job")]
    ranks: Option<usize>,
    /// Simulation engine of the cards
    #[arg(long, value_enum, default_value_t = Engine::Rtl, help_heading = "Job")]
    engine: Engine,
    /// Ranks without a card, whose host library sends the same packets
    #[arg(long, value_name = "RANK,...", value_delimiter = ',', help_heading = "Job")]
    software_ranks: Vec<usize>,
    /// Delay a rank's host by this many microseconds in every step; repeatable
    #[arg(long, value_name = "RANK:MICROSECONDS", value_parser = straggler, help_heading = "Job")]
    straggler: Vec<Straggler>,
    /// Seed of losses, delays and the transform's signs
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Job")]
    seed: u64,
    /// Probability that a packet is lost: at least 0, less than 1
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Network")]
    loss: f64,
    /// Probability that a packet arrives with a flipped bit: at least 0, less than 1
    ///
    /// Checksums keep such packets out of every mean.
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Network")]
    corrupt: f64,
    /// Median one-way delay, in us, 1 to 1000000
    #[arg(
        long,
        value_name = "MEDIAN",
        default_value_t = 10.0,
        allow_negative_numbers = true,
        help_heading = "Network"
    )]
    delay_us: f64,
    /// Ratio of the delay's P99 to its median, 1 to 1000
    #[arg(long, value_name = "R", default_value_t = 1.5, allow_negative_numbers = true, help_heading = "Network")]
    tail_ratio: f64,
    /// Bound t_B on each stage, in us, 1 to 4294967 [default: measured, at least 100]
    ///
    /// Software ranks measure the default on the same network, without stragglers.
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Protocol")]
    deadline_us: Option<f64>,
    /// End a stage early, once the last packets of all peers are followed by silence
    ///
    /// The silence lasts for an adaptive grace time.
    #[arg(long, value_enum, default_value_t = OnOff::On, help_heading = "Protocol")]
    early: OnOff,
    /// Hadamard encoding, which spreads each loss over a block of values
    ///
    /// `auto` encodes once the loss exceeds 2 %, until it is almost zero again.
    #[arg(long, value_enum, default_value_t = Hadamard::Auto, help_heading = "Protocol")]
    hadamard: Hadamard,
    /// Send gradients and means as bf16, half the bytes; sums stay fp32
    ///
    /// Each value is rounded when sent, an NMSE of about 5e-6.
    #[arg(long, help_heading = "Protocol")]
    bf16: bool,
    /// Number of peers a rank sends to concurrently, 1 to 15
    ///
    /// A stage has ceil((ranks - 1) / I) rounds.
    #[arg(long, value_name = "I", default_value_t = 1, help_heading = "Protocol")]
    incast: usize,
    /// Rate from a rank to each peer, in Gb/s, 0.008 to 100 [default: line rate, 100]
    ///
    /// The rate includes headers and gaps, and is a multiple of 0.008 Gb/s.
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Protocol")]
    rate_gbps: Option<f64>,
    /// Write the result of each rank, with tensors named as in the input
    #[arg(long, value_name = "FILE.safetensors", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the report as JSON, or with - print it instead of the tables
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<PathBuf>,
    /// Write the waveforms of all cards
    #[arg(long, value_name = "FILE.vcd", help_heading = "Output")]
    vcd: Option<PathBuf>,
    /// Write all frames that reach a rank, for Wireshark
    ///
    /// `optireduce-hdl contract --format wireshark` prints the dissector.
    #[arg(long, value_name = "FILE.pcap", help_heading = "Output")]
    pcap: Option<PathBuf>,
    /// Draw the stages of each rank over time, for the first step
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    svg: Option<PathBuf>,
}

/// Largest `--incast`.
const INCAST_MAX: usize = 15;
const BYTES_PER_US_AT_1_GBPS: f64 = 125.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnOff {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hadamard {
    On,
    Off,
    Auto,
}

impl AllreduceArgs {
    /// The demonstration: 1 % loss, and rank 3 later than t_B. Equals [`DEMONSTRATION`].
    fn demonstration() -> Self {
        Self {
            input: None,
            ranks: None,
            engine: Engine::Rtl,
            software_ranks: Vec::new(),
            loss: 0.01,
            corrupt: 0.0,
            delay_us: 10.0,
            tail_ratio: 1.5,
            straggler: vec![Straggler { rank: 3, delay_ns: 2_000_000 }],
            deadline_us: Some(200.0),
            early: OnOff::On,
            hadamard: Hadamard::Auto,
            bf16: false,
            incast: 1,
            rate_gbps: None,
            seed: 1,
            output: None,
            json: None,
            vcd: None,
            pcap: None,
            svg: None,
        }
    }

    fn gradients(&self) -> Result<(String, Gradients), SimError> {
        if let Some(ranks) = self.ranks.filter(|ranks| !(2..=RANKS_MAX).contains(ranks)) {
            return Err(SimError::Argument(format!("--ranks is {ranks}, expected 2 to {RANKS_MAX}")));
        }
        let (name, gradients) = match &self.input {
            Some(path) => (path.display().to_string(), Gradients::from_file(path, self.ranks)?),
            None => (SHIPPED_NAME.to_owned(), Gradients::from_bytes(SHIPPED_NAME, SHIPPED, self.ranks)?),
        };
        let ranks = gradients.ranks();
        if !(2..=RANKS_MAX).contains(&ranks) {
            let problem = format!("tensors of {ranks} ranks, expected 2 to {RANKS_MAX}");
            return Err(SimError::Input { file: name, problem });
        }
        Ok((name, gradients))
    }

    /// Returns the cluster to simulate. Checks the range of every number.
    fn cluster(&self, gradients: &Gradients) -> Result<ClusterConfig, SimError> {
        // `contains` rejects NaN.
        let check = |ok: bool, name: &str, found: f64, expected: &str| {
            let error = || SimError::Argument(format!("--{name} is {found}, expected {expected}"));
            if ok { Ok(()) } else { Err(error()) }
        };
        check((0.0..1.0).contains(&self.loss), "loss", self.loss, "at least 0 and less than 1")?;
        check((0.0..1.0).contains(&self.corrupt), "corrupt", self.corrupt, "at least 0 and less than 1")?;
        check((1.0..=1e6).contains(&self.delay_us), "delay-us", self.delay_us, "1 to 1000000")?;
        check((1.0..=1e3).contains(&self.tail_ratio), "tail-ratio", self.tail_ratio, "1 to 1000")?;
        check((1..=INCAST_MAX).contains(&self.incast), "incast", self.incast as f64, &format!("1 to {INCAST_MAX}"))?;
        if let Some(gbps) = self.rate_gbps {
            check((0.008..=100.0).contains(&gbps), "rate-gbps", gbps, "0.008 to 100")?;
        }
        let ranks = gradients.ranks();
        if let Some(straggler) = self.straggler.iter().find(|straggler| straggler.rank >= ranks) {
            let (rank, last) = (straggler.rank, ranks - 1);
            return Err(SimError::Argument(format!("--straggler names rank {rank}, expected 0 to {last}")));
        }
        if let Some(rank) = self.software_ranks.iter().find(|rank| **rank >= ranks) {
            return Err(SimError::Argument(format!("--software-ranks names rank {rank}, expected 0 to {}", ranks - 1)));
        }
        let impairments = Impairments {
            seed: self.seed,
            delay_us_median: self.delay_us,
            tail_ratio: self.tail_ratio,
            loss: self.loss,
            corrupt: self.corrupt,
            ..Impairments::default()
        };
        let hadamard = match self.hadamard {
            Hadamard::On => HadamardMode::On,
            Hadamard::Off => HadamardMode::Off,
            Hadamard::Auto => HadamardMode::Auto,
        };
        let stragglers = self.straggler.clone();
        let mut config = ClusterConfig {
            impairments,
            hadamard,
            stragglers,
            software_ranks: self.software_ranks.clone(),
            bf16: self.bf16,
            incast: self.incast,
            rate_bytes_per_us: self.rate_gbps.map_or(0, |gbps| (gbps * BYTES_PER_US_AT_1_GBPS).round() as u16),
            ..ClusterConfig::new(self.engine, ranks)
        };
        config.early = if self.early == OnOff::On { Early::Adaptive } else { Early::Off };
        config.bound_ns = match self.deadline_us {
            Some(us) => {
                let most = u64::from(u32::MAX) / 1000;
                check((1.0..=most as f64).contains(&us), "deadline-us", us, &format!("1 to {most}"))?;
                (us * 1000.0) as u64
            }
            None => bound::measure(&config, gradients.elements_max())?.max(bound::BOUND_MIN_NS),
        };
        Ok(config)
    }
}

fn straggler(text: &str) -> Result<Straggler, String> {
    let expected = || "expected RANK:MICROSECONDS, for instance 3:500".to_owned();
    let (rank, delay) = text.split_once(':').ok_or_else(expected)?;
    let rank = rank.parse().map_err(|_| expected())?;
    let delay_us: f64 = delay.parse().map_err(|_| expected())?;
    if !(0.0..=1e9).contains(&delay_us) {
        return Err(format!("a delay of {delay_us} us, expected 0 to 1000000000"));
    }
    Ok(Straggler { rank, delay_ns: (delay_us * 1000.0) as u64 })
}

/// Runs the command, writes results to `out` and returns the exit code.
///
/// # Errors
/// See [`SimError`]; [`SimError::exit_code`] maps it to the exit code.
pub fn run(cli: Cli, out: &mut dyn Write) -> Result<u8, SimError> {
    match cli.command {
        Some(Command::Allreduce(args)) => allreduce(&args, out),
        Some(Command::Bench(BenchArgs { what: Bench::Driver, card, commands, json })) => {
            let figures = bench::doorbell::doorbells(&card, commands)?;
            let text = if json {
                serde_json::to_string_pretty(&figures).unwrap_or_default() + "\n"
            } else {
                bench::doorbell::text(&figures)
            };
            print(out, &text)?;
            Ok(0)
        }
        Some(Command::Bench(BenchArgs { what: Bench::Card, card, json, .. })) => {
            if let Some(card) = card.first() {
                return Err(SimError::Argument(format!("--card {card}: only valid with `bench driver`")));
            }
            let progress = |what: &str| drop(writeln!(std::io::stderr(), "measuring: {what}"));
            let figures = bench::card_figures(&Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None)?, progress)?;
            let text = if json {
                serde_json::to_string_pretty(&figures).unwrap_or_default() + "\n"
            } else {
                bench::text(&figures)
            };
            print(out, &text)?;
            Ok(0)
        }
        Some(Command::Campaign(args)) => {
            let (text, code) = campaign::command(&args)?;
            print(out, &text)?;
            Ok(code)
        }
        Some(Command::Stragglers(args)) => {
            let progress = |what: &str| drop(writeln!(std::io::stderr(), "training: {what}"));
            print(out, &stragglers::command(&args, progress)?)?;
            Ok(0)
        }
        Some(Command::CheckBus(args)) => {
            print(out, &card_commands::check(&args)?)?;
            Ok(0)
        }
        Some(Command::Demo(args)) => card_commands::demo(&args, &mut |text| print(out, text)),
        Some(Command::Serve(args)) => serve_command::run(&args, &mut |text| print(out, text)),
        None => {
            print(out, &format!("Demonstration: {DEMONSTRATION}\n\n"))?;
            allreduce(&AllreduceArgs::demonstration(), out)
        }
    }
}

fn allreduce(args: &AllreduceArgs, out: &mut dyn Write) -> Result<u8, SimError> {
    let (name, gradients) = args.gradients()?;
    let config = args.cluster(&gradients)?;
    let files = [&args.output, &args.json, &args.svg].into_iter().flatten();
    files.filter(|path| *path != Path::new("-")).try_for_each(|path| check_writable(path))?;
    let started = Instant::now();
    let mut cluster = Cluster::new(config.clone())?;
    record(args, &mut cluster)?;
    let is_text = args.json.as_deref() != Some(Path::new("-"));
    if is_text {
        print(out, &format!("{}\n\n", table::header(&config, &name)))?;
    }
    let progress = Progress::new(gradients.steps.len());
    let (mut steps, mut outputs) = (Vec::new(), Gradients { steps: Vec::new() });
    for step in &gradients.steps {
        let record = cluster.step(step, |virtual_ns| progress.at(steps.len(), virtual_ns))?;
        check(&record, step)?;
        let report = StepReport::new(&record, step);
        let picture = args.svg.as_ref().filter(|_| steps.is_empty());
        if is_text || picture.is_some() {
            let starts: Vec<_> = (0..config.ranks).map(|rank| config.delay_ns(rank)).collect();
            let reliable = reliable::run(&record.plans, config.sending(), &config.impairments, &starts);
            if let Some(path) = picture {
                let written = |source| SimError::File { path: path.clone(), action: "write", source };
                std::fs::write(path, timeline::svg(&config, &record, &reliable)).map_err(written)?;
            }
            if is_text {
                progress.suspend(|| print(out, &format!("{}\n", table::step(&record, &report, &reliable))))?;
            }
        }
        steps.push(report);
        outputs.steps.push(record.ranks.into_iter().map(|rank| rank.output).collect());
    }
    progress.finish();
    if let Some(path) = &args.pcap {
        cluster.finish_pcap().map_err(|source| SimError::File { path: path.clone(), action: "write", source })?;
    }
    let wall_s = started.elapsed().as_secs_f64();
    let cycles: u64 = steps.iter().map(|step| step.cycles).sum();
    let cycles_per_s = cycles as f64 / wall_s;
    let report = RunReport {
        seed: args.seed,
        ranks: config.ranks,
        engine: config.engine,
        software_ranks: config.software_ranks.clone(),
        bf16: config.bf16,
        incast: config.incast,
        rate_gbps: (config.rate_bytes_per_us > 0).then(|| f64::from(config.rate_bytes_per_us) / BYTES_PER_US_AT_1_GBPS),
        steps,
        wall_s,
        cycles_per_s,
    };
    if let Some(path) = &args.output {
        outputs.to_file(path)?;
    }
    if let Some(path) = &args.json {
        write_json(&report, path, out)?;
    }
    if is_text {
        print(out, &format!("{}\n", table::MODEL))?;
    }
    Ok(if report.is_halted() { 3 } else { 0 })
}

fn record(args: &AllreduceArgs, cluster: &mut Cluster) -> Result<(), SimError> {
    type Begin = fn(&mut Cluster, Box<dyn Write>) -> std::io::Result<()>;
    let files: [(_, Begin); 2] = [(&args.vcd, Cluster::record_vcd), (&args.pcap, Cluster::record_pcap)];
    for (path, begin) in files {
        let Some(path) = path else { continue };
        let written = |source| SimError::File { path: path.clone(), action: "write", source };
        let file = File::create(path).map_err(written)?;
        begin(cluster, Box::new(BufWriter::new(file))).map_err(written)?;
    }
    Ok(())
}

/// Checks each rank's result bit for bit against the one computed from the accepted beats.
fn check(record: &StepRecord, gradients: &[Vec<f32>]) -> Result<(), SimError> {
    let traces: Vec<_> = record.ranks.iter().map(|rank| rank.trace.clone()).collect();
    let failed = |what: String| SimError::Check(format!("step {}: {what}", record.op));
    let expected = oracle::outputs(&record.plans, gradients, &traces).map_err(failed)?;
    for (rank, (found, expected)) in record.ranks.iter().zip(&expected).enumerate() {
        let mut pairs = found.output.iter().zip(expected).enumerate();
        if let Some((at, (found, expected))) =
            pairs.find(|(_, (found, expected))| found.to_bits() != expected.to_bits())
        {
            return Err(failed(format!("rank {rank} element {at} is {found:e}, expected {expected:e}")));
        }
    }
    Ok(())
}

/// Fails early if a file cannot be written. Existing contents stay.
fn check_writable(path: &Path) -> Result<(), SimError> {
    let found = path.metadata();
    // Opening and closing a pipe would signal its reader the end of the output.
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    let written = |source| SimError::File { path: path.into(), action: "write", source };
    OpenOptions::new().append(true).create(true).open(path).map_err(written)?;
    if found.is_err() { std::fs::remove_file(path).map_err(written) } else { Ok(()) }
}

fn write_json(report: &RunReport, path: &Path, out: &mut dyn Write) -> Result<(), SimError> {
    let text =
        serde_json::to_string_pretty(report).map_err(|error| SimError::Check(format!("report: {error}")))? + "\n";
    if path == Path::new("-") {
        return print(out, &text);
    }
    std::fs::write(path, text).map_err(|source| SimError::File { path: path.into(), action: "write", source })
}

/// Writes a result. A closed pipe is not an error.
fn print(out: &mut dyn Write, text: &str) -> Result<(), SimError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(SimError::File { path: "stdout".into(), action: "write", source })
        }
        _ => Ok(()),
    }
}

/// A progress bar, shown if stderr is a terminal and the work takes more than a second.
struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    fn new(steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let template = if plain { "{bar:30} {msg}" } else { "{bar:30.cyan} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now() }
    }

    fn at(&self, step: usize, virtual_ns: u64) {
        if self.bar.is_hidden() && self.started.elapsed() > Duration::from_secs(1) && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(step as u64);
        self.bar.set_message(format!("step {step}, {} us simulated", virtual_ns / 1000));
    }

    fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        self.bar.suspend(act)
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demonstration_is_the_command_that_it_shows() {
        let shown = Cli::try_parse_from(DEMONSTRATION.split(' ')).unwrap();
        let Some(Command::Allreduce(shown)) = shown.command else { panic!("another command") };
        assert_eq!(*shown, AllreduceArgs::demonstration());
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
