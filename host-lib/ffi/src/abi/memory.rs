//! Memory that all-reduces use without a copy.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::comm::of;
use crate::guard::guard;
use crate::raw::Place;
use crate::types::{optr_comm_t, optr_status_t};

/// Allocates memory, zero at first and aligned to 64 bytes, for inputs and outputs of all-reduces
/// of this communicator's buckets. Valid until optr_free() or optr_comm_destroy(), also after an
/// abort.
///
/// If input and output are both in such memory, values are sent from input and received into
/// output. The result is copied once if peers began before this rank, and always if output is
/// input; optr_report_t.copied_bytes counts copies. Other calls treat it as any memory.
///
/// Leave both untouched until the call or its request is done. OPTR_BUSY if another collective uses
/// output, or writes input. After an error the contents of output are undefined unless it is input.
///
/// Other ranks of this host may read the memory, and a card (OPTIREDUCE_CARD) accesses it directly.
/// On a rank with a card, values are copied if they do not start at a multiple of 64 bytes. The
/// last window is copied if the bucket's length is not a multiple of 16 elements, unless input and
/// output end where their memory ends. After a fork, parent and child share the memory.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_alloc(comm: optr_comm_t, bytes: usize, memory: *mut *mut c_void) -> optr_status_t {
    guard("optr_alloc", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("memory", memory)? };
        place.set(null_mut());
        place.set(of(comm)?.memory().allocate(bytes)?.cast());
        Ok(())
    })
}

/// Frees memory from optr_alloc(). NULL has no effect. Collectives in progress keep it until they
/// are done.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_free(comm: optr_comm_t, memory: *mut c_void) -> optr_status_t {
    guard("optr_free", || {
        let comm = of(comm)?;
        if memory.is_null() { Ok(()) } else { comm.memory().free(memory.addr()) }
    })
}
