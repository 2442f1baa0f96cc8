//! `optireduce-hdl` as users run it: exit codes, messages, JSON.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use optireduce_contract::packet::frame;
use optireduce_contract::registers::REGISTERS;

fn hdl(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_optireduce-hdl")).args(arguments).stdin(Stdio::null()).output();
    command.expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn file(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hdl-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("the scratch directory takes a file");
    path.display().to_string()
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/f32_add.txt.gz");

/// First 1000 vectors of addition as text, with a wrong sum in `line` (from 1).
fn planted(line: usize) -> String {
    let mut all = String::new();
    let compressed = std::fs::File::open(VECTORS).expect("the vectors are in the tree");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(compressed), &mut all).expect("gzip data");
    let mut lines: Vec<String> = all.lines().take(1000).map(str::to_owned).collect();
    let mut words: Vec<&str> = lines[line - 1].split(' ').collect();
    words[2] = "00000007";
    lines[line - 1] = words.join(" ");
    lines.join("\n") + "\n"
}

#[test]
fn vectors_that_agree_are_counted() {
    for engine in ["rtl", "verilator", "model"] {
        let output = hdl(&["check", "fp32_add", "--vectors", VECTORS, "--engine", engine]);
        let expected = format!("fp32_add on {engine}: 46464 of 46464 vectors agree\n");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), expected), "{}", text(&output.stderr));
    }
}

#[test]
fn the_first_vector_that_does_not_agree_is_shown() {
    let path = file("planted", planted(700).as_bytes());
    for engine in ["rtl", "verilator", "model"] {
        let output = hdl(&["check", "fp32_add", "--vectors", &path, "--engine", engine]);
        let out = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{out}{}", text(&output.stderr));
        assert!(
            out.starts_with(&format!("fp32_add on {engine}: 999 of 1000 vectors agree\nfirst difference, line 700: "))
        );
        assert!(out.contains("a = ") && out.contains(", b = ") && out.ends_with(", expected 00000007\n"), "{out}");
    }
    let output = hdl(&["check", "fp32_add", "--vectors", &path, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &json["agree"], &json["vectors"]), (Some(1), &999.into(), &1000.into()));
    assert_eq!(
        (&json["first_difference"]["line"], &json["first_difference"]["expected"]),
        (&700.into(), &"00000007".into())
    );
}

#[test]
fn a_nan_is_as_good_as_another_where_results_are_floats() {
    // Infinity minus infinity is a NaN. As integers, 0x7fc00000 and 0x7fc00001 differ.
    let nan = file("nan", b"7f800000 ff800000 ffffffff 10\n7F800000 FF800000 7f800001 10\n");
    assert_eq!(hdl(&["check", "fp32_add", "--vectors", &nan]).status.code(), Some(0));
    let infinity = file("infinity", b"7f800000 ff800000 7f800000 10\n");
    assert_eq!(hdl(&["check", "fp32_add", "--vectors", &infinity]).status.code(), Some(1));
    let integer = file("integer", b"4eff8000 7fc00001 00\n");
    assert_eq!(hdl(&["check", "fp32_to_int32", "--vectors", &integer]).status.code(), Some(1));
}

/// Expects exit code 2 and one line on stderr that contains `parts`.
fn assert_refused(output: &Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
}

#[test]
fn what_cannot_be_checked_is_refused_by_name() {
    let check = |block: &str, vectors: &str| hdl(&["check", block, "--vectors", vectors]);
    let unknown = check("fp64_add", VECTORS);
    assert_eq!((unknown.status.code(), text(&unknown.stdout).as_str()), (Some(2), ""));
    let names = "[possible values: fp32_add, fp32_mul, fp32_to_int32, int32_to_fp32]";
    assert!(text(&unknown.stderr).contains(names), "{}", text(&unknown.stderr));
    assert_refused(&check("fp32_add", "no/such/file"), &["no/such/file", "No such file"]);
    let bad = file("bad", b"8683F7FF C07F3FFF C07F3FFF 01\n\n8683F7FF C07F3FFF C07F3FFG 01\n");
    assert_refused(&check("fp32_add", &bad), &[&bad, "line 3 is", "C07F3FFG", "expected", "a b expected flags"]);
    let long = file("long", b"18683F7FF C07F3FFF C07F3FFF 01\n");
    assert_refused(&check("fp32_add", &long), &["line 1 is", "up to 8 hexadecimal digits"]);
    assert_refused(&check("fp32_to_int32", VECTORS), &["line 1 is", "a expected flags"]);
    assert_refused(&check("fp32_add", &file("empty", b"\n")), &["no vectors"]);
    let mut cut = std::fs::read(VECTORS).expect("the vectors are in the tree");
    cut.truncate(1000);
    assert_refused(&check("fp32_add", &file("cut", &cut)), &["cut", "cannot decompress"]);
}

#[test]
fn without_verilator_its_engine_says_how_to_get_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-hdl"));
    command.args(["check", "fp32_add", "--vectors", VECTORS, "--engine", "verilator"]).env("PATH", "");
    assert_refused(&command.output().expect("it starts"), &["verilator is not on PATH", "apt-get install verilator"]);
}

#[test]
fn lint_exits_by_what_it_finds() {
    let clean = hdl(&["lint"]);
    assert_eq!(clean.status.code(), Some(0), "{}", text(&clean.stdout));
    let source = b"impl X { #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val() + 1 > self.b.val(); } }";
    let path = file("kernel.rs", source);
    let found = hdl(&["lint", &path]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found.stdout).starts_with(&format!("{path}:1:58: compare-sum: `self.a.val() + 1 > self.b.val()`: ")));
    let json: serde_json::Value = serde_json::from_slice(&hdl(&["lint", "--json", &path]).stdout).expect("JSON");
    assert_eq!((&json["kernels"], &json["findings"][0]["class"]), (&1.into(), &"compare-sum".into()));
    assert_refused(&hdl(&["lint", "no/such/file.rs"]), &["no/such/file.rs"]);
}

#[test]
fn help_ends_with_three_commands_to_copy() {
    let mut all = vec![vec!["--help"], vec!["check", "--help"], vec!["lint", "--help"]];
    let commands = ["emit", "rtl", "contract", "lint", "check", "prove", "report", "bitstream"];
    all.extend(commands.map(|command| vec![command, "-h"]));
    for arguments in &all {
        let help = text(&hdl(arguments).stdout);
        let last: Vec<&str> = help.trim_end().lines().rev().take(4).collect();
        assert_eq!(last[3], "Examples:", "{help}");
    }
}

#[test]
fn the_contract_is_c_and_cpp_and_says_the_same() {
    let header = file("card.h", &hdl(&["contract", "--format", "c"]).stdout);
    let values: String = REGISTERS
        .iter()
        .map(|one| format!("(OPTR_REG_{} == {} ? 0 : 1) + ", one.name, one.offset))
        .chain(frame::ALL.iter().map(|one| format!("(OPTR_FRAME_{} == {} ? 0 : 1) + ", one.name, one.offset)))
        .collect();
    let program = format!(
        "#include \"{header}\"\nint main(void) {{ struct optr_submission one = {{0}}; one.sign_key = 1; return {values}(one.sign_key == 1 ? 0 : 1); }}\n"
    );
    for (compiler, standard, name) in [("gcc", "-std=c11", "contract.c"), ("g++", "-std=c++11", "contract.cpp")] {
        let source = file(name, program.as_bytes());
        let built = format!("{source}.out");
        let arguments = [standard, "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-pedantic", "-o"];
        let output = Command::new(compiler).args(arguments).args([&built, &source]).output();
        let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}. Run `tests/run`, which installs it."));
        assert!(output.status.success(), "{compiler}: {}", text(&output.stderr));
        assert_eq!(Command::new(&built).status().expect("it starts").code(), Some(0), "{compiler}: values differ");
        std::fs::remove_file(&built).expect("it was just made");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let out = file("closed", b"");
    std::fs::remove_file(&out).expect("it was just made");
    for arguments in [&["contract"][..], &["emit", "--out", &out, "--block", "msix", "--block", "reset"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-hdl"));
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{arguments:?}");
    }
    assert!(PathBuf::from(&out).join("reset.v").exists(), "the second file is written too");
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-hdl"));
    let mut child = command.args(["lint", "no/such/file.rs"]).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(2));
}

#[test]
fn a_wrong_argument_is_named_with_what_is_expected() {
    let folder = file("folder", b"");
    assert_refused(&hdl(&["emit", "--out", &folder]), &["folder: cannot make this folder"]);
    assert_refused(&hdl(&["emit", "--out", "x", "--block", "adder"]), &["adder: no such block", "fp_add", "endpoint"]);
    assert_refused(&hdl(&["prove", "adder"]), &["adder: no such proof", "in_beat_halving"]);
    assert_refused(&hdl(&["report", "adder"]), &["adder: no such block", "smartnic"]);
    let rtl = |option: &str, value: &str| hdl(&["rtl", "--out", "x", option, value]);
    assert_refused(&rtl("--window-log2", "15"), &["window-log2 is 15", "expected 7 to 14"]);
    assert_refused(&rtl("--hadamard-log2", "16"), &["hadamard-log2 is 16", "from 8 to 14"]);
    assert_refused(&hdl(&["bitstream", "no/such", "--check"]), &["no/such/manifest.toml"]);
}

/// As in Debian 12.
#[test]
fn an_old_yosys_is_refused_at_once_with_what_is_needed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = PathBuf::from(file("tools", b""));
    std::fs::remove_file(&folder).expect("it was just made");
    std::fs::create_dir(&folder).expect("it can be made");
    let yosys = folder.join("yosys");
    std::fs::write(&yosys, "#!/bin/sh\necho 'Yosys 0.23 (git sha1 7ce5011c24b)'\n").expect("it can be written");
    std::fs::set_permissions(&yosys, std::fs::Permissions::from_mode(0o755)).expect("it is there");
    // Tools are searched below the target folder of the executable. This link has none there.
    let command = folder.join("optireduce-hdl");
    std::fs::hard_link(env!("CARGO_BIN_EXE_optireduce-hdl"), &command).expect("it can be linked");
    std::fs::write(folder.join("CACHEDIR.TAG"), "").expect("it can be written");
    for arguments in [&["prove", "fifo"][..], &["report", "msix"], &["bitstream", "no/such/folder"]] {
        let output = Command::new(&command).args(arguments).env("PATH", &folder).output().expect("it starts");
        let message = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{message}");
        for part in ["yosys is Yosys 0.23", "too old; yosys 0.40 or later is needed", "pip install"] {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}
