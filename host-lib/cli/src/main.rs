//! `optireduce`: one rank of a job over a real network, and benchmarks on this machine.

mod args;
mod bench;
mod file;
mod run;
mod times;

use std::io::IsTerminal;

use clap::Parser;
use tracing_subscriber::fmt::format::FmtSpan;

fn main() {
    let args = args::Args::parse();
    let filter = args.filter().unwrap_or_else(|error| fail(&error));
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_span_events(FmtSpan::CLOSE)
        .with_env_filter(filter)
        .init();
    let result = match args.command {
        args::Command::Run(args) => run::run(&args),
        args::Command::Bench(command) => bench::bench(&command, args.log.as_deref()),
    };
    if let Err(error) = result {
        fail(&error);
    }
}

fn fail(error: &str) -> ! {
    eprintln!("optireduce: {error}");
    std::process::exit(1);
}
