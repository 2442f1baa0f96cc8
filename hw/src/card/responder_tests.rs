//! Tests of [`Responder`] and [`TxMerge`] against `contract::answer`, byte for byte.

use super::job_copy::CopiedJob;
use super::responder::Responder;
use super::rx_filter::LATENCY;
use super::testing::{Pace, at_every_pace, random_beat};
use super::tx_merge::TxMerge;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::answer::{PING_BYTES_MAX, arp, ping};
use optireduce_contract::packet::{Endpoint, ipv4_checksum};
use optireduce_contract::registers as map;
use std::collections::VecDeque;

const LOCAL: Endpoint = Endpoint::of_rank(4);

fn copied(enable: bool) -> CopiedJob {
    let mac = LOCAL.mac.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let ip = u32::from_le_bytes(LOCAL.ip);
    CopiedJob { enable, ip: bits_w(ip.into()), mac: bits_w(mac), ..CopiedJob::default() }
}

fn request(random: &mut Random) -> Vec<u8> {
    let asker = Endpoint::of_rank(5 + random.below(50) as usize);
    let mut bytes: Vec<u8> = (0..64).map(|_| 0).collect();
    let is_arp = random.one_in(2);
    let everybody = is_arp && random.one_in(2);
    bytes[..6].copy_from_slice(if everybody { &[0xff; 6] } else { &LOCAL.mac });
    bytes[6..12].copy_from_slice(&asker.mac);
    if is_arp {
        bytes[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        bytes[22..28].copy_from_slice(&asker.mac);
        bytes[28..32].copy_from_slice(&asker.ip);
        bytes[32..38].fill(random.next() as u8);
        bytes[38..42].copy_from_slice(&LOCAL.ip);
    } else {
        let beats = if random.one_in(4) { 15 + random.below(3) as usize } else { 1 + random.below(4) as usize };
        bytes[12..20].copy_from_slice(&[8, 0, 0x45, 0, 0, 50, random.next() as u8, 7]);
        bytes[20..24].copy_from_slice(&[0x40, 0, 64, 1]);
        bytes[26..30].copy_from_slice(&asker.ip);
        bytes[30..34].copy_from_slice(&LOCAL.ip);
        bytes[34..36].copy_from_slice(&[8, 0]);
        bytes[36..38].copy_from_slice(&(random.next() as u16).to_be_bytes());
        let rest = (64..64 * beats).map(|_| random.next() as u8);
        bytes.extend(rest);
        let checksum = ipv4_checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
    if random.one_in(3) {
        let at = random.below(42) as usize;
        bytes[at] ^= 1 << random.below(8);
    }
    bytes
}

/// Bytes, and whether it is ARP.
fn answer(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    if let Some(reply) = arp(&LOCAL, bytes) {
        return Some((reply.to_vec(), true));
    }
    let mut reply = [0; PING_BYTES_MAX];
    let length = ping(&LOCAL, bytes, &mut reply)?;
    Some((reply[..length].to_vec(), false))
}

#[derive(Clone)]
struct Coming {
    data: Beat,
    last: bool,
    error: bool,
    checksum: bool,
    /// With the first beat only.
    frame: Option<Vec<u8>>,
}

fn respond(bench: &mut Bench<Responder>, random: &mut Random, pace: Pace, cycles: u64) -> [u32; 4] {
    let mut line: VecDeque<Option<Coming>> = vec![None; LATENCY].into();
    let mut coming: VecDeque<Coming> = VecDeque::new();
    // The accepted request under way, and the beats of the pending answer.
    let mut taking: Option<(Vec<u8>, bool)> = None;
    let mut waiting: VecDeque<Beat> = VecDeque::new();
    let (mut counts, mut told, mut disabled) = ([0u32; 3], 0, 0u64);
    let [mut arps, mut pings, mut missed, mut refused] = [0; 4];
    for cycle in 0..cycles {
        if coming.is_empty() {
            let bytes = request(random);
            let (error, checksum) = (random.one_in(8), ipv4_checksum(&bytes[14..34]) != 0);
            let beats: Vec<Beat> = bytes.as_chunks().0.iter().map(Beat::from_bytes).collect();
            let end = beats.len() - 1;
            coming.extend(beats.into_iter().enumerate().map(|(at, data)| Coming {
                data,
                last: at == end,
                error: if at == end { error } else { random.one_in(2) },
                checksum,
                frame: (at == 0).then(|| bytes.clone()),
            }));
        }
        let next = pace.comes(random).then(|| coming.pop_front()).flatten();
        let out = line.pop_front().flatten();
        if disabled == 0 && random.one_in(300) {
            disabled = 1 + random.below(20);
        }
        let (enable, reset) = (disabled == 0, random.one_in(700));
        disabled -= u64::from(!enable);
        let ready = pace.takes(random);
        let asked = [map::TX_PACKETS, map::ARP_REPLIES, map::PING_REPLIES, map::RX_PACKETS][random.below(4) as usize];

        let block = &mut bench.block;
        block.job.next = copied(enable);
        block.reset.next = reset;
        block.read_address.next = bits_w(asked.word() as u64);
        block.rx_valid.next = next.is_some();
        block.rx_data.next = next.as_ref().map_or_else(|| random_beat(random), |beat| beat.data);
        block.rx_last.next = next.as_ref().map_or(random.one_in(2), |beat| beat.last);
        block.in_valid.next = out.is_some();
        block.in_data.next = out.as_ref().map_or_else(|| random_beat(random), |beat| beat.data);
        block.in_last.next = out.as_ref().is_none_or(|beat| beat.last);
        block.in_error.next = out.as_ref().is_none_or(|beat| beat.error);
        block.in_checksum.next = out.as_ref().is_none_or(|beat| beat.checksum);
        block.tx_ready.next = ready;
        bench.settle();
        let block = &bench.block;
        assert_eq!(block.read_data.val().raw(), u64::from(told), "cycle {cycle}");
        let [all, arp, ping] = counts;
        told = match asked.name {
            "TX_PACKETS" => all,
            "ARP_REPLIES" => arp,
            "PING_REPLIES" => ping,
            _ => 0,
        };
        assert_eq!(block.tx_valid.val(), !waiting.is_empty(), "cycle {cycle}");
        assert_eq!(block.busy.val(), !waiting.is_empty(), "cycle {cycle}");
        let was_waiting = !waiting.is_empty();
        if let Some(beat) = waiting.front() {
            assert_eq!((block.tx_data.val(), block.tx_last.val()), (*beat, waiting.len() == 1), "cycle {cycle}");
            if ready {
                waiting.pop_front();
            }
        }
        if let Some(frame) = out.as_ref().and_then(|beat| beat.frame.as_ref()) {
            taking = answer(frame);
            refused += u32::from(taking.is_none());
            missed += u32::from(taking.is_some() && was_waiting);
            taking = taking.filter(|_| enable && !was_waiting);
        }
        taking = taking.filter(|_| enable);
        let answered = out.is_some_and(|beat| beat.last && !beat.error) && taking.is_some();
        assert_eq!(block.answers.val(), answered, "cycle {cycle}");
        if let Some((bytes, is_arp)) = taking.take_if(|_| answered) {
            waiting = bytes.as_chunks().0.iter().map(Beat::from_bytes).collect();
            counts = [all + 1, arp + u32::from(is_arp), ping + u32::from(!is_arp)];
            (arps, pings) = (arps + u32::from(is_arp), pings + u32::from(!is_arp));
        }
        if !enable {
            counts = [0; 3];
        }
        line.push_back(next);
        if reset {
            line.iter_mut().for_each(|place| *place = None);
            coming.clear();
            waiting.clear();
            taking = None;
        }
        bench.tick();
    }
    [arps, pings, missed, refused]
}

#[test]
fn requests_for_our_address_are_answered_and_nothing_else() {
    let mut seen = [0; 4];
    at_every_pace(8, |random, pace| {
        let found = respond(&mut Bench::new(Responder::default()), random, pace, 4000);
        seen.iter_mut().zip(found).for_each(|(all, one)| *all += one);
    });
    assert!(seen.iter().all(|count| *count > 20), "ARP, pings, missed, refused: {seen:?}");
}

#[test]
fn the_verilog_answers_alike() {
    let mut bench = Bench::recording(Responder::default());
    let seen = respond(&mut bench, &mut Random::new(3), Pace::RANDOM, 4000);
    assert!(seen.iter().all(|count| *count > 5), "ARP, pings, missed, refused: {seen:?}");
    bench.verify_with_verilator("responder");
}

/// Whole frames of either side must leave, in order.
fn merge(bench: &mut Bench<TxMerge>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut sides: [VecDeque<(Beat, bool, bool)>; 2] = Default::default();
    let (mut offered, mut inside, mut stands) = ([false; 2], None, None);
    let mut left = [0; 2];
    for cycle in 0..cycles {
        for (side, frames) in sides.iter_mut().enumerate() {
            if frames.is_empty() && if side == 0 { pace.comes(random) } else { random.one_in(20) } {
                let beats = 1 + random.below(if side == 0 { 24 } else { 3 });
                let error = side == 0 && random.one_in(9);
                frames.extend((1..=beats).map(|at| (random_beat(random), at == beats, error && at == beats)));
            }
            offered[side] = !frames.is_empty();
        }
        let (ready, reset) = (pace.takes(random), random.one_in(900));
        let front = |side: usize| sides[side].front().copied().unwrap_or((Beat::default(), true, true));
        let ((data, last, error), (answer, answer_last, _)) = (front(0), front(1));
        let block = &mut bench.block;
        (block.valid.next, block.data.next, block.last.next, block.error.next) = (offered[0], data, last, error);
        (block.answer_valid.next, block.answer_data.next, block.answer_last.next) = (offered[1], answer, answer_last);
        (block.tx_ready.next, block.reset.next) = (ready, reset);
        bench.settle();
        let block = &bench.block;
        // Turn: the frame under way or offered before, else an answer, else the card.
        let turn: usize = inside.or(stands).unwrap_or(usize::from(offered[1]));
        assert_eq!(block.tx_valid.val(), offered[turn], "cycle {cycle}");
        if offered[turn] {
            let (data, last, error) = front(turn);
            let found = (block.tx_data.val(), block.tx_last.val(), block.tx_error.val());
            assert_eq!(found, (data, last, error), "cycle {cycle}, side {turn}");
        }
        let readies = [block.ready.val(), block.answer_ready.val()];
        let takes = ready && offered[turn];
        assert_eq!(readies[turn] && offered[turn], takes, "cycle {cycle}");
        assert!(!(readies[1 - turn] && offered[1 - turn]), "cycle {cycle}: also taken from side {}", 1 - turn);
        stands = (offered[turn] && !ready).then_some(turn);
        if takes {
            let (_, last, _) = sides[turn].pop_front().expect("it was offered");
            inside = (!last).then_some(turn);
            left[turn] += u32::from(last);
        }
        if reset {
            sides.iter_mut().for_each(VecDeque::clear);
            (inside, stands) = (None, None);
        }
        bench.tick();
    }
    assert!(left.iter().all(|frames| *frames > 20), "{left:?} frames");
}

#[test]
fn frames_of_both_sides_leave_whole_and_an_answer_waits_for_one_frame_at_most() {
    at_every_pace(6, |random, pace| merge(&mut Bench::new(TxMerge::default()), random, pace, 4000));
}

#[test]
fn the_verilog_merges_alike() {
    let mut bench = Bench::recording(TxMerge::default());
    merge(&mut bench, &mut Random::new(2), Pace::RANDOM, 3000);
    bench.verify_with_verilator("tx_merge");
}

#[test]
fn an_answer_costs_the_card_its_own_beats_and_no_cycle_more() {
    for (answers, beats) in [(0, 1), (1, 1), (1, 16), (5, 2)] {
        let mut bench = Bench::new(TxMerge::default());
        let (mut card, mut other) = (200u64, answers * beats);
        let mut cycles = 0;
        while card > 0 || other > 0 {
            let block = &mut bench.block;
            (block.valid.next, block.last.next) = (card > 0, card % 20 == 1);
            (block.answer_valid.next, block.answer_last.next) = (other > 0, other % beats == 1 % beats);
            block.tx_ready.next = true;
            bench.settle();
            assert!(bench.block.tx_valid.val(), "a bubble after {cycles} cycles");
            card -= u64::from(bench.block.ready.val() && card > 0);
            other -= u64::from(bench.block.answer_ready.val() && other > 0);
            bench.tick();
            cycles += 1;
        }
        assert_eq!(cycles, 200 + answers * beats, "{answers} answers of {beats} beats");
    }
}
