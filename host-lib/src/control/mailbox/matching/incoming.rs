//! Events from peers: their notes, and the end of their connections.

use super::super::message::{Note, Tag};
use super::limits::cost;
use super::{Incoming, Key, Matching, Message};
use crate::control::ControlError;

impl Matching {
    /// # Errors
    /// If the note violates the protocol.
    pub fn handle(&mut self, from: usize, note: &[u8]) -> Result<(), String> {
        let Some(note) = Note::decode(note) else { return Err("a message that cannot be read".into()) };
        let limits = self.limits;
        let cost = |bytes| cost(bytes, limits);
        let peer = &mut self.peers[from];
        match note {
            Note::Begin { id, tag, bytes, unasked, data } => {
                let key = (peer.connection, id);
                if peer.incoming.contains_key(&key) {
                    return Err(format!("a second message {id}"));
                }
                if unasked {
                    peer.kept = peer.kept.saturating_add(cost(bytes));
                    if peer.kept > limits.unasked_bytes {
                        let (kept, most) = (peer.kept, limits.unasked_bytes);
                        return Err(format!("{kept} bytes of messages without a receive, at most {most}"));
                    }
                } else {
                    peer.announced += 1;
                    if peer.announced > limits.announced {
                        return Err(format!("more than {} announced messages", limits.announced));
                    }
                }
                if data.len() as u64 > if unasked { bytes } else { 0 } {
                    return Err(format!("{} bytes with a message of {bytes}", data.len()));
                }
                let asked = if unasked { bytes } else { 0 };
                let data = data.to_vec();
                self.arrive(
                    from,
                    key,
                    Incoming { tag, bytes, data, unasked, asked, receive: None, arrival: 0, own: None },
                );
            }
            Note::Data { id, data } => {
                let key = (peer.connection, id);
                // The message may have been discarded meanwhile.
                let Some(incoming) = peer.incoming.get_mut(&key) else { return Ok(()) };
                let left = incoming.asked - incoming.data.len() as u64;
                if data.len() as u64 > left {
                    return Err(format!("{} bytes of message {id}, expected at most {left}", data.len()));
                }
                incoming.data.extend_from_slice(data);
                if !incoming.unasked {
                    peer.asked -= data.len();
                    self.ask(from);
                }
                self.deliver(from, key);
            }
            Note::Ask { id, up_to } => {
                let Some(sending) = peer.sending.get_mut(&id) else { return Ok(()) };
                let up_to = usize::try_from(up_to).unwrap_or(usize::MAX).min(sending.bytes.len());
                let (begin, connection) = (sending.sent.min(up_to), peer.connection);
                let data = sending.bytes[begin..up_to].chunks(limits.chunk_bytes);
                self.outbox.extend(data.map(|data| (from, connection, Note::Data { id, data }.encode())));
                sending.sent = up_to.max(sending.sent);
                if sending.sent == sending.bytes.len() {
                    self.finish_sending(from, id, Ok(Message { rank: from, bytes: Vec::new() }));
                }
            }
            Note::Matched { cost } => {
                let cost = usize::try_from(cost).ok().filter(|cost| *cost <= peer.sent_unasked);
                peer.sent_unasked -= cost.ok_or("more taken than was sent")?;
            }
            Note::Withdrawn { id } => {
                let key = (peer.connection, id);
                if peer.incoming.get(&key).is_some_and(|incoming| !incoming.unasked) {
                    // The receive fails, because later receives already match later messages.
                    if let Some(receive) = self.forget(from, key) {
                        self.receives.remove(&receive);
                        let reason = "the send was cancelled before it was complete".into();
                        self.finished.push((receive, Err(ControlError::GivenUp { rank: from, reason })));
                    }
                    self.ask(from);
                }
            }
            Note::Refused { id, reason } => {
                let reason = reason.to_owned();
                self.finish_sending(from, id, Err(ControlError::GivenUp { rank: from, reason }));
            }
        }
        Ok(())
    }

    pub fn gone(&mut self, rank: usize, error: ControlError) {
        let Some(peer) = self.peers.get_mut(rank) else { return };
        peer.gone = Some(error.clone());
        (peer.sent_unasked, peer.asked) = (0, 0);
        peer.to_ask.clear();
        let sending = std::mem::take(&mut peer.sending);
        self.finished.extend(sending.into_keys().map(|id| (id, Err(error.clone()))));
        // Complete messages may still be received.
        let is_part = |(key, incoming): (&Key, &Incoming)| {
            Some(*key).filter(|_| (incoming.data.len() as u64) < incoming.bytes || !incoming.unasked)
        };
        let parts: Vec<Key> = peer.incoming.iter().filter_map(is_part).collect();
        for key in parts {
            if let Some(id) = self.forget(rank, key) {
                self.receives.remove(&id);
                self.finished.push((id, Err(error.clone())));
            }
        }
        let waiting: Vec<(Option<usize>, Tag)> = self.posted.keys().copied().collect();
        for (from, tag) in waiting.into_iter().filter(|(from, _)| from.is_none_or(|from| from == rank)) {
            let Some(error) = self.hopeless(from) else { continue };
            for id in self.posted.remove(&(from, tag)).into_iter().flatten() {
                self.receives.remove(&id);
                self.finished.push((id, Err(error.clone())));
            }
        }
    }

    pub fn back(&mut self, rank: usize, connection: u32) {
        let Some(peer) = self.peers.get_mut(rank) else { return };
        (peer.gone, peer.connection) = (None, connection);
        (peer.kept, peer.announced) = (0, 0);
    }
}
