//! The bootstrap of a rank, whichever it is.

use tokio::net::TcpListener;

use super::bootstrap::{BootstrapError, Job, Links, Meeting, Member, Running};
use super::gather::gather;
use super::join::join;
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
