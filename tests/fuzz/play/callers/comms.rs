//! Calls of communicators, ids and the library.

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

use optireduce_c::abi::comm::*;
use optireduce_c::abi::exact::optr_barrier;
use optireduce_c::abi::library::{optr_status_name, optr_version};
use optireduce_c::abi::memory::optr_free;
use optireduce_c::types::optr_status_t::{self, *};
use optireduce_c::types::{OPTR_UNIQUE_ID_BYTES, OPTR_VERSION, optr_comm_t, optr_unique_id_t};

use super::Shared;
use super::arguments::{Arguments, HANDLE, PLACES, any_config};
use super::rank::{Call, Handle, Kind, Rank, State};

/// Prefix of ids with an address on this host.
const HERE: &[u8] = b"optireduce 1 127.0.0.1:";
/// Addresses that need no name server.
const ADDRESSES: [&[u8]; 12] = [
    b"127.0.0.1",
    b"127.0.0.1:0",
    b"127.0.0.1:65535",
    b"127.0.0.1:65536",
    b"::1",
    b"[::1]",
    b"[::1]:5",
    b":1",
    b"",
    b"a b:1",
    b"\xff\xfe:1",
    b"1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890:1",
];

impl Rank {
    pub fn call_of_comm(&mut self, what: u8, arguments: &mut Arguments, shared: &Shared) {
        let comm = self.handle(Kind::Comm, arguments.u8());
        match what {
            0..=3 => self.question(what, comm, arguments, shared),
            4 => {
                let (place, at) = arguments.place(&self.memory, 0);
                let call = Call::new("optr_comm_rejoin").of(comm).needs_job().wrong_if(place.is_wrong).writes(at);
                // SAFETY: as `Arguments` says.
                self.make(&call, shared, || unsafe { optr_comm_rejoin(comm.pointer(), place.address, null_mut()) });
            }
            5 => self.metrics(comm, arguments, shared),
            6 => self.close_comm(comm, shared),
            7 => {
                let call = Call::new("optr_comm_abort").of(comm);
                if self.make(&call, shared, || optr_comm_abort(comm.pointer())) == OPTR_SUCCESS {
                    self.is_clean = false;
                    self.state = if self.state == State::Closed { State::Closed } else { State::Aborted };
                }
            }
            8 => {
                let call = Call::new("optr_comm_destroy").of(comm);
                if self.make(&call, shared, || optr_comm_destroy(comm.pointer())) == OPTR_SUCCESS {
                    self.forget_comm(shared);
                }
            }
            9 => {
                let call = Call::new("optr_barrier").of(comm).needs_job();
                // SAFETY: no request.
                self.make(&call, shared, || unsafe { optr_barrier(comm.pointer(), null_mut()) });
            }
            10 => self.split(comm, arguments, shared),
            11 => self.start("optr_barrier", comm, arguments, shared, |_, _, _| {
                // SAFETY: as `Arguments` says.
                move |request| unsafe { optr_barrier(comm.pointer(), request) }
            }),
            12 => self.ask_for_id(arguments, shared),
            13 => self.join(arguments, shared),
            14 => {
                let status = i32::from(arguments.u8()) - 100;
                // SAFETY: a static text.
                let name = unsafe { CStr::from_ptr(optr_status_name(status)) }.to_str().expect("a name");
                assert_eq!((0..=OPTR_PENDING as i32).contains(&status), name.starts_with("OPTR_"), "{status}: {name}");
                assert_eq!(optr_version(), OPTR_VERSION);
            }
            _ if self.state == State::None => self.open(shared),
            _ => {}
        }
    }

    /// Queries that involve no other rank.
    fn question(&mut self, what: u8, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (one, at) = arguments.place::<i32>(&self.memory, 0);
        let (other, other_at) = arguments.place::<usize>(&self.memory, 1);
        let names = ["optr_comm_rank", "optr_comm_world_size", "optr_comm_async_error", "optr_comm_shard"];
        let call = Call::new(names[usize::from(what)]).of(comm);
        let of_one = |call: Call| call.wrong_if(one.is_wrong).writes(at.clone());
        // SAFETY: as `Arguments` says.
        unsafe {
            match what {
                0 => self.make(&of_one(call), shared, || optr_comm_rank(comm.pointer(), one.address)),
                1 => self.make(&of_one(call), shared, || optr_comm_world_size(comm.pointer(), one.address)),
                2 => self.make(&of_one(call), shared, || optr_comm_async_error(comm.pointer(), one.address.cast())),
                _ => {
                    let some = 1 << (arguments.u8() % 61);
                    let elements = arguments.count(some);
                    let call = call.wrong_if(one.is_wrong || other.is_wrong || elements > usize::MAX >> 3);
                    let call = call.writes(at.start..at.start + 8).writes(other_at);
                    self.make(&call, shared, || {
                        optr_comm_shard(comm.pointer(), elements, one.address.cast(), other.address)
                    })
                }
            }
        };
    }

    fn metrics(&mut self, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let (place, at) = arguments.place::<*mut c_char>(&self.memory, 0);
        let call = Call::new("optr_comm_metrics").of(comm).wrong_if(place.is_wrong).clears(at);
        // SAFETY: as `Arguments` says.
        let ask = || unsafe { optr_comm_metrics(comm.pointer(), place.address, null_mut()) };
        if self.make(&call, shared, ask) == OPTR_SUCCESS {
            let json = std::ptr::with_exposed_provenance_mut::<c_char>(self.memory.get(HANDLE));
            // SAFETY: a text from the library, until it is freed.
            let text = unsafe { CStr::from_ptr(json) }.to_str().expect("a text");
            assert!(text.starts_with('{') && text.contains("\"settings\""), "{text}");
            let free = Call::new("optr_free").of(comm);
            self.make(&free, shared, || optr_free(comm.pointer(), json.cast()));
        }
    }

    fn split(&mut self, comm: Handle, arguments: &mut Arguments, shared: &Shared) {
        let ((place, at), color) = (arguments.place::<optr_comm_t>(&self.memory, 0), arguments.number());
        let color = color.clamp(-2, 2);
        let call = Call::new("optr_comm_split").of(comm).needs_job().clears(at);
        let call = call.wrong_if(place.is_wrong || color == -2);
        // SAFETY: as `Arguments` says.
        let split = || unsafe { optr_comm_split(comm.pointer(), color, place.address, null_mut()) };
        if self.make(&call, shared, split) == OPTR_SUCCESS {
            let made: usize = self.memory.get(HANDLE);
            assert_eq!(made == 0, color == -1, "a communicator of color {color}");
            if made != 0 {
                assert_eq!(optr_comm_destroy(std::ptr::without_provenance_mut(made)), OPTR_SUCCESS);
            }
        }
    }

    fn close_comm(&mut self, comm: Handle, shared: &Shared) {
        let call = Call::new("optr_comm_close").of(comm).needs_job();
        // SAFETY: no request.
        self.make(&call, shared, || unsafe { optr_comm_close(comm.pointer(), null_mut()) });
        if comm.is_good {
            self.is_clean = false;
            self.state = if self.state == State::Runs { State::Closed } else { self.state };
        }
    }

    fn ask_for_id(&mut self, arguments: &mut Arguments, shared: &Shared) {
        let address = arguments.text(&self.memory, &ADDRESSES);
        let place = PLACES.start + 64;
        let (is_null, at) = (arguments.u8() < 8, place..place + OPTR_UNIQUE_ID_BYTES);
        let id = if is_null { std::ptr::null_mut() } else { self.memory.at::<optr_unique_id_t>(place) };
        let call = Call::new("optr_get_unique_id").wrong_if(address.is_wrong || is_null).writes(at);
        // SAFETY: as `Arguments` says; a text ends, or has 4096 bytes.
        self.make(&call, shared, || unsafe { optr_get_unique_id(address.address, id) });
    }

    /// Joins a job that does not exist, or one of both ranks.
    fn join(&mut self, arguments: &mut Arguments, shared: &Shared) {
        let (comm, at) = arguments.place(&self.memory, 0);
        let (how, byte, with) = (arguments.u8(), arguments.u8(), arguments.u8());
        let (world_size, rank) =
            if with >= 128 { (2, self.number as i32) } else { (arguments.number(), arguments.number()) };
        let id = if how < 4 { optr_unique_id_t { bytes: [byte; _] } } else { self.id_of(how, byte, rank, shared) };
        let place = PLACES.start + 64;
        id.bytes.iter().enumerate().for_each(|(at, byte)| self.memory.set(place + at, *byte));
        let (config, is_null) = (any_config(arguments, &self.memory), how == 4);
        let id = if is_null { std::ptr::null() } else { self.memory.at::<optr_unique_id_t>(place) };
        let is_wrong = comm.is_wrong || is_null || config.is_wrong || !(2..=1024).contains(&world_size);
        let is_wrong = is_wrong || !(0..world_size).contains(&rank);
        let call = Call::new("optr_comm_init_rank").wrong_if(is_wrong).clears(at);
        // SAFETY: as `Arguments` says.
        let join = || unsafe { optr_comm_init_rank(comm.address, world_size, id, rank, config.address) };
        // A rank with a communicator keeps it, so it makes only calls that must fail.
        if self.state == State::None || is_wrong {
            let status: optr_status_t = self.make(&call, shared, join);
            self.take_comm(status, shared);
            self.is_clean = false;
        }
    }

    /// The first job's id with one byte changed. The port changes on rank 0 only, since other ranks
    /// would send to it.
    fn id_of(&self, how: u8, byte: u8, rank: i32, shared: &Shared) -> optr_unique_id_t {
        let mut id = shared.id(0).expect("a first job");
        assert!(id.bytes.starts_with(HERE));
        let at = usize::from(how) % OPTR_UNIQUE_ID_BYTES;
        let is_port = (HERE.len()..HERE.len() + 6).contains(&at);
        if how < 128 && (at < 12 || at >= HERE.len()) && !(is_port && rank != 0) {
            id.bytes[at] = byte;
        }
        id
    }
}
