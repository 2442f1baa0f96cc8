//! Rules of frames that are no valid packets for this card.

use optireduce_contract::packet::{FLAG_BF16, STAGE_CONTRIBUTE, UbtHeader, frame};

use super::{BEATS, bench, equal, header};
use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, JOB_TAG, PAYLOAD_BEATS};

/// Causes of drops, in the order of [`counts`].
#[derive(Clone, Copy, Debug)]
enum Why {
    Foreign,
    Bad,
    Mac,
    IpChecksum,
    Ip,
    Source,
    TooLong,
    Malformed,
    Job,
}

/// Counters in the order of [`Why`], and `DROP_FIFO_FULL`.
fn counts(bench: &CardBench) -> Result<([u32; 9], u32), String> {
    let c = bench.counters()?;
    let lower = [c.drop_foreign, c.rx_bad, c.drop_mac, c.drop_ip_checksum, c.drop_ip, c.drop_source, c.drop_too_long];
    let [foreign, bad, mac, checksum, ip, source, long] = lower;
    Ok(([foreign, bad, mac, checksum, ip, source, long, c.drop_malformed, c.drop_job], c.drop_fifo_full))
}

/// Corrects the IPv4 checksum by RFC 791, independent of the contract.
fn mended(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[24..26].fill(0);
    let mut sum: u32 = (14..34).map(|at| u32::from(bytes[at]) << if at % 2 == 0 { 8 } else { 0 }).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    bytes[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    bytes
}

fn with(frame: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = frame.to_vec();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

/// Each frame must be counted once, for its cause, and none accepted.
fn each_is_counted(bench: &mut CardBench, frames: Vec<(&str, Why, Vec<u8>)>) -> Result<(), String> {
    let (before, count) = (bench.counters()?.rx_packets, frames.len() as u32);
    let (mut expected, _) = counts(bench)?;
    for (name, why, frame) in frames {
        let bytes = frame.len();
        bench.inject([frame]);
        expected[why as usize] += 1;
        let what = format!("counters after {name}, {bytes} bytes, which is {why:?}");
        equal(&what, counts(bench)?, (expected, 0))?;
    }
    equal("frames received", bench.counters()?.rx_packets, before + count)?;
    equal("beats accepted", bench.accepted().len(), 0)
}

/// A good packet is accepted and changes no counter of drops.
fn and_the_good_one_is_taken(bench: &mut CardBench, good: Vec<u8>, beats: usize) -> Result<(), String> {
    let before = counts(bench)?;
    bench.inject([good]);
    equal("beats of the good frame", bench.accepted().len(), beats)?;
    equal("counters after the good frame", counts(bench)?, before)
}

/// Frames of whole beats, which software drops for the same causes.
pub(super) fn addresses(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    bench.submit(&[bench.arm(3 * BEATS)])?;
    let contribute = header(STAGE_CONTRIBUTE);
    let good = bench.packet(contribute, 1, 0, 4, 1.0);
    equal("checksum of the IPv4 header", mended(good.clone()), good.clone())?;
    let from_1 = |ubt: UbtHeader| bench.frame(UbtHeader { offset: 0, ..ubt }, 1, 256, 1.0);
    let other_mac = with(&good, frame::ETH_DST.offset, &[good[0] ^ 2]);
    let other_ip = mended(with(&good, frame::IP_DST.offset + 2, &[77]));
    let mut frames = vec![
        ("ARP", Why::Foreign, with(&good, frame::ETH_TYPE.offset, &[0x08, 0x06])),
        ("a VLAN", Why::Foreign, with(&good, frame::ETH_TYPE.offset, &[0x81, 0x00])),
        ("LLDP", Why::Foreign, with(&good, frame::ETH_TYPE.offset, &[0x88, 0xcc])),
        ("IPv6", Why::Foreign, with(&good, frame::ETH_TYPE.offset, &[0x86, 0xdd])),
        ("options", Why::Foreign, mended(with(&good, frame::IP_VERSION_IHL.offset, &[0x46]))),
        ("a fragment", Why::Foreign, mended(with(&good, frame::IP_FRAGMENT.offset, &[0x20]))),
        ("TCP", Why::Foreign, mended(with(&good, frame::IP_PROTOCOL.offset, &[6]))),
        ("another port and MAC address", Why::Foreign, with(&other_mac, frame::UDP_DST.offset, &[1])),
        ("to everybody", Why::Mac, with(&good, frame::ETH_DST.offset, &[0xff; 6])),
        ("another MAC address", Why::Mac, with(&good, frame::ETH_DST.offset + 5, &[good[5] ^ 0x80])),
        ("another MAC and IP address", Why::Mac, with(&other_ip, frame::ETH_DST.offset, &[good[0] ^ 2])),
        ("another IP address", Why::Ip, other_ip.clone()),
        ("another IP address, and its checksum wrong", Why::IpChecksum, with(&other_ip, 24, &[!other_ip[24]])),
        ("to all IP addresses", Why::Ip, mended(with(&good, frame::IP_DST.offset, &[0xff; 4]))),
        ("from rank 1 for rank 2", Why::Source, from_1(UbtHeader { sender: 2, ..contribute })),
        (
            "from rank 1 for ourselves, of another job",
            Why::Malformed,
            from_1(UbtHeader { sender: 0, job_tag: !0, ..contribute }),
        ),
        ("from a stranger", Why::Source, mended(with(&good, frame::IP_SRC.offset + 1, &[9]))),
        ("of another job, for rank 2", Why::Job, from_1(UbtHeader { sender: 2, job_tag: JOB_TAG ^ 1, ..contribute })),
        ("too long", Why::TooLong, bench.packet(contribute, 1, 0, PAYLOAD_BEATS + 1, 1.0)),
        ("too long, bf16", Why::TooLong, bench.packet(UbtHeader { flags: FLAG_BF16, ..contribute }, 1, 0, 139, 1.0)),
        ("from rank 1 for rank 2, too long", Why::Source, {
            bench.frame(UbtHeader { sender: 2, ..contribute }, 1, 64 * (PAYLOAD_BEATS + 1), 1.0)
        }),
    ];
    // Bytes of the IPv4 header that only the checksum protects, and the source.
    for at in [15, 16, 17, 18, 19, 22, 24, 25, 26, 27, 28, 29] {
        frames.push(("a wrong IPv4 checksum", Why::IpChecksum, with(&good, at, &[good[at] ^ 1 << (at % 8)])));
    }
    each_is_counted(&mut bench, frames)?;
    and_the_good_one_is_taken(&mut bench, good, 4)
}

/// Partial beats count as an overflow of the receive buffer only in packets for this card.
pub(super) fn other_kinds(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    bench.submit(&[bench.arm(3 * BEATS)])?;
    let good = bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 1.0);
    let of_type = |kind: [u8; 2], bytes: usize| with(&good, frame::ETH_TYPE.offset, &kind)[..bytes].to_vec();
    let ours = |bytes: usize| good[..bytes].to_vec();
    let frames = vec![
        ("ARP", Why::Foreign, of_type([0x08, 0x06], 60)),
        ("a runt", Why::Foreign, of_type([0x08, 0x06], 42)),
        ("LLDP", Why::Foreign, of_type([0x88, 0xcc], 277)),
        ("IPv6", Why::Foreign, of_type([0x86, 0xdd], 90)),
        ("a VLAN", Why::Foreign, of_type([0x81, 0x00], 68)),
        ("another port", Why::Foreign, with(&good, frame::UDP_DST.offset, &[1])[..100].to_vec()),
        ("to everybody", Why::Mac, with(&good, frame::ETH_DST.offset, &[0xff; 6])[..319].to_vec()),
        ("a wrong IPv4 checksum", Why::IpChecksum, with(&good, 22, &[1])[..130].to_vec()),
        ("a cut packet", Why::Bad, ours(319)),
        ("a cut packet", Why::Bad, ours(257)),
        ("a cut header", Why::Bad, ours(63)),
    ];
    each_is_counted(&mut bench, frames)?;
    // Without gaps, so that a frame may disturb the next, and before the mean is due.
    let before = bench.counters()?.drop_foreign;
    let kinds = (42..64).flat_map(|bytes| [of_type([0x08, 0x06], bytes), of_type([0x86, 0xdd], 3 * bytes)]);
    bench.burst(kinds.collect::<Vec<_>>());
    bench.run_us(2);
    equal("frames of other kinds in a burst", bench.counters()?.drop_foreign, before + 44)?;
    and_the_good_one_is_taken(&mut bench, good, 4)?;
    let c = bench.counters()?;
    let lower = [c.drop_foreign, c.rx_bad, c.drop_fifo_full, c.drop_mac, c.drop_ip_checksum];
    equal("frames received: dropped by one cause each, or taken", c.rx_packets, lower.iter().sum::<u32>() + 1)
}
