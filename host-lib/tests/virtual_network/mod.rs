//! Software ranks on a network in virtual time, and what happened to every datagram.
//!
//! Every decision comes from the seed. A rank acts when something reaches it or its own timer is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optireduce::protocol::{JobParams, Report};
use optireduce::software::{Batch, Software, SoftwareJob};
use optireduce::{Collectives, Finished};
use optireduce_contract::packet::{UBT_BYTES, UbtHeader};

pub const JOB_TAG: u64 = 0x0123_4567_89ab_cdef;

/// SplitMix64, counted up.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        optireduce_contract::signs::splitmix64(self.0)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= probability && probability > 0.0
    }

    pub fn gradient(&mut self, elements: usize) -> Vec<f32> {
        (0..elements).map(|_| (self.below(2_000_001) as f32 - 1e6) * 1e-6).collect()
    }
}

/// What the network does.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    pub loss: f64,
    pub duplicate: f64,
    pub delay_ns: std::ops::Range<u64>,
    /// A rank of which nothing arrives anywhere in this time.
    pub outage: Option<(usize, std::ops::Range<u64>)>,
}

/// A datagram that left a rank.
#[derive(Clone, Debug)]
pub struct Sent {
    pub from: usize,
    pub to: usize,
    pub header: UbtHeader,
    pub payload_bytes: usize,
    /// Copies that arrived.
    pub arrived: u32,
}

/// When a datagram arrives, its number, from whom, to whom, and its bytes.
type Flight = (u64, usize, usize, usize, Vec<u8>);

/// One rank's collective.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub report: Report,
    pub result: Vec<f32>,
    /// From its own start to its end.
    pub took_ns: u64,
}

pub struct Network {
    pub ranks: Vec<Collectives<Software>>,
    pub sent: Vec<Sent>,
    pub now_ns: u64,
    weather: Weather,
    random: Random,
    in_flight: BinaryHeap<Reverse<Flight>>,
}

impl Network {
    /// `params`: of each rank, from its number and its data plane's limits.
    pub fn new(
        ranks: usize,
        payload_beats: usize,
        weather: Weather,
        seed: u64,
        params: impl Fn(usize, &Software) -> JobParams,
    ) -> Self {
        let rank = |rank| {
            let plane = Software::new(SoftwareJob::new(rank, ranks, JOB_TAG, payload_beats)).unwrap();
            let params = params(rank, &plane);
            Collectives::new(plane, params).unwrap()
        };
        Self {
            ranks: (0..ranks).map(rank).collect(),
            sent: Vec::new(),
            now_ns: 0,
            weather,
            random: Random(seed ^ 0x6e65_7477),
            in_flight: BinaryHeap::new(),
        }
    }

    /// One collective: every rank prepares and starts when its time has come (`None`: it never does); ends when all that
    /// started are done.
    pub fn all_reduce(
        &mut self,
        bucket: u16,
        gradients: &[Vec<f32>],
        hadamard: bool,
        start_ns: &[Option<u64>],
    ) -> Vec<Option<Outcome>> {
        let begin_ns = self.now_ns;
        let mut started = vec![false; self.ranks.len()];
        let mut outcomes: Vec<Option<Outcome>> = vec![None; self.ranks.len()];
        loop {
            for rank in 0..self.ranks.len() {
                let Some(start_ns) = start_ns[rank].map(|after| begin_ns + after) else { continue };
                if !started[rank] && self.now_ns >= start_ns {
                    started[rank] = true;
                    self.ranks[rank].plane_mut().advance(self.now_ns);
                    let op = self.ranks[rank].prepare(self.now_ns, bucket, gradients[rank].len(), hadamard).unwrap();
                    self.ranks[rank].start(self.now_ns, op, gradients[rank].clone()).unwrap();
                }
                self.ranks[rank].plane_mut().advance(self.now_ns);
                while let Some(Finished { report, result }) = self.ranks[rank].poll(self.now_ns).unwrap() {
                    outcomes[rank] = Some(Outcome { report, result, took_ns: self.now_ns - start_ns });
                }
                self.transmit(rank);
            }
            if (0..self.ranks.len()).all(|rank| start_ns[rank].is_none() || outcomes[rank].is_some()) {
                return outcomes;
            }
            let arrival = self.in_flight.peek().map(|Reverse((at_ns, ..))| *at_ns);
            let starts = (0..self.ranks.len()).filter(|rank| !started[*rank]).filter_map(|rank| start_ns[rank]);
            let timers = self.ranks.iter().filter_map(|rank| rank.plane().next_timeout());
            let next_ns = starts.map(|after| begin_ns + after).chain(timers).chain(arrival).min();
            self.now_ns = next_ns.expect("somebody waits for nothing: a hang").max(self.now_ns);
            while let Some(Reverse((at_ns, ..))) = self.in_flight.peek()
                && *at_ns <= self.now_ns
                && let Some(Reverse((_, _, from, to, datagram))) = self.in_flight.pop()
            {
                self.ranks[to].plane_mut().advance(self.now_ns);
                self.ranks[to].plane_mut().handle_datagram(Some(from), &datagram);
            }
        }
    }

    fn transmit(&mut self, rank: usize) {
        let mut out = Vec::new();
        let batch = Batch { segments_max: 1 + self.random.below(4) as usize, bytes_max: 65_000 };
        while let Some(transmit) = self.ranks[rank].plane_mut().poll_transmit(batch, &mut out) {
            assert_eq!(out.len().div_ceil(transmit.segment_bytes), transmit.segments);
            for datagram in out.chunks(transmit.segment_bytes) {
                self.send(rank, transmit.to, datagram);
            }
        }
    }

    fn send(&mut self, from: usize, to: usize, datagram: &[u8]) {
        let header = UbtHeader::from_bytes(datagram.first_chunk().unwrap(), JOB_TAG).unwrap();
        let cut_off =
            self.weather.outage.as_ref().is_some_and(|(rank, time)| *rank == from && time.contains(&self.now_ns));
        let copies = 1 + u32::from(self.random.chance(self.weather.duplicate));
        let mut arrived = 0;
        for _ in 0..copies {
            let Weather { loss, delay_ns, .. } = &self.weather;
            let at_ns = self.now_ns + delay_ns.start + self.random.below((delay_ns.end - delay_ns.start).max(1));
            if !self.random.chance(*loss) && !cut_off {
                arrived += 1;
                self.in_flight.push(Reverse((
                    at_ns,
                    self.sent.len() * 2 + arrived as usize,
                    from,
                    to,
                    datagram.to_vec(),
                )));
            }
        }
        self.sent.push(Sent { from, to, header, payload_bytes: datagram.len() - UBT_BYTES, arrived });
    }
}
