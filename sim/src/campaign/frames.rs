//! Conversion of datagrams to whole frames and back, for flipped bits and checksums.

use optireduce_contract::packet::{
    Endpoint, HEADER_BYTES, UBT_BYTES, UDP_PORT_DEFAULT, UbtHeader, frame, read_frame, udp_checksum_holds,
    write_header, write_udp_checksum,
};

const LOWER_BYTES: usize = HEADER_BYTES - UBT_BYTES;
/// Host number of an address outside the job.
const STRANGER: usize = 200;

/// Builds a frame. `from` is `None` for a sender outside the job.
pub(super) fn framed(from: Option<usize>, to: usize, datagram: &[u8]) -> Vec<u8> {
    let mut header = [0; HEADER_BYTES];
    let [from, to] = [from.unwrap_or(STRANGER), to].map(Endpoint::of_rank);
    let payload = datagram.len().saturating_sub(UBT_BYTES);
    write_header(&mut header, from, to, UDP_PORT_DEFAULT, &UbtHeader::default(), payload);
    let mut frame = [&header[..LOWER_BYTES], datagram].concat();
    if frame.len() >= HEADER_BYTES {
        write_udp_checksum(&mut frame);
    }
    frame
}

/// Returns sender and datagram, unless a kernel would drop the frame for a wrong length or UDP
/// checksum.
pub(super) fn unframed(frame: &[u8]) -> Option<(Option<usize>, Vec<u8>)> {
    let header = frame.first_chunk()?;
    let is_whole = udp_checksum_holds(frame) && read_frame(header, frame.len(), UDP_PORT_DEFAULT).is_ok();
    is_whole.then(|| (host(frame, frame::IP_SRC.offset), frame[LOWER_BYTES..].to_vec()))
}

/// As [`unframed`], without any checks.
#[cfg(test)]
pub(super) fn unframed_blindly(frame: &[u8]) -> Option<(Option<usize>, Vec<u8>)> {
    Some((host(frame, frame::IP_SRC.offset), frame.get(LOWER_BYTES..)?.to_vec()))
}

pub(super) fn addressed(frame: &[u8]) -> Option<(usize, Vec<u8>)> {
    Some((host(frame, frame::IP_DST.offset)?, frame.get(LOWER_BYTES..)?.to_vec()))
}

fn host(frame: &[u8], at: usize) -> Option<usize> {
    let ip = frame.get(at..at + 4)?;
    let rank = usize::from(ip[3]).checked_sub(1).filter(|rank| *rank < STRANGER)?;
    (ip == Endpoint::of_rank(rank).ip).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flipped_bit_reaches_a_socket() {
        let datagram: Vec<u8> = (0..UBT_BYTES + 128).map(|byte| byte as u8).collect();
        let frame = framed(Some(3), 1, &datagram);
        assert_eq!(unframed(&frame), Some((Some(3), datagram.clone())));
        let mut taken = 0;
        for bit in 0..8 * frame.len() {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Some(found) = unframed(&flipped) {
                assert_eq!(found, (Some(3), datagram.clone()), "bit {bit}");
                taken += 1;
            }
        }
        // Only Ethernet addresses and IPv4 fields without effect may change.
        assert!(taken < 20 * 8, "{taken}");
        assert_eq!(unframed(&frame[..frame.len() - 64]), None);
        assert_eq!(unframed(&framed(None, 1, &datagram)).map(|(from, _)| from), Some(None));
    }
}
