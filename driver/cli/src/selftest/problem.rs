//! Failure of a step of the self-test.

use std::fmt;

use optireduce_driver::DriverError;

#[derive(Debug)]
pub enum Problem {
    /// The card answers, but violates the contract.
    Wrong {
        /// Register, field or memory.
        object: String,
        found: String,
        expected: String,
        /// Meaning or remedy.
        advice: &'static str,
    },
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

/// Compares a value with its expectation; reports both in hexadecimal.
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
