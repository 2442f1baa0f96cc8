//! Status and text of a failure.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use optireduce::binding::memory::NotEnoughMemory;
use optireduce::{Error, ErrorKind, Report};

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

impl From<NotEnoughMemory> for Failure {
    fn from(error: NotEnoughMemory) -> Self {
        Self::new(OPTR_NO_MEMORY, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { report: error.report().cloned().map(Box::new), ..Self::new(of(error.kind()), error.to_string()) }
    }
}

/// Status of each kind of error.
fn of(kind: ErrorKind) -> optr_status_t {
    match kind {
        ErrorKind::Argument => OPTR_INVALID_ARGUMENT,
        ErrorKind::Unsupported => OPTR_UNSUPPORTED,
        ErrorKind::Memory => OPTR_NO_MEMORY,
        ErrorKind::Mismatch => OPTR_MISMATCH,
        ErrorKind::Peer => OPTR_PEER_FAILED,
        ErrorKind::Timeout => OPTR_TIMEOUT,
        ErrorKind::Dropped => OPTR_DROPPED,
        ErrorKind::Halted => OPTR_HALTED,
        ErrorKind::Unsettled => OPTR_UNSETTLED,
        ErrorKind::Closed => OPTR_CLOSED,
        ErrorKind::System => OPTR_SYSTEM,
        _ => OPTR_INTERNAL,
    }
}

pub fn name(status: i32) -> &'static std::ffi::CStr {
    const NAMES: [&std::ffi::CStr; 18] = [
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
        c"OPTR_UNSUPPORTED",
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
    fn each_kind_has_its_status_and_an_error_keeps_its_text() {
        let names = [
            (ErrorKind::Argument, OPTR_INVALID_ARGUMENT),
            (ErrorKind::Unsupported, OPTR_UNSUPPORTED),
            (ErrorKind::Memory, OPTR_NO_MEMORY),
            (ErrorKind::Mismatch, OPTR_MISMATCH),
            (ErrorKind::Peer, OPTR_PEER_FAILED),
            (ErrorKind::Timeout, OPTR_TIMEOUT),
            (ErrorKind::Dropped, OPTR_DROPPED),
            (ErrorKind::Halted, OPTR_HALTED),
            (ErrorKind::Unsettled, OPTR_UNSETTLED),
            (ErrorKind::Closed, OPTR_CLOSED),
            (ErrorKind::System, OPTR_SYSTEM),
            (ErrorKind::Internal, OPTR_INTERNAL),
        ];
        assert!(names.iter().all(|(kind, status)| of(*kind) == *status));
        let memory = NotEnoughMemory { what: "a bucket".into(), needed: 2, available: 1, remedy: "" };
        let (error, text) = (Error::from(memory.clone()), memory.to_string());
        assert_eq!([Failure::from(error), memory.into()], [(); 2].map(|()| Failure::new(OPTR_NO_MEMORY, text.clone())));
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
            OPTR_UNSUPPORTED,
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
