//! The command: exit codes, messages, files, repeatable reports.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use optireduce_contract::packet::{UDP_PORT_DEFAULT, read_frame};
use optireduce_sim::input::{Gradients, SHIPPED, SHIPPED_NAME};

fn sim(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_optireduce-sim")).args(arguments).stdin(Stdio::null()).output();
    command.expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{}-{name}", std::process::id()))
}

fn gradients_file(name: &str, steps: Vec<Vec<Vec<f32>>>) -> String {
    let path = scratch(name);
    Gradients { steps }.to_file(&path).expect("the scratch directory takes a file");
    path.display().to_string()
}

const FAST: [&str; 3] = ["allreduce", "--engine", "functional"];

fn fast(arguments: &[&str]) -> Output {
    sim(&[&FAST, arguments].concat())
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error} in {}", text(&output.stdout)))
}

#[test]
fn the_table_says_what_was_received_why_it_closed_and_what_a_reliable_transport_would_take() {
    // With this seed the reliable transport has no timeout.
    let output = fast(&["--loss", "0.01", "--straggler", "3:2000", "--deadline-us", "200", "--seed", "5"]);
    let out = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{out}");
    for part in ["step 0: 9610 elements", "step 1: 9610 elements", "deadline", "apply; late: rank 3", "NMSE"] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    let waits: Vec<&str> = out.lines().filter(|line| line.contains("reliable all-reduce would have taken 2")).collect();
    assert_eq!(waits.len(), 2, "{out}");
    assert_eq!(out.matches("Reliable all-reduce: ").count(), 1);
}

#[test]
fn the_committed_picture_is_what_the_command_draws() {
    let path = scratch("timeline.svg");
    let drawn = path.display().to_string();
    let demonstration =
        ["--loss", "0.01", "--deadline-us", "200", "--straggler", "3:2000", "--json", "-", "--svg", &drawn];
    let output = fast(&demonstration);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = std::fs::read_to_string(&path).expect("a picture");
    let command = "cargo run --release -- allreduce --engine functional --loss 0.01 --deadline-us 200 --straggler 3:2000 \
                   --svg sim/timeline.svg";
    assert!(found == include_str!("../timeline.svg"), "sim/timeline.svg is not current; draw it again: {command}");
    for part in ["rank 3, its card", "late by 2000 us", "t_B = 200 us", "reliable all-reduce"] {
        assert!(found.contains(part), "{part:?} is missing in\n{found}");
    }
}

#[test]
fn without_a_command_the_demonstration_runs_on_the_rtl_cards() {
    let output = sim(&[]);
    let out = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{out}");
    for part in
        ["Demonstration: optireduce-sim allreduce", "rtl cards", "late: rank 3", "was late itself", "card cycles"]
    {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    let shown = include_str!("../README.md").split_once("```text\n").and_then(|(_, rest)| rest.split_once("```"));
    assert!(
        shown.is_some_and(|(shown, _)| shown == out),
        "sim/README.md does not show what the demonstration prints:\n{out}"
    );
}

#[test]
fn the_report_is_json_and_the_same_every_time() {
    let arguments = ["--loss", "0.03", "--seed", "9", "--json", "-", "--deadline-us", "300"];
    let run = || {
        let mut report = json(&fast(&arguments));
        assert!(report["wall_s"].as_f64().is_some_and(|wall_s| wall_s > 0.0));
        report["wall_s"] = 0.into();
        report["cycles_per_s"] = 0.into();
        serde_json::to_string(&report).expect("JSON")
    };
    assert_eq!(run(), run());
    let report = json(&fast(&arguments));
    assert_eq!((&report["seed"], &report["ranks"], &report["engine"]), (&9.into(), &4.into(), &"functional".into()));
    let steps = report["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 2);
    for step in steps {
        assert_eq!(step["elements"], 9610);
        assert!(step["virtual_us"].as_f64().is_some_and(|us| us > 10.0));
        assert!(step["nmse"].as_f64().is_some_and(|nmse| nmse < 0.2));
        let ranks = step["ranks"].as_array().expect("ranks");
        assert_eq!(ranks.len(), 4);
        for (number, rank) in ranks.iter().enumerate() {
            assert_eq!(rank["rank"], number);
            assert_eq!(rank["received_fraction"].as_array().map(Vec::len), Some(2));
            let closed = rank["closed_by"].as_array().expect("closed_by");
            assert!(closed.iter().all(|by| ["complete", "early", "deadline"].iter().any(|name| by == name)), "{rank}");
            assert!(["apply", "skip", "halt"].iter().any(|name| rank["action"] == *name), "{rank}");
            assert!(rank["lost_bytes"].is_u64() && rank["late_peers"].is_array(), "{rank}");
        }
    }
    let other = json(&fast(&["--loss", "0.03", "--seed", "10", "--json", "-", "--deadline-us", "300"]));
    assert_ne!(other["steps"], report["steps"]);
}

#[test]
fn bf16_incast_and_rate_are_in_table_and_report_and_cost_what_they_say() {
    let lossless = ["--early", "off", "--deadline-us", "10000", "--json", "-"];
    let run = |more: &[&str]| json(&fast(&[&lossless, more].concat()));
    let (plain, bf16, paced) = (run(&[]), run(&["--bf16", "--incast", "3"]), run(&["--rate-gbps", "2.4"]));
    assert_eq!((&plain["bf16"], &plain["incast"], &plain["rate_gbps"]), (&false.into(), &1.into(), &().into()));
    assert_eq!((&bf16["bf16"], &bf16["incast"], &bf16["rate_gbps"]), (&true.into(), &3.into(), &().into()));
    assert_eq!(paced["rate_gbps"], 2.4);
    let of = |report: &serde_json::Value, key: &str| report["steps"][0][key].as_f64().expect("a number");
    assert!(of(&plain, "nmse") < 1e-12 && of(&paced, "nmse") < 1e-12);
    assert!((1e-6..2e-5).contains(&of(&bf16, "nmse")), "{}", of(&bf16, "nmse"));
    // Shards of 2402 elements to three peers, two stages, 300 bytes per microsecond.
    let least_us = 2.0 * (3.0 * 2402.0 * 4.0 - 2.0 * 2000.0) / 300.0;
    assert!(of(&paced, "virtual_us") > least_us, "{} us", of(&paced, "virtual_us"));
    assert!(of(&plain, "virtual_us") < least_us / 2.0, "{} us", of(&plain, "virtual_us"));

    let table = text(&fast(&["--bf16", "--incast", "2", "--rate-gbps", "2.4", "--early", "off"]).stdout);
    assert!(table.contains(", bf16, incast 2, 2.4 Gb/s to each peer"), "{table}");
    // The default bound accounts for the rate.
    assert!(!table.contains("% deadline"), "{table}");
}

#[test]
fn the_output_holds_the_mean_under_the_names_of_the_input() {
    let path = scratch("output.safetensors");
    let output = fast(&["--output", &path.display().to_string(), "--early", "off", "--deadline-us", "10000"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let input = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None).unwrap();
    let found = Gradients::from_file(&path, None).unwrap();
    assert_eq!((found.steps.len(), found.ranks()), (2, 4));
    for (found, input) in found.steps.iter().zip(&input.steps) {
        for (at, expected) in optireduce_sim::check::oracle::exact_mean(input).into_iter().enumerate() {
            assert!(found.iter().all(|rank| (f64::from(rank[at]) - expected).abs() < 1e-6), "element {at}");
        }
    }
}

#[test]
fn a_nan_in_the_input_is_no_error_and_the_json_stays_valid() {
    let input = gradients_file("nan", vec![vec![vec![f32::NAN, 1.0], vec![1.0, 1.0]]]);
    let output = fast(&["--input", &input, "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = json(&output);
    assert!(report["steps"][0]["nmse"].is_null() && report["steps"][0]["max_abs_error"].is_null());
}

#[test]
fn the_protocols_halt_is_exit_code_three() {
    // Enough packets to rule out chance.
    let step = || vec![vec![1.0f32; 60_000]; 3];
    let input = gradients_file("halt", vec![step(), step(), step()]);
    let output = fast(&["--input", &input, "--loss", "0.5", "--deadline-us", "100", "--json", "-"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(json(&output)["steps"][2]["ranks"][0]["action"], "halt");
}

#[test]
fn flipped_bits_cost_packets_and_reach_no_mean() {
    // The command checks every result against the accepted beats.
    let output = fast(&["--corrupt", "0.05", "--software-ranks", "1,2", "--deadline-us", "300"]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}{}", text(&output.stderr));
    assert!(out.contains("0 % loss") && out.contains("5 % of packets with a flipped bit"), "{out}");
    let lost = |line: &str| line.contains(" B  ") && !line.contains(" 0 B  ");
    assert!(out.lines().filter(|line| lost(line)).count() > 4, "{out}");
}

#[test]
fn an_input_for_which_there_is_no_memory_is_refused_before_it_is_read() {
    let path = scratch("huge");
    // Sparse, and larger than any memory.
    std::fs::File::create(&path).and_then(|file| file.set_len(1 << 42)).expect("a sparse file");
    let huge = path.display().to_string();
    assert_refused(&["--input", &huge], &[&huge, "a run with it needs 24576.1 GiB of memory", "are available"]);
    std::fs::remove_file(path).expect("it is there");
    assert_refused(&["--input", "/dev/zero"], &["/dev/zero: not a regular file"]);
}

/// One line on stderr with `parts`, an empty stdout, and exit code 2.
fn assert_refused(arguments: &[&str], parts: &[&str]) {
    let output = fast(arguments);
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{arguments:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{arguments:?}: {part:?} is missing in {message:?}");
    }
}

#[test]
fn bad_numbers_are_refused_with_found_and_expected() {
    assert_refused(&["--loss", "1"], &["--loss is 1", "expected at least 0 and less than 1"]);
    assert_refused(&["--loss", "-0.1"], &["--loss is -0.1"]);
    assert_refused(&["--loss", "nan"], &["--loss is NaN"]);
    assert_refused(&["--corrupt", "1"], &["--corrupt is 1", "expected at least 0 and less than 1"]);
    assert_refused(&["--corrupt", "nan"], &["--corrupt is NaN"]);
    assert_refused(&["--tail-ratio", "0.9"], &["--tail-ratio is 0.9", "expected 1 to 1000"]);
    assert_refused(&["--delay-us", "0.5"], &["--delay-us is 0.5", "expected 1 to"]);
    assert_refused(&["--deadline-us", "0"], &["--deadline-us is 0", "expected 1 to 4294967"]);
    assert_refused(&["--deadline-us", "5e6"], &["--deadline-us is 5000000"]);
    assert_refused(&["--straggler", "4:100"], &["--straggler names rank 4", "expected 0 to 3"]);
    assert_refused(&["--incast", "0"], &["--incast is 0", "expected 1 to 15"]);
    assert_refused(&["--incast", "16"], &["--incast is 16"]);
    assert_refused(&["--rate-gbps", "0"], &["--rate-gbps is 0", "expected 0.008 to 100"]);
    assert_refused(&["--rate-gbps", "nan"], &["--rate-gbps is NaN"]);
    assert_refused(&["--ranks", "1"], &["--ranks is 1", "expected 2 to 64"]);
    assert_refused(&["--ranks", "65"], &["--ranks is 65", "expected 2 to 64"]);
    assert_refused(&["--ranks", "5"], &[SHIPPED_NAME, "gradients of 4 ranks, expected 5"]);
    for bad in [["--straggler", "3"], ["--straggler", "x:1"], ["--straggler", "3:-1"], ["--engine", "none"]] {
        assert_eq!(fast(&bad).status.code(), Some(2), "{bad:?}");
    }
    assert_eq!(sim(&["reduce"]).status.code(), Some(2));
}

#[test]
fn bad_files_are_refused_with_file_and_tensor() {
    let missing = scratch("nowhere.safetensors").display().to_string();
    assert_refused(&["--input", &missing], &[&missing, "cannot read"]);
    let noise = scratch("noise");
    std::fs::write(&noise, b"this is no tensor file at all").unwrap();
    let noise = noise.display().to_string();
    assert_refused(&["--input", &noise], &[&noise, "not a safetensors file"]);
    let unequal = gradients_file("unequal", vec![vec![vec![1.0, 2.0], vec![1.0]]]);
    assert_refused(&["--input", &unequal], &[&unequal, "step0.rank1 has 1 elements", "expected 2"]);
    let short = gradients_file("short", vec![vec![vec![1.0]; 3], vec![vec![1.0]; 2]]);
    assert_refused(&["--input", &short], &[&short, "step1.rank2 is missing"]);
    let alone = gradients_file("alone", vec![vec![vec![1.0]]]);
    assert_refused(&["--input", &alone], &[&alone, "tensors of 1 ranks", "expected 2 to 64"]);
}

#[test]
fn files_that_cannot_be_written_are_refused_before_the_run() {
    let (nowhere, folder) = (scratch("no/such/directory"), scratch("folder"));
    std::fs::create_dir_all(&folder).unwrap();
    for (option, path) in [("--output", &nowhere), ("--json", &nowhere), ("--svg", &nowhere), ("--json", &folder)] {
        let path = path.display().to_string();
        assert_refused(&[option, &path], &[&path, "cannot write"]);
    }
    // A run that fails later leaves files as they were.
    let (new, old) = (scratch("new.json"), scratch("old.safetensors"));
    let _ = std::fs::remove_file(&new);
    std::fs::write(&old, "kept").unwrap();
    let [new_path, old_path] = [&new, &old].map(|path| path.display().to_string());
    let nowhere = nowhere.display().to_string();
    assert_refused(&["--json", &new_path, "--output", &old_path, "--svg", &nowhere], &[&nowhere]);
    assert!(!new.exists());
    assert_eq!(std::fs::read(&old).unwrap(), b"kept");
}

#[test]
fn cards_are_refused_in_an_environment_with_a_secret() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"));
    let output = command.args(FAST).env("OPTIREDUCE_SECRET", "0123456789abcdef").output().expect("the command starts");
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), message.trim_end().lines().count()), (Some(2), 1), "{message}");
    assert!(message.contains("(by OPTIREDUCE_SECRET or a setting), but cards cannot encrypt"), "{message}");
}

#[test]
fn without_verilator_its_engine_says_how_to_get_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"));
    let output =
        command.args(["allreduce", "--engine", "verilator"]).env("PATH", "").output().expect("the command starts");
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    assert!(message.contains("--engine verilator: verilator is not on PATH"), "{message}");
    assert!(message.contains("apt-get install verilator"), "{message}");
}

#[test]
fn other_number_formats_are_refused_by_name() {
    use safetensors::tensor::{Dtype, TensorView};
    for (dtype, bytes) in [(Dtype::F64, 8), (Dtype::I32, 4), (Dtype::BF16, 2)] {
        let data = vec![0; bytes];
        let views = ["step0.rank0", "step0.rank1"].map(|name| (name, TensorView::new(dtype, vec![1], &data).unwrap()));
        let path = scratch(&format!("{dtype:?}"));
        std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
        let path = path.display().to_string();
        assert_refused(&["--input", &path], &[&path, "step0.rank", &format!("dtype is {dtype:?}, expected F32")]);
    }
}

#[test]
fn help_ends_with_three_commands_to_copy_at_each_level() {
    for arguments in [&["--help"][..], &["-h"], &["allreduce", "--help"], &["allreduce", "-h"]] {
        let output = sim(arguments);
        let help = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0));
        let last: Vec<&str> = help.trim_end().lines().rev().take(4).collect();
        assert_eq!(last[3], "Examples:", "{help}");
        assert!(last[..3].iter().all(|line| line.starts_with("  optireduce-sim")), "{help}");
    }
}

#[test]
fn waveforms_show_every_rank() {
    let path = scratch("waves.vcd");
    let output = fast(&["--vcd", &path.display().to_string(), "--loss", "0.02"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = std::fs::File::open(&path).unwrap();
    let mut parser = vcd::Parser::new(std::io::BufReader::new(file));
    let header = parser.parse_header().unwrap();
    for rank in 0..4 {
        let path = [&format!("rank{rank}"), "slot0", "contribute", "state"];
        assert!(header.find_var(&path).is_some(), "rank {rank}");
    }
    let commands: Vec<_> = parser.collect::<Result<_, _>>().unwrap();
    assert!(commands.len() > 100, "{} changes", commands.len());
}

#[test]
fn frames_are_captured_as_they_reach_the_ranks() {
    let path = scratch("job.pcap");
    let output = fast(&["--pcap", &path.display().to_string(), "--loss", "0", "--hadamard", "off", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (mut rest, mut last_ns, mut payload_bytes) = (&bytes[24..], 0, 0);
    while !rest.is_empty() {
        let word = |at: usize| u32::from_le_bytes(*rest[4 * at..].first_chunk().unwrap()) as u64;
        let (at_ns, length) = (word(0) * 1_000_000_000 + word(1), word(2) as usize);
        assert!(at_ns >= last_ns, "{at_ns} ns after {last_ns} ns");
        let frame = &rest[16..16 + length];
        payload_bytes +=
            read_frame(frame.first_chunk().unwrap(), length, UDP_PORT_DEFAULT).expect("a packet of the job");
        (rest, last_ns) = (&rest[16 + length..], at_ns);
    }
    // Three contributions to each shard, and three copies of its mean.
    let steps = report["steps"].as_array().unwrap();
    let beats: u64 = steps.iter().map(|step| step["elements"].as_u64().unwrap().div_ceil(16)).sum();
    assert_eq!(payload_bytes as u64, 2 * 3 * 64 * beats);
    let refused = fast(&["--pcap", "/no/such/folder/job.pcap"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("/no/such/folder/job.pcap"), "{}", text(&refused.stderr));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"))
        .args(FAST)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn stragglers_compares_contenders_and_gives_the_same_figures_every_time() {
    let arguments = ["stragglers", "--seconds", "2", "--seeds", "2", "--conditions", "slow2", "--loss", "0.01"];
    let output = sim(&arguments);
    let out = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), "training: slow2\n"), "{out}");
    assert!(
        out.starts_with("4 workers, 80 % own digits, groups of 2, steps of 20 ms, 2 s, 2 seeds; 1 % loss"),
        "{out}"
    );
    let contenders = ["all-reduce", "bounded", "bounded-fixed", "partial", "partial-constant", "partial-unguarded"];
    for contender in contenders {
        assert_eq!(
            out.lines().filter(|line| line.split(' ').next() == Some(contender)).count(),
            1,
            "{contender}: {out}"
        );
    }
    let run = || {
        let mut report = json(&sim(&[&arguments[..], &["--contenders", "partial,bounded,partial", "--json"]].concat()));
        assert!(report["wall_s"].as_f64().is_some_and(|wall_s| wall_s > 0.0));
        report["wall_s"] = 0.into();
        report
    };
    let report = run();
    assert_eq!(report, run());
    let summaries = report["summaries"].as_array().expect("summaries");
    let names: Vec<_> = summaries.iter().map(|one| one["contender"].as_str().unwrap_or_default()).collect();
    assert_eq!((names, &report["deadline_ms"]), (vec!["partial", "bounded"], &25.0.into()));
    for one in summaries {
        assert!(one["steps_per_s"].as_f64().is_some_and(|steps| (80.0..200.0).contains(&steps)), "{one}");
        assert!(one["lost_fraction"].as_f64().is_some_and(|lost| lost > 0.0), "{one}");
        assert_eq!(one["runs"].as_array().map(Vec::len), Some(2), "{one}");
        assert_eq!(one["runs"][1]["steps"].as_array().map(Vec::len), Some(4), "{one}");
    }
}

#[test]
fn what_stragglers_cannot_do_is_named() {
    for (arguments, message) in [
        (&["--workers", "1"][..], "--workers is 1, expected 2 to 64"),
        (&["--workers", "65"], "--workers is 65, expected 2 to 64"),
        (&["--workers", "3", "--group-size", "4"], "--group-size is 4, expected 2 to 3, the number of workers"),
        (&["--group-size", "1"], "--group-size is 1, expected 2 to 4, the number of workers"),
        (&["--seeds", "31"], "--seeds is 31, expected 1 to 30"),
        (&["--seconds", "nan"], "--seconds is NaN, expected 0.1 to 1000"),
        (&["--step-ms", "0"], "--step-ms is 0, expected 0.1 to 1000"),
        (&["--stall-ms", "-1"], "--stall-ms is -1, expected 0 to 10000"),
        (&["--deadline-ms", "5000"], "--deadline-ms is 5000, expected 0.1 to 4000"),
        (&["--own", "-1"], "--own is -1, expected 0 to 100"),
        (&["--target", "101"], "--target is 101, expected 0 to 100"),
        (&["--loss", "1"], "--loss is 1, expected at least 0 and less than 1"),
        (&["--conditions", "slow3"], "invalid value 'slow3'"),
    ] {
        let output = sim(&[&["stragglers"], arguments].concat());
        let found = text(&output.stderr);
        assert!(output.status.code() == Some(2) && found.contains(message), "{arguments:?}: {found}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
