//! Bootstrap of any rank.

use std::io;

use tokio::net::TcpListener;
use tokio::runtime;

use super::bootstrap::{BootstrapError, Job, Links, Meeting, Member, Running, io_error};
use super::gather::{self, gather};
use super::join::{self, join};
use super::terms::Terms;

pub(super) struct Met {
    pub job: Job,
    pub links: Links,
    /// For rejoining processes.
    pub door: TcpListener,
    /// If this process rejoins.
    pub running: Option<Running>,
}

/// Connects the ranks of a job. `listener` is bound to `member.control`.
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

/// Reports to all ranks that this one cannot take part, and blocks until they have received it, at
/// most until the meeting's deadline.
pub(crate) fn decline(meeting: Meeting, member: Member, settings: Terms, reason: String) -> Result<(), BootstrapError> {
    on_a_thread(async move || match member.rank {
        0 => gather::decline(&meeting, member, settings, reason).await,
        _ => join::decline(&meeting, member, settings, reason).await.map_err(io_error("rank 0")),
    })
}

/// A caller's thread may belong to an async runtime, which must not block in another one.
pub(super) fn on_a_thread<T: Send + 'static>(
    future: impl AsyncFnOnce() -> Result<T, BootstrapError> + Send + 'static,
) -> Result<T, BootstrapError> {
    let run = move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(io_error("tokio's runtime"))?.block_on(future())
    };
    let thread = std::thread::Builder::new().name("optireduce-control".into()).spawn(run);
    let ended = |_| Err(io_error("the control thread")(io::Error::other("it has ended without a result")));
    thread.map_err(io_error("the control thread"))?.join().unwrap_or_else(ended)
}
