//! Shared secret of a job: encrypted connections and sealed packets.
//!
//! The cryptography is behind the feature `secret`, because it adds many dependencies. Without the
//! feature, [`Secret::new`] fails, and types that need a secret have no values.

#[cfg(feature = "secret")]
mod crypto;
#[cfg(not(feature = "secret"))]
#[path = "absent.rs"]
mod crypto;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
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
/// Permits secrets that other users may access.
const PERMITS: &str = "OPTIREDUCE_ALLOW_READABLE_SECRET";
/// As a communicator's default timeout.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

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
#[allow(dead_code, reason = "the features decide which occur")]
pub(crate) enum SecretError {
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
    /// The variable is set, and empty.
    #[error("{VARIABLE} is empty, expected a secret; unset it to run the job in plain text")]
    Empty,
    /// The file cannot be read.
    #[error("reading the secret from {path}: {source}")]
    File { path: String, source: std::io::Error },
    /// Other users may access the file.
    #[error(
        "the secret in {path} is not secret: the file has mode {mode:03o}, expected no access for other users (chmod 600 {path}); to use it \
         nevertheless, give --allow-readable-secret or set {PERMITS}=1"
    )]
    Readable { path: String, mode: u32 },
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
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, SecretError> {
        crypto::Key::new(bytes).map(Self)
    }

    pub(crate) fn of_file(path: &Path, timeout: Duration, permits: bool) -> Result<Self, SecretError> {
        let until = Instant::now() + timeout;
        let permits = permits || std::env::var_os(PERMITS).is_some_and(|value| value == "1");
        let shown = || path.display().to_string();
        let failed = |source| SecretError::File { path: shown(), source };
        // Otherwise opening a pipe waits for its writer.
        let open = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
        let file = open.map_err(failed)?;
        // Bounded, because devices such as /dev/zero have no end.
        let most = BYTES_MAX + LINE_ENDS_MAX;
        let bytes = read(&file, most + 1, until).map_err(failed)?;
        // Part of a longer file must not become a secret: untrimmed, it exceeds the limit.
        let secret = Self::of(if bytes.len() > most { &bytes } else { bytes.trim_ascii_end() })?;
        let found = file.metadata().map_err(failed)?;
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        let exposed = found.mode() & if is_own { 0o077 } else { 0o007 };
        if found.is_file() && exposed != 0 && !permits {
            return Err(SecretError::Readable { path: shown(), mode: found.mode() & 0o777 });
        }
        Ok(secret)
    }

    pub(crate) fn of_env() -> Result<Option<Self>, SecretError> {
        let Some(value) = std::env::var_os(VARIABLE) else { return Ok(None) };
        match value.as_encoded_bytes().trim_ascii_end() {
            [] => Err(SecretError::Empty),
            secret => Self::of(secret).map(Some),
        }
    }
}

fn read(mut file: &File, most: usize, until: Instant) -> io::Result<Vec<u8>> {
    let (mut bytes, mut part) = (Vec::new(), [0; 1024]);
    while bytes.len() < most {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was written to this pipe in time")),
            Err(rustix::io::Errno::INTR) => continue,
            ready => drop(ready?),
        }
        match file.read(&mut part) {
            Ok(0) => break,
            Ok(count) => bytes.extend(&part[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// A card in a process with a secret would send everything in plain text.
#[cfg(feature = "smartnic")]
pub(crate) fn refuse_card() -> Result<(), SecretError> {
    std::env::var_os(VARIABLE).map_or(Ok(()), |_| Err(SecretError::Card))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
