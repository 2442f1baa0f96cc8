use optireduce_contract::limits::LANES;
use optireduce_contract::signs::splitmix64;

use super::super::repair::{ANSWER_BEATS_MAX, RANGES_MAX};
use super::super::types::Ranks;
use super::*;

const KEY: WindowKey = WindowKey { op: 0x0102_0304, bucket: 0x0506, window: 0x0708 };
const BALLOT: Ballot = Ballot { attempt: 0x1112_1314, rank: 0x1516 };
const SETTINGS: Settings = Settings { hadamard: true, bound_ns: 0x4142_4344, fallback: true };
const RANKS: usize = 100;

fn view() -> View {
    let ranks = Ranks::none(64).with([0, 2, 5]);
    View { number: 0x2122_2324, first_op: 0x2627_2829, epoch: 0x3435_3637, ..View::first(ranks, SETTINGS) }
}

const CALL: CallInfo = CallInfo {
    kind: Kind::AllGather,
    bucket: 0x4142,
    elements: 9,
    hadamard: false,
    bf16: true,
    stream: Stream::Declared { generation: 8 },
    misfit: None,
};

struct Draw(u64, u64);

impl Draw {
    fn u64(&mut self) -> u64 {
        self.1 += 1;
        splitmix64(self.0 << 20 | self.1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.u64() % end
    }

    fn u32(&mut self) -> u32 {
        self.u64() as u32
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn ballot(&mut self) -> Ballot {
        Ballot { attempt: self.u32(), rank: self.u32() as u16 }
    }

    fn ranks(&mut self) -> Ranks {
        let draws: Vec<_> = (0..RANKS).filter(|_| self.flag()).collect();
        Ranks::none(RANKS).with(draws)
    }

    fn view(&mut self) -> View {
        let joined = self.flag().then(|| (self.u32() as u16, self.u64()));
        let settings = Settings { hadamard: self.flag(), bound_ns: self.u64(), fallback: self.flag() };
        let epoch = self.u32();
        View { number: self.u32(), ranks: self.ranks(), first_op: self.u32(), joined, epoch, settings }
    }

    fn request(&mut self) -> Request {
        let (hadamard, bound_ns) = (self.flag().then(|| self.flag()), self.flag().then(|| self.u64()));
        Request { hadamard, bound_ns, fallback: self.flag() }
    }

    fn key(&mut self) -> WindowKey {
        WindowKey { op: self.u32(), bucket: self.u32() as u16, window: self.u32() as u16 }
    }

    fn call(&mut self) -> CallInfo {
        CallInfo {
            kind: Kind::ALL[self.below(3) as usize],
            bucket: self.u32() as u16,
            elements: self.u64(),
            hadamard: self.flag(),
            bf16: self.flag(),
            stream: if self.flag() { Stream::Declared { generation: self.u32() } } else { Stream::OneOff },
            misfit: self.flag().then(|| self.u64()),
        }
    }

    fn group(&mut self) -> GroupPlan {
        let ranks: Vec<u16> = (0..RANKS as u16).filter(|_| self.below(8) == 0).chain([RANKS as u16 - 1]).collect();
        let ranks = || ranks.iter().take_while(|rank| **rank < RANKS as u16 - 1).chain(ranks.last());
        let weight = 1.0 / ranks().count() as f64;
        let members = ranks().map(|rank| GroupMember { rank: *rank, iteration: self.u64(), weight }).collect();
        GroupPlan { number: self.u32() >> 2, iteration: self.u64(), is_full: self.flag(), members }
    }

    fn message(&mut self) -> Message {
        let (number, op) = (self.u32(), self.u32());
        let accepted = self.flag().then(|| (self.ballot(), self.view()));
        let membership = |message| Message::Membership(message);
        let partial = |message| Message::Partial(message);
        match self.below(27) {
            0 => membership(MembershipMessage::Progress { number, next_op: op }),
            1 => membership(MembershipMessage::Suspect { number, suspects: self.ranks() }),
            2 => membership(MembershipMessage::Request { number, request: self.request() }),
            3 => membership(MembershipMessage::Join { incarnation: self.u64() }),
            4 => membership(MembershipMessage::Prepare { number, ballot: self.ballot() }),
            5 => membership(MembershipMessage::Promise { number, ballot: self.ballot(), next_op: op, accepted }),
            6 => membership(MembershipMessage::Accept { ballot: self.ballot(), view: self.view() }),
            7 => membership(MembershipMessage::Accepted { number, ballot: self.ballot() }),
            8 => membership(MembershipMessage::Views { views: (0..self.below(17)).map(|_| self.view()).collect() }),
            9 => Message::Vote(VoteMessage::Vote { op, live: self.ranks(), skip: self.flag(), left_ns: self.u64() }),
            10 => Message::Vote(VoteMessage::Decision { op, skip: self.flag() }),
            11 => {
                let ranges = 0..1 + self.below(RANGES_MAX as u64) as u16;
                let ranges = ranges.map(|at| BeatRange { first: 200 * at, count: 1 + self.below(199) as u16 });
                Message::Repair(RepairMessage::Request { ranges: ranges.collect(), key: KEY })
            }
            12 => {
                let beats = 1 + if self.below(50) == 0 { ANSWER_BEATS_MAX as u64 - 1 } else { self.below(4) };
                let values = (0..beats as usize * LANES).map(|_| self.u32() as f32).collect();
                Message::Repair(RepairMessage::Answer { key: self.key(), first: self.below(60_000) as u16, values })
            }
            13 => {
                let beats = BeatRange { first: self.below(60_000) as u16, count: 1 + self.below(5000) as u16 };
                Message::Repair(RepairMessage::Nobody { key: self.key(), beats })
            }
            14 => Message::Call(CallMessage::Ask { op, call: self.call() }),
            15 => Message::Call(CallMessage::Tell { op, call: self.call() }),
            16 if self.below(2) == 0 => membership(MembershipMessage::Behind { number, next_op: op }),
            16 => membership(MembershipMessage::Waits { number }),
            17 => partial(PartialMessage::Ready { view: number, iteration: self.u64(), number: op }),
            18 => partial(PartialMessage::Alive { view: number }),
            19 => partial(PartialMessage::Group { group: self.group() }),
            20 => partial(PartialMessage::Leave {}),
            21 => {
                let range = |draw: &mut Self| ElementRange { first: draw.u64(), count: 1 + draw.below(16_384) as u32 };
                partial(PartialMessage::Ask { op, ranges: (0..1 + self.below(20)).map(|_| range(self)).collect() })
            }
            22 => {
                let values = (0..1 + self.below(100)).map(|_| self.u32() as f32).collect();
                partial(PartialMessage::Answer { op, first: self.u64(), values })
            }
            23 => partial(PartialMessage::Gone { op }),
            24 => partial(PartialMessage::Done { number }),
            25 => Message::Arming(ArmingMessage::Armed { op }),
            _ => Message::Repair(RepairMessage::Gone { key: self.key() }),
        }
    }
}

#[test]
fn golden_bytes() {
    // Written by hand from the documentation.
    let membership = |message| Message::Membership(message);
    let joined = View { joined: Some((0x3132, 0x33)), ..view() };
    let range = |first, count| BeatRange { first, count };
    let ballot = [0x11, 0x12, 0x13, 0x14, 0x15, 0x16];
    let view_bytes = [0x21, 0x22, 0x23, 0x24, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x25, 0x26, 0x27, 0x28, 0x29];
    // After the joining rank: epoch, transform, bound, fallback.
    let rest = [0x34, 0x35, 0x36, 0x37, 1, 0, 0, 0, 0, 0x41, 0x42, 0x43, 0x44, 1];
    let nothing = Request::default();
    let key = [1, 2, 3, 4, 5, 6, 7, 8];
    let mut beat = [0; 64];
    (beat[2], beat[3], beat[63]) = (0x80, 0x3f, 0xc0);
    let mut values = vec![0.0; LANES];
    (values[0], values[15]) = (1.0, -2.0);
    let member = |rank, iteration, weight| GroupMember { rank, iteration, weight };
    let members = vec![member(1, 8, 0.75), member(3, 7, 0.25)];
    let group = GroupPlan { number: 5, iteration: 8, is_full: true, members };
    for (message, expected) in [
        (
            membership(MembershipMessage::Progress { number: 7, next_op: 0x0a0b }),
            &[&[7, 1, 0, 0, 0, 7, 0, 0, 10, 11][..]][..],
        ),
        (
            membership(MembershipMessage::Suspect { number: 7, suspects: Ranks::none(64).with([63]) }),
            &[&[7, 2, 0, 0, 0, 7, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0]],
        ),
        (membership(MembershipMessage::Request { number: 7, request: nothing }), &[&[7, 3, 0, 0, 0, 7, 0, 0, 0]]),
        (
            membership(MembershipMessage::Request {
                number: 7,
                request: Request { hadamard: Some(true), bound_ns: Some(0x0102), fallback: true },
            }),
            &[&[7, 3, 0, 0, 0, 7, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 2, 1]],
        ),
        (membership(MembershipMessage::Join { incarnation: 9 }), &[&[7, 4, 0, 0, 0, 0, 0, 0, 0, 9]]),
        (membership(MembershipMessage::Prepare { number: 7, ballot: BALLOT }), &[&[7, 5, 0, 0, 0, 7], &ballot]),
        (
            membership(MembershipMessage::Promise { number: 7, ballot: BALLOT, next_op: 8, accepted: None }),
            &[&[7, 6, 0, 0, 0, 7], &ballot, &[0, 0, 0, 8, 0]],
        ),
        (
            membership(MembershipMessage::Promise {
                number: 7,
                ballot: BALLOT,
                next_op: 8,
                accepted: Some((BALLOT, view())),
            }),
            &[&[7, 6, 0, 0, 0, 7], &ballot, &[0, 0, 0, 8, 1], &ballot, &view_bytes, &[0], &rest],
        ),
        (
            membership(MembershipMessage::Accept { ballot: BALLOT, view: joined }),
            &[&[7, 7], &ballot, &view_bytes, &[1, 0x31, 0x32, 0, 0, 0, 0, 0, 0, 0, 0x33], &rest],
        ),
        (membership(MembershipMessage::Accepted { number: 7, ballot: BALLOT }), &[&[7, 8, 0, 0, 0, 7], &ballot]),
        (
            membership(MembershipMessage::Views { views: vec![view(); 2] }),
            &[&[7, 9, 0, 0, 0, 2], &view_bytes, &[0], &rest, &view_bytes, &[0], &rest],
        ),
        (membership(MembershipMessage::Waits { number: 7 }), &[&[7, 10, 0, 0, 0, 7]]),
        (membership(MembershipMessage::Behind { number: 7, next_op: 9 }), &[&[7, 11, 0, 0, 0, 7, 0, 0, 0, 9]]),
        (
            Message::Vote(VoteMessage::Vote { op: 5, live: Ranks::all(3), skip: true, left_ns: 9 }),
            &[&[7, 0x10, 0, 0, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0, 9]],
        ),
        (Message::Vote(VoteMessage::Decision { op: 5, skip: false }), &[&[7, 0x11, 0, 0, 0, 5, 0]]),
        (
            Message::Repair(RepairMessage::Request { key: KEY, ranges: vec![range(9, 1), range(0x1234, 5)] }),
            &[&[7, 0x20], &key, &[0, 0, 0, 2, 0, 9, 0, 1, 0x12, 0x34, 0, 5]],
        ),
        (
            Message::Repair(RepairMessage::Answer { key: KEY, first: 0x0a0b, values }),
            &[&[7, 0x21], &key, &[0x0a, 0x0b, 0, 0, 0, 16], &beat],
        ),
        (Message::Repair(RepairMessage::Gone { key: KEY }), &[&[7, 0x22], &key]),
        (Message::Repair(RepairMessage::Nobody { key: KEY, beats: range(9, 2) }), &[&[7, 0x23], &key, &[0, 9, 0, 2]]),
        (
            Message::Call(CallMessage::Ask { op: 5, call: CALL }),
            &[&[7, 0x30, 0, 0, 0, 5, 2, 0x41, 0x42, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 1, 0, 0, 0, 8, 0]],
        ),
        (
            Message::Call(CallMessage::Tell {
                op: 5,
                call: CallInfo { stream: Stream::OneOff, misfit: Some(3), ..CALL },
            }),
            &[&[7, 0x31, 0, 0, 0, 5, 2, 0x41, 0x42, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3]],
        ),
        (
            Message::Partial(PartialMessage::Ready { view: 7, iteration: 8, number: 9 }),
            &[&[7, 0x40, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 9]],
        ),
        (
            Message::Partial(PartialMessage::Group { group }),
            &[
                &[7, 0x42, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 2],
                &[0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0x3f, 0xe8, 0, 0, 0, 0, 0, 0],
                &[0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0x3f, 0xd0, 0, 0, 0, 0, 0, 0],
            ],
        ),
        (Message::Partial(PartialMessage::Leave {}), &[&[7, 0x43]]),
        (
            Message::Partial(PartialMessage::Ask { op: 5, ranges: vec![ElementRange { first: 6, count: 7 }] }),
            &[&[7, 0x44, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 7]],
        ),
        (
            Message::Partial(PartialMessage::Answer { op: 5, first: 6, values: vec![1.0] }),
            &[&[7, 0x45, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0x80, 0x3f]],
        ),
        (Message::Partial(PartialMessage::Done { number: 5 }), &[&[7, 0x47, 0, 0, 0, 5]]),
        (Message::Arming(ArmingMessage::Armed { op: 0x0102 }), &[&[7, 0x50, 0, 0, 1, 2]]),
    ] {
        assert_eq!(message.encode(), expected.concat(), "{message:?}");
        assert_eq!(Message::decode(3, 64, &expected.concat()), Ok(message));
    }
}

#[test]
fn every_message_comes_back_as_it_was() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20_000 {
        let message = Draw(seed, 0).message();
        let bytes = message.encode();
        assert!(bytes.len() <= MESSAGE_BYTES_MAX, "seed {seed}: {} bytes", bytes.len());
        seen.insert(bytes[1]);
        assert_eq!(Message::decode(0, RANKS, &bytes).as_ref(), Ok(&message), "seed {seed}");
    }
    let tags = [MembershipMessage::TAGS, VoteMessage::TAGS, RepairMessage::TAGS, CallMessage::TAGS];
    let tags = [tags.concat(), PartialMessage::TAGS.to_vec(), ArmingMessage::TAGS.to_vec()].concat();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), tags, "every tag, and each only once");
}

#[test]
fn any_bytes_are_an_error_or_what_would_be_written() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..200_000 {
        let mut draw = Draw(seed, 1 << 19);
        // Random bytes, some with a good beginning; or a message with a few changes.
        let mut bytes: Vec<u8> = match draw.below(4) {
            0 => (0..draw.below(100)).map(|_| draw.u64() as u8).collect(),
            1 => [VERSION, draw.below(0x53) as u8]
                .into_iter()
                .chain((0..draw.below(60)).map(|_| draw.u64() as u8 & 3))
                .collect(),
            _ => draw.message().encode(),
        };
        for _ in 0..draw.below(3) {
            let (at, bit) = (draw.below(bytes.len().max(1) as u64) as usize, draw.below(8));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        match draw.below(8) {
            0 => bytes.truncate(draw.below(bytes.len() as u64 + 1) as usize),
            1 => bytes.push(draw.u64() as u8),
            _ => {}
        }
        match Message::decode(5, RANKS, &bytes) {
            Ok(message) => {
                assert_eq!(message.encode(), bytes, "seed {seed}: {message:?}");
                read += 1;
            }
            Err(error) => {
                assert_eq!((error.from, error.bytes), (5, bytes.len()), "seed {seed}");
                refused += 1;
            }
        }
    }
    assert!(read > 20_000 && refused > 20_000, "{read} read, {refused} refused");
}

#[test]
fn what_is_wrong_is_named_with_the_sender() {
    let text = |bytes: &[u8]| Message::decode(12, RANKS, bytes).unwrap_err().to_string();
    let hint = "; check that all ranks run the same release";
    let too_many = [&[7, 9, 0xff, 0xff, 0xff, 0xff], &[0; 26][..]].concat();
    let outside = [&[7, 2, 0, 0, 0, 5, 0, 2][..], &[0; 8], &(1u64 << 36).to_be_bytes()].concat();
    for (bytes, expected) in [
        (&[][..], "message of 0 bytes from rank 12: ends within `version`: 1 bytes needed, 0 left"),
        (&[7], "message of 1 bytes from rank 12: ends within `tag`: 1 bytes needed, 0 left"),
        (br#"{"Renew":{"number":7}}"#, "message of 22 bytes from rank 12: version 123, expected 7"),
        (&[7, 0x24, 0], "message of 3 bytes from rank 12: unknown tag 0x24"),
        (&[7, 3, 0, 0, 0], "message of 5 bytes from rank 12: ends within `number`: 4 bytes needed, 3 left"),
        (&[7, 3, 0, 0, 0, 1, 0, 0, 1, 2, 3], "message of 11 bytes from rank 12: 2 bytes after the last field"),
        (&[7, 0x30, 0, 0, 0, 5, 3], "message of 7 bytes from rank 12: `kind` is 3, expected 0 to 2"),
        (&[7, 0x11, 0, 0, 0, 5, 2], "message of 7 bytes from rank 12: `skip` is 2, expected 0 or 1"),
        (&too_many, "message of 32 bytes from rank 12: ends within `views`: 4294967295 bytes needed, 26 left"),
        (
            &[7, 2, 0, 0, 0, 5, 0, 1],
            "message of 8 bytes from rank 12: `suspects` has 1 words of 64 ranks, expected 2 for a job of 100 ranks",
        ),
        (&outside, "message of 24 bytes from rank 12: `suspects` holds rank 100, expected ranks below 100"),
        (
            &[7, 0x20, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0],
            "message of 14 bytes from rank 12: repair message: number of ranges is 0, expected 256",
        ),
        (
            &[7, 0x44, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0x40, 1],
            "message of 22 bytes from rank 12: partial-reduce message: the length of a range is 16385, expected 1 to 16384 elements",
        ),
        (
            &[7, 0x42, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0],
            "message of 19 bytes from rank 12: partial-reduce message: the number of members is 0, expected 1 to all ranks, each once, in order",
        ),
    ] {
        assert_eq!(text(bytes), format!("{expected}{hint}"));
    }
    let long = text(&vec![6; MESSAGE_BYTES_MAX + 1]);
    assert!(long.contains("rank 12: too long, expected at most 131072 bytes"), "{long}");
}
