//! Manifests of bitstreams, to refuse a wrong file or contract version before programming.
//!
//! A `manifest.toml` beside the bitstream (`bitstreams/`) describes it. Only the hash is checked
//! against the bitstream. Unknown fields are ignored.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use optireduce_contract::limits::CONTRACT_VERSION;
use serde::Deserialize;
use sha2::{Digest, Sha256};

const SHA256_DIGITS: usize = 64;
const GIT_DIGITS: usize = 40;

/// Build state of a bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum State {
    /// The bitstream exists.
    #[serde(rename = "built")]
    Built,
    /// Only the inputs of the tools exist.
    #[serde(rename = "not built here")]
    NotBuiltHere,
}

/// Resources that a bitstream uses. Some tools count halves of block memories.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Utilisation {
    pub lut: u64,
    pub ff: u64,
    pub bram: f64,
    pub dsp: u64,
}

/// Description of a bitstream. `git` (40 hexadecimal digits), `sha256` (64), `utilisation`, and one
/// of `fmax_mhz` and `wns_ns` are present if it was built.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Manifest {
    /// Path of the manifest.
    #[serde(skip)]
    pub file: PathBuf,
    pub board: String,
    /// FPGA part, as its tool names it.
    pub part: String,
    pub contract: u32,
    pub tool: String,
    pub tool_version: String,
    pub state: State,
    pub git: Option<String>,
    pub sha256: Option<String>,
    /// Maximum clock by static timing.
    pub fmax_mhz: Option<f64>,
    /// Worst slack at the requested clock; negative if missed.
    pub wns_ns: Option<f64>,
    pub utilisation: Option<Utilisation>,
}

/// Error of a manifest or a bitstream. `file` is the manifest, or the unreadable file.
#[allow(missing_docs)] // described above
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    #[error("{}: cannot be read: {source}", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    /// Not TOML, or a field is missing or has the wrong type.
    #[error("{}: {source}", file.display())]
    Form { file: PathBuf, source: Box<toml::de::Error> },
    #[error("{}: {field} is {found}, expected {expected}.\n{advice}", file.display())]
    Field { file: PathBuf, field: &'static str, found: String, expected: String, advice: &'static str },
    /// The file is not the manifest's bitstream.
    #[error(
        "{}: SHA-256 is {found}, expected {expected} by {}.\n\
         The bitstream is damaged or was built again. Build both again, or fetch both from one release.",
        bitstream.display(),
        file.display()
    )]
    WrongHash { file: PathBuf, bitstream: PathBuf, found: String, expected: String },
}

impl Manifest {
    /// Reads and checks a manifest, including its contract version.
    pub fn load(file: &Path) -> Result<Self, ManifestError> {
        let read = |source| ManifestError::Read { file: file.into(), source };
        Self::parse(file, &std::fs::read_to_string(file).map_err(read)?)
    }

    /// Checks the manifest `text`. Messages name `file`.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ManifestError> {
        let form = |source| ManifestError::Form { file: file.into(), source: Box::new(source) };
        let manifest = Self { file: file.into(), ..toml::from_str(text).map_err(form)? };
        manifest.check()?;
        Ok(manifest)
    }

    /// Checks that `bitstream` is the file that the manifest describes.
    ///
    /// # Errors
    /// [`ManifestError::Field`] if nothing was built, [`ManifestError::Read`],
    /// [`ManifestError::WrongHash`].
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
                return Err(self.wrong(
                    field,
                    "missing or ambiguous",
                    "exactly one, since state is \"built\"",
                    CORRECT,
                ));
            }
        }
        if !built && self.sha256.is_some() {
            return Err(self.wrong("sha256", "present", "none, since state is \"not built here\"", CORRECT));
        }
        for (field, value) in [("fmax_mhz", self.fmax_mhz), ("bram", self.utilisation.map(|all| all.bram))] {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value >= 0.0)) {
                return Err(self.wrong(field, value, "a number of at least 0", CORRECT));
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
