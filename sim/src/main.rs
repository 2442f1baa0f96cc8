//! `optireduce-sim`: see `optireduce_sim::cli`.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use optireduce_sim::cli::{Cli, run};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn")))
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .init();
    match run(cli, &mut std::io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("optireduce-sim: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
