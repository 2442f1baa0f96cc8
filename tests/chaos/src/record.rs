//! What a trainer notes for the judge: every gradient that it gave, every result with its report, and the weights at the end.
//!
//! A line of JSON each, followed by as many little-endian fp32 values as the line says. A process that is killed leaves a last
//! entry that is not whole; it does not count.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The report of a collective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Got {
    /// Its number.
    pub op: u32,
    /// Ranks that took part.
    pub live: Vec<usize>,
    /// Whether the update is to be applied.
    pub applied: bool,
    /// Whether the result contains what earlier ones lacked.
    pub corrected: bool,
    /// Whether it travelled encoded.
    pub hadamard: bool,
    /// Elements that the result lacks.
    pub missing: Vec<Range<usize>>,
    /// Bytes of peers that did not come, of contributions and of means.
    pub lost: [u64; 2],
    /// The bound on a stage, in milliseconds.
    pub bound_ms: f64,
    /// How long the caller waited, in milliseconds.
    pub ms: f64,
}

/// How a trainer ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Nothing was outstanding, and nothing had been given up since the model was last fetched.
    pub is_whole: bool,
    /// How often it was dropped and came back.
    pub rejoined: u32,
    /// Mean square of the weights' errors at the beginning and at the end.
    pub errors: [f64; 2],
}

/// What is noted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A gradient for the collective of this number; values: the gradient.
    Given(u32),
    /// A result; values: what came back.
    Got(Got),
    /// The end; values: the weights.
    End(End),
}

#[derive(Serialize, Deserialize)]
struct Line {
    values: usize,
    entry: Entry,
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log(File);

impl Log {
    /// Begins one.
    ///
    /// # Errors
    /// The file system's.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The file system's.
    pub fn add(&mut self, entry: Entry, values: &[f32]) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&Line { values: values.len(), entry })?;
        bytes.push(b'\n');
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        self.0.write_all(&bytes)
    }

    /// The entries of a log, as far as they are whole. A file that does not exist has none.
    ///
    /// # Errors
    /// The file system's, or a line that is no entry.
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
