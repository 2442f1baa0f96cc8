//! Thread that waits for operations and calls their callbacks. One per communicator, started on
//! demand.
//!
//! A callback may block or call this library. On the engine's thread it would delay other ranks,
//! and on a thread of all communicators it could wait for a rank of this process that waits for it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use crate::status::Failure;
use crate::types::optr_status_t::OPTR_SYSTEM;

pub type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

pub enum Message {
    Add(Delivery),
    /// The delivery with this number can make progress.
    Woken(u64),
    /// The communicator is gone, and with it everything that could add deliveries.
    End,
}

struct Wakeup {
    number: u64,
    messages: mpsc::Sender<Message>,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        let _ = self.messages.send(Message::Woken(self.number));
    }
}

/// Callbacks of one communicator.
#[derive(Debug, Default)]
pub struct Callbacks(Mutex<Option<mpsc::Sender<Message>>>);

impl Callbacks {
    /// Adds a delivery. If the thread cannot be started, `deliver` is not called.
    pub fn add(&self, deliver: impl FnOnce() -> Option<Delivery>) -> Result<(), Failure> {
        let mut thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = match &*thread {
            Some(messages) => messages,
            None => {
                let (messages, incoming) = mpsc::channel();
                let wake = messages.clone();
                let started =
                    thread::Builder::new().name("optireduce-callbacks".into()).spawn(|| serve(incoming, wake));
                started.map_err(|error| {
                    Failure::new(OPTR_SYSTEM, format!("starting the thread for callbacks: {error}"))
                })?;
                thread.insert(messages)
            }
        };
        // The thread holds a sender and ends after this, so this never fails.
        let _ = deliver().map(|delivery| messages.send(Message::Add(delivery)));
        Ok(())
    }
}

impl Drop for Callbacks {
    /// The thread runs the remaining callbacks. It is not joined, since it may be the one that
    /// drops.
    fn drop(&mut self) {
        let messages = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = messages.as_ref().map(|messages| messages.send(Message::End));
    }
}

fn serve(incoming: Receiver<Message>, messages: mpsc::Sender<Message>) {
    let mut waiting: BTreeMap<u64, Delivery> = BTreeMap::new();
    let (mut added, mut is_over) = (0, false);
    while !(is_over && waiting.is_empty()) {
        let Ok(message) = incoming.recv() else { return };
        let number = match message {
            Message::End => {
                is_over = true;
                continue;
            }
            Message::Add(delivery) => {
                added += 1;
                waiting.insert(added, delivery);
                added
            }
            Message::Woken(number) => number,
        };
        let Some(delivery) = waiting.get_mut(&number) else { continue };
        let waker = Waker::from(Arc::new(Wakeup { number, messages: messages.clone() }));
        let poll = || delivery.as_mut().poll(&mut Context::from_waker(&waker));
        // A panic in one delivery must not stop the others. Its callback is called when it is
        // dropped.
        if !matches!(catch_unwind(AssertUnwindSafe(poll)), Ok(Poll::Pending)) {
            waiting.remove(&number);
        }
    }
}
