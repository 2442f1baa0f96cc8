//! Publishes the card's counters and rings in a file, if `OPTIREDUCE_CARD_STATS` names a folder
//! (see `optireduce_driver::stats_file`).

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::error::CardError;
use optireduce_driver::{Counters, Rings, STATS_VARIABLE, stats_file};

/// Interval of writes. Each costs some twenty register reads.
const EVERY: Duration = Duration::from_secs(1);

/// The file is removed on drop.
pub(crate) struct Stats {
    card: String,
    file: PathBuf,
    written: Option<Instant>,
    /// A write has failed; none follows.
    failed: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    card: &'a str,
    pid: u32,
    written_unix_ns: u64,
    counters: Counters,
    rings: &'a Rings,
}

impl Stats {
    /// `None` if the environment names no folder. Fails if the folder does not exist.
    pub fn from_env(card: &str) -> Result<Option<Self>, CardError> {
        let folder = std::env::var_os(STATS_VARIABLE).filter(|folder| !folder.is_empty());
        folder.map(|folder| Self::in_folder(folder.as_ref(), card)).transpose()
    }

    fn in_folder(folder: &Path, card: &str) -> Result<Self, CardError> {
        if !folder.is_dir() {
            return Err(CardError::Stats { folder: folder.into() });
        }
        Ok(Self { card: card.into(), file: stats_file(folder, card), written: None, failed: false })
    }

    pub fn is_due(&self) -> bool {
        !self.failed && self.written.is_none_or(|written| written.elapsed() >= EVERY)
    }

    pub fn show(&mut self, counters: Counters, rings: &Rings) {
        self.written = Some(Instant::now());
        if let Err(error) = self.write(counters, rings) {
            let file = self.file.display();
            tracing::warn!(card = self.card, %error, "cannot write {file}: the card's counters are no longer published");
            self.failed = true;
        }
    }

    fn write(&self, counters: Counters, rings: &Rings) -> io::Result<()> {
        let written_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let shown = Shown { card: &self.card, pid: std::process::id(), written_unix_ns, counters, rings };
        let next = self.file.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&next, serde_json::to_string(&shown)? + "\n")?;
        std::fs::rename(&next, &self.file).inspect_err(|_| drop(std::fs::remove_file(&next)))
    }
}

impl Drop for Stats {
    fn drop(&mut self) {
        if self.written.is_some() && !self.failed {
            drop(std::fs::remove_file(&self.file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_goes_with_its_owner() {
        let folder = std::env::temp_dir().join(format!("optireduce-stats-{}", std::process::id()));
        let missing = Stats::in_folder(&folder, "0000:5e:00.0").err().unwrap().to_string();
        assert!(missing.starts_with("OPTIREDUCE_CARD_STATS is ") && missing.contains("mkdir"), "{missing}");
        std::fs::create_dir(&folder).unwrap();
        let mut stats = Stats::in_folder(&folder, "0000:5e:00.0").unwrap();
        let files = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        assert!(stats.is_due() && files().is_empty());
        for rx_packets in [1, 2] {
            stats.show(Counters { rx_packets, ..Counters::default() }, &Rings { taken: 7, ..Rings::default() });
            let file = stats_file(&folder, "5e:00.0");
            assert_eq!(files(), std::slice::from_ref(&file));
            let shown: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            assert_eq!((&shown["counters"]["rx_packets"], &shown["rings"]["taken"]), (&rx_packets.into(), &7.into()));
            assert_eq!((&shown["card"], &shown["pid"]), (&"0000:5e:00.0".into(), &std::process::id().into()));
        }
        assert!(!stats.is_due());
        drop(stats);
        assert!(files().is_empty());
        let mut stats = Stats::in_folder(&folder, "0000:5e:00.0").unwrap();
        std::fs::remove_dir(&folder).unwrap();
        stats.show(Counters::default(), &Rings::default());
        assert!(!stats.is_due());
    }
}
