//! The card as Verilog for those who have no Rust: two files, `optireduce_card.v` and `optireduce_top.v`.
//!
//! `optireduce_card.v` is what rust-hdl emits, equal modules once, and names changed: `top$reduce$adder` becomes
//! `optireduce_reduce__adder` and every other `$` in a name `__`, so that the modules collide with nobody's and no tool
//! needs escaped names. A module that is used in several places is called after the first of them.
//! `optireduce_top.v` is an ANSI header around it: same names, same widths, no logic; what only the simulator looks at
//! is left open.
//! Limits: reads the Verilog that rust-hdl writes, not Verilog at large.

use optireduce_hw::cosim::share;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// Outputs of the card that are for the simulator; the ANSI top leaves them open.
const SIMULATOR_ONLY: &[&str] = &["asleep", "timer_ns", "trace_"];

/// A port of the top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Driven by the card.
    pub is_output: bool,
    /// Its width.
    pub bits: usize,
}

/// The two files: name and text.
///
/// # Errors
/// When `verilog` has no module `top` with ports in rust-hdl's style.
pub fn files(verilog: &str) -> Result<[(&'static str, String); 2], String> {
    let modules = share::shared(verilog);
    let top = modules.iter().find(|module| module.name == "top").ok_or("no module top")?;
    let ports = ports_of(&top.body);
    if ports.is_empty() {
        return Err("module top has no ports".into());
    }
    let notice =
        "// Written by `optireduce-hdl rtl` from the rust-hdl sources in hw/src; do not edit. See hw/rtl/README.md.\n";
    let card = format!("{notice}{}", renamed(&share::verilog(&modules)));
    Ok([("optireduce_card.v", card), ("optireduce_top.v", format!("{notice}{}", ansi(&ports)))])
}

/// The ports of a module in rust-hdl's style, in order, from its text.
pub fn ports_of(body: &str) -> Vec<Port> {
    let header = body.split_once("// Stub signals").map_or(body, |(header, _)| header);
    header.lines().filter_map(port).collect()
}

fn port(line: &str) -> Option<Port> {
    let words: Vec<&str> = line.trim().trim_end_matches(';').split_whitespace().collect();
    let (direction, range, name) = match words[..] {
        [direction, "wire" | "reg", name] => (direction, "[0:0]", name),
        [direction, "wire" | "reg", range, name] => (direction, range, name),
        _ => return None,
    };
    let bits = range.strip_prefix('[')?.strip_suffix(":0]")?.parse::<usize>().ok()? + 1;
    let is_output = match direction {
        "input" => false,
        "output" => true,
        _ => return None,
    };
    Some(Port { name: name.to_owned(), is_output, bits })
}

/// A module with ANSI ports around the card.
fn ansi(ports: &[Port]) -> String {
    let simulator_only = |port: &Port| port.is_output && SIMULATOR_ONLY.iter().any(|name| port.name.starts_with(name));
    let mut declared = Vec::new();
    let mut pins = Vec::new();
    for port in ports {
        let Port { is_output, bits, .. } = port;
        let name = port.name.replace('$', "__");
        if simulator_only(port) {
            pins.push(format!("        .{name}()"));
            continue;
        }
        let direction = if *is_output { "output" } else { "input " };
        let range = if *bits == 1 { String::new() } else { format!("[{}:0]", bits - 1) };
        declared.push(format!("    {direction} wire {range:>7} {name}"));
        pins.push(format!("        .{name}({name})"));
    }
    format!(
        "\nmodule optireduce_top (\n{}\n);\n    optireduce_card card (\n{}\n    );\nendmodule\n",
        declared.join(",\n"),
        pins.join(",\n")
    )
}

/// Module and signal names as [`files`] wants them; spaces at the ends of lines and empty lines are left out.
pub(crate) fn renamed(verilog: &str) -> String {
    let mut text = String::with_capacity(verilog.len());
    for line in verilog.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if line.starts_with("module ") {
            text.push('\n');
        }
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') {
            let end = rest[start..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
            let end = end.map_or(rest.len(), |end| start + end);
            let (before, name) = (&rest[..start], &rest[start..end]);
            text.push_str(before);
            match name.strip_prefix("top$") {
                Some(below) => _ = write!(text, "optireduce_{}", below.replace('$', "__")),
                None if name == "top" => text.push_str("optireduce_card"),
                // A system task or function keeps its name.
                None if name.starts_with('$') => text.push_str(name),
                None => text.push_str(&name.replace('$', "__")),
            }
            rest = &rest[end..];
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

/// Writes the files to `folder`.
///
/// # Errors
/// When they cannot be written.
pub fn write(folder: &Path, files: &[(&str, String)]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Whether `folder` holds just these files' texts.
///
/// # Errors
/// The first file that differs, where, and the command that writes it anew.
pub fn check(folder: &Path, files: &[(&str, String)]) -> Result<(), String> {
    for (name, expected) in files {
        let path = folder.join(name);
        let found = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            found => found.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        if found != *expected {
            let same = found.lines().zip(expected.lines()).take_while(|(found, expected)| found == expected).count();
            return Err(format!(
                "{}:{}: found {:?}, the sources give {:?}. Write it anew:\n  \
                 cargo run --release -p optireduce-hdl -- rtl --out hw/rtl",
                path.display(),
                same + 1,
                found.lines().nth(same).unwrap_or("end of file"),
                expected.lines().nth(same).unwrap_or("end of file"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "rtl_tests.rs"]
mod tests;
