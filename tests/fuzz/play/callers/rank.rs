//! One rank: its handles, its calls, and the judge of each call.

use std::ffi::{CStr, c_int};
use std::ops::Range;
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use optireduce_c::abi::bucket::optr_bucket_destroy;
use optireduce_c::abi::comm::{optr_comm_destroy, optr_comm_init_rank};
use optireduce_c::abi::library::optr_last_error;
use optireduce_c::abi::partial::optr_partial_destroy;
use optireduce_c::types::optr_comm_t;
use optireduce_c::types::optr_status_t::{self, *};

use super::Shared;
use super::arguments::{Arguments, HANDLE, TEXT, config};
use super::memory::Memory;
use super::request::Begun;

const CALLS_MAX: usize = 100;
const WORTHLESS_MAX: usize = 16;

/// Usual time until rank 0 listens.
const HEAD_START: Duration = Duration::from_millis(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Comm,
    Bucket,
    Partial,
    Request,
}

#[derive(Clone, Copy, Debug)]
pub struct Handle {
    number: usize,
    /// Whether the handle exists and has the right kind.
    pub is_good: bool,
    /// Elements of the bucket or partial reduce.
    pub elements: usize,
}

impl Handle {
    pub fn pointer<T>(self) -> *mut T {
        without_provenance_mut(self.number)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub kind: Kind,
    pub number: usize,
    pub elements: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    None,
    Runs,
    Closed,
    Aborted,
}

/// A call, and expectations of its outcome.
#[derive(Debug)]
pub struct Call {
    pub function: &'static str,
    handle: Option<Handle>,
    /// An argument is invalid in any state.
    pub is_wrong: bool,
    /// The call fails after the end of the communicator.
    needs_job: bool,
    /// Ranges that a successful call may write.
    may_write: Vec<Range<usize>>,
    /// Ranges that the call may write in any case.
    clears: Vec<Range<usize>>,
}

impl Call {
    pub fn new(function: &'static str) -> Self {
        Self { function, handle: None, is_wrong: false, needs_job: false, may_write: Vec::new(), clears: Vec::new() }
    }

    pub fn of(self, handle: Handle) -> Self {
        Self { handle: Some(handle), ..self }
    }

    pub fn needs_job(self) -> Self {
        Self { needs_job: true, ..self }
    }

    pub fn wrong_if(self, is_wrong: bool) -> Self {
        Self { is_wrong: self.is_wrong || is_wrong, ..self }
    }

    pub fn writes(mut self, range: Range<usize>) -> Self {
        self.may_write.push(range);
        self
    }

    pub fn clears(mut self, range: Range<usize>) -> Self {
        self.clears.push(range);
        self
    }
}

pub struct Rank {
    pub number: usize,
    pub memory: Memory,
    pub comm: usize,
    pub state: State,
    pub made: Vec<Made>,
    pub begun: Vec<Begun>,
    /// Requests whose callback has not been called yet.
    pub awaited: Vec<Begun>,
    worthless: Vec<(Kind, usize)>,
    /// Jobs opened for this input.
    opened: usize,
    /// Whether the next input can use this job.
    pub is_clean: bool,
    /// Collectives and messages, to compare with the other rank's.
    pub collectives: u64,
    pub sent: u64,
    pub received: u64,
}

impl Rank {
    pub fn new(number: usize) -> Self {
        Self {
            number,
            memory: Memory::new(TEXT.end),
            comm: 0,
            state: State::None,
            made: Vec::new(),
            begun: Vec::new(),
            awaited: Vec::new(),
            worthless: Vec::new(),
            opened: 0,
            is_clean: false,
            collectives: 0,
            sent: 0,
            received: 0,
        }
    }

    /// Makes the calls in `data`: function, caller, and [`Arguments::BYTES`] bytes each.
    pub fn play(&mut self, data: &[u8], shared: &Shared) {
        self.opened = 0;
        if self.state == State::None {
            self.open(shared);
        }
        for record in data.chunks(2 + Arguments::BYTES).take(CALLS_MAX) {
            let [what, who, arguments @ ..] = record else { break };
            // Both ranks usually make the same call; sometimes one makes none, or has other
            // arguments.
            let (is_absent, mask) = match (*who, self.number) {
                (248..=250, 0) | (251..=253, 1) => (true, 0),
                (240..=247, 1) => (false, who - 239),
                _ => (false, 0),
            };
            shared.progress.fetch_add(1, Ordering::Relaxed);
            if !is_absent {
                self.call(*what, &mut Arguments::new(arguments, mask), shared);
            }
        }
        self.end(shared);
    }

    fn call(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        match what % 64 {
            what @ 0..=15 => self.call_of_comm(what, arguments, shared),
            what @ 16..=25 => self.call_with_bytes(what - 16, arguments, shared),
            what @ 26..=33 => self.call_with_values(what - 26, arguments, shared),
            what @ 34..=47 => self.call_of_bucket(what - 34, arguments, shared),
            what @ 48..=54 => self.call_of_partial(what - 48, arguments, shared),
            what => self.call_of_request(what - 55, arguments, shared),
        }
    }

    /// Opens the next job, if one is left.
    pub fn open(&mut self, shared: &Shared) {
        let Some(id) = shared.id(self.opened) else { return };
        self.opened += 1;
        let (config, place) = (config(&self.memory), self.memory.at::<optr_comm_t>(HANDLE));
        // A rank that arrives before rank 0 listens retries only after a while.
        sleep(HEAD_START * self.number as u32);
        // SAFETY: a config, an id, and room for a handle.
        let status = unsafe { optr_comm_init_rank(place, 2, &id, self.number as c_int, config.address) };
        self.take_comm(status, shared);
        // A failure is no violation: a busy machine may be slow, and the other rank may not join.
        self.is_clean = self.state == State::Runs;
    }

    /// Stores the communicator of a successful call.
    pub fn take_comm(&mut self, status: optr_status_t, shared: &Shared) {
        if status == OPTR_SUCCESS {
            self.comm = self.memory.get(HANDLE);
            self.state = State::Runs;
            (self.collectives, self.sent, self.received) = (0, 0, 0);
            shared.comms[self.number].store(self.comm, Ordering::SeqCst);
        }
    }

    pub fn forget_comm(&mut self, shared: &Shared) {
        shared.comms[self.number].store(0, Ordering::SeqCst);
        self.state = State::None;
        self.is_clean = false;
        let number = std::mem::take(&mut self.comm);
        self.retire(Kind::Comm, number);
        let made = std::mem::take(&mut self.made);
        made.iter().for_each(|made| self.retire(made.kind, made.number));
        let begun = std::mem::take(&mut self.begun);
        begun.iter().for_each(|begun| self.retire(Kind::Request, begun.handle()));
    }

    pub fn retire(&mut self, kind: Kind, number: usize) {
        self.made.retain(|made| made.number != number);
        if self.worthless.len() == WORTHLESS_MAX {
            self.worthless.remove(0);
        }
        self.worthless.push((kind, number));
    }

    /// A handle for a call that expects `kind`; mostly a good one.
    pub fn handle(&self, kind: Kind, which: u8) -> Handle {
        let which = usize::from(which);
        let bad = |number| Handle { number, is_good: false, elements: 0 };
        let good: Vec<Handle> = match kind {
            Kind::Comm if self.state != State::None => vec![Handle { number: self.comm, is_good: true, elements: 0 }],
            Kind::Comm => Vec::new(),
            Kind::Request => {
                self.begun.iter().map(|begun| Handle { number: begun.handle(), is_good: true, elements: 0 }).collect()
            }
            _ => {
                let of_kind = self.made.iter().filter(|made| made.kind == kind);
                of_kind.map(|made| Handle { number: made.number, is_good: true, elements: made.elements }).collect()
            }
        };
        match which {
            0 => bad(0),
            1..=3 => bad([1, 0x77, usize::MAX][which - 1]),
            4..=9 if !self.worthless.is_empty() => bad(self.worthless[which % self.worthless.len()].1),
            10..=12 if kind != Kind::Comm => bad(self.comm),
            13..=15 if kind != Kind::Bucket => {
                bad(self.made.iter().rfind(|made| made.kind != kind).map_or(0, |made| made.number))
            }
            _ if good.is_empty() => bad(0),
            _ => good[which % good.len()],
        }
    }

    pub fn make(&mut self, call: &Call, shared: &Shared, does: impl FnOnce() -> optr_status_t) -> optr_status_t {
        self.memory.remember();
        let status = does();
        self.judge(call, status, shared);
        // A halted reduction is zeros.
        let has_output = matches!(status, OPTR_SUCCESS | OPTR_HALTED);
        let written = if has_output { call.may_write.as_slice() } else { &[] };
        self.memory.check(call.function, &[written, &call.clears].concat());
        status
    }

    /// Checks the status, and that the error text names the function.
    fn judge(&mut self, call: &Call, status: optr_status_t, shared: &Shared) {
        let Call { function, handle, is_wrong, needs_job, .. } = *call;
        // Expectations about the state hold only if the main thread has not aborted the
        // communicator.
        let was_ended = shared.ended.load(Ordering::SeqCst);
        // SAFETY: the text of this thread's last failure, valid until the next one.
        let text = unsafe { CStr::from_ptr(optr_last_error()) }.to_str().expect("a text in UTF-8");
        let context = format!("{function} is {status:?} ({text}), {:?}, {handle:?}", self.state);
        assert!(!matches!(status, OPTR_INTERNAL | OPTR_FORKED), "{context}");
        assert!(status != OPTR_BUSY || was_ended, "{context}");
        let names_it = text.strip_prefix(function).is_some_and(|rest| rest.starts_with(": ") && rest.len() > 10);
        assert!(status == OPTR_SUCCESS || (names_it && !text.contains(['\n', '\r'])), "{context}");

        let refused = matches!(status, OPTR_INVALID_ARGUMENT | OPTR_INVALID_HANDLE);
        let ended = matches!(status, OPTR_ABORTED | OPTR_CLOSED);
        let has_ended = was_ended || matches!(self.state, State::Aborted | State::Closed);
        let is_good = handle.is_none_or(|handle| handle.is_good);
        assert!(is_good || refused, "{context}");
        assert!(handle.is_none() || !is_good || status != OPTR_INVALID_HANDLE, "{context}");
        assert!(!is_wrong || refused || (ended && has_ended), "{context}: a wrong argument");
        if !needs_job {
            return;
        }
        match self.state {
            _ if was_ended || !is_good => {}
            State::Aborted => assert!(refused || status == OPTR_ABORTED, "{context}"),
            State::Closed => assert!(refused || status == OPTR_CLOSED, "{context}"),
            State::Runs => assert!(!ended, "{context}"),
            State::None => {}
        }
        // A refused call has no effect on the other rank; any other failure may have had some.
        self.is_clean &= status == OPTR_SUCCESS || is_wrong || !is_good;
        self.collectives += u64::from(status == OPTR_SUCCESS);
    }

    /// Ends all requests and handles. Closes the job unless the next input can use it.
    fn end(&mut self, shared: &Shared) {
        for begun in std::mem::take(&mut self.begun) {
            self.is_clean &= self.finish(begun);
        }
        for Made { kind, number, .. } in std::mem::take(&mut self.made) {
            let status = match kind {
                Kind::Bucket => optr_bucket_destroy(without_provenance_mut(number)),
                _ => optr_partial_destroy(without_provenance_mut(number)),
            };
            assert_eq!(status, OPTR_SUCCESS, "destroying {kind:?} {number:#x}");
            self.retire(kind, number);
        }
        self.is_clean &= self.await_callbacks();
        self.is_clean &= self.state == State::Runs && !shared.ended.load(Ordering::SeqCst);
        if !self.is_clean {
            self.close(shared);
        }
    }

    pub fn close(&mut self, shared: &Shared) {
        if self.state != State::None {
            assert_eq!(optr_comm_destroy(without_provenance_mut(self.comm)), OPTR_SUCCESS);
            self.forget_comm(shared);
        }
    }
}
