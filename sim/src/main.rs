//! `optireduce-sim`: see `optireduce_sim::cli`.

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::Parser;
use optireduce_sim::cli::{Cli, run};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let wanted = std::env::var("RUST_LOG").ok().and_then(|filter| filter.parse::<Targets>().ok());
    let filter = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colour);
    tracing_subscriber::registry().with(lines).with(filter).init();
    match run(cli, &mut std::io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "optireduce-sim: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
