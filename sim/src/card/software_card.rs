//! The host library's software data plane as a card, to check [`crate::check::card_rules`] for
//! software.
//!
//! Commands in a submission ring become windows of a software plane, frames become datagrams, and
//! reports of the plane become completions.
//!
//! Limits: one queue, no faults of host memory, no commanded broadcast. Commands take no time. The
//! advertised incast is taken from the contribution in the same batch of commands. Packets for
//! windows that are not armed count as having none.

use std::collections::{HashMap, VecDeque};

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::queue::{
    Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, ENTRY_BYTES, OP_ARM, OP_CONTRIBUTE, STATUS_BAD_COMMAND,
    STATUS_OK, STATUS_STALE, Submission,
};
use optireduce_contract::registers as reg;
use optireduce_contract::rules;
use optireduce_contract::rules::gate::Rules;
use optireduce_core::protocol::{EarlyRule, JobParams, Kind, Stage, StageReport, WindowPlan, op_of_step};
use optireduce_core::software::SoftwareJob;
use optireduce_core::{DataPlane, Memory, PlaneEvent, PlaneLimits, Role};
use optireduce_driver::CardEnd;

use crate::card::functional::job::{Job, Ring};
use crate::card::software_rank::SoftwareRank;
use crate::card::{Accept, Card};
use crate::wire::{Arrival, Departure};

pub struct SoftwareCard {
    end: CardEnd,
    now_ns: u64,
    rank: Option<(Job, SoftwareRank)>,
    windows: HashMap<u32, (Submission, WindowPlan)>,
    /// Step of the last armed window.
    newest_op: u32,
    sq_head: u16,
    cq_tail: u16,
}

impl SoftwareCard {
    pub fn new(end: CardEnd) -> Self {
        Self { end, now_ns: 0, rank: None, windows: HashMap::new(), newest_op: 0, sq_head: 0, cq_tail: 0 }
    }

    fn read<T>(&self, address: u64, bytes: usize, of: impl Fn(&[u8]) -> T) -> T {
        let mut buffer = vec![0; bytes];
        // Inaccessible host memory reads as zeros.
        let _ = self.end.dma_read(address, &mut buffer);
        of(&buffer)
    }

    fn complete(&mut self, completion: Completion) {
        let cq = Ring::from_registers(&self.end, [reg::CQ_BASE_LO, reg::CQ_BASE_HI, reg::CQ_LOG2]);
        let (sq_head, phase) = (self.sq_head, cq.phase(self.cq_tail));
        let entry = Completion { sq_head, phase, ..completion }.to_bytes();
        let written = self.end.dma_write(cq.entry(self.cq_tail), &entry);
        debug_assert!(written.is_ok(), "the bench's ring is in its memory");
        self.cq_tail = self.cq_tail.wrapping_add(1);
    }

    fn fetch(&mut self) {
        let sq = Ring::from_registers(&self.end, [reg::SQ_BASE_LO, reg::SQ_BASE_HI, reg::SQ_LOG2]);
        let tail = self.end.read_register(reg::SQ_TAIL.word()) as u16;
        let mut batch = Vec::new();
        while sq.is_there() && self.sq_head != tail {
            let entry =
                self.read(sq.entry(self.sq_head), ENTRY_BYTES, |bytes| *bytes.first_chunk().unwrap_or(&[0; 64]));
            batch.push(Submission::from_bytes(&entry));
            self.sq_head = self.sq_head.wrapping_add(1);
        }
        for command in &batch {
            let contribution = batch.iter().find(|one| one.opcode == OP_CONTRIBUTE && one.cookie == command.cookie);
            let status = self.execute(command, contribution.map_or(0, |one| one.incast));
            if status != STATUS_OK {
                let (slot, cookie) = (command.slot, command.cookie);
                self.complete(Completion { opcode: DONE_REFUSED, slot, cookie, status, ..Completion::default() });
            }
            self.report();
        }
    }

    fn execute(&mut self, command: &Submission, advertised_incast: u8) -> u8 {
        let Some((job, rank)) = &mut self.rank else { return STATUS_STALE };
        match command.opcode {
            OP_ARM => {
                let plan = plan_of(command, job.ranks, self.newest_op);
                let params = params_of(command, job, advertised_incast);
                rank.lend(memory(&plan, Role::Result), vec![0.0; plan.elements].into());
                if rank.arm(&plan, &params).is_err() {
                    rank.reclaim(memory(&plan, Role::Result));
                    return STATUS_BAD_COMMAND;
                }
                self.newest_op = plan.op;
                self.windows.insert(command.cookie, (*command, plan));
            }
            OP_CONTRIBUTE => {
                let Some((_, plan)) = self.windows.get(&command.cookie) else { return STATUS_STALE };
                let plan = plan.clone();
                let mut gradient = vec![0; plan.elements * 4];
                let _ = self.end.dma_read(command.host_address, &mut gradient);
                let values: Vec<f32> = gradient.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
                rank.lend(memory(&plan, Role::Gradient), values.into());
                let contributed = rank.contribute(&plan);
                rank.reclaim(memory(&plan, Role::Gradient));
                if contributed.is_err() {
                    return STATUS_STALE;
                }
            }
            _ => return STATUS_BAD_COMMAND,
        }
        STATUS_OK
    }

    fn report(&mut self) {
        while let Some((job, rank)) = &mut self.rank
            && let Ok(Some(event)) = rank.poll()
        {
            match event {
                PlaneEvent::Stage(report) => {
                    let Some((arm, plan)) = self.windows.get(&report.cookie).cloned() else { continue };
                    let own_rank = job.rank;
                    if report.stage == Stage::Broadcast {
                        let taken = rank.take_result(&plan, &mut |_| {});
                        debug_assert!(taken.is_ok(), "the broadcast stage was reported");
                        let result = rank.reclaim(memory(&plan, Role::Result)).unwrap_or_default();
                        let bytes: Vec<u8> = result.iter().flat_map(|value| value.to_le_bytes()).collect();
                        let _ = self.end.dma_write(arm.host_address, &bytes);
                        self.windows.remove(&report.cookie);
                    }
                    self.complete(completion_of(&report, &arm, &plan, own_rank, self.now_ns));
                }
                PlaneEvent::Refused { cookie, .. } => {
                    let status = STATUS_STALE;
                    self.complete(Completion { opcode: DONE_REFUSED, cookie, status, ..Completion::default() });
                }
                PlaneEvent::Unexpected { .. } | PlaneEvent::RoundTrip { .. } => {}
            }
        }
    }
}

fn memory(plan: &WindowPlan, role: Role) -> Memory {
    Memory { op: plan.op, role, first_element: plan.first_element }
}

fn plan_of(arm: &Submission, ranks: usize, newest_op: u32) -> WindowPlan {
    let shape = rules::Window::of(arm, ranks);
    WindowPlan {
        kind: Kind::AllReduce,
        index: 0,
        op: op_of_step(arm.step, newest_op).unwrap_or(newest_op),
        step: arm.step,
        bucket: arm.bucket,
        cookie: arm.cookie,
        // Commands lack the window's offset in its bucket, so each slot has its own memory.
        first_element: usize::from(arm.slot) << 32,
        elements: usize::from(arm.host_beats) * LANES,
        beats: shape.beats,
        base_bytes: arm.base,
        shards: shape.shards,
        hadamard: shape.hadamard,
        log2_n: arm.log2_n.into(),
        log2_blocks: arm.log2_blocks.into(),
        sign_key: arm.sign_key,
        bf16: shape.bf16,
    }
}

fn params_of(arm: &Submission, job: &Job, advertised_incast: u8) -> JobParams {
    let rules = Rules::of(arm);
    JobParams {
        early: rules.grace_ns.map(|grace_ns| EarlyRule { grace_ns: grace_ns as u32 }),
        start_peers: rules.start_peers,
        incast: usize::from(arm.send_incast.max(1)),
        advertised_incast: advertised_incast.into(),
        expect_loss: arm.mark_packets > 1,
        ..JobParams::new(job.rank, job.ranks, job.payload_beats, rules.bound_ns, &PlaneLimits::CARD)
    }
}

fn completion_of(report: &StageReport, arm: &Submission, plan: &WindowPlan, rank: usize, now_ns: u64) -> Completion {
    let beats = |bytes: u64| bytes / BEAT_BYTES as u64;
    let local = beats(report.received_bytes_per_rank[rank]);
    let expected: usize = (0..plan.shards.ranks)
        .filter(|from| *from != rank)
        .map(|from| plan.expected_beats(report.stage, rank, from))
        .sum();
    Completion {
        opcode: if report.stage == Stage::Contribute { DONE_CONTRIBUTE } else { DONE_BROADCAST },
        slot: arm.slot,
        closed_by: report.closed_by as u8,
        status: STATUS_OK,
        cookie: arm.cookie,
        received_beats: (beats(report.received_bytes_per_rank.iter().sum()) - local) as u32,
        expected_beats: expected as u32,
        elapsed_ns: report.elapsed_ns,
        heard: report.heard.words()[0],
        closed_ns: now_ns,
        own_beats: local as u16,
        ..Completion::default()
    }
}

impl Card for SoftwareCard {
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>) {
        // Event by event: a completion has the time of its event.
        loop {
            let arrival = rx.front().map(|arrival| arrival.at_ns);
            let wake = self.rank.as_ref().and_then(|(_, rank)| rank.next_wake_ns());
            let next = [arrival, wake].into_iter().flatten().min().map(|at_ns| at_ns.max(self.now_ns));
            let Some(at_ns) = next.filter(|at_ns| *at_ns < until_ns) else { break };
            match &mut self.rank {
                Some((_, rank)) => rank.run(at_ns + 1, rx, tx),
                None => drop(rx.pop_front()),
            }
            self.now_ns = at_ns;
            self.report();
        }
        self.now_ns = self.now_ns.max(until_ns);
        if let Some((_, rank)) = &mut self.rank {
            rank.run(until_ns, rx, tx);
        }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_wake_ns(&self) -> Option<u64> {
        self.rank.as_ref().and_then(|(_, rank)| rank.next_wake_ns())
    }

    fn cycles(&self) -> u64 {
        0
    }

    fn sync_registers(&mut self) {
        let enabled = self.end.read_register(reg::CONTROL.word()) & reg::CONTROL_ENABLE != 0;
        if !enabled {
            (self.rank, self.sq_head, self.cq_tail) = (None, 0, 0);
            self.windows.clear();
        } else if self.rank.is_none() {
            let job = Job::from_registers(&self.end);
            let software = SoftwareJob {
                unexpected_bytes_max: 0,
                silence_ns_min: 0,
                carry_over: false,
                ..SoftwareJob::new(job.rank, job.ranks, job.job_tag, job.payload_beats)
            };
            let rank = SoftwareRank::new(software, 0);
            self.rank = rank.ok().map(|mut rank| {
                rank.run(self.now_ns, &mut VecDeque::new(), &mut Vec::new());
                (job, rank)
            });
        }
        if self.rank.is_some() {
            self.fetch();
        }
        self.publish_registers();
    }

    fn publish_registers(&mut self) {
        for register in reg::REGISTERS.iter().filter(|register| register.access == reg::Access::ReadOnly) {
            self.end.write_register(register.word(), register.reset);
        }
        let scratch = self.end.read_register(reg::SCRATCH.word());
        self.end.write_register(reg::SCRATCH_ECHO.word(), !scratch);
        self.end.write_register(reg::SQ_HEAD.word(), self.sq_head.into());
        self.end.write_register(reg::CQ_TAIL.word(), self.cq_tail.into());
        let Some((_, rank)) = &self.rank else { return };
        let c = rank.counters();
        for (register, value) in [
            (reg::RX_PACKETS, c.rx_packets),
            (reg::TX_PACKETS, c.tx_packets),
            (reg::DROP_FIFO_FULL, c.drop_fifo_full),
            (reg::DROP_FOREIGN, c.drop_foreign),
            (reg::DROP_MALFORMED, c.drop_malformed),
            (reg::DROP_VERSION, c.drop_version),
            (reg::DROP_JOB, c.drop_job),
            (reg::DROP_NO_WINDOW, c.drop_no_window),
            (reg::DROP_FLAGS, c.drop_flags),
            (reg::DROP_OUT_OF_SHARD, c.drop_out_of_shard),
            (reg::DROP_LATE_BEATS, c.drop_late_beats),
            (reg::DROP_DUPLICATE_BEATS, c.drop_duplicate_beats),
            (reg::DROP_STALE, c.drop_stale),
            (reg::RX_BAD, c.rx_bad),
            (reg::DROP_MAC, c.drop_mac),
            (reg::DROP_IP_CHECKSUM, c.drop_ip_checksum),
            (reg::DROP_IP, c.drop_ip),
            (reg::DROP_SOURCE, c.drop_source),
            (reg::DROP_TOO_LONG, c.drop_too_long),
        ] {
            self.end.write_register(register.word(), value);
        }
    }

    fn take_trace(&mut self) -> Vec<Accept> {
        self.rank.as_mut().map(|(_, rank)| rank.take_trace()).unwrap_or_default()
    }
}
