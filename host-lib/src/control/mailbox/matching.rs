//! Matching of point-to-point messages and receives: one rank's side, without I/O.
//!
//! How: as in MPI. A short message is sent eagerly ("unasked"), within a buffer limit of the
//! receiver. Any other message is announced, and sent when a matching receive asks for it
//! (rendezvous). Messages of a sender with the same tag match in order, receives in the order in
//! which they were posted, whatever their sizes.
//! Limits: see [`Limits`]. After each call the owner drains `take_outbox` and `take_finished`.

mod incoming;
mod limits;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use self::limits::{cost, room};
use super::message::{Note, Tag};
use crate::control::ControlError;

pub(crate) use self::limits::{LIMITS, Limits};

/// A completed point-to-point message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Sender of a received message, or receiver of a sent one.
    pub rank: usize,
    /// Received bytes; empty for a sent message.
    pub bytes: Vec<u8>,
}

/// Number of a send or receive of this rank, in order.
pub(super) type TransferId = u64;
/// Connection generation and sender's number.
type Key = (u32, u64);

#[derive(Debug, Default)]
struct Peer {
    gone: Option<ControlError>,
    connection: u32,
    /// Cost of eager messages that the peer has not matched.
    sent_unasked: usize,
    sending: BTreeMap<TransferId, Sending>,
    /// Messages without a receive, or incomplete.
    incoming: HashMap<Key, Incoming>,
    /// Cost of eager messages without a receive.
    kept: usize,
    announced: usize,
    /// Matched messages that are not fully requested.
    to_ask: VecDeque<Key>,
    /// Bytes requested and not received.
    asked: usize,
}

#[derive(Debug)]
struct Sending {
    bytes: Vec<u8>,
    sent: usize,
}

#[derive(Debug)]
struct Incoming {
    tag: Tag,
    bytes: u64,
    data: Vec<u8>,
    unasked: bool,
    asked: u64,
    receive: Option<TransferId>,
    /// Arrival number, if it had no receive.
    arrival: u64,
    /// Unmatched send of this rank to itself.
    own: Option<TransferId>,
}

#[derive(Debug)]
struct Receive {
    from: Option<usize>,
    tag: Tag,
    matched: Option<(usize, Key)>,
}

#[derive(Debug)]
pub(super) struct Matching {
    own: usize,
    limits: Limits,
    peers: Vec<Peer>,
    receives: HashMap<TransferId, Receive>,
    /// Receives without a message.
    posted: HashMap<(Option<usize>, Tag), BTreeSet<TransferId>>,
    /// Messages without a receive, by arrival.
    arrived: HashMap<(usize, Tag), BTreeMap<u64, Key>>,
    arrivals: u64,
    next: TransferId,
    skip_gone: bool,
    outbox: Vec<(usize, u32, Vec<u8>)>,
    finished: Vec<(TransferId, Result<Message, ControlError>)>,
}

impl Matching {
    pub fn new(own: usize, ranks: usize, limits: Limits) -> Self {
        Self {
            own,
            limits,
            peers: (0..ranks).map(|_| Peer { connection: 1, ..Peer::default() }).collect(),
            receives: HashMap::new(),
            posted: HashMap::new(),
            arrived: HashMap::new(),
            arrivals: 0,
            next: 0,
            skip_gone: false,
            outbox: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Returns rank, connection generation and bytes.
    pub fn take_outbox(&mut self) -> Vec<(usize, u32, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }

    pub fn take_finished(&mut self) -> Vec<(TransferId, Result<Message, ControlError>)> {
        std::mem::take(&mut self.finished)
    }

    pub fn own(&self) -> usize {
        self.own
    }

    /// Lets receives from any rank continue while some ranks are gone.
    pub fn skip_gone(&mut self) {
        self.skip_gone = true;
    }

    pub fn send(&mut self, to: usize, tag: Tag, bytes: Vec<u8>) -> TransferId {
        let id = self.next_id();
        let sent = Ok(Message { rank: to, bytes: Vec::new() });
        let (cost, limits) = (cost(bytes.len() as u64, self.limits), self.limits);
        let Some(peer) = self.peers.get_mut(to) else {
            let error = ControlError::NoSuchRank { rank: to, ranks: self.peers.len() };
            self.finished.push((id, Err(error)));
            return id;
        };
        if to == self.own {
            let unasked = peer.kept.saturating_add(cost) <= limits.unasked_bytes;
            let own = Some(id).filter(|_| !unasked);
            let length = bytes.len() as u64;
            let incoming =
                Incoming { tag, bytes: length, data: bytes, unasked, asked: length, receive: None, arrival: 0, own };
            match unasked {
                true => {
                    peer.kept += cost;
                    self.finished.push((id, sent));
                }
                false => peer.announced += 1,
            }
            self.arrive(to, (0, id), incoming);
        } else if let Some(error) = &peer.gone {
            self.finished.push((id, Err(error.clone())));
        } else if peer.sent_unasked.saturating_add(cost) <= limits.unasked_bytes {
            peer.sent_unasked += cost;
            let (first, rest) = bytes.split_at(bytes.len().min(limits.chunk_bytes));
            self.tell(to, Note::Begin { id, tag, bytes: bytes.len() as u64, unasked: true, data: first });
            rest.chunks(limits.chunk_bytes).for_each(|data| self.tell(to, Note::Data { id, data }));
            self.finished.push((id, sent));
        } else if peer.sending.len() >= limits.announced {
            let error = ControlError::TooMany { what: "sends to one rank", limit: limits.announced };
            self.finished.push((id, Err(error)));
        } else {
            let length = bytes.len() as u64;
            peer.sending.insert(id, Sending { bytes, sent: 0 });
            self.tell(to, Note::Begin { id, tag, bytes: length, unasked: false, data: &[] });
        }
        id
    }

    pub fn receive(&mut self, from: Option<usize>, tag: Tag) -> TransferId {
        let id = self.next_id();
        if let Some(rank) = from.filter(|rank| *rank >= self.peers.len()) {
            let error = ControlError::NoSuchRank { rank, ranks: self.peers.len() };
            self.finished.push((id, Err(error)));
        } else if self.receives.len() >= self.limits.receives {
            let error = ControlError::TooMany { what: "receives", limit: self.limits.receives };
            self.finished.push((id, Err(error)));
        } else {
            self.receives.insert(id, Receive { from, tag, matched: None });
            self.post(id);
        }
        id
    }

    fn post(&mut self, id: TransferId) {
        let Some(Receive { from, tag, .. }) = self.receives.get(&id) else { return };
        let (from, tag) = (*from, *tag);
        let senders = match from {
            Some(rank) => rank..rank + 1,
            None => 0..self.peers.len(),
        };
        let first = |rank: usize| {
            let (arrival, key) = self.arrived.get(&(rank, tag))?.first_key_value()?;
            Some((*arrival, rank, *key))
        };
        if let Some((arrival, rank, key)) = senders.filter_map(first).min() {
            self.pick_up(arrival, (rank, tag));
            return self.attach(rank, key, id);
        }
        if let Some(error) = self.hopeless(from) {
            self.receives.remove(&id);
            return self.finished.push((id, Err(error)));
        }
        self.posted.entry((from, tag)).or_default().insert(id);
    }

    /// Returns the error of a receive whose sender is gone. A receive from any rank fails if any
    /// rank is gone or, after `skip_gone`, all others.
    fn hopeless(&self, from: Option<usize>) -> Option<ControlError> {
        let gone = |rank: usize| self.peers[rank].gone.clone();
        match from {
            Some(rank) => gone(rank),
            None if self.skip_gone => {
                let others = (0..self.peers.len()).filter(|rank| *rank != self.own);
                others.map(gone).collect::<Option<Vec<_>>>()?.pop()
            }
            None => (0..self.peers.len()).find_map(gone),
        }
    }

    /// The receiver keeps eager messages. Announced ones are withdrawn by the sender, or refused by
    /// the receiver.
    pub fn cancel(&mut self, id: TransferId, to_or_from: Option<usize>) {
        if let Some(receive) = self.receives.remove(&id) {
            match receive.matched {
                Some((rank, key)) => {
                    let unasked = self.peers[rank].incoming.get(&key).is_none_or(|incoming| incoming.unasked);
                    self.forget(rank, key);
                    if !unasked {
                        self.tell(
                            rank,
                            Note::Refused { id: key.1, reason: "the receive was cancelled before it was complete" },
                        );
                        self.ask(rank);
                    }
                }
                None => self.unpost(id, (receive.from, receive.tag)),
            }
        }
        let Some(peer) = to_or_from.and_then(|to| self.peers.get_mut(to).map(|peer| (to, peer))) else { return };
        let (to, peer) = peer;
        if to == self.own {
            // A message to this rank itself is dropped with its bytes.
            let key = (0, id);
            if peer.incoming.get(&key).is_some_and(|incoming| incoming.own == Some(id)) {
                self.forget(to, key);
            }
        } else if peer.sending.remove(&id).is_some() {
            self.tell(to, Note::Withdrawn { id });
        }
    }

    /// Grows whenever bytes of the operation were sent or received.
    pub fn progress(&self, id: TransferId, to: Option<usize>) -> u64 {
        if let Some(receive) = self.receives.get(&id) {
            let incoming = receive.matched.and_then(|(rank, key)| self.peers[rank].incoming.get(&key));
            return incoming.map_or(0, |incoming| 1 + incoming.data.len() as u64);
        }
        let sending = to.and_then(|to| self.peers.get(to)?.sending.get(&id));
        sending.map_or(0, |sending| sending.sent as u64)
    }

    fn next_id(&mut self) -> TransferId {
        self.next += 1;
        self.next
    }

    fn tell(&mut self, to: usize, note: Note<'_>) {
        if self.peers[to].gone.is_none() {
            self.outbox.push((to, self.peers[to].connection, note.encode()));
        }
    }

    fn arrive(&mut self, from: usize, key: Key, mut incoming: Incoming) {
        let tag = incoming.tag;
        incoming.arrival = self.arrivals + 1;
        self.peers[from].incoming.insert(key, incoming);
        let first = |from| self.posted.get(&(from, tag)).and_then(BTreeSet::first);
        let receive = [first(Some(from)), first(None)].into_iter().flatten().min().copied();
        match receive {
            Some(id) => {
                let from_any = self.receives.get(&id).and_then(|receive| receive.from);
                self.unpost(id, (from_any, tag));
                self.attach(from, key, id);
            }
            None => {
                self.arrivals += 1;
                self.arrived.entry((from, tag)).or_default().insert(self.arrivals, key);
            }
        }
    }

    fn attach(&mut self, from: usize, key: Key, id: TransferId) {
        let limits = self.limits;
        let peer = &mut self.peers[from];
        let Some(incoming) = peer.incoming.get_mut(&key) else { return };
        incoming.receive = Some(id);
        self.receives.entry(id).and_modify(|receive| receive.matched = Some((from, key)));
        let (bytes, unasked, own) = (incoming.bytes, incoming.unasked, incoming.own);
        let is_of_connection = from == self.own || key.0 == peer.connection;
        if unasked {
            let cost = cost(bytes, limits);
            if is_of_connection {
                peer.kept = peer.kept.saturating_sub(cost);
            }
            if from != self.own && is_of_connection {
                self.tell(from, Note::Matched { cost: cost as u64 });
            }
        } else {
            peer.announced = peer.announced.saturating_sub(1);
            if let Some(own) = own {
                self.finished.push((own, Ok(Message { rank: from, bytes: Vec::new() })));
            } else {
                if let Err(error) = room(&mut incoming.data, from, bytes) {
                    let reason = error.to_string();
                    self.forget(from, key);
                    self.receives.remove(&id);
                    self.tell(from, Note::Refused { id: key.1, reason: &reason });
                    return self.finished.push((id, Err(error)));
                }
                peer.to_ask.push_back(key);
                self.ask(from);
            }
        }
        self.deliver(from, key);
    }

    /// Requests more bytes, up to the limit.
    fn ask(&mut self, from: usize) {
        let limits = self.limits;
        loop {
            let peer = &mut self.peers[from];
            let Some(key) = peer.to_ask.front().copied() else { return };
            let Some(incoming) = peer.incoming.get_mut(&key) else {
                peer.to_ask.pop_front();
                continue;
            };
            let left = incoming.bytes - incoming.asked;
            let more = left.min(limits.asked_bytes.saturating_sub(peer.asked) as u64);
            if more == 0 && left > 0 {
                return;
            }
            incoming.asked += more;
            peer.asked += more as usize;
            let note = Note::Ask { id: key.1, up_to: incoming.asked };
            if more == left {
                peer.to_ask.pop_front();
            }
            self.tell(from, note);
        }
    }

    /// Completes a receive whose message is complete.
    fn deliver(&mut self, from: usize, key: Key) {
        let incoming = self.peers[from].incoming.get(&key);
        let whole = incoming.filter(|incoming| incoming.data.len() as u64 == incoming.bytes);
        let Some(id) = whole.and_then(|incoming| incoming.receive) else { return };
        let Some(incoming) = self.peers[from].incoming.remove(&key) else { return };
        self.receives.remove(&id);
        self.finished.push((id, Ok(Message { rank: from, bytes: incoming.data })));
    }

    /// Discards a message, and returns its receive.
    fn forget(&mut self, from: usize, key: Key) -> Option<TransferId> {
        let limits = self.limits;
        let peer = &mut self.peers[from];
        let incoming = peer.incoming.remove(&key)?;
        let coming = if incoming.unasked { 0 } else { incoming.asked - incoming.data.len() as u64 };
        if from != self.own {
            peer.asked = peer.asked.saturating_sub(coming as usize);
        }
        if incoming.receive.is_none() {
            match incoming.unasked {
                true => peer.kept = peer.kept.saturating_sub(cost(incoming.bytes, limits)),
                false => peer.announced = peer.announced.saturating_sub(1),
            }
            self.pick_up(incoming.arrival, (from, incoming.tag));
        }
        incoming.receive
    }

    fn pick_up(&mut self, arrival: u64, place: (usize, Tag)) {
        if let Some(queue) = self.arrived.get_mut(&place) {
            queue.remove(&arrival);
            if queue.is_empty() {
                self.arrived.remove(&place);
            }
        }
    }

    fn unpost(&mut self, id: TransferId, place: (Option<usize>, Tag)) {
        if let Some(queue) = self.posted.get_mut(&place) {
            queue.remove(&id);
            if queue.is_empty() {
                self.posted.remove(&place);
            }
        }
    }

    fn finish_sending(&mut self, to: usize, id: TransferId, result: Result<Message, ControlError>) {
        if self.peers[to].sending.remove(&id).is_some() {
            self.finished.push((id, result));
        }
    }
}

#[cfg(any(test, fuzzing))]
pub(crate) mod hostile;
#[cfg(test)]
mod tests;
