//! Tests of the filter against the contract's `rules::filter`, and of the copy of the job's
//! registers.

use super::job_copy::{CopiedJob, JobCopy};
use super::registers::Registers;
use super::rx_filter::{LATENCY, RxFilter};
use super::testing::{Pace, at_every_pace, random_beat};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{Endpoint, UbtHeader, frame, ipv4_checksum, write_header};
use optireduce_contract::registers::{self as map, PEER_BYTES, PEER_TABLE, Register};
use optireduce_contract::rules::accept::Cause;
use optireduce_contract::rules::filter::Filter;
use std::collections::{BTreeMap, VecDeque};

struct Job {
    local: Endpoint,
    udp_port: u16,
    job_tag: u64,
    payload_beats: usize,
    peers: Vec<Endpoint>,
}

impl Job {
    fn new(random: &mut Random) -> Self {
        let ranks = [2, 5, 64][random.below(3) as usize];
        let endpoint = |random: &mut Random| {
            let ([a, b, c, d], [e, f, ..]) =
                ((random.next() as u32).to_le_bytes(), (random.next() as u32).to_le_bytes());
            Endpoint { mac: [a, b, c, d, e, f], ip: (random.next() as u32).to_le_bytes() }
        };
        let peers: Vec<Endpoint> = (0..ranks).map(|_| endpoint(random)).collect();
        Self {
            local: endpoint(random),
            udp_port: random.next() as u16,
            job_tag: random.next(),
            payload_beats: 1 + random.below(6) as usize,
            peers,
        }
    }

    fn filter(&self) -> Filter<'_> {
        let Self { local, udp_port, job_tag, payload_beats, ref peers } = *self;
        Filter { local, udp_port, job_tag, payload_beats, peers }
    }

    fn copied(&self, enable: bool) -> CopiedJob {
        let mac = self.local.mac.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        CopiedJob {
            enable,
            ranks: bits_w(self.peers.len() as u64),
            job_tag: bits_w(self.job_tag.swap_bytes()),
            payload_beats: bits_w(self.payload_beats as u64),
            udp_port: bits_w(self.udp_port.swap_bytes().into()),
            ip: bits_w(u32::from_le_bytes(self.local.ip).into()),
            mac: bits_w(mac),
        }
    }

    fn tell(&self, bench: &mut Bench<RxFilter>) {
        for (rank, peer) in self.peers.iter().enumerate() {
            for (at, value) in [u32::from_le_bytes(peer.ip), 1, 2, 3].into_iter().enumerate() {
                write(bench, PEER_TABLE + rank * PEER_BYTES + 4 * at, value);
            }
        }
        [map::SCRATCH.offset, 0x800, 0].into_iter().for_each(|offset| write(bench, offset, 0x55));
    }

    /// Bytes of a frame, its length, and the damage done to it.
    fn frame(&self, random: &mut Random) -> (Vec<u8>, usize, &'static str) {
        let sender = random.below(self.peers.len() as u64) as usize;
        let ubt = UbtHeader { sender: sender as u16, job_tag: self.job_tag, ..UbtHeader::default() };
        let payload = random.below(self.payload_beats as u64 + 1) as usize;
        let mut header = [0; 64];
        write_header(&mut header, self.peers[sender], self.local, self.udp_port, &ubt, 64 * payload);
        let rest = (0..payload).flat_map(|_| random_beat(random).to_bytes());
        let mut bytes: Vec<u8> = header.into_iter().chain(rest).collect();
        let mut flip = |random: &mut Random, field: optireduce_contract::field::Field| {
            bytes[field.offset + random.below(field.bytes as u64) as usize] ^= 1 << random.below(8);
        };
        let what = match random.below(14) {
            0 => ("type", frame::ETH_TYPE),
            1 => ("IHL", frame::IP_VERSION_IHL),
            2 => ("fragment", frame::IP_FRAGMENT),
            3 => ("protocol", frame::IP_PROTOCOL),
            4 => ("port", frame::UDP_DST),
            5 => ("MAC", frame::ETH_DST),
            6 => ("IP", frame::IP_DST),
            7 => ("source", frame::IP_SRC),
            8 => ("sender", frame::SENDER),
            9 => ("tag", frame::JOB_TAG),
            10 => ("version", frame::VERSION_STAGE),
            11 => ("length", frame::IP_TOTAL_LENGTH),
            12 => ("checksum", frame::IP_CHECKSUM),
            _ => ("", frame::UDP_SRC),
        };
        flip(random, what.1);
        let mut what = what.0;
        if random.one_in(8) {
            what = "twice";
            let fields =
                [frame::ETH_DST, frame::IP_SRC, frame::IP_DST, frame::UDP_DST, frame::SENDER, frame::IP_TOTAL_LENGTH];
            let field = fields[random.below(6) as usize];
            flip(random, field);
        }
        // The IPv4 checksum is mostly repaired after the damage.
        if what != "checksum" && !random.one_in(8) {
            bytes[24..26].fill(0);
            let checksum = ipv4_checksum(&bytes[14..34]);
            bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
        }
        // Random headers cover faults not listed above. There is never a UDP checksum.
        if random.one_in(30) {
            bytes[..64].iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        bytes[40..42].fill(0);
        let length = bytes.len() - if random.one_in(5) { 1 + random.below(63) as usize } else { 0 };
        bytes[length..].fill(0);
        (bytes, length, what)
    }
}

fn write(bench: &mut Bench<RxFilter>, offset: usize, value: u32) {
    bench.block.write.next = true;
    bench.block.write_address.next = bits_w(offset as u64 / 4);
    bench.block.write_data.next = bits_w(value.into());
    bench.tick();
    bench.block.write.next = false;
}

#[derive(Clone)]
struct Coming {
    data: Beat,
    header: [u8; 64],
    first: bool,
    last: bool,
    partial: bool,
    error: bool,
    answered: bool,
    verdict: Result<(), Cause>,
}

const COUNTED: [(Register, Option<Cause>); 7] = [
    (map::RX_PACKETS, None),
    (map::DROP_FOREIGN, Some(Cause::Foreign)),
    (map::DROP_MAC, Some(Cause::Mac)),
    (map::DROP_IP_CHECKSUM, Some(Cause::IpChecksum)),
    (map::DROP_IP, Some(Cause::Ip)),
    (map::DROP_SOURCE, Some(Cause::Source)),
    (map::DROP_TOO_LONG, Some(Cause::TooLong)),
];

fn filter(bench: &mut Bench<RxFilter>, random: &mut Random, pace: Pace, cycles: u64, seen: &mut BTreeMap<String, u32>) {
    let job = Job::new(random);
    job.tell(bench);
    let mut line: VecDeque<Option<Coming>> = vec![None; LATENCY].into();
    let mut coming: VecDeque<Coming> = VecDeque::new();
    let mut counters: BTreeMap<usize, u32> = COUNTED.iter().map(|(register, _)| (register.word(), 0)).collect();
    let (mut clearing, mut inside, mut ignored, mut told) = (0, false, false, 0);
    for cycle in 0..cycles {
        if coming.is_empty() {
            let (bytes, length, what) = job.frame(random);
            let (partial, error) = (length < bytes.len(), random.one_in(8));
            let verdict = if error {
                job.filter().check_header(bytes.first_chunk().expect("a beat"))
            } else {
                job.filter().check(&bytes[..length])
            };
            let cause = format!("{:?}{}", verdict.err(), if error { " error" } else { "" });
            *seen.entry(cause).or_default() += 1;
            *seen.entry(what.to_owned()).or_default() += 1;
            let header = *bytes.first_chunk().expect("a beat");
            let answered = verdict == Err(Cause::Foreign) && random.one_in(4);
            let beats: Vec<Beat> = bytes.as_chunks().0.iter().map(Beat::from_bytes).collect();
            let last = beats.len() - 1;
            coming.extend(beats.into_iter().enumerate().map(|(at, data)| {
                let (partial, error) = if at == last { (partial, error) } else { (random.one_in(2), random.one_in(2)) };
                Coming { data, header, first: at == 0, last: at == last, partial, error, answered, verdict }
            }));
        }
        let next = pace.comes(random).then(|| coming.pop_front()).flatten();
        let out = line.pop_front().flatten();
        if clearing == 0 && random.one_in(600) {
            clearing = 1 + random.below(20);
        }
        let (clear, reset) = (clearing > 0, random.one_in(900));
        clearing -= u64::from(clear);
        let asked =
            if random.one_in(4) { random.below(1024) as usize } else { COUNTED[random.below(7) as usize].0.word() };

        let block = &mut bench.block;
        block.job.next = job.copied(!clear);
        block.reset.next = reset;
        block.read_address.next = bits_w(asked as u64);
        block.rx_valid.next = next.is_some();
        block.rx_data.next = next.as_ref().map_or_else(|| random_beat(random), |beat| beat.data);
        block.rx_last.next = next.as_ref().map_or(random.one_in(2), |beat| beat.last);
        block.in_valid.next = out.is_some();
        block.in_last.next = out.as_ref().is_none_or(|beat| beat.last);
        block.answered.next = out.as_ref().is_some_and(|beat| beat.last && beat.answered && !beat.error);
        block.in_error.next = out.as_ref().is_none_or(|beat| beat.error);
        block.in_partial.next = out.as_ref().is_none_or(|beat| beat.partial);
        bench.settle();
        let block = &bench.block;
        assert_eq!(block.read_data.val().raw(), u64::from(told), "cycle {cycle}");
        told = counters.get(&asked).copied().unwrap_or(0);

        if out.as_ref().is_some_and(|beat| beat.first) {
            ignored = false;
        }
        let under_way = out.is_some() || inside;
        ignored |= clear && under_way;
        let Some(beat) = out else {
            assert!(!block.valid.val(), "cycle {cycle}: a beat out of nothing");
            finish(bench, &mut line, &mut coming, next, reset, &mut inside, &mut counters, clear);
            continue;
        };
        inside = !beat.last;
        let drops = beat.verdict.is_err_and(|cause| cause != Cause::Bad);
        let passes = !drops || beat.last && beat.error && !ignored;
        let checksum = ipv4_checksum(&beat.header[14..34]) != 0;
        assert_eq!(block.checksum.val(), checksum, "cycle {cycle}");
        assert_eq!(block.valid.val(), passes, "cycle {cycle}: {:?}, error {}", beat.verdict, beat.error);
        if passes && beat.last {
            assert_eq!(block.error.val(), beat.error || beat.partial, "cycle {cycle}");
        }
        if beat.last && !ignored {
            let cause = if beat.error { Some(Cause::Bad) } else { beat.verdict.err() };
            for (register, counts) in &COUNTED {
                let swallowed = register.name == "RX_PACKETS" && drops && !beat.error;
                let dropped = beat.error || !beat.answered;
                let one = dropped && counts.is_some_and(|counts| Some(counts) == cause) || swallowed;
                *counters.get_mut(&register.word()).expect("it is counted") += u32::from(one);
            }
        }
        finish(bench, &mut line, &mut coming, next, reset, &mut inside, &mut counters, clear);
    }
    seen.entry("counted".into()).and_modify(|all| *all += counters.values().sum::<u32>()).or_default();
}

#[expect(clippy::too_many_arguments, reason = "the state of one loop")]
fn finish(
    bench: &mut Bench<RxFilter>,
    line: &mut VecDeque<Option<Coming>>,
    coming: &mut VecDeque<Coming>,
    next: Option<Coming>,
    reset: bool,
    inside: &mut bool,
    counters: &mut BTreeMap<usize, u32>,
    clear: bool,
) {
    line.push_back(next);
    if clear {
        counters.values_mut().for_each(|count| *count = 0);
    }
    if reset {
        line.iter_mut().for_each(|place| *place = None);
        coming.clear();
        *inside = false;
    }
    bench.tick();
}

const MET: [&str; 24] = [
    "None",
    "None error",
    "Some(Foreign)",
    "Some(Foreign) error",
    "Some(Bad)",
    "Some(Mac)",
    "Some(Mac) error",
    "Some(IpChecksum)",
    "Some(IpChecksum) error",
    "Some(Ip)",
    "Some(Ip) error",
    "Some(Source)",
    "Some(Source) error",
    "Some(TooLong)",
    "Some(TooLong) error",
    "type",
    "IHL",
    "fragment",
    "sender",
    "tag",
    "version",
    "twice",
    "checksum",
    "counted",
];

#[test]
fn only_packets_for_this_card_go_on_and_each_other_frame_has_its_counter() {
    let mut seen = BTreeMap::new();
    at_every_pace(8, |random, pace| filter(&mut Bench::new(RxFilter::default()), random, pace, 5000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert!(MET.iter().all(|kind| seen.get(*kind).is_some_and(|count| *count > 0)), "{seen:?}");
    }
}

#[test]
fn the_verilog_filters_alike() {
    let mut bench = Bench::recording(RxFilter::default());
    let mut seen = BTreeMap::new();
    filter(&mut bench, &mut Random::new(1), Pace::RANDOM, 4000, &mut seen);
    assert!(seen.len() >= 20, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("rx_filter");
}

#[test]
fn the_copy_of_the_job_is_what_the_registers_hold() {
    let mut random = Random::new(5);
    let (mut copy, mut registers) = (Bench::recording(JobCopy::default()), Bench::new(Registers::default()));
    for cycle in 0..4000 {
        let (write, reset) = (random.one_in(2), random.one_in(200));
        let word = if random.one_in(5) { random.below(1024) } else { 0x3e + random.below(16) };
        let data = bits_w((random.next() as u32).into());
        (copy.block.write.next, registers.block.write.next) = (write, write);
        (copy.block.reset.next, registers.block.reset.next) = (reset, reset);
        (copy.block.write_address.next, registers.block.write_address.next) = (bits_w(word), bits_w(word));
        (copy.block.write_data.next, registers.block.write_data.next) = (data, data);
        copy.tick();
        registers.tick();
        let (found, job) = (copy.block.job.val(), registers.block.job.val());
        let expected = CopiedJob {
            enable: registers.block.enable.val(),
            ranks: job.ranks,
            job_tag: job.job_tag,
            payload_beats: job.payload_beats,
            udp_port: job.udp_port,
            ip: job.ip,
            mac: job.mac,
        };
        assert_eq!(found, expected, "cycle {cycle}");
    }
    copy.verify_with_verilator("job_copy");
}
