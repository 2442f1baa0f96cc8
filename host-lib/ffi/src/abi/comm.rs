//! Communicators: from the first call to the last.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::Launch;

use crate::comm::Comm;
use crate::config::{self, Texts};
use crate::guard::guard;
use crate::raw::{self, Place};
use crate::registry;
use crate::status::{Failure, remember};
use crate::types::optr_status_t::{self, OPTR_SUCCESS};
use crate::types::{OPTR_NO_COLOR, optr_comm_t, optr_config_t, optr_unique_id_t};
use crate::unique_id;

/// Makes the id of a job, on one rank; hand its bytes to all others (by MPI, a file, a socket). address: HOST or HOST:PORT,
/// of the host of rank 0, where it is to listen; NULL: OPTIREDUCE_ROOT, or else the address of this host on the way to
/// others, and a free port.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_get_unique_id(address: *const c_char, id: *mut optr_unique_id_t) -> optr_status_t {
    guard("optr_get_unique_id", || {
        // SAFETY: the caller's: NULL or a text; NULL or room for an id.
        let (address, mut id) = unsafe { (raw::text("address", address)?, Place::new("id", id)?) };
        id.set(unique_id::make(address)?);
        Ok(())
    })
}

/// Joins a job as one of its ranks. world_size: 2 to 1024. id: from optr_get_unique_id(), the same on all ranks; rank 0 must
/// be on the host that its address names. config: NULL for the defaults. Returns when all ranks are there, or after the
/// timeout of the config. Collective.
///
/// Threads: any, at any time; blocks. Ranks of one process join from a thread each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_init_rank(
    comm: *mut optr_comm_t,
    world_size: c_int,
    id: *const optr_unique_id_t,
    rank: c_int,
    config: *const optr_config_t,
) -> optr_status_t {
    guard("optr_comm_init_rank", || {
        // SAFETY: the caller's: NULL or room for a handle; NULL or a config; NULL or an id.
        let (comm, config, id) =
            unsafe { (Place::new("comm", comm)?, raw::sized("config", config)?, raw::unique_id(id)?) };
        init(comm, config, || unique_id::launch(&id, rank, world_size))
    })
}

/// Joins a job as the rank that the launcher's environment says: torchrun, mpirun, srun, or OPTIREDUCE_RANK,
/// OPTIREDUCE_WORLD_SIZE and OPTIREDUCE_ROOT. config: NULL for the defaults. Returns when all ranks are there, or after the
/// timeout of the config. Collective.
///
/// Threads: any, at any time, but not while another thread changes the environment; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_init_env(comm: *mut optr_comm_t, config: *const optr_config_t) -> optr_status_t {
    guard("optr_comm_init_env", || {
        // SAFETY: the caller's: NULL or room for a handle; NULL or a config.
        let (comm, config) = unsafe { (Place::new("comm", comm)?, raw::sized("config", config)?) };
        init(comm, config, || Launch::from_env().map_err(|error| optireduce::ConnectError::from(error).into()))
    })
}

fn init(
    mut comm: Place<optr_comm_t>,
    config: Option<optr_config_t>,
    launch: impl FnOnce() -> Result<Launch, Failure>,
) -> Result<(), Failure> {
    comm.set(null_mut());
    let (builder, rejoin) = match &config {
        None => (optireduce::Communicator::builder(), None),
        Some(config) => {
            // SAFETY: the caller's: NULL or texts.
            let texts = unsafe {
                Texts {
                    interface: raw::text("config->interface_name", config.interface_name)?,
                    secret_file: raw::text("config->secret_file", config.secret_file)?,
                }
            };
            config::builder(config, texts)?
        }
    };
    let launch = launch()?;
    let launch = rejoin.map_or(launch.clone(), |rejoin| launch.rejoin(rejoin));
    let (is_root, root) = (launch.rank == 0, launch.root.clone());
    let connected = Comm::connect(builder.launch(launch));
    if is_root {
        unique_id::release(&root);
    }
    comm.set(handle(registry::insert(Arc::new(connected?))));
    Ok(())
}

/// A handle as C has it: a pointer that leads nowhere.
pub fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// What a handle stands for.
pub fn of(comm: optr_comm_t) -> Result<Arc<Comm>, Failure> {
    registry::find("comm", comm.addr())
}

/// This rank, from 0.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_rank(comm: optr_comm_t, rank: *mut c_int) -> optr_status_t {
    guard("optr_comm_rank", || {
        // SAFETY: the caller's: NULL or room for a number.
        let mut place = unsafe { Place::new("rank", rank) }?;
        place.set(of(comm)?.rank() as c_int);
        Ok(())
    })
}

/// Ranks of the job, those that were dropped included.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_world_size(comm: optr_comm_t, world_size: *mut c_int) -> optr_status_t {
    guard("optr_comm_world_size", || {
        // SAFETY: the caller's: NULL or room for a number.
        let mut place = unsafe { Place::new("world_size", world_size) }?;
        place.set(of(comm)?.world_size() as c_int);
        Ok(())
    })
}

/// Which of so many elements are this rank's shard, in reduce-scatter and all-gather: from first on, count of them. All
/// shards are as long as that of rank 0, but the last ones may be shorter, or empty.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_shard(
    comm: optr_comm_t,
    elements: usize,
    first: *mut usize,
    count: *mut usize,
) -> optr_status_t {
    guard("optr_comm_shard", || {
        // SAFETY: the caller's: NULL or room for a number.
        let (mut first, mut count) = unsafe { (Place::new("first", first)?, Place::new("count", count)?) };
        raw::check_elements::<f32>(elements)?;
        let range = of(comm)?.shard_range(elements);
        first.set(range.start);
        count.set(range.len());
        Ok(())
    })
}

/// Why the communicator is of no use any more, found by any thread, request or callback: OPTR_SUCCESS if it is well. The call
/// itself gives OPTR_SUCCESS; optr_last_error() then has the text of what was found.
///
/// Threads: any, at any time, also while another thread waits in a call; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_async_error(comm: optr_comm_t, error: *mut optr_status_t) -> optr_status_t {
    guard("optr_comm_async_error", || {
        // SAFETY: the caller's: NULL or room for a status.
        let mut place = unsafe { Place::new("error", error) }?;
        let found = of(comm)?.async_error();
        place.set(found.as_ref().map_or(OPTR_SUCCESS, |failure| failure.status));
        if let Some(failure) = found {
            remember(&failure.text);
        }
        Ok(())
    })
}

/// Takes part again after OPTR_DROPPED; a process that came into a job that runs (config.rejoin) calls it once its buckets
/// are created. Writes the number of the first collective that this rank is in. The model is the caller's to fetch, when
/// optr_report_t.joined_rank says so.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_rejoin(comm: optr_comm_t, first_op: *mut u32) -> optr_status_t {
    guard("optr_comm_rejoin", || {
        // SAFETY: the caller's: NULL or room for a number.
        let mut place = unsafe { Place::new("first_op", first_op) }?;
        place.set(of(comm)?.call(|communicator| communicator.start_rejoin())?);
        Ok(())
    })
}

/// Makes a communicator of the ranks that give the same color, at least two, in the order of their ranks in this one, with its
/// settings, buckets and collectives of its own. color: 0 or more, or OPTR_NO_COLOR: this rank is in none, and gets NULL. It is
/// finalized and destroyed by itself, before this one or after it. An all-reduce on two levels is a reduce-scatter in one, an
/// all-reduce of the shards in another, and an all-gather in the first. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_comm_split(comm: optr_comm_t, color: c_int, new_comm: *mut optr_comm_t) -> optr_status_t {
    guard("optr_comm_split", || {
        // SAFETY: the caller's: NULL or room for a handle.
        let mut place = unsafe { Place::new("new_comm", new_comm) }?;
        place.set(null_mut());
        let colour = match color {
            OPTR_NO_COLOR => None,
            _ => Some(
                usize::try_from(color).map_err(|_| Failure::argument("color", color, "0 or more, or OPTR_NO_COLOR"))?,
            ),
        };
        if let Some(new) = of(comm)?.split(colour)? {
            place.set(handle(registry::insert(Arc::new(new))));
        }
        Ok(())
    })
}

/// From now on calls over TCP (barriers, broadcasts, creation of buckets) leave out ranks whose process has ended, as the
/// collectives do. Without it they fail with OPTR_PEER_FAILED. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_skip_gone_ranks(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_skip_gone_ranks", || of(comm)?.call(|communicator| communicator.start_skip_gone_ranks()))
}

/// Ends the job in order: waits for the collectives of this rank that still run, then for all ranks, and confirms that all
/// have called the same; OPTR_MISMATCH on all ranks if not. Afterwards only optr_comm_destroy() is of use. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_finalize(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_finalize", || of(comm)?.finalize())
}

/// Ends all calls, requests and connections of a communicator, whichever thread waits in them: those calls, and all later
/// ones, give OPTR_ABORTED. The handle must still be destroyed. Twice does no more than once.
///
/// Threads: any, at any time, also while another thread waits in a call; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_abort(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_abort", || {
        of(comm)?.abort();
        Ok(())
    })
}

/// Ends a communicator, its buckets and its requests: their handles are worth nothing from now on, and memory of buckets is
/// given back. Does not wait for other ranks: call optr_comm_finalize() before, to be sure that all have come to the end.
/// Calls of other threads that run give OPTR_CLOSED.
///
/// Threads: any, at any time; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_comm_destroy(comm: optr_comm_t) -> optr_status_t {
    guard("optr_comm_destroy", || {
        registry::remove_comm("comm", comm.addr())?.destroy();
        Ok(())
    })
}
