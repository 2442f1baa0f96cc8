//! `optireduce`: one rank of a job over a real network, and benchmarks on this machine.

mod args;
mod bench;
mod run;
mod times;

use clap::Parser;

fn main() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("OPTIREDUCE_LOG");
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")))
        .init();
    let result = match args::Args::parse().command {
        args::Command::Run(args) => run::run(&args),
        args::Command::Bench(args) => bench::bench(&args),
    };
    if let Err(error) = result {
        eprintln!("optireduce: {error}");
        std::process::exit(1);
    }
}
