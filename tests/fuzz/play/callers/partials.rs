//! Calls of Partial Reduce.

use std::ptr::null_mut;

use optireduce_c::abi::partial::*;
use optireduce_c::types::optr_status_t::*;
use optireduce_c::types::{optr_partial_report_t, optr_partial_t};

use super::Shared;
use super::arguments::{Arguments, ELEMENTS, HANDLE, partial_options, report};
use super::rank::{Call, Handle, Kind, Made, Rank};

impl Rank {
    pub fn call_of_partial(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        if what == 0 {
            return self.create_partial(arguments, shared);
        }
        let partial = self.handle(Kind::Partial, arguments.u8());
        // Groups form at any time, and the partial reduce may be closed: the next input needs a new
        // job.
        self.is_clean &= !partial.is_good;
        match what {
            1 | 2 => self.average(partial, arguments, shared),
            3 => self.start_average(partial, arguments, shared),
            4 => self.start("optr_partial_close", partial, arguments, shared, |_, _, _| {
                // SAFETY: as `Arguments` says.
                move |request| unsafe { optr_partial_close(partial.pointer(), request) }
            }),
            5 => {
                let call = Call::new("optr_partial_close").of(partial);
                // SAFETY: no request.
                self.make(&call, shared, || unsafe { optr_partial_close(partial.pointer(), null_mut()) });
            }
            _ => {
                let call = Call::new("optr_partial_destroy").of(partial);
                if self.make(&call, shared, || optr_partial_destroy(partial.pointer())) == OPTR_SUCCESS {
                    self.retire(Kind::Partial, partial.pointer::<u8>().addr());
                }
            }
        }
    }

    fn create_partial(&mut self, arguments: &mut Arguments, shared: &Shared) {
        let (comm, elements) = (self.handle(Kind::Comm, arguments.u8()), arguments.count(ELEMENTS));
        let elements = if arguments.u8() < 4 { elements.saturating_add(1 << 31) } else { elements };
        let (place, at) = arguments.place::<optr_partial_t>(&self.memory, 0);
        let options = partial_options(arguments, &self.memory);
        let call = Call::new("optr_partial_create").of(comm).needs_job().clears(at);
        let call = call.wrong_if(place.is_wrong || options.is_wrong);
        let (comm, options) = (comm.pointer(), options.address);
        // SAFETY: as `Arguments` says.
        let create = || unsafe { optr_partial_create(comm, elements, options, place.address, null_mut()) };
        if self.make(&call, shared, create) == OPTR_SUCCESS {
            self.is_clean = false;
            self.made.push(Made { kind: Kind::Partial, number: self.memory.get(HANDLE), elements });
        }
    }

    fn average(&mut self, partial: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (elements, iteration) = (arguments.count(partial.elements), iteration(arguments));
        let (input, _) = arguments.values::<f32>(&self.memory, elements, 4);
        let (output, begin) = arguments.values::<f32>(&self.memory, elements, 4);
        let place = report::<optr_partial_report_t>(arguments, &self.memory);
        let is_wrong = place.is_null || place.pointer.is_wrong || input.is_wrong || output.is_wrong;
        let [one, other] = place.may_write;
        let call = Call::new("optr_partial_average").of(partial).writes(one).writes(other);
        let call = call.wrong_if(is_wrong || elements != partial.elements);
        let call = call.writes(begin..begin.saturating_add(elements.saturating_mul(4)));
        let (input, output, report) = (input.address, output.address, place.pointer.address);
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            optr_partial_average(partial.pointer(), input, output, elements, iteration, report, null_mut())
        });
    }

    fn start_average(&mut self, partial: Handle, arguments: &mut Arguments, shared: &Shared) {
        self.start("optr_partial_average", partial, arguments, shared, |begins, arguments, [lasting, memory]| {
            let (elements, iteration) = (arguments.count(partial.elements), iteration(arguments));
            let (input, _) = arguments.values::<f32>(memory, elements, 4);
            let (output, begin) = arguments.values::<f32>(lasting, elements, 4);
            let place = report::<optr_partial_report_t>(arguments, lasting);
            begins.is_wrong |= place.is_null || place.pointer.is_wrong || input.is_wrong || output.is_wrong;
            begins.is_wrong |= elements != partial.elements;
            begins.may_write.extend(place.may_write);
            begins.may_write.push(begin..begin.saturating_add(elements.saturating_mul(4)));
            let (input, output, report) = (input.address, output.address, place.pointer.address);
            // SAFETY: as `Arguments` says.
            move |request| unsafe {
                optr_partial_average(partial.pointer(), input, output, elements, iteration, report, request)
            }
        });
    }
}

fn iteration(arguments: &mut Arguments) -> u64 {
    match arguments.u8() {
        0 => u64::MAX,
        1 => u64::MAX - 1,
        2 => 1 << 63,
        3 => 0,
        few => 256 - u64::from(few),
    }
}
