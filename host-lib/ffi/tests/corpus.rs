//! Replays the corpus of the fuzzer of this library (`tests/fuzz`).
#![allow(unsafe_code)]

#[path = "../../../tests/fuzz/play/callers/mod.rs"]
mod callers;
#[path = "../../../tests/fuzz/play/corpus.rs"]
mod corpus;

#[test]
fn whatever_a_caller_calls_it_gets_a_status_and_nothing_else_is_written() {
    corpus::replay("callers", callers::play);
}

/// Call in the fuzzer's encoding: its number, and arguments of which one may be bad.
fn call(number: u8, argument: usize, value: u8) -> [u8; 16] {
    let mut record = [0; 16];
    record[0] = number;
    // Zero encodes a good value, and rare values are small.
    record[2 + argument] = u8::MAX - value;
    record
}

/// Numbers of calls: creation of a bucket and a partial reduce, starts of operations, and ends of a
/// communicator.
const CREATE: [u8; 2] = [34, 48];
const BEGIN: [u8; 17] = [11, 18, 22, 25, 33, 44, 45, 46, 51, 26, 27, 28, 29, 31, 37, 38, 52];
const END: [u8; 3] = [6, 7, 8];
/// Excluded calls: receives without a sender, groups, which form slowly, and ends of the objects.
const NOT_SWEPT: [u8; 14] = [6, 7, 8, 13, 15, 23, 36, 48, 49, 50, 51, 52, 53, 54];

#[test]
fn every_argument_may_be_bad() {
    let good = |number: u8| call(number, 0, u8::MAX);
    for number in (0..64).filter(|number| !NOT_SWEPT.contains(number)) {
        let values = [0, 1, 3, 4, 6, 8, 11, 12, 23, 45, 50, 54, 100].into_iter();
        let bad = (0..14).flat_map(|argument| values.clone().map(move |value| call(number, argument, value)));
        // Each chunk starts with requests to wait for.
        for calls in bad.collect::<Vec<_>>().chunks(80) {
            callers::play(&[&[good(CREATE[0]), good(BEGIN[6]), good(BEGIN[0])], calls].concat().concat());
        }
    }
}

#[test]
fn whatever_is_called_after_the_end_is_refused_with_its_reason() {
    let good = |number: u8| call(number, 0, u8::MAX);
    let swept = || (0..64).filter(|number| !END.contains(number) && ![13, 15].contains(number));
    for end in END {
        // With the handles of these objects, and with invalid ones.
        for value in [u8::MAX, 4, 5, 6, 7, 8, 9] {
            let calls: Vec<_> = swept().map(|number| call(number, 0, value)).collect();
            let begun = [&CREATE[..], &BEGIN, &[end]].concat();
            callers::play(&begun.into_iter().map(good).chain(calls).collect::<Vec<_>>().concat());
        }
    }
}
