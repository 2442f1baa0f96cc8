//! How the ranks of a job find one another, and the reliable connections between them.
//!
//! * `launch`: which rank this process is, from its launcher's environment.
//! * `bootstrap`: every rank reports to rank 0 (`join`), which compares their settings and hands out everybody's addresses
//!   (`gather`); `resolve` finds the addresses of rank 0 and of this host.
//! * `directory`: how ranks find their groups without connections between all ranks.
//! * `link`: a connection between two ranks, with a secret an encrypted one, and `frame` the messages on it.
//! * `channel`: the control channel, one TCP connection for each pair of ranks, for what must not be lost.
//! * `outgoing`: what waits for each peer, bounded; `serve`: the tasks that send it, and receive.
//! * `files`: room for as many connections as the job has ranks.
//! * `door`: how a process that was started again comes into a job that runs.
//! * `terms`: what all ranks must have in common, and the message that says where they differ.
//! * `reliable`: exact reductions over the control channel.
//! * `mailbox`: messages from point to point, beside the calls of all ranks.

mod bootstrap;
mod channel;
mod directory;
mod door;
mod files;
mod frame;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod gather;
mod join;
mod launch;
mod link;
mod mailbox;
mod meet;
mod outgoing;
pub(crate) mod reliable;
mod resolve;
mod serve;
mod tcp;
mod terms;

pub use self::bootstrap::{BootstrapError, Refusal};
pub(crate) use self::bootstrap::{CardLimits, Group, Job, Meeting, Member};
pub use self::channel::ControlError;
pub(crate) use self::channel::{CHUNK_BYTES, Closer, ControlChannel, Folding, PeerMessages, Place};
pub(crate) use self::directory::{Partition, find_groups};
pub use self::launch::{Launch, LaunchError, RANKS_MAX_TWO_LEVEL, ROOT_PORT_DEFAULT};
pub use self::mailbox::Message;
pub(crate) use self::mailbox::{Mailbox, Space, Tag, Underway};
pub(crate) use self::meet::decline;
pub(crate) use self::resolve::{local_address, mac_of, resolve};
pub(crate) use self::serve::PeerEvent;
pub use self::terms::Mismatch;
pub(crate) use self::terms::Terms;
