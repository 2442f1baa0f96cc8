//! Communicators.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::{SETTINGS, Settings};
use serde_json::Value;

use crate::comm::Comm;
use crate::config;
use crate::field::Given;
use crate::guard::guard;
use crate::raw::{self, Output, Place};
use crate::registry;
use crate::request;
use crate::status::{Failure, remember};
use crate::types::optr_status_t::{self, OPTR_INTERNAL, OPTR_SUCCESS};
use crate::types::{OPTR_NO_COLOR, optr_comm_t, optr_config_t, optr_request_t, optr_unique_id_t};
use crate::unique_id;

/// Creates the id of a job. Call it on one rank, and send the id to all others, for example by MPI.
///
/// address is HOST or HOST:PORT at which rank 0 listens. NULL selects OPTIREDUCE_ROOT, or this
/// host's address on its route to others. Without PORT, a free port of this host is reserved.
///
/// Threads: any, at any time; blocks if HOST is a name to resolve.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_get_unique_id(address: *const c_char, id: *mut optr_unique_id_t) -> optr_status_t {
    guard("optr_get_unique_id", || {
        // SAFETY: the pointers are NULL or valid.
        let (address, mut id) = unsafe { (raw::text("address", address)?, Place::new("id", id)?) };
        id.set(unique_id::make(address)?);
        Ok(())
    })
}

/// Joins a job as one of its ranks. Returns when all ranks have joined. Collective.
///
/// The environment sets rank and world size: torchrun, mpirun, srun, or OPTIREDUCE_RANK,
/// OPTIREDUCE_WORLD_SIZE and OPTIREDUCE_ROOT. If config is NULL, the environment sets everything.
/// After an error *comm is NULL: OPTR_MISMATCH if settings differ, OPTR_PEER_FAILED if a rank does
/// not join within timeout_s.
///
/// Threads: any, but not while another thread changes the environment; blocks. Ranks of one process
/// need a thread each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_init(comm: *mut optr_comm_t, config: *const optr_config_t) -> optr_status_t {
    guard("optr_comm_init", || {
        // SAFETY: the pointers are NULL or valid.
        let (comm, values) = unsafe { (Place::new("comm", comm)?, values(config)?) };
        init(comm, || config::settings(&values))
    })
}

/// As optr_comm_init(), with a rank from 0 to world_size - 1, at most 1023, in the job of an id
/// from optr_get_unique_id(). Rank 0 must run on the host in the address of the id. Collective.
///
/// Threads: any, but not while another thread changes the environment; blocks. Ranks of one process
/// need a thread each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_init_rank(
    comm: *mut optr_comm_t,
    world_size: c_int,
    id: *const optr_unique_id_t,
    rank: c_int,
    config: *const optr_config_t,
) -> optr_status_t {
    guard("optr_comm_init_rank", || {
        // SAFETY: the pointers are NULL or valid.
        let (comm, values, id) = unsafe { (Place::new("comm", comm)?, values(config)?, raw::unique_id(id)?) };
        init(comm, || {
            config::no_place(&values)?;
            unique_id::place(config::settings(&values)?, &id, rank, world_size)
        })
    })
}

/// Returns the fields of a config that are set.
///
/// # Safety
/// NULL, or a valid config.
unsafe fn values<'a>(config: *const optr_config_t) -> Result<Vec<(&'static str, Given<'a>)>, Failure> {
    // SAFETY: as this function.
    let Some(mut config) = (unsafe { raw::sized("config", config) })? else { return Ok(Vec::new()) };
    // SAFETY: as this function.
    let mut values = unsafe { raw::values("config", config.fields())? };
    // Zero is a rank, not the launcher's, beside a world size.
    let is_place = config.world_size > 0 && config.rank == 0;
    values.extend(is_place.then_some(("rank", Given::Whole(0))));
    Ok(values)
}

fn init(mut comm: Place<optr_comm_t>, settings: impl FnOnce() -> Result<Settings, Failure>) -> Result<(), Failure> {
    comm.set(null_mut());
    let settings = settings()?;
    let launch = settings.launch()?;
    let (is_root, root) = (launch.rank == 0, launch.root);
    let connected = Comm::connect(settings);
    if is_root {
        unique_id::release(&root);
    }
    comm.set(registry::insert(connected?));
    Ok(())
}

/// Returns the communicator of a handle.
pub fn of(comm: optr_comm_t) -> Result<Arc<Comm>, Failure> {
    registry::find("comm", comm)
}

/// Writes the number of this rank, from 0.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_rank(comm: optr_comm_t, rank: *mut c_int) -> optr_status_t {
    guard("optr_comm_rank", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("rank", rank) }?;
        place.set(of(comm)?.rank() as c_int);
        Ok(())
    })
}

/// Writes the number of ranks in the job, dropped ranks included.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_world_size(comm: optr_comm_t, world_size: *mut c_int) -> optr_status_t {
    guard("optr_comm_world_size", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("world_size", world_size) }?;
        place.set(of(comm)?.world_size() as c_int);
        Ok(())
    })
}

/// Writes first element and length of this rank's shard, for reduce-scatter and all-gather. All
/// shards have the same length, but the last ones may be shorter or empty.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_shard(
    comm: optr_comm_t,
    elements: usize,
    first: *mut usize,
    count: *mut usize,
) -> optr_status_t {
    guard("optr_comm_shard", || {
        // SAFETY: the pointers are NULL or valid.
        let (mut first, mut count) = unsafe { (Place::new("first", first)?, Place::new("count", count)?) };
        raw::check_elements::<f32>(elements)?;
        let range = of(comm)?.shard_range(elements);
        first.set(range.start);
        count.set(range.len());
        Ok(())
    })
}

/// Writes the error that made the communicator unusable, or OPTR_SUCCESS. The call itself succeeds,
/// and optr_last_error() then returns the text of that error.
///
/// Threads: any, at any time, also during other calls; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_async_error(comm: optr_comm_t, error: *mut optr_status_t) -> optr_status_t {
    guard("optr_comm_async_error", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("error", error) }?;
        let found = of(comm)?.async_error();
        place.set(found.as_ref().map_or(OPTR_SUCCESS, |failure| failure.status));
        if let Some(failure) = found {
            remember(&failure.text);
        }
        Ok(())
    })
}

/// Writes counters and state of this rank, and "settings", the settings in force, as a JSON text in
/// memory of the library: free it with optr_free(). Not collective.
///
/// Threads: any, at any time, also during other calls; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_metrics(
    comm: optr_comm_t,
    json: *mut *mut c_char,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_comm_metrics", || {
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (mut place, request) = unsafe { (Place::new("json", json)?, raw::request(request)?) };
        place.set(null_mut());
        let comm = of(comm)?;
        let (settings, begun) = comm.begin(|communicator| (communicator.settings().clone(), communicator.metrics()))?;
        let of = comm.clone();
        request::complete(&comm, request, begun, move |metrics| {
            let broken = |error: &dyn std::error::Error| Failure::new(OPTR_INTERNAL, error.to_string());
            let metrics = metrics.map_err(|error| of.of(error))?;
            let mut metrics = serde_json::to_value(metrics).map_err(|error| broken(&error))?;
            for row in SETTINGS {
                let value = settings.get(row.name).map_err(|error| broken(&error))?;
                metrics["settings"][row.name] = Value::from(value);
            }
            let text = format!("{metrics}\0");
            let memory = of.memory().allocate(text.len())?;
            // SAFETY: the memory has just been allocated, with this length.
            unsafe { Output::new("json", memory, text.len()) }?.write(text.as_bytes());
            place.set(memory.cast());
            Ok(())
        })
    })
}

/// Takes part again after OPTR_DROPPED, and writes the number of the first collective that includes
/// this rank, once the others have reached it. Not collective.
///
/// A process that joined a running job (optr_config_t.rejoin) first creates its buckets.
/// optr_report_t.joined_rank then names it on all ranks, so that they can send it the model.
/// OPTR_TIMEOUT if the others do not agree, OPTR_UNSUPPORTED in a job with cards.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_rejoin(
    comm: optr_comm_t,
    first_op: *mut u32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_comm_rejoin", || {
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (mut place, request) = unsafe { (Place::new("first_op", first_op)?, raw::request(request)?) };
        of(comm)?.call(
            request,
            |communicator| communicator.rejoin(),
            move |first_op| {
                place.set(first_op);
                Ok(())
            },
        )
    })
}

/// Creates a communicator of the ranks that pass the same color, in the same order and with the
/// same settings. With OPTR_NO_COLOR a rank gets NULL. Close and destroy it separately. Collective.
///
/// A two-level all-reduce is a reduce-scatter in one communicator, an all-reduce of the shards in
/// another, and an all-gather in the first.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_split(
    comm: optr_comm_t,
    color: c_int,
    new_comm: *mut optr_comm_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_comm_split", || {
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (mut place, request) = unsafe { (Place::new("new_comm", new_comm)?, raw::request(request)?) };
        place.set(null_mut());
        let color = match color {
            OPTR_NO_COLOR => None,
            _ => Some(
                usize::try_from(color).map_err(|_| Failure::argument("color", color, "0 or more, or OPTR_NO_COLOR"))?,
            ),
        };
        of(comm)?.split(request, color, move |new| new.into_iter().for_each(|new| place.set(registry::insert(new))))
    })
}

/// Ends the job: waits for all ranks and for the collectives of this rank, and checks that all
/// ranks made the same calls. Afterwards, destroy the communicator. Collective.
///
/// OPTR_UNSETTLED if this rank lacks repairs that only optr_bucket_settle() would have returned.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_close(comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
    guard("optr_comm_close", || {
        // SAFETY: the pointer is NULL or valid.
        let request = unsafe { raw::request(request) }?;
        of(comm)?.close(request)
    })
}

/// Ends all calls, requests and connections of a communicator. These calls, and later ones, return
/// OPTR_ABORTED. Destroy the handle afterwards. May be called repeatedly.
///
/// Threads: any, at any time, also during other calls; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_abort(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_abort", || {
        of(comm)?.abort();
        Ok(())
    })
}

/// Destroys a communicator, with its buckets, partial reduces, requests and memory. Calls in
/// progress on other threads return OPTR_CLOSED. Call optr_comm_close() first, since this
/// function does not wait for other ranks.
///
/// Threads: any, at any time, also during other calls; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_destroy(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_destroy", || {
        registry::remove_owner::<Comm>("comm", comm)?.destroy();
        Ok(())
    })
}
