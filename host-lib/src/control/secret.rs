//! What the ranks of a job share and strangers do not have.

use std::fmt;
use std::path::Path;

use ring::hmac;
use thiserror::Error;

/// Shortest secret: below, it could be found by trying.
const BYTES_MIN: usize = 16;
/// Longest secret: a file that is longer is hardly meant.
const BYTES_MAX: usize = 4096;
/// The variable that may hold the secret.
const VARIABLE: &str = "OPTIREDUCE_SECRET";

/// A secret that all ranks of a job share, from which the keys of its connections follow. With one, the control channel and
/// the packets are encrypted and authenticated, and only processes that have it can be ranks.
///
/// It must be random: `openssl rand -hex 32` makes one. A password that can be guessed can be tried out by whoever records the
/// start of a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

/// A secret cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretError {
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
}

impl Secret {
    /// A secret of 16 to 4096 bytes.
    ///
    /// # Errors
    /// If it is shorter or longer.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, SecretError> {
        let bytes = bytes.as_ref();
        if !(BYTES_MIN..=BYTES_MAX).contains(&bytes.len()) {
            return Err(SecretError::Length { found: bytes.len() });
        }
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"OptiReduce: secret of a job");
        let mut hash = [0; 32];
        hash.copy_from_slice(hmac::sign(&key, bytes).as_ref());
        Ok(Self(hash))
    }

    /// The secret in a file; line ends after it do not count.
    ///
    /// # Errors
    /// If the file cannot be read, or the secret is too short or too long.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        let path = path.as_ref();
        let failed = |source| SecretError::File { path: path.display().to_string(), source };
        Self::new(std::fs::read(path).map_err(failed)?.trim_ascii_end())
    }

    /// The secret in `OPTIREDUCE_SECRET`, if that is set.
    ///
    /// # Errors
    /// If it is too short or too long.
    pub fn from_env() -> Result<Option<Self>, SecretError> {
        let value = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        value.map(|value| Self::new(value.as_encoded_bytes().trim_ascii_end())).transpose()
    }

    /// The pre-shared key of the job's connections.
    pub(super) fn key(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_of_a_sensible_length_and_do_not_show() {
        let found = |bytes: &[u8]| Secret::new(bytes).unwrap_err().to_string();
        assert!(found(b"password").starts_with("the secret has 8 bytes, expected 16 to 4096;"));
        assert!(found(&[7; 4097]).starts_with("the secret has 4097 bytes"));
        let [one, other] = [[1; 16], [2; 16]].map(|bytes| Secret::new(bytes).unwrap());
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), "Secret(..)");
        let path = std::env::temp_dir().join(format!("optireduce-secret-{}", std::process::id()));
        std::fs::write(&path, [&[1; 16][..], b"\r\n"].concat()).unwrap();
        assert_eq!(Secret::from_file(&path).unwrap(), one);
        std::fs::remove_file(&path).unwrap();
        let missing = Secret::from_file(&path).unwrap_err().to_string();
        assert!(missing.starts_with("reading the secret from /"), "{missing}");
    }
}
