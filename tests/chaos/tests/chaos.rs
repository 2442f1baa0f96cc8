//! Every fault once, with alternating kinds of job. Skipped without root and /dev/net/tun.

use std::path::Path;
use std::process::Command;

use clap::ValueEnum;
use optireduce_chaos::{Fault, Programs, Scenario, Subject, run};

const SEED: u64 = 1;

#[test]
fn whatever_breaks_ranks_end_in_time_with_right_results_and_clear_errors() {
    // tests/run builds it beforehand, with the features of the whole workspace.
    if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
        let build = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "optireduce-cli"]).status();
        assert!(build.expect("cargo").success());
    }
    let trainer = Path::new(env!("CARGO_BIN_EXE_chaos-trainer"));
    let target = trainer.parent().and_then(Path::parent).expect("target/profile/chaos-trainer");
    let programs = Programs { optireduce: target.join("debug/optireduce"), trainer: trainer.into() };
    let subjects = Subject::value_variants();
    let mut found = Vec::new();
    for (number, fault) in Fault::value_variants().iter().enumerate() {
        let subject = subjects[number % subjects.len()];
        let scenario = Scenario::new(SEED + number as u64, Some(subject), Some(*fault));
        let outcome = match run(&scenario, &programs) {
            Ok(outcome) => outcome,
            Err(error) if error.contains("hosts need root") => return eprintln!("NOT RUN: {error}"),
            Err(error) => panic!("{error}; again: {}", scenario.command()),
        };
        println!("{}: {:.1} s, {} results compared", scenario.line(), outcome.seconds, outcome.compared);
        if !outcome.findings.is_empty() {
            found.push(format!("{}\n{}\nagain: {}", scenario.line(), outcome.findings.join("\n"), scenario.command()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
