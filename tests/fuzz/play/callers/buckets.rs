//! Calls of buckets.

use std::ffi::c_void;
use std::ptr::null_mut;

use optireduce_c::abi::bucket::*;
use optireduce_c::abi::memory::{optr_alloc, optr_free};
use optireduce_c::types::optr_status_t::{self, *};
use optireduce_c::types::{OPTR_NO_TIMEOUT, optr_bucket_t, optr_report_t};

use super::Shared;
use super::arguments::{Arguments, ELEMENTS, HANDLE, bucket_options, report};
use super::rank::{Call, Handle, Kind, Made, Rank};

impl Rank {
    pub fn call_of_bucket(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        if what <= 1 {
            return self.create_bucket(arguments, shared);
        }
        let bucket = self.handle(Kind::Bucket, arguments.u8());
        match what {
            2 => {
                let call = Call::new("optr_bucket_destroy").of(bucket);
                if self.make(&call, shared, || optr_bucket_destroy(bucket.pointer())) == OPTR_SUCCESS {
                    self.retire(Kind::Bucket, bucket.pointer::<u8>().addr());
                }
            }
            3 => self.start_creation(arguments, shared),
            4 => self.start_settling(bucket, arguments, shared),
            5 => self.reduce_allocated(bucket, arguments, shared),
            6..=9 => self.collective(what - 6, bucket, arguments, shared),
            10..=12 => self.start_collective(what - 10, bucket, arguments, shared),
            _ => self.settle(bucket, arguments, shared),
        }
    }

    fn create_bucket(&mut self, arguments: &mut Arguments, shared: &Shared) {
        let (comm, elements) = (self.handle(Kind::Comm, arguments.u8()), arguments.count(ELEMENTS));
        // At most a few values, or more than a bucket may have.
        let elements = if arguments.u8() < 4 { elements.saturating_add(1 << 31) } else { elements };
        let (place, at) = arguments.place::<optr_bucket_t>(&self.memory, 0);
        let options = bucket_options(arguments, &self.memory);
        let call = Call::new("optr_bucket_create").of(comm).needs_job().clears(at);
        let call = call.wrong_if(place.is_wrong || options.is_wrong);
        let (comm, options) = (comm.pointer(), options.address);
        // SAFETY: as `Arguments` says.
        let create = || unsafe { optr_bucket_create(comm, elements, options, place.address, null_mut()) };
        if self.make(&call, shared, create) == OPTR_SUCCESS {
            assert!((1..1 << 31).contains(&elements), "a bucket of {elements} elements");
            self.made.push(Made { kind: Kind::Bucket, number: self.memory.get(HANDLE), elements });
        }
    }

    /// Creates a bucket with a request. Its handle is not used.
    fn start_creation(&mut self, arguments: &mut Arguments, shared: &Shared) {
        let comm = self.handle(Kind::Comm, arguments.u8());
        // The bucket stays until the job ends.
        self.is_clean = false;
        self.start("optr_bucket_create", comm, arguments, shared, |begins, arguments, [lasting, memory]| {
            let elements = arguments.count(ELEMENTS);
            let (place, at) = arguments.place::<optr_bucket_t>(lasting, 1);
            let options = bucket_options(arguments, memory);
            begins.is_wrong |= place.is_wrong || options.is_wrong;
            begins.clears.push(at);
            let (comm, options) = (comm.pointer(), options.address);
            // SAFETY: as `Arguments` says.
            move |request| unsafe { optr_bucket_create(comm, elements, options, place.address, request) }
        });
    }

    fn start_settling(&mut self, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        self.start("optr_bucket_settle", bucket, arguments, shared, |begins, arguments, [lasting, _]| {
            let (elements, how) = (arguments.count(bucket.elements), arguments.u8());
            let (correction, begin) = arguments.values::<f32>(lasting, elements, 4);
            let ((has, has_at), (settled, settled_at)) = (arguments.place(lasting, 1), arguments.place(lasting, 2));
            begins.is_wrong |= correction.is_wrong || has.is_wrong || settled.is_wrong || elements != bucket.elements;
            begins.may_write = vec![has_at, settled_at, begin..begin.saturating_add(elements.saturating_mul(4))];
            let (bucket, correction, timeout_us) = (bucket.pointer(), correction.address, u64::from(how) * 4);
            // SAFETY: as `Arguments` says.
            move |request| unsafe {
                optr_bucket_settle(bucket, timeout_us, correction, elements, has.address, settled.address, request)
            }
        });
    }

    /// All-reduces memory of the library, mostly in place or overlapping.
    fn reduce_allocated(&mut self, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let comm = self.handle(Kind::Comm, arguments.u8());
        let (bytes, how) = (arguments.count(8 * ELEMENTS), arguments.u8());
        let (place, at) = arguments.place::<*mut c_void>(&self.memory, 0);
        let call = Call::new("optr_alloc").of(comm).wrong_if(place.is_wrong || bytes == 0).clears(at);
        // SAFETY: as `Arguments` says.
        let allocate = || unsafe { optr_alloc(comm.pointer(), bytes, place.address) };
        if self.make(&call, shared, allocate) != OPTR_SUCCESS {
            return;
        }
        let start = std::ptr::with_exposed_provenance_mut::<f32>(self.memory.get(HANDLE));
        let elements = bucket.elements.min(bytes / 4);
        let (plain, begin) = arguments.values::<f32>(&self.memory, elements, 4);
        let (output, is_wrong, written) = match how % 4 {
            0 => (start, false, 0..0),
            // Disjoint, or with some values in both.
            1 | 2 => (start.wrapping_add(bytes / 4 - elements), false, 0..0),
            _ => (plain.address, plain.is_wrong, begin..begin + 4 * elements),
        };
        let place = report::<optr_report_t>(arguments, &self.memory);
        let is_wrong = is_wrong || place.is_null || place.pointer.is_wrong;
        let [one, other] = place.may_write;
        let call = Call::new("optr_bucket_all_reduce").of(bucket).needs_job().wrong_if(is_wrong);
        let call = call.writes(one).writes(other).writes(written);
        let report = place.pointer.address;
        // SAFETY: as `Arguments` says; the allocated memory holds `elements` values.
        self.make(&call, shared, || unsafe {
            optr_bucket_all_reduce(bucket.pointer(), start, output, elements, report, null_mut())
        });
        let call = Call::new("optr_free").of(comm);
        if how >= 200 {
            let inside = start.wrapping_add(1).cast();
            self.make(&call, shared, || optr_free(comm.pointer(), start.cast()));
            self.make(&call.wrong_if(true), shared, || optr_free(comm.pointer(), inside));
        } else {
            self.make(&call, shared, || optr_free(comm.pointer(), start.cast()));
        }
    }

    fn collective(&mut self, what: u8, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let name = match what {
            0 | 1 => "optr_bucket_all_reduce",
            2 => "optr_bucket_reduce_scatter",
            _ => "optr_bucket_all_gather",
        };
        let (of_input, of_output) = counts(what.max(1) - 1, self.number, bucket, arguments);
        let (input, _) = arguments.values::<f32>(&self.memory, of_input, 4);
        let (output, begin) = arguments.values::<f32>(&self.memory, of_output, 4);
        let place = report::<optr_report_t>(arguments, &self.memory);
        let is_wrong = place.is_null || place.pointer.is_wrong || input.is_wrong || output.is_wrong;
        let [one, other] = place.may_write;
        let call = Call::new(name).of(bucket).needs_job().wrong_if(is_wrong).writes(one).writes(other);
        let call = call.writes(begin..begin.saturating_add(of_output.saturating_mul(4)));
        let (bucket, input, output, report) = (bucket.pointer(), input.address, output.address, place.pointer.address);
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            match what {
                0 | 1 => optr_bucket_all_reduce(bucket, input, output, of_output, report, null_mut()),
                2 => optr_bucket_reduce_scatter(bucket, input, of_input, output, of_output, report, null_mut()),
                _ => optr_bucket_all_gather(bucket, input, of_input, output, of_output, report, null_mut()),
            }
        });
    }

    fn start_collective(&mut self, what: u8, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let names = ["optr_bucket_all_reduce", "optr_bucket_reduce_scatter", "optr_bucket_all_gather"];
        let number = self.number;
        self.start(names[usize::from(what)], bucket, arguments, shared, |begins, arguments, [lasting, memory]| {
            let (of_input, of_output) = counts(what, number, bucket, arguments);
            let (output, begin) = arguments.values::<f32>(lasting, of_output, 4);
            let from = if begin % 16 == 0 { lasting } else { memory };
            let (input, _) = arguments.values::<f32>(from, of_input, 4);
            let place = report::<optr_report_t>(arguments, lasting);
            begins.is_wrong |= place.is_null || place.pointer.is_wrong || input.is_wrong || output.is_wrong;
            begins.may_write.extend(place.may_write);
            begins.may_write.push(begin..begin.saturating_add(of_output.saturating_mul(4)));
            let report = place.pointer.address;
            move |request| -> optr_status_t {
                let (bucket, input, output) = (bucket.pointer(), input.address, output.address);
                // SAFETY: as `Arguments` says.
                unsafe {
                    match what {
                        0 => optr_bucket_all_reduce(bucket, input, output, of_output, report, request),
                        1 => optr_bucket_reduce_scatter(bucket, input, of_input, output, of_output, report, request),
                        _ => optr_bucket_all_gather(bucket, input, of_input, output, of_output, report, request),
                    }
                }
            }
        });
    }

    fn settle(&mut self, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (elements, how) = (arguments.count(bucket.elements), arguments.u8());
        let (correction, begin) = arguments.values::<f32>(&self.memory, elements, 4);
        let ((has, has_at), (settled, settled_at)) =
            (arguments.place(&self.memory, 0), arguments.place(&self.memory, 1));
        let timeout_us = if how > 250 { OPTR_NO_TIMEOUT } else { u64::from(how) * 4 };
        let is_wrong = correction.is_wrong || has.is_wrong || settled.is_wrong || elements != bucket.elements;
        let call = Call::new("optr_bucket_settle").of(bucket).needs_job().wrong_if(is_wrong);
        let call =
            call.writes(has_at).writes(settled_at).writes(begin..begin.saturating_add(elements.saturating_mul(4)));
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            let (bucket, correction) = (bucket.pointer(), correction.address);
            optr_bucket_settle(bucket, timeout_us, correction, elements, has.address, settled.address, null_mut())
        });
    }
}

/// Elements of input and output of a reduction (0), scatter (1) or gather (2).
fn counts(what: u8, rank: usize, bucket: Handle, arguments: &mut Arguments) -> (usize, usize) {
    let (whole, half) = (bucket.elements, bucket.elements.div_ceil(2));
    let shard = if rank == 0 { half } else { whole - half };
    match what {
        0 => {
            let elements = arguments.count(whole);
            (elements, elements)
        }
        1 => (arguments.count(whole), arguments.count(shard)),
        _ => (arguments.count(shard), arguments.count(whole)),
    }
}
