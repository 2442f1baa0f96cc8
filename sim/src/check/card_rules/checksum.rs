//! Rules of the UDP checksum.

use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, frame, write_udp_checksum};
use optireduce_contract::queue::{DONE_BROADCAST, DONE_CONTRIBUTE, STATUS_OK};

use super::{BEATS, bench, equal, header, outcomes};
use crate::card::engine::Engine;

/// Start of the checksum's coverage in the frame.
const COVERED: usize = frame::IP_SRC.offset;

/// RFC 768 and RFC 1071, independent of the contract.
fn expected(bytes: &[u8]) -> u16 {
    let mut sum = 17 + bytes.len() as u32 - 34;
    for (at, byte) in bytes.iter().enumerate().skip(26).filter(|(at, _)| !(40..42).contains(at)) {
        sum += u32::from(*byte) << if at % 2 == 0 { 8 } else { 0 };
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = !(sum as u16);
    if checksum == 0 { 0xffff } else { checksum }
}

/// A flipped bit drops the whole frame under one counter. A right checksum, 0xffff, and no checksum
/// are accepted.
pub(super) fn received(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    bench.submit(&[bench.arm(BEATS)])?;
    let mut good = bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 2, 1.0);
    write_udp_checksum(&mut good);
    equal("checksum of the frame", good[40..42].to_vec(), expected(&good).to_be_bytes().to_vec())?;
    // Every covered byte of the header, and some of the payload.
    let bytes = (COVERED..good.len()).filter(|at| *at < 66 || at % 29 == 0 || at + 1 == good.len());
    let mut dropped = 0;
    for at in bytes {
        let mut damaged = good.clone();
        damaged[at] ^= 1 << (at % 8);
        bench.inject([damaged]);
        dropped += 1;
        let c = bench.counters()?;
        let found = (c.rx_packets, c.rx_bad, c.drop_fifo_full, bench.accepted().len());
        equal(
            &format!("received, bad, without room, beats accepted after byte {at} was damaged"),
            found,
            (dropped, dropped, 0, 0),
        )?;
    }
    bench.submit(&[bench.contribute(BEATS)])?;
    // The second half of the shard has no checksum. The local contribution is zero.
    bench.inject([good, bench.packet(header(STAGE_CONTRIBUTE), 1, 2, 2, 1.0)]);
    equal("completions", outcomes(&bench.completions()?), vec![(DONE_CONTRIBUTE, 1, STATUS_OK)])?;
    // A payload with sum zero.
    let mut mean = bench.packet(header(STAGE_BROADCAST), 1, 4, 4, 7.0);
    mean[64..66].fill(0);
    write_udp_checksum(&mut mean);
    mean.copy_within(40..42, 64);
    write_udp_checksum(&mut mean);
    equal("checksum of a sum of zero", &mean[40..42], &[0xff, 0xff])?;
    bench.inject([mean]);
    equal("completions", outcomes(&bench.completions()?), vec![(DONE_BROADCAST, 1, STATUS_OK)])?;
    let mut result = [0.0; 4 * 16];
    bench.nic.read_f32(bench.result, 0, &mut result).map_err(|error| error.to_string())?;
    equal("the local shard's mean", result, [0.5; 4 * 16])?;
    let c = bench.counters()?;
    equal("received, bad, without room", (c.rx_packets, c.rx_bad, c.drop_fifo_full), (dropped + 3, dropped, 0))
}

pub(super) fn sent(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    // Shards of 11 beats: packets of 4, 4 and 3. Every lane differs.
    let gradient: Vec<f32> = (0..22 * 16).map(|at| at as f32 / 7.0 - 20.0).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    bench.submit(&[bench.arm(22), bench.contribute(22)])?;
    bench.inject(
        [(0, 4), (4, 4), (8, 3)].map(|(first, beats)| bench.packet(header(STAGE_CONTRIBUTE), 1, first, beats, 3.5)),
    );
    bench.run_us(20);
    let stages: Vec<u8> = bench.sent.iter().map(|one| one.frame[frame::VERSION_STAGE.offset] & 0xf).collect();
    let all = [[STAGE_CONTRIBUTE; 3], [STAGE_BROADCAST; 3]].concat();
    equal("stages of the frames sent", stages, all)?;
    for departure in &bench.sent {
        let found = u16::from_be_bytes([departure.frame[40], departure.frame[41]]);
        equal("checksum of a frame sent", found, expected(&departure.frame))?;
    }
    Ok(())
}
