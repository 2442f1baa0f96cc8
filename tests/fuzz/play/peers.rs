//! One rank of three, and anything that peers and strangers may send.
//!
//! Orders are raw datagrams, packets of the job with chosen fields, messages, collectives of this
//! rank, and time. Nothing may panic, no datagram may cause an error, and every collective must end
//! within its bounds.

use optireduce_contract::packet::UbtHeader;
use optireduce_core::protocol::{BoundParams, EarlyRule, HadamardMode, JobParams, MESSAGE_VERSION, MembershipParams};
use optireduce_core::software::{Batch, Software, SoftwareJob};
use optireduce_core::{Collectives, DataPlane};

const RANKS: usize = 3;
const JOB_TAG: u64 = 0x0123_4567_89ab_cdef;
const BOUND_NS: u64 = 1_000_000;
const RUNNING_MAX: usize = 4;
/// More turns than four collectives can need.
const TURNS_MAX: usize = 100_000;

/// The fuzzer's bytes; zeros after their end.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn u8(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }
}

struct Rank {
    collectives: Collectives<Software>,
    now_ns: u64,
    running: usize,
    out: Vec<u8>,
}

/// Executes the orders in `data`, then waits for all collectives.
pub fn play(data: &[u8]) {
    let mut bytes = Bytes(data);
    let options = bytes.u8();
    let job = SoftwareJob {
        slots: 4,
        unexpected_bytes_max: 20_000,
        in_flight_bytes_max: vec![u64::from(options & 1) * 4000; RANKS],
        ..SoftwareJob::new(0, RANKS, JOB_TAG, 4)
    };
    let plane = Software::new(job).expect("the job can be");
    let defaults = JobParams::new(0, RANKS, 4, BOUND_NS, &plane.limits());
    let params = JobParams {
        bf16: options & 2 != 0,
        early: (options & 4 != 0).then_some(EarlyRule { grace_ns: 50_000 }),
        window_beats_max: 48,
        ..defaults
    };
    let mut collectives = Collectives::new(plane, params).expect("the parameters can be");
    if options & 8 != 0 {
        collectives.follow_stage_times(1000);
        collectives.follow_incast();
        collectives.follow_round_trips(1000).expect("software measures round trips");
    }
    if options & 16 != 0 {
        let bound = (options & 32 != 0).then_some(BoundParams { min_ns: 1000, max_ns: BOUND_NS });
        let members = MembershipParams { bound, ..MembershipParams::new(RANKS) };
        collectives.agree_on_views(members, HadamardMode::Auto).expect("software ranks may change");
    }
    let mut rank = Rank { collectives, now_ns: 0, running: 0, out: Vec::new() };
    while !bytes.0.is_empty() {
        rank.order(&mut bytes);
    }
    rank.end();
}

impl Rank {
    fn order(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.u8() % 8 {
            0 => {
                let (from, count) = (bytes.u8(), bytes.u8());
                self.datagram(from, bytes.take(count.into()));
            }
            1 | 2 => self.packet(bytes),
            3 => self.pass(u64::from(bytes.u16()) * 16),
            4 => self.start(bytes),
            5 => self.poll(),
            6 => {
                let (from, count) = (bytes.u8(), bytes.u8());
                let mut message = bytes.take(count.into()).to_vec();
                // The corpus has messages of earlier versions.
                message.iter_mut().take(1).for_each(|version| *version = (*version).max(MESSAGE_VERSION));
                // An error is allowed: the message is refused.
                let _ = self.collectives.handle_message(self.now_ns, 1 + usize::from(from % 2), &message);
            }
            _ => self.send(),
        }
    }

    fn datagram(&mut self, from: u8, datagram: &[u8]) {
        let from = Some(usize::from(from % 4)).filter(|from| *from < RANKS);
        let plane = self.collectives.plane_mut();
        let before = plane.counters().rx_packets;
        plane.handle_datagram(from, datagram);
        assert_eq!(plane.counters().rx_packets, before + 1, "every datagram is counted");
    }

    /// A complete packet from the sender in its header.
    fn packet(&mut self, bytes: &mut Bytes<'_>) {
        let (sender, what) = (1 + bytes.u8() % 2, bytes.u8());
        let raw_offset = what & 64 != 0;
        let header = UbtHeader {
            bucket: u16::from(what & 3),
            offset: if raw_offset { bytes.u32() } else { u32::from(bytes.u8()) * 64 },
            timeout_16us: bytes.u16(),
            incast: what >> 2 & 15,
            flags: bytes.u8(),
            stage: [0, 2, 3, 1][usize::from(bytes.u8() % 4)],
            sender: sender.into(),
            step: if what & 128 != 0 { bytes.u16() } else { (bytes.u8() % 8).into() },
            job_tag: JOB_TAG,
        };
        let beats = usize::from(bytes.u8() % 6);
        let mut datagram = header.to_bytes().to_vec();
        datagram.resize(datagram.len() + beats * 64, bytes.u8());
        self.datagram(sender, &datagram);
    }

    fn start(&mut self, bytes: &mut Bytes<'_>) {
        let (bucket, elements, hadamard) = (bytes.u8() % 4, usize::from(bytes.u16() % 3000), bytes.u8() & 1 != 0);
        if self.running == RUNNING_MAX || !self.collectives.may_prepare(self.now_ns) {
            return;
        }
        // Collectives that peers claim to be at have no influence; the caller's calls count.
        let op = self.collectives.prepare(self.now_ns, bucket.into(), elements, hadamard).expect("it can be prepared");
        self.collectives.start(self.now_ns, op, vec![1.0; elements]).expect("it was prepared");
        self.running += 1;
    }

    fn poll(&mut self) {
        while let Some(finished) = self.collectives.poll(self.now_ns).expect("no datagram is an error") {
            self.running -= 1;
            let fractions = finished.report.stages.map(|stage| stage.received_fraction);
            assert!(fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)), "{fractions:?}");
        }
        while self.collectives.poll_message().is_some() {}
        while self.collectives.poll_membership_event().is_some() {}
    }

    fn send(&mut self) {
        let batch = Batch { segments_max: 4, bytes_max: 4000 };
        while let Some(transmit) = self.collectives.plane_mut().poll_transmit(batch) {
            transmit.copy_to(&mut self.out);
        }
    }

    fn pass(&mut self, ns: u64) {
        self.now_ns += ns;
        self.collectives.plane_mut().advance(self.now_ns);
        self.collectives.handle_timeout(self.now_ns);
    }

    /// Ends all collectives without further packets.
    fn end(&mut self) {
        for _ in 0..TURNS_MAX {
            self.poll();
            self.send();
            if self.running == 0 {
                return;
            }
            let next_ns = self.collectives.plane().next_timeout();
            let wait_ns = next_ns.map_or(BOUND_NS, |next_ns| next_ns.saturating_sub(self.now_ns));
            assert!(wait_ns <= 100 * BOUND_NS, "the next thing happens after {wait_ns} ns");
            self.pass(wait_ns.max(1));
        }
        panic!("{} collectives never end", self.running);
    }
}
