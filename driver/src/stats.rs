//! Where the process that has a card shows its counters and rings to others.
//!
//! Why: a card has one driver at a time, and opening it resets it, so nobody else can look at a card at work. By a file in a folder that both
//! sides are told, which the owner replaces as a whole: who reads it sees one state or the next. It holds one line of JSON: `card`, `pid`,
//! `written_unix_ns`, `counters` with the fields of [`Counters`](crate::Counters), and `rings` with those of [`Rings`](crate::Rings).
//! Limits: as current as the owner writes it; who may write to the folder can forge it.

use std::path::{Path, PathBuf};

use crate::machine::full_address;

/// The variable that names the folder.
pub const STATS_VARIABLE: &str = "OPTIREDUCE_CARD_STATS";

/// The file of the card at `address`: its PCI address, or the path of its vfio-user socket, as [`CardBus::open`](crate::CardBus::open) takes
/// them, or the name that its bus has. Different spellings of one address lead to one file.
pub fn stats_file(folder: &Path, address: &str) -> PathBuf {
    let name = full_address(address).unwrap_or_else(|| {
        let path = Path::new(address.strip_prefix("vfio-user:").unwrap_or(address));
        let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.into());
        path.to_string_lossy().into_owned()
    });
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || ".-:".contains(letter) { letter } else { '_' };
    // No name of a file that is hidden, or too long for one: paths of sockets have 108 bytes.
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
