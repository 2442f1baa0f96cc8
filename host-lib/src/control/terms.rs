//! Values that must be equal on all ranks: settings of a job, arguments of a call.
//!
//! Why: unequal ranks would lose packets, average different tensors or wait for each other.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms(Vec<(String, String)>);

/// Escapes control characters in a text from another rank, which may be printed to a terminal.
pub(crate) fn printable(text: String) -> String {
    match text.contains(char::is_control) {
        true => text.escape_debug().to_string(),
        false => text,
    }
}

/// Reads a text from another rank.
pub(super) fn read_printable<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(printable)
}

/// A value that is not the same on all ranks: a setting, or an argument of a call. Values of `rank`
/// (`found`) and of the rank with which it was compared.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "the ranks differ: {name} is {found} on rank {rank}, but {expected} on rank {reference}; all ranks must make the same \
     calls with the same arguments and settings"
)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct Mismatch {
    #[serde(deserialize_with = "read_printable")]
    pub name: String,
    pub rank: usize,
    #[serde(deserialize_with = "read_printable")]
    pub found: String,
    pub reference: usize,
    #[serde(deserialize_with = "read_printable")]
    pub expected: String,
}

impl Terms {
    const NONE: &str = "not set";

    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// Compares `terms` of `rank` with `self`, of the rank `reference`.
    ///
    /// # Errors
    /// The first value that differs.
    pub fn compare(&self, reference: usize, rank: usize, terms: &Self) -> Result<(), Mismatch> {
        let value =
            |of: &Self, name: &str| of.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        for (name, _) in self.0.iter().chain(&terms.0) {
            let (found, expected) = (value(terms, name), value(self, name));
            if found != expected {
                let text = |value: Option<String>| value.map_or_else(|| Self::NONE.into(), printable);
                let (found, expected) = (text(found), text(expected));
                return Err(Mismatch { name: printable(name.clone()), rank, found, reference, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        let terms = Terms::default().with("call", "all_reduce").with("elements", 10);
        assert_eq!(terms.compare(0, 1, &terms.clone()), Ok(()));
        let other = Terms::default().with("call", "all_reduce").with("elements", 11);
        let found = terms.compare(0, 3, &other).unwrap_err().to_string();
        assert!(found.starts_with("the ranks differ: elements is 11 on rank 3, but 10 on rank 0;"), "{found}");
        let without = Terms::default().with("call", "all_reduce");
        let found = [terms.compare(0, 1, &without), without.compare(0, 1, &terms)].map(|one| one.unwrap_err());
        assert_eq!(found.each_ref().map(|one| one.found.as_str()), ["not set", "10"]);
        assert_eq!(found.each_ref().map(|one| one.name.as_str()), ["elements", "elements"]);
    }

    #[test]
    fn control_characters_of_a_peer_do_not_reach_a_terminal() {
        let evil = Terms::default().with("\u{1b}]0;title\u{7}", "\u{1b}[2J\nrank 0: all is well");
        let found = Terms::default().compare(0, 1, &evil).unwrap_err();
        assert!(!found.to_string().contains(char::is_control), "{found}");
        let raw = Mismatch { found: "\u{1b}[2J".into(), ..found };
        let read: Mismatch = serde_json::from_slice(&serde_json::to_vec(&raw).unwrap()).unwrap();
        assert!(!read.to_string().contains(char::is_control), "{read}");
    }
}
