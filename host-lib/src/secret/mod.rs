//! What the ranks of a job share and strangers do not have, and what it does: encrypted connections and sealed packets.
//!
//! The cryptography is behind the feature `secret`, because it brings as many crates as all the rest. Without the feature there
//! is no way to make a [`Secret`]: [`Secret::new`] gives [`SecretError::NotBuilt`], and the types that need one have no values.
//! So a program that asks for a secret has one, or an error.

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

/// Shortest secret: below, it could be found by trying.
const BYTES_MIN: usize = 16;
/// Longest secret: a file that is longer is hardly meant.
const BYTES_MAX: usize = 4096;
/// Line ends and spaces that a file may have after it.
const LINE_ENDS_MAX: usize = 64;
/// The variable that may hold the secret.
const VARIABLE: &str = "OPTIREDUCE_SECRET";

/// Bytes of a sealed packet's number, before it.
const NUMBER_BYTES: usize = 8;
/// Bytes of authentication, after a sealed packet or record.
const TAG_BYTES: usize = 16;
/// Bytes that sealing adds to a packet.
pub(crate) const SEAL_BYTES: usize = NUMBER_BYTES + TAG_BYTES;

/// A secret that all ranks of a job share, from which the keys of its connections follow. With one, the control channel and
/// the packets are encrypted and authenticated, and only processes that have it can be ranks.
///
/// It must be random: `openssl rand -hex 32` makes one. A password that can be guessed can be tried out by whoever records the
/// start of a connection.
///
/// Needs the feature `secret`; without it, none can be made.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(crypto::Key);

/// A secret cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The crate was built without the feature `secret`.
    #[error(
        "a secret was given, but this program was built without the feature `secret` of the crate optireduce; build it with \
         the feature, or run the job without a secret (unset {VARIABLE}) on a network that you trust"
    )]
    NotBuilt,
    /// It is too short, or too long.
    #[error(
        "the secret has {found} bytes, expected {BYTES_MIN} to {BYTES_MAX}; make a random one with `openssl rand -hex 32`"
    )]
    Length {
        /// Its bytes.
        found: usize,
    },
    /// Its file cannot be read.
    #[error("reading the secret from {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A card cannot seal packets.
    #[error(
        "a secret was given (by {VARIABLE} or a setting), but cards cannot encrypt or authenticate their packets; leave it out to run this \
         card without a secret, on a network that you trust, or run the rank without the card"
    )]
    Card,
}

/// Packets that were dropped because of their seal. They have touched nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SealDrops {
    /// Forged, changed on the way, of another job, without a seal, or not from a rank's address.
    pub forged: u64,
    /// Had come before, or far too late.
    pub replayed: u64,
}

impl Secret {
    /// A secret of 16 to 4096 bytes.
    ///
    /// # Errors
    /// If it is shorter or longer, or if the crate was built without the feature `secret`.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, SecretError> {
        crypto::Key::new(bytes.as_ref()).map(Self)
    }

    /// The secret in a file; line ends after it do not count.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`new`](Self::new).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        let path = path.as_ref();
        let failed = |source| SecretError::File { path: path.display().to_string(), source };
        // No more than it may have, and line ends: a device has no end.
        let mut bytes = Vec::new();
        let most = BYTES_MAX + LINE_ENDS_MAX;
        File::open(path).and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes)).map_err(failed)?;
        // A secret is the whole file, or none: a part of one stays as long as it was read, which is too long.
        Self::new(if bytes.len() > most { &bytes } else { bytes.trim_ascii_end() })
    }

    /// The secret in `OPTIREDUCE_SECRET`, if that is set.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_env() -> Result<Option<Self>, SecretError> {
        variable().map(|value| Self::new(value.as_encoded_bytes().trim_ascii_end())).transpose()
    }
}

/// Its value, if it is set and not empty.
fn variable() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty())
}

/// Refuses a card in a process that was given a secret: the card would send everything readable.
#[cfg(feature = "smartnic")]
pub(crate) fn refuse_card() -> Result<(), SecretError> {
    variable().map_or(Ok(()), |_| Err(SecretError::Card))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
