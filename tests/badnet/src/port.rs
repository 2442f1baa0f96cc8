//! Receiving port of a host: a rate, and one queue for the packets of all senders.
//!
//! Pure functions of the caller's clock. The queue is a FIFO in bytes of IP packets, with
//! drop-tail. Above the marking threshold, packets of ECN-capable senders are marked and others are
//! dropped, as in switches (RFC 3168, DCTCP).

/// Time units (ns times Mb/s) per bit.
const UNITS_PER_BIT: u128 = 1000;
/// ECN field of the second byte of an IPv4 header.
const ECN_BITS: u8 = 3;
const ECN_MARKED: u8 = 3;

/// Limits of a host's port. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct PortLimits {
    /// Rate at which each host receives, in Mb/s; 0 means unlimited
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub port_mbps: u32,
    /// Queue of each host's port, in KiB; 0 means unlimited
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20), requires = "port_mbps")]
    pub queue_kib: u32,
    /// Queue length above which packets get ECN marks, in KiB; 0 means never
    ///
    /// Packets that are not ECN-capable are lost instead.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20), requires = "port_mbps")]
    pub ecn_kib: u32,
}

/// Fate of a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passes.
    Passes {
        /// Departure of its last bit.
        at_ns: u64,
        /// Whether it must be marked.
        mark: bool,
    },
    /// No room, or not ECN-capable above the marking threshold.
    Dropped,
}

/// Queue before a port with a rate.
#[derive(Debug)]
pub struct Queue {
    mbps: u128,
    room_bytes: u128,
    mark_bytes: u128,
    /// Departure of the last packet, in ns times Mb/s.
    busy_until: u128,
}

impl Queue {
    /// Creates an empty queue; `None` if the port has no rate limit.
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

    /// Bytes in the queue at `now_ns`, rounded up.
    pub fn bytes(&self, now_ns: u64) -> u64 {
        let units = self.busy_until.saturating_sub(u128::from(now_ns) * self.mbps);
        units.div_ceil(8 * UNITS_PER_BIT) as u64
    }

    /// Adds a packet. An empty queue accepts any size.
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

/// Returns whether an IPv4 packet is ECN-capable or marked.
pub fn understands_marks(packet: &[u8]) -> bool {
    packet.get(1).is_some_and(|tos| tos & ECN_BITS != 0)
}

/// Marks an IPv4 packet and updates its header checksum (RFC 1624).
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
    const PACKET_NS: u64 = 30_000;

    fn queue(limits: PortLimits) -> Queue {
        Queue::new(limits).unwrap()
    }

    /// Departures, drops and marks when each of `senders` sends 1500 bytes every `every_ns`,
    /// `turns` times.
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

    /// Three senders with twice the port's rate together: 43 packets fit, then every second one is
    /// dropped.
    #[test]
    fn a_full_queue_drops_what_the_port_cannot_send_and_delays_by_its_length() {
        let turns = 10_000;
        let (left, dropped, _) = run(LIMITS, 3, 3 * PACKET_NS / 2, turns, false);
        // The port is never idle, so each packet has left or waits: 64 KiB hold 43 packets of 1500
        // bytes.
        let end_ns = (turns - 1) * 3 * PACKET_NS / 2;
        let sent = end_ns.div_ceil(PACKET_NS);
        assert_eq!(left.len() as u64 - sent, 43);
        assert_eq!(left.len() as u64 + dropped, 3 * turns);
        assert!(left.windows(2).all(|pair| pair[1] - pair[0] == PACKET_NS), "no time is lost");
        // Half of the packet that is being sent has left.
        assert_eq!(left.last().unwrap() - end_ns, 43 * PACKET_NS + PACKET_NS / 2);
    }

    #[test]
    fn above_the_threshold_packets_are_marked_or_dropped_by_what_their_sender_understands() {
        let limits = PortLimits { ecn_kib: 15, ..LIMITS };
        // A burst of 20 packets: the twelfth is the first with more than 15 KiB (11 packets, 16500
        // bytes) before it.
        assert_eq!(run(limits, 20, 0, 1, true), ((1..=20).map(|turn| turn * PACKET_NS).collect(), 0, 9));
        assert_eq!(run(limits, 20, 0, 1, false), ((1..=11).map(|turn| turn * PACKET_NS).collect(), 9, 0));
        // Marks do not enlarge the queue, which holds 43 packets.
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
        // The latest time must not overflow.
        assert!(matches!(queue.enter(u64::MAX, 1, false), Outcome::Passes { .. }));
    }

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
