//! The bootstrap of a rank, whichever it is.

use tokio::net::TcpListener;

use super::bootstrap::{BootstrapError, Job, Links, Meeting, Member};
use super::gather::gather;
use super::join::join;
use super::terms::Terms;

/// Brings the ranks of a job together. `member`: this rank, `listener` at `member.control`.
pub(super) async fn meet(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
    listener: TcpListener,
) -> Result<(Job, Links), BootstrapError> {
    if meeting.launch.rank == 0 {
        gather(meeting, member, settings).await
    } else {
        join(meeting, member, settings, listener).await
    }
}
