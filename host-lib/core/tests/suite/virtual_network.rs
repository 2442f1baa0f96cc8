//! Software ranks on a network in virtual time, with a record of every datagram. All decisions
//! follow from the seed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use optireduce_contract::packet::{UBT_BYTES, UbtHeader};
use optireduce_core::protocol::{HadamardMode, JobParams, Kind, Report};
use optireduce_core::software::{Batch, Software, SoftwareError, SoftwareJob, Transmit};
use optireduce_core::{
    Call, Collectives, CollectivesError, Destination, Finished, MembershipEvent, MessageError, Values,
};

pub const JOB_TAG: u64 = 0x0123_4567_89ab_cdef;

/// Bucket for a call of [`Network::all_reduce`]. A declared bucket keeps its settings, so calls
/// that are always encoded need another bucket.
pub fn bucket_of(bucket: u16, hadamard: impl Into<HadamardMode>) -> u16 {
    if hadamard.into() == HadamardMode::On { bucket | 1 << 12 } else { bucket }
}

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

#[derive(Clone, Debug, Default)]
pub struct Impairments {
    pub loss: f64,
    pub duplicate: f64,
    pub delay_ns: Range<u64>,
    pub outage: Option<(usize, Range<u64>)>,
    /// Loss by sender, receiver and header.
    pub lose: Option<fn(usize, usize, &UbtHeader) -> bool>,
    /// Link to each rank; `None` for unlimited bandwidth.
    pub link: Option<Link>,
}

/// Link with a drop-tail queue.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub bytes_per_us: u64,
    pub queue_bytes: u64,
}

impl Link {
    /// Time at which `bytes` have passed, if the queue has room. `free_ns`: end of the queue.
    fn pass(&self, free_ns: &mut u64, now_ns: u64, bytes: u64) -> Option<u64> {
        let queued_bytes = free_ns.saturating_sub(now_ns) * self.bytes_per_us / 1000;
        if queued_bytes + bytes > self.queue_bytes {
            return None;
        }
        *free_ns = now_ns.max(*free_ns) + bytes * 1000 / self.bytes_per_us;
        Some(*free_ns)
    }
}

#[derive(Clone, Debug)]
pub struct Sent {
    pub from: usize,
    pub to: usize,
    pub header: UbtHeader,
    pub payload_bytes: usize,
    pub arrived: u32,
}

/// Arrival time, serial number, sender, receiver and bytes of a datagram.
type Flight = (u64, usize, usize, usize, Vec<u8>);

#[derive(Clone, Debug)]
pub struct Outcome {
    pub report: Report,
    pub result: Vec<f32>,
    /// Partial result of a skipped update.
    pub partial: Option<Vec<f32>>,
    pub took_ns: u64,
}

pub struct Network {
    pub ranks: Vec<Collectives<Software>>,
    pub sent: Vec<Sent>,
    /// Records datagrams in `sent`; they are always counted.
    pub keeps_sent: bool,
    pub sent_count: usize,
    pub now_ns: u64,
    pub impairments: Impairments,
    random: Random,
    link_free_ns: Vec<u64>,
    in_flight: BinaryHeap<Reverse<Flight>>,
    /// Delay of the reliable channel, which keeps the order.
    pub letters_ns: Range<u64>,
    letters: BinaryHeap<Reverse<Flight>>,
    letters_count: usize,
    last_letter_ns: Vec<u64>,
    /// Ranks that no longer run or receive; `dies_ns`: times of death in [`train`](Self::train).
    pub dead: Vec<bool>,
    pub dies_ns: Vec<Option<u64>>,
    pub events: Vec<(usize, MembershipEvent)>,
    /// Calls with windows armed before them, and copied bytes of results.
    pub preposted: usize,
    pub copied_bytes: usize,
    agenda: Agenda,
}

#[derive(Default)]
struct Agenda {
    touched: BTreeSet<usize>,
    timers: Vec<Option<u64>>,
    in_order: BTreeSet<(u64, usize)>,
}

impl Agenda {
    fn touch_all(&mut self, ranks: usize) {
        *self = Self { touched: (0..ranks).collect(), timers: vec![None; ranks], in_order: BTreeSet::new() };
    }

    fn set_timer(&mut self, rank: usize, at_ns: Option<u64>) {
        if let Some(before) = std::mem::replace(&mut self.timers[rank], at_ns) {
            self.in_order.remove(&(before, rank));
        }
        self.in_order.extend(at_ns.map(|at_ns| (at_ns, rank)));
    }

    fn take(&mut self, now_ns: u64) -> BTreeSet<usize> {
        let mut turn = std::mem::take(&mut self.touched);
        turn.extend(self.in_order.range(..=(now_ns, usize::MAX)).map(|(_, rank)| *rank));
        turn
    }

    fn next_ns(&self) -> Option<u64> {
        self.in_order.first().map(|(at_ns, _)| *at_ns)
    }
}

impl Network {
    /// `params`: parameters of a rank, from its number and its data plane.
    pub fn new(
        ranks: usize,
        payload_beats: usize,
        impairments: Impairments,
        seed: u64,
        params: impl Fn(usize, &Software) -> JobParams,
    ) -> Self {
        Self::with_jobs(ranks, impairments, seed, |rank| SoftwareJob::new(rank, ranks, JOB_TAG, payload_beats), params)
    }

    pub fn with_jobs(
        ranks: usize,
        impairments: Impairments,
        seed: u64,
        job: impl Fn(usize) -> SoftwareJob,
        params: impl Fn(usize, &Software) -> JobParams,
    ) -> Self {
        let rank = |rank| {
            let plane = Software::new(job(rank)).unwrap();
            let params = params(rank, &plane);
            Collectives::new(plane, params).unwrap()
        };
        Self {
            ranks: (0..ranks).map(rank).collect(),
            sent: Vec::new(),
            keeps_sent: true,
            sent_count: 0,
            now_ns: 0,
            impairments,
            random: Random(seed ^ 0x6e65_7477),
            link_free_ns: vec![0; ranks],
            in_flight: BinaryHeap::new(),
            letters_ns: 20_000..200_000,
            letters: BinaryHeap::new(),
            letters_count: 0,
            last_letter_ns: vec![0; ranks * ranks],
            dead: vec![false; ranks],
            dies_ns: vec![None; ranks],
            events: Vec::new(),
            preposted: 0,
            copied_bytes: 0,
            agenda: Agenda::default(),
        }
    }

    pub fn all_reduce(
        &mut self,
        bucket: u16,
        gradients: &[Vec<f32>],
        hadamard: impl Into<HadamardMode>,
        start_ns: &[Option<u64>],
    ) -> Vec<Option<Outcome>> {
        let elements = gradients[0].len();
        let hadamard = hadamard.into();
        let call = Call { hadamard, ..Call::declared(Kind::AllReduce, bucket_of(bucket, hadamard), elements, 0) };
        self.collective(call, gradients, start_ns)
    }

    /// Runs one collective until all ranks that start it are done. Each rank prepares and starts it
    /// after its `start_ns`, or never if `None`.
    pub fn collective(&mut self, call: Call, given: &[Vec<f32>], start_ns: &[Option<u64>]) -> Vec<Option<Outcome>> {
        let (begin_ns, ranks) = (self.now_ns, self.ranks.len());
        let mut started = vec![false; ranks];
        let mut outcomes: Vec<Option<Outcome>> = vec![None; ranks];
        let mut waits_for: BTreeSet<usize> = (0..ranks).filter(|rank| start_ns[*rank].is_some()).collect();
        self.agenda.touch_all(ranks);
        loop {
            for rank in self.agenda.take(self.now_ns) {
                self.agenda.set_timer(rank, None);
                if self.dead[rank] {
                    continue;
                }
                self.exchange_letters(rank);
                let start_ns = start_ns[rank].map(|after| begin_ns + after);
                let may_start = !started[rank] && start_ns.is_some_and(|start_ns| self.now_ns >= start_ns);
                self.ranks[rank].plane_mut().advance(self.now_ns);
                if may_start && self.ranks[rank].may_prepare(self.now_ns) {
                    started[rank] = true;
                    self.start(rank, call, given[rank].clone());
                    self.ranks[rank].plane_mut().advance(self.now_ns);
                }
                if let Some(start_ns) = start_ns {
                    while let Some(Finished { report, result, partial, copied_bytes, .. }) =
                        self.ranks[rank].poll(self.now_ns).unwrap()
                    {
                        self.copied_bytes += copied_bytes;
                        let (result, partial) = (result.into_vec(), partial.map(Values::into_vec));
                        outcomes[rank] = Some(Outcome { report, result, partial, took_ns: self.now_ns - start_ns });
                    }
                    self.transmit(rank);
                    self.exchange_letters(rank);
                    if outcomes[rank].is_some() || !started[rank] && !self.ranks[rank].is_member() {
                        waits_for.remove(&rank);
                    }
                }
                let start_ns = start_ns.filter(|start_ns| *start_ns > self.now_ns);
                self.set_timer(rank, start_ns);
            }
            if waits_for.is_empty() {
                return outcomes;
            }
            self.pass_time();
        }
    }

    /// Makes `calls` calls on every rank, independently of other ranks. Ends when all live ranks
    /// are done or have failed and the network is empty. Returns when and why ranks failed.
    pub fn train(
        &mut self,
        calls: u32,
        pause_ns: impl Fn(usize, u32) -> u64,
        call: impl Fn(usize, u32) -> (Call, Vec<f32>),
        mut finished: impl FnMut(usize, Outcome),
    ) -> Vec<Option<(u64, CollectivesError<SoftwareError>)>> {
        let ranks = self.ranks.len();
        let mut failed: Vec<Option<_>> = (0..ranks).map(|_| None).collect();
        let mut next: Vec<(u32, u64)> = (0..ranks).map(|rank| (0, self.now_ns + pause_ns(rank, 0))).collect();
        let mut since_ns: Vec<Option<u64>> = vec![None; ranks];
        self.agenda.touch_all(ranks);
        loop {
            for rank in self.agenda.take(self.now_ns) {
                self.agenda.set_timer(rank, None);
                self.dead[rank] |= self.dies_ns[rank].is_some_and(|at_ns| self.now_ns >= at_ns);
                if self.dead[rank] || failed[rank].is_some() {
                    continue;
                }
                self.exchange_letters(rank);
                self.ranks[rank].plane_mut().advance(self.now_ns);
                let (number, at_ns) = next[rank];
                let may_start = since_ns[rank].is_none() && number < calls && self.now_ns >= at_ns;
                if may_start && self.ranks[rank].may_prepare(self.now_ns) {
                    let (call, given) = call(rank, number);
                    self.start(rank, call, given);
                    since_ns[rank] = Some(self.now_ns);
                }
                let polled = self.ranks[rank].poll(self.now_ns);
                let again = matches!(polled, Ok(Some(_)));
                match polled {
                    Ok(None) => {}
                    Ok(Some(Finished { report, result, partial, copied_bytes, .. })) => {
                        self.copied_bytes += copied_bytes;
                        let took_ns = self.now_ns - since_ns[rank].take().expect("it was started");
                        let (result, partial) = (result.into_vec(), partial.map(Values::into_vec));
                        finished(rank, Outcome { report, result, partial, took_ns });
                        next[rank] = (number + 1, self.now_ns + pause_ns(rank, number + 1));
                    }
                    Err(error) => failed[rank] = Some((self.now_ns, error)),
                }
                self.transmit(rank);
                self.exchange_letters(rank);
                if failed[rank].is_none() {
                    let waits = since_ns[rank].is_none() && next[rank].0 < calls && next[rank].1 > self.now_ns;
                    let start_ns = waits.then_some(next[rank].1);
                    self.set_timer(rank, if again { Some(self.now_ns) } else { start_ns });
                }
            }
            let is_over = |rank: usize| self.dead[rank] || failed[rank].is_some() || next[rank].0 == calls;
            let works = |rank: &usize| !self.dead[*rank] && failed[*rank].is_none();
            let is_settled = |rank: usize| {
                !works(&rank) || self.ranks[rank].repaired().is_none_or(|report| report.outstanding_bytes == 0)
            };
            let all_over = (0..ranks).all(is_over);
            let none_come = self.letters.is_empty() && self.in_flight.is_empty();
            if all_over && none_come && ((0..ranks).all(is_settled) || self.agenda.next_ns().is_none()) {
                return failed;
            }
            self.pass_time();
            assert!(self.now_ns < 3_600_000_000_000, "the ranks do not end: {next:?}");
        }
    }

    /// Starts a collective on a rank. Every other result has a destination outside the bucket.
    fn start(&mut self, rank: usize, call: Call, given: Vec<f32>) {
        let one = &mut self.ranks[rank];
        self.preposted += usize::from(one.is_preposted());
        let is_elsewhere = call.kind == Kind::AllReduce && !call.is_one_off() && one.next_call() % 2 == 1;
        let destination = match is_elsewhere {
            true => Destination::Here(vec![f32::NAN; given.len()].into()),
            false => Destination::Bucket,
        };
        let op = one.prepare_call_to(self.now_ns, call, destination).unwrap();
        one.start(self.now_ns, op, given).unwrap();
    }

    /// `start_ns`: start of the rank's next collective.
    fn set_timer(&mut self, rank: usize, start_ns: Option<u64>) {
        let dies_ns = self.dies_ns[rank].filter(|at_ns| *at_ns > self.now_ns);
        let one = &self.ranks[rank];
        let timers = [one.plane().next_timeout(), one.next_timeout(), start_ns, dies_ns];
        self.agenda.set_timer(rank, timers.into_iter().flatten().min());
    }

    fn pass_time(&mut self) {
        let arrivals = [&self.in_flight, &self.letters].into_iter().filter_map(|flights| flights.peek());
        let arrivals = arrivals.map(|Reverse((at_ns, ..))| *at_ns);
        let next_ns = arrivals.chain(self.agenda.next_ns()).min();
        self.now_ns = next_ns.expect("somebody waits for nothing: a hang").max(self.now_ns);
        self.deliver();
    }

    pub fn letters_sent(&self) -> usize {
        self.letters_count
    }

    fn deliver(&mut self) {
        while let Some(Reverse((at_ns, ..))) = self.in_flight.peek()
            && *at_ns <= self.now_ns
            && let Some(Reverse((_, _, from, to, datagram))) = self.in_flight.pop()
        {
            self.ranks[to].plane_mut().advance(self.now_ns);
            self.ranks[to].plane_mut().handle_datagram(Some(from), &datagram);
            self.agenda.touched.insert(to);
        }
        while let Some(Reverse((at_ns, ..))) = self.letters.peek()
            && *at_ns <= self.now_ns
            && let Some(Reverse((_, _, from, to, letter))) = self.letters.pop()
        {
            self.agenda.touched.insert(to);
            if !self.dead[to] {
                match self.ranks[to].handle_message(self.now_ns, from, &letter) {
                    // Answers to repairs that were given up in the meantime.
                    Ok(()) | Err(MessageError::Unexpected(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    fn exchange_letters(&mut self, rank: usize) {
        self.ranks[rank].handle_timeout(self.now_ns);
        while let Some((to, letter)) = self.ranks[rank].poll_message() {
            let Range { start, end } = self.letters_ns;
            let last_ns = &mut self.last_letter_ns[rank * self.dead.len() + to];
            *last_ns = (*last_ns).max(self.now_ns + start + self.random.below((end - start).max(1)));
            self.letters_count += 1;
            self.letters.push(Reverse((*last_ns, self.letters_count, rank, to, letter)));
        }
        while let Some(event) = self.ranks[rank].poll_membership_event() {
            self.events.push((rank, event));
        }
    }

    fn transmit(&mut self, rank: usize) {
        let mut out = Vec::new();
        let batch = Batch { segments_max: 1 + self.random.below(4) as usize, bytes_max: 65_000 };
        while let Some(transmit) = self.ranks[rank].plane_mut().poll_transmit(batch) {
            transmit.copy_to(&mut out);
            let Transmit { to, segment_bytes, .. } = transmit;
            assert_eq!(out.len().div_ceil(segment_bytes), transmit.segments());
            for datagram in out.chunks(segment_bytes) {
                self.send(rank, to, datagram);
            }
        }
    }

    fn send(&mut self, from: usize, to: usize, datagram: &[u8]) {
        let header = datagram.first_chunk::<UBT_BYTES>().unwrap();
        // Every view has a different tag.
        let tag = u64::from_be_bytes(*header.last_chunk().unwrap());
        let header = UbtHeader::from_bytes(header, tag).unwrap();
        let cut_off =
            self.impairments.outage.as_ref().is_some_and(|(rank, time)| *rank == from && time.contains(&self.now_ns));
        let cut_off = cut_off || self.impairments.lose.is_some_and(|lose| lose(from, to, &header));
        let copies = 1 + u32::from(self.random.chance(self.impairments.duplicate));
        let mut arrived = 0;
        for _ in 0..copies {
            let Impairments { loss, delay_ns, link, .. } = &self.impairments;
            let delay_ns = delay_ns.start + self.random.below((delay_ns.end - delay_ns.start).max(1));
            let left_ns = link.map_or(Some(self.now_ns), |link| {
                link.pass(&mut self.link_free_ns[to], self.now_ns, datagram.len() as u64)
            });
            let at_ns = left_ns.unwrap_or(self.now_ns) + delay_ns;
            if !self.random.chance(*loss) && !cut_off && left_ns.is_some() {
                arrived += 1;
                self.in_flight.push(Reverse((
                    at_ns,
                    self.sent_count * 2 + arrived as usize,
                    from,
                    to,
                    datagram.to_vec(),
                )));
            }
        }
        self.sent_count += 1;
        if self.keeps_sent {
            self.sent.push(Sent { from, to, header, payload_bytes: datagram.len() - UBT_BYTES, arrived });
        }
    }
}
