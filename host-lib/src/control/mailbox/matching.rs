//! Which message goes to which receive, and when it is sent: one rank's side, without I/O.
//!
//! Why: messages come before somebody asks for them and receives are posted before anything comes, in any number and order, while
//! collectives run; neither may hold up what has another tag, and what waits must not grow for ever.
//! How: as MPI does it. A message that is short enough for what the receiver keeps is sent unasked; any other is announced, and sent
//! once a receive has asked for it. Messages of a sender with the same tag are matched in the order in which they were sent, receives
//! in the order in which they were posted, whatever their sizes.
//! Limits: see [`Limits`]. Call order: any call, then `take_outbox` and `take_finished`.

mod incoming;
mod limits;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use self::limits::{cost, room};
use super::message::{Note, Tag};
use crate::control::ControlError;

pub(crate) use self::limits::{LIMITS, Limits};

/// A message from point to point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The other rank: which has sent it, or to which it was sent.
    pub rank: usize,
    /// What was received; nothing for one that was sent.
    pub bytes: Vec<u8>,
}

/// Number of a send or receive of this rank, in the order in which they began.
pub(super) type TransferId = u64;
/// A message of a peer: number of the connection, and the sender's number.
type Key = (u32, u64);

#[derive(Debug, Default)]
struct Peer {
    /// Why there is no connection.
    gone: Option<ControlError>,
    connection: u32,
    /// Cost of what was sent to it unasked, and was not matched there.
    sent_unasked: usize,
    /// Messages to it that are announced, and those that it asked for.
    sending: BTreeMap<TransferId, Sending>,
    /// Messages of it that have no receive, or are not complete.
    incoming: HashMap<Key, Incoming>,
    /// Cost of what it has sent unasked, and was not matched here.
    kept: usize,
    announced: usize,
    /// Messages of which not all was asked for yet.
    to_ask: VecDeque<Key>,
    /// Bytes that were asked for, and have not come.
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
    /// Its number among those that had no receive when they came.
    arrival: u64,
    /// Of a message to this rank itself, which waits for room.
    own: Option<TransferId>,
}

#[derive(Debug)]
struct Receive {
    from: Option<usize>,
    tag: Tag,
    matched: Option<(usize, Key)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Matching {
    own: usize,
    limits: Limits,
    peers: Vec<Peer>,
    receives: HashMap<TransferId, Receive>,
    /// Receives without a message, in order.
    posted: HashMap<(Option<usize>, Tag), BTreeSet<TransferId>>,
    /// Messages without a receive, by the number of their arrival.
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

    /// What is to be sent: to whom, over which of the connections to it, and what.
    pub fn take_outbox(&mut self) -> Vec<(usize, u32, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }

    /// What has come to its end.
    pub fn take_finished(&mut self) -> Vec<(TransferId, Result<Message, ControlError>)> {
        std::mem::take(&mut self.finished)
    }

    /// From now on ranks that are gone fail no receive from any rank.
    pub fn skip_gone(&mut self) {
        self.skip_gone = true;
    }

    /// Begins to send.
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

    /// Begins to receive; `from`: `None`: from any rank.
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

    /// Matches a receive, or lets it wait.
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

    /// Why a receive from this rank, or any, will get nothing that is not there yet.
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

    /// Ends a send or receive: nobody wants it any more. What the peer keeps unasked stays there; what else was sent ends there, too.
    pub fn cancel(&mut self, id: TransferId, to_or_from: Option<usize>) {
        if let Some(receive) = self.receives.remove(&id) {
            match receive.matched {
                Some((rank, key)) => {
                    let unasked = self.peers[rank].incoming.get(&key).is_none_or(|incoming| incoming.unasked);
                    self.forget(rank, key);
                    if !unasked {
                        self.tell(rank, Note::Refused { id: key.1, reason: "the receive ended before all had come" });
                        self.ask(rank);
                    }
                }
                None => self.unpost(id, (receive.from, receive.tag)),
            }
        }
        let Some(peer) = to_or_from.and_then(|to| self.peers.get_mut(to).map(|peer| (to, peer))) else { return };
        let (to, peer) = peer;
        if to == self.own {
            // It waits here; the bytes go with it.
            let key = (0, id);
            if peer.incoming.get(&key).is_some_and(|incoming| incoming.own == Some(id)) {
                self.forget(to, key);
            }
        } else if peer.sending.remove(&id).is_some() {
            self.tell(to, Note::Withdrawn { id });
        }
    }

    /// How much of a send or receive is done: more each time that something has come or gone.
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

    /// A message begins to come: to the first receive that waits for it.
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

    /// A message has found its receive.
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

    /// Asks a peer for more of what is wanted.
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

    /// Hands a message to its receive, if both are there and the message is whole.
    fn deliver(&mut self, from: usize, key: Key) {
        let incoming = self.peers[from].incoming.get(&key);
        let whole = incoming.filter(|incoming| incoming.data.len() as u64 == incoming.bytes);
        let Some(id) = whole.and_then(|incoming| incoming.receive) else { return };
        let Some(incoming) = self.peers[from].incoming.remove(&key) else { return };
        self.receives.remove(&id);
        self.finished.push((id, Ok(Message { rank: from, bytes: incoming.data })));
    }

    /// A message will not be received any more; its receive.
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

    /// A message does not wait for a receive any more.
    fn pick_up(&mut self, arrival: u64, place: (usize, Tag)) {
        if let Some(queue) = self.arrived.get_mut(&place) {
            queue.remove(&arrival);
            if queue.is_empty() {
                self.arrived.remove(&place);
            }
        }
    }

    /// A receive does not wait for a message any more.
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
