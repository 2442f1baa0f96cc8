//! `optireduce-nic`: finds, describes and tests OptiReduce SmartNICs.

mod args;
mod bench;
mod bind;
mod card;
mod doctor;
mod dump;
mod info;
mod list;
#[cfg(test)]
#[path = "../../tests/machine_in_a_folder/mod.rs"]
mod machine_in_a_folder;
mod outcome;
mod program;
mod registers;
mod selftest;
mod stats;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use outcome::Failure;

fn main() -> ExitCode {
    match command(&Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, text }) => {
            outcome::say(&text);
            ExitCode::from(code)
        }
    }
}

fn command(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Bind(args) => bind::bind(args),
        Command::Unbind(args) => bind::unbind(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Info(args) => info::run(args),
        Command::Selftest(args) => selftest::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Program(args) => program::run(args),
        Command::Dump(args) => dump::run(args),
    }
}
