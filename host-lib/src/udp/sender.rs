//! Thread that sends large batches, beside the thread that receives and sums.
//!
//! The kernel takes about as long to send 64 KiB as a rank takes to receive and sum them, so a
//! single thread would limit throughput where cores are free. The thread reads batches in place.
//! Before lent memory returns to its owner, pending batches are sent or copied. Batches to a rank
//! leave in order, since acknowledgements count packets: while one is pending here, all others to
//! that rank follow it. Otherwise the engine's thread sends small batches itself.
//!
//! Limits: at most [`BATCHES_MAX`] batches (2 MiB) are pending. Batches that a full socket refuses
//! are copied and wait here.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::pieces::Pieces;
use super::socket::{Outlet, Sent};

const BATCHES_MAX: usize = 32;
/// Smaller batches cost no more time to send than to pass to the thread.
const BATCH_BYTES_MIN: usize = 48 << 10;
/// Time that the thread spins before it sleeps. A wake-up costs the engine's thread a system call.
const SPIN: Duration = Duration::from_micros(30);
/// Interval at which new orders are copied while the socket is full.
const ROOM_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

pub(super) struct Sender {
    orders: Option<SyncSender<Order>>,
    outcomes: Receiver<(Order, io::Result<Sent>)>,
    /// Pending batches, by rank.
    under_way: Vec<usize>,
    all_under_way: usize,
    /// Batches so far; `lent`: number and memory of batches that still use lent memory.
    handed_over: u64,
    lent: VecDeque<(u64, Range<usize>)>,
    spare: Vec<Pieces>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// Batches below this number need no lent memory any more.
    settled: AtomicU64,
    is_ending: AtomicBool,
}

struct Order {
    number: u64,
    to: usize,
    address: SocketAddr,
    segment_bytes: usize,
    datagrams: Pieces,
}

pub(super) struct Outcome {
    pub to: usize,
    pub segment_bytes: usize,
    pub sent: io::Result<Sent>,
}

impl Sender {
    pub fn start(outlet: Arc<Outlet>, ranks: usize) -> io::Result<Self> {
        // Room for all batches: neither side blocks, and nothing is allocated later.
        let ((orders, incoming), (done, outcomes)) = (sync_channel(BATCHES_MAX), sync_channel(BATCHES_MAX));
        let state = Arc::new(State::default());
        let waiting = VecDeque::with_capacity(BATCHES_MAX);
        let mut worker = Worker { outlet, incoming, waiting, whole: Vec::new(), state: state.clone() };
        let serve = move || {
            while let Some(order) = worker.next() {
                let sent = worker.send(&order);
                if done.send((order, sent)).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("optireduce-send".into()).spawn(serve)?;
        Ok(Self {
            orders: Some(orders),
            outcomes,
            under_way: vec![0; ranks],
            all_under_way: 0,
            handed_over: 0,
            lent: VecDeque::with_capacity(BATCHES_MAX),
            spare: Vec::with_capacity(BATCHES_MAX),
            state,
            thread: Some(thread),
        })
    }

    pub fn is_full(&self) -> bool {
        self.all_under_way >= BATCHES_MAX
    }

    /// True if a batch of `bytes` bytes must go through this thread.
    pub fn takes(&self, to: usize, bytes: usize) -> bool {
        self.under_way[to] > 0 || bytes >= BATCH_BYTES_MIN
    }

    pub fn pieces(&mut self) -> Pieces {
        self.spare.pop().unwrap_or_default()
    }

    pub fn send(&mut self, to: usize, address: SocketAddr, segment_bytes: usize, datagrams: Pieces) {
        let (number, lent) = (self.handed_over, datagrams.lent());
        if !lent.is_empty() {
            self.lent.push_back((number, lent));
        }
        self.handed_over += 1;
        self.under_way[to] += 1;
        self.all_under_way += 1;
        if let Some(orders) = &self.orders {
            // `outcome` reports a thread that has ended.
            let _ = orders.send(Order { number, to, address, segment_bytes, datagrams });
        }
    }

    /// Returns the next finished batch. Fails if the thread has ended.
    pub fn outcome(&mut self) -> io::Result<Option<Outcome>> {
        match self.outcomes.try_recv() {
            Ok((Order { to, segment_bytes, mut datagrams, .. }, sent)) => {
                self.under_way[to] -= 1;
                self.all_under_way -= 1;
                datagrams.clear();
                self.spare.push(datagrams);
                self.forget_settled();
                Ok(Some(Outcome { to, segment_bytes, sent }))
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(io::Error::other("the sending thread has ended")),
        }
    }

    /// Waits until no pending batch uses lent memory at these addresses.
    pub fn settle(&mut self, addresses: &Range<usize>) {
        let overlaps = |lent: &Range<usize>| lent.start < addresses.end && addresses.start < lent.end;
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            self.forget_settled();
            if !self.lent.iter().any(|(_, lent)| overlaps(lent)) {
                break;
            }
            std::thread::yield_now();
        }
    }

    fn forget_settled(&mut self) {
        let settled = self.state.settled.load(Ordering::Acquire);
        while self.lent.front().is_some_and(|(number, _)| *number < settled) {
            self.lent.pop_front();
        }
    }
}

impl Drop for Sender {
    /// Sends pending batches for which the socket has room.
    fn drop(&mut self) {
        self.state.is_ending.store(true, Ordering::Relaxed);
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Worker {
    outlet: Arc<Outlet>,
    incoming: Receiver<Order>,
    /// Copied while the socket was full.
    waiting: VecDeque<Order>,
    whole: Vec<u8>,
    state: Arc<State>,
}

impl Worker {
    fn next(&mut self) -> Option<Order> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(waiting);
        }
        let since = Instant::now();
        loop {
            match self.incoming.try_recv() {
                Ok(order) => return Some(order),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if since.elapsed() < SPIN => std::hint::spin_loop(),
                Err(TryRecvError::Empty) => return self.incoming.recv().ok(),
            }
        }
    }

    fn send(&mut self, order: &Order) -> io::Result<Sent> {
        let Order { number, address, segment_bytes, datagrams, .. } = order;
        let sent = datagrams.send(self.outlet.as_fd(), *address, *segment_bytes);
        if sent.is_err() {
            datagrams.copy_to(&mut self.whole);
        }
        self.settled(*number);
        if sent.is_ok() {
            return Ok(Sent::All);
        }
        loop {
            // A second attempt by `Outlet::send` classifies the kernel's error.
            let sent = self.outlet.send(*address, &self.whole, *segment_bytes)?;
            if sent != Sent::NotYet || self.state.is_ending.load(Ordering::Relaxed) {
                return Ok(sent);
            }
            while let Ok(mut order) = self.incoming.try_recv() {
                order.datagrams.keep();
                self.settled(order.number);
                self.waiting.push_back(order);
            }
            match poll(&mut [PollFd::new(&*self.outlet, PollFlags::OUT)], Some(&ROOM_WAIT)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Batches up to `number` need no lent memory any more.
    fn settled(&self, number: u64) {
        self.state.settled.fetch_max(number + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::super::socket::Socket;
    use super::*;

    #[test]
    fn what_is_handed_over_leaves_in_order_as_it_was_before_its_memory_is_given_back() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut sender = Sender::start(socket.outlet().clone(), 3).unwrap();
        assert!(sender.takes(2, BATCH_BYTES_MIN) && !sender.takes(2, 100) && !sender.is_full());
        let mut memory: Vec<u8> = (0..BATCHES_MAX as u8).flat_map(|batch| [batch; 1000]).collect();
        let addresses = memory.as_ptr().addr()..memory.as_ptr().addr() + memory.len();
        for batch in memory.chunks(1000) {
            let mut pieces = sender.pieces();
            // SAFETY: `memory` is not changed before `settle`.
            #[allow(unsafe_code)]
            unsafe {
                pieces.push_lent(batch);
            }
            sender.send(2, to, 1000, pieces);
        }
        assert!(sender.is_full() && sender.takes(2, 1) && !sender.takes(1, 1));
        sender.settle(&(addresses.end..usize::MAX));
        sender.settle(&addresses);
        memory.fill(99);
        assert!(sender.lent.is_empty());
        for batch in 0..BATCHES_MAX as u8 {
            let mut datagram = [0; 2000];
            assert_eq!(receiver.recv(&mut datagram).unwrap(), 1000);
            assert_eq!(datagram[..1000], [batch; 1000]);
        }
        let mut outcomes = 0;
        while outcomes < BATCHES_MAX {
            let Some(outcome) = sender.outcome().unwrap() else { continue };
            assert_eq!((outcome.to, outcome.segment_bytes, outcome.sent.unwrap()), (2, 1000, Sent::All));
            outcomes += 1;
        }
        assert!(!sender.is_full() && !sender.takes(2, 1));
        let mut pieces = sender.pieces();
        pieces.set(|whole| whole.resize(1 << 16, 7));
        sender.send(1, to, 1 << 16, pieces);
        let refused = loop {
            if let Some(outcome) = sender.outcome().unwrap() {
                break outcome.sent.unwrap_err();
            }
        };
        assert_eq!(refused.raw_os_error(), Some(rustix::io::Errno::MSGSIZE.raw_os_error()));
        let mut pieces = sender.pieces();
        pieces.set(|whole| whole.extend([1, 2, 3]));
        sender.send(1, to, 3, pieces);
        drop(sender);
        assert_eq!(receiver.recv(&mut [0; 10]).unwrap(), 3);
    }
}
