//! Broadcasts, gathers and messages of bytes.

use std::ptr::null_mut;

use optireduce_c::abi::exact::optr_exact_broadcast;
use optireduce_c::abi::message::*;
use optireduce_c::types::optr_message_t;
use optireduce_c::types::optr_status_t::OPTR_SUCCESS;
use optireduce_c::types::optr_type_t::OPTR_UINT8;

use super::Shared;
use super::arguments::{Arguments, PLACES};
use super::rank::{Call, Handle, Kind, Rank};

const BYTES: usize = 128;
const U8: u32 = OPTR_UINT8 as u32;

impl Rank {
    pub fn call_with_bytes(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        let comm = self.handle(Kind::Comm, arguments.u8());
        match what {
            0 => self.broadcast(comm, arguments, shared),
            1 => self.parts(0, comm, arguments, shared),
            2 => self.start("optr_exact_broadcast", comm, arguments, shared, |begins, arguments, [lasting, _]| {
                let (root, bytes) = (root(arguments), arguments.count(BYTES));
                let (data, begin) = arguments.values(lasting, bytes, 1);
                begins.is_wrong |= data.is_wrong;
                begins.may_write.push(begin..begin.saturating_add(bytes));
                // SAFETY: as `Arguments` says.
                move |request| unsafe { optr_exact_broadcast(comm.pointer(), root, data.address, bytes, U8, request) }
            }),
            3 => self.parts(3, comm, arguments, shared),
            4 => self.send(comm, arguments, shared),
            5 => self.parts(1, comm, arguments, shared),
            6 => self.start("optr_send", comm, arguments, shared, |begins, arguments, [_, memory]| {
                let (to, tag, bytes) = (root(arguments), u32::from(arguments.u8() % 3), arguments.count(BYTES));
                let data = arguments.values(memory, bytes, 1).0;
                (begins.is_wrong, begins.is_sent) = (begins.is_wrong || data.is_wrong || !(0..2).contains(&to), true);
                // SAFETY: as `Arguments` says.
                move |request| unsafe { optr_send(comm.pointer(), to, tag, data.address, bytes, request) }
            }),
            7 => self.receive(comm, arguments, shared),
            8 => self.parts(2, comm, arguments, shared),
            _ => self.start("optr_recv", comm, arguments, shared, |begins, arguments, [lasting, _]| {
                let (from, tag, bytes) =
                    (root(arguments).saturating_sub(1), u32::from(arguments.u8() % 3), arguments.count(BYTES));
                let (data, begin) = arguments.values(lasting, bytes, 1);
                let has_place = arguments.u8() & 1 == 1;
                let place = PLACES.start + 64;
                let message = if has_place { lasting.at::<optr_message_t>(place) } else { std::ptr::null_mut() };
                begins.is_received = true;
                begins.is_wrong |= data.is_wrong || !(-1..2).contains(&from);
                begins.may_write = vec![begin..begin.saturating_add(bytes), place..place + 16];
                // SAFETY: as `Arguments` says.
                move |request| unsafe { optr_recv(comm.pointer(), from, tag, data.address, bytes, message, request) }
            }),
        }
    }

    fn broadcast(&mut self, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (root, bytes) = (root(arguments), arguments.count(BYTES));
        let (data, begin) = arguments.values(&self.memory, bytes, 1);
        let call = Call::new("optr_exact_broadcast").of(comm).needs_job().wrong_if(data.is_wrong);
        let call = call.writes(begin..begin.saturating_add(bytes));
        // SAFETY: as `Arguments` says.
        self.make(&call, shared, || unsafe {
            optr_exact_broadcast(comm.pointer(), root, data.address, bytes, U8, null_mut())
        });
    }

    fn send(&mut self, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (to, tag, bytes) = (root(arguments), u32::from(arguments.u8() % 3), arguments.count(BYTES));
        let (data, _) = arguments.values(&self.memory, bytes, 1);
        let call = Call::new("optr_send").of(comm).wrong_if(data.is_wrong || !(0..2).contains(&to));
        // SAFETY: as `Arguments` says.
        let send = || unsafe { optr_send(comm.pointer(), to, tag, data.address, bytes, null_mut()) };
        let status = self.make(&call, shared, send);
        self.sent += u64::from(status == OPTR_SUCCESS);
        self.is_clean &= status == OPTR_SUCCESS || call.is_wrong || !comm.is_good;
    }

    fn receive(&mut self, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (from, tag, bytes) =
            (root(arguments).saturating_sub(1), u32::from(arguments.u8() % 3), arguments.count(BYTES));
        let (data, begin) = arguments.values(&self.memory, bytes, 1);
        let ((place, at), has_place) = (arguments.place::<optr_message_t>(&self.memory, 2), arguments.u8() & 1 == 1);
        let (message, wrong_place) = if has_place && !place.address.is_null() {
            (place.address, place.is_wrong)
        } else {
            (std::ptr::null_mut(), false)
        };
        let call = Call::new("optr_recv").of(comm).writes(begin..begin.saturating_add(bytes)).writes(at);
        let call = call.wrong_if(data.is_wrong || wrong_place || !(-1..2).contains(&from));
        // SAFETY: as `Arguments` says.
        let receive = || unsafe { optr_recv(comm.pointer(), from, tag, data.address, bytes, message, null_mut()) };
        let status = self.make(&call, shared, receive);
        self.received += u64::from(status == OPTR_SUCCESS);
        self.is_clean &= status == OPTR_SUCCESS || call.is_wrong || !comm.is_good;
    }
}

/// A rank; mostly a valid one.
pub fn root(arguments: &mut Arguments) -> i32 {
    match arguments.number() {
        number @ 8..=255 => number % 2,
        number => number,
    }
}
