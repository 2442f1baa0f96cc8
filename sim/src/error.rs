//! Errors of the simulator.

use std::path::PathBuf;

use optireduce::smartnic::SmartNicError;

/// An error of the simulator. Messages are one line with the values found and expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum SimError {
    /// A file could not be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    File {
        path: PathBuf,
        /// Verb of the message, such as "read".
        action: &'static str,
        source: std::io::Error,
    },
    /// An input file has invalid contents.
    #[error("{file}: {problem}")]
    Input {
        /// Path, or a label for built-in data.
        file: String,
        problem: String,
    },
    /// An argument is out of range.
    #[error("{0}")]
    Argument(String),
    /// The engine is not available on this machine.
    #[error("--engine {engine}: {problem}")]
    Engine {
        engine: String,
        /// Missing dependency and remedy.
        problem: String,
    },
    /// The host library or the driver of a rank failed.
    #[error("rank {rank}: {source}")]
    Rank { rank: usize, source: Box<dyn std::error::Error + Send + Sync> },
    /// A collective did not finish in virtual time.
    #[error(
        "step {op}: rank {rank} is not done {waited_us} us after the start of the step, expected at most {limit_us} us"
    )]
    Hang {
        op: u32,
        /// First unfinished rank.
        rank: usize,
        /// Virtual time since the start of the step.
        waited_us: u64,
        /// Longest permitted time.
        limit_us: u64,
    },
    /// A result differs from the oracle, or a card reported an impossible value.
    #[error("{0}")]
    Check(String),
}

impl SimError {
    /// Returns the exit code of the command: 2 if it could not run, 1 if a check failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::File { .. } | Self::Input { .. } | Self::Argument(_) | Self::Engine { .. } => 2,
            Self::Rank { source, .. } if matches!(source.downcast_ref(), Some(SmartNicError::Secret(_))) => 2,
            Self::Rank { .. } | Self::Hang { .. } | Self::Check(_) => 1,
        }
    }
}
