//! Key derived from the secret.

use ring::hmac;

use crate::secret::{BYTES_MAX, BYTES_MIN, SecretError};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub fn new(secret: &[u8]) -> Result<Self, SecretError> {
        if !(BYTES_MIN..=BYTES_MAX).contains(&secret.len()) {
            return Err(SecretError::Length { found: secret.len() });
        }
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"OptiReduce: secret of a job");
        let mut hash = [0; 32];
        hash.copy_from_slice(hmac::sign(&key, secret).as_ref());
        Ok(Self(hash))
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::secret::{Secret, SecretError};

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
        // Part of a file is no secret, whatever follows it.
        std::fs::write(&path, [&[1; 16][..], &[b' '; 5000], &[2]].concat()).unwrap();
        assert!(matches!(Secret::from_file(&path), Err(SecretError::Length { .. })));
        assert!(matches!(Secret::from_file("/dev/zero"), Err(SecretError::Length { .. })));
        std::fs::remove_file(&path).unwrap();
        let missing = Secret::from_file(&path).unwrap_err().to_string();
        assert!(missing.starts_with("reading the secret from /"), "{missing}");
    }
}
