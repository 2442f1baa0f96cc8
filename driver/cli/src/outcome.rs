//! Exit codes and output of commands.

use std::io::Write;

use optireduce_driver::DriverError;
use serde::Serialize;

#[derive(Debug)]
pub struct Failure {
    /// Exit code: 1 if a check failed, 2 if the command could not run.
    pub code: u8,
    pub text: String,
}

impl Failure {
    pub fn check(text: String) -> Self {
        Self { code: 1, text }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { code: 2, text }
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        error.to_string().into()
    }
}

/// Prints a message to stderr, ignoring write errors.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "optireduce-nic: {text}");
}

/// Prints `value` as a line of JSON if `json`, otherwise `text`. A closed pipe is no error.
pub fn print(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    is_read(&text_of(json, value, text)?).map(drop)
}

pub fn text_of(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<String, Failure> {
    if json {
        Ok(serde_json::to_string(value).map_err(|error| format!("writing JSON: {error}"))? + "\n")
    } else {
        Ok(text())
    }
}

/// Prints `text` and returns whether stdout still has a reader.
pub fn is_read(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("writing to stdout: {error}").into()),
    }
}

/// Formats rows in aligned columns.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bb", "c"], ["long", "", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     bb  c\nlong\n");
    }
}
