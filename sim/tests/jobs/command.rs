//! `optireduce run --card` with `optireduce-sim serve`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::*;

fn optireduce() -> Command {
    program("optireduce-cli", "optireduce")
}

pub fn program(package: &str, name: &str) -> Command {
    // tests/run has built it with the features of the whole workspace.
    if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
        let build = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", package]).status();
        assert!(build.expect("cargo").success());
    }
    let target = PathBuf::from(env!("CARGO_BIN_EXE_optireduce-sim"));
    let target = target.parent().and_then(|folder| folder.parent()).expect("target/profile/optireduce-sim");
    let mut command = Command::new(target.join("debug").join(name));
    for name in ["RANK", "WORLD_SIZE", "OPTIREDUCE_SECRET", "OPTIREDUCE_CARD", "OPTIREDUCE_CARD_FALLBACK"] {
        command.env_remove(name);
    }
    command.env_remove("OPTIREDUCE_LOG").env_remove("RUST_LOG");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Three ranks: a card by option, a card by environment variable, and no card.
fn start(job: &Job, arguments: &[&str]) -> Vec<Child> {
    (0..3)
        .map(|rank| {
            let mut command = optireduce();
            command
                .args(["run", "--rank", &rank.to_string(), "--world-size", "3", "--root", &job.root])
                .args(arguments);
            match rank {
                0 => command.arg("--card").arg(&job.cards[0].socket),
                1 => command.env("OPTIREDUCE_CARD", &job.cards[1].socket),
                _ => command.args(["--interface", &job.address(1 + rank).to_string()]),
            };
            command.spawn().unwrap()
        })
        .collect()
}

fn run(job: &Job, arguments: &[&str]) -> Vec<Output> {
    start(job, arguments).into_iter().map(|rank| rank.wait_with_output().unwrap()).collect()
}

#[test]
fn ranks_with_cards_are_measured_and_average_files() {
    let job = Job::new(2);
    let bench = ["--bench", "4K,64K", "--secs", "0.1", "--bound-ms", "2000", "--early", "off", "--json"];
    let said = run(&job, &bench);
    assert!(said.iter().all(|rank| rank.status.success()), "{said:?}");
    let rows = String::from_utf8(said[0].stdout.clone()).unwrap();
    let rows: Vec<serde_json::Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        assert_eq!(
            (&row["engine"], &row["ranks"], &row["received_fraction"]),
            (&"mixed".into(), &3.into(), &1.0.into())
        );
    }

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("averaged-by-cards-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = |values: Vec<f32>| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let path = |name: &str, rank: usize| folder.join(format!("{name}.{rank}.bin"));
    (0..3).for_each(|rank| std::fs::write(path("in", rank), bytes(gradient(rank, 0, 3000))).unwrap());
    let [given, out] =
        ["in", "out"].map(|name| folder.join(format!("{name}.{{rank}}.bin")).to_str().unwrap().to_owned());
    let said = run(&job, &["--file", &given, "--out", &out, "--bound-ms", "2000", "--early", "off"]);
    assert!(said.iter().all(|rank| rank.status.success()), "{said:?}");
    let expected = bytes(mean(&[0, 1, 2], 0, 3000));
    (0..3).for_each(|rank| assert!(std::fs::read(path("out", rank)).unwrap() == expected, "rank {rank}"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_job_that_falls_back_goes_on_and_says_so() {
    let job = Job::new(2);
    let bench = ["--bench", "64K", "--secs", "6", "--json", "--card-fallback", "udp", "--log-filter", "info"];
    let mut ranks = start(&job, &bench);
    // The first collectives measure the bound.
    let mut log = BufReader::new(ranks[2].stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut logs = vec![String::new(); 2];
    logs.push(log.find(|line| line.contains("a view of the same ranks")).expect("a bound"));
    job.cards[0].end();
    logs[2].extend(log);
    let said: Vec<Output> = ranks.into_iter().map(|rank| rank.wait_with_output().unwrap()).collect();
    assert!(said.iter().all(|rank| rank.status.success()), "{said:?}");
    let row: serde_json::Value = serde_json::from_slice(&said[0].stdout).unwrap();
    assert_eq!((&row["engine"], &row["ranks"]), (&"udp".into(), &3.into()), "{row}");
    for (rank, (output, log)) in said.iter().zip(&mut logs).enumerate() {
        log.push_str(&String::from_utf8_lossy(&output.stderr));
        assert_eq!(log.contains("the card of this rank has failed"), rank == 0, "rank {rank}: {log}");
        assert!(log.contains("all ranks continue over UDP"), "rank {rank}: {log}");
    }
}

#[test]
fn what_does_not_go_with_a_card_is_named() {
    for (arguments, parts) in [
        (&["--engine", "tcp"][..], &["--card: --engine tcp uses TCP"][..]),
        (&["--groups", "2"], &["--card: --groups uses the kernel's UDP"]),
        (&["--partial", "2"], &["--card: --partial uses the kernel's UDP"]),
        (&["--rejoin"], &["--rejoin: a job with", "--card"]),
        (&["--secret-file", "/dev/null"], &["--secret-file", "--card"]),
        (&[], &["/nowhere/card.sock: cannot connect", "--features serve -- serve --socket /nowhere/card.sock "]),
    ] {
        let mut command = optireduce();
        command.args([
            "run",
            "--rank",
            "0",
            "--world-size",
            "4",
            "--root",
            &free_root(),
            "--card",
            "/nowhere/card.sock",
        ]);
        let output = command.args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{arguments:?}: {said}");
    }
}
