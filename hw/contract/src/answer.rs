//! Requests that a card answers without its host: ARP (RFC 826) and ping (RFC 792).
//!
//! Peers' kernels need these answers to reach the card. An enabled card answers requests for its
//! own address, one at a time. A request that arrives while an answer waits for the MAC is dropped
//! (`DROP_FOREIGN`). An answer is never longer than its request, rounded up to whole beats and
//! padded with zeros.

use crate::limits::BEAT_BYTES;
use crate::packet::{Endpoint, HEADER_BYTES, frame, ipv4_checksum};

/// Length limit of a ping's frame in bytes: 16 beats.
pub const PING_BYTES_MAX: usize = 16 * BEAT_BYTES;

/// EtherType and fixed fields of ARP, to the high byte of the operation.
const ARP: [u8; 9] = [0x08, 0x06, 0, 1, 0x08, 0x00, 6, 4, 0];
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
/// Offset of the addresses.
const ARP_ADDRESSES: usize = 22;
const ARP_BYTES: usize = 42;

/// Returns the reply to an ARP request for `local`, or `None` for other frames.
pub fn arp(local: &Endpoint, request: &[u8]) -> Option<[u8; BEAT_BYTES]> {
    let to_us = request.get(..6).is_some_and(|to| to == local.mac || to == [0xff; 6]);
    let is_request = (ARP_BYTES..=BEAT_BYTES).contains(&request.len())
        && request[12..ARP_ADDRESSES - 1] == ARP
        && request[ARP_ADDRESSES - 1] == REQUEST
        && request[38..ARP_BYTES] == local.ip;
    if !to_us || !is_request {
        return None;
    }
    let asker = &request[ARP_ADDRESSES..32];
    let mut reply = [0; BEAT_BYTES];
    reply[..6].copy_from_slice(&asker[..6]);
    reply[6..12].copy_from_slice(&local.mac);
    reply[12..ARP_ADDRESSES - 1].copy_from_slice(&ARP);
    reply[ARP_ADDRESSES - 1] = REPLY;
    reply[22..28].copy_from_slice(&local.mac);
    reply[28..32].copy_from_slice(&local.ip);
    reply[32..ARP_BYTES].copy_from_slice(asker);
    Some(reply)
}

/// Writes the reply to a ping of `local` into `reply` and returns its length in bytes.
///
/// Returns `None` for other frames, IPv4 options, fragments, and frames above [`PING_BYTES_MAX`].
/// The ICMP checksum is updated for the changed type, so a wrong checksum stays wrong.
pub fn ping(local: &Endpoint, request: &[u8], reply: &mut [u8; PING_BYTES_MAX]) -> Option<usize> {
    let head = request.get(..HEADER_BYTES.min(request.len()))?;
    let is_echo = head.len() >= ARP_BYTES
        && request.len() <= PING_BYTES_MAX
        && head[..6] == local.mac
        && head[frame::ETH_TYPE.offset..15] == [0x08, 0x00, 0x45]
        && head[frame::IP_FRAGMENT.offset] & 0x3f == 0
        && head[frame::IP_FRAGMENT.offset + 1] == 0
        && head[frame::IP_PROTOCOL.offset] == 1
        && head[frame::IP_DST.offset..36] == [local.ip[0], local.ip[1], local.ip[2], local.ip[3], 8, 0]
        && ipv4_checksum(&head[14..34]) == 0;
    if !is_echo {
        return None;
    }
    let bytes = request.len().next_multiple_of(BEAT_BYTES);
    reply.fill(0);
    reply[..request.len()].copy_from_slice(request);
    reply[..6].copy_from_slice(&request[6..12]);
    reply[6..12].copy_from_slice(&local.mac);
    reply[26..30].copy_from_slice(&local.ip);
    reply[30..34].copy_from_slice(&request[26..30]);
    let (sum, carry) = u16::from_be_bytes([request[36], request[37]]).overflowing_add(0x0800);
    reply[34] = 0;
    reply[36..38].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec;
    use std::vec::Vec;

    const LOCAL: Endpoint = Endpoint::of_rank(0);
    const ASKER: Endpoint = Endpoint::of_rank(6);

    fn request() -> [u8; 60] {
        let mut bytes = [0; 60];
        bytes[..6].fill(0xff);
        bytes[6..12].copy_from_slice(&ASKER.mac);
        bytes[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        bytes[22..28].copy_from_slice(&ASKER.mac);
        bytes[28..32].copy_from_slice(&ASKER.ip);
        bytes[38..42].copy_from_slice(&LOCAL.ip);
        bytes
    }

    #[test]
    fn a_request_for_our_address_is_answered_and_no_other_frame() {
        let reply = arp(&LOCAL, &request()).unwrap();
        // By hand: RFC 826.
        let expected = [
            0x02, 0x4f, 0x52, 0, 0, 7, 0x02, 0x4f, 0x52, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 0x02, 0x4f, 0x52, 0, 0,
            1, 10, 77, 0, 1, 0x02, 0x4f, 0x52, 0, 0, 7, 10, 77, 0, 7,
        ];
        assert_eq!(reply[..42], expected);
        assert_eq!(reply[42..], [0; 22]);
        // Bits that are compared: not the sender's addresses, nor the target's unknown MAC.
        for bit in (0..8 * 42).filter(|bit| !(6..12).contains(&(bit / 8)) && !(22..38).contains(&(bit / 8))) {
            let mut other = request();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(arp(&LOCAL, &other), None, "bit {bit}");
        }
        let mut to_us = request();
        to_us[..6].copy_from_slice(&LOCAL.mac);
        assert_eq!(arp(&LOCAL, &to_us), Some(reply));
        assert_eq!(arp(&LOCAL, &request()[..42]), Some(reply));
        assert_eq!([0, 5, 6, 41].map(|bytes| arp(&LOCAL, &request()[..bytes])), [None; 4]);
        assert_eq!(arp(&LOCAL, &[&request()[..], &[0; 5]].concat()), None);
    }

    fn echo(payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 42 + payload];
        bytes[..6].copy_from_slice(&LOCAL.mac);
        bytes[6..12].copy_from_slice(&ASKER.mac);
        bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 28 + payload as u8, 0x12, 0x34, 0x40, 0, 64, 1]);
        bytes[26..30].copy_from_slice(&ASKER.ip);
        bytes[30..34].copy_from_slice(&LOCAL.ip);
        let checksum = ipv4_checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
        bytes[34..42].copy_from_slice(&[8, 0, 0, 0, 1, 2, 0, 7]);
        bytes[42..].iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
        let checksum = ipv4_checksum(&bytes[34..]);
        bytes[36..38].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_ping_comes_back_with_addresses_exchanged_and_right_checksums() {
        let mut reply = [0xff; PING_BYTES_MAX];
        for payload in [0, 1, 22, 56, 86, 87, 200] {
            let request = echo(payload);
            assert_eq!(ping(&LOCAL, &request, &mut reply), Some((42 + payload).next_multiple_of(64)), "{payload}");
            assert_eq!(reply[..12], [ASKER.mac, LOCAL.mac].concat());
            assert_eq!(reply[26..34], [LOCAL.ip, ASKER.ip].concat());
            assert_eq!(ipv4_checksum(&reply[14..34]), 0);
            assert_eq!(reply[34..36], [0, 0]);
            assert_eq!(ipv4_checksum(&reply[34..42 + payload]), 0, "{payload}");
            assert_eq!(reply[38..42 + payload], request[38..], "{payload}");
            assert!(reply[42 + payload..].iter().all(|byte| *byte == 0));
        }
        let refused = |damage: fn(&mut Vec<u8>)| {
            let (mut request, mut reply) = (echo(56), [0; PING_BYTES_MAX]);
            damage(&mut request);
            ping(&LOCAL, &request, &mut reply).is_none()
        };
        assert!(refused(|b| b[0] ^= 1) && refused(|b| b[..6].fill(0xff)));
        assert!(refused(|b| b[22] ^= 1), "the IPv4 checksum");
        assert!(refused(|b| b[34] = 0) && refused(|b| b[35] = 1) && refused(|b| b[13] = 6));
        assert!(refused(|b| b.resize(PING_BYTES_MAX + 1, 0)) && refused(|b| b.truncate(41)));
        assert!(!refused(|b| b.resize(PING_BYTES_MAX, 0)));
    }
}
