//! The tasks that serve the connections of a rank, on the control channel's thread.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::bootstrap::Member;
use super::door::{Arrival, Door};
use super::frame::{self, PEER_MESSAGE};
use super::link::Link;
use super::outgoing::Queue;

/// How long what was sent may take to leave once this rank has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a peer may take nothing meanwhile.
const STALL: Duration = Duration::from_millis(200);

/// What comes from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerEvent {
    /// A peer's message.
    Message(Vec<u8>),
    /// The peer's connection has ended.
    Gone,
    /// There is a connection to another process in the peer's place.
    Back(Member),
    /// This rank wants no more.
    Closed,
}

/// Where messages of peers go.
#[derive(Clone)]
pub(super) struct Inbox {
    pub in_step: Sender<(usize, PeerEvent)>,
    pub peer_message: Sender<(usize, PeerEvent)>,
    /// Called after a peer message has come.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// `false`: nobody is there any more.
    fn put(&self, peer: usize, kind: u8, message: Vec<u8>) -> bool {
        let message = (peer, PeerEvent::Message(message));
        if kind == PEER_MESSAGE {
            let _ = self.peer_message.send(message);
            (self.wake)();
            return true;
        }
        self.in_step.send(message).is_ok()
    }

    /// Tells callers and engine the same of a peer.
    fn tell(&self, peer: usize, event: PeerEvent) {
        let _ = self.in_step.send((peer, event.clone()));
        let _ = self.peer_message.send((peer, event));
        (self.wake)();
    }
}

/// Serves all connections until this rank sends no more, at most [`DRAIN`] after it has ended.
pub(super) async fn serve(
    links: Vec<(usize, Link, Queue)>,
    door: Door,
    inbox: Inbox,
    mut ending: oneshot::Receiver<()>,
) {
    let (alive, over) = watch::channel(());
    let (mut tasks, mut heard) = (JoinSet::new(), JoinSet::new());
    for (peer, link, queue) in links {
        tasks.spawn(connection(peer, link, queue, inbox.clone(), over.clone()));
    }
    loop {
        tokio::select! {
            _ = &mut ending => break,
            Arrival { member, link, queue } = door.next(&mut heard) => {
                let peer = member.rank;
                tracing::warn!(peer, "a process that was started again has connected");
                inbox.tell(peer, PeerEvent::Back(member));
                tasks.spawn(connection(peer, link, queue, inbox.clone(), over.clone()));
            }
        }
    }
    drop((alive, door));
    while tasks.join_next().await.is_some() {}
}

/// One connection, to its end.
async fn connection(peer: usize, link: Link, mut queue: Queue, inbox: Inbox, over: watch::Receiver<()>) {
    let Link { mut reader, mut writer } = link;
    let (cut, taken) = (queue.cut(), AtomicU64::new(0));
    let mut reading = pin!(async {
        let ended = loop {
            match reader.read(frame::MESSAGE_BYTES_MAX).await {
                Ok((kind, message)) => {
                    if !inbox.put(peer, kind, message) {
                        return;
                    }
                }
                Err(error) => break error,
            }
        };
        if ended.kind() != io::ErrorKind::UnexpectedEof {
            tracing::debug!(peer, %ended, "connection");
        }
    });
    let sending = async {
        while let Some((kind, message)) = queue.next().await {
            if let Err(error) = writer.write(kind, &message).await {
                tracing::debug!(peer, %error, "connection");
                return true;
            }
            queue.taken(kind, message.len());
            taken.fetch_add(1, Ordering::Relaxed);
        }
        false
    };
    tokio::select! {
        () = &mut reading => {}
        has_failed = sending => {
            if !has_failed {
                // This rank sends no more.
                return;
            }
            // What came before the end counts, too.
            tokio::select! {
                () = &mut reading => {}
                () = ended(over) => return,
            }
        }
        () = cut.notified() => {}
        () = stall(over.clone(), &taken) => return,
    }
    queue.close();
    inbox.tell(peer, PeerEvent::Gone);
}

/// This rank has ended.
async fn ended(mut over: watch::Receiver<()>) {
    while over.changed().await.is_ok() {}
}

/// This rank has ended, and a peer takes nothing of what was sent to it before, or too slowly.
async fn stall(over: watch::Receiver<()>, taken: &AtomicU64) {
    ended(over).await;
    let begin = Instant::now();
    let mut before = taken.load(Ordering::Relaxed);
    loop {
        sleep(STALL).await;
        let now = taken.load(Ordering::Relaxed);
        if now == before || begin.elapsed() >= DRAIN {
            return;
        }
        before = now;
    }
}
