//! Bootstrap of a job, and the reliable connections between its ranks.
//!
//! * `launch`: place of this process, from the launcher's environment.
//! * `bootstrap`: rendezvous at rank 0 (`gather`) of the other ranks (`join`).
//! * `directory`: group rendezvous without connections between all ranks.
//! * `door`: rejoin of restarted processes.
//! * `link`, `frame`: a connection and its wire format.
//! * `channel`: calls of all ranks, and peer messages.
//! * `again`: new connections between live processes.
//! * `outgoing`, `serve`: bounded send queues, and the tasks that send and receive.
//! * `terms`: comparison of settings and arguments across ranks.
//! * `reliable`: exact reductions.
//! * `mailbox`: point-to-point messages.

mod again;
mod bootstrap;
mod channel;
mod directory;
mod door;
mod files;
mod frame;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod gather;
mod host;
mod join;
mod launch;
mod link;
mod mailbox;
mod meet;
mod outgoing;
pub(crate) mod reliable;
mod resolve;
mod serve;
mod spares;
mod tcp;
mod terms;

pub use self::bootstrap::{BootstrapError, Refusal};
pub(crate) use self::bootstrap::{CardLimits, Group, Job, Meeting, Member};
pub use self::channel::ControlError;
pub(crate) use self::channel::{CHUNK_BYTES, Closer, ControlChannel, Folding, PeerMessages, Place};
pub(crate) use self::directory::{Partition, find_groups};
pub(crate) use self::launch::RANKS_MAX_LEVELS;
pub use self::launch::{Launch, LaunchError};
pub(crate) use self::launch::{OwnPlace, root_form};
pub use self::mailbox::Message;
pub(crate) use self::mailbox::{Mailbox, Space, Tag, Underway};
pub(crate) use self::meet::decline;
pub(crate) use self::resolve::{local_address, mac_of, resolve};
pub(crate) use self::serve::PeerEvent;
pub use self::terms::Mismatch;
pub(crate) use self::terms::{Terms, printable};
