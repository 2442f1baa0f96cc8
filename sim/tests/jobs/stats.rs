//! `optireduce-nic stats` does not disturb the job that uses the card.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::Instant;

use serde_json::Value;

use super::command::program;
use super::*;

fn stats(socket: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = program("optireduce-nic", "optireduce-nic");
    command.arg("stats").arg(socket).arg("--from").arg(folder).args(arguments).output().unwrap()
}

fn rank(job: &Job, rank: usize, folder: &Path, secs: &str) -> Child {
    let mut command = program("optireduce-cli", "optireduce");
    command.args(["run", "--rank", &rank.to_string(), "--world-size", "2", "--root", &job.root]);
    command.args(["--bench", "4K", "--secs", secs, "--bound-ms", "2000", "--early", "off"]);
    match rank {
        0 => command.arg("--card").arg(&job.cards[0].socket).env("OPTIREDUCE_CARD_STATS", folder),
        _ => command.args(["--interface", &job.address(1 + rank).to_string()]),
    };
    command.spawn().unwrap()
}

#[test]
fn the_counters_of_a_card_at_work_are_shown_and_the_job_goes_on() {
    let job = Job::new(1);
    let socket = &job.cards[0].socket;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stats-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let none = stats(socket, &folder, &[]);
    let said = String::from_utf8(none.stderr).unwrap();
    assert!(none.status.code() == Some(2) && said.contains("no process shows its counters in"), "{said}");

    let ranks: Vec<_> = [0, 1].map(|number| rank(&job, number, &folder, "8")).into();
    let begin = Instant::now();
    while !stats(socket, &folder, &[]).status.success() {
        assert!(begin.elapsed() < TIMEOUT, "the job shows no counters");
        std::thread::sleep(Duration::from_millis(50));
    }
    let watched = stats(socket, &folder, &["--watch", "--count", "3", "--interval-ms", "10", "--json"]);
    let lines = String::from_utf8(watched.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(watched.status.success() && lines.len() == 3, "{lines:?}");
    let packets = |line: &Value| line["counters"]["rx_packets"].as_u64().unwrap();
    assert!(packets(&lines[0]) < packets(&lines[2]), "{lines:?}");
    // The driver consumes two completions per window.
    let rings = |line: &Value| {
        let count = |name: &str| line["rings"][name].as_u64().unwrap();
        (count("written"), count("consumed"), count("completed"), count("taken"))
    };
    assert_ne!(rings(&lines[0]), rings(&lines[2]), "{lines:?}");
    for line in &lines {
        let (written, consumed, completed, taken) = rings(line);
        let behind = |from: u64, to: u64| (from as u16).wrapping_sub(to as u16);
        let entries = line["rings"]["entries"].as_u64().unwrap();
        let waiting = line["rings"]["waiting"].as_array().unwrap().len();
        assert!(
            u64::from(behind(written, consumed)) <= entries && u64::from(behind(completed, taken)) <= entries,
            "{line}"
        );
        assert_eq!(waiting, usize::from(behind(written, consumed).min(16)), "{line}");
    }
    assert!(lines[0].get("per_second").is_none() && lines[2]["per_second"]["rx_packets"].as_f64().unwrap() > 0.0);
    let watched = stats(socket, &folder, &["--watch"]);
    let said = String::from_utf8(watched.stderr).unwrap();
    assert!(watched.status.success() && said.contains("the job has ended"), "{said}");
    for rank in ranks {
        let ended = rank.wait_with_output().unwrap();
        assert!(ended.status.success(), "the job was disturbed: {ended:?}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "its file goes with it");

    let mut ranks: Vec<_> = [0, 1].map(|number| rank(&job, number, &folder, "60")).into();
    let begin = Instant::now();
    while !stats(socket, &folder, &[]).status.success() {
        assert!(begin.elapsed() < TIMEOUT, "the job shows no counters");
        std::thread::sleep(Duration::from_millis(50));
    }
    for rank in &mut ranks {
        rank.kill().unwrap();
        rank.wait().unwrap();
    }
    for arguments in [&[][..], &["--watch"]] {
        let dead = stats(socket, &folder, arguments);
        let said = String::from_utf8(dead.stderr).unwrap();
        assert!(dead.status.code() == Some(2) && said.contains("has ended without closing the card"), "{said}");
        assert!(String::from_utf8(dead.stdout).unwrap().contains("rx_packets"));
    }
    // A file without counters is an error.
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "{}").unwrap();
    let strange = String::from_utf8(stats(socket, &folder, &[]).stderr).unwrap();
    assert!(strange.contains("expected the counters of a job with a card"), "{strange}");
    fs::remove_dir_all(&folder).unwrap();
}
