//! Status and text of a failure.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use optireduce::memory::NotEnoughMemory;
use optireduce::{BootstrapError, CardError, ConnectError, ControlError, Error, Refusal, Report};

use crate::types::optr_status_t::{self, *};

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub status: optr_status_t,
    pub text: String,
    /// Report of a halt.
    pub report: Option<Box<Report>>,
}

impl Failure {
    pub fn new(status: optr_status_t, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), report: None }
    }

    pub fn argument(name: &str, found: impl std::fmt::Display, expected: impl std::fmt::Display) -> Self {
        Self::new(OPTR_INVALID_ARGUMENT, format!("{name} is {found}, expected {expected}; nothing was changed"))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::new(of_connect(&error), error.to_string())
    }
}

fn of_connect(error: &ConnectError) -> optr_status_t {
    match error {
        ConnectError::Bootstrap(error) => match error {
            BootstrapError::Refused(Refusal::Settings(_)) => OPTR_MISMATCH,
            BootstrapError::Refused(Refusal::Missing { .. } | Refusal::NotConnected { .. }) => OPTR_PEER_FAILED,
            BootstrapError::Refused(_) => OPTR_INVALID_ARGUMENT,
            BootstrapError::NoAddress { .. } | BootstrapError::NoRoot { .. } => OPTR_PEER_FAILED,
            _ => OPTR_SYSTEM,
        },
        ConnectError::Control(error) => of_control(error),
        ConnectError::Memory(_) => OPTR_NO_MEMORY,
        ConnectError::Socket(_) | ConnectError::Thread(_) | ConnectError::Card(CardError::Driver(_)) => OPTR_SYSTEM,
        // Errors of launch, secret or settings.
        _ => OPTR_INVALID_ARGUMENT,
    }
}

impl From<NotEnoughMemory> for Failure {
    fn from(error: NotEnoughMemory) -> Self {
        Self::new(OPTR_NO_MEMORY, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(of(&error), error.to_string());
        match error {
            Error::Halted { report } => Self { report: Some(report), ..failure },
            _ => failure,
        }
    }
}

fn of(error: &Error) -> optr_status_t {
    match error {
        Error::Collective(_) | Error::Thread(_) => OPTR_SYSTEM,
        Error::Connect(error) => of_connect(error),
        Error::Mismatch(_) => OPTR_MISMATCH,
        Error::Control(error) => of_control(error),
        Error::InGroup { source, .. } => of(source),
        Error::Argument { .. } | Error::Operation { .. } | Error::Cards { .. } => OPTR_INVALID_ARGUMENT,
        Error::Memory(_) => OPTR_NO_MEMORY,
        Error::Dropped => OPTR_DROPPED,
        Error::Halted { .. } => OPTR_HALTED,
        Error::Unsettled { .. } => OPTR_UNSETTLED,
        Error::NoAgreement { .. } => OPTR_PEER_FAILED,
        Error::Closed => OPTR_CLOSED,
        _ => OPTR_INTERNAL,
    }
}

fn of_control(error: &ControlError) -> optr_status_t {
    match error {
        ControlError::Differs(_) => OPTR_MISMATCH,
        ControlError::NoSuchRank { .. } | ControlError::TooMany { .. } => OPTR_INVALID_ARGUMENT,
        ControlError::Memory(_) => OPTR_NO_MEMORY,
        ControlError::Outside => OPTR_DROPPED,
        ControlError::OutOfStep(first) => of_control(first),
        ControlError::Closed => OPTR_CLOSED,
        _ => OPTR_PEER_FAILED,
    }
}

/// True if this error of a collective call makes the communicator unusable.
pub fn is_fatal(error: &Error) -> bool {
    match error {
        Error::Argument { .. }
        | Error::Operation { .. }
        | Error::Cards { .. }
        | Error::Memory(_)
        | Error::Dropped
        | Error::Halted { .. }
        | Error::Unsettled { .. } => false,
        Error::Control(error) => !matches!(
            error,
            ControlError::Differs(_)
                | ControlError::Outside
                | ControlError::GivenUp { .. }
                | ControlError::LeftOut
                | ControlError::Memory(_)
                | ControlError::NoSuchRank { .. }
        ),
        _ => true,
    }
}

pub fn name(status: i32) -> &'static std::ffi::CStr {
    const NAMES: [&std::ffi::CStr; 17] = [
        c"OPTR_SUCCESS",
        c"OPTR_INVALID_ARGUMENT",
        c"OPTR_INVALID_HANDLE",
        c"OPTR_BUSY",
        c"OPTR_TIMEOUT",
        c"OPTR_MISMATCH",
        c"OPTR_PEER_FAILED",
        c"OPTR_DROPPED",
        c"OPTR_ABORTED",
        c"OPTR_CLOSED",
        c"OPTR_NO_MEMORY",
        c"OPTR_SYSTEM",
        c"OPTR_FORKED",
        c"OPTR_INTERNAL",
        c"OPTR_HALTED",
        c"OPTR_UNSETTLED",
        c"OPTR_PENDING",
    ];
    usize::try_from(status).ok().and_then(|status| NAMES.get(status)).copied().unwrap_or(c"unknown status")
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Truncates a text at its first zero byte.
pub fn c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

pub fn remember(text: &str) {
    // Fails only in a thread that ends.
    let _ = LAST_ERROR.try_with(|last| last.replace(c_text(text)));
}

/// Text of this thread's last error, valid until the next one.
pub fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_whose_they_are() {
        let memory = NotEnoughMemory { what: "a bucket".into(), needed: 2, available: 1, remedy: "" };
        let gone = ControlError::Gone(3);
        let cases: [(Error, _, _); 8] = [
            (memory.into(), OPTR_NO_MEMORY, false),
            (Error::Dropped, OPTR_DROPPED, false),
            (Error::Closed, OPTR_CLOSED, true),
            (Error::Argument { name: "root", found: 3, expected: "less".into() }, OPTR_INVALID_ARGUMENT, false),
            (gone.clone().into(), OPTR_PEER_FAILED, true),
            (ControlError::OutOfStep(gone.into()).into(), OPTR_PEER_FAILED, true),
            (ControlError::Outside.into(), OPTR_DROPPED, false),
            (Error::NoAgreement { waited: Default::default() }, OPTR_PEER_FAILED, true),
        ];
        for (error, status, fatal) in cases {
            assert_eq!(is_fatal(&error), fatal, "{error}");
            let text = error.to_string();
            assert_eq!(Failure::from(error), Failure::new(status, text));
        }
        let memory = NotEnoughMemory { what: "a model".into(), needed: 2, available: 1, remedy: "" };
        assert_eq!(Failure::from(ConnectError::from(memory)).status, OPTR_NO_MEMORY);
        let runs = BootstrapError::from(Refusal::Runs { rank: 1 });
        assert_eq!(Failure::from(ConnectError::from(runs)).status, OPTR_INVALID_ARGUMENT);
    }

    #[test]
    fn every_status_has_its_name() {
        let all = [
            OPTR_SUCCESS,
            OPTR_INVALID_ARGUMENT,
            OPTR_INVALID_HANDLE,
            OPTR_BUSY,
            OPTR_TIMEOUT,
            OPTR_MISMATCH,
            OPTR_PEER_FAILED,
            OPTR_DROPPED,
            OPTR_ABORTED,
            OPTR_CLOSED,
            OPTR_NO_MEMORY,
            OPTR_SYSTEM,
            OPTR_FORKED,
            OPTR_INTERNAL,
            OPTR_HALTED,
            OPTR_UNSETTLED,
            OPTR_PENDING,
        ];
        for status in all {
            assert_eq!(name(status as i32).to_str().unwrap(), format!("{status:?}"));
        }
        for unknown in [-1, all.len() as i32, i32::MAX, i32::MIN] {
            assert_eq!(name(unknown), c"unknown status");
        }
    }

    #[test]
    fn a_text_is_kept_up_to_its_first_zero_byte() {
        assert_eq!(c_text("rank\u{0}1").as_c_str(), c"rank");
    }
}
