//! How the ranks of a job find one another, and the reliable connections between them.
//!
//! * `launch`: which rank this process is, from its launcher's environment.
//! * `bootstrap`: every rank reports to rank 0 (`join`), which compares their settings and hands out everybody's addresses
//!   (`gather`); `resolve` finds the addresses of rank 0 and of this host.
//! * `link`: a connection between two ranks, with a secret an encrypted one, and `frame` the messages on it.
//! * `channel`: the control channel, one TCP connection for each pair of ranks, for what must not be lost.
//! * `outgoing`: what waits for each peer, bounded; `serve`: the tasks that send it, and receive.
//! * `door`: how a process that was started again comes into a job that runs.
//! * `terms`: what all ranks must have in common, and the message that says where they differ.
//! * `reliable`: an all-reduce over the control channel.

mod bootstrap;
mod channel;
mod door;
mod frame;
mod gather;
mod join;
mod launch;
mod link;
mod meet;
mod outgoing;
pub(crate) mod reliable;
mod resolve;
mod serve;
mod terms;

pub use self::bootstrap::{BootstrapError, Refusal};
pub(crate) use self::bootstrap::{Job, Meeting, Member};
pub use self::channel::ControlError;
pub(crate) use self::channel::{CHUNK_BYTES, Closer, ControlChannel, PeerMessages};
pub use self::launch::{Launch, LaunchError, ROOT_PORT_DEFAULT, TORCH_PORT_OFFSET};
pub(crate) use self::resolve::{local_address, resolve};
pub(crate) use self::serve::PeerEvent;
pub use self::terms::Mismatch;
pub(crate) use self::terms::Terms;
