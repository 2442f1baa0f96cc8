//! The command `optireduce`, as a user calls it.

use std::process::{Command, Output};

fn optireduce(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce"));
    for name in ["RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "OPTIREDUCE_RANK"] {
        command.env_remove(name);
    }
    command.args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn ranks_on_this_machine_give_a_row_for_each_size() {
    for engine in ["udp", "tcp"] {
        // A bound far above what a busy machine takes: nothing may be lost.
        let sizes = ["--bench", "4K,100K", "--secs", "0.1", "--bound-ms", "2000", "--grace-us", "0"];
        let output =
            optireduce(&[&["bench", "allreduce", "--ranks", "2,3", "--json", "--engine", engine], &sizes[..]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let rows: Vec<serde_json::Value> =
            text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let found: Vec<_> = rows.iter().map(|row| (row["ranks"].as_u64(), row["size"].as_u64())).collect();
        let expected =
            [(2, 4096), (2, 102_400), (3, 4096), (3, 102_400)].map(|(ranks, size)| (Some(ranks), Some(size)));
        assert_eq!(found, expected);
        for row in &rows {
            assert_eq!((&row["engine"], &row["received_fraction"]), (&engine.into(), &1.0.into()), "{row}");
            let ms = ["p50_ms", "p90_ms", "p99_ms", "max_ms"].map(|name| row[name].as_f64().unwrap());
            assert!(ms[0] > 0.0 && ms.is_sorted() && row["iters"].as_u64() >= Some(20), "{row}");
        }
    }
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
fn what_is_missing_or_wrong_is_said() {
    let error = |arguments: &[&str]| {
        let output = optireduce(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(error(&["run"]).contains("no launcher's environment found"));
    assert!(error(&["run", "--rank", "0"]).contains("--world-size"));
    let nobody = ["run", "--rank", "0", "--world-size", "2", "--root", "127.0.0.1:0", "--timeout-s", "0.2"];
    assert!(error(&nobody).contains("1 of 2 ranks did not come within 0.2 s: rank 1;"), "{}", error(&nobody));
    assert!(error(&["run", "--bench", "5"]).contains("expected a multiple of 4 bytes"));
    let far = ["run", "--rank", "2", "--world-size", "2", "--root", "h:1"];
    assert!(error(&far).contains(r#"rank is "2", expected 0 to 1"#));
    let interface = [&nobody[..], &["--interface", "nosuch0"]].concat();
    assert!(error(&interface).contains("addresses of interface nosuch0: none found; there are"));
}

#[test]
fn help_has_examples() {
    for command in [&["run", "--help"][..], &["bench", "allreduce", "--help"], &["bench", "hadamard", "--help"]] {
        assert!(text(&optireduce(command).stdout).contains("Example"), "{command:?}");
    }
}
