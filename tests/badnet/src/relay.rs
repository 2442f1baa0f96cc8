//! Forwards packets between the hosts' TUN devices, through links and ports.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tun_rs::SyncDevice;

use crate::link::{Conditions, Link};
use crate::port::{self, Outcome, Queue};

const PACKET_BYTES_MAX: usize = 9216;
/// Packets read from a device before the due packets are delivered.
const TURN: usize = 32;
/// Poll interval of the end flag when idle.
const IDLE_NS: u64 = 50_000_000;
/// Nice value, because packets must not wait behind the ranks for a CPU.
const NICE: i32 = -15;

/// Number of packets by fate: `lost` in links, `overrun` in queues. `bytes` were delivered.
#[derive(Debug, Default)]
#[allow(missing_docs)] // described above
pub struct Counts {
    pub passed: AtomicU64,
    pub bytes: AtomicU64,
    pub lost: AtomicU64,
    pub overrun: AtomicU64,
    pub marked: AtomicU64,
    pub undelivered: AtomicU64,
}

impl Counts {
    /// Formats all counters in one line.
    pub fn line(&self) -> String {
        let Self { passed, bytes, lost, overrun, marked, undelivered } = self;
        let [passed, bytes, lost, overrun, marked, undelivered] =
            [passed, bytes, lost, overrun, marked, undelivered].map(|count| count.load(Ordering::Relaxed));
        format!(
            "{passed} packets, {} MB, marked {marked}, lost {lost}, dropped by queues {overrun}, undelivered {undelivered}",
            bytes / 1_000_000
        )
    }
}

/// A running network; ends when dropped.
pub struct Relay {
    /// Counters of the network.
    pub counts: Arc<Counts>,
    end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    changes: Vec<Sender<(usize, Conditions)>>,
}

impl Relay {
    /// Joins devices, which are non-blocking. `devices[i]` has the address 10.77.0.(i + 1).
    pub fn start(devices: &Arc<Vec<SyncDevice>>, conditions: Conditions, seed: u64) -> Self {
        let (counts, end) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
        let (mut threads, mut changes) = (Vec::new(), Vec::new());
        let ports = Arc::new(Ports {
            queues: devices.iter().map(|_| Queue::new(conditions.port).map(Mutex::new)).collect(),
            begin: Instant::now(),
        });
        for source in 0..devices.len() {
            let (change, changed) = channel();
            let sender = Uplink::new(source, devices.clone(), ports.clone(), conditions, seed, counts.clone(), changed);
            let end = end.clone();
            threads.push(std::thread::spawn(move || sender.run(&end)));
            changes.push(change);
        }
        Self { threads, counts, end, changes }
    }

    /// Changes the conditions of later packets from `from` to `to`; ports stay the same.
    pub fn change(&self, from: usize, to: usize, conditions: Conditions) {
        // A thread ends only with the relay.
        let _ = self.changes[from].send((to, conditions));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In a link.
    Link,
    /// In the queue of a port.
    Queue,
}

/// Departure time, sequence number (FIFO), destination, place, bytes.
type Underway = Reverse<(u64, u64, usize, Place, Vec<u8>)>;

/// Receiving ports, and the clock of the network.
struct Ports {
    /// `None` for ports without a rate limit.
    queues: Vec<Option<Mutex<Queue>>>,
    begin: Instant,
}

impl Ports {
    fn now_ns(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    /// Adds a packet to a port; `None` if it has no queue.
    fn enter(&self, to: usize, packet: &[u8]) -> Option<Outcome> {
        let mut queue = self.queues[to].as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(queue.enter(self.now_ns(), packet.len(), port::understands_marks(packet)))
    }
}

/// Forwards the packets of one host, on a thread, as ports of a switch work in parallel.
struct Uplink {
    source: usize,
    devices: Arc<Vec<SyncDevice>>,
    ports: Arc<Ports>,
    links: Vec<Link>,
    underway: BinaryHeap<Underway>,
    taken: u64,
    room: Vec<u8>,
    counts: Arc<Counts>,
    changes: Receiver<(usize, Conditions)>,
}

impl Uplink {
    fn new(
        source: usize,
        devices: Arc<Vec<SyncDevice>>,
        ports: Arc<Ports>,
        conditions: Conditions,
        seed: u64,
        counts: Arc<Counts>,
        changes: Receiver<(usize, Conditions)>,
    ) -> Self {
        let seed = |to: usize| (seed << 16) + (source << 8 | to) as u64;
        let links = (0..devices.len()).map(|to| Link::new(conditions, seed(to))).collect();
        let (underway, room) = (BinaryHeap::new(), vec![0; PACKET_BYTES_MAX]);
        Self { source, devices, ports, links, underway, taken: 0, room, counts, changes }
    }

    fn run(mut self, end: &AtomicBool) {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
        let devices = self.devices.clone();
        while !end.load(Ordering::Relaxed) {
            while let Ok((to, conditions)) = self.changes.try_recv() {
                self.links[to].change(conditions);
            }
            let next_ns = self.underway.peek().map_or(IDLE_NS, |Reverse((at, ..))| at.saturating_sub(self.now_ns()));
            let wait = Timespec { tv_sec: 0, tv_nsec: next_ns.min(IDLE_NS) as _ };
            let mut polled = [PollFd::new(&devices[self.source], PollFlags::IN)];
            let _ = poll(&mut polled, Some(&wait));
            if polled[0].revents().contains(PollFlags::IN) {
                self.take();
            }
            self.deliver();
        }
    }

    fn now_ns(&self) -> u64 {
        self.ports.now_ns()
    }

    fn take(&mut self) {
        for _ in 0..TURN {
            let mut room = std::mem::take(&mut self.room);
            let taken = self.devices[self.source].recv(&mut room);
            if let Ok(bytes) = taken {
                self.forward(&room[..bytes]);
            }
            self.room = room;
            if taken.is_err() {
                return;
            }
        }
    }

    fn forward(&mut self, packet: &[u8]) {
        let Some(to) = destination(packet).filter(|to| *to < self.devices.len() && *to != self.source) else {
            self.counts.undelivered.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let now_ns = self.now_ns();
        let arrives = self.links[to].pass(now_ns, packet.len());
        if let Some((at, garbled)) = arrives.and_then(|at| self.links[to].replay(at)) {
            let mut again = packet.to_vec();
            if let Some(place) = garbled {
                garble(&mut again, place);
            }
            self.send_at(at, to, Place::Link, again);
        }
        match arrives {
            Some(at) if at > now_ns => self.send_at(at, to, Place::Link, packet.to_vec()),
            Some(_) if self.ports.queues[to].is_none() => self.hand_over(to, packet),
            Some(_) => self.enter_port(to, packet.to_vec()),
            None => {
                self.counts.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn send_at(&mut self, at_ns: u64, to: usize, place: Place, packet: Vec<u8>) {
        self.taken += 1;
        self.underway.push(Reverse((at_ns, self.taken, to, place, packet)));
    }

    fn enter_port(&mut self, to: usize, mut packet: Vec<u8>) {
        match self.ports.enter(to, &packet) {
            None => self.hand_over(to, &packet),
            Some(Outcome::Dropped) => {
                self.counts.overrun.fetch_add(1, Ordering::Relaxed);
            }
            Some(Outcome::Passes { at_ns, mark }) => {
                if mark {
                    port::mark(&mut packet);
                    self.counts.marked.fetch_add(1, Ordering::Relaxed);
                }
                self.send_at(at_ns, to, Place::Queue, packet);
            }
        }
    }

    fn deliver(&mut self) {
        let now_ns = self.now_ns();
        while self.underway.peek().is_some_and(|Reverse((at, ..))| *at <= now_ns) {
            match self.underway.pop() {
                Some(Reverse((_, _, to, Place::Link, packet))) => self.enter_port(to, packet),
                Some(Reverse((_, _, to, Place::Queue, packet))) => self.hand_over(to, &packet),
                None => {}
            }
        }
    }

    fn hand_over(&self, to: usize, packet: &[u8]) {
        let sent = loop {
            match self.devices[to].send(packet) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                sent => break sent,
            }
        };
        let counts = &self.counts;
        if sent.is_ok() {
            counts.passed.fetch_add(1, Ordering::Relaxed);
            counts.bytes.fetch_add(packet.len() as u64, Ordering::Relaxed);
        } else {
            counts.undelivered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn destination(packet: &[u8]) -> Option<usize> {
    let is_ipv4 = packet.first()? >> 4 == 4;
    let octet = packet.get(19)?;
    is_ipv4.then(|| usize::from(*octet).checked_sub(1)).flatten()
}

/// Overwrites eight bytes of a UDP payload at a share of its length, and clears the checksum.
fn garble(packet: &mut [u8], place: f64) {
    const UDP: u8 = 17;
    let Some(header) = packet.first().map(|first| usize::from(first & 15) * 4) else { return };
    if packet.get(9) != Some(&UDP) || packet.len() <= header + 8 {
        return;
    }
    let (checksum, content) = packet[header + 6..].split_at_mut(2);
    checksum.fill(0);
    let at = (place * content.len() as f64) as usize;
    content.iter_mut().skip(at).take(8).for_each(|byte| *byte = byte.wrapping_mul(167).wrapping_add(91));
}

#[cfg(test)]
mod tests {
    use super::{destination, garble};

    #[test]
    fn only_what_udp_carries_is_overwritten() {
        let mut packet = [7; 60];
        (packet[0], packet[9]) = (0x45, 6);
        let tcp = packet;
        garble(&mut packet, 0.5);
        assert_eq!(packet, tcp);
        packet[9] = 17;
        let udp = packet;
        garble(&mut packet, 0.5);
        assert_eq!((packet[26], packet[27]), (0, 0));
        let changed: Vec<usize> = (28..60).filter(|at| packet[*at] != udp[*at]).collect();
        assert_eq!(changed, (44..52).collect::<Vec<_>>());
        assert!(packet[..26] == udp[..26]);
        garble(&mut [0x45], 0.5);
        garble(&mut [], 0.5);
    }

    #[test]
    fn packets_go_by_the_last_octet_of_ipv4() {
        let mut packet = [0; 20];
        (packet[0], packet[19]) = (0x45, 3);
        assert_eq!(destination(&packet), Some(2));
        assert_eq!(destination(&packet[..19]), None);
        packet[19] = 0;
        assert_eq!(destination(&packet), None);
        (packet[0], packet[19]) = (0x60, 3);
        assert_eq!(destination(&packet), None);
        assert_eq!(destination(&[]), None);
    }
}
