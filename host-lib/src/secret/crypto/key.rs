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
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    use crate::secret::Secret;

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
        let permit = |mode| std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        permit(0o600);
        assert_eq!(Secret::from_file(&path).unwrap(), one);
        for mode in [0o644, 0o640, 0o604, 0o620] {
            permit(mode);
            let refused = Secret::from_file(&path).unwrap_err().to_string();
            let parts = [&format!("mode {mode:03o}"), "chmod 600 /", "--allow-readable-secret"];
            assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
            assert_eq!(Secret::from_file_within(&path, Duration::ZERO, true).unwrap(), one);
        }
        permit(0o600);
        // Part of a file is no secret, whatever follows it.
        std::fs::write(&path, [&[1; 16][..], &[b' '; 5000], &[2]].concat()).unwrap();
        assert!(Secret::from_file(&path).unwrap_err().to_string().contains(" bytes, expected "));
        assert!(Secret::from_file("/dev/zero").unwrap_err().to_string().contains(" bytes, expected "));
        std::fs::remove_file(&path).unwrap();
        let missing = Secret::from_file(&path).unwrap_err().to_string();
        assert!(missing.starts_with("reading the secret from /"), "{missing}");
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_waited_for_no_longer_than_the_timeout() {
        let path = std::env::temp_dir().join(format!("optireduce-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let begin = Instant::now();
        let error = Secret::from_file_within(&path, Duration::from_millis(200), false).unwrap_err().to_string();
        assert!(
            error.contains("nothing was written to this pipe") && begin.elapsed() < Duration::from_secs(20),
            "{error}"
        );
        let from = path.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(from).unwrap();
            for part in [&[1; 9][..], &[1; 7], b"\n"] {
                pipe.write_all(part).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let read = Secret::from_file_within(&path, Duration::from_secs(60), false).unwrap();
        assert_eq!(read, Secret::new([1; 16]).unwrap());
        writer.join().unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
