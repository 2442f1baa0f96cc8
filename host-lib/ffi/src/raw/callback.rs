//! Calls of the caller's functions, and protection of the caller's threads.

use std::ffi::{c_char, c_int, c_void};

use crate::status::{Failure, c_text};
use crate::types::{optr_callback_t, optr_status_t};

use super::null;

unsafe extern "C" {
    // POSIX, but missing in the crate libc.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Defers `pthread_cancel` of this thread until it is dropped. Cancellation would unwind through
/// Rust frames that do not allow it, with locks held.
#[derive(Debug)]
pub struct NotCancelled {
    before: c_int,
}

impl NotCancelled {
    pub fn new() -> Self {
        // The same value in glibc and musl.
        const PTHREAD_CANCEL_DISABLE: c_int = 1;
        let mut before = 0;
        // SAFETY: the state is valid, and `before` is a local variable.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
        Self { before }
    }
}

impl Drop for NotCancelled {
    fn drop(&mut self) {
        // SAFETY: the state is this thread's previous one, and NULL is allowed.
        unsafe { pthread_setcancelstate(self.before, std::ptr::null_mut()) };
    }
}

/// Function of the caller, called once on another thread.
#[derive(Debug)]
pub struct Callback {
    function: unsafe extern "C" fn(optr_status_t, *const c_char, *mut c_void),
    context: *mut c_void,
}

// SAFETY: the caller guarantees that any thread may call the function with this context.
unsafe impl Send for Callback {}

/// Callback that is always called, with [`optr_status_t::OPTR_INTERNAL`] if it is dropped.
#[derive(Debug)]
pub struct Armed(Option<Callback>);

impl Armed {
    pub fn call(mut self, done: Result<(), Failure>) {
        if let Some(callback) = self.0.take() {
            callback.call(done);
        }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Some(callback) = self.0.take() {
            let bug = Failure::new(optr_status_t::OPTR_INTERNAL, "a bug in liboptireduce; please report it");
            callback.call(Err(bug));
        }
    }
}

impl Callback {
    /// # Safety
    /// NULL, or a function that any thread may call once with `context`, and that returns.
    pub unsafe fn new(function: optr_callback_t, context: *mut c_void) -> Result<Self, Failure> {
        let function = function.ok_or_else(|| null("callback", "a function"))?;
        Ok(Self { function, context })
    }

    pub fn arm(self) -> Armed {
        Armed(Some(self))
    }

    fn call(self, done: Result<(), Failure>) {
        let Self { function, context } = self;
        let (status, text) = match done {
            Ok(()) => (optr_status_t::OPTR_SUCCESS, String::new()),
            Err(Failure { status, text, .. }) => (status, text),
        };
        let error = c_text(&text);
        // SAFETY: guaranteed by the caller (`new`). The text lives until it returns.
        unsafe { function(status, error.as_ptr(), context) };
    }
}
