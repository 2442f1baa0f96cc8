//! Selection of received frames that are packets for this card, by the headers below UBT.
//!
//! The checks run in this order, and the first that fails is counted:
//!
//! 1. Bad: reported by the MAC, or whole beats with a wrong UDP checksum.
//! 2. Not IPv4/UDP to the UBT port.
//! 3. Another MAC address, a wrong IPv4 header checksum, another IPv4 address, in this order.
//! 4. A packet of this job from one of its ranks, but not from that rank's address.
//! 5. More payload than a full packet of the job.
//! 6. Bad: not whole beats.
//!
//! [`super::accept`] checks the frames that pass. A card built without the filter (the reduced card
//! for ECP5) makes only those checks, and counts all frames that are not whole beats as bad. In
//! software, the kernel makes the checks before the source address.

use super::accept::Cause;
use crate::limits::BEAT_BYTES;
use crate::packet::{Endpoint, HEADER_BYTES, VERSION, frame, ipv4_checksum, udp_checksum_holds};

/// Addresses of this card and of the job's ranks, and limits, to check frames against.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // described above
pub struct Filter<'a> {
    pub local: Endpoint,
    pub udp_port: u16,
    pub job_tag: u64,
    pub payload_beats: usize,
    pub peers: &'a [Endpoint],
}

impl Filter<'_> {
    /// Checks a frame in which the MAC found no error. `bytes` excludes the FCS.
    ///
    /// # Errors
    /// The first failed check.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Cause> {
        let is_whole = !bytes.is_empty() && bytes.len().is_multiple_of(BEAT_BYTES);
        if is_whole && !udp_checksum_holds(bytes) {
            return Err(Cause::Bad);
        }
        let mut head = [0; HEADER_BYTES];
        let present = bytes.len().min(HEADER_BYTES);
        head[..present].copy_from_slice(&bytes[..present]);
        self.check_header(&head)?;
        if is_whole { Ok(()) } else { Err(Cause::Bad) }
    }

    /// Makes the checks that need the first beat only.
    ///
    /// # Errors
    /// The first failed check.
    pub fn check_header(&self, head: &[u8; HEADER_BYTES]) -> Result<(), Cause> {
        use frame::*;
        let field = |field: crate::field::Field| &head[field.offset..field.end()];
        let number = |of| field(of).iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let ours = number(ETH_TYPE) == 0x0800
            && number(IP_VERSION_IHL) == 0x45
            && number(IP_FRAGMENT) & 0x3fff == 0
            && number(IP_PROTOCOL) == 17
            && number(UDP_DST) == u64::from(self.udp_port);
        if !ours {
            return Err(Cause::Foreign);
        }
        if field(ETH_DST) != self.local.mac {
            return Err(Cause::Mac);
        }
        if ipv4_checksum(&head[ETH_TYPE.end()..IP_DST.end()]) != 0 {
            return Err(Cause::IpChecksum);
        }
        if field(IP_DST) != self.local.ip {
            return Err(Cause::Ip);
        }
        let is_of_job = number(VERSION_STAGE) >> 4 == u64::from(VERSION) && number(JOB_TAG) == self.job_tag;
        let sender = self.peers.get(number(SENDER) as usize).filter(|_| is_of_job);
        if sender.is_some_and(|sender| field(IP_SRC) != sender.ip) {
            return Err(Cause::Source);
        }
        if number(IP_TOTAL_LENGTH) > (HEADER_BYTES - ETH_TYPE.end() + self.payload_beats * BEAT_BYTES) as u64 {
            return Err(Cause::TooLong);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{UbtHeader, write_header, write_udp_checksum};

    const PORT: u16 = 5791;
    const JOB: u64 = 0x0102_0304_0506_0708;

    fn frame_of(ubt: &UbtHeader, payload_bytes: usize) -> ([u8; 512], usize) {
        let (mut bytes, mut head) = ([0x5a; 512], [0; HEADER_BYTES]);
        write_header(&mut head, Endpoint::of_rank(1), Endpoint::of_rank(0), PORT, ubt, payload_bytes);
        bytes[..HEADER_BYTES].copy_from_slice(&head);
        (bytes, HEADER_BYTES + payload_bytes)
    }

    fn packet() -> UbtHeader {
        UbtHeader { sender: 1, job_tag: JOB, ..UbtHeader::default() }
    }

    fn summed(bytes: &mut [u8]) {
        bytes[24..26].fill(0);
        let checksum = ipv4_checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
    }

    #[test]
    fn each_fault_has_its_cause_and_the_first_one_counts() {
        let peers = [0, 1, 2].map(Endpoint::of_rank);
        let filter =
            Filter { local: Endpoint::of_rank(0), udp_port: PORT, job_tag: JOB, payload_beats: 4, peers: &peers };
        type Fault = (&'static str, Cause, fn(&mut [u8], &mut usize));
        let faults: [Fault; 11] = [
            ("ARP", Cause::Foreign, |b, _| b[13] = 0x06),
            ("options", Cause::Foreign, |b, _| b[14] = 0x46),
            ("fragment", Cause::Foreign, |b, _| b[20] |= 0x20),
            ("port", Cause::Foreign, |b, _| b[37] ^= 1),
            ("broadcast", Cause::Mac, |b, _| b[..6].fill(0xff)),
            ("another MAC", Cause::Mac, |b, _| b[5] ^= 0x80),
            ("IPv4 checksum", Cause::IpChecksum, |b, _| b[24] ^= 4),
            ("another address", Cause::Ip, |b, _| {
                b[33] ^= 2;
                summed(b);
            }),
            ("another source", Cause::Source, |b, _| {
                b[29] ^= 1;
                summed(b);
            }),
            ("too long", Cause::TooLong, |b, _| {
                b[16..18].copy_from_slice(&(50u16 + 4 * 64 + 1).to_be_bytes());
                summed(b);
            }),
            ("cut", Cause::Bad, |_, bytes| *bytes -= 1),
        ];
        let judged = |damage: &dyn Fn(&mut [u8], &mut usize)| {
            let (mut bytes, mut length) = frame_of(&packet(), 256);
            damage(&mut bytes, &mut length);
            filter.check(&bytes[..length])
        };
        assert_eq!(judged(&|_, _| ()), Ok(()));
        for (at, (name, cause, fault)) in faults.iter().enumerate() {
            assert_eq!(judged(&|b, n| fault(b, n)), Err(*cause), "{name}");
            for (later, _, other) in &faults[at + 1..] {
                let both = |b: &mut [u8], n: &mut usize| {
                    other(b, n);
                    fault(b, n);
                };
                assert_eq!(judged(&both), Err(*cause), "{name} and {later}");
            }
        }
        // A wrong UDP checksum comes first if the frame is whole beats.
        for (name, cause, fault) in &faults {
            let (mut bytes, mut length) = frame_of(&packet(), 256);
            fault(&mut bytes, &mut length);
            write_udp_checksum(&mut bytes[..length]);
            bytes[100] ^= 1;
            let is_udp = !["ARP", "options", "fragment"].contains(name);
            let expected = if is_udp && length == 320 { Cause::Bad } else { *cause };
            assert_eq!(filter.check(&bytes[..length]), Err(expected), "{name}");
        }
        for length in [0, 1, 13, 41, 60, 63] {
            let (bytes, _) = frame_of(&packet(), 256);
            assert!(filter.check(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn only_packets_of_this_job_and_its_ranks_must_come_from_their_address() {
        let peers = [0, 1, 2].map(Endpoint::of_rank);
        let filter =
            Filter { local: Endpoint::of_rank(0), udp_port: PORT, job_tag: JOB, payload_beats: 4, peers: &peers };
        let judged = |ubt: UbtHeader| {
            let (bytes, length) = frame_of(&ubt, 256);
            filter.check(&bytes[..length])
        };
        let of = |sender| judged(UbtHeader { sender, ..packet() });
        assert_eq!([0, 1, 2, 3, 0x101].map(of), [Err(Cause::Source), Ok(()), Err(Cause::Source), Ok(()), Ok(())]);
        assert_eq!(judged(UbtHeader { sender: 2, job_tag: JOB ^ 1, ..packet() }), Ok(()));
    }
}
