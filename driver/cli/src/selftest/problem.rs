//! What a step of the self-test found wrong.

use std::fmt;

use optireduce_driver::DriverError;

/// Why a step failed.
#[derive(Debug)]
pub enum Problem {
    /// The card works, but not as the contract says.
    Wrong {
        /// What was looked at.
        object: String,
        found: String,
        expected: String,
        /// What it means, or what to do.
        advice: &'static str,
    },
    /// The driver's error.
    Driver(DriverError),
}

impl From<DriverError> for Problem {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { object, found, expected, advice } => {
                write!(f, "{object}: found {found}, expected {expected}.\n{advice}")
            }
            Self::Driver(error) => write!(f, "{error}"),
        }
    }
}

/// Compares what was found with what must be, and says both in hexadecimal.
pub fn equal<T: PartialEq + fmt::LowerHex>(
    object: impl Into<String>,
    found: T,
    expected: T,
    advice: &'static str,
) -> Result<(), Problem> {
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|value| format!("{value:#x}"));
    Err(Problem::Wrong { object: object.into(), found, expected, advice })
}
