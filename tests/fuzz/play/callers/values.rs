//! Collectives of a communicator: bounded ones of floats, exact ones of all types.

use optireduce_c::abi::collectives::{optr_all_gather, optr_all_reduce, optr_reduce_scatter};
use optireduce_c::abi::exact::*;
use optireduce_c::types::optr_report_t;

use super::Shared;
use super::arguments::{Arguments, ELEMENTS, report};
use super::rank::{Call, Handle, Kind, Rank};

const TYPE_BYTES: [usize; 12] = [2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8];

impl Rank {
    pub fn call_with_values(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        let comm = self.handle(Kind::Comm, arguments.u8());
        match what {
            0..=3 => self.bounded(what, comm, arguments, shared),
            4 | 5 => self.exact(false, comm, arguments, shared),
            6 => self.exact(true, comm, arguments, shared),
            _ => self.start("optr_start_all_reduce_exact", comm, arguments, shared, |begins, arguments, both| {
                let [lasting, memory] = both;
                let (element, op, bytes) = type_and_op(arguments);
                let elements = arguments.count(ELEMENTS);
                let (output, begin) = arguments.values(lasting, elements, bytes);
                let from = if begin % 16 == 0 { lasting } else { memory };
                let (input, _) = arguments.values(from, elements, bytes);
                begins.is_wrong |= input.is_wrong || output.is_wrong || element > 11 || op > 7;
                begins.may_write.push(begin..begin.saturating_add(elements.saturating_mul(bytes)));
                // SAFETY: as `Arguments` says.
                move |request| unsafe {
                    let (input, output) = (input.address, output.address);
                    optr_start_all_reduce_exact(comm.pointer(), input, output, elements, element, op, request)
                }
            }),
        }
    }

    fn bounded(&mut self, what: u8, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let elements = arguments.count(ELEMENTS);
        let shard = arguments.count(elements.div_ceil(2));
        let (many, few) = (elements.saturating_mul(4), shard.saturating_mul(4));
        let (in_elements, out_elements) = match what {
            0 | 1 => (elements, elements),
            2 => (elements, shard),
            _ => (shard, elements),
        };
        let (input, _) = arguments.values::<f32>(&self.memory, in_elements, 4);
        let (output, begin) = arguments.values::<f32>(&self.memory, out_elements, 4);
        let place = report::<optr_report_t>(arguments, &self.memory);
        let is_wrong = place.is_null || place.pointer.is_wrong || input.is_wrong || output.is_wrong;
        let written = begin..begin.saturating_add(if what == 2 { few } else { many });
        let (input, output, report, [one, other]) =
            (input.address, output.address, place.pointer.address, place.may_write);
        let names = ["optr_all_reduce", "optr_all_reduce", "optr_reduce_scatter", "optr_all_gather"];
        let call = Call::new(names[usize::from(what)]).of(comm).needs_job().writes(written).writes(one).writes(other);
        let call = call.wrong_if(is_wrong);
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            match what {
                0 | 1 => optr_all_reduce(comm.pointer(), input, output, elements, report),
                2 => optr_reduce_scatter(comm.pointer(), input, elements, output, shard, report),
                _ => optr_all_gather(comm.pointer(), input, shard, output, elements, report),
            }
        });
    }

    fn exact(&mut self, scatters: bool, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (element, op, bytes) = type_and_op(arguments);
        let elements = arguments.count(ELEMENTS);
        let of_output = if scatters { arguments.count(elements.div_ceil(2)) } else { elements };
        let (input, _) = arguments.values(&self.memory, elements, bytes);
        let (output, begin) = arguments.values(&self.memory, of_output, bytes);
        let name = if scatters { "optr_reduce_scatter_exact" } else { "optr_all_reduce_exact" };
        let is_wrong = input.is_wrong || output.is_wrong || element > 11 || op > 7;
        let written = begin..begin.saturating_add(of_output.saturating_mul(bytes));
        let call = Call::new(name).of(comm).needs_job().wrong_if(is_wrong).writes(written);
        let (input, output) = (input.address, output.address);
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            match scatters {
                false => optr_all_reduce_exact(comm.pointer(), input, output, elements, element, op),
                true => optr_reduce_scatter_exact(comm.pointer(), input, elements, output, of_output, element, op),
            }
        });
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
