//! Groups of a job on two levels.

use std::fmt;
use std::str::FromStr;

use optireduce_core::protocol::RANKS_MAX;

/// Division of the ranks of a job into groups of equal size, for two levels. As text: `auto`, a
/// number, or `hosts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Groups {
    /// Groups of at most 64 neighbouring ranks with the fewest rounds, 2 (M - 1) + 2 (G - 1) for G
    /// groups of M ranks. An error if the number of ranks has no suitable divisor, as a prime.
    Auto,
    /// This number of groups of neighbouring ranks: rank r is in group r / (ranks / groups).
    Number(usize),
    /// A group for each host, by its address on the route to rank 0. A host then sends the traffic
    /// of one rank to the others.
    Hosts,
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Number(number) => number.fmt(f),
            Self::Hosts => f.write_str("hosts"),
        }
    }
}

impl FromStr for Groups {
    type Err = String;

    /// # Errors
    /// The expected values.
    fn from_str(text: &str) -> Result<Self, String> {
        let groups = match text {
            "auto" => Some(Self::Auto),
            "hosts" => Some(Self::Hosts),
            _ => text.parse().ok().filter(|groups| (2..=RANKS_MAX).contains(groups)).map(Self::Number),
        };
        groups.filter(|groups| groups.to_string() == text).ok_or_else(|| GROUPS.into())
    }
}

/// Expected values.
const GROUPS: &str = "2 to 1024 groups, auto or hosts";
