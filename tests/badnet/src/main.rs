//! `badnet`: hosts joined by a lossy, slow network on one machine, and a comparison of all-reduces.

mod compare;
mod contender;
mod flow;
mod job;
mod row;
mod table;

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::{Parser, Subcommand};
use optireduce_badnet::{Conditions, Hosts, Tcp, address, print, say};

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  a command or a contender failed
  2  could not run: bad arguments, no root, missing programs";

/// Runs commands on hosts joined by a lossy, slow network on one machine
///
/// Needs Linux, root, /dev/net/tun and iproute2.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a command on every host, as a rank started by torchrun
    ///
    /// Sets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT.
    Run(RunArgs),
    /// Compare OptiReduce, Gloo, Open MPI and MPICH on bad networks
    Compare(compare::CompareArgs),
    /// Run one end of a TCP stream that competes with the ranks
    #[command(hide = true)]
    Flow(FlowArgs),
    /// Start a process on another host; called by mpirun
    #[command(hide = true, disable_help_flag = true)]
    Rsh {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  badnet run --loss 0.01 -- optireduce run --bench 1M
  badnet run --port-mbps 200 --queue-kib 64 --ecn-kib 24 -- optireduce run
  badnet run --hosts 2 --ranks-per-host 4 -- optireduce run --groups hosts
  badnet run --hosts 2 --delay-us 500 -- ping -c 3 10.77.0.1")]
struct RunArgs {
    /// Number of hosts, 1 to 64, with addresses from 10.77.0.1
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    hosts: u8,
    /// Number of ranks per host, 1 to 64
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    ranks_per_host: u8,
    /// Largest IP packet between hosts, in bytes, 576 to 9216
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9216))]
    mtu: u16,
    #[command(flatten)]
    conditions: Conditions,
    /// Lower TCP's minimum retransmission timeout from 200 ms to 5 ms
    #[arg(long)]
    tuned_tcp: bool,
    /// Seed of losses, outages and delays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Timeout of the command, in seconds; the command is then killed
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout_s: u64,
    /// Command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct FlowArgs {
    #[arg(long)]
    receive_at: Option<std::net::Ipv4Addr>,
    #[arg(long)]
    send_to: Option<std::net::Ipv4Addr>,
}

/// True if every command ended well. Error: nothing could be run.
type Outcome = Result<bool, String>;

fn main() -> ExitCode {
    let handled = ctrlc::set_handler(|| job::INTERRUPTED.store(true, Ordering::Relaxed));
    let done = handled.map_err(|error| error.to_string()).and_then(|()| match Args::parse().command {
        Command::Run(args) => run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Flow(FlowArgs { receive_at: Some(at), .. }) => {
            flow::receive(at).and_then(|said| print(&said)).map(|()| true)
        }
        Command::Flow(FlowArgs { send_to, .. }) => send_to.map_or(Ok(()), flow::send).map(|()| true),
        Command::Rsh { arguments } => contender::rsh(&arguments).map(|()| true),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            say(&format!("badnet: {error}"));
            ExitCode::from(2)
        }
    }
}

fn run(args: &RunArgs) -> Outcome {
    let (hosts, on_each) = (usize::from(args.hosts), usize::from(args.ranks_per_host));
    let ranks = hosts * on_each;
    let hosts = Hosts::new(hosts, args.mtu)?;
    let tcp = if args.tuned_tcp { Tcp::Tuned } else { Tcp::AsItComes };
    hosts.tcp(tcp, args.conditions.path_mtu)?;
    let relay = hosts.join(args.conditions, args.seed);
    let commands = (0..ranks).map(|rank| {
        let mut command = hosts.command(rank / on_each, &args.command[0]);
        command.args(&args.command[1..]);
        contender::launch(&mut command, (rank, rank % on_each), ranks, address(0));
        command
    });
    let printed = job::run(commands.collect(), std::time::Duration::from_secs(args.timeout_s), &[0]);
    say(&format!("badnet: {}", relay.counts.line()));
    match printed {
        Ok(lines) => print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>()).map(|()| true),
        Err(error) => {
            say(&format!("badnet: {error}"));
            Ok(false)
        }
    }
}
