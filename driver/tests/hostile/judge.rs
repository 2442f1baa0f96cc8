//! Rules for a driver's reactions to its bus, written from the contract.

use std::fmt::Debug;

use optireduce_contract::queue::{Completion, ENTRY_BYTES, completion};
use optireduce_driver::{BusEvent, DriverError, Limits};

#[derive(Clone, Debug)]
pub struct Rings {
    sq_base: u64,
    cq_base: u64,
    log2: u32,
    ranks: usize,
    // Entries written, announced, consumed by the last completion, and known to be consumed.
    tail: u16,
    rung: u16,
    completed: u16,
    head: u16,
    read: u16,
}

impl Rings {
    /// State after a configuration with these events.
    pub fn of_configuration(events: &[BusEvent], ranks: usize) -> Self {
        let last = |name| {
            events.iter().rev().find_map(|event| match event {
                BusEvent::Write { register, value } if *register == name => Some(*value),
                _ => None,
            })
        };
        let pair = |lo, hi| u64::from(last(lo).unwrap()) | u64::from(last(hi).unwrap()) << 32;
        let [sq_base, cq_base] = [pair("SQ_BASE_LO", "SQ_BASE_HI"), pair("CQ_BASE_LO", "CQ_BASE_HI")];
        assert_eq!(last("SQ_LOG2"), last("CQ_LOG2"));
        assert_eq!((last("SQ_TAIL"), last("CQ_HEAD")), (Some(0), Some(0)));
        let log2 = last("SQ_LOG2").unwrap();
        // A phase bit of an earlier job would be taken for a completion.
        for index in 0..1 << log2 {
            let cleared = BusEvent::StoreEntry { iova: cq_base + 64 * index, entry: [0; ENTRY_BYTES] };
            assert!(events.contains(&cleared), "completion {index} is not cleared");
        }
        Self { sq_base, cq_base, log2, ranks, tail: 0, rung: 0, completed: 0, head: 0, read: 0 }
    }

    fn place(&self, base: u64, index: u16) -> u64 {
        base + u64::from(index) % (1 << self.log2) * ENTRY_BYTES as u64
    }

    /// Follows the driver's reads of `SQ_HEAD`; returns whether there were any.
    fn learn(&mut self, events: &[BusEvent], failed: bool) -> bool {
        let mut asked = false;
        for event in events {
            if let BusEvent::Read { register: "SQ_HEAD", value } = event {
                asked = true;
                let head = *value as u16;
                let is_possible = *value < 1 << 16 && head.wrapping_sub(self.head) <= self.rung.wrapping_sub(self.head);
                assert!(is_possible || failed, "SQ_HEAD {value} is believed: {self:?}");
                self.head = if is_possible { head } else { self.head };
            }
        }
        asked
    }

    pub fn submitted(&mut self, entry: &[u8; ENTRY_BYTES], result: &Result<(), DriverError>, events: &[BusEvent]) {
        let entries = 1 << self.log2;
        let is_full = |rings: &Self| u32::from(rings.tail.wrapping_sub(rings.head)) >= entries;
        let was_full = is_full(self);
        let asked = self.learn(events, result.is_err());
        assert!(was_full || !asked, "a register is read on the fast path");
        let stored: Vec<_> = events.iter().filter(|event| matches!(event, BusEvent::StoreEntry { .. })).collect();
        if result.is_err() {
            let is_refused = matches!(result, Err(DriverError::InvalidSubmission { .. }));
            assert!(was_full || is_refused, "{result:?} of {self:?}");
            return assert!(stored.is_empty(), "refused, but written");
        }
        let expected = BusEvent::StoreEntry { iova: self.place(self.sq_base, self.tail), entry: *entry };
        assert_eq!(stored, [&expected]);
        assert!(!is_full(self), "a submission over another one: {self:?}");
        self.tail = self.tail.wrapping_add(1);
    }

    pub fn rang(&mut self, events: &[BusEvent]) {
        let expected = BusEvent::Write { register: "SQ_TAIL", value: self.tail.into() };
        assert_eq!(events, if self.rung == self.tail { vec![] } else { vec![expected] });
        self.rung = self.tail;
    }

    /// Checks a poll. `changed`: a completion may have changed after its phase bit was seen.
    pub fn looked(
        &mut self,
        limits: &Limits,
        result: &Result<Option<Completion>, DriverError>,
        events: &[BusEvent],
        changed: bool,
    ) {
        let asked = self.learn(events, result.is_err());
        assert!(result.is_err() || !asked, "a register is read although a completion is there");
        let mut loaded = None;
        for event in events {
            match event {
                BusEvent::LoadEntry { iova, entry } => {
                    assert!(loaded.is_none(), "two completions for one");
                    assert_eq!(*iova, self.place(self.cq_base, self.read));
                    let expected = self.read >> self.log2 & 1 == 0;
                    let found = completion::PHASE.get(entry) & 1 == 1;
                    assert!(changed || found == expected, "a completion is read that is not there");
                    loaded = Some((*entry, found == expected));
                    self.read = self.read.wrapping_add(1);
                }
                BusEvent::Write { register: "CQ_HEAD", value } => assert_eq!(*value, self.read.into()),
                BusEvent::Read { .. } | BusEvent::Flush => {}
                other => panic!("{other:?}"),
            }
        }
        let Some((entry, is_whole)) = loaded else {
            return assert!(
                !matches!(result, Ok(Some(_)) | Err(DriverError::BadCompletion { .. })),
                "from nowhere: {result:?}"
            );
        };
        let found = Completion::from_bytes(&entry);
        let fault = if is_whole { self.fault(&entry, &found, limits) } else { Some("PHASE") };
        match (fault, result) {
            (None, Ok(Some(accepted))) => {
                assert_eq!(*accepted, found);
                self.completed = found.sq_head;
                if self.rung.wrapping_sub(found.sq_head) < self.rung.wrapping_sub(self.head) {
                    self.head = found.sq_head;
                }
            }
            (Some(_), Err(DriverError::BadCompletion { .. })) => {}
            _ => panic!("{found:?}, {}: {result:?}", fault.unwrap_or("without a fault")),
        }
    }

    fn fault(&self, bytes: &[u8; ENTRY_BYTES], found: &Completion, limits: &Limits) -> Option<&'static str> {
        let peers = self.ranks as u64 - 1;
        let beats_max = limits.window_beats_max as u64;
        let is_stage = found.opcode == 1 || found.opcode == 2;
        let faults = [
            (!(1..=3).contains(&found.opcode), "OPCODE"),
            (found.closed_by > 2, "CLOSED_BY"),
            (bytes[44..63].iter().any(|byte| *byte != 0) || bytes[63] > 1, "reserved"),
            (found.opcode == 3 && !(1..=4).contains(&found.status), "STATUS of a refusal"),
            (is_stage && found.status > 1, "STATUS"),
            (is_stage && usize::from(found.slot) >= limits.slots, "SLOT"),
            (is_stage && u64::from(found.expected_beats) > peers * beats_max, "EXPECTED_BEATS"),
            (is_stage && found.received_beats > found.expected_beats, "RECEIVED_BEATS"),
            (is_stage && u64::from(found.own_beats) > beats_max, "OWN_BEATS"),
            (is_stage && self.ranks < 64 && found.heard >> self.ranks != 0, "HEARD"),
            // From the last consumed index to the announced one, modulo 65536.
            (found.sq_head.wrapping_sub(self.completed) > self.rung.wrapping_sub(self.completed), "SQ_HEAD"),
        ];
        faults.into_iter().find_map(|(is_wrong, field)| is_wrong.then_some(field))
    }

    /// After a poll without a completion, more than three quarters of the ring must be free.
    pub fn drained(&self, published: Option<u32>) {
        let unpublished = self.read.wrapping_sub(published.unwrap_or(0) as u16);
        assert!(unpublished < 1 << self.log2 >> 2, "{unpublished} of {} entries are kept back", 1 << self.log2);
    }
}

pub fn check_words<T: Debug>(result: &Result<T, DriverError>) {
    if let Err(error) = result {
        let said = error.to_string();
        assert!(said.starts_with("sim0: ") && said.len() > 40, "{said}");
    }
}
