//! Requests: starting, waiting, callbacks, and freeing.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use optireduce_c::abi::request::*;
use optireduce_c::types::optr_status_t::{self, *};
use optireduce_c::types::{OPTR_NO_TIMEOUT, optr_callback_t, optr_request_t};

use super::Shared;
use super::arguments::{Arguments, HANDLE, PLACES, Pointer};
use super::memory::Memory;
use super::rank::{Call, Handle, Kind, Rank, State};

/// Limit for a callback after an abort, on a busy machine.
const CALLBACK_MAX: Duration = Duration::from_secs(30);
const SUCCESS: u32 = OPTR_SUCCESS as u32;
const NOT_CALLED: u32 = u32::MAX;

pub struct Begun {
    memory: Memory,
    begins: Begins,
    /// Handle; 0 once a callback owns the request.
    number: usize,
    /// Status from the callback. Boxed, because the library has its address.
    told: Box<AtomicU32>,
}

#[derive(Debug)]
pub struct Begins {
    pub is_wrong: bool,
    pub may_write: Vec<Range<usize>>,
    /// Ranges that the call may write in any case.
    pub clears: Vec<Range<usize>>,
    /// True for a sent, or received, message.
    pub is_sent: bool,
    pub is_received: bool,
}

impl Begun {
    pub fn handle(&self) -> usize {
        self.number
    }

    /// Checks that only the handle, and the result of a success, were written.
    fn check(&self, function: &str, has_result: bool) {
        let result = if has_result { self.begins.may_write.as_slice() } else { &[] };
        let handle = HANDLE..HANDLE + 8;
        self.memory.check(function, &[result, &self.begins.clears, std::slice::from_ref(&handle)].concat());
    }
}

/// Stores the status. Panics if it is called twice.
unsafe extern "C" fn called(status: optr_status_t, error: *const c_char, context: *mut c_void) {
    // SAFETY: a text, and the context of `optr_request_on_done`, which outlives the callback.
    let (text, told) = unsafe { (CStr::from_ptr(error), &*context.cast::<AtomicU32>()) };
    assert_eq!(status == OPTR_SUCCESS, text.is_empty(), "{status:?}: {text:?}");
    assert!(!matches!(status, OPTR_INTERNAL | OPTR_PENDING), "{text:?}");
    assert_eq!(told.swap(status as u32, Ordering::SeqCst), NOT_CALLED, "a callback is called again");
}

impl Rank {
    /// Starts a request, or rarely blocks without one. `prepare` reads the other arguments and
    /// returns the call.
    pub fn start<D: FnOnce(*mut optr_request_t) -> optr_status_t>(
        &mut self,
        function: &'static str,
        of: Handle,
        arguments: &mut Arguments,
        shared: &Shared,
        prepare: impl FnOnce(&mut Begins, &mut Arguments, [&Memory; 2]) -> D,
    ) {
        let mut memory = Memory::new(PLACES.end);
        let (request, at) = arguments.place::<optr_request_t>(&memory, 0);
        let blocks = request.address.is_null();
        let (is_wrong, may_write) = (request.is_wrong && !blocks, Vec::new());
        let mut begins = Begins { is_wrong, may_write, clears: Vec::new(), is_sent: false, is_received: false };
        let does = prepare(&mut begins, arguments, [&memory, &self.memory]);
        memory.remember();
        let call = Call::new(function).of(of).wrong_if(begins.is_wrong);
        let status = self.make(&call, shared, || does(request.address));
        let is_done = blocks && matches!(status, OPTR_SUCCESS | OPTR_HALTED);
        let written = if is_done { begins.may_write.as_slice() } else { &[] };
        memory.check(function, &[written, &begins.clears, &[at]].concat());
        if status == OPTR_SUCCESS && blocks {
            self.collectives += u64::from(!begins.is_sent && !begins.is_received);
            self.sent += u64::from(begins.is_sent);
            self.received += u64::from(begins.is_received);
        } else if status == OPTR_SUCCESS {
            let number = memory.get(HANDLE);
            assert!(number != 0, "{function} has begun nothing");
            self.collectives += u64::from(!begins.is_sent && !begins.is_received);
            self.begun.push(Begun { memory, begins, number, told: Box::new(AtomicU32::new(NOT_CALLED)) });
        } else {
            self.is_clean &= begins.is_wrong || !of.is_good;
        }
    }

    pub fn call_of_request(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        let handle = self.handle(Kind::Request, arguments.u8());
        let index = self.begun.iter().position(|begun| handle.is_good && begun.number == handle.pointer::<u8>().addr());
        let mut begun = index.map(|index| self.begun.swap_remove(index));
        // The handle of a request that was not started is in this rank's memory.
        self.memory.set(HANDLE, handle.pointer::<u8>().addr());
        let memory = begun.as_ref().map_or(&self.memory, |begun| &begun.memory);
        let request = arguments.place(memory, 0).0;
        if let Some(begun) = &mut begun {
            begun.memory.remember();
        }
        match what {
            0..=2 => self.wait(handle, request, &begun, 0, shared),
            3..=6 => {
                let how = arguments.u8();
                let timeout_us = if how < 200 { u64::from(how) * 50 } else { OPTR_NO_TIMEOUT - u64::from(how % 2) };
                self.wait(handle, request, &begun, timeout_us, shared);
            }
            7 => self.hand_over(handle, request, &mut begun, arguments, shared),
            _ => {
                let call = Call::new("optr_request_free").of(handle).wrong_if(request.is_wrong);
                // SAFETY: as `Arguments` says.
                if self.make(&call, shared, || unsafe { optr_request_free(request.address) }) == OPTR_SUCCESS {
                    // The outcome of a freed request is unknown.
                    self.is_clean = false;
                }
            }
        }
        if let Some(begun) = begun {
            self.keep(begun);
        }
    }

    fn keep(&mut self, begun: Begun) {
        if begun.memory.get::<usize>(HANDLE) != 0 {
            self.begun.push(begun);
            return;
        }
        match begun.number {
            0 => self.awaited.push(begun),
            number => self.retire(Kind::Request, number),
        }
    }

    fn wait(
        &mut self,
        handle: Handle,
        request: Pointer<optr_request_t>,
        begun: &Option<Begun>,
        timeout_us: u64,
        shared: &Shared,
    ) {
        let call = Call::new("optr_request_wait").of(handle).wrong_if(request.is_wrong);
        // SAFETY: as `Arguments` says.
        let status = self.make(&call, shared, || unsafe { optr_request_wait(request.address, timeout_us) });
        if let Some(begun) = begun {
            self.ended(call.function, begun, !call.is_wrong && status != OPTR_PENDING, status);
        }
    }

    /// Once a request is done, its handle must be NULL, and a success has its result.
    fn ended(&mut self, function: &'static str, begun: &Begun, is_done: bool, status: optr_status_t) {
        assert_eq!(begun.memory.get::<usize>(HANDLE) == 0, is_done, "{function}: {status:?}");
        if is_done {
            self.is_clean &= status == OPTR_SUCCESS;
            self.sent += u64::from(begun.begins.is_sent);
            self.received += u64::from(begun.begins.is_received);
        }
        begun.check(function, is_done && matches!(status, OPTR_SUCCESS | OPTR_HALTED));
    }

    fn hand_over(
        &mut self,
        handle: Handle,
        request: Pointer<optr_request_t>,
        begun: &mut Option<Begun>,
        arguments: &mut Arguments,
        shared: &Shared,
    ) {
        let callback: optr_callback_t = if arguments.u8() < 8 { None } else { Some(called) };
        let context = begun.as_ref().map_or(null_mut(), |begun| (&raw const *begun.told).cast_mut().cast());
        let call = Call::new("optr_request_on_done").of(handle).wrong_if(request.is_wrong || callback.is_none());
        // SAFETY: as `Arguments` says; the context outlives the callback.
        let hand_over = || unsafe { optr_request_on_done(request.address, callback, context) };
        let status = self.make(&call, shared, hand_over);
        if let Some(begun) = begun.as_mut().filter(|_| status == OPTR_SUCCESS) {
            self.retire(Kind::Request, begun.number);
            begun.number = 0;
        }
    }

    /// Waits for a request. Returns whether it succeeded.
    pub fn finish(&mut self, mut begun: Begun) -> bool {
        begun.memory.remember();
        // SAFETY: a handle.
        let status = unsafe { optr_request_wait(begun.memory.at(HANDLE), OPTR_NO_TIMEOUT) };
        self.ended("optr_request_wait", &begun, true, status);
        self.retire(Kind::Request, begun.number);
        status == OPTR_SUCCESS
    }

    /// Waits for all callbacks. Returns whether all requests succeeded.
    pub fn await_callbacks(&mut self) -> bool {
        let begin = Instant::now();
        let mut all_succeeded = true;
        for begun in std::mem::take(&mut self.awaited) {
            let status = loop {
                match begun.told.load(Ordering::SeqCst) {
                    NOT_CALLED => sleep(Duration::from_micros(100)),
                    status => break status,
                }
                assert!(begin.elapsed() < CALLBACK_MAX, "a callback is not called ({:?})", self.state);
            };
            begun.check("a callback", status == SUCCESS || status == OPTR_HALTED as u32);
            self.sent += u64::from(begun.begins.is_sent);
            self.received += u64::from(begun.begins.is_received);
            all_succeeded &= status == SUCCESS && self.state == State::Runs;
        }
        all_succeeded
    }
}
