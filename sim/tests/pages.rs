//! Commands that the pages of this repository show: subcommands and options exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands and their packages.
const COMMANDS: [(&str, &str); 5] = [
    ("optireduce", "optireduce-cli"),
    ("optireduce-nic", "optireduce-nic"),
    ("optireduce-sim", "optireduce-sim"),
    ("optireduce-hdl", "optireduce-hdl"),
    ("badnet", "optireduce-badnet"),
];

/// Returns all pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// Returns the commands of a line, with their arguments: `badnet run -- optireduce run` has two.
fn commands(line: &str) -> Vec<Vec<String>> {
    let line = line.split(" #").next().unwrap_or_default().split(['>', '|', ';']).next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().filter(|word| !["...", "\\"].contains(word)).collect();
    let (mut found, mut package, mut is_other) = (Vec::<Vec<String>>::new(), "optireduce-sim", false);
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or_default();
        // Neither a package nor a module of Python.
        let is_named = at > 0 && ["-p", "-m"].contains(&words[at - 1]);
        let is_command = !is_named && COMMANDS.iter().any(|(command, _)| *command == name);
        let is_first = found.is_empty();
        if is_command && (is_first || words[at - 1] == "--") {
            found.push(vec![name.to_owned()]);
            is_other = false;
        } else if *word == "-p" && is_first {
            package = words.get(at + 1).copied().unwrap_or_default();
        } else if *word == "--" && is_first && words.starts_with(&["cargo", "run"]) {
            let command = COMMANDS.iter().find(|(_, of)| *of == package);
            found.extend(command.map(|(command, _)| vec![(*command).to_owned()]));
        } else if *word == "--" {
            // What follows is the command of another program.
            is_other = true;
        } else if let Some(command) = found.last_mut().filter(|_| !is_other) {
            command.push(word.trim_matches('\'').to_owned());
        }
    }
    found
}

#[test]
fn a_line_may_have_several_commands() {
    let found = |line: &str| commands(line).iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    assert_eq!(found("target/release/badnet run -- optireduce run  # x"), ["badnet run", "optireduce run"]);
    assert_eq!(found("cargo run --release -- bench card"), ["optireduce-sim bench card"]);
    assert_eq!(found("cargo run -p optireduce-hdl -- lint > out"), ["optireduce-hdl lint"]);
    assert_eq!(found("torchrun --no-python optireduce run"), ["optireduce run"]);
    assert_eq!(found("target/release/badnet run --hosts 2 -- COMMAND"), ["badnet run --hosts 2"]);
    assert_eq!(found("cargo test -p optireduce"), [""; 0]);
}

#[test]
fn commands_in_pages_have_their_subcommands_and_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = PathBuf::from(env!("CARGO_BIN_EXE_optireduce-sim"));
    // tests/run has built them.
    if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
        for (_, package) in COMMANDS {
            let build = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", package]).status();
            assert!(build.expect("cargo").success());
        }
    }
    let mut files = Vec::new();
    pages(&root, &mut files);
    let mut shown = BTreeSet::new();
    for page in files {
        let text = fs::read_to_string(&page).unwrap();
        let mut is_shell = false;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                is_shell = language == "sh";
            } else if is_shell || line.starts_with("    ") {
                shown.extend(commands(line).into_iter().map(|words| (words, page.display().to_string())));
            }
        }
    }
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for (words, page) in shown {
        seen.insert(words[0].clone());
        let program = target.with_file_name(&words[0]);
        let mut command = Command::new(program);
        // `--help` ends the command before it does anything, but after unknown options.
        let output = command.args(&words[1..]).arg("--help").stdin(Stdio::null()).output().expect(&words[0]);
        if !output.status.success() {
            wrong.push(format!("{page}: {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert_eq!(seen.len(), COMMANDS.len(), "{seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
