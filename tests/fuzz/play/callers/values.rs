//! Exact calls: reductions of all types, and bytes of all ranks.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;

use optireduce_c::abi::exact::*;
use optireduce_c::types::{optr_comm_t, optr_request_t, optr_status_t};

use super::Shared;
use super::arguments::{Arguments, ELEMENTS, Pointer};
use super::memory::Memory;
use super::rank::{Call, Handle, Kind, Rank};
use super::request::Begins;

const TYPE_BYTES: [usize; 12] = [2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8];

impl Rank {
    pub fn call_with_values(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        let (comm, self_rank) = (self.handle(Kind::Comm, arguments.u8()), self.number);
        match what {
            0..=3 => {
                self.start(PARTS[usize::from(what)], comm, arguments, shared, |begins, arguments, [lasting, _]| {
                    let parts = Parts::new(what, self_rank, arguments, lasting);
                    begins.is_wrong |= parts.is_wrong;
                    begins.may_write.push(parts.written.clone());
                    move |request| parts.call(what, comm.pointer(), request)
                })
            }
            4 => self.exact(false, comm, arguments, shared),
            6 => self.exact(true, comm, arguments, shared),
            _ => {
                let (scatters, name) = (what == 5, REDUCTIONS[usize::from(what == 5)]);
                self.start(name, comm, arguments, shared, |begins: &mut Begins, arguments, [lasting, _]| {
                    let reduction = Reduction::new(scatters, arguments, lasting);
                    begins.is_wrong |= reduction.is_wrong;
                    begins.may_write.push(reduction.written.clone());
                    move |request| reduction.call(scatters, comm.pointer(), request)
                });
            }
        }
    }

    fn exact(&mut self, scatters: bool, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let reduction = Reduction::new(scatters, arguments, &self.memory);
        let call = Call::new(REDUCTIONS[usize::from(scatters)]).of(comm).needs_job().wrong_if(reduction.is_wrong);
        let call = call.writes(reduction.written.clone());
        self.make(&call, shared, || reduction.call(scatters, comm.pointer(), null_mut()));
    }

    /// Blocking gather (0), scatter (1), all-to-all (2) or all-gather (3).
    pub fn parts(&mut self, what: u8, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let parts = Parts::new(what, self.number, arguments, &self.memory);
        let call = Call::new(PARTS[usize::from(what)]).of(comm).needs_job().wrong_if(parts.is_wrong);
        let call = call.writes(parts.written.clone());
        self.make(&call, shared, || parts.call(what, comm.pointer(), null_mut()));
    }
}

const REDUCTIONS: [&str; 2] = ["optr_exact_all_reduce", "optr_exact_reduce_scatter"];
const PARTS: [&str; 4] = ["optr_exact_gather", "optr_exact_scatter", "optr_exact_all_to_all", "optr_exact_all_gather"];

/// Arguments of an exact reduction.
struct Reduction {
    input: Pointer<c_void>,
    output: Pointer<c_void>,
    elements: usize,
    of_output: usize,
    element: u32,
    op: u32,
    is_wrong: bool,
    written: Range<usize>,
}

impl Reduction {
    fn new(scatters: bool, arguments: &mut Arguments, memory: &Memory) -> Self {
        let (element, op, bytes) = type_and_op(arguments);
        let elements = arguments.count(ELEMENTS);
        let of_output = if scatters { arguments.count(elements.div_ceil(2)) } else { elements };
        let (input, _) = arguments.values(memory, elements, bytes);
        let (output, begin) = arguments.values(memory, of_output, bytes);
        let is_wrong = input.is_wrong || output.is_wrong || element > 11 || op > 7;
        let written = begin..begin.saturating_add(of_output.saturating_mul(bytes));
        Self { input, output, elements, of_output, element, op, is_wrong, written }
    }

    fn call(&self, scatters: bool, comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
        let &Self { elements, of_output, element, op, .. } = self;
        let (input, output) = (self.input.address, self.output.address);
        // SAFETY: as `Arguments` says.
        unsafe {
            match scatters {
                false => optr_exact_all_reduce(comm, input, output, elements, element, op, request),
                true => optr_exact_reduce_scatter(comm, input, elements, output, of_output, element, op, request),
            }
        }
    }
}

/// Arguments of a call with bytes of all ranks.
struct Parts {
    root: i32,
    bytes: usize,
    input: Pointer<c_void>,
    output: Pointer<c_void>,
    is_wrong: bool,
    written: Range<usize>,
}

impl Parts {
    fn new(what: u8, rank: usize, arguments: &mut Arguments, memory: &Memory) -> Self {
        let (bytes, root) = (arguments.count(ELEMENTS), if what < 2 { super::bytes::root(arguments) } else { 0 });
        let (input, _) = arguments.values(memory, bytes, 1);
        let (output, begin) = arguments.values(memory, bytes, 1);
        let is_root = usize::try_from(root).is_ok_and(|root| root == rank);
        let (has_input, has_output) = (what != 1 || is_root, what != 0 || is_root);
        let is_wrong = (has_input && input.is_wrong) || (has_output && output.is_wrong);
        // Each value has 8 bytes of memory, and a call writes two at most.
        let written = begin..if has_output { begin.saturating_add(bytes).saturating_add(bytes) } else { begin };
        Self { root, bytes, input, output, is_wrong, written }
    }

    fn call(&self, what: u8, comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
        let &Self { root, bytes, .. } = self;
        let (input, output) = (self.input.address, self.output.address);
        // SAFETY: as `Arguments` says.
        unsafe {
            match what {
                0 => optr_exact_gather(comm, root, input, bytes, output, request),
                1 => optr_exact_scatter(comm, root, input, output, bytes, request),
                2 => optr_exact_all_to_all(comm, input, bytes, output, request),
                _ => optr_exact_all_gather(comm, input, bytes, output, request),
            }
        }
    }
}

/// A type, an operation, and the size of a value; rarely unknown ones.
fn type_and_op(arguments: &mut Arguments) -> (u32, u32, usize) {
    let (both, rare) = (u32::from(arguments.u8()), u32::from(arguments.u8()));
    let (element, op) = match rare {
        0..=3 => (12 + both, 0),
        4..=7 => (2, 8 + both),
        8 => (u32::MAX, u32::MAX),
        _ => (both % 12, both / 12 % 8),
    };
    (element, op, TYPE_BYTES.get(element as usize).copied().unwrap_or(1))
}
