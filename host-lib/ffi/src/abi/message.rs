//! Point-to-point messages, independent of the collectives.

use std::ffi::{c_int, c_void};

use optireduce::Message;

use super::comm::of;
use crate::comm::Comm;
use crate::guard::guard;
use crate::raw::{self, Input, Output, Place};
use crate::request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_MISMATCH;
use crate::types::{OPTR_ANY_RANK, optr_comm_t, optr_message_t, optr_request_t, optr_status_t};

/// Sends bytes to a rank, or to itself, where a receive with the same tag takes them. Messages with
/// the same tag arrive in order. Not collective.
///
/// A receiver stores up to 8 MiB from each other rank. Messages that do not fit wait for a receive.
/// OPTR_TIMEOUT after optr_config_t.timeout_s without progress.
///
/// Threads: any, at any time, also during other calls; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_send(
    comm: optr_comm_t,
    to: c_int,
    tag: u32,
    data: *const c_void,
    bytes: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_send", || {
        // SAFETY: the pointers are NULL or valid.
        let (request, message) =
            unsafe { (raw::request(request)?, Input::<u8>::new("data", data.cast(), bytes)?.to_vec()?) };
        let comm = of(comm)?;
        let to = rank_of(&comm, "to", to)?;
        let (begun, of) = (comm.begin(|communicator| communicator.send(to, tag, message))?, comm.clone());
        request::complete(&comm, request, begun, move |sent| sent.map_err(|error| of.of(error)))
    })
}

/// Receives the next message with this tag from a rank, or from OPTR_ANY_RANK. Not collective.
///
/// message receives length and sender. If message is NULL, the length must be exactly bytes. A
/// message that does not fit is lost, with OPTR_MISMATCH. OPTR_PEER_FAILED after
/// optr_config_t.timeout_s without progress. A freed request takes no message.
///
/// Threads: any, at any time, also during other calls; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_recv(
    comm: optr_comm_t,
    from: c_int,
    tag: u32,
    data: *mut c_void,
    bytes: usize,
    message: *mut optr_message_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_recv", || {
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (request, output, message) = unsafe {
            let request = raw::request(request)?;
            (request, Output::<u8>::new("data", data.cast(), bytes)?, Place::optional("message", message)?)
        };
        let comm = of(comm)?;
        let from = source_of(&comm, from)?;
        let (begun, of) = (comm.begin(|communicator| communicator.recv(from, tag))?, comm.clone());
        request::complete(&comm, request, begun, move |came| {
            take(came.map_err(|error| of.of(error))?, tag, output, message)
        })
    })
}

fn take(came: Message, tag: u32, mut output: Output<u8>, place: Option<Place<optr_message_t>>) -> Result<(), Failure> {
    let (found, room, rank) = (came.bytes.len(), output.elements(), came.rank);
    if found > room || (place.is_none() && found != room) {
        let most = if place.is_none() { "" } else { "at most " };
        let text = format!(
            "a message of {found} bytes arrived from rank {rank} with tag {tag}, expected {most}{room}; it is lost"
        );
        return Err(Failure::new(OPTR_MISMATCH, text));
    }
    output.write_at(0, &came.bytes);
    if let Some(mut place) = place {
        place.set(optr_message_t { bytes: found, rank: rank as c_int });
    }
    Ok(())
}

fn rank_of(comm: &Comm, name: &str, rank: c_int) -> Result<usize, Failure> {
    let known = usize::try_from(rank).ok().filter(|rank| *rank < comm.world_size());
    known.ok_or_else(|| Failure::argument(name, rank, format_args!("a rank from 0 to {}", comm.world_size() - 1)))
}

fn source_of(comm: &Comm, from: c_int) -> Result<Option<usize>, Failure> {
    if from == OPTR_ANY_RANK { Ok(None) } else { rank_of(comm, "from", from).map(Some) }
}
