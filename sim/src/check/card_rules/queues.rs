//! Rules of several queues on one card, and of inaccessible host memory.

use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::{
    DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, OP_BROADCAST, STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK,
    STATUS_SLOT_BUSY, STATUS_STALE, Submission,
};
use optireduce_contract::registers as reg;
use optireduce_driver::{Bus, DriverError, InProcessBus, Nic};

use super::{BEATS, bench, bench_stale, equal, header, outcomes};
use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, PAYLOAD_BEATS, bench_job};

const NOWHERE: u64 = 0x1000;

/// Two ranks, and a second driver with queue 2.
fn shared(engine: Engine) -> Result<(CardBench, Nic<InProcessBus>), String> {
    let (bench, mut others) =
        CardBench::shared(engine, bench_job(2, PAYLOAD_BEATS), 1).map_err(|error| error.to_string())?;
    let mut other = others.remove(0);
    other.open_queue(2, 4).map_err(|error| error.to_string())?;
    Ok((bench, other))
}

fn submit(bench: &mut CardBench, nic: &mut Nic<InProcessBus>, commands: &[Submission]) -> Result<(), String> {
    let all = commands.iter().try_for_each(|command| nic.submit(command));
    all.and_then(|()| nic.ring_doorbell()).map_err(|error| error.to_string())?;
    bench.run_us(20);
    Ok(())
}

fn heard(nic: &mut Nic<InProcessBus>) -> Result<Vec<(u8, u32, u8)>, String> {
    let mut all = Vec::new();
    while let Some(completion) = nic.poll_completion().map_err(|error| error.to_string())? {
        all.push(completion);
    }
    Ok(outcomes(&all))
}

fn window(bench: &CardBench, slot: u8) -> [Submission; 2] {
    let (cookie, base) = (u32::from(slot) + 1, u32::from(slot) * 4096);
    let place = |address: u64, bytes: u64| address + u64::from(slot) * bytes;
    let arm = Submission {
        slot,
        cookie,
        base,
        host_address: place(bench.result.iova, 4096),
        report_address: place(bench.reports.iova, 256),
        ..bench.arm(BEATS)
    };
    [arm, Submission { slot, cookie, ..bench.contribute(BEATS) }]
}

fn peers(bench: &CardBench, slot: usize) -> [Vec<u8>; 2] {
    let packet = |stage, first| bench.packet(UbtHeader { ..header(stage) }, 1, slot * 64 + first, 4, 2.0);
    [packet(STAGE_CONTRIBUTE, 0), packet(STAGE_BROADCAST, 4)]
}

fn closed(cookie: u32, status: u8) -> Vec<(u8, u32, u8)> {
    vec![(DONE_CONTRIBUTE, cookie, status), (DONE_BROADCAST, cookie, status)]
}

pub fn own_windows(engine: Engine) -> Result<(), String> {
    let (mut bench, mut other) = shared(engine)?;
    let ([arm, contribute], [other_arm, other_contribute]) = (window(&bench, 0), window(&bench, 5));
    bench.submit(&[arm])?;
    submit(&mut bench, &mut other, &[other_arm])?;
    // A queue cannot access another's window; its completion reports that.
    let broadcast = Submission { opcode: OP_BROADCAST, cookie: 1, ..Submission::default() };
    submit(&mut bench, &mut other, &[contribute, broadcast, arm])?;
    let stale = (DONE_REFUSED, 1, STATUS_STALE);
    equal(
        "completions of the other queue",
        heard(&mut other)?,
        vec![stale, stale, (DONE_REFUSED, 1, STATUS_SLOT_BUSY)],
    )?;
    bench.submit(&[other_contribute])?;
    equal("completions of the first queue", heard(&mut bench.nic)?, vec![(DONE_REFUSED, 6, STATUS_STALE)])?;
    equal("frames sent", bench.sent.len(), 0)?;

    submit(&mut bench, &mut other, &[other_contribute])?;
    bench.inject(peers(&bench, 5));
    bench.run_us(20);
    equal("completions of the first queue", heard(&mut bench.nic)?, vec![])?;
    equal("completions of the other queue", heard(&mut other)?, closed(6, STATUS_OK))?;
    bench.submit(&[contribute])?;
    bench.inject(peers(&bench, 0));
    bench.run_us(20);
    equal("completions of the first queue", heard(&mut bench.nic)?, closed(1, STATUS_OK))?;
    equal("completions of the other queue", heard(&mut other)?, vec![])?;
    equal("frames sent", bench.sent.len(), 4)?;

    // A slot belongs to the queue that armed it last.
    let [mut arm, mut contribute] = window(&bench, 5);
    (arm.cookie, contribute.cookie) = (9, 9);
    bench.submit(&[arm, contribute])?;
    bench.inject(peers(&bench, 5));
    bench.run_us(20);
    equal("completions of the first queue", heard(&mut bench.nic)?, closed(9, STATUS_OK))?;
    let indices = |nic: &Nic<InProcessBus>| nic.counters().map(|c| (c.sq_head, c.cq_tail));
    equal("indices of the first queue", indices(&bench.nic).map_err(|error| error.to_string())?, (5, 5))?;
    equal("indices of the other queue", indices(&other).map_err(|error| error.to_string())?, (5, 5))
}

pub fn full_ring_of_one(engine: Engine) -> Result<(), String> {
    let (mut bench, mut other) = shared(engine)?;
    // 16 rejections fill the other queue's completion ring; the rest waits.
    for cookie in 0..24 {
        submit(&mut bench, &mut other, &[Submission { cookie, ..bench_stale() }])?;
    }
    bench.run_us(20);
    let [arm, contribute] = window(&bench, 0);
    bench.submit(&[arm, contribute])?;
    bench.inject(peers(&bench, 0));
    bench.run_us(20);
    equal("completions of the first queue", heard(&mut bench.nic)?, closed(1, STATUS_OK))?;
    let theirs = other.counters().map_err(|error| error.to_string())?;
    equal("completions in the full ring", theirs.cq_tail, 16)?;
    // A completion without space stops the fetch, except for commands in the pipeline.
    equal("submissions consumed are 17 to 19", (17..20).contains(&theirs.sq_head), true)?;
    let mut cookies = Vec::new();
    for _ in 0..4 {
        cookies.extend(heard(&mut other)?.into_iter().map(|(_, cookie, _)| cookie));
        bench.run_us(20);
    }
    equal("cookies of the other queue", cookies, (0..24).collect())
}

pub fn contained_errors(engine: Engine) -> Result<(), String> {
    // Inaccessible buffer, and status of the window's completions.
    let (bad, good) = (STATUS_DMA_ERROR, STATUS_OK);
    type Damage = fn(&mut [Submission; 2]);
    let cases: [(&str, Damage, [u8; 2]); 3] = [
        ("gradient", |[_, contribute]| contribute.host_address = NOWHERE, [bad, bad]),
        ("result", |[arm, _]| arm.host_address = NOWHERE, [good, bad]),
        ("reports", |[arm, _]| arm.report_address = NOWHERE, [bad, bad]),
    ];
    for (what, damage, status) in cases {
        let mut bench = bench(engine, 2)?;
        let (before, mut damaged, after) = (window(&bench, 1), window(&bench, 2), window(&bench, 3));
        damage(&mut damaged);
        bench.submit(&[before, damaged, after].concat())?;
        bench.inject([1, 2, 3].map(|slot| peers(&bench, slot)).concat());
        bench.run_us(150);
        let mut found = outcomes(&bench.completions()?);
        found.sort_by_key(|(opcode, cookie, _)| (*cookie, *opcode));
        let of_damaged = vec![(DONE_CONTRIBUTE, 3, status[0]), (DONE_BROADCAST, 3, status[1])];
        let expected = [closed(2, good), of_damaged, closed(4, good)].concat();
        equal(&format!("completions, {what} out of reach"), found, expected)?;
        let counters = bench.counters()?;
        equal("the STATUS bits", (counters.dma_error, counters.queue_stopped), (true, false))?;
        // The next window of the slot succeeds.
        bench.submit(&window(&bench, 2))?;
        bench.inject(peers(&bench, 2));
        bench.run_us(20);
        equal(&format!("the next window, {what}"), outcomes(&bench.completions()?), closed(3, good))?;
        let mut result = [0.0; 1];
        let offset = 2 * 4096 + 4 * 64;
        bench.nic.read_f32(bench.result, offset, &mut result).map_err(|error| error.to_string())?;
        equal(&format!("its result, {what}"), result, [2.0])?;
    }
    Ok(())
}

pub fn stopped_queues(engine: Engine) -> Result<(), String> {
    for completions in [false, true] {
        let (mut bench, mut other) = shared(engine)?;
        // Both queues have a window when a ring of the other one becomes inaccessible.
        let ([arm, contribute], [other_arm, other_contribute]) = (window(&bench, 0), window(&bench, 1));
        bench.submit(&[arm])?;
        submit(&mut bench, &mut other, &[other_arm, other_contribute])?;
        let (lo, hi) =
            if completions { (reg::CQ_BASE_LO, reg::CQ_BASE_HI) } else { (reg::SQ_BASE_LO, reg::SQ_BASE_HI) };
        other.bus().write(&lo.of_queue(2), NOWHERE as u32);
        other.bus().write(&hi.of_queue(2), 0);
        submit(&mut bench, &mut other, &[Submission { cookie: 77, ..bench_stale() }])?;
        bench.run_us(20);
        let ours = bench.counters()?;
        let theirs = other.counters().map_err(|error| error.to_string())?;
        equal("DMA error and stopped, first queue", (ours.dma_error, ours.queue_stopped), (true, false))?;
        equal("DMA error and stopped, other queue", (theirs.dma_error, theirs.queue_stopped), (true, true))?;
        // A failed fetch consumes no entry, but a lost completion counts.
        let indices = if completions { (3, 1) } else { (2, 0) };
        equal("indices of the other queue", (theirs.sq_head, theirs.cq_tail), indices)?;
        let stopped = other.wait_completion(std::time::Duration::ZERO);
        equal("the driver reports the stop", matches!(stopped, Err(DriverError::QueueStopped { queue: 2, .. })), true)?;
        // The queue stays stopped even once its ring is accessible. Its window and other queues
        // continue.
        let before = bench.sent.len();
        submit(&mut bench, &mut other, &[Submission { cookie: 78, ..bench_stale() }])?;
        let after = other.counters().map_err(|error| error.to_string())?;
        equal("submissions consumed after the stop", after.sq_head, indices.0)?;
        bench.inject(peers(&bench, 1));
        bench.run_us(20);
        equal("the mean of the other's window is sent", bench.sent.len(), before + 1)?;
        if !completions {
            equal("completions of the other queue", heard(&mut other)?, closed(2, STATUS_OK))?;
        }
        bench.submit(&[contribute])?;
        bench.inject(peers(&bench, 0));
        bench.run_us(20);
        equal("completions of the first queue", heard(&mut bench.nic)?, closed(1, STATUS_OK))?;
        bench.restart()?;
        equal("stopped after a restart", other.counters().map_err(|error| error.to_string())?.queue_stopped, false)?;
        other.open_queue(2, 4).map_err(|error| error.to_string())?;
        let bad = Submission { opcode: 9, cookie: 5, ..Submission::default() };
        submit(&mut bench, &mut other, &[bad])?;
        equal("completions of the other queue", heard(&mut other)?, vec![(DONE_REFUSED, 5, STATUS_BAD_COMMAND)])?;
    }
    Ok(())
}
