//! Communicators.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::{ConnectError, Settings};

use crate::comm::Comm;
use crate::config::{self, Texts};
use crate::guard::guard;
use crate::raw::{self, Place};
use crate::registry;
use crate::status::{Failure, remember};
use crate::types::optr_status_t::{self, OPTR_SUCCESS};
use crate::types::{OPTR_NO_COLOR, optr_comm_t, optr_config_t, optr_unique_id_t};
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

/// Joins a job of 1 to 1024 ranks as one of them. Returns when all ranks have joined. Collective.
///
/// id is from optr_get_unique_id(). Rank 0 must run on the host in its address. After an error
/// *comm is NULL: OPTR_MISMATCH if settings differ, OPTR_PEER_FAILED if a rank does not join within
/// timeout_s.
///
/// Threads: any, at any time; blocks. Ranks of one process need a thread each.
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
        let (comm, config, id) =
            unsafe { (Place::new("comm", comm)?, raw::sized("config", config)?, raw::unique_id(id)?) };
        init(comm, config, |settings| unique_id::place(settings, &id, rank, world_size))
    })
}

/// As optr_comm_init_rank(), with the rank from the environment of torchrun, mpirun or srun, or
/// from OPTIREDUCE_RANK, OPTIREDUCE_WORLD_SIZE and OPTIREDUCE_ROOT. Collective.
///
/// Threads: any, but not while another thread changes the environment; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_init_env(comm: *mut optr_comm_t, config: *const optr_config_t) -> optr_status_t {
    guard("optr_comm_init_env", || {
        // SAFETY: the pointers are NULL or valid.
        let (comm, config) = unsafe { (Place::new("comm", comm)?, raw::sized("config", config)?) };
        init(comm, config, Ok)
    })
}

fn init(
    mut comm: Place<optr_comm_t>,
    config: Option<optr_config_t>,
    place: impl FnOnce(Settings) -> Result<Settings, Failure>,
) -> Result<(), Failure> {
    comm.set(null_mut());
    let settings = match &config {
        None => Settings::new(),
        Some(config) => {
            // SAFETY: the pointers are NULL or valid.
            let texts = unsafe {
                Texts {
                    interface: raw::text("config->interface", config.interface)?,
                    secret_file: raw::text("config->secret_file", config.secret_file)?,
                    card: raw::text("config->card", config.card)?,
                }
            };
            config::settings(config, texts)?
        }
    };
    let settings = place(settings)?;
    let launch = settings.launch().map_err(ConnectError::from)?;
    let (is_root, root) = (launch.rank == 0, launch.root);
    let connected = Comm::connect(settings);
    if is_root {
        unique_id::release(&root);
    }
    comm.set(handle(registry::insert(Arc::new(connected?))));
    Ok(())
}

/// Converts a handle to the pointer that C sees; it must not be dereferenced.
pub fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// Returns the communicator of a handle.
pub fn of(comm: optr_comm_t) -> Result<Arc<Comm>, Failure> {
    registry::find("comm", comm.addr())
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

/// Takes part again after OPTR_DROPPED, and writes the number of the first collective that includes
/// this rank, once the others have reached it. Not collective.
///
/// A process that joined a running job (optr_config_t.rejoin) first creates its buckets.
/// optr_report_t.joined_rank then names it on all ranks, so that they can send it the model.
/// OPTR_PEER_FAILED if the others do not agree, OPTR_INVALID_ARGUMENT in a job with cards.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_rejoin(comm: optr_comm_t, first_op: *mut u32) -> optr_status_t {
    guard("optr_comm_rejoin", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("first_op", first_op) }?;
        place.set(of(comm)?.call(|communicator| communicator.rejoin())?);
        Ok(())
    })
}

/// Creates a communicator of the ranks that pass the same color, in the same order
/// and with the same settings. With OPTR_NO_COLOR a rank gets NULL. Finalize and destroy it
/// separately. Collective.
///
/// A two-level all-reduce is a reduce-scatter in one communicator, an all-reduce of the shards in
/// another, and an all-gather in the first.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_split(comm: optr_comm_t, color: c_int, new_comm: *mut optr_comm_t) -> optr_status_t {
    guard("optr_comm_split", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("new_comm", new_comm) }?;
        place.set(null_mut());
        let color = match color {
            OPTR_NO_COLOR => None,
            _ => Some(
                usize::try_from(color).map_err(|_| Failure::argument("color", color, "0 or more, or OPTR_NO_COLOR"))?,
            ),
        };
        if let Some(new) = of(comm)?.split(color)? {
            place.set(handle(registry::insert(Arc::new(new))));
        }
        Ok(())
    })
}

/// Ends the job: waits for all ranks and for the collectives of this rank, and checks that all
/// ranks made the same calls. Afterwards, destroy the communicator. Collective.
///
/// OPTR_UNSETTLED if this rank lacks repairs that only optr_bucket_settle() would have returned.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_finalize(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_finalize", || of(comm)?.finalize())
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
/// progress on other threads return OPTR_CLOSED. Call optr_comm_finalize() first, since this
/// function does not wait for other ranks.
///
/// Threads: any, at any time, also during other calls; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_destroy(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_destroy", || {
        registry::remove_comm("comm", comm.addr())?.destroy();
        Ok(())
    })
}
