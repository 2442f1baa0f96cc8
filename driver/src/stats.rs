//! File in which the process that drives a card publishes counters and rings.
//!
//! Opening a card resets it, so no other process can read its registers. The file is replaced
//! atomically and holds one line of JSON: `card`, `pid`, `written_unix_ns`, `counters`
//! ([`Counters`](crate::Counters)) and `rings` ([`Rings`](crate::Rings)).
//!
//! Limits: any user with write access to the folder can forge the file.

use std::path::{Path, PathBuf};

use crate::machine::full_address;

/// Environment variable that names the folder.
pub const STATS_VARIABLE: &str = "OPTIREDUCE_CARD_STATS";

/// Path of the file for a card: `address` is as for [`CardBus::open`](crate::CardBus::open), or the
/// name of the card's bus.
pub fn stats_file(folder: &Path, address: &str) -> PathBuf {
    let name = full_address(address).unwrap_or_else(|| {
        let path = Path::new(address.strip_prefix("vfio-user:").unwrap_or(address));
        let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.into());
        path.to_string_lossy().into_owned()
    });
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || ".-:".contains(letter) { letter } else { '_' };
    // The prefix avoids a hidden file, and the name fits: socket paths have at most 107 bytes.
    folder.join(format!("card-{}.json", name.chars().map(plain).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_a_card_is_spelt_its_file_is_the_same() {
        let file = |address: &str| stats_file("/run/job".as_ref(), address);
        assert_eq!(file("5E:00.0"), PathBuf::from("/run/job/card-0000:5e:00.0.json"));
        assert_eq!(file("5E:00.0"), file("0000:5e:00.0"));
        assert_eq!(file("vfio-user:/nowhere/card.sock"), PathBuf::from("/run/job/card-_nowhere_card.sock.json"));
        assert_eq!(file("/nowhere/card.sock"), file("vfio-user:/nowhere/card.sock"));
        let here = std::env::current_dir().unwrap();
        assert_eq!(file("card.sock"), file(here.join("card.sock").to_str().unwrap()));
        assert_eq!(file("../x").parent(), Some("/run/job".as_ref()));
    }
}
