//! Calls of settings and secrets that may fail, since their modules do not know [`Error`].

use std::path::Path;
use std::time::Duration;

use super::Error;
use crate::control::Launch;
use crate::secret::{Secret, TIMEOUT};
use crate::settings::{Origin, Settings};

impl Settings {
    /// Sets a setting by name, from text.
    ///
    /// # Errors
    /// If there is no such setting, or the value is not one of
    /// [`Setting::values`](crate::Setting::values).
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.set_by(name, value, Origin::Code)
    }

    /// As [`set`](Self::set), for a value that a flag of a command has.
    #[doc(hidden)]
    pub fn set_by(&mut self, name: &str, value: &str, origin: Origin) -> Result<(), Error> {
        Ok(self.try_set_by(name, value, origin)?)
    }

    /// Returns the value in force, as text.
    ///
    /// # Errors
    /// If there is no such setting, or its value in the environment is invalid.
    pub fn get(&self, name: &str) -> Result<String, Error> {
        self.find(name).map(|(value, _)| value)
    }

    /// Returns the value in force, as text, and its origin.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn find(&self, name: &str) -> Result<(String, Origin), Error> {
        Ok(self.try_find(name)?)
    }

    /// Returns this process's place in the job: the settings `rank`, `world_size`, `root`,
    /// `job_id` and `rejoin`, or the launcher's environment.
    ///
    /// # Errors
    /// If a part is missing or invalid.
    #[doc(hidden)]
    pub fn launch(&self) -> Result<Launch, Error> {
        Ok(self.try_launch()?)
    }
}

impl Secret {
    /// Creates a secret of 16 to 4096 bytes.
    ///
    /// # Errors
    /// If the length is wrong, or without the feature `secret`.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        Ok(Self::of(bytes.as_ref())?)
    }

    /// Reads the secret from a file, without trailing ASCII whitespace. Waits at most 60 s for the
    /// writer of a pipe.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`new`](Self::new). If other users may access it, as ssh
    /// checks its keys; `OPTIREDUCE_ALLOW_READABLE_SECRET` = 1 permits it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file_within(path, TIMEOUT, false)
    }

    /// As [`from_file`](Self::from_file), with a limit of the wait. `permits`: also takes a file
    /// that other users may access.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_file_within(path: impl AsRef<Path>, timeout: Duration, permits: bool) -> Result<Self, Error> {
        Ok(Self::of_file(path.as_ref(), timeout, permits)?)
    }

    /// Returns the secret in `OPTIREDUCE_SECRET`, without trailing ASCII whitespace, if the
    /// variable is set.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the variable is empty, as a failed `$(cat FILE)` leaves it.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Ok(Self::of_env()?)
    }
}
