//! Simulation in virtual time of senders that share one port.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_ANSWER, UBT_BYTES, UbtHeader};
use optireduce_contract::signs::splitmix64;

use super::super::credit::Credits;
use super::LIGHT_SHARE;

/// Rate of the shared port in bytes per us (200 Mb/s).
const RATE: f64 = 25.0;
const LIMIT: u64 = 1 << 20;
/// Payload of a packet for an MTU of 1500.
const PAYLOAD: usize = 22 * BEAT_BYTES;

#[derive(Clone, Copy)]
struct Network {
    senders: usize,
    /// Length of the queue before the port; 0: no limits.
    queue_bytes: f64,
    mark_bytes: f64,
    loss: f64,
    delay_ns: u64,
    pause_ns: u64,
    /// Interval between outages of 5 ms; 0: none.
    outage_every_ns: u64,
    /// Packets per stage, after which a sender waits for the others; 0: unlimited.
    shard_packets: u64,
    seed: u64,
}

const PORT: Network = Network {
    senders: 3,
    queue_bytes: 65536.0,
    mark_bytes: 0.0,
    loss: 0.0,
    delay_ns: 50_000,
    pause_ns: 0,
    outage_every_ns: 0,
    shard_packets: 0,
    seed: 1,
};

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Packet { sender: usize, offset: u32, flags: u8, is_marked: bool },
    Look,
    Feedback { sender: usize, offset: u32, flags: u8, timeout_16us: u16, incast: u8 },
    Wake { sender: usize },
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    sent: u64,
    dropped: u64,
    marked: u64,
    came_bytes: u64,
    feedback: u64,
}

impl std::ops::Sub for Counts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            sent: self.sent - other.sent,
            dropped: self.dropped - other.dropped,
            marked: self.marked - other.marked,
            came_bytes: self.came_bytes - other.came_bytes,
            feedback: self.feedback - other.feedback,
        }
    }
}

struct Run {
    network: Network,
    now_ns: u64,
    credits: Vec<Credits>,
    offsets: Vec<u32>,
    wake_ns: Vec<u64>,
    left: Vec<u64>,
    rest_ns: Vec<u64>,
    stages: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    port_free_ns: f64,
    inbox: Vec<(usize, UbtHeader, bool)>,
    counts: Counts,
}

impl Run {
    fn new(network: Network) -> Self {
        let ranks = network.senders + 1;
        let credits = (0..ranks).map(|rank| Credits::new((0..ranks).map(|_| LIMIT), rank)).collect();
        let mut run = Self {
            network,
            now_ns: 0,
            credits,
            offsets: vec![0; ranks],
            wake_ns: vec![0; ranks],
            left: vec![network.shard_packets; ranks],
            rest_ns: vec![0; ranks],
            stages: 0,
            events: BinaryHeap::new(),
            number: 0,
            port_free_ns: 0.0,
            inbox: Vec::new(),
            counts: Counts::default(),
        };
        (1..ranks).for_each(|sender| run.at(0, Event::Wake { sender }));
        run
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((at_ns, self.number, event)));
    }

    fn draw(&self) -> f64 {
        (splitmix64(self.network.seed << 40 | self.number) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn header(sender: usize, offset: u32, flags: u8) -> UbtHeader {
        UbtHeader { bucket: 1, offset, flags, sender: sender as u16, step: 9, ..UbtHeader::default() }
    }

    fn pass(&mut self) -> Option<(u64, bool)> {
        let Network { queue_bytes, mark_bytes, loss, delay_ns, outage_every_ns, .. } = self.network;
        let is_out = outage_every_ns > 0 && self.now_ns % outage_every_ns > outage_every_ns - 5_000_000;
        if is_out || loss > 0.0 && self.draw() < loss {
            return None;
        }
        if queue_bytes == 0.0 {
            return Some((self.now_ns + delay_ns, false));
        }
        let waiting = (self.port_free_ns - self.now_ns as f64).max(0.0) * RATE / 1000.0;
        if waiting + 1500.0 > queue_bytes {
            return None;
        }
        self.port_free_ns = self.port_free_ns.max(self.now_ns as f64) + 1500.0 * 1000.0 / RATE;
        Some((self.port_free_ns as u64 + delay_ns, mark_bytes > 0.0 && waiting > mark_bytes))
    }

    fn send(&mut self, sender: usize) {
        if self.now_ns < self.rest_ns[sender] {
            return;
        }
        let is_shared = self.network.shard_packets > 0;
        while self.credits[sender].ready_ns(0, self.now_ns) <= self.now_ns && !(is_shared && self.left[sender] == 0) {
            let packet_bytes = UBT_BYTES + PAYLOAD;
            let batch = self.credits[sender].batch_bytes_max(0).min(40 * packet_bytes);
            let mut packets = (batch / packet_bytes).max(1);
            if is_shared {
                packets = packets.min(self.left[sender] as usize);
                self.left[sender] -= packets as u64;
            }
            let first = Self::header(sender, self.offsets[sender], 0);
            let asks = self.credits[sender].asks(0);
            for packet in 0..packets {
                let offset = self.offsets[sender];
                self.offsets[sender] = offset.wrapping_add(PAYLOAD as u32);
                let flags = if asks && packet + 1 == packets { FLAG_ANSWER } else { 0 };
                self.counts.sent += 1;
                match self.pass() {
                    None => {
                        self.number += 1;
                        self.counts.dropped += 1;
                    }
                    Some((at_ns, is_marked)) => {
                        self.counts.marked += u64::from(is_marked);
                        self.at(at_ns, Event::Packet { sender, offset, flags, is_marked });
                    }
                }
            }
            self.credits[sender].sent(0, packets, packets * packet_bytes, &first, self.now_ns);
        }
        if is_shared && self.left[1..].iter().all(|left| *left == 0) {
            self.stages += 1;
            for sender in 1..=self.network.senders {
                self.left[sender] = self.network.shard_packets;
                let idle_ns = 3_000_000 + (self.draw() * 2e6) as u64;
                self.wake_ns[sender] = self.now_ns + idle_ns;
                self.at(self.now_ns + idle_ns, Event::Wake { sender });
                self.rest_ns[sender] = self.now_ns + idle_ns;
            }
            return;
        }
        if is_shared && self.left[sender] == 0 {
            return;
        }
        let again_ns = self.credits[sender].ready_ns(0, self.now_ns);
        self.wake_ns[sender] = again_ns;
        self.at(again_ns, Event::Wake { sender });
    }

    fn look(&mut self) {
        for (sender, header, is_marked) in std::mem::take(&mut self.inbox) {
            self.counts.came_bytes += 1500;
            self.credits[0].received(sender, &header, PAYLOAD, is_marked, self.now_ns);
        }
        while let Some((sender, feedback)) = self.credits[0].poll_feedback(self.now_ns) {
            self.counts.feedback += 1;
            let UbtHeader { offset, flags, timeout_16us, incast, .. } = feedback;
            let event = Event::Feedback { sender, offset, flags, timeout_16us, incast };
            self.at(self.now_ns + self.network.delay_ns, event);
        }
        if let Some(at_ns) = self.credits[0].next_feedback_ns() {
            self.at(at_ns, Event::Look);
        }
    }

    fn ms(&mut self, ms: u64) -> Counts {
        let (before, end_ns) = (self.counts, self.now_ns + ms * 1_000_000);
        while self.events.peek().is_some_and(|next| next.0.0 <= end_ns) {
            let Some(Reverse((at_ns, _, event))) = self.events.pop() else { break };
            self.now_ns = at_ns;
            match event {
                Event::Packet { sender, offset, flags, is_marked } => {
                    let pause_ns = (self.draw() * self.network.pause_ns as f64) as u64;
                    if self.inbox.is_empty() {
                        self.at(at_ns + pause_ns, Event::Look);
                    }
                    self.inbox.push((sender, Self::header(sender, offset, flags), is_marked));
                }
                Event::Look => self.look(),
                Event::Feedback { sender, offset, flags, timeout_16us, incast } => {
                    let header = UbtHeader { timeout_16us, incast, ..Self::header(0, offset, flags) };
                    self.credits[sender].handle_feedback(0, &header, at_ns);
                    self.send(sender);
                }
                Event::Wake { sender } if at_ns == self.wake_ns[sender] => self.send(sender),
                Event::Wake { .. } => {}
            }
        }
        self.now_ns = end_ns;
        self.counts - before
    }

    fn windows(&self) -> Vec<u64> {
        self.credits[1..].iter().map(|credits| credits.window(0)).collect()
    }
}

fn shares(counts: Counts, ms: u64) -> (f64, f64) {
    (counts.dropped as f64 / counts.sent as f64, counts.came_bytes as f64 / (RATE * 1000.0 * ms as f64))
}

/// Seed, dropped and used share over `ms` after `warm_ms`.
fn measured(network: Network, warm_ms: u64, ms: u64) -> Vec<(u64, f64, f64)> {
    let run = |seed| {
        let mut run = Run::new(Network { seed, ..network });
        run.ms(warm_ms);
        let (dropped, used) = shares(run.ms(ms), ms);
        (seed, dropped, used)
    };
    (1..=3).map(run).collect()
}

#[test]
fn senders_before_a_short_queue_lose_what_is_put_up_with_and_leave_no_time_unused() {
    for (senders, pause_ns) in [(1, 1_000_000), (3, 200_000), (3, 1_000_000)] {
        for (seed, dropped, used) in measured(Network { senders, pause_ns, ..PORT }, 5000, 3000) {
            let said = format!("seed {seed}, {senders} senders, pause {pause_ns} ns: dropped {dropped}, used {used}");
            assert!(dropped <= LIGHT_SHARE && used >= 0.97, "{said}");
        }
    }
}

#[test]
fn a_queue_that_marks_drops_nothing() {
    for (senders, pause_ns) in [(1, 200_000), (3, 200_000), (3, 1_000_000), (15, 1_000_000)] {
        let network = Network { senders, pause_ns, mark_bytes: 24_576.0, ..PORT };
        for (seed, dropped, used) in measured(network, 1000, 2000) {
            let said = format!("seed {seed}, {senders} senders, pause {pause_ns} ns: dropped {dropped}, used {used}");
            assert!(dropped == 0.0 && used >= 0.97, "{said}");
        }
    }
}

#[test]
fn senders_that_begin_together_lose_little() {
    for (mark_bytes, most) in [(0.0, LIGHT_SHARE), (24_576.0, 0.001)] {
        let network = Network { pause_ns: 200_000, shard_packets: 180, mark_bytes, ..PORT };
        for (seed, dropped, used) in measured(network, 4000, 3000) {
            let said = format!("seed {seed}, marks above {mark_bytes}: dropped {dropped}, used {used}");
            assert!(dropped <= most && used >= 0.8, "{said}");
        }
    }
}

#[test]
fn packets_that_are_lost_one_by_one_slow_nobody_down() {
    for seed in 1..=3 {
        for loss in [0.001, 0.01] {
            let mut run = Run::new(Network { queue_bytes: 0.0, loss, seed, ..PORT });
            for turn in 0..20 {
                run.ms(5);
                assert_eq!(run.windows(), [LIMIT; 3], "seed {seed}, loss {loss}, turn {turn}");
            }
        }
        let mut run = Run::new(Network { queue_bytes: 0.0, loss: 0.08, seed, ..PORT });
        run.ms(100);
        assert_eq!(run.windows(), [LIMIT; 3], "seed {seed}");
    }
}

#[test]
fn after_an_outage_the_window_that_fitted_is_soon_tried_again() {
    for senders in 1..=3 {
        for queue_bytes in [300_000.0, 1_000_000.0] {
            let network = Network { senders, queue_bytes, delay_ns: 2_000_000, outage_every_ns: 1_000_000_000, ..PORT };
            let mut run = Run::new(network);
            run.ms(100);
            let (_, used) = shares(run.ms(2000), 2000);
            assert!(used >= 0.9, "{senders} senders, a queue of {queue_bytes} bytes: used {used}");
        }
    }
}

#[test]
fn without_losses_no_answers_are_asked_for() {
    let mut run = Run::new(Network { queue_bytes: 0.0, ..PORT });
    let counts = run.ms(20);
    assert!(counts.feedback <= counts.sent * PAYLOAD as u64 / (LIMIT / 16) + 3, "{counts:?}");
    assert!((1..=3).all(|sender| !run.credits[sender].asks(0)));
}
