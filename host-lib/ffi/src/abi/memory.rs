//! Memory that travels without a copy.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::comm::of;
use crate::guard::guard;
use crate::raw::Place;
use crate::types::{optr_comm_t, optr_status_t};

/// Allocates memory of this host, zeros, aligned to 64 bytes, for any number of gradients and results. It stays where it is, and is the
/// caller's to read and write, until optr_free() or optr_comm_destroy(); aborting or finalizing the communicator leaves it.
///
/// An all-reduce of a bucket whose input and output both lie in such memory of its communicator, anywhere in it, sends the input from
/// there. The result is received in the output; if peers began before this rank, it is received elsewhere and copied to the output once;
/// so it is, always, if output and input are the same. optr_report_t.copied_bytes says what was copied. Leave input and output alone
/// until the call, or the request, is done: a call that is given an output that a collective uses, or an input that one writes,
/// gets OPTR_BUSY, and nothing is done. If the update is not applied, and after an error, the values of an output that is not
/// the input mean nothing. All other calls take the memory as any.
///
/// On a rank with a card (OPTIREDUCE_CARD) the card reads and writes this memory itself: nothing is copied of what begins at a multiple of 64 bytes. The
/// last window of a bucket that is no multiple of 16 elements is copied, unless input and output end where their memory ends. Other ranks of this host that
/// share memory with this one read it where it lies.
///
/// It is a shared mapping: a process that forks has the same memory as its child, not a copy.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_alloc(comm: optr_comm_t, bytes: usize, memory: *mut *mut c_void) -> optr_status_t {
    guard("optr_alloc", || {
        // SAFETY: the caller's: NULL or room for an address.
        let mut place = unsafe { Place::new("memory", memory)? };
        place.set(null_mut());
        place.set(of(comm)?.memory().allocate(bytes)?.cast());
        Ok(())
    })
}

/// Frees memory from optr_alloc(), which is not to be read or written any more. NULL: nothing is done. Collectives that run with it keep
/// it until they are done, and write their results nowhere that is of use.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_free(comm: optr_comm_t, memory: *mut c_void) -> optr_status_t {
    guard("optr_free", || {
        let comm = of(comm)?;
        if memory.is_null() { Ok(()) } else { comm.memory().free(memory.addr()) }
    })
}
