//! Memory of this rank that others of its host read where it lies ([`Buffer`](crate::Buffer)), so that it need not be written into a ring.
//!
//! How: a peer gets the file of the memory with the first datagram from it ([`regions`](super::regions)). Until it has read what lies there, [`Lending`] knows of it: before
//! the memory is given back to its owner, what was not read goes into the ring.
//! Limits: [`REGIONS_MAX`] files for each peer, the rest goes through rings. All of their memory is allocated. None is given where the address space of a process is limited
//! (`ulimit -v`): what others map would be missing there for memory that was checked to fit.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};

use super::meet::send_flags;
use super::regions::REGIONS_MAX;
use super::ring::{LINE_BYTES, Place, Sender};
use crate::buffer::{self, Pages};

/// Less than this is written into the ring in any case.
const PAYLOAD_BYTES_MIN: usize = 1024;

/// What a peer reads where it lies.
#[derive(Debug, Default)]
pub(super) struct Lending {
    given: Vec<Given>,
    /// Number of the next.
    next: u64,
    /// Datagrams in its ring that the peer may not have read yet, in order.
    unread: VecDeque<Unread>,
}

#[derive(Debug)]
struct Given {
    region: u64,
    pages: Weak<Pages>,
    /// The line that says that it was freed.
    freed_at: Option<u64>,
}

/// Memory that a peer can read.
#[derive(Debug)]
pub(super) struct Readable {
    region: u64,
    addresses: Range<usize>,
    pub pages: Arc<Pages>,
}

#[derive(Debug)]
struct Unread {
    /// Of the ring.
    line: u64,
    pages: Arc<Pages>,
    words: Range<usize>,
}

impl Unread {
    /// Where it begins in this process.
    fn address(&self) -> usize {
        self.pages.addresses().start + self.words.start * size_of::<u64>()
    }
}

impl Lending {
    /// Where the peer at the other end of the socket can read this payload, if it can. `last`: where the payload before lay.
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

    /// A datagram with a payload of so many bytes at this place was written at this line.
    pub fn sent(&mut self, line: u64, place: Place, bytes: usize, pages: &Arc<Pages>) {
        let words = place.word..place.word + bytes / size_of::<u64>();
        self.unread.push_back(Unread { line, pages: pages.clone(), words });
    }

    /// Gives a peer the file of these pages.
    fn give(&mut self, socket: &OwnedFd, pages: &Arc<Pages>) -> Option<u64> {
        if self.given.len() >= REGIONS_MAX || pages.share().is_err() {
            return None;
        }
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        let files = [pages.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(socket, &[IoSlice::new(&[1])], &mut control, send_flags()).ok()?;
        let region = self.next;
        self.next += 1;
        self.given.push(Given { region, pages: Arc::downgrade(pages), freed_at: None });
        Some(region)
    }

    /// Datagrams that the peer may not have read yet.
    #[cfg(test)]
    pub fn unread(&self) -> usize {
        self.unread.len()
    }

    /// Whether there is anything in the ring that the peer may not have read where it lies.
    pub fn is_any_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Memory at these addresses changes from now on: writes into the ring what the peer has not read of it.
    pub fn settle(&mut self, sender: &Sender, ring: &[AtomicU64], addresses: &Range<usize>) {
        self.unread.retain(|unread| {
            let is_read = unread.line < sender.read();
            let changes = !is_read && addresses.contains(&unread.address());
            if changes {
                sender.settle(ring, unread.line, &unread.pages.words()[unread.words.clone()]);
            }
            !is_read && !changes
        });
        fence(Ordering::SeqCst);
    }

    /// Tells the peer which regions were freed. They count as given until it has read that: it may see the file of the next one before.
    pub fn free(&mut self, sender: &mut Sender, ring: &[AtomicU64]) {
        self.given.retain_mut(|given| {
            if given.pages.strong_count() == 0 && given.freed_at.is_none() {
                let line = sender.written();
                given.freed_at = sender.push_freed(ring, given.region).then_some(line);
            }
            given.freed_at.is_none_or(|line| sender.read() <= line)
        });
    }

    /// Whether the peer may not have read yet that a region was freed.
    pub fn is_any_freed(&self) -> bool {
        self.given.iter().any(|given| given.freed_at.is_some())
    }
}
