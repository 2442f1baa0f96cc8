//! Tasks that serve a rank's connections, on the control channel's thread.
//!
//! An empty message follows the last queued one to another host, in a separate segment. TCP detects
//! a lost segment from later ones; without them, a vote, a repair or a barrier would wait for the
//! retransmission timeout.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use tokio::sync::mpsc::error::SendError;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::again::{AGAIN, CONFIRM_DELAY, Line, Parting, Record, Returned};
use super::bootstrap::{Member, Refusal};
use super::door::{Arrival, Door};
use super::frame::{self, FOLLOWER, IN_STEP, LEAVE, PEER_MESSAGE, POINT, RECEIVED};
use super::gather::tell;
use super::link::Link;
use super::mailbox::Mailbox;
use super::outgoing::Queue;

/// Maximum time to send queued messages after this rank has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// Maximum time without progress meanwhile.
const STALL: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerEvent {
    Message(Vec<u8>),
    Gone(Parting),
    /// Another process has taken the rank.
    Back(Member),
    Closed,
}

/// Unprocessed bytes of calls, by peer. No rank is more than a few pieces ahead of another, so only
/// a protocol violation exceeds the limit.
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<[AtomicUsize]>);

impl Held {
    const BYTES_MAX: usize = 64 << 20;
    /// Cost of a message in addition to its bytes.
    const MESSAGE_COST: usize = 64;

    pub fn new(ranks: usize) -> Self {
        Self((0..ranks).map(|_| AtomicUsize::new(0)).collect())
    }

    pub fn add(&self, peer: usize, message: &[u8]) -> Result<(), String> {
        let cost = message.len() + Self::MESSAGE_COST;
        match self.0[peer].fetch_add(cost, Ordering::Relaxed) + cost {
            held if held > Self::BYTES_MAX => Err(format!("{held} bytes of calls ahead, at most {}", Self::BYTES_MAX)),
            _ => Ok(()),
        }
    }

    pub fn remove(&self, peer: usize, message: &[u8]) {
        self.0[peer].fetch_sub(message.len() + Self::MESSAGE_COST, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub(super) struct Inbox {
    pub in_step: Sender<(usize, PeerEvent)>,
    pub held: Held,
    pub peer_message: Sender<(usize, PeerEvent)>,
    pub mailbox: Arc<Mailbox>,
    /// Called after peer messages and connection changes.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// Returns `false` if this rank's channel is dropped.
    ///
    /// # Errors
    /// If the message violates the protocol.
    fn put(&self, peer: usize, kind: u8, message: Vec<u8>) -> Result<bool, String> {
        match kind {
            POINT => self.mailbox.handle(peer, &message)?,
            IN_STEP => {
                self.held.add(peer, &message)?;
                return Ok(self.in_step.send((peer, PeerEvent::Message(message))).is_ok());
            }
            PEER_MESSAGE => {
                let _ = self.peer_message.send((peer, PeerEvent::Message(message)));
                (self.wake)();
            }
            _ => return Err(format!("a message of kind {kind}")),
        }
        Ok(true)
    }

    /// `broken`: protocol violation that ended the connection.
    fn tell(&self, peer: usize, event: PeerEvent, broken: Option<String>) {
        match &event {
            PeerEvent::Gone(parting) => self.mailbox.gone(peer, *parting, broken),
            PeerEvent::Back(_) => self.mailbox.back(peer),
            PeerEvent::Message(_) | PeerEvent::Closed => {}
        }
        let _ = self.in_step.send((peer, event.clone()));
        let _ = self.peer_message.send((peer, event));
        (self.wake)();
    }
}

/// Serves all connections until this rank has ended, plus at most [`DRAIN`].
pub(super) async fn serve(
    links: Vec<(usize, Link, Queue)>,
    door: Door,
    inbox: Inbox,
    mut ending: oneshot::Receiver<()>,
) {
    let (alive, over) = watch::channel(());
    let (mut tasks, mut heard, mut returns) = (JoinSet::new(), JoinSet::new(), BTreeMap::new());
    let mut begin = |door: &Door, returns: &mut BTreeMap<_, _>, peer, link, queue| {
        let (line, sender) = door.line(peer);
        returns.insert(peer, sender);
        tasks.spawn(connection(line, link, queue, inbox.clone(), over.clone()));
    };
    for (peer, link, queue) in links {
        begin(&door, &mut returns, peer, link, queue);
    }
    loop {
        tokio::select! {
            _ = &mut ending => break,
            arrival = door.next(&mut heard) => match arrival {
                Arrival::New { member, link, queue } => {
                    let peer = member.rank;
                    tracing::warn!(peer, "a restarted process has connected");
                    inbox.tell(peer, PeerEvent::Back(*member), None);
                    begin(&door, &mut returns, peer, link, queue);
                }
                Arrival::Again { peer, returned } => {
                    let refused = match returns.get(&peer).map(|sender| sender.send(returned)) {
                        Some(Err(SendError(returned))) => returned,
                        _ => None,
                    };
                    if let Some((link, _)) = refused {
                        let reason = "the other rank has ended its connection".into();
                        tokio::spawn(tell(link, Refusal::NotConnected { rank: peer, reason }));
                    }
                }
            }
        }
    }
    drop((alive, door, returns));
    while tasks.join_next().await.is_some() {}
}

/// End of a connection.
enum Ended {
    /// This rank has ended.
    Over,
    /// The peer is gone, with its protocol violation, if any.
    Gone(Option<String>),
    /// The network ended the connection, or the peer asks for a new one.
    Broken(Returned),
}

/// Serves a peer, over several connections if the network breaks one.
async fn connection(mut line: Line, mut link: Link, mut queue: Queue, inbox: Inbox, over: watch::Receiver<()>) {
    let (peer, record, cut) = (line.way.peer, Record::default(), queue.cut());
    let (mut progress, mut until) = (None, Instant::now());
    let (parting, broken) = loop {
        let returned = match one_connection(&mut line, link, &mut queue, &record, &inbox, over.clone()).await {
            Ended::Over => return,
            Ended::Gone(broken) => break (Parting::Ended, broken),
            Ended::Broken(returned) => returned,
        };
        let present = Some(record.progress());
        if std::mem::replace(&mut progress, present) != present {
            until = Instant::now() + AGAIN;
        }
        let restored = tokio::select! {
            restored = timeout_at(until, line.restore(&record, returned)) => restored.unwrap_or(Err(Parting::Cut)),
            () = cut.notified() => Err(Parting::Ended),
            () = ended(over.clone()) => return,
        };
        match restored {
            Ok(again) => link = again,
            Err(parting) => break (parting, None),
        }
        tracing::warn!(peer, "the network ended the connection to a rank, which was made again");
    };
    queue.close();
    inbox.tell(peer, PeerEvent::Gone(parting), broken);
}

async fn one_connection(
    line: &mut Line,
    link: Link,
    queue: &mut Queue,
    record: &Record,
    inbox: &Inbox,
    over: watch::Receiver<()>,
) -> Ended {
    let (peer, Link { mut reader, mut writer }) = (line.way.peer, link);
    let is_followed = writer.may_lose();
    let (cut, taken, due) = (queue.cut(), AtomicU64::new(0), Notify::new());
    let take = |kind, message: Vec<u8>| match kind {
        FOLLOWER => Ok(true),
        RECEIVED => {
            let count = message.try_into().map_err(|_| "a confirmation of the wrong length".to_owned())?;
            record.confirm(u64::from_le_bytes(count)).map(|()| true)
        }
        _ => {
            if record.receive(message.len()) {
                due.notify_one();
            }
            inbox.put(peer, kind, message)
        }
    };
    let mut reading = pin!(async {
        let violation = loop {
            match reader.read(frame::MESSAGE_BYTES_MAX).await {
                Ok((LEAVE, _)) => return Ended::Gone(None),
                Ok((kind, message)) => match take(kind, message) {
                    Ok(true) => {}
                    Ok(false) => return Ended::Gone(None),
                    Err(what) => break what,
                },
                // The length of a frame.
                Err(error) if error.kind() == io::ErrorKind::Other => break error.to_string(),
                Err(error) => {
                    tracing::debug!(peer, %error, "connection ended");
                    return Ended::Broken(None);
                }
            }
        };
        tracing::warn!(peer, violation, "closing the connection to a rank that violated the protocol");
        Ended::Gone(Some(violation))
    });
    let sending = async {
        for (kind, message) in record.unconfirmed() {
            writer.write(kind, &message).await?;
        }
        loop {
            let next = tokio::select! {
                biased;
                next = queue.next() => next,
                () = confirm(record, &due) => {
                    if let Some(received) = record.due() {
                        writer.write(RECEIVED, &received.to_le_bytes()).await?;
                    }
                    continue;
                }
            };
            // All senders are dropped.
            let Some((kind, message)) = next else { return writer.write(LEAVE, &[]).await };
            let message = record.send(kind, message);
            // Before the connection may break, after which the message is sent from the record.
            queue.taken(kind, message.len());
            taken.fetch_add(1, Ordering::Relaxed);
            let received = record.due().map(u64::to_le_bytes);
            writer.write_after(received.as_ref().map(|count| (RECEIVED, &count[..])), kind, &message).await?;
            if is_followed && queue.is_empty() {
                writer.write(FOLLOWER, &[]).await?;
            }
        }
    };
    tokio::select! {
        ended = &mut reading => ended,
        sent = sending => {
            let Err(error) = sent else { return Ended::Over };
            tracing::debug!(peer, %error, "connection ended");
            // Messages that arrived before the connection ended are still delivered.
            tokio::select! {
                ended = &mut reading => ended,
                () = ended(over) => Ended::Over,
            }
        }
        () = cut.notified() => Ended::Gone(None),
        () = stall(over.clone(), &taken) => Ended::Over,
        Some(returned) = line.returns.recv() => Ended::Broken(returned),
    }
}

/// Completes once a confirmation is due that no message has taken along.
async fn confirm(record: &Record, due: &Notify) {
    due.notified().await;
    let urgent = async {
        while !record.is_urgent() {
            due.notified().await;
        }
    };
    let _ = timeout(CONFIRM_DELAY, urgent).await;
}

async fn ended(mut over: watch::Receiver<()>) {
    while over.changed().await.is_ok() {}
}

/// Completes when this rank has ended, and the peer makes no progress or takes longer than
/// [`DRAIN`].
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use tokio::net::{TcpListener, TcpSocket};
    use tokio::runtime;
    use tokio::sync::mpsc::unbounded_channel;

    use super::super::again::Way;
    use super::super::launch::Launch;
    use super::super::link::{Common, End};
    use super::super::outgoing::Outgoing;
    use super::*;

    #[test]
    fn an_empty_message_follows_the_last_that_waits() {
        let followed = async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let common = Common::new(&Launch::new(0, 2, "127.0.0.1:1").unwrap(), None);
            // A different address, as between hosts.
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            let ours = Link::new(ours, End::Connected, &common).await.unwrap();
            let mut theirs = Link::new(listener.accept().await.unwrap().0, End::Accepted, &common).await.unwrap();
            let outgoing = Outgoing::new(2);
            let queue = outgoing.open(1);
            outgoing.send_peer_message(1, vec![1]);
            outgoing.send_peer_message(1, vec![2]);
            let ((in_step, _calls), (peer_message, messages)) = (channel(), channel());
            let mailbox = Arc::new(Mailbox::new(0, 2, Duration::from_secs(60)));
            let inbox = Inbox { in_step, held: Held::new(2), peer_message, mailbox, wake: Arc::new(|| {}) };
            let (_alive, over) = watch::channel(());
            let (_sender, returns) = unbounded_channel();
            let addresses = vec!["127.0.0.1:1".parse().unwrap()];
            let local = "127.0.0.1".parse().unwrap();
            let way = Way { own: 0, peer: 1, local, mtu: None, addresses, tag: 0, session: 0, common };
            let line = Line { way, returns };
            let serving = tokio::spawn(connection(line, ours, queue, inbox, over));
            for expected in [(PEER_MESSAGE, vec![1]), (PEER_MESSAGE, vec![2]), (FOLLOWER, vec![])] {
                assert_eq!(theirs.reader.read(100).await.unwrap(), expected);
            }
            theirs.writer.write(FOLLOWER, &[]).await.unwrap();
            theirs.writer.write(PEER_MESSAGE, &[3]).await.unwrap();
            tokio::task::yield_now().await;
            drop(theirs);
            serving.await.unwrap();
            assert_eq!(messages.try_recv().unwrap(), (1, PeerEvent::Message(vec![3])));
        };
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { timeout(Duration::from_secs(60), followed).await }).unwrap();
    }
}
