//! A host's receiving port: a rate, and a queue before it that all who send to the host share.
//!
//! Pure and in the caller's time. The queue is one of bytes, first in, first out: the last bits of a packet leave when all bytes
//! before it and its own have had their time at the port's rate. What does not fit is dropped (drop-tail). A queue that marks does
//! what switches do (RFC 3168, and the queues of DCTCP): with more than so many bytes before it, a packet of a sender that
//! understands marks is marked and any other is dropped.
//! Counted are bytes of IP packets, without Ethernet's headers and gaps.

/// Units in a bit's time: nanoseconds times Mb/s.
const UNITS_PER_BIT: u128 = 1000;
/// The field of IPv4's second byte that says whether marks are understood, and marks.
const ECN_BITS: u8 = 3;
/// All of them set: congestion was experienced.
const ECN_MARKED: u8 = 3;

/// What a host's port can take. The default: everything, at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct PortLimits {
    /// Rate at which each host receives, in Mb/s; 0: that of the relay.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub port_mbps: u32,
    /// Bytes that wait before that port at most, in KiB: what does not fit is dropped; 0: any number.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20), requires = "port_mbps")]
    pub queue_kib: u32,
    /// With more bytes before them, in KiB, packets that understand marks are marked (ECN), others dropped; 0: no marks.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20), requires = "port_mbps")]
    pub ecn_kib: u32,
}

/// What has become of a packet that came to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has left the port by then.
    Passes {
        /// When its last bit has left.
        at_ns: u64,
        /// Whether it is to be marked.
        mark: bool,
    },
    /// There was no room.
    Dropped,
}

/// The queue before a port with a rate.
#[derive(Debug)]
pub struct Queue {
    mbps: u128,
    room_bytes: u128,
    mark_bytes: u128,
    /// When the port has sent all that is in the queue, in ns times Mb/s.
    busy_until: u128,
}

impl Queue {
    /// An empty queue; `None` if the port has no rate of its own.
    pub fn new(limits: PortLimits) -> Option<Self> {
        let bytes = |kib: u32| if kib == 0 { u128::MAX } else { u128::from(kib) << 10 };
        let PortLimits { port_mbps, queue_kib, ecn_kib } = limits;
        (port_mbps > 0).then(|| Self {
            mbps: port_mbps.into(),
            room_bytes: bytes(queue_kib),
            mark_bytes: bytes(ecn_kib),
            busy_until: 0,
        })
    }

    /// Bytes that have not left by `now_ns`, a part of a byte counted as one.
    pub fn bytes(&self, now_ns: u64) -> u64 {
        let units = self.busy_until.saturating_sub(u128::from(now_ns) * self.mbps);
        units.div_ceil(8 * UNITS_PER_BIT) as u64
    }

    /// A packet of so many bytes comes. An empty queue takes a packet of any size.
    pub fn enter(&mut self, now_ns: u64, bytes: usize, understands_marks: bool) -> Outcome {
        let waiting = u128::from(self.bytes(now_ns));
        let is_long = waiting > self.mark_bytes;
        if waiting > 0 && waiting + bytes as u128 > self.room_bytes || is_long && !understands_marks {
            return Outcome::Dropped;
        }
        let begins = self.busy_until.max(u128::from(now_ns) * self.mbps);
        self.busy_until = begins + 8 * UNITS_PER_BIT * bytes as u128;
        Outcome::Passes { at_ns: self.busy_until.div_ceil(self.mbps) as u64, mark: is_long }
    }
}

/// Whether the sender of an IPv4 packet understands marks: ECT(0), ECT(1), or marked already.
pub fn understands_marks(packet: &[u8]) -> bool {
    packet.get(1).is_some_and(|tos| tos & ECN_BITS != 0)
}

/// Marks an IPv4 packet, and makes its header's checksum fit (RFC 1624).
pub fn mark(packet: &mut [u8]) {
    let Some(header) = packet.first_chunk_mut::<20>() else { return };
    let before = u16::from_be_bytes([header[0], header[1]]);
    header[1] |= ECN_MARKED;
    let after = u16::from_be_bytes([header[0], header[1]]);
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PortLimits = PortLimits { port_mbps: 400, queue_kib: 64, ecn_kib: 0 };
    /// Of a packet of 1500 bytes at 400 Mb/s.
    const PACKET_NS: u64 = 30_000;

    fn queue(limits: PortLimits) -> Queue {
        Queue::new(limits).unwrap()
    }

    /// Times at which packets of 1500 bytes leave, how many are dropped and how many marked, if `senders` of them send one each
    /// every `every_ns`, `turns` times.
    fn run(limits: PortLimits, senders: u64, every_ns: u64, turns: u64, ecn: bool) -> (Vec<u64>, u64, u64) {
        let (mut queue, mut left, mut dropped, mut marked) = (queue(limits), Vec::new(), 0, 0);
        for turn in 0..turns * senders {
            match queue.enter(turn / senders * every_ns, 1500, ecn) {
                Outcome::Passes { at_ns, mark } => {
                    left.push(at_ns);
                    marked += u64::from(mark);
                }
                Outcome::Dropped => dropped += 1,
            }
        }
        (left, dropped, marked)
    }

    #[test]
    fn a_port_without_a_rate_has_no_queue() {
        assert!(Queue::new(PortLimits::default()).is_none());
    }

    #[test]
    fn a_port_that_is_not_full_delays_by_its_rate_only() {
        let (left, dropped, marked) = run(LIMITS, 1, PACKET_NS, 1000, false);
        assert_eq!((dropped, marked), (0, 0));
        assert!(left.iter().enumerate().all(|(turn, at)| *at == (turn as u64 + 1) * PACKET_NS));
    }

    /// Three senders with twice the port's rate together: 43 packets fit, and from then on every second one is dropped.
    #[test]
    fn a_full_queue_drops_what_the_port_cannot_send_and_delays_by_its_length() {
        let turns = 10_000;
        let (left, dropped, _) = run(LIMITS, 3, 3 * PACKET_NS / 2, turns, false);
        // The port never rests, so what has come by the end has left or waits: 64 KiB hold 43 packets of 1500.
        let end_ns = (turns - 1) * 3 * PACKET_NS / 2;
        let sent = end_ns.div_ceil(PACKET_NS);
        assert_eq!(left.len() as u64 - sent, 43);
        assert_eq!(left.len() as u64 + dropped, 3 * turns);
        assert!(left.windows(2).all(|pair| pair[1] - pair[0] == PACKET_NS), "no time is lost");
        // Of the one that is being sent half is left.
        assert_eq!(left.last().unwrap() - end_ns, 43 * PACKET_NS + PACKET_NS / 2);
    }

    #[test]
    fn above_the_threshold_packets_are_marked_or_dropped_by_what_their_sender_understands() {
        let limits = PortLimits { ecn_kib: 15, ..LIMITS };
        // A burst of 20 at once: with 11 packets before it, 16500 bytes, the twelfth is the first one above 15 KiB.
        assert_eq!(run(limits, 20, 0, 1, true), ((1..=20).map(|turn| turn * PACKET_NS).collect(), 0, 9));
        assert_eq!(run(limits, 20, 0, 1, false), ((1..=11).map(|turn| turn * PACKET_NS).collect(), 9, 0));
        // Marks do not make room: 43 fit.
        let (left, dropped, marked) = run(limits, 100, 0, 1, true);
        assert_eq!((left.len(), dropped, marked), (43, 57, 43 - 11));
    }

    #[test]
    fn a_rate_that_divides_nothing_loses_no_time() {
        // 3 Mb/s: 1500 bytes take 4 ms; 1501 take 4002 2/3 us.
        let mut queue = queue(PortLimits { port_mbps: 3, queue_kib: 0, ecn_kib: 0 });
        let last = (0..3000).map(|_| queue.enter(0, 1501, false)).last().unwrap();
        assert_eq!(last, Outcome::Passes { at_ns: 3000 * 1501 * 8000 / 3, mark: false });
        assert_eq!(queue.bytes(0), 3000 * 1501);
        assert_eq!(queue.bytes(3000 * 1501 * 8000 / 3 - 1), 1);
    }

    #[test]
    fn an_empty_queue_takes_a_packet_of_any_size() {
        let mut queue = queue(PortLimits { port_mbps: 8, queue_kib: 1, ecn_kib: 0 });
        assert_eq!(queue.enter(5, 9000, false), Outcome::Passes { at_ns: 9_000_005, mark: false });
        assert_eq!(queue.enter(6, 1, false), Outcome::Dropped);
        assert_eq!(queue.enter(9_000_005, 9000, false), Outcome::Passes { at_ns: 18_000_005, mark: false });
        // The longest times overflow nothing.
        assert!(matches!(queue.enter(u64::MAX, 1, false), Outcome::Passes { .. }));
    }

    /// The sum over an IPv4 header with its checksum in place.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        let folded = (words & 0xffff) + (words >> 16);
        ((folded & 0xffff) + (folded >> 16)) as u16
    }

    #[test]
    fn a_mark_leaves_a_checksum_that_fits() {
        for (tos, source) in (0..=255u8).flat_map(|tos| [0, 1, 77, 255].map(|source| (tos, source))) {
            let mut packet = [0; 40];
            (packet[0], packet[1], packet[8], packet[9]) = (0x45, tos, 64, 17);
            packet[12..16].copy_from_slice(&[10, source, 0, source]);
            let checksum = !sum(&packet[..20]);
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
            assert_eq!(understands_marks(&packet), tos & 3 != 0);
            let before = packet;
            mark(&mut packet);
            assert_eq!((packet[1], sum(&packet[..20])), (tos | 3, 0xffff), "tos {tos:#x}, source {source}");
            assert_eq!((&packet[2..10], &packet[12..]), (&before[2..10], &before[12..]));
        }
        let mut short = [0x45; 19];
        mark(&mut short);
        assert_eq!(short, [0x45; 19]);
        assert!(!understands_marks(&[]));
    }
}
