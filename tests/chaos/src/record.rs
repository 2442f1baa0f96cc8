//! Log of a trainer: gradients, results with reports, and final weights.
//!
//! Each entry is a line of JSON, followed by its number of little-endian fp32 values. A killed
//! process leaves an incomplete entry, which readers ignore.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Report of a collective. `lost` counts bytes in the contribute and broadcast stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // described above
pub struct Got {
    pub op: u32,
    pub live: Vec<usize>,
    pub applied: bool,
    pub corrected: bool,
    pub hadamard: bool,
    pub missing: Vec<Range<usize>>,
    pub lost: [u64; 2],
    pub bound_ms: f64,
    pub ms: f64,
}

/// Final state of a trainer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// True if no update is missing since the model was fetched.
    pub is_whole: bool,
    /// Number of rejoins.
    pub rejoined: u32,
    /// Mean square error of the weights, before and after.
    pub errors: [f64; 2],
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A collective's gradient.
    Given(u32),
    /// A collective's report and result.
    Got(Got),
    /// Final weights.
    End(End),
}

#[derive(Serialize, Deserialize)]
struct Line {
    values: usize,
    entry: Entry,
}

/// A log being written.
#[derive(Debug)]
pub struct Log(File);

impl Log {
    /// Creates a log.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self)
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn add(&mut self, entry: Entry, values: &[f32]) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&Line { values: values.len(), entry })?;
        bytes.push(b'\n');
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        self.0.write_all(&bytes)
    }

    ///
    /// Reads the complete entries; a missing file has none.
    ///
    /// # Errors
    /// If the file system fails, or a line is no entry.
    pub fn read(path: &Path) -> io::Result<Vec<(Entry, Vec<f32>)>> {
        let mut file = match File::open(path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        loop {
            let mut line = Vec::new();
            file.read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                return Ok(entries);
            }
            let Line { values, entry } = serde_json::from_slice(&line)?;
            let mut bytes = vec![0; values * 4];
            if file.read_exact(&mut bytes).is_err() {
                return Ok(entries);
            }
            entries.push((entry, bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_far_as_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        assert_eq!(Log::read(&path).expect("none"), []);
        let mut log = Log::create(&path).expect("a file");
        let entries =
            [(Entry::Given(7), vec![1.0, -2.5]), (Entry::End(End::default()), vec![]), (Entry::Given(8), vec![3.0])];
        for (entry, values) in &entries {
            log.add(entry.clone(), values).expect("room");
        }
        assert_eq!(Log::read(&path).expect("whole"), entries);
        let bytes = std::fs::read(&path).expect("whole");
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).expect("room");
            let read = Log::read(&path).expect("a part");
            assert!(read.len() < entries.len() && entries.starts_with(&read), "{length} bytes: {read:?}");
        }
    }
}
