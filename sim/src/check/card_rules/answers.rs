//! Rules of answers to ARP requests and pings.

use optireduce_contract::packet::{Endpoint, STAGE_CONTRIBUTE, frame};

use super::{bench, equal, header, ubt_of};
use crate::card::engine::Engine;
use crate::check::card_bench::CardBench;

const LOCAL: Endpoint = Endpoint::of_rank(0);
const ASKER: Endpoint = Endpoint { mac: [2, 1, 2, 3, 4, 5], ip: [10, 77, 9, 200] };

/// RFC 826, padded to Ethernet's minimum of 60 bytes.
fn arp_packet(to: [u8; 6], from: [u8; 6], operation: u8, sender: Endpoint, target: Endpoint) -> Vec<u8> {
    let mut bytes = [&to[..], &from, &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation]].concat();
    for end in [sender, target] {
        bytes.extend(end.mac.into_iter().chain(end.ip));
    }
    bytes.resize(60, 0);
    bytes
}

fn arp_request(target: [u8; 4]) -> Vec<u8> {
    arp_packet([0xff; 6], ASKER.mac, 1, ASKER, Endpoint { mac: [0; 6], ip: target })
}

/// RFC 1071, independent of the contract.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.iter().enumerate().map(|(at, byte)| u32::from(*byte) << if at % 2 == 0 { 8 } else { 0 }).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// RFC 792, with `data` bytes.
fn echo(from: Endpoint, to: Endpoint, kind: u8, data: usize) -> Vec<u8> {
    let total = (28 + data) as u16;
    let mut bytes =
        [&to.mac[..], &from.mac, &[8, 0, 0x45, 0], &total.to_be_bytes(), &[0x12, 0x34, 0x40, 0, 64, 1, 0, 0]].concat();
    bytes.extend(from.ip.into_iter().chain(to.ip));
    bytes.extend([kind, 0, 0, 0, 0xab, 0xcd, 0, 9]);
    bytes.extend((0..data).map(|byte| byte as u8));
    for (at, part) in [(24, 14..34), (36, 34..bytes.len())] {
        let sum = checksum(&bytes[part]);
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

fn sent(bench: &mut CardBench) -> Vec<Vec<u8>> {
    bench.sent.drain(..).map(|departure| departure.frame).collect()
}

/// Received, sent, answered ARP, answered pings, foreign.
fn counts(bench: &CardBench) -> Result<[u32; 5], String> {
    let c = bench.counters()?;
    Ok([c.rx_packets, c.tx_packets, c.arp_replies, c.ping_replies, c.drop_foreign])
}

fn padded(mut answer: Vec<u8>) -> Vec<u8> {
    answer.resize(answer.len().next_multiple_of(64), 0);
    answer
}

/// Requests for other addresses count as foreign.
pub(super) fn requests(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let reply = padded(arp_packet(ASKER.mac, LOCAL.mac, 2, LOCAL, ASKER));
    bench.inject([arp_request(LOCAL.ip)]);
    equal("the answer to everybody's request", sent(&mut bench), vec![reply.clone()])?;
    bench.inject([[&LOCAL.mac[..], &arp_request(LOCAL.ip)[6..]].concat()]);
    equal("the answer to a request to us", sent(&mut bench), vec![reply])?;
    equal("counters", counts(&bench)?, [2, 2, 2, 0, 0])?;
    let mut expected = counts(&bench)?;
    for data in [0, 22, 23, 56, 86, 87, 500, 982] {
        bench.inject([echo(ASKER, LOCAL, 8, data)]);
        let answer = padded(echo(LOCAL, ASKER, 0, data));
        equal(&format!("the answer to a ping of {data} bytes"), sent(&mut bench), vec![answer])?;
        expected = [expected[0] + 1, expected[1] + 1, expected[2], expected[3] + 1, expected[4]];
        equal(&format!("counters after a ping of {data} bytes"), counts(&bench)?, expected)?;
    }
    let changed = |mut frame: Vec<u8>, at: usize, byte: u8| {
        frame[at] = byte;
        frame
    };
    let other = Endpoint { ip: [10, 77, 0, 9], ..LOCAL };
    let silent = [
        ("a request for another address", arp_request(other.ip)),
        ("a request to another MAC address", changed(arp_request(LOCAL.ip), 0, 2)),
        ("an answer", arp_packet(LOCAL.mac, ASKER.mac, 2, ASKER, LOCAL)),
        ("a request of another protocol", changed(arp_request(LOCAL.ip), 17, 6)),
        ("a ping of another address", echo(ASKER, other, 8, 56)),
        ("a ping to everybody", echo(ASKER, Endpoint { mac: [0xff; 6], ..LOCAL }, 8, 56)),
        ("an answer to a ping", echo(ASKER, LOCAL, 0, 56)),
        ("a ping with a wrong IPv4 checksum", changed(echo(ASKER, LOCAL, 8, 56), 22, 63)),
        ("a ping of 1025 bytes", echo(ASKER, LOCAL, 8, 983)),
    ];
    for (name, frame) in silent {
        bench.inject([frame]);
        expected = [expected[0] + 1, expected[1], expected[2], expected[3], expected[4] + 1];
        equal(&format!("frames sent after {name}"), bench.sent.len(), 0)?;
        equal(&format!("counters after {name}"), counts(&bench)?, expected)?;
    }
    bench.restart()?;
    equal("counters after a reset", counts(&bench)?, [0; 5])
}

/// Answers are sent between the frames of a contribution.
pub(super) fn beside_a_job(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    // A shard of 100 beats for the peer: 25 packets.
    let gradient: Vec<f32> = (0..200 * 16).map(|at| at as f32).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    bench.burst([arp_request(LOCAL.ip)]);
    bench.submit(&[bench.arm(200), bench.contribute(200)])?;
    bench.inject([
        arp_request(LOCAL.ip),
        echo(ASKER, LOCAL, 8, 56),
        bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 1.0),
    ]);
    bench.run_us(30);
    let (mut answers, mut beats) = (0, 0);
    for frame in sent(&mut bench) {
        if frame[frame::ETH_TYPE.offset..frame::ETH_TYPE.end()] == [8, 6] || frame[frame::IP_PROTOCOL.offset] == 1 {
            answers += 1;
            continue;
        }
        let (ubt, payload) = ubt_of(&frame)?;
        equal("offset of the next packet", ubt.offset, (100 + beats) * 64)?;
        let lane = f32::from_le_bytes([payload[0], payload[1], payload[2], payload[3]]);
        equal("its first lane", lane, ((100 + beats) * 16) as f32)?;
        beats += (payload.len() / 64) as u32;
    }
    equal("beats of the contribution, answers", (beats, answers), (100, 3))?;
    equal("beats accepted of the peer", bench.accepted().iter().filter(|one| one.sender == 1).count(), 4)
}
