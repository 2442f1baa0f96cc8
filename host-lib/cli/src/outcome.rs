//! Exit codes and output of commands.

use std::io::Write;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u8,
    pub text: String,
}

impl Failure {
    /// The result is incomplete or failed a check.
    pub const INCOMPLETE: u8 = 1;
    /// The command could not run or finish.
    pub const COULD_NOT_RUN: u8 = 2;
    pub const HALTED: u8 = 3;

    pub fn incomplete(text: String) -> Self {
        Self { code: Self::INCOMPLETE, text }
    }

    pub fn halted(text: String) -> Self {
        Self { code: Self::HALTED, text }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { code: Self::COULD_NOT_RUN, text }
    }
}

/// Prints a line of the result. A closed pipe is no error: the other ranks still need this one.
pub fn print(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("writing to stdout: {error}")),
        _ => Ok(()),
    }
}
