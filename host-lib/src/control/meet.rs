//! The bootstrap of a rank, whichever it is.

use std::io;

use tokio::net::TcpListener;
use tokio::runtime;

use super::bootstrap::{BootstrapError, Job, Links, Meeting, Member, Running, io_error};
use super::gather::{self, gather};
use super::join::{self, join};
use super::terms::Terms;

/// What has come of the bootstrap.
pub(super) struct Met {
    pub job: Job,
    pub links: Links,
    /// Where processes come that are started again later.
    pub door: TcpListener,
    /// If this process was, and the job runs.
    pub running: Option<Running>,
}

/// Brings the ranks of a job together. `member`: this rank, `listener` at `member.control`.
pub(super) async fn meet(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
    listener: TcpListener,
) -> Result<Met, BootstrapError> {
    if meeting.launch.rank == 0 {
        let (job, links, door) = gather(meeting, member, settings).await?;
        Ok(Met { job, links, door, running: None })
    } else {
        let (job, links, running) = join(meeting, member, settings, &listener).await?;
        Ok(Met { job, links, door: listener, running })
    }
}

/// Tells the other ranks, by rank 0, that this one cannot take part, and why. Blocks until they know, or until the meeting's deadline: rank 0
/// waits for all the others, and they for rank 0.
///
/// # Errors
/// [`BootstrapError`]: they were not told.
pub(crate) fn decline(meeting: Meeting, member: Member, settings: Terms, reason: String) -> Result<(), BootstrapError> {
    on_a_thread(async move || match member.rank {
        0 => gather::decline(&meeting, member, settings, reason).await,
        _ => join::decline(&meeting, member, settings, reason).await.map_err(io_error("rank 0")),
    })
}

/// Waits for a future on a thread of its own: the caller's may be one of an async runtime, which must not block in another.
pub(super) fn on_a_thread<T: Send + 'static>(
    future: impl AsyncFnOnce() -> Result<T, BootstrapError> + Send + 'static,
) -> Result<T, BootstrapError> {
    let run = move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(io_error("tokio's runtime"))?.block_on(future())
    };
    let thread = std::thread::Builder::new().name("optireduce-control".into()).spawn(run);
    let ended = |_| Err(io_error("the control thread")(io::Error::other("it has ended without an answer")));
    thread.map_err(io_error("the control thread"))?.join().unwrap_or_else(ended)
}
