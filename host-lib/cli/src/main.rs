//! `optireduce`: one rank of a job over a real network, and benchmarks on this machine.

mod args;
mod bench;
mod compare;
mod engine;
mod file;
mod hadamard;
mod log;
mod measure;
mod outcome;
mod partial;
mod rejoin;
mod run;
mod settings;
mod tensors;
mod times;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use outcome::Failure;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let code = match command(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, text }) => {
            log::say(&text);
            ExitCode::from(code)
        }
    };
    log::flush();
    code
}

fn command(args: &args::Args) -> Result<(), Failure> {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = tracing_subscriber::fmt::layer().with_writer(|| log::Stderr).with_ansi(colour);
    tracing_subscriber::registry().with(lines.with_span_events(FmtSpan::CLOSE)).with(args.filter()?).init();
    match &args.command {
        args::Command::Run(run) => run::run(run),
        args::Command::Bench(command) => bench::bench(command, args.log_filter.as_deref()),
        args::Command::Settings(args) => settings::list(args),
    }
}
