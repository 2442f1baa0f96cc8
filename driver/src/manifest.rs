//! Manifests: what a bitstream was built from, for which board, and whether a file is that bitstream.
//!
//! Why: programming a board with the wrong file, or one that speaks another contract, must fail before it is tried.
//! A manifest is a `manifest.toml` beside the bitstream (`bitstreams/`): board, part, contract version, tool, state, and,
//! once built, git commit, SHA-256 of the file, timing and utilisation.
//! Limits: it says what the builder says; only the hash is checked against the file. Unknown fields are ignored.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use optireduce_contract::limits::CONTRACT_VERSION;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a SHA-256.
const SHA256_DIGITS: usize = 64;
/// Hexadecimal digits of a git commit.
const GIT_DIGITS: usize = 40;

/// Whether there is a bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum State {
    /// There is one, and the manifest describes it.
    #[serde(rename = "built")]
    Built,
    /// There is none: the tools were not at hand. The folder holds what they need.
    #[serde(rename = "not built here")]
    NotBuiltHere,
}

/// What a bitstream takes of its part.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Utilisation {
    /// Look-up tables.
    pub lut: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block memories; some tools count halves.
    pub bram: f64,
    /// Multipliers.
    pub dsp: u64,
}

/// A manifest whose fields go together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Manifest {
    /// Where it was read.
    #[serde(skip)]
    pub file: PathBuf,
    /// The board.
    pub board: String,
    /// The part, as its tool calls it.
    pub part: String,
    /// Version of the contract that the card speaks.
    pub contract: u32,
    /// The tool that builds it.
    pub tool: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Whether there is a bitstream.
    pub state: State,
    /// Commit of the sources, 40 hexadecimal digits. Built only.
    pub git: Option<String>,
    /// SHA-256 of the bitstream, 64 hexadecimal digits. Built only.
    pub sha256: Option<String>,
    /// Fastest clock by static timing, in MHz. Built: this or `wns_ns`.
    pub fmax_mhz: Option<f64>,
    /// Worst slack at the clock that was asked for, in ns; negative: missed.
    pub wns_ns: Option<f64>,
    /// What it takes of the part. Built only.
    pub utilisation: Option<Utilisation>,
}

/// A manifest, or a bitstream, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Not TOML, or a field is missing or of another kind; the source names it.
    #[error("{}: {source}", file.display())]
    Form {
        /// The manifest.
        file: PathBuf,
        /// The cause, with line and field.
        source: Box<toml::de::Error>,
    },
    /// A field has a value that it cannot have.
    #[error("{}: {field} is {found}, expected {expected}.\n{advice}", file.display())]
    Field {
        /// The manifest.
        file: PathBuf,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What is allowed.
        expected: String,
        /// What to do.
        advice: &'static str,
    },
    /// The file is not the bitstream of the manifest.
    #[error(
        "{}: SHA-256 is {found}, expected {expected} by {}.\n\
         The bitstream was damaged or built again. Build both anew, or fetch both from one release.",
        bitstream.display(),
        file.display()
    )]
    WrongHash {
        /// The manifest.
        file: PathBuf,
        /// The bitstream.
        bitstream: PathBuf,
        /// Of the file.
        found: String,
        /// By the manifest.
        expected: String,
    },
}

impl Manifest {
    /// Reads a manifest and checks it. One of another contract version is refused.
    ///
    /// # Errors
    /// See [`ManifestError`].
    pub fn load(file: &Path) -> Result<Self, ManifestError> {
        let read = |source| ManifestError::Read { file: file.into(), source };
        Self::parse(file, &std::fs::read_to_string(file).map_err(read)?)
    }

    /// As [`load`](Self::load), of a text; `file`: where it was read, for messages.
    ///
    /// # Errors
    /// See [`ManifestError`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, ManifestError> {
        let form = |source| ManifestError::Form { file: file.into(), source: Box::new(source) };
        let manifest = Self { file: file.into(), ..toml::from_str(text).map_err(form)? };
        manifest.check()?;
        Ok(manifest)
    }

    /// Checks that `bitstream` is the file that the manifest describes.
    ///
    /// # Errors
    /// [`ManifestError::Field`] if nothing was built, [`ManifestError::Read`], [`ManifestError::WrongHash`].
    pub fn verify(&self, bitstream: &Path) -> Result<(), ManifestError> {
        let Some(expected) = self.sha256.clone().filter(|_| self.state == State::Built) else {
            let advice = "There is no bitstream to verify. Build it as the README beside the manifest says.";
            return Err(self.wrong("state", "\"not built here\"", "\"built\"", advice));
        };
        let found = sha256_of(bitstream).map_err(|source| ManifestError::Read { file: bitstream.into(), source })?;
        if found.eq_ignore_ascii_case(&expected) {
            return Ok(());
        }
        Err(ManifestError::WrongHash { file: self.file.clone(), bitstream: bitstream.into(), found, expected })
    }

    fn check(&self) -> Result<(), ManifestError> {
        const CORRECT: &str = "Correct the manifest, or build the bitstream again.";
        if self.contract != CONTRACT_VERSION {
            let advice = "Take card and driver from the same release.";
            return Err(self.wrong("contract", self.contract, CONTRACT_VERSION, advice));
        }
        for (field, text) in [("board", &self.board), ("part", &self.part), ("tool", &self.tool)] {
            if text.trim().is_empty() {
                return Err(self.wrong(field, "empty", "a name", CORRECT));
            }
        }
        for (field, text, digits) in [("git", &self.git, GIT_DIGITS), ("sha256", &self.sha256, SHA256_DIGITS)] {
            let is_hex = |text: &&String| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some(text) = text.as_ref().filter(|text| !is_hex(text)) {
                return Err(self.wrong(field, format!("{text:?}"), format!("{digits} hexadecimal digits"), CORRECT));
            }
        }
        let built = self.state == State::Built;
        for (field, is_there) in [
            ("git", self.git.is_some()),
            ("sha256", self.sha256.is_some()),
            ("fmax_mhz or wns_ns", self.fmax_mhz.is_some() != self.wns_ns.is_some()),
            ("utilisation", self.utilisation.is_some()),
        ] {
            if built && !is_there {
                return Err(self.wrong(field, "not there once", "one of it, since state is \"built\"", CORRECT));
            }
        }
        if !built && self.sha256.is_some() {
            return Err(self.wrong("sha256", "there", "none, since state is \"not built here\"", CORRECT));
        }
        for (field, value) in [("fmax_mhz", self.fmax_mhz), ("bram", self.utilisation.map(|all| all.bram))] {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value >= 0.0)) {
                return Err(self.wrong(field, value, "a number, not negative", CORRECT));
            }
        }
        Ok(())
    }

    fn wrong(
        &self,
        field: &'static str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
        advice: &'static str,
    ) -> ManifestError {
        let (found, expected) = (found.to_string(), expected.to_string());
        ManifestError::Field { file: self.file.clone(), field, found, expected, advice }
    }
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            bytes => hash.update(&buffer[..bytes]),
        }
    }
}
