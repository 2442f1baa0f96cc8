//! Ranks on a simulated network whose order the test chooses, and a rank with a hostile peer.

use super::super::message::Space;
use super::*;

const SMALL: Limits =
    Limits { unasked_bytes: 100, message_cost: 10, announced: 50, receives: 400, asked_bytes: 64, chunk_bytes: 16 };

fn tag(tag: u32) -> Tag {
    Tag { space: Space::Caller, tag }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

#[derive(Clone, Debug)]
struct Begun {
    to: Option<usize>,
    from: Option<usize>,
    tag: u32,
    cancelled: bool,
    outcome: Option<Result<Message, ControlError>>,
}

/// Ranks, and the notes in flight by sender and receiver.
struct World {
    ranks: Vec<Matching>,
    network: Vec<Vec<VecDeque<Vec<u8>>>>,
    begun: Vec<BTreeMap<TransferId, Begun>>,
    sent: u64,
}

impl World {
    fn new(ranks: usize) -> Self {
        Self {
            ranks: (0..ranks).map(|rank| Matching::new(rank, ranks, SMALL)).collect(),
            network: vec![vec![VecDeque::new(); ranks]; ranks],
            begun: vec![BTreeMap::new(); ranks],
            sent: 0,
        }
    }

    fn begin(&mut self, rank: usize, begun: Begun, length: usize) -> TransferId {
        let tag = tag(begun.tag);
        let id = match begun.to {
            Some(to) => {
                // The message's number, then `length` more bytes.
                self.sent += 1;
                let bytes = [&self.sent.to_le_bytes()[..], &vec![self.sent as u8; length]].concat();
                self.ranks[rank].send(to, tag, bytes)
            }
            None => self.ranks[rank].receive(begun.from, tag),
        };
        self.begun[rank].insert(id, begun);
        self.collect(rank);
        id
    }

    fn cancel(&mut self, rank: usize, id: TransferId) {
        let begun = self.begun[rank].get_mut(&id).unwrap();
        if begun.outcome.is_none() {
            begun.cancelled = true;
            self.ranks[rank].cancel(id, begun.to);
            self.collect(rank);
        }
    }

    fn collect(&mut self, rank: usize) {
        for (to, connection, note) in self.ranks[rank].take_outbox() {
            assert!(connection == 1 && to != rank);
            self.network[rank][to].push_back(note);
        }
        for (id, outcome) in self.ranks[rank].take_finished() {
            let begun = self.begun[rank].get_mut(&id).unwrap();
            assert!(
                begun.outcome.is_none() && !begun.cancelled,
                "rank {rank}: {id} ends twice: {begun:?}, {outcome:?}"
            );
            begun.outcome = Some(outcome);
        }
    }

    /// Returns `false` if no note is in flight.
    fn step(&mut self, random: &mut Random) -> bool {
        let ranks = self.ranks.len();
        let begin = random.below(ranks * ranks);
        let pairs = (0..ranks * ranks).map(|pair| (pair + begin) % (ranks * ranks));
        for (from, to) in pairs.map(|pair| (pair / ranks, pair % ranks)) {
            if let Some(note) = self.network[from][to].pop_front() {
                self.ranks[to].handle(from, &note).unwrap();
                self.collect(to);
                return true;
            }
        }
        false
    }

    fn check_empty(&self) {
        for rank in &self.ranks {
            assert!(rank.receives.is_empty() && rank.posted.is_empty() && rank.arrived.is_empty(), "{rank:#?}");
            for peer in &rank.peers {
                assert!(peer.sending.is_empty() && peer.incoming.is_empty() && peer.to_ask.is_empty(), "{peer:#?}");
                assert_eq!((peer.sent_unasked, peer.kept, peer.announced, peer.asked), (0, 0, 0, 0), "{peer:#?}");
            }
        }
    }
}

/// Random order of sends, receives, cancellations and notes.
#[test]
fn in_any_order_every_message_comes_once_whole_and_in_order_and_nothing_is_left_behind() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let mut world = World::new(3);
        let cancels = seed % 3 > 0;
        for _ in 0..200 {
            let (rank, peer) = (random.below(3), random.below(3));
            let begun = Begun { to: None, from: None, tag: random.below(2) as u32, cancelled: false, outcome: None };
            match random.below(if cancels { 8 } else { 6 }) {
                // From any rank only with a separate tag, so that the order can be checked.
                0 => drop(world.begin(rank, Begun { tag: 7, ..begun }, 0)),
                1 => drop(world.begin(rank, Begun { to: Some(peer), tag: 7, ..begun }, random.below(120))),
                2 => drop(world.begin(rank, Begun { from: Some(peer), ..begun }, 0)),
                3 => drop(world.begin(rank, Begun { to: Some(peer), ..begun }, random.below(300) * random.below(2))),
                4 | 5 => drop(world.step(&mut random)),
                _ => {
                    let ids: Vec<_> = world.begun[rank].keys().copied().collect();
                    if !ids.is_empty() {
                        world.cancel(rank, ids[random.below(ids.len())]);
                    }
                }
            }
        }
        while world.step(&mut random) {}
        // Receives the remaining messages.
        for rank in 0..3 {
            for (from, tag) in (0..3).flat_map(|from| [0, 1, 7].map(|tag| (from, tag))) {
                for _ in 0..200 {
                    let begun = Begun { to: None, from: Some(from), tag, cancelled: false, outcome: None };
                    let id = world.begin(rank, begun, 0);
                    while world.step(&mut random) {}
                    if world.begun[rank][&id].outcome.is_none() {
                        world.cancel(rank, id);
                        break;
                    }
                }
            }
        }
        for rank in 0..3 {
            let ids: Vec<_> = world.begun[rank].keys().copied().collect();
            ids.into_iter().for_each(|id| world.cancel(rank, id));
            while world.step(&mut random) {}
        }
        world.check_empty();
        let mut last = HashMap::new();
        let mut numbers = Vec::new();
        for (rank, begun) in world.begun.iter().enumerate() {
            for (id, begun) in begun {
                match &begun.outcome {
                    None => assert!(begun.cancelled && (cancels || begun.to.is_none()), "seed {seed}: {id} {begun:?}"),
                    Some(Ok(message)) if begun.to.is_none() => {
                        let (number, rest) = message.bytes.split_first_chunk().unwrap();
                        let number = u64::from_le_bytes(*number);
                        assert!(rest.iter().all(|byte| *byte == number as u8), "seed {seed}: {begun:?}");
                        assert!(begun.from.is_none_or(|from| from == message.rank), "seed {seed}: {begun:?}");
                        numbers.push(number);
                        if begun.tag != 7 {
                            let before = last.insert((rank, message.rank, begun.tag), number);
                            assert!(before < Some(number), "seed {seed}: {number} after {before:?}: {begun:?}");
                        }
                    }
                    Some(Ok(message)) => assert!(Some(message.rank) == begun.to && message.bytes.is_empty()),
                    Some(Err(ControlError::GivenUp { .. })) => assert!(cancels, "seed {seed}"),
                    Some(Err(error)) => panic!("seed {seed}: {error}"),
                }
            }
        }
        numbers.sort_unstable();
        let count = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "seed {seed}: a message arrived twice");
        if !cancels {
            assert_eq!(count as u64, world.sent, "seed {seed}");
        }
    }
}

/// Plays notes of rank 1, and returns the answers.
fn play(notes: &[Note<'_>], act: impl FnOnce(&mut Matching)) -> (Result<(), String>, Vec<Vec<u8>>, Matching) {
    let mut rank = Matching::new(0, 3, SMALL);
    act(&mut rank);
    let handled = notes.iter().try_for_each(|note| rank.handle(1, &note.encode()));
    let answers = rank.take_outbox().into_iter().map(|(_, _, note)| note).collect();
    (handled, answers, rank)
}

#[test]
fn a_peer_that_breaks_the_rules_is_found_out_before_it_costs_anything() {
    let begin = |id, bytes, unasked, data| Note::Begin { id, tag: tag(1), bytes, unasked, data };
    let broken = |notes: &[Note<'_>], expected: &str| {
        let (handled, _, rank) = play(notes, |rank| assert_eq!(rank.receive(Some(1), tag(9)), 1));
        assert_eq!(handled.unwrap_err(), expected);
        let held: usize = rank.peers[1].incoming.values().map(|incoming| incoming.data.capacity()).sum();
        assert!(held <= SMALL.unasked_bytes, "{held} bytes are held");
    };
    broken(&[begin(1, 91, true, &[])], "101 bytes of messages without a receive, at most 100");
    broken(
        &[begin(1, u64::MAX, true, &[])],
        &format!("{} bytes of messages without a receive, at most 100", usize::MAX),
    );
    broken(&[begin(1, 2, true, &[1, 2, 3])], "3 bytes with a message of 2");
    broken(&[begin(1, 2, false, &[1])], "1 bytes with a message of 2");
    broken(&[begin(1, 2, true, &[]), begin(1, 2, true, &[])], "a second message 1");
    let data = Note::Data { id: 1, data: &[5; 3] };
    broken(&[begin(1, 4, true, &[1, 2]), data], "3 bytes of message 1, expected at most 2");
    broken(&[begin(1, 4, false, &[]), data], "3 bytes of message 1, expected at most 0");
    broken(&[Note::Matched { cost: 1 }], "more taken than was sent");
    let many: Vec<_> = (0..51).map(|id| begin(id, 1 << 40, false, &[])).collect();
    broken(&many, "more than 50 announced messages");
    let mut rank = Matching::new(0, 3, SMALL);
    assert_eq!(rank.handle(1, &[9; 30]), Err("a message that cannot be read".into()));
}

#[test]
fn notes_of_messages_that_are_over_or_never_were_change_nothing() {
    let strays = [
        Note::Data { id: 7, data: &[1] },
        Note::Ask { id: 7, up_to: u64::MAX },
        Note::Withdrawn { id: 7 },
        Note::Refused { id: 7, reason: "no" },
    ];
    let (handled, answers, mut rank) = play(&strays, |_| ());
    assert_eq!((handled, answers.len(), rank.take_finished().len()), (Ok(()), 0, 0));
    // More bytes than exist.
    let id = rank.send(1, tag(0), vec![3; 200]);
    rank.handle(1, &Note::Ask { id, up_to: u64::MAX }.encode()).unwrap();
    rank.handle(1, &Note::Ask { id, up_to: u64::MAX }.encode()).unwrap();
    let sent: Vec<Vec<u8>> = rank.take_outbox().into_iter().map(|(_, _, note)| note).collect();
    let data = sent.iter().filter_map(|note| match Note::decode(note) {
        Some(Note::Data { data, .. }) => Some(data.len()),
        _ => None,
    });
    assert_eq!((data.sum::<usize>(), rank.take_finished().len()), (200, 1));
}

#[test]
fn a_message_that_no_host_has_room_for_is_refused_before_memory_is_taken() {
    let announced = Note::Begin { id: 4, tag: tag(1), bytes: 1 << 62, unasked: false, data: &[] };
    let (handled, answers, mut rank) = play(&[announced], |rank| assert_eq!(rank.receive(Some(1), tag(1)), 1));
    handled.unwrap();
    let Some(Note::Refused { id: 4, reason }) = Note::decode(&answers[0]) else { panic!("{answers:?}") };
    assert!(reason.starts_with("a message of rank 1 needs 4294967296.0 GiB of memory, "), "{reason}");
    let finished = rank.take_finished();
    assert!(matches!(finished[0].1, Err(ControlError::Memory(_))), "{finished:?}");
}

#[test]
fn a_process_that_comes_in_the_place_of_another_begins_with_nothing() {
    let mut rank = Matching::new(0, 2, SMALL);
    let whole = Note::Begin { id: 1, tag: tag(1), bytes: 2, unasked: true, data: &[8, 8] };
    let half = Note::Begin { id: 2, tag: tag(2), bytes: 2, unasked: true, data: &[9] };
    [whole, half].iter().for_each(|note| rank.handle(1, &note.encode()).unwrap());
    let unasked = rank.send(1, tag(5), vec![1; 80]);
    let (announced, posted) = (rank.send(1, tag(5), vec![1; 80]), rank.receive(Some(1), tag(3)));
    rank.gone(1, ControlError::Gone(1));
    let finished: HashMap<_, _> = rank.take_finished().into_iter().collect();
    assert!(finished[&unasked].is_ok());
    assert_eq!(
        [announced, posted].map(|id| finished[&id].clone()),
        [Err(ControlError::Gone(1)), Err(ControlError::Gone(1))]
    );
    rank.take_outbox();
    rank.back(1, 2);
    // Only the first process's complete message remains. Numbers may repeat.
    assert_eq!(rank.receive(Some(1), tag(1)), 4);
    let half_again = rank.receive(Some(1), tag(2));
    assert_eq!(rank.take_finished(), [(4, Ok(Message { rank: 1, bytes: vec![8, 8] }))]);
    assert!(rank.take_outbox().is_empty(), "the new process has no such message");
    let again = Note::Begin { id: 2, tag: tag(2), bytes: 1, unasked: true, data: &[7] };
    rank.handle(1, &again.encode()).unwrap();
    assert_eq!(rank.take_finished(), [(half_again, Ok(Message { rank: 1, bytes: vec![7] }))]);
    let room = rank.send(1, tag(5), vec![1; 80]);
    assert_eq!(
        rank.take_finished(),
        [(room, Ok(Message { rank: 1, bytes: vec![] }))],
        "the limit of the new process is unused"
    );
    assert!(rank.take_outbox().iter().all(|(_, connection, _)| *connection == 2));
}

#[test]
fn receives_from_one_rank_and_from_any_take_what_comes_in_the_order_in_which_they_began() {
    let mut rank = Matching::new(0, 3, SMALL);
    let note =
        |number: u8| Note::Begin { id: number.into(), tag: tag(1), bytes: 1, unasked: true, data: &[0] }.encode();
    let from = |outcomes: Vec<(TransferId, Result<Message, ControlError>)>| -> Vec<(TransferId, usize)> {
        outcomes.into_iter().map(|(id, message)| (id, message.unwrap().rank)).collect()
    };
    let receives = [None, Some(2), None, Some(1)].map(|from| rank.receive(from, tag(1)));
    [2, 2, 1, 1].into_iter().zip(1..).for_each(|(peer, number)| rank.handle(peer, &note(number)).unwrap());
    let expected: Vec<_> = receives.into_iter().zip([2, 2, 1, 1]).collect();
    assert_eq!(from(rank.take_finished()), expected);
    // In the order of arrival.
    [1, 2, 1, 2].into_iter().zip(5..).for_each(|(peer, number)| rank.handle(peer, &note(number)).unwrap());
    let receives = [None, Some(2), None, None].map(|from| rank.receive(from, tag(1)));
    let expected: Vec<_> = receives.into_iter().zip([1, 2, 1, 2]).collect();
    assert_eq!(from(rank.take_finished()), expected);
}

#[test]
fn whatever_a_peer_sends_nothing_panics_and_nothing_grows_beyond_the_limits() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let mut data = Vec::new();
        for _ in 0..random.below(40) {
            // Numbers of existing messages, and lengths at the edges.
            let id = random.below(6) as u64;
            let number = [0, 1, 15, 16, 17, 60, 64, 590, 591, u64::MAX / 2, u64::MAX][random.below(11)];
            let bytes = vec![7; random.below(20)];
            let note = match random.below(8) {
                0 | 1 => {
                    let (unasked, tag) = (random.below(2) == 0, tag(random.below(2) as u32));
                    let data = if unasked { bytes.as_slice() } else { &[] };
                    Note::Begin { id, tag, bytes: number.max(data.len() as u64), unasked, data }
                }
                2 => Note::Data { id, data: &bytes },
                3 => Note::Ask { id, up_to: number },
                4 => Note::Matched { cost: number },
                5 => Note::Withdrawn { id },
                6 => Note::Refused { id, reason: "no" },
                _ => {
                    data.push(200 + random.below(51) as u8);
                    continue;
                }
            };
            let note = note.encode();
            data.push(note.len() as u8);
            data.extend(note);
        }
        hostile::play(&data);
    }
}
