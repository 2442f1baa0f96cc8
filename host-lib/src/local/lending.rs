//! Memory of this rank ([`Buffer`](crate::Buffer)) that other ranks of its host read in place.
//!
//! A peer receives the memory's file before the first datagram from it
//! ([`regions`](super::regions)). [`Lending`] tracks unread payloads, and copies them into the ring
//! before the memory returns to its owner.
//!
//! Limits: [`REGIONS_MAX`] files for each peer; other payloads go through the ring. All pages of a
//! lent file are allocated. Nothing is lent under `ulimit -v`, since mappings count against a
//! peer's limit.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};

use super::meet::send_flags;
use super::regions::REGIONS_MAX;
use super::ring::{LINE_BYTES, Place, Sender};
use crate::buffer::{self, Pages};

/// Minimum payload that is read in place.
const PAYLOAD_BYTES_MIN: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Lending {
    given: Vec<Given>,
    next: u64,
    /// Datagrams that the peer may not have read yet, in ring order.
    unread: VecDeque<Unread>,
}

#[derive(Debug)]
struct Given {
    region: u64,
    pages: Weak<Pages>,
    /// Ring line of the notice that the region was freed.
    freed_at: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Readable {
    region: u64,
    addresses: Range<usize>,
    pub pages: Arc<Pages>,
}

#[derive(Debug)]
struct Unread {
    line: u64,
    pages: Arc<Pages>,
    words: Range<usize>,
}

impl Unread {
    fn address(&self) -> usize {
        self.pages.addresses().start + self.words.start * size_of::<u64>()
    }
}

impl Lending {
    /// Returns the location of a payload if the peer can read it in place. `last`: memory of the
    /// previous payload.
    pub fn place(&mut self, socket: &OwnedFd, payload: &[u8], last: &mut Option<Readable>) -> Option<Place> {
        if payload.len() < PAYLOAD_BYTES_MIN || !payload.len().is_multiple_of(LINE_BYTES) {
            return None;
        }
        let begin = payload.as_ptr().addr();
        let payload = begin..begin + payload.len();
        let is_it =
            |readable: &Readable| readable.addresses.start <= payload.start && payload.end <= readable.addresses.end;
        if !last.as_ref().is_some_and(is_it) {
            let pages = buffer::find(&payload)?;
            let known = self.given.iter().find(|given| std::ptr::eq(given.pages.as_ptr(), Arc::as_ptr(&pages)));
            let region = match known {
                Some(given) => given.region,
                None => self.give(socket, &pages)?,
            };
            *last = Some(Readable { region, addresses: pages.addresses(), pages });
        }
        let Readable { region, addresses, .. } = last.as_ref()?;
        let offset = begin - addresses.start;
        offset.is_multiple_of(size_of::<u64>()).then_some(Place { region: *region, word: offset / size_of::<u64>() })
    }

    pub fn sent(&mut self, line: u64, place: Place, bytes: usize, pages: &Arc<Pages>) {
        let words = place.word..place.word + bytes / size_of::<u64>();
        self.unread.push_back(Unread { line, pages: pages.clone(), words });
    }

    fn give(&mut self, socket: &OwnedFd, pages: &Arc<Pages>) -> Option<u64> {
        let file = Some(pages).filter(|_| self.given.len() < REGIONS_MAX).and_then(|pages| pages.share())?;
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        let files = [file];
        control.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(socket, &[IoSlice::new(&[1])], &mut control, send_flags()).ok()?;
        let region = self.next;
        self.next += 1;
        self.given.push(Given { region, pages: Arc::downgrade(pages), freed_at: None });
        Some(region)
    }

    #[cfg(test)]
    pub fn unread(&self) -> usize {
        self.unread.len()
    }

    pub fn is_any_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Copies unread payloads at these addresses into the ring.
    pub fn settle(&mut self, sender: &Sender, ring: &[AtomicU64], addresses: &Range<usize>) {
        self.unread.retain(|unread| unread.line >= sender.read());
        let changes = |unread: &&Unread| addresses.contains(&unread.address());
        let changing = self.unread.iter().filter(changes);
        sender.settle(ring, changing.map(|unread| (unread.line, &unread.pages.words()[unread.words.clone()])));
        self.unread.retain(|unread| !changes(&unread));
    }

    /// Sends notices of freed regions. A region counts against the limit until the peer has read
    /// its notice, since the file of a new region may arrive earlier.
    pub fn free(&mut self, sender: &mut Sender, ring: &[AtomicU64]) {
        self.given.retain_mut(|given| {
            if given.pages.strong_count() == 0 && given.freed_at.is_none() {
                let line = sender.written();
                given.freed_at = sender.push_freed(ring, given.region).then_some(line);
            }
            given.freed_at.is_none_or(|line| sender.read() <= line)
        });
    }

    pub fn is_any_freed(&self) -> bool {
        self.given.iter().any(|given| given.freed_at.is_some())
    }
}
