//! Send queues, one for each connection.
//!
//! Why: a stopped process keeps its connections but reads nothing. It must not block callers
//! forever, and queues must not grow without limit.
//! How: a message of a call waits for room while the peer makes progress within the caller's
//! timeout. Peer messages come from the engine, which never waits: above [`PEER_MESSAGE_BYTES_MAX`]
//! the connection is closed. The same applies above [`POINT_BYTES_MAX`], which only a violation of
//! the point-to-point protocol reaches.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::frame::{IN_STEP, PEER_MESSAGE, POINT};

/// Queued bytes for a peer above which calls wait.
const IN_STEP_BYTES_MAX: usize = 8 << 20;
/// Ample for the repairs of a bucket.
const PEER_MESSAGE_BYTES_MAX: usize = 128 << 20;
/// More than twice the protocol's limits of eager and requested bytes.
const POINT_BYTES_MAX: usize = 32 << 20;

pub(super) type Message = (u8, Vec<u8>);

/// By rank. The connections close once all handles are dropped.
#[derive(Clone, Debug)]
pub(super) struct Outgoing(Arc<[Lane]>);

/// Ends all present and future waits for room.
#[derive(Clone, Debug)]
pub(super) struct Shutter(Weak<[Lane]>);

/// Handle that does not keep the connections open.
#[derive(Clone, Debug)]
pub(super) struct WeakOutgoing(Weak<[Lane]>);

impl WeakOutgoing {
    pub fn upgrade(&self) -> Option<Outgoing> {
        self.0.upgrade().map(Outgoing)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stalled;

#[derive(Debug, Default)]
struct Lane {
    state: Mutex<State>,
    room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    sender: Option<UnboundedSender<Message>>,
    in_step_bytes: usize,
    peer_message_bytes: usize,
    point_bytes: usize,
    /// Messages written to the socket.
    taken: u64,
    /// Number of connections so far.
    generation: u32,
    /// Queued bytes when the connection was closed above a limit.
    overrun: Option<usize>,
    cut: Arc<Notify>,
    shut: bool,
}

impl State {
    /// Returns the queued bytes of this kind, and their limit.
    fn waiting(&mut self, kind: u8) -> (&mut usize, usize) {
        match kind {
            PEER_MESSAGE => (&mut self.peer_message_bytes, PEER_MESSAGE_BYTES_MAX),
            POINT => (&mut self.point_bytes, POINT_BYTES_MAX),
            _ => (&mut self.in_step_bytes, IN_STEP_BYTES_MAX),
        }
    }
}

#[derive(Debug)]
pub(super) struct Queue {
    lanes: Weak<[Lane]>,
    peer: usize,
    messages: UnboundedReceiver<Message>,
    cut: Arc<Notify>,
}

impl Lane {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outgoing {
    pub fn new(ranks: usize) -> Self {
        Self((0..ranks).map(|_| Lane::default()).collect())
    }

    pub fn open(&self, peer: usize) -> Queue {
        let (sender, messages) = unbounded_channel();
        let mut state = self.0[peer].state();
        let (taken, generation, shut) = (state.taken, state.generation + 1, state.shut);
        *state = State { sender: Some(sender), taken, generation, shut, ..State::default() };
        Queue { lanes: Arc::downgrade(&self.0), peer, messages, cut: state.cut.clone() }
    }

    /// Closes the connection above the limit.
    pub fn send_peer_message(&self, peer: usize, message: Vec<u8>) {
        self.send_or_cut(peer, None, PEER_MESSAGE, message);
    }

    /// Sends over the connection of this generation. Closes it above the limit.
    pub fn send_point(&self, peer: usize, generation: u32, message: Vec<u8>) {
        self.send_or_cut(peer, Some(generation), POINT, message);
    }

    fn send_or_cut(&self, peer: usize, generation: Option<u32>, kind: u8, message: Vec<u8>) {
        let Some(lane) = self.0.get(peer) else { return };
        let mut state = lane.state();
        if generation.is_some_and(|generation| generation != state.generation) {
            return;
        }
        let (waiting, most) = state.waiting(kind);
        let bytes = *waiting + message.len();
        if bytes > most {
            tracing::warn!(peer, bytes, "closing the connection to a rank that does not read from it");
            state.overrun = Some(bytes);
            state.sender = None;
            state.cut.notify_one();
            return lane.room.notify_all();
        }
        if state.sender.as_ref().is_some_and(|sender| sender.send((kind, message)).is_ok()) {
            *state.waiting(kind).0 = bytes;
        }
    }

    /// Returns the generation of a connection, and whether it is open.
    pub fn connection(&self, peer: usize) -> (u32, bool) {
        self.0.get(peer).map_or((0, false), |lane| {
            let state = lane.state();
            (state.generation, state.sender.is_some())
        })
    }

    /// Sends over the connection of this generation. Waits for room.
    ///
    /// # Errors
    /// If the peer makes no progress for `timeout`; nothing was sent.
    pub fn in_step(&self, peer: usize, generation: u32, message: Vec<u8>, timeout: Duration) -> Result<(), Stalled> {
        let Some(lane) = self.0.get(peer) else { return Ok(()) };
        let mut state = lane.state();
        if state.generation != generation {
            return Ok(());
        }
        let (mut taken, mut until) = (state.taken, Instant::now() + timeout);
        while state.sender.is_some() && state.in_step_bytes > IN_STEP_BYTES_MAX && !state.shut {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Stalled);
            }
            state = lane.room.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            if state.taken != taken {
                (taken, until) = (state.taken, Instant::now() + timeout);
            }
        }
        let bytes = message.len();
        if state.sender.as_ref().is_some_and(|sender| sender.send((IN_STEP, message)).is_ok()) {
            state.in_step_bytes += bytes;
        }
        Ok(())
    }

    pub fn overrun(&self, peer: usize) -> Option<usize> {
        self.0.get(peer).and_then(|lane| lane.state().overrun)
    }

    pub fn downgrade(&self) -> WeakOutgoing {
        WeakOutgoing(Arc::downgrade(&self.0))
    }

    pub fn shutter(&self) -> Shutter {
        Shutter(Arc::downgrade(&self.0))
    }
}

impl Shutter {
    pub fn shut(&self) {
        for lane in self.0.upgrade().iter().flat_map(|lanes| lanes.iter()) {
            lane.state().shut = true;
            lane.room.notify_all();
        }
    }
}

impl Queue {
    pub async fn next(&mut self) -> Option<Message> {
        self.messages.recv().await
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub fn cut(&self) -> Arc<Notify> {
        self.cut.clone()
    }

    pub fn taken(&self, kind: u8, bytes: usize) {
        let Some(lanes) = self.lanes.upgrade() else { return };
        let mut state = lanes[self.peer].state();
        // The counters may already belong to a newer connection.
        if Arc::ptr_eq(&state.cut, &self.cut) {
            let (waiting, _) = state.waiting(kind);
            *waiting = waiting.saturating_sub(bytes);
            state.taken += 1;
            lanes[self.peer].room.notify_all();
        }
    }

    /// Drops queued and later messages.
    pub fn close(&mut self) {
        let Some(lanes) = self.lanes.upgrade() else { return };
        let mut state = lanes[self.peer].state();
        if Arc::ptr_eq(&state.cut, &self.cut) {
            state.sender = None;
            (state.in_step_bytes, state.peer_message_bytes, state.point_bytes) = (0, 0, 0);
            lanes[self.peer].room.notify_all();
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE_BYTES: usize = 1 << 20;

    fn message() -> Vec<u8> {
        vec![0; MESSAGE_BYTES]
    }

    #[test]
    fn messages_to_a_peer_that_takes_nothing_end_its_connection() {
        let outgoing = Outgoing::new(2);
        let queue = outgoing.open(1);
        (0..PEER_MESSAGE_BYTES_MAX / MESSAGE_BYTES).for_each(|_| outgoing.send_peer_message(1, message()));
        assert_eq!(outgoing.overrun(1), None);
        outgoing.send_peer_message(1, vec![0]);
        assert_eq!(outgoing.overrun(1), Some(PEER_MESSAGE_BYTES_MAX + 1));
        assert!(queue.messages.is_closed(), "nothing more is queued");
        // The next connection has an empty queue.
        let queue = outgoing.open(1);
        outgoing.send_peer_message(1, message());
        assert_eq!((outgoing.overrun(1), queue.messages.len()), (None, 1));
    }

    #[test]
    fn messages_that_are_taken_may_be_any_number() {
        let outgoing = Outgoing::new(2);
        let mut queue = outgoing.open(1);
        for _ in 0..3 * PEER_MESSAGE_BYTES_MAX / MESSAGE_BYTES {
            outgoing.send_peer_message(1, message());
            let (kind, message) = queue.messages.try_recv().unwrap();
            queue.taken(kind, message.len());
        }
        assert_eq!(outgoing.overrun(1), None);
    }

    #[test]
    fn a_caller_waits_for_room_no_longer_than_its_timeout() {
        let outgoing = Outgoing::new(2);
        let mut queue = outgoing.open(1);
        let none = Duration::ZERO;
        let count = (0..100).take_while(|_| outgoing.in_step(1, 1, message(), none).is_ok()).count();
        assert_eq!(count, IN_STEP_BYTES_MAX / MESSAGE_BYTES + 1);
        // Peer messages have a separate limit.
        outgoing.send_peer_message(1, message());
        assert_eq!(outgoing.in_step(1, 1, message(), Duration::from_millis(1)), Err(Stalled));
        let other = outgoing.clone();
        let waiting = std::thread::spawn(move || other.in_step(1, 1, message(), Duration::from_secs(600)));
        let (kind, message) = queue.messages.try_recv().unwrap();
        queue.taken(kind, message.len());
        assert_eq!(waiting.join().unwrap(), Ok(()));
    }

    #[test]
    fn who_waits_for_room_is_woken_when_the_connection_or_the_channel_ends() {
        let full = |outgoing: &Outgoing| {
            let (generation, _) = outgoing.connection(1);
            while outgoing.in_step(1, generation, message(), Duration::ZERO).is_ok() {}
            let outgoing = outgoing.clone();
            std::thread::spawn(move || outgoing.in_step(1, generation, message(), Duration::from_secs(600)))
        };
        let outgoing = Outgoing::new(2);
        let mut queue = outgoing.open(1);
        let waiting = full(&outgoing);
        queue.close();
        assert_eq!(waiting.join().unwrap(), Ok(()));
        let _queue = outgoing.open(1);
        let waiting = full(&outgoing);
        outgoing.shutter().shut();
        assert_eq!(waiting.join().unwrap(), Ok(()));
    }

    #[test]
    fn the_end_of_a_connection_that_was_replaced_does_not_end_the_new_one() {
        let outgoing = Outgoing::new(2);
        let mut old = outgoing.open(1);
        let mut new = outgoing.open(1);
        old.taken(IN_STEP, 5);
        old.close();
        assert_eq!(outgoing.connection(1), (2, true));
        // A message for the previous process.
        outgoing.in_step(1, 1, vec![6], Duration::ZERO).unwrap();
        outgoing.in_step(1, 2, vec![7], Duration::ZERO).unwrap();
        assert_eq!(new.messages.try_recv().unwrap(), (IN_STEP, vec![7]));
    }
}
