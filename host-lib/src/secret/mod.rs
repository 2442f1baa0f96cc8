//! Shared secret of a job: encrypted connections and sealed packets.
//!
//! The cryptography is behind the feature `secret`, because it adds many dependencies. Without the
//! feature, [`Secret::new`] fails, and types that need a secret have no values.

#[cfg(feature = "secret")]
mod crypto;
#[cfg(not(feature = "secret"))]
#[path = "absent.rs"]
mod crypto;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use thiserror::Error;

pub(crate) use crypto::{Handshake, Records, Seals};

/// Against brute force.
const BYTES_MIN: usize = 16;
/// A longer file is probably the wrong one.
const BYTES_MAX: usize = 4096;
/// Of trailing whitespace in a file.
const LINE_ENDS_MAX: usize = 64;
const VARIABLE: &str = "OPTIREDUCE_SECRET";

const NUMBER_BYTES: usize = 8;
const TAG_BYTES: usize = 16;
/// Bytes that sealing adds to a packet.
pub(crate) const SEAL_BYTES: usize = NUMBER_BYTES + TAG_BYTES;

/// Secret that all ranks of a job share, with which the control channel and the packets are
/// encrypted and authenticated. Needs the feature `secret`.
///
/// Must be random, for example from `openssl rand -hex 32`. A password can be found offline by
/// anyone who records the start of a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(crypto::Key);

/// A secret is unusable.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described by the messages
pub enum SecretError {
    /// The crate was built without the feature `secret`.
    #[error(
        "a secret was given, but this program was built without the feature `secret` of the crate optireduce; build it with \
         the feature, or run the job without a secret (unset {VARIABLE}) on a network that you trust"
    )]
    NotBuilt,
    /// The secret is too short or too long.
    #[error(
        "the secret has {found} bytes, expected {BYTES_MIN} to {BYTES_MAX}; make a random one with `openssl rand -hex 32`"
    )]
    Length { found: usize },
    /// The file cannot be read.
    #[error("reading the secret from {path}: {source}")]
    File { path: String, source: std::io::Error },
    /// Cards cannot seal packets.
    #[error(
        "a secret was given (by {VARIABLE} or a setting), but cards cannot encrypt or authenticate their packets; remove it to run \
         this card without a secret, on a network that you trust, or run the rank without the card"
    )]
    Card,
}

/// Packets dropped because of their seal, without other effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SealDrops {
    /// Forged, modified, unsealed, of another job, or not from a rank's address.
    pub forged: u64,
    /// Received before, or too old to tell.
    pub replayed: u64,
}

impl Secret {
    /// Creates a secret of 16 to 4096 bytes.
    ///
    /// # Errors
    /// If the length is wrong, or without the feature `secret`.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, SecretError> {
        crypto::Key::new(bytes.as_ref()).map(Self)
    }

    /// Reads the secret from a file, without trailing ASCII whitespace.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`new`](Self::new).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        let path = path.as_ref();
        let failed = |source| SecretError::File { path: path.display().to_string(), source };
        // Bounded, because devices such as /dev/zero have no end.
        let mut bytes = Vec::new();
        let most = BYTES_MAX + LINE_ENDS_MAX;
        File::open(path).and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes)).map_err(failed)?;
        // Part of a longer file must not become a secret: untrimmed, it exceeds the limit.
        Self::new(if bytes.len() > most { &bytes } else { bytes.trim_ascii_end() })
    }

    /// Returns the secret in `OPTIREDUCE_SECRET`, without trailing ASCII whitespace, if the
    /// variable is set and not empty.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_env() -> Result<Option<Self>, SecretError> {
        variable().map(|value| Self::new(value.as_encoded_bytes().trim_ascii_end())).transpose()
    }
}

fn variable() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty())
}

/// A card in a process with a secret would send everything in plain text.
#[cfg(feature = "smartnic")]
pub(crate) fn refuse_card() -> Result<(), SecretError> {
    variable().map_or(Ok(()), |_| Err(SecretError::Card))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
