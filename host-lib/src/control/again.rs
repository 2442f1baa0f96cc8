//! New connections between live processes, after a firewall or a NAT table broke one.
//!
//! Why: without the connection, each of the two ranks would consider the other one gone, and the
//! ranks would no longer agree on who takes part.
//! How: a rank keeps sent messages until the peer has confirmed them. After a break the higher rank
//! connects to the lower one, as in the bootstrap. Both exchange how many messages they have
//! received, and send the rest. The lower rank asks the higher one for it, which may not have
//! noticed the break. A process that has ended refuses connections, so the wait for it is short.
//! Limits: a rank is gone after [`AGAIN`] without a message over a new connection. Both processes
//! may then still run, which errors report ([`Parting::Cut`]).

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, timeout};

use super::bootstrap::{Again, Answer, PeerHello};
use super::link::{Common, End, Link, connect};
use super::spares;

/// Time for a new connection, from the break.
pub(super) const AGAIN: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_millis(50);
/// Limit of one attempt; the peer may not answer.
const ATTEMPT: Duration = Duration::from_secs(1);
/// Received bytes or messages after which they are confirmed, with the next message to the peer or
/// after [`CONFIRM_DELAY`].
const CONFIRM_BYTES: usize = 64 << 10;
const CONFIRM_MESSAGES: u64 = 64;
pub(super) const CONFIRM_DELAY: Duration = Duration::from_millis(1);
/// Received bytes that are confirmed without delay.
const URGENT_BYTES: usize = 1 << 20;
/// More than sockets buffer. Only a peer that violates the protocol confirms later.
const KEPT_BYTES_MAX: usize = 128 << 20;

/// A new connection and the number of messages that the peer has received; `None` if the peer only
/// asks for one.
pub(super) type Returned = Option<(Link, u64)>;

/// End of all connections to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// The peer ended the connection, or refuses new ones.
    Ended,
    /// The network broke the connection, and none could be made. The peer may still run.
    Cut,
}

/// Messages exchanged with a peer, over all connections.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    received: u64,
    /// Part of `received` that this rank has confirmed, and bytes since then.
    told: u64,
    untold_bytes: usize,
    /// Sent messages that the peer has confirmed.
    confirmed: u64,
    /// Kind and content of later ones.
    sent: VecDeque<(u8, Arc<Vec<u8>>)>,
    sent_bytes: usize,
}

impl Counts {
    fn is_due(&self) -> bool {
        self.untold_bytes >= CONFIRM_BYTES || self.received - self.told >= CONFIRM_MESSAGES
    }

    fn tell(&mut self) -> u64 {
        (self.told, self.untold_bytes) = (self.received, 0);
        self.received
    }

    fn drop_first(&mut self) {
        if let Some((_, message)) = self.sent.pop_front() {
            self.sent_bytes -= message.len();
            Arc::into_inner(message).into_iter().for_each(spares::give);
            self.confirmed += 1;
        }
    }
}

impl Record {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a received message. Returns whether to confirm it soon.
    pub fn receive(&self, bytes: usize) -> bool {
        let mut counts = self.counts();
        counts.received += 1;
        counts.untold_bytes += bytes;
        counts.is_due()
    }

    pub fn is_urgent(&self) -> bool {
        self.counts().untold_bytes >= URGENT_BYTES
    }

    /// As [`tell`](Self::tell), if a confirmation is due.
    pub fn due(&self) -> Option<u64> {
        let mut counts = self.counts();
        counts.is_due().then(|| counts.tell())
    }

    /// Returns the number of received messages, which the caller reports to the peer.
    pub fn tell(&self) -> u64 {
        self.counts().tell()
    }

    /// Keeps a message until it is confirmed.
    pub fn send(&self, kind: u8, message: Vec<u8>) -> Arc<Vec<u8>> {
        let (message, mut counts) = (Arc::new(message), self.counts());
        counts.sent_bytes += message.len();
        counts.sent.push_back((kind, message.clone()));
        // Without them, a break is final.
        while counts.sent_bytes > KEPT_BYTES_MAX {
            counts.drop_first();
        }
        message
    }

    /// Drops messages that the peer has received.
    ///
    /// # Errors
    /// If it cannot have received that many, or confirmed more before.
    pub fn confirm(&self, received: u64) -> Result<(), String> {
        let mut counts = self.counts();
        let (first, last) = (counts.confirmed, counts.confirmed + counts.sent.len() as u64);
        if !(first..=last).contains(&received) {
            return Err(format!("a confirmation of {received} messages, expected {first} to {last}"));
        }
        (first..received).for_each(|_| counts.drop_first());
        Ok(())
    }

    pub fn unconfirmed(&self) -> Vec<(u8, Arc<Vec<u8>>)> {
        self.counts().sent.iter().cloned().collect()
    }

    /// Grows with messages that arrive, here or at the peer.
    pub fn progress(&self) -> u64 {
        let counts = self.counts();
        counts.received + counts.confirmed
    }
}

/// The way to a peer, and the connections that it makes again.
#[derive(Debug)]
pub(super) struct Line {
    pub way: Way,
    /// From the [door](super::door).
    pub returns: UnboundedReceiver<Returned>,
}

#[derive(Debug)]
pub(super) struct Way {
    pub own: usize,
    pub peer: usize,
    pub local: IpAddr,
    pub mtu: Option<usize>,
    pub addresses: Vec<SocketAddr>,
    pub tag: u64,
    /// Session of this process.
    pub session: u64,
    pub common: Common,
}

impl Line {
    /// Returns a new connection. Retries without end.
    ///
    /// # Errors
    /// If the peer's process has ended, or considers this one gone.
    pub async fn restore(&mut self, record: &Record, returned: Returned) -> Result<Link, Parting> {
        let (link, theirs) = match self.way.own > self.way.peer {
            true => self.way.connect(record).await?,
            false => self.wait(record, returned).await?,
        };
        record.confirm(theirs).map_err(|_| Parting::Cut)?;
        Ok(link)
    }

    async fn wait(&mut self, record: &Record, mut returned: Returned) -> Result<(Link, u64), Parting> {
        loop {
            if let Some((mut link, theirs)) = returned.take()
                && link.writer.write_json(&Answer::Again { received: record.tell() }).await.is_ok()
            {
                return Ok((link, theirs));
            }
            returned = tokio::select! {
                biased;
                // Closed if this rank has ended.
                returned = self.returns.recv() => returned.ok_or(Parting::Ended)?,
                () = self.way.ask() => return Err(Parting::Ended),
            };
        }
    }
}

impl Way {
    async fn connect(&self, record: &Record) -> Result<(Link, u64), Parting> {
        loop {
            let received = record.tell();
            let call = async {
                let mut link = self.call(Some(received)).await?;
                let answer = link.reader.read_json::<Answer>().await?;
                Ok::<_, io::Error>((link, answer))
            };
            match timeout(ATTEMPT, call).await {
                Ok(Ok((link, Answer::Again { received }))) => return Ok((link, received)),
                // The peer runs, and has given up.
                Ok(Ok(_)) => return Err(Parting::Cut),
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(Parting::Ended),
                _ => sleep(RETRY).await,
            }
        }
    }

    /// Asks the peer to connect. Returns if its process has ended.
    async fn ask(&self) {
        loop {
            match timeout(ATTEMPT, self.call(None)).await {
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => return,
                // The peer needs time to connect.
                _ => sleep(ATTEMPT / 2).await,
            }
        }
    }

    /// Greets the peer. `received`: number of received messages, `None` to ask for a connection.
    async fn call(&self, received: Option<u64>) -> io::Result<Link> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for address in &self.addresses {
            match connect(self.local, *address, self.mtu).await {
                Ok(stream) => {
                    let mut link = Link::new(stream, End::Connected, &self.common).await?;
                    let again = Some(Again { session: self.session, received });
                    let hello = PeerHello { tag: self.tag, rank: self.own, member: None, again };
                    link.writer.write_json(&hello).await?;
                    return Ok(link);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept_until_they_are_confirmed_and_no_longer() {
        let record = Record::default();
        for number in 0..5 {
            record.send(1, vec![number]);
        }
        record.confirm(2).unwrap();
        let kept = || record.unconfirmed().iter().map(|(_, message)| message[0]).collect::<Vec<_>>();
        assert_eq!(kept(), [2, 3, 4]);
        for impossible in [1, 6] {
            let expected = format!("a confirmation of {impossible} messages, expected 2 to 5");
            assert_eq!(record.confirm(impossible), Err(expected));
        }
        record.confirm(5).unwrap();
        assert!(kept().is_empty());
    }

    #[test]
    fn many_messages_or_many_bytes_are_confirmed() {
        let record = Record::default();
        assert_eq!((1..=CONFIRM_MESSAGES).filter(|_| record.receive(1)).count(), 1);
        assert_eq!((record.due(), record.due()), (Some(CONFIRM_MESSAGES), None));
        assert!(!record.receive(CONFIRM_BYTES - 1) && record.receive(1) && !record.is_urgent());
        assert!(record.receive(URGENT_BYTES) && record.is_urgent());
        assert_eq!((record.due(), record.is_urgent()), (Some(CONFIRM_MESSAGES + 3), false));
    }
}
