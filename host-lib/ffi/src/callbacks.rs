//! Thread that waits for operations and calls their callbacks. One per process, started on demand.
//!
//! A callback may block or call this library. On the engine's thread it would delay other ranks.

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

enum Message {
    Add(Delivery),
    /// The delivery with this number can make progress.
    Woken(u64),
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

/// Process id and channel of the thread. The id detects a fork, which has no such thread.
static THREAD: Mutex<Option<(u32, mpsc::Sender<Message>)>> = Mutex::new(None);

/// Adds a delivery. If the thread cannot be started, `deliver` is not called.
pub fn add(deliver: impl FnOnce() -> Option<Delivery>) -> Result<(), Failure> {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let messages = match &*thread {
        Some((of, messages)) if *of == process => messages.clone(),
        _ => {
            let (messages, incoming) = mpsc::channel();
            let wake = messages.clone();
            let started = thread::Builder::new().name("optireduce-callbacks".into()).spawn(|| serve(incoming, wake));
            started
                .map_err(|error| Failure::new(OPTR_SYSTEM, format!("starting the thread for callbacks: {error}")))?;
            thread.insert((process, messages)).1.clone()
        }
    };
    // The thread holds a sender too, so it never ends and this never fails.
    let _ = deliver().map(|delivery| messages.send(Message::Add(delivery)));
    Ok(())
}

fn serve(incoming: Receiver<Message>, messages: mpsc::Sender<Message>) {
    let mut waiting: BTreeMap<u64, Delivery> = BTreeMap::new();
    let mut added = 0;
    for message in incoming {
        let number = match message {
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
