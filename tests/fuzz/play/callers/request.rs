//! Requests: starting, waiting, callbacks, and freeing.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use optireduce_c::abi::request::*;
use optireduce_c::types::optr_status_t::{self, *};
use optireduce_c::types::{OPTR_NO_TIMEOUT, optr_callback_t, optr_report_t, optr_request_t};

use super::Shared;
use super::arguments::{Arguments, HANDLE, PLACES, Pointer, ReportPlace, report};
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
    /// True for a collective of a bucket.
    pub has_report: bool,
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
        self.memory.check(function, &[result, std::slice::from_ref(&handle)].concat());
    }
}

/// Stores the status. Panics if it is called twice.
unsafe extern "C" fn called(
    status: optr_status_t,
    report: *const optr_report_t,
    error: *const c_char,
    context: *mut c_void,
) {
    // SAFETY: a text, and the context of `optr_request_on_done`, which outlives the callback.
    let (text, told) = unsafe { (CStr::from_ptr(error), &*context.cast::<AtomicU32>()) };
    assert_eq!(status == OPTR_SUCCESS, text.is_empty(), "{status:?}: {text:?}");
    assert!(status == OPTR_SUCCESS || report.is_null(), "a report beside {status:?}");
    assert!(status != OPTR_INTERNAL, "{text:?}");
    // SAFETY: NULL, or a report that is valid during the call.
    if let Some(report) = unsafe { report.as_ref() } {
        // SAFETY: `peer_capacity` is the number of rows.
        let peers = unsafe { std::slice::from_raw_parts(report.peers, report.peer_capacity as usize) };
        assert_eq!(peers.iter().map(|peer| peer.rank).collect::<Vec<_>>(), [0, 1]);
    }
    assert_eq!(told.swap(status as u32, Ordering::SeqCst), NOT_CALLED, "a callback is called again");
}

impl Rank {
    /// Starts a request. `prepare` reads its other arguments and returns the call.
    pub fn start<D: FnOnce(*mut optr_request_t) -> optr_status_t>(
        &mut self,
        function: &'static str,
        of: Handle,
        arguments: &mut Arguments,
        shared: &Shared,
        prepare: impl FnOnce(&mut Begins, &mut Arguments, [&Memory; 2]) -> D,
    ) {
        let mut memory = Memory::new(PLACES.end);
        let (request, at) = arguments.place(&memory, 0);
        let (is_wrong, may_write) = (request.is_wrong, Vec::new());
        let mut begins = Begins { is_wrong, may_write, has_report: false, is_sent: false, is_received: false };
        let does = prepare(&mut begins, arguments, [&memory, &self.memory]);
        memory.remember();
        let call = Call::new(function).of(of).wrong_if(begins.is_wrong);
        let status = self.make(&call, shared, || does(request.address));
        memory.check(function, &[at]);
        if status == OPTR_SUCCESS {
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
            0..=2 => self.test(handle, request, &begun, arguments, shared),
            3..=6 => self.wait(handle, request, &begun, arguments, shared),
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

    fn test(
        &mut self,
        handle: Handle,
        request: Pointer<optr_request_t>,
        begun: &Option<Begun>,
        arguments: &mut Arguments,
        shared: &Shared,
    ) {
        let ((done, at), place) = (arguments.place::<i32>(&self.memory, 1), report(arguments, &self.memory));
        let call = asks("optr_request_test", handle, &request, begun, &place);
        let call = call.wrong_if(done.is_wrong).clears(at.clone());
        let is_wrong = call.is_wrong;
        // SAFETY: as `Arguments` says.
        let test = || unsafe { optr_request_test(request.address, done.address, place.pointer.address) };
        let status = self.make(&call, shared, test);
        if let Some(begun) = begun {
            let is_done = !is_wrong && self.memory.get::<i32>(at.start) == 1;
            assert!(is_wrong || is_done || status == OPTR_SUCCESS, "it has failed, but is not done");
            self.ended(call.function, begun, is_done, status);
        }
    }

    fn wait(
        &mut self,
        handle: Handle,
        request: Pointer<optr_request_t>,
        begun: &Option<Begun>,
        arguments: &mut Arguments,
        shared: &Shared,
    ) {
        let (how, place) = (arguments.u8(), report(arguments, &self.memory));
        let timeout_us = if how < 200 { u64::from(how) * 50 } else { OPTR_NO_TIMEOUT - u64::from(how % 2) };
        let call = asks("optr_request_wait", handle, &request, begun, &place);
        // SAFETY: as `Arguments` says.
        let wait = || unsafe { optr_request_wait(request.address, timeout_us, place.pointer.address) };
        let status = self.make(&call, shared, wait);
        if let Some(begun) = begun {
            self.ended(call.function, begun, !call.is_wrong && status != OPTR_TIMEOUT, status);
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
        let mut report = without_rows();
        // SAFETY: a handle, and a report.
        let status = unsafe { optr_request_wait(begun.memory.at(HANDLE), OPTR_NO_TIMEOUT, &mut report) };
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
            begun.check("a callback", status == SUCCESS);
            self.sent += u64::from(begun.begins.is_sent);
            self.received += u64::from(begun.begins.is_received);
            all_succeeded &= status == SUCCESS && self.state == State::Runs;
        }
        all_succeeded
    }
}

/// A test or wait. The report may be NULL if the request has none.
fn asks(
    function: &'static str,
    handle: Handle,
    request: &Pointer<optr_request_t>,
    begun: &Option<Begun>,
    place: &ReportPlace<optr_report_t>,
) -> Call {
    let lacks = place.is_null && begun.as_ref().is_some_and(|begun| begun.begins.has_report);
    let [one, other] = place.may_write.clone();
    let call = Call::new(function).of(handle).wrong_if(request.is_wrong || place.pointer.is_wrong || lacks);
    call.writes(one).writes(other)
}

fn without_rows() -> optr_report_t {
    // SAFETY: numbers and an address, for which zeros are valid.
    let zeros: optr_report_t = unsafe { std::mem::zeroed() };
    optr_report_t { size: size_of::<optr_report_t>(), ..zeros }
}
