//! What can go wrong in a simulation.

use std::path::PathBuf;

use optireduce::SmartNicError;

/// An error of the simulator. Messages are one line and name what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A file could not be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// "read" or "write".
        action: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// The input is not what a run needs.
    #[error("{file}: {problem}")]
    Input {
        /// The file, or what stands for it.
        file: String,
        /// What was found, and what was expected.
        problem: String,
    },
    /// An argument is out of range.
    #[error("{0}")]
    Argument(String),
    /// The simulation cannot run here.
    #[error("--engine {engine}: {problem}")]
    Engine {
        /// The engine.
        engine: String,
        /// What is missing, and what to do.
        problem: String,
    },
    /// A rank's host library or driver refused.
    #[error("rank {rank}: {source}")]
    Rank {
        /// The rank.
        rank: usize,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A collective did not end in virtual time.
    #[error("step {op}: rank {rank} is not done {waited_us} us after the step's begin, expected at most {limit_us} us")]
    Hang {
        /// Collective number.
        op: u32,
        /// First rank that is not done.
        rank: usize,
        /// Virtual time since the step's begin.
        waited_us: u64,
        /// The most it may take.
        limit_us: u64,
    },
    /// The oracle and the cards disagree, or the cards reported what cannot be.
    #[error("{0}")]
    Check(String),
}

impl SimError {
    /// The exit code of the command: 2 if it could not run, 1 if it ran and a check failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::File { .. } | Self::Input { .. } | Self::Argument(_) | Self::Engine { .. } => 2,
            Self::Rank { source, .. } if matches!(source.downcast_ref(), Some(SmartNicError::Secret(_))) => 2,
            Self::Rank { .. } | Self::Hang { .. } | Self::Check(_) => 1,
        }
    }
}
