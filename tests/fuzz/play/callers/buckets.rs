//! Calls of buckets.

use std::ffi::c_void;

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
            3 => self.buffer(bucket, arguments, shared),
            4 => self.reduce_in_place(bucket, arguments, shared),
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
        // SAFETY: as `Arguments` says.
        let create = || unsafe { optr_bucket_create(comm.pointer(), elements, options.address, place.address) };
        if self.make(&call, shared, create) == OPTR_SUCCESS {
            assert!((1..1 << 31).contains(&elements), "a bucket of {elements} elements");
            self.made.push(Made { kind: Kind::Bucket, number: self.memory.get(HANDLE), elements });
        }
    }

    fn buffer(&mut self, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (values, at) = arguments.place(&self.memory, 0);
        let (count, count_at) = arguments.place::<usize>(&self.memory, 1);
        let is_wrong = values.is_wrong || (count.is_wrong && !count.address.is_null());
        let call = Call::new("optr_bucket_buffer").of(bucket).wrong_if(is_wrong).clears(at).writes(count_at.clone());
        // SAFETY: as `Arguments` says.
        let ask = || unsafe { optr_bucket_buffer(bucket.pointer(), values.address, count.address) };
        if self.make(&call, shared, ask) == OPTR_SUCCESS {
            let has_count = !count.address.is_null();
            assert!(!has_count || self.memory.get::<usize>(count_at.start) == bucket.elements, "{bucket:?}");
            self.touch(bucket);
        }
    }

    /// Reads and writes a bucket's memory.
    fn touch(&self, bucket: Handle) {
        let values = std::ptr::with_exposed_provenance_mut::<f32>(self.memory.get(HANDLE));
        assert!(!values.is_null(), "{bucket:?}");
        for at in 0..bucket.elements {
            // SAFETY: the memory holds `elements` values until the bucket's next blocking call.
            unsafe { values.add(at).write(values.add(at).read() + 1.0) };
        }
    }

    fn reduce_in_place(&mut self, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (values, at) = arguments.place(&self.memory, 0);
        let place = report::<optr_report_t>(arguments, &self.memory);
        let is_wrong = values.is_wrong || place.is_null || place.pointer.is_wrong;
        let [one, other] = place.may_write;
        let call = Call::new("optr_bucket_all_reduce_in_place").of(bucket).needs_job().clears(at);
        let call = call.wrong_if(is_wrong).writes(one).writes(other);
        // SAFETY: as `Arguments` says.
        let reduce =
            || unsafe { optr_bucket_all_reduce_in_place(bucket.pointer(), values.address, place.pointer.address) };
        self.make(&call, shared, reduce);
        if bucket.is_good && !is_wrong {
            self.touch(bucket);
        }
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
            optr_bucket_all_reduce(bucket.pointer(), start, output, elements, report)
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
                0 | 1 => optr_bucket_all_reduce(bucket, input, output, of_output, report),
                2 => optr_bucket_reduce_scatter(bucket, input, of_input, output, of_output, report),
                _ => optr_bucket_all_gather(bucket, input, of_input, output, of_output, report),
            }
        });
    }

    fn start_collective(&mut self, what: u8, bucket: Handle, arguments: &mut Arguments, shared: &Shared) {
        let names =
            ["optr_bucket_start_all_reduce", "optr_bucket_start_reduce_scatter", "optr_bucket_start_all_gather"];
        let number = self.number;
        self.start(names[usize::from(what)], bucket, arguments, shared, |begins, arguments, [lasting, memory]| {
            let (of_input, of_output) = counts(what, number, bucket, arguments);
            let (output, begin) = arguments.values::<f32>(lasting, of_output, 4);
            let from = if begin % 16 == 0 { lasting } else { memory };
            let (input, _) = arguments.values::<f32>(from, of_input, 4);
            begins.is_wrong |= input.is_wrong || output.is_wrong;
            begins.has_report = true;
            begins.may_write.push(begin..begin.saturating_add(of_output.saturating_mul(4)));
            move |request| -> optr_status_t {
                let (bucket, input, output) = (bucket.pointer(), input.address, output.address);
                // SAFETY: as `Arguments` says.
                unsafe {
                    match what {
                        0 => optr_bucket_start_all_reduce(bucket, input, output, of_output, request),
                        1 => optr_bucket_start_reduce_scatter(bucket, input, of_input, output, of_output, request),
                        _ => optr_bucket_start_all_gather(bucket, input, of_input, output, of_output, request),
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
            optr_bucket_settle(bucket.pointer(), timeout_us, correction.address, elements, has.address, settled.address)
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
