//! The thread that calls callbacks: one for the process, started with the first. It waits for what has begun, and delivers it.
//!
//! Why: a callback may take its time, or call this library. On the engine's thread that would hold up other ranks.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use crate::status::Failure;
use crate::types::optr_status_t::OPTR_SYSTEM;

/// Waits for something, and delivers it at its end.
pub type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Message {
    Add(Delivery),
    /// The delivery with this number has something to do.
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

/// The way to the thread, and the process that has it: a fork has none.
static THREAD: Mutex<Option<(u32, mpsc::Sender<Message>)>> = Mutex::new(None);

/// Hands something to the thread. If there can be none, `deliver` is not called.
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
    // The thread has a sender itself, so it never ends.
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
        // A bug in one delivery is not to stop the others. Its callback is told when it is dropped.
        if !matches!(catch_unwind(AssertUnwindSafe(poll)), Ok(Poll::Pending)) {
            waiting.remove(&number);
        }
    }
}
