//! Point-to-point messages, over the connections of the calls but not ordered with them.
//!
//! * `message`: wire format.
//! * `matching`: matches messages and receives, and decides when data is sent.
//!
//! This module adds connections, threads and clocks. Operations fail once callers have waited for
//! the timeout without progress.

mod matching;
mod message;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::matching::{LIMITS, Matching, TransferId};
use super::ControlError;
use super::again::Parting;
use super::outgoing::WeakOutgoing;

pub use self::matching::Message;
#[cfg(any(test, fuzzing))]
pub(crate) use self::matching::hostile;
pub(crate) use self::message::{Space, Tag};

type Outcome = Result<Message, ControlError>;

#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    timeout: Duration,
    runtime: OnceLock<Handle>,
}

#[derive(Debug)]
struct State {
    matching: Matching,
    /// `None` before the ranks are connected and after this rank has ended.
    outgoing: Option<WeakOutgoing>,
    waiting: HashMap<TransferId, oneshot::Sender<Outcome>>,
}

/// A send or receive in progress. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Underway {
    id: TransferId,
    /// `None` for a receive.
    to: Option<usize>,
    from: Option<usize>,
    tag: u32,
    bytes: usize,
    mailbox: Arc<Mailbox>,
    timeout: Duration,
    outcome: oneshot::Receiver<Outcome>,
    /// Set when first awaited.
    is_timed: bool,
    /// Time of blocking waits since the last progress, and the progress seen then.
    waited: Duration,
    seen: Option<u64>,
}

impl Mailbox {
    pub fn new(rank: usize, ranks: usize, timeout: Duration) -> Self {
        let state = State { matching: Matching::new(rank, ranks, LIMITS), outgoing: None, waiting: HashMap::new() };
        Self { state: Mutex::new(state), timeout, runtime: OnceLock::new() }
    }

    pub(super) fn open(&self, runtime: &Handle, outgoing: WeakOutgoing, gone: &[usize]) {
        let _ = self.runtime.set(runtime.clone());
        self.with(|state| {
            state.outgoing = Some(outgoing);
            gone.iter().for_each(|rank| state.matching.gone(*rank, ControlError::Gone(*rank)));
        });
    }

    pub fn close(&self) {
        let waiting = self.with(|state| {
            state.outgoing = None;
            std::mem::take(&mut state.waiting)
        });
        drop(waiting);
    }

    pub fn skip_gone(&self) {
        self.with(|state| state.matching.skip_gone());
    }

    pub fn send(self: &Arc<Self>, to: usize, tag: Tag, bytes: Vec<u8>) -> Underway {
        let length = bytes.len();
        let (id, outcome) = self.begin(|matching| matching.send(to, tag, bytes));
        self.underway(id, outcome, Some(to), None, tag, length)
    }

    /// `from`: `None` for any rank.
    pub fn receive(self: &Arc<Self>, from: Option<usize>, tag: Tag) -> Underway {
        let (id, outcome) = self.begin(|matching| matching.receive(from, tag));
        self.underway(id, outcome, None, from, tag, 0)
    }

    /// Calls `then` on the control thread with the next message from a rank, however late it is.
    pub fn listen(self: &Arc<Self>, from: usize, tag: Tag, then: impl FnOnce(Vec<u8>) + Send + 'static) {
        let mut receive = self.receive(Some(from), tag);
        if let Some(runtime) = self.runtime.get() {
            runtime.spawn(async move {
                if let Ok(message) = std::future::poll_fn(|context| receive.poll_untimed(context)).await {
                    then(message.bytes);
                }
            });
        }
    }

    fn underway(
        self: &Arc<Self>,
        id: TransferId,
        outcome: oneshot::Receiver<Outcome>,
        to: Option<usize>,
        from: Option<usize>,
        tag: Tag,
        bytes: usize,
    ) -> Underway {
        Underway {
            id,
            to,
            from,
            tag: tag.tag,
            bytes,
            mailbox: self.clone(),
            timeout: self.timeout,
            outcome,
            is_timed: false,
            waited: Duration::ZERO,
            seen: Some(0),
        }
    }

    fn begin(&self, begin: impl FnOnce(&mut Matching) -> TransferId) -> (TransferId, oneshot::Receiver<Outcome>) {
        let (sender, outcome) = oneshot::channel();
        let id = self.with(|state| {
            if state.outgoing.is_none() {
                return 0;
            }
            let id = begin(&mut state.matching);
            state.waiting.insert(id, sender);
            id
        });
        (id, outcome)
    }

    /// # Errors
    /// If the message violates the protocol; the connection must be closed.
    pub fn handle(&self, from: usize, note: &[u8]) -> Result<(), String> {
        self.with(|state| state.matching.handle(from, note))
    }

    /// `broken`: protocol violation that ended the connection.
    pub(super) fn gone(&self, rank: usize, parting: Parting, broken: Option<String>) {
        self.with(|state| {
            let outgoing = state.outgoing.as_ref().and_then(WeakOutgoing::upgrade);
            let error = match (broken, outgoing.and_then(|outgoing| outgoing.overrun(rank))) {
                (Some(what), _) => ControlError::Broken { rank, what },
                (None, Some(bytes)) => ControlError::Overrun { rank, bytes },
                (None, None) => parting.error(state.matching.own(), rank),
            };
            state.matching.gone(rank, error);
        });
    }

    pub fn back(&self, rank: usize) {
        self.with(|state| {
            let connection = state.outgoing.as_ref().and_then(WeakOutgoing::upgrade);
            let connection = connection.map_or(0, |outgoing| outgoing.connection(rank).0);
            state.matching.back(rank, connection);
        });
    }

    /// Makes a change, sends the resulting messages, and completes finished operations.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = act(&mut state);
        let outbox = state.matching.take_outbox();
        if let Some(outgoing) = state.outgoing.as_ref().filter(|_| !outbox.is_empty()).and_then(WeakOutgoing::upgrade) {
            for (to, connection, note) in outbox {
                outgoing.send_point(to, connection, note);
            }
        }
        let finished = state.matching.take_finished().into_iter();
        let answers: Vec<_> =
            finished.filter_map(|(id, outcome)| Some((state.waiting.remove(&id)?, outcome))).collect();
        drop(state);
        // Without the lock, because a woken caller may call again immediately.
        answers.into_iter().for_each(|(sender, outcome)| drop(sender.send(outcome)));
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn watch(self: Arc<Self>, id: TransferId, to: Option<usize>, timeout: Duration, error: ControlError) {
        let mut before = self.progress(id, to);
        while before.is_some() {
            sleep(timeout).await;
            let now = self.progress(id, to);
            if now == before {
                break;
            }
            before = now;
        }
        self.fail(id, to, error);
    }

    /// Returns `None` if the operation has ended.
    fn progress(&self, id: TransferId, to: Option<usize>) -> Option<u64> {
        let state = self.lock();
        state.waiting.contains_key(&id).then(|| state.matching.progress(id, to))
    }

    fn fail(&self, id: TransferId, to: Option<usize>, error: ControlError) {
        let sender = self.with(|state| {
            state.matching.cancel(id, to);
            state.waiting.remove(&id)
        });
        sender.map(|sender| sender.send(Err(error)));
    }
}

impl Underway {
    /// Does not start the timeout.
    pub fn poll_untimed(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.outcome).poll(context).map(|received| received.unwrap_or(Err(ControlError::Closed)))
    }

    /// Remaining time of a blocking wait until it may fail.
    pub fn patience(&self) -> Duration {
        self.timeout.saturating_sub(self.waited)
    }

    /// Adds the time of a blocking wait, in which the operation did not end. Without progress for
    /// the timeout, the operation fails.
    pub fn waited(&mut self, time: Duration) {
        let now = self.mailbox.progress(self.id, self.to);
        self.waited = if now == self.seen { self.waited.saturating_add(time) } else { Duration::ZERO };
        self.seen = now;
        if self.waited >= self.timeout {
            self.mailbox.fail(self.id, self.to, self.timed_out());
        }
    }

    fn timed_out(&self) -> ControlError {
        let (tag, waited) = (self.tag, self.timeout);
        match self.to {
            Some(rank) => {
                ControlError::NotReceived { rank, tag, bytes: self.bytes, waited, limit: LIMITS.unasked_bytes }
            }
            None => ControlError::NothingCame { rank: self.from, tag, waited },
        }
    }

    fn time(&mut self) {
        if std::mem::replace(&mut self.is_timed, true) {
            return;
        }
        let error = self.timed_out();
        if let Some(runtime) = self.mailbox.runtime.get() {
            runtime.spawn(self.mailbox.clone().watch(self.id, self.to, self.timeout, error));
        }
    }
}

impl Future for Underway {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = self.poll_untimed(context);
        if outcome.is_pending() {
            self.time();
        }
        outcome
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let (id, to) = (self.id, self.to);
        self.mailbox.with(|state| {
            // Finished operations need no cancellation.
            if state.waiting.remove(&id).is_some() {
                state.matching.cancel(id, to);
            }
        });
    }
}
