//! The command `optireduce` as a user runs it.

#[path = "../../tests/root/mod.rs"]
mod root;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use root::free_root;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce"));
    for name in [
        "RANK",
        "WORLD_SIZE",
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "SLURM_PROCID",
        "OPTIREDUCE_RANK",
        "OPTIREDUCE_LOG",
        "OPTIREDUCE_SECRET",
        "OPTIREDUCE_CARD",
        "RUST_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

fn optireduce(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn ranks_on_this_machine_give_a_row_for_each_size() {
    for (engine, shared_memory, shown) in [("udp", "auto", "shm"), ("udp", "off", "udp"), ("tcp", "off", "tcp")] {
        // Far above the delays of a busy machine, so that nothing is lost.
        let sizes = ["--bench", "4K,100K", "--secs", "0.1", "--bound-ms", "2000", "--early", "off"];
        let output = optireduce(
            &[
                &[
                    "bench",
                    "allreduce",
                    "--ranks",
                    "2,3",
                    "--json",
                    "--engine",
                    engine,
                    "--shared-memory",
                    shared_memory,
                ],
                &sizes[..],
            ]
            .concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        let rows: Vec<serde_json::Value> =
            text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let found: Vec<_> = rows.iter().map(|row| (row["ranks"].as_u64(), row["size_bytes"].as_u64())).collect();
        let expected =
            [(2, 4096), (2, 102_400), (3, 4096), (3, 102_400)].map(|(ranks, size)| (Some(ranks), Some(size)));
        assert_eq!(found, expected);
        for row in &rows {
            assert_eq!((&row["engine"], &row["received_fraction"]), (&shown.into(), &1.0.into()), "{row}");
            let ms = ["p50_ms", "p90_ms", "p99_ms", "max_ms"].map(|name| row[name].as_f64().unwrap());
            assert!(ms[0] > 0.0 && ms.is_sorted() && row["iters"].as_u64() >= Some(20), "{row}");
            // As in nccl-tests: bytes over time, and 2 (n - 1) / n times that.
            let [size, ranks] = ["size_bytes", "ranks"].map(|name| row[name].as_f64().unwrap());
            let [algbw, busbw] = ["algbw_gb_per_s", "busbw_gb_per_s"].map(|name| row[name].as_f64().unwrap());
            let bus = algbw * 2.0 * (ranks - 1.0) / ranks;
            assert!((algbw * ms[0] * 1e6 / size - 1.0).abs() < 1e-9 && (busbw / bus - 1.0).abs() < 1e-9, "{row}");
            assert_eq!((&row["ranks_on_host"], &row["halted"]), (&row["ranks"], &false.into()), "{row}");
        }
    }
}

#[test]
fn a_run_is_compared_with_an_earlier_one() {
    let before = scratch("compared").join("before.jsonl");
    let before = before.to_str().unwrap();
    let bench = ["bench", "allreduce", "--ranks", "2", "--bench", "4K,64K", "--secs", "0.1"];
    let earlier = optireduce(&[&bench[..], &["--rounds=2", "--json"]].concat());
    assert_eq!((earlier.status.code(), text(&earlier.stdout).lines().count()), (Some(0), 4), "{earlier:?}");
    std::fs::write(before, &earlier.stdout).unwrap();
    let compared = optireduce(&[&bench[..4], &["--bench", "64K,1M", "--secs", "0.1", "--compare", before]].concat());
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    let table = text(&compared.stdout);
    let row = |size: &str| table.lines().find(|line| line.contains(size)).expect("a row");
    assert!(row(" 64 KiB ").contains(" 1/2 ") && row(" 1 MiB ").ends_with("not in the baseline"), "{table}");
    assert!(text(&compared.stderr).contains("round 1 of 1, 2 ranks"), "{}", text(&compared.stderr));
    for (file, error) in [
        ("/nowhere", "--compare /nowhere: No such file"),
        ("/dev/null", "/dev/null: no rows"),
        ("/dev/zero", "--compare /dev/zero: found more than 64 MiB, expected rows"),
        ("/", "--compare /: Is a directory"),
    ] {
        let output = optireduce(&[&bench[..], &["--compare", file]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(error), "{}", text(&output.stderr));
    }
}

#[test]
fn a_rank_that_is_killed_does_not_stop_the_others() {
    let root = free_root();
    let start = |rank: usize| {
        let mut command = command();
        command.args(["run", "--rank", &rank.to_string(), "--world-size", "4", "--root", &root]);
        command.args(["--bench", "40K", "--secs", "3", "--bound-ms", "100", "--early", "off", "--json"]);
        command.env("OPTIREDUCE_LOG", if rank == 2 { "debug" } else { "warn" });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    };
    let mut ranks: Vec<_> = (0..4).map(start).collect();
    let log = BufReader::new(ranks[2].stderr.take().unwrap());
    let finished = log.lines().map(Result::unwrap).filter(|line| line.contains("finished")).nth(100);
    assert!(finished.is_some(), "it is running");
    ranks[2].kill().unwrap();
    let outputs: Vec<Output> = ranks.into_iter().map(|rank| rank.wait_with_output().unwrap()).collect();
    for rank in [0, 1, 3] {
        assert!(outputs[rank].status.success(), "rank {rank}: {}", text(&outputs[rank].stderr));
        let said = text(&outputs[rank].stderr);
        assert!(said.contains("[0, 1, 3]"), "rank {rank}: {said}");
    }
    let row: serde_json::Value = serde_json::from_str(text(&outputs[0].stdout).trim()).unwrap();
    assert_eq!(row["ranks"], 3, "{row}");
    // If every call after the kill waited for the bound, there would be at most ten a second.
    assert!(row["iters"].as_u64() > Some(150), "{row}");
}

/// Runs a job of 3 ranks with these options. Kills and restarts rank 1 once `is_moment` matches a
/// line of its stderr, or of rank 0's stdout. Returns the outputs of all four processes.
fn restarted(options: &[&str], is_moment: impl Fn(&str) -> bool, of_rank_0: bool) -> Vec<Output> {
    let root = free_root();
    let start = |rank: usize, log: &str| {
        let mut command = command();
        command.args(["run", "--rank", &rank.to_string(), "--world-size", "3", "--root", &root]);
        command.args(["--bound-ms", "100", "--early", "off", "--json", "--rejoin"]).args(options);
        command.env("OPTIREDUCE_LOG", log);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    };
    let log = |rank| if rank == 1 && !of_rank_0 { "debug" } else { "warn" };
    let mut ranks: Vec<_> = (0..3).map(|rank| start(rank, log(rank))).collect();
    let mut lines: Box<dyn Iterator<Item = _>> = match of_rank_0 {
        true => Box::new(BufReader::new(ranks[0].stdout.take().unwrap()).lines()),
        false => Box::new(BufReader::new(ranks[1].stderr.take().unwrap()).lines()),
    };
    let is_running = lines.by_ref().map(Result::unwrap).any(|line| is_moment(&line));
    assert!(is_running, "it is running");
    ranks[1].kill().unwrap();
    ranks.push(start(1, "warn"));
    let rest: Vec<String> = if of_rank_0 { lines.map(Result::unwrap).collect() } else { Vec::new() };
    let mut outputs: Vec<Output> = ranks.into_iter().map(|rank| rank.wait_with_output().unwrap()).collect();
    outputs[0].stdout.extend(rest.join("\n").into_bytes());
    for rank in [0, 2, 3] {
        assert!(outputs[rank].status.success(), "process {rank}: {}", text(&outputs[rank].stderr));
    }
    outputs
}

#[test]
fn a_rank_that_is_killed_and_started_again_goes_on_with_the_others() {
    let outputs = restarted(&["--bench", "40K", "--secs", "8"], |line| line.contains("op=50 "), false);
    let row: serde_json::Value = serde_json::from_str(text(&outputs[0].stdout).trim()).unwrap();
    assert_eq!(row["ranks"], 3, "{row}");
    assert!(text(&outputs[0].stderr).contains("[0, 2]"), "it was missed: {}", text(&outputs[0].stderr));
}

#[test]
fn a_rank_that_is_started_again_between_two_sizes_begins_the_next_with_the_others() {
    let sizes = ["--bench", "40K,4K", "--secs", "3"];
    let outputs = restarted(&sizes, |line| line.contains("40960"), true);
    let row: serde_json::Value = serde_json::from_str(text(&outputs[0].stdout).trim()).unwrap();
    assert_eq!((&row["ranks"], &row["size_bytes"]), (&3.into(), &4096.into()), "{row}");
}

#[test]
fn the_transform_is_measured_both_ways_with_every_kernel() {
    let output = optireduce(&["bench", "hadamard", "--megabytes", "1", "--rounds", "1", "--json"]);
    let rows: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for n in [256, 1024, 4096, 16_384] {
        for direction in ["encode", "decode"] {
            let of = |row: &&serde_json::Value| row["n"] == n && row["direction"] == direction;
            assert!(rows.iter().filter(of).any(|row| row["kernel"] == "portable"), "n = {n}, {direction}");
        }
    }
}

#[test]
fn what_cannot_run_is_named_with_exit_code_2() {
    let error = |arguments: &[&str]| {
        let output = optireduce(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(error(&["run"]).contains("no launcher's environment found"));
    assert!(error(&["run", "--rank", "0"]).contains("--world-size"));
    let root = free_root();
    let nobody = ["run", "--rank", "0", "--world-size", "2", "--root", &root, "--timeout-s", "0.2"];
    assert!(error(&nobody).contains("1 of 2 ranks did not connect within 0.2 s: rank 1;"), "{}", error(&nobody));
    assert!(error(&["run", "--bench", "5"]).contains("expected a multiple of 4 bytes"));
    for cannot in [["--engine", "tcp"], ["--in-flight", "2"], ["--groups", "2"], ["--file", "x"]] {
        let error = error(&[&nobody[..], &cannot, &["--rejoin"]].concat());
        assert!(
            error
                .contains("--rejoin: a job with --file, --groups, --partial, --in-flight, --card or --engine tcp cannot be rejoined"),
            "{error}"
        );
    }
    let mut again = Command::new(env!("CARGO_BIN_EXE_optireduce"));
    let again = again.args(nobody).args(["--partial", "2"]).env("OPTIREDUCE_REJOIN", "1").output().unwrap();
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("OPTIREDUCE_REJOIN: a job with --file, --groups, --partial,"), "{said}");
    let far = ["run", "--rank", "2", "--world-size", "2", "--root", "h:1"];
    assert!(error(&far).contains(r#"rank is "2", expected 0 to 1"#));
    let interface = [&nobody[..], &["--interface", "nosuch0"]].concat();
    assert!(error(&interface).contains("addresses of interface nosuch0: none found; the interfaces of this host are"));
    let unknown = command().args(nobody).env("OPTIREDUCE_DROP_SILENT", "5").output().unwrap();
    let said = text(&unknown.stderr);
    let parts = ["WARN", "OPTIREDUCE_DROP_SILENT", "OPTIREDUCE_DROP_SILENT_AFTER", "1 of 2 ranks did not connect"];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    let by_variable = command().args(nobody).env("OPTIREDUCE_BOUND_MS", "5000").output().unwrap();
    let said = text(&by_variable.stderr);
    assert!(said.contains("bound_ms is 5000 (OPTIREDUCE_BOUND_MS), expected 0.001 to 4290 ms, or measured"), "{said}");
    let bench = |arguments: &[&str]| error(&[&["bench", "allreduce"], arguments].concat());
    for error in [bench(&["--bench", "1000000G"]), error(&[&nobody[..], &["--bench", "4K,1000000G"]].concat())] {
        assert!(error.contains("--bench 1024000000 MiB with ") && error.contains(" of memory, "), "{error}");
        assert!(error.contains(" are available ") && error.contains("give smaller sizes, or fewer ranks"), "{error}");
    }
    for ranks in ["0", "1", "65537", "18446744073709551616", "-1", "two", ""] {
        let said = bench(&[&format!("--ranks={ranks}")]);
        assert!(said.contains("expected 2 to 65536 ranks"), "{ranks}: {said}");
    }
    let many = ["run", "--rank", "0", "--world-size", "1025", "--root", &root, "--timeout-s", "0.1", "--bench", "4K"];
    assert!(error(&many).contains("1024 of 1025 ranks did not connect within 0.1 s: rank 1, 2, 3, "));
    for flat in [&["--engine", "tcp"][..], &["--partial", "2", "--json"]] {
        let said = error(&[&many[..], flat].concat());
        assert!(said.contains("world_size is 1025 ranks, expected 1 to 1024 on one level; "), "{said}");
    }
    assert!(bench(&["--ranks", "2,3,2"]).contains("--ranks names 2 twice"));
    for (option, expected) in [
        ("--timeout-s=1e300", "timeout_s is 1e300 (--timeout-s), expected 0.001 to 86400 s"),
        ("--secs=0", "expected more than 0 and at most 3600 seconds"),
        ("--straggler-ms=NaN", "expected 0 to 3600000 milliseconds"),
        ("--straggler-ms=1e300", "expected 0 to 3600000 milliseconds"),
        ("--bound-ms=-1", "bound_ms is -1 (--bound-ms), expected 0.001 to 4290 ms, or measured"),
        ("--repair=yes", "repair is yes (--repair), expected off, next_update or this_update"),
    ] {
        assert!(bench(&[option]).contains(expected), "{option}: {}", bench(&[option]));
    }
    let nobody = ["--ranks", "2", "--straggler-ms", "1", "--straggler-rank", "2"];
    assert!(bench(&nobody).contains("--straggler-rank is 2, expected -2 to 1 with 2 ranks"));
}

#[test]
fn a_safeguard_that_says_halt_ends_with_exit_code_3() {
    let run = ["--ranks", "2", "--bench", "4M", "--secs", "0.01", "--bound-ms", "0.001", "--hadamard", "off", "--json"];
    let output = optireduce(&[&["bench", "allreduce"], &run[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said =
        "the safeguard would have halted a training job at 4 MiB: 3 collectives in a row lost more than 10 % each";
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the row is printed all the same");
    assert_eq!(row["halted"], true);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [
        &["bench", "hadamard", "--megabytes", "1", "--rounds", "1"][..],
        &["bench", "allreduce", "--ranks", "2", "--bench", "4K,8K", "--secs", "0.01", "--bound-ms", "2000"],
    ] {
        let mut command = command();
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn collectives_are_logged_on_request_with_their_stages() {
    let run = ["bench", "allreduce", "--ranks", "2", "--bench", "4K", "--secs", "0.01", "--bound-ms", "2000"];
    let log = |arguments: &[&str]| text(&optireduce(&[arguments, &run[..]].concat()).stderr);
    assert!(!log(&[]).contains("collective"), "{}", log(&[]));
    for arguments in [&["--log-filter", "optireduce=debug"][..], &["--log-filter=debug"]] {
        let log = log(arguments);
        for expected in
            [r"collective{kind=all-reduce op=0 bucket=0 rank=1 ", "stage{stage=contribute ", "closed_by=complete"]
        {
            assert!(log.contains(expected), "{expected}: {log}");
        }
    }
    assert!(log(&["--log-filter", "a=b=c"]).contains(r#"log filter "a=b=c": "#));
}

#[test]
fn help_has_examples() {
    for command in [&["run", "--help"][..], &["bench", "allreduce", "--help"], &["bench", "hadamard", "--help"]] {
        let help = text(&optireduce(command).stdout);
        let (_, examples) = help.split_once("Examples:\n").expect("examples");
        let copied: Vec<&str> = examples.lines().collect();
        assert!(copied.len() >= 3 && copied.iter().all(|line| line.contains("optireduce ")), "{command:?}: {copied:?}");
        for expected in ["Output:", "Exit codes:", "[default: "] {
            assert!(help.contains(expected), "{command:?}: {expected}");
        }
    }
}

#[test]
fn all_settings_are_listed_with_values_and_origins() {
    let list = |arguments: &[&str]| {
        let mut command = command();
        command.env("OPTIREDUCE_BOUND_MS", "20").env_remove("OPTIREDUCE_REPAIR").arg("settings").args(arguments);
        let output = command.output().expect("the command starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let table = list(&["--repair", "off"]);
    let wide: Vec<&str> = table.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0]);
    let words = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("bound_ms "), "20 OPTIREDUCE_BOUND_MS");
    assert_eq!(words("repair "), "off --repair");
    assert_eq!(words("agree "), "off default");
    let rows: Vec<serde_json::Value> =
        list(&["--json"]).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let bound = rows.iter().find(|row| row["name"] == "bound_ms").expect("a row");
    assert_eq!((&bound["value"], &bound["origin"]), (&"20".into(), &"OPTIREDUCE_BOUND_MS".into()));
    assert_eq!((&bound["flag"], &bound["may_differ"]), (&"--bound-ms".into(), &false.into()));
    let (short, long) = (optireduce(&["run", "-h"]).stdout, optireduce(&["run", "--help"]).stdout);
    for row in &rows {
        let flag = format!("{} ", row["flag"].as_str().expect("a flag"));
        assert!(text(&long).contains(&flag), "{flag}");
        let is_rare = ["mtu", "card_fallback", "bound_max_ms", "early", "drop_silent_after", "skip_gone"]
            .contains(&row["name"].as_str().expect("a name"));
        assert_eq!(text(&short).contains(&flag), !is_rare, "{flag}");
    }
    let wrong = command().env("OPTIREDUCE_MTU", "1").arg("settings").output().expect("the command starts");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("mtu is 1 (OPTIREDUCE_MTU), expected 114 to 65535 bytes, or auto"),
        "{wrong:?}"
    );
}

/// Texts that no setting of the type has, or that are out of its range.
const WRONG: [(&str, &str); 9] = [
    ("world_size", "0"),
    ("rank", "65536"),
    ("mtu", "113"),
    ("timeout_s", "NaN"),
    ("bound_ms", "inf"),
    ("bound_max_ms", "1e-320"),
    ("drop_silent_after", "0"),
    ("bf16", "maybe"),
    ("job_id", "a\u{1}b"),
];

#[test]
fn each_setting_is_the_same_by_flag_and_by_variable_as_in_the_library() {
    let run = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut command = command();
        for row in optireduce::SETTINGS {
            command.env_remove(row.variable());
        }
        command.envs(variable).args(["settings", "--json"]).args(arguments).output().expect("the command starts")
    };
    for row in optireduce::SETTINGS {
        let mut library = optireduce::Settings::new();
        library.set(row.name, row.sample).expect("the sample is valid");
        let expected = library.get(row.name).expect("the sample is valid");
        let flag = format!("{}={}", row.flag(), row.sample);
        for (output, origin) in
            [(run(&[&flag], None), row.flag()), (run(&[], Some((&row.variable(), row.sample))), row.variable())]
        {
            let rows = text(&output.stdout);
            let rows = rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
            let found = rows.into_iter().find(|one| one["name"] == row.name).expect("a row");
            assert_eq!(
                (&found["value"], &found["origin"]),
                (&expected.as_str().into(), &origin.into()),
                "{}",
                row.name
            );
        }
    }
    for (name, value) in WRONG {
        let row = optireduce::Setting::named(name).expect("a row");
        let expected = optireduce::Settings::new().set(name, value).expect_err("out of range").to_string();
        let (_, range) = expected.split_once(", expected ").expect("the values that it may have");
        for output in [run(&[&format!("{}={value}", row.flag())], None), run(&[], Some((&row.variable(), value)))] {
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{name}: {said}");
            assert!(said.contains(&format!(", expected {range}")), "{name}: {said}, expected {range}");
        }
    }
    // An empty variable is none.
    let empty = run(&[], Some(("OPTIREDUCE_BOUND_MS", "")));
    assert!(text(&empty.stdout).contains(r#""name":"bound_ms","origin":"default""#), "{empty:?}");
}

/// Runs `optireduce run` on all ranks with these arguments. Returns outputs by rank.
fn ranks(count: usize, arguments: &[&str]) -> Vec<Output> {
    let root = free_root();
    let world_size = count.to_string();
    let run = |rank: usize| {
        let rank = rank.to_string();
        let place = ["run", "--rank", &rank, "--world-size", &world_size, "--root", &root, "--timeout-s", "20"];
        // Far above the delays of a busy machine, so that nothing is lost.
        let bound: &[&str] = if arguments.contains(&"--bound-ms") { &[] } else { &["--bound-ms", "3000"] };
        optireduce(&[&place[..], &["--early", "off"], bound, arguments].concat())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|rank| scope.spawn(move || run(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn scratch(name: &str) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn tensors(tensors: &[(&str, &[usize], Vec<f32>)]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let view = |shape: &[usize], bytes| TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap();
    let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| (*name, view(shape, bytes)));
    safetensors::serialize(views, Some([("format".to_owned(), "pt".to_owned())].into())).unwrap()
}

#[test]
fn ranks_share_a_secret_from_a_file() {
    let folder = scratch("shared");
    let [secret, short] = [("secret", &[7; 32][..]), ("short", &[7; 8])].map(|(name, bytes)| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    });
    for output in ranks(2, &["--bench", "4K", "--secs", "0.1", "--secret-file", &secret]) {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let output = optireduce(&["run", "--rank", "0", "--world-size", "2", "--root", "h:1", "--secret-file", &short]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    let expected =
        format!("secret_file is {short} (--secret-file), expected a file with a secret: the secret has 8 bytes");
    assert!(said.contains(&expected), "{said}");
    let mut empty = command();
    let output =
        empty.args(["run", "--world-size", "2", "--rank", "0", "--root", "h:1"]).env("OPTIREDUCE_SECRET", "\n");
    let output = output.output().expect("the command starts");
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("OPTIREDUCE_SECRET is empty"));
}

#[test]
fn several_buckets_at_once_give_a_row_of_all_of_them() {
    let sizes = ["--bench", "96K", "--secs", "0.1", "--bound-ms", "2000", "--early", "off", "--in-flight", "12"];
    let output = optireduce(&[&["bench", "allreduce", "--ranks", "2", "--json"], &sizes[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&row["size_bytes"], &row["received_fraction"]), (&98_304.into(), &1.0.into()), "{row}");
    let stages = row["iters"].as_u64().unwrap() * 12 * 2 * 2;
    assert_eq!(
        (row["stages"].as_u64(), row["stages_early"].as_u64(), row["stages_at_bound"].as_u64()),
        (Some(stages), Some(0), Some(0))
    );
    let refused = |more: &[&str]| {
        let output = optireduce(&[&["bench", "allreduce", "--ranks", "2", "--in-flight", "3"], more].concat());
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = refused(&["--bench", "64K"]);
    assert!(code == Some(2) && said.contains("found 65536 bytes, expected a multiple of 12 for 3 buckets"), "{said}");
    let (code, said) = refused(&["--bench", "96K", "--engine", "tcp"]);
    assert!(code == Some(2) && said.contains("--in-flight: several buckets are not possible with"), "{said}");
}

#[test]
fn files_of_tensors_are_averaged_by_name() {
    let folder = scratch("averaged");
    let weight = |rank: usize| (0..6000).map(|i| (i * (rank + 1)) as f32).collect::<Vec<_>>();
    for rank in 0..3 {
        let content = tensors(&[("weight", &[60, 100], weight(rank)), ("bias", &[1], vec![rank as f32])]);
        std::fs::write(folder.join(format!("in.{rank}.safetensors")), content).unwrap();
    }
    let [file, out] = ["in", "out"].map(|name| format!("{}/{name}.{{rank}}.safetensors", folder.display()));
    for engine in ["udp", "tcp"] {
        let outputs = ranks(3, &["--file", &file, "--out", &out, "--json", "--engine", engine]);
        for (rank, output) in outputs.iter().enumerate() {
            assert!(output.status.success(), "rank {rank}: {}", text(&output.stderr));
            let mean = std::fs::read(folder.join(format!("out.{rank}.safetensors"))).unwrap();
            let expected = tensors(&[("weight", &[60, 100], weight(1)), ("bias", &[1], vec![1.0])]);
            let ([found, expected], [metadata, of_input]) = (
                [&mean, &expected].map(|bytes| SafeTensors::deserialize(bytes).unwrap()),
                [&mean, &expected].map(|bytes| SafeTensors::read_metadata(bytes).unwrap().1.metadata().clone()),
            );
            assert_eq!(metadata, of_input);
            for name in ["weight", "bias"] {
                let [found, expected] = [&found, &expected].map(|of| of.tensor(name).unwrap());
                assert_eq!((found.shape(), found.dtype()), (expected.shape(), expected.dtype()), "{name}");
                let [found, expected] = [found, expected].map(|view| {
                    view.data().chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
                });
                let close = |(found, expected): (&f32, &f32)| (found - expected).abs() <= 1e-6 * expected.abs();
                assert!(found.iter().zip(&expected).all(close), "rank {rank}, {name}");
            }
        }
        let row: serde_json::Value = serde_json::from_slice(&outputs[0].stdout).expect("JSON of rank 0");
        assert_eq!((&row["tensors"], &row["size_bytes"], &row["ranks"]), (&2.into(), &24_004.into(), &3.into()));
        assert_eq!(
            (&row["received_fraction"], &row["engine"]),
            (&1.0.into(), &if engine == "udp" { "shm" } else { "tcp" }.into())
        );
        assert_eq!(row["late_ranks"], serde_json::json!([]));
        assert!(outputs[1].stdout.is_empty() && outputs[2].stdout.is_empty());
    }
}

#[test]
fn two_levels_run_and_groups_that_cannot_be_are_refused() {
    let run = ["--bench", "100K", "--secs", "0.1", "--bound-ms", "2000", "--early", "off", "--groups", "2", "--agree"];
    let output = optireduce(&[&["bench", "allreduce", "--ranks", "4", "--json"], &run[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&row["ranks"], &row["received_fraction"]), (&4.into(), &1.0.into()), "{row}");
    let auto = optireduce(&[
        "bench",
        "allreduce",
        "--ranks",
        "6",
        "--bench",
        "4K",
        "--secs",
        "0.1",
        "--groups",
        "auto",
        "--json",
    ]);
    let row: serde_json::Value = serde_json::from_slice(&auto.stdout).expect("JSON");
    assert_eq!((&row["ranks"], &row["engine"]), (&6.into(), &"shm".into()), "{row}");
    let wrong = optireduce(&[&["bench", "allreduce", "--ranks", "3"], &run[..]].concat());
    assert!(
        text(&wrong.stderr).contains("3 ranks in 2 groups: expected at least two groups"),
        "{}",
        text(&wrong.stderr)
    );
    let one_host = optireduce(&["bench", "allreduce", "--ranks", "2", "--bench", "4K", "--groups", "hosts"]);
    let said = text(&one_host.stderr);
    assert!(
        said.contains(
            "two levels by host: 127.0.0.1 has ranks 0, 1; expected at least two hosts, with the same number"
        ),
        "{said}"
    );
    let no_groups = optireduce(&["bench", "allreduce", "--groups", "host"]);
    assert!(
        text(&no_groups.stderr)
            .contains("groups is host (--groups), expected 2 to 1024 groups, auto or hosts, or none"),
        "{no_groups:?}"
    );
}

#[test]
fn groups_of_ranks_that_are_ready_are_measured_and_those_that_cannot_be_are_refused() {
    let outputs = ranks(3, &["--partial=2", "--bench=40K", "--secs=0.5", "--straggler-ms=100", "--json"]);
    assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
    let row: serde_json::Value = serde_json::from_slice(&outputs[0].stdout).expect("JSON");
    let number = |name: &str| row[name].as_f64().expect(name);
    assert_eq!(["size_bytes", "group_size", "ranks"].map(number), [40_960.0, 2.0, 3.0], "{row}");
    assert_eq!(["incomplete", "wrong"].map(number), [0.0; 2], "{row}");
    // The delayed rank makes at most 5 averages and a last one; the others do not wait for it.
    assert!(number("averages_min") <= 6.0 && number("averages_max") > number("averages_min"), "{row}");
    assert!(number("members_mean") <= 2.0 && number("p50_ms") > 0.0, "{row}");
    for output in ranks(2, &["--partial=3", "--bench=4K", "--secs=0.1"]) {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("groups of 3 of 2 workers; expected 2 to 2"), "{output:?}");
    }
}

#[test]
fn raw_files_are_averaged_as_little_endian_fp32() {
    for (name, count, options) in [("raw", 2, &[][..]), ("raw_groups", 4, &["--groups", "auto"])] {
        let folder = scratch(name);
        for rank in 0..count {
            let bytes: Vec<u8> = (0..1000).flat_map(|i| ((i + 10 * rank) as f32).to_le_bytes()).collect();
            std::fs::write(folder.join(format!("in.{rank}")), bytes).unwrap();
        }
        let [file, out] = ["in", "out"].map(|name| format!("{}/{name}.{{rank}}", folder.display()));
        let outputs = ranks(count, &[&["--file", &file, "--out", &out], options].concat());
        let report = text(&outputs[0].stdout);
        let begins = format!("1 tensor, 4000 B: averaged over {count} ranks in ");
        assert!(report.starts_with(&begins), "{report}{}", text(&outputs[0].stderr));
        assert!(report.contains("received 100.000 % of what peers sent"), "{report}");
        let expected: Vec<u8> = (0..1000).flat_map(|i| ((i + 5 * (count - 1)) as f32).to_le_bytes()).collect();
        assert!((0..count).all(|rank| std::fs::read(folder.join(format!("out.{rank}"))).unwrap() == expected));
    }
}

#[test]
fn a_mean_that_lost_too_much_is_not_written() {
    let folder = scratch("lost");
    let [file, out] = ["in", "out"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&file, vec![0; 4 << 20]).unwrap();
    let _ = std::fs::remove_file(&out);
    for output in ranks(2, &["--file", &file, "--out", &out, "--bound-ms", "0.001"]) {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(
            text(&output.stderr).contains(
                "the mean is incomplete and was not written on any rank: values did not arrive in time in values["
            ),
            "{output:?}"
        );
    }
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn what_ranks_do_that_differ_is_named() {
    let root = free_root();
    for (options, expected) in [
        (vec!["--engine", "tcp"], "the ranks differ: --engine is tcp on rank 1, but udp on rank 0"),
        (vec!["--file", "x"], "the ranks differ: --file is given on rank 1, but not given on rank 0"),
        (vec!["--groups", "2"], "the ranks differ: groups is 2 on rank 1, but none on rank 0"),
    ] {
        let start = |rank: usize, options: &[&str]| {
            let mut command = command();
            command.args(["run", "--rank", &rank.to_string(), "--world-size", "2", "--timeout-s", "20"]);
            command.args(["--root", &root]).args(options);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
        };
        for rank in [start(0, &[]), start(1, &options)] {
            let output = rank.wait_with_output().unwrap();
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(expected), "{said}");
        }
    }
}

#[test]
fn a_mean_that_one_rank_cannot_write_is_written_by_none() {
    let folder = scratch("unwritten");
    let [file, out] = ["in", "out.{rank}/mean"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&file, vec![0; 4000]).unwrap();
    let of_rank = |rank: usize| folder.join(format!("out.{rank}"));
    for rank in [0, 2] {
        std::fs::create_dir_all(of_rank(rank)).unwrap();
    }
    for output in ranks(3, &["--file", &file, "--out", &out]) {
        let (code, said) = (output.status.code(), text(&output.stderr));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("rank 1: ") && said.contains("out.1/mean: No such file or directory"), "{said}");
        assert!(said.contains("no rank has written its mean"), "{said}");
    }
    for rank in [0, 2] {
        assert_eq!(std::fs::read_dir(of_rank(rank)).unwrap().count(), 0, "rank {rank}");
    }
    std::fs::create_dir_all(of_rank(1)).unwrap();
    let pipe = of_rank(1).join("mean");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for output in ranks(3, &["--file", &file, "--out", &out]) {
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("out.1/mean: exists and is not a regular file"),
            "{said}"
        );
    }
    let is_pipe = std::os::unix::fs::FileTypeExt::is_fifo(&pipe.metadata().unwrap().file_type());
    std::fs::remove_file(&pipe).unwrap();
    assert!(is_pipe, "it is there still");
    for rank in [0, 2] {
        assert_eq!(std::fs::read_dir(of_rank(rank)).unwrap().count(), 0, "rank {rank}");
    }
}

#[test]
fn files_of_several_buckets_in_16_bits_are_averaged_and_replaced_whole() {
    let folder = scratch("halves");
    // A tensor crosses the boundary of two buckets of 25 MiB.
    let elements = (25 << 18) + 1000;
    for rank in 0..2_u16 {
        // 1.0 and 3.0 as f16, 2.0 and 4.0 as bf16.
        let f16: Vec<u8> = [0x3c00_u16, 0x4200][usize::from(rank)].to_le_bytes().repeat(elements);
        let bf16: Vec<u8> = [0x4000_u16, 0x4080][usize::from(rank)].to_le_bytes().repeat(3);
        let views = [
            ("b", TensorView::new(Dtype::F16, vec![elements], &f16).unwrap()),
            ("a", TensorView::new(Dtype::BF16, vec![3], &bf16).unwrap()),
        ];
        let content = safetensors::serialize(views, None).unwrap();
        std::fs::write(folder.join(format!("in.{rank}.safetensors")), content).unwrap();
        std::fs::write(folder.join(format!("out.{rank}.safetensors")), "what was there before").unwrap();
    }
    let [file, out] = ["in", "out"].map(|name| format!("{}/{name}.{{rank}}.safetensors", folder.display()));
    // Nothing can be lost over TCP, even on a busy machine.
    for output in ranks(2, &["--file", &file, "--out", &out, "--engine", "tcp"]) {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for rank in 0..2 {
        let mean = std::fs::read(folder.join(format!("out.{rank}.safetensors"))).unwrap();
        let mean = SafeTensors::deserialize(&mean).unwrap();
        let [a, b] = ["a", "b"].map(|name| mean.tensor(name).unwrap());
        assert_eq!((a.dtype(), a.data().to_vec()), (Dtype::BF16, 0x4040_u16.to_le_bytes().repeat(3)));
        assert!(b.dtype() == Dtype::F16 && b.data() == 0x4000_u16.to_le_bytes().repeat(elements), "rank {rank}");
    }
    let left = std::fs::read_dir(&folder).unwrap().filter_map(Result::ok);
    let left: Vec<_> =
        left.map(|file| file.file_name()).filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "temporary files are left: {left:?}");
}

#[test]
fn files_that_do_not_fit_are_named_on_all_ranks() {
    let folder = scratch("unfit");
    let file = format!("{}/in.{{rank}}.safetensors", folder.display());
    let path = |rank: usize| file.replace("{rank}", &rank.to_string());
    let check = |content: Option<Vec<u8>>, expected: &str| {
        std::fs::write(path(0), tensors(&[("a", &[2, 3], vec![0.0; 6])])).unwrap();
        let _ = std::fs::remove_file(path(1));
        content.map_or(Ok(()), |content| std::fs::write(path(1), content)).unwrap();
        for output in ranks(2, &["--file", &file]) {
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output.stderr).contains(expected), "{}, expected {expected}", text(&output.stderr));
        }
    };
    let shape = "tensor a has shape [3, 2] on rank 1 and [2, 3] on rank 0";
    check(Some(tensors(&[("a", &[3, 2], vec![0.0; 6])])), shape);
    check(
        Some(tensors(&[("b", &[6], vec![0.0; 6])])),
        "rank 1 has no tensor a; rank 0 has one of type F32 and shape [2, 3]",
    );
    let more = tensors(&[("a", &[2, 3], vec![0.0; 6]), ("c", &[1], vec![0.0])]);
    check(Some(more), "rank 1 has a tensor c of type F32 and shape [1]; rank 0 has none");
    check(Some(b"nothing of the kind".to_vec()), &format!("rank 1: {}: not a safetensors file: ", path(1)));
    let other = |dtype, bytes: usize| {
        let data = vec![0; bytes];
        let view = TensorView::new(dtype, vec![2, 3], &data).unwrap();
        Some(safetensors::serialize([("a", view)], None).unwrap())
    };
    check(other(Dtype::BF16, 12), "tensor a has type BF16 on rank 1 and F32 on rank 0");
    check(other(Dtype::I32, 24), "tensor a: its type is I32, expected F32, BF16 or F16; convert it first");
    let escaped = "rank 1 has a tensor a\\n\\u{1b}[31m of type F32";
    check(Some(tensors(&[("a", &[2, 3], vec![0.0; 6]), ("a\n\u{1b}[31m", &[1], vec![0.0])])), escaped);
    check(None, &format!("rank 1: {}: No such file", path(1)));
    let huge = std::fs::File::create(path(1)).unwrap();
    huge.set_len(1 << 42).unwrap();
    for output in ranks(2, &["--file", &file]) {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let names = [&format!("rank 1: {} needs 16384.2 GiB of memory, ", path(1)), "are available"];
        assert!(names.iter().all(|what| said.contains(*what)), "{said}");
    }
    for output in ranks(2, &["--file", "/dev/zero"]) {
        assert!(text(&output.stderr).contains("rank 0: /dev/zero: not a regular file"), "{output:?}");
    }
}

#[test]
fn files_of_other_formats_are_not_taken_for_raw_values() {
    let folder = scratch("formats");
    let npy = [b"\x93NUMPY\x01\x00v\x00".as_slice(), &[b' '; 118], &[0; 64]].concat();
    for (name, content, expected) in [
        ("in.npy", npy, "an array of numpy (.npy), expected raw fp32; save it as safetensors, or as raw values"),
        (
            "in.pt",
            [b"PK\x03\x04".as_slice(), &[0; 396]].concat(),
            "a zip archive (as .npz and .pt are), expected raw fp32",
        ),
        ("in.gguf", b"GGUF\x03\0\0\0".to_vec(), "a GGUF file, expected raw fp32"),
        (
            "in.SAFETENSORS",
            tensors(&[("a", &[2], vec![0.0; 2])]),
            "a safetensors file, expected raw fp32; give it the extension .safetensors",
        ),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        let output = optireduce(&["run", "--world-size", "1", "--file", path.to_str().unwrap()]);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{name}: {said}");
    }
    for (file, out) in [("in.safetensors", "out"), ("in", "out.safetensors")] {
        let output = optireduce(&["run", "--world-size", "1", "--file", file, "--out", out]);
        let expected =
            format!("--out is {out}, expected the format of --file {file}; end both names with .safetensors");
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(&expected), "{said}");
    }
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode() {
    let path = scratch("mode").join("private");
    for mode in [0o600, 0o640] {
        std::fs::write(&path, [0; 400]).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let path = path.to_str().unwrap();
        let output = optireduce(&["run", "--world-size", "1", "--file", path, "--out", path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn an_error_is_told_where_no_thread_can_be_started() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // The limit does not apply to root, who may own a folder that others cannot enter.
    let copy = std::env::temp_dir().join(format!("optireduce-test-{}", std::process::id()));
    std::fs::copy(env!("CARGO_BIN_EXE_optireduce"), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut limited = Command::new("prlimit");
    let limited = limited.args(["--nproc=1", "setpriv", "--reuid", "65533", "--clear-groups"]).arg(&copy);
    let output = limited.args(["run", "--rank", "2", "--world-size", "2", "--root", "h:1"]).output();
    std::fs::remove_file(&copy).unwrap();
    let output = output.unwrap();
    assert!(text(&output.stderr).contains(r#"rank is "2", expected 0 to 1"#), "{output:?}");
}

#[test]
fn memory_that_the_process_may_not_take_is_an_error_before_it_takes_any() {
    let huge = scratch("limited").join("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let start = |arguments: &[&str]| {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 800000 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_optireduce")]).args(arguments);
        limited.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts")
    };
    let check = |rank: std::process::Child, expected: &str| {
        let output = rank.wait_with_output().expect("a process");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let names = [expected, " are available on this host, or to its container or this process; "];
        assert!(names.iter().all(|what| said.contains(what)), "{said}");
    };
    check(start(&["bench", "allreduce", "--ranks", "2", "--bench", "1G"]), "with 2 rank(s) on this host needs ");
    let root = free_root();
    let run = |rank| ["run", "--rank", rank, "--world-size", "2", "--root", &root, "--timeout-s", "20"];
    check(
        start(&[&run("0")[..], &["--bench", "1G"]].concat()),
        "--bench 1024 MiB with 1 rank(s) on this host needs 5.0 GiB",
    );
    let file = ["--file", huge.to_str().unwrap()];
    for rank in ["0", "1"].map(|rank| start(&[&run(rank)[..], &file].concat())) {
        check(rank, "rank 0: ");
    }
}

fn processes_with(text: &str) -> usize {
    let holds = |entry: std::io::Result<std::fs::DirEntry>| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains(text).then_some(())
    };
    std::fs::read_dir("/proc").expect("/proc").filter_map(holds).count()
}

#[test]
fn a_signal_ends_the_ranks_that_bench_started() {
    let mut bench = command();
    bench.args(["bench", "allreduce", "--ranks", "3", "--bench", "64K", "--secs", "600", "--bound-ms", "1000"]);
    let mut bench = bench.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
    let job_id = format!("bench.{}.3", bench.id());
    while processes_with(&job_id) < 3 {
        assert!(bench.try_wait().expect("a process").is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(Command::new("kill").arg(bench.id().to_string()).status().expect("kill").success());
    let output = bench.wait_with_output().expect("a process");
    assert_eq!((output.status.code(), processes_with(&job_id)), (Some(2), 0), "{}", text(&output.stderr));
}

#[test]
fn a_full_disk_is_an_error_that_ends_all_ranks() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut bench = command();
    bench.args(["bench", "allreduce", "--ranks", "3", "--bench", "64K", "--secs", "1", "--bound-ms", "1000", "--json"]);
    let output = bench.stdout(full).output().expect("the command starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("writing to stdout: No space left on device"), "{said}");
}

/// Memory files exceed the limit. Writing one would end the rank by SIGXFSZ.
#[test]
fn ranks_run_under_a_limit_of_the_size_of_files() {
    let file = scratch("file-size").join("values");
    std::fs::write(&file, [0; 160_000]).unwrap();
    let run = |arguments: &str| {
        let root = free_root();
        let start = |rank: usize| {
            let program = env!("CARGO_BIN_EXE_optireduce");
            let run =
                format!("ulimit -f 100; exec {program} run --rank {rank} --world-size 2 --root {root} {arguments}");
            Command::new("bash").args(["-c", &run]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        [0, 1].map(start).map(|rank| rank.wait_with_output().unwrap())
    };
    for output in run("--bench 64K --secs 0.2") {
        assert!(output.status.success(), "{:?}: {}", output.status, text(&output.stderr));
    }
    for output in run(&format!("--file {0} --out {0}.{{rank}} --engine tcp", file.display())) {
        assert_eq!(output.status.code(), Some(2), "{:?}: {}", output.status, text(&output.stderr));
        assert!(text(&output.stderr).contains("160000 bytes, more than `ulimit -f` allows (102400 bytes)"));
    }
}

/// A stranger who connects and resets as fast as it can. Nobody reads the log of rank 0 meanwhile.
#[test]
fn strangers_fill_no_log_and_a_full_pipe_keeps_no_job_from_beginning() {
    let root = free_root();
    let start = |rank: usize, filter: &str| {
        let arguments =
            ["run", "--world-size", "2", "--root", &root, "--bench", "4K", "--secs", "0.2", "--log-filter", filter];
        let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce"));
        command.args(arguments).args(["--rank", &rank.to_string()]).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for (filter, lines_max) in [("warn", 20), ("trace", usize::MAX)] {
        let first = start(0, filter);
        let begin = Instant::now();
        let mut strangers = 0;
        while begin.elapsed() < Duration::from_secs(2) {
            if let Ok(stranger) = std::net::TcpStream::connect(&root) {
                // Unread data: the close is a reset for rank 0, which sends nothing itself.
                let _ = (&stranger).write_all(b"GET /");
                strangers += 1;
            }
        }
        assert!(strangers > 100, "{strangers} strangers");
        let second = start(1, filter).wait_with_output().unwrap();
        assert!(second.status.success(), "{}", text(&second.stderr));
        let mut first = first;
        let until = Instant::now() + Duration::from_secs(60);
        let status = loop {
            match first.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < until, "rank 0 hangs with a full pipe"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let lines = BufReader::new(first.stderr.take().unwrap()).lines().count();
        assert!(status.success() && lines < lines_max, "{status:?}, {lines} lines");
    }
}

#[test]
fn one_rank_is_a_job() {
    for place in
        [&["--world-size", "1"][..], &["--rank", "0", "--world-size", "1"], &["--world-size", "1", "--root", "h:1"]]
    {
        let rest = ["--bench", "64K", "--secs", "0.1", "--json"];
        let output = optireduce(&[&["run"], place, &rest].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&row["ranks"], &row["received_fraction"]), (&1.into(), &1.0.into()), "{row}");
    }
    let output = optireduce(&["run", "--world-size", "2", "--bench", "4K"]);
    assert!(text(&output.stderr).contains("no launcher's environment found"), "{}", text(&output.stderr));
}

#[test]
fn a_file_that_cannot_be_read_is_told_before_the_other_ranks_are_met() {
    let begin = Instant::now();
    let output = optireduce(&["run", "--rank", "1", "--world-size", "2", "--root", &free_root(), "--file", "/nosuch"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("optireduce: /nosuch: No such file"), "{}", text(&output.stderr));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}
