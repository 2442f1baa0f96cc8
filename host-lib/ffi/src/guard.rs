//! Wrapper of every exported function: stops panics, defers thread cancellation, rejects forked
//! children, and keeps the text of an error.
//!
//! A forked child has none of the library's threads, and locks held at the fork stay locked, so the
//! process id is checked first. A child may create communicators only if its parent had none at the
//! fork.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::raw::NotCancelled;
use crate::status::{Failure, remember};
use crate::types::optr_status_t::{self, *};

/// Process that owns the communicators, 0 before the first call.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Number of [`Live`] values.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Communicator that exists or is being created.
#[derive(Debug)]
pub struct Live(());

impl Live {
    pub fn new() -> Self {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn guard(function: &str, body: impl FnOnce() -> Result<(), Failure>) -> optr_status_t {
    let _not_cancelled = NotCancelled::new();
    // Unwind-safe: shared state is behind locks, and the caller's output is not read.
    let result = catch_unwind(AssertUnwindSafe(|| check_process().and_then(|()| body())));
    let failure = match result {
        Ok(Ok(())) => return OPTR_SUCCESS,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
            Failure::new(OPTR_INTERNAL, format!("a bug in liboptireduce ({text}); please report it"))
        }
    };
    remember(&format!("{function}: {}", failure.text));
    failure.status
}

fn check_process() -> Result<(), Failure> {
    let (owner, now) = (OWNER.load(Ordering::SeqCst), std::process::id());
    if owner == now {
        return Ok(());
    }
    if owner == 0 || LIVE.load(Ordering::SeqCst) == 0 {
        OWNER.store(now, Ordering::SeqCst);
        return Ok(());
    }
    Err(Failure::new(
        OPTR_FORKED,
        format!(
            "this process, {now}, is a fork of {owner}, which created its communicators; a fork cannot use them: fork before the \
             first communicator is created, or call exec"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::status::last_error;

    #[allow(unsafe_code)]
    fn text() -> String {
        // SAFETY: the text is valid until this thread's next error, which comes later.
        unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_and_its_text_is_kept() {
        let rank = 3;
        let status = guard("optr_test", || panic!("no rank {rank}"));
        assert_eq!(status, OPTR_INTERNAL);
        assert_eq!(text(), "optr_test: a bug in liboptireduce (no rank 3); please report it");
        assert_eq!(guard("optr_test", || panic!("plain")), OPTR_INTERNAL);
        assert_eq!(text(), "optr_test: a bug in liboptireduce (plain); please report it");
    }

    #[test]
    fn a_success_leaves_the_last_text_and_other_threads_have_their_own() {
        assert_eq!(guard("optr_test", || Err(Failure::argument("rank", 7, "0 to 3"))), OPTR_INVALID_ARGUMENT);
        let expected = "optr_test: rank is 7, expected 0 to 3; nothing was changed";
        assert_eq!(guard("optr_test", || Ok(())), OPTR_SUCCESS);
        assert_eq!(text(), expected);
        std::thread::spawn(|| assert_eq!(text(), "")).join().unwrap();
        assert_eq!(text(), expected);
    }
}
