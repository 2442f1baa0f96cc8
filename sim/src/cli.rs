//! The command `optireduce-sim`: arguments, and what it does with them.
//!
//! Exit codes: 0 success; 1 it ran, but a check or a rank failed; 2 it could not run (arguments, files); 3 the safeguard
//! halted training.

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
  0  success
  1  a check failed: a result differs from the one calculated independently, or a rank failed or hung
  2  could not run: wrong arguments, or a file that cannot be read or written
  3  the safeguard halted training: three steps in a row lost more than 10 %

Examples:
  optireduce-sim
  optireduce-sim allreduce --loss 0.01 --straggler 3:2000 --deadline-us 200 --seed 7
  optireduce-sim allreduce --engine functional --bf16 --incast 3 --rate-gbps 25 --json -";

/// The command that the demonstration runs.
const DEMONSTRATION: &str = "optireduce-sim allreduce --loss 0.01 --deadline-us 200 --straggler 3:2000";

/// Simulates a job of OptiReduce SmartNICs in virtual time: host library, driver and card of every rank, and the network
///
/// Without a command, runs a demonstration: four ranks all-reduce gradients that come with the program, with 1 % packet loss and a
/// straggler.
#[derive(Debug, Parser)]
#[command(name = "optireduce-sim", version, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All-reduce gradients, step by step; report what was lost and how long it took
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Allreduce(Box<AllreduceArgs>),
    /// Run whole jobs under faults in virtual time, each from one seed, and check them with independent judges
    Campaign(CampaignArgs),
    /// Train with workers that are slow or stall: all-reduces, bounded all-reduces and Partial Reduce side by side
    Stragglers(StragglersArgs),
    /// Measure the cycle-level card: cycles along its paths, and simulation speed
    Bench(BenchArgs),
    /// Serve cards as PCIe devices on sockets, for a driver, or a virtual machine, in wall-clock time
    Serve(ServeArgs),
    /// Hold a card, on a PCI bus or served on a socket, to the rules that hold for every way to a card
    CheckBus(CheckBusArgs),
    /// Show something to a person
    Demo(DemoArgs),
}

/// Arguments of `bench`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = BENCH_EXAMPLES, after_long_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// What to measure
    #[arg(value_enum)]
    what: Bench,
    /// With `driver`: also measure this card, a PCI address or the path of a vfio-user socket; repeatable
    #[arg(long, value_name = "CARD")]
    card: Vec<String>,
    /// With `driver`: how many commands are measured on each card
    #[arg(long, value_name = "N", default_value_t = 1000)]
    commands: usize,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// The card: receive path, doorbell to completion, and simulated cycles per second under rust-hdl and Verilator
    Card,
    /// The driver: doorbell to completion, on a functional card in this process and on those that are named
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
    /// Gradients: f32 tensors named step0.rank0, step0.rank1, ... [default: built-in gradients of 4 ranks, 2 steps]
    #[arg(long, value_name = "FILE.safetensors", help_heading = "Job")]
    input: Option<PathBuf>,
    /// Use only the first N ranks of the input, 2 to 64 [default: all of them]
    #[arg(long, value_name = "N", help_heading = "Job")]
    ranks: Option<usize>,
    /// How cards are simulated
    #[arg(long, value_enum, default_value_t = Engine::Rtl, help_heading = "Job")]
    engine: Engine,
    /// Ranks without a card: the host library does the card's work and sends the same packets
    #[arg(long, value_name = "RANK,...", value_delimiter = ',', help_heading = "Job")]
    software_ranks: Vec<usize>,
    /// Makes a rank's host late, in every step, by this many microseconds; repeatable
    #[arg(long, value_name = "RANK:MICROSECONDS", value_parser = straggler, help_heading = "Job")]
    straggler: Vec<Straggler>,
    /// Seed of losses, delays and the transform's signs
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Job")]
    seed: u64,
    /// Probability that a packet is lost: at least 0, less than 1
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Network")]
    loss: f64,
    /// Probability that a packet arrives with a flipped bit: at least 0, less than 1. UDP's checksum keeps such packets out of
    /// every mean
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Network")]
    corrupt: f64,
    /// Median one-way delay, in us
    #[arg(
        long,
        value_name = "MEDIAN",
        default_value_t = 10.0,
        allow_negative_numbers = true,
        help_heading = "Network"
    )]
    delay_us: f64,
    /// Tail of the delay: P99 / P50, at least 1
    #[arg(long, value_name = "R", default_value_t = 1.5, allow_negative_numbers = true, help_heading = "Network")]
    tail_ratio: f64,
    /// Deadline t_B of each stage of a window, in us, up to 4294967 [default: measured as the host library does, in a
    /// warm-up of software ranks on the same network, without stragglers; at least 100]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Protocol")]
    deadline_us: Option<f64>,
    /// Whether a stage may close before its deadline: once the last packets of all peers have been seen and silence follows, for a
    /// grace time that adapts to losses and to the stage times of all ranks
    #[arg(long, value_enum, default_value_t = OnOff::On, help_heading = "Protocol")]
    early: OnOff,
    /// Hadamard transform of gradients and means; auto: once more than 2 % are lost, over some hundred packets
    #[arg(long, value_enum, default_value_t = Hadamard::Auto, help_heading = "Protocol")]
    hadamard: Hadamard,
    /// Send gradients and means as bf16: half the bytes. Sums stay fp32; each value is rounded when it is sent, an NMSE of about
    /// 5e-6
    #[arg(long, help_heading = "Protocol")]
    bf16: bool,
    /// Peers that a rank sends to at the same time, 1 to 15: a stage has ceil((ranks - 1) / I) rounds
    #[arg(long, value_name = "I", default_value_t = 1, help_heading = "Protocol")]
    incast: usize,
    /// Rate at which a rank sends to each peer, headers and gaps included, in Gb/s: 0.008 to 100, in steps of 0.008 [default: line
    /// rate, 100 Gb/s]
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Protocol")]
    rate_gbps: Option<f64>,
    /// Write what each rank got, as tensors of the same names as the input's
    #[arg(long, value_name = "FILE.safetensors", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the report as JSON; - prints it instead of the tables
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<PathBuf>,
    /// Write the waveforms of all cards
    #[arg(long, value_name = "FILE.vcd", help_heading = "Output")]
    vcd: Option<PathBuf>,
    /// Write all frames that reach a rank, for Wireshark; `optireduce-hdl contract --format wireshark` makes it understand them
    #[arg(long, value_name = "FILE.pcap", help_heading = "Output")]
    pcap: Option<PathBuf>,
    /// Draw the first step: the stages of each rank over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    svg: Option<PathBuf>,
}

/// Most peers that a rank sends to at a time.
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
    /// The demonstration: 1 % loss, and rank 3 later than t_B. The same as [`DEMONSTRATION`].
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

    /// The cluster to simulate; every number is checked.
    fn cluster(&self, gradients: &Gradients) -> Result<ClusterConfig, SimError> {
        // Not written as `x < min`: a NaN must fail too.
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

/// Parses `RANK:MICROSECONDS`.
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

/// Runs the command; returns its exit code. Results go to `out`.
///
/// # Errors
/// See [`SimError`]; [`SimError::exit_code`] gives the code.
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
                return Err(SimError::Argument(format!("--card {card} goes with `bench driver` alone")));
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

/// Begins the files that grow with the run.
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

/// Every run is checked: each rank's result must be, bit for bit, what follows from the beats that the cards accepted.
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

/// Fails now if a file could not be written at the end of a run, which may take long. A file that exists keeps its contents.
fn check_writable(path: &Path) -> Result<(), SimError> {
    let found = path.metadata();
    // To open and close a pipe would tell its reader that nothing more comes.
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

/// Writes a result. A reader that has gone away is no error.
fn print(out: &mut dyn Write, text: &str) -> Result<(), SimError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(SimError::File { path: "stdout".into(), action: "write", source })
        }
        _ => Ok(()),
    }
}

/// A bar on stderr, if that is a terminal and the work takes more than a second.
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
