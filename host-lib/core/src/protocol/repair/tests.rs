use super::*;
use crate::protocol::{Malformed, Message, StreamId};
use optireduce_contract::limits::LANES;
use optireduce_contract::shard::ShardMap;
use optireduce_contract::signs::splitmix64;

const KEY: WindowKey = WindowKey { op: 0x0102_0304, bucket: 0x0506, window: 0x0708 };

fn ranges(pairs: &[(u16, u16)]) -> Vec<BeatRange> {
    pairs.iter().map(|(first, count)| BeatRange { first: *first, count: *count }).collect()
}

fn request(pairs: &[(u16, u16)]) -> RepairMessage {
    RepairMessage::Request { key: KEY, ranges: ranges(pairs) }
}

fn answer(key: WindowKey, first: u16, beats: usize) -> RepairMessage {
    RepairMessage::Answer { key, first, values: vec![1.0; beats * LANES] }
}

#[test]
fn missing_beats_are_the_fewest_ranges_in_order() {
    let missing = |owned, present: &[u64]| missing_ranges(owned, present);
    assert_eq!(missing(2..10, &[0b1_1001_1111]), ranges(&[(5, 2), (9, 1)]));
    assert_eq!(missing(60..70, &[!0 >> 2, !0 << 3]), ranges(&[(62, 5)]));
    assert_eq!(missing(60..130, &[!0, !0]), ranges(&[(128, 2)]));
    assert_eq!(missing(5..5, &[]), vec![]);
    assert_eq!(missing(65_534..65_537, &[]), ranges(&[(65_534, 1)]));
}

#[test]
fn messages_beyond_the_limits_are_refused() {
    let many: Vec<_> = (0..=RANGES_MAX as u16).map(|index| (2 * index, 1)).collect();
    for bad in [
        request(&[]),
        request(&many),
        request(&[(0, 0)]),
        request(&[(65_534, 2)]),
        request(&[(5, 2), (7, 1)]),
        request(&[(5, 2), (3, 1)]),
        answer(KEY, 0, 0),
        answer(KEY, 0, ANSWER_BEATS_MAX + 1),
        answer(KEY, 65_534, 2),
        RepairMessage::Answer { key: KEY, first: 0, values: vec![0.0; 17] },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
        let read = Message::decode(1, 64, &Message::Repair(bad.clone()).encode());
        assert!(matches!(read.unwrap_err().what, Malformed::Repair(_)), "{bad:?}");
    }
    for good in [request(&many[1..]), request(&[(0, 65_535)]), answer(KEY, 64_511, 1024), request(&[(5, 2), (8, 1)])] {
        let message = Message::Repair(good);
        assert_eq!(Message::decode(1, 64, &message.encode()), Ok(message));
    }
}

#[test]
fn the_store_keeps_the_last_collectives_within_its_bytes() {
    let key = |op, bucket| WindowKey { op, bucket, window: 0 };
    let mut store = ShardStore::new(3, 10 * 64);
    for op in 10..13 {
        assert!(store.keep(key(op, 0), 4, &[op as f32; 2 * LANES], Vec::new()));
    }
    let asks = |store: &ShardStore, op, pairs: &[(u16, u16)]| {
        store.answer(&RepairMessage::Request { key: key(op, 0), ranges: ranges(pairs) })
    };
    let beat = |op, first| RepairMessage::Answer { key: key(op, 0), first, values: vec![op as f32; LANES] };
    assert_eq!(asks(&store, 10, &[(4, 1)]), [beat(10, 4)]);
    // Collective 13 pushes out 10; 8 beats more push out 11 and 12.
    assert!(store.keep(key(13, 0), 4, &[13.0; 2 * LANES], Vec::new()));
    assert_eq!(asks(&store, 10, &[(4, 1)]), [RepairMessage::Gone { key: key(10, 0) }]);
    assert_eq!(asks(&store, 11, &[(5, 1)]), [beat(11, 5)]);
    assert!(store.keep(key(13, 1), 0, &[0.0; 8 * LANES], Vec::new()));
    assert_eq!(store.bytes(), 10 * 64);
    assert_eq!(asks(&store, 12, &[(4, 1)]), [RepairMessage::Gone { key: key(12, 0) }]);
    // Beats outside the shard; then shards that are too old, too large or not whole beats.
    for pairs in [[(3, 2)], [(5, 2)], [(6, 1)], [(0, 0)]] {
        assert_eq!(asks(&store, 13, &pairs), [RepairMessage::Gone { key: key(13, 0) }], "{pairs:?}");
    }
    assert!(!store.keep(key(10, 0), 0, &[0.0; LANES], Vec::new()));
    assert!(!store.keep(key(14, 0), 0, &[0.0; 11 * LANES], Vec::new()));
    assert!(!store.keep(key(14, 0), 0, &[0.0; LANES + 1], Vec::new()));
    assert!(!store.keep(key(14, 0), 65_535, &[0.0; LANES], Vec::new()));
    assert!(store.keep(key(13, 0), 4, &[7.0; LANES], Vec::new()), "kept again");
    assert_eq!(store.bytes(), 9 * 64);
    assert!(store.answer(&beat(13, 4)).is_empty());
}

#[test]
fn what_nobody_contributed_to_is_answered_as_such() {
    let mut store = ShardStore::new(1, 1 << 20);
    assert!(store.keep(KEY, 10, &vec![1.0; 20 * LANES], ranges(&[(12, 3), (20, 1), (28, 2)])));
    let nobody = |first, count| RepairMessage::Nobody { key: KEY, beats: BeatRange { first, count } };
    for (asked, expected) in [
        ((10, 2), vec![answer(KEY, 10, 2)]),
        ((11, 3), vec![answer(KEY, 11, 1), nobody(12, 2)]),
        ((13, 1), vec![nobody(13, 1)]),
        ((13, 17), vec![nobody(13, 2), answer(KEY, 15, 5), nobody(20, 1), answer(KEY, 21, 7), nobody(28, 2)]),
        ((28, 3), vec![RepairMessage::Gone { key: KEY }]),
    ] {
        assert_eq!(store.answer(&request(&[asked])), expected, "{asked:?}");
    }
    let mut ledger = RepairLedger::new(8, 2);
    ledger.miss(KEY, 1, &ranges(&[(11, 3)]));
    ledger.receive(1, &answer(KEY, 11, 1)).unwrap();
    let received = ledger.receive(1, &nobody(12, 2)).unwrap();
    assert_eq!(received, Received { key: KEY, beats: Some(BeatRange { first: 12, count: 2 }), window_done: true });
    let expected = RepairReport { missing_bytes: 64, repaired_bytes: 64, ..RepairReport::default() };
    assert_eq!(ledger.report(), expected);
    assert!(ledger.receive(1, &nobody(12, 2)).is_err(), "twice");
}

#[test]
fn long_ranges_are_answered_in_several_messages() {
    let mut store = ShardStore::new(1, 1 << 20);
    assert!(store.keep(KEY, 100, &(0..2500 * LANES).map(|at| (at / LANES) as f32).collect::<Vec<_>>(), Vec::new()));
    let answers = store.answer(&request(&[(110, 2100), (2500, 1)]));
    let parts = answers.iter().map(|answer| match answer {
        RepairMessage::Answer { first, values, .. } => (*first, values.len() / LANES, values[0]),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [(110, 1024, 10.0), (1134, 1024, 1034.0), (2158, 52, 2058.0), (2500, 1, 2400.0)]
    );
    assert!(answers.iter().all(|answer| answer.check().is_ok()));
}

#[test]
fn the_ledger_takes_what_it_asked_for_and_nothing_else() {
    let mut ledger = RepairLedger::new(8, 2);
    assert_eq!(ledger.miss(KEY, 3, &ranges(&[(10, 4), (20, 1)])), [request(&[(10, 4), (20, 1)])]);
    let unexpected = |first, count, from| Err(UnexpectedAnswer::NotOutstanding { key: KEY, from, first, count });
    assert_eq!(ledger.receive(2, &answer(KEY, 10, 1)), unexpected(10, 1, 2));
    assert_eq!(ledger.receive(3, &answer(KEY, 13, 2)), unexpected(13, 2, 3));
    assert_eq!(ledger.receive(3, &answer(KEY, 9, 2)), unexpected(9, 2, 3));
    let received = |pair: Option<(u16, u16)>, window_done| {
        let beats = pair.map(|(first, count)| BeatRange { first, count });
        Ok(Received { key: KEY, beats, window_done })
    };
    assert_eq!(ledger.receive(3, &answer(KEY, 11, 2)), received(Some((11, 2)), false));
    assert_eq!(ledger.receive(3, &answer(KEY, 11, 1)), unexpected(11, 1, 3));
    let outstanding = |bucket| ledger.report_of(bucket).outstanding_bytes;
    assert_eq!((outstanding(KEY.bucket), outstanding(0)), (3 * 64, 0));
    assert_eq!(ledger.receive(3, &answer(KEY, 20, 1)), received(Some((20, 1)), false));
    // Another owner of the same window refuses: drift, but the window is not done before the first.
    assert_eq!(ledger.miss(KEY, 1, &ranges(&[(0, 5)])).len(), 1);
    assert_eq!(ledger.miss(KEY, 2, &ranges(&[(30, 7)])), [], "no room: drift");
    assert_eq!(ledger.receive(1, &RepairMessage::Gone { key: KEY }), received(None, false));
    assert_eq!(ledger.receive(1, &RepairMessage::Gone { key: KEY }), unexpected(0, 0, 1));
    assert_eq!(ledger.receive(3, &answer(KEY, 10, 1)), received(Some((10, 1)), false));
    assert_eq!(ledger.receive(3, &answer(KEY, 13, 1)), received(Some((13, 1)), true));
    let bytes = |missing: u64, repaired: u64, outstanding: u64, drift: u64| RepairReport {
        missing_bytes: missing * 64,
        repaired_bytes: repaired * 64,
        outstanding_bytes: outstanding * 64,
        drift_bytes: drift * 64,
    };
    assert_eq!(ledger.report(), bytes(17, 5, 0, 12));
    assert_eq!(ledger.receive(3, &request(&[(1, 1)])), Err(UnexpectedAnswer::Request { from: 3 }));
    // Too many ranges for one request become several requests.
    assert_eq!(ledger.miss(KEY, 5, &ranges(&[(8, 1), (4, 1)])), []);
    assert_eq!((ledger.miss(KEY, 6, &[]), ledger.is_done(KEY)), (vec![], true));
    let mut twisted: Vec<_> = (0..RANGES_MAX as u16).map(|index| (100 + 2 * index, 1)).collect();
    twisted.push((3, 1));
    assert_eq!(ledger.miss(KEY, 5, &ranges(&twisted)), [], "out of order beyond the first request");
    let many: Vec<_> = (0..600).map(|index| (2 * index, 1)).collect();
    assert_eq!(ledger.miss(KEY, 5, &ranges(&many)).len(), 3);
    assert_eq!(ledger.report(), bytes(619 + 257, 5, 600, 14 + 257));
}

#[test]
fn what_is_too_old_or_from_a_dropped_owner_is_drift() {
    let key = |op| WindowKey { op, bucket: 1, window: 0 };
    let mut ledger = RepairLedger::new(4, 100);
    for op in 0..6 {
        ledger.miss(key(op), 2, &ranges(&[(0, 1)]));
    }
    ledger.miss(key(5), 1, &ranges(&[(1, 1)]));
    assert_eq!(ledger.expire(3), []);
    assert_eq!(ledger.expire(5), [key(0), key(1)]);
    assert_eq!(ledger.owner_dropped(2), [key(2), key(3), key(4)], "5 still waits for rank 1");
    assert_eq!((ledger.is_done(key(5)), ledger.report_of(1).outstanding_bytes), (false, 64));
    assert_eq!(ledger.owner_dropped(1), [key(5)]);
    assert_eq!((ledger.report().drift_bytes, ledger.report().outstanding_bytes), (7 * 64, 0));
}

fn stream(bucket: u16, generation: u32, elements: usize) -> StreamId {
    StreamId { bucket, generation, elements }
}

#[test]
fn corrections_go_into_the_next_output_of_their_stream_once() {
    let mut corrections = Corrections::default();
    let (inf, nan, of) = (f32::INFINITY, f32::NAN, stream(3, 1, 8));
    assert_eq!(corrections.add(of, 1, Some(&[0.0, 2.0, 0.0]), &[5.0, 2.0, -1.0]), Ok(0));
    assert_eq!(corrections.add(of, 3, Some(&[0.5, inf, inf, 1.0]), &[1.0, inf, 1.0, nan]), Ok(2));
    assert!(corrections.is_fresh());
    // Another bucket, generation or length is another stream.
    for other in [stream(4, 1, 8), stream(3, 0, 8), stream(3, 2, 8), stream(3, 1, 9), stream(3, 1, 7)] {
        let mut output = vec![1.0; other.elements];
        assert_eq!(corrections.fold(other, &mut output), Ok(Folded::default()));
        assert_eq!(output, vec![1.0; other.elements], "{other:?}");
    }
    let error = corrections.fold(of, &mut [0.0; 6]).unwrap_err();
    assert_eq!(error.to_string(), "bucket 3: an output of 6 elements from 0 on, expected 8; the bucket has 8");
    let mut next = vec![1.0, 1.0, 1.0, 1.0, -0.0, 1.0, 1.0, 1.0];
    assert_eq!(corrections.fold(of, &mut next), Ok(Folded { corrected: true, pending_max: 0.0 }));
    assert_eq!(next, [1.0, 6.0, 1.0, 0.5, 0.0, 1.0, 1.0, 1.0]);
    assert!(next[4].is_sign_negative(), "no correction, no change of bits");
    assert_eq!(corrections.fold(of, &mut next), Ok(Folded::default()));
    assert_eq!((next[1], corrections.is_fresh()), (6.0, false), "only once");
    // A skipped update is a correction as a whole.
    assert_eq!(corrections.add(of, 6, None, &[0.25, 0.5]), Ok(0));
    corrections.fold(of, &mut next).unwrap();
    assert_eq!(next[5..], [1.0, 1.25, 1.5]);
    for (first, old, repaired) in
        [(0, Some(&[0.0f32][..]), &[][..]), (7, None, &[0.0f32; 2]), (usize::MAX, None, &[0.0])]
    {
        assert!(corrections.add(of, first, old, repaired).is_err(), "{first}");
    }
}

#[test]
fn what_rounding_leaves_is_kept_and_leaves_other_outputs_alone() {
    let (mut corrections, of) = (Corrections::default(), stream(0, 0, 3));
    let tiny = 2f32.powi(-40);
    corrections.add(of, 0, None, &[tiny, tiny, 1.0 + f32::EPSILON]).unwrap();
    let mut output = [1.0, tiny, 2.0];
    let folded = corrections.fold(of, &mut output).unwrap();
    // The last output leaves half a unit in the last place of 3. The first cannot hold any of it.
    assert_eq!(
        (output, folded),
        ([1.0, 2.0 * tiny, 3.0], Folded { corrected: true, pending_max: f32::EPSILON.into() })
    );
    assert!(!corrections.is_fresh(), "rounding errors are no fresh correction");
    let mut output = [1.0, 1.0, 1.0];
    assert!(!corrections.fold(of, &mut output).unwrap().corrected);
    assert_eq!(output, [1.0, 1.0, 1.0 + f32::EPSILON]);
    let mut output = [0.0, -0.0, 0.0];
    assert_eq!(corrections.fold(of, &mut output), Ok(Folded::default()));
    assert_eq!(output, [tiny, 0.0, 0.0], "nothing was lost");
    // An output that is not finite accepts no correction.
    corrections.add(of, 1, None, &[1.0]).unwrap();
    let mut output = [1.0, f32::INFINITY, 1.0];
    assert_eq!(corrections.fold(of, &mut output).unwrap().pending_max, 1.0);
    assert_eq!(corrections.fold(of, &mut [0.0; 3]).unwrap().pending_max, 0.0);
}

#[test]
fn what_rounding_leaves_is_forgotten_and_nothing_else() {
    let (mut corrections, of, other) = (Corrections::default(), stream(0, 0, 3), stream(1, 0, 3));
    let tiny = 2f32.powi(-40);
    for stream in [of, other] {
        corrections.add(stream, 0, None, &[tiny, 0.5, f32::MAX]).unwrap();
        corrections.add(stream, 2, Some(&[-f32::MAX]), &[f32::MAX]).unwrap();
    }
    corrections.forget_rounding(of);
    let mut output = [1.0, 0.0, 0.0];
    corrections.fold(of, &mut output).unwrap();
    assert_eq!(output, [1.0, 0.5, 0.0], "no output had the correction, and this one cannot hold all of it");
    corrections.forget_rounding(of);
    let mut next = [tiny, 0.0, 0.0];
    assert_eq!(corrections.fold(of, &mut next).unwrap().pending_max, 3.0 * f64::from(f32::MAX));
    assert_eq!(next, [tiny, 0.0, 0.0], "a correction too large for any output is no rounding error");
    corrections.fold(other, &mut output).unwrap();
    let mut next = [tiny; 3];
    corrections.fold(other, &mut next).unwrap();
    assert_eq!(next[0], 2.0 * tiny, "another stream keeps its rounding errors");
}

#[test]
fn corrections_of_a_bucket_that_is_declared_anew_are_counted_and_forgotten() {
    let mut corrections = Corrections::default();
    corrections.add(stream(1, 0, 4), 0, None, &[1.0, 0.0, 2.0, 3.0]).unwrap();
    corrections.add(stream(2, 0, 4), 0, None, &[1.0]).unwrap();
    assert_eq!(corrections.forget(|stream| stream.bucket == 1), 3);
    assert_eq!(corrections.forget(|stream| stream.bucket == 1), 0);
    let mut output = [0.0; 4];
    corrections.fold(stream(1, 0, 4), &mut output).unwrap();
    assert_eq!((output, corrections.is_fresh()), ([0.0; 4], true));
}

/// Values are integers, so sums are exact.
#[test]
fn after_repair_replicas_agree_again_but_for_what_is_reported_as_drift() {
    let (mut with_drift, mut repaired) = (0, 0);
    for seed in 0..500u64 {
        let draw = |what: u64| splitmix64(seed << 24 | what) as usize;
        let (ranks, beats, own) = (2 + draw(0) % 6, 1 + draw(1) % 300, 0);
        let steps = 3;
        let mut stores: Vec<_> =
            (0..ranks).map(|rank| ShardStore::new(2, 64 * (1 + draw(2 + rank as u64) % 200))).collect();
        let (mut ledger, mut corrections) = (RepairLedger::new(2, 64), Corrections::default());
        let (mut replica, mut truth) = (vec![0.0f32; beats * LANES], vec![0.0f32; beats * LANES]);
        // The last step loses nothing, so that it takes all corrections.
        for op in 0..=steps {
            let key = WindowKey { op, bucket: 9, window: 0 };
            let shards = ShardMap::new(beats, ranks, op);
            let mean: Vec<_> =
                (0..beats * LANES).map(|at| (draw(1000 + at as u64) as u32 % 64 * (op + 1)) as f32).collect();
            let came =
                |beat: usize| op == steps || !draw(50_000 + 1000 * u64::from(op) + beat as u64).is_multiple_of(4);
            let mut present = vec![0u64; beats.div_ceil(64)];
            (0..beats).filter(|beat| came(*beat)).for_each(|beat| present[beat / 64] |= 1 << (beat % 64));
            let mut output = mean.clone();
            let mut requests = Vec::new();
            for owner in (0..ranks).filter(|owner| *owner != own) {
                let range = shards.range_of(owner);
                let values = mean[range.start * LANES..range.end * LANES].to_vec();
                stores[owner].keep(key, range.start as u16, &values, Vec::new());
                let missing = missing_ranges(range, &present);
                for beats in missing.iter().map(BeatRange::beats) {
                    output[beats.start * LANES..beats.end * LANES].fill(0.0);
                }
                if !missing.is_empty() {
                    requests.extend(ledger.miss(key, owner, &missing).into_iter().map(|request| (owner, request)));
                }
            }
            let mut full = output.clone();
            for (owner, request) in requests {
                request.check().unwrap();
                for message in stores[owner].answer(&request) {
                    let received = ledger.receive(owner, &message).unwrap();
                    if let (Some(beats), RepairMessage::Answer { values, .. }) = (received.beats, &message) {
                        full[beats.beats().start * LANES..beats.beats().end * LANES].copy_from_slice(values);
                    }
                }
            }
            assert!(ledger.is_done(key), "seed {seed}");
            corrections.fold(stream(9, 0, beats * LANES), &mut output).unwrap();
            replica.iter_mut().zip(&output).for_each(|(sum, value)| *sum += value);
            truth.iter_mut().zip(&mean).for_each(|(sum, value)| *sum += value);
            let old: Vec<_> = (0..beats * LANES)
                .map(|at| if came(at / LANES) || shards.range_of(own).contains(&(at / LANES)) { mean[at] } else { 0.0 })
                .collect();
            assert_eq!(corrections.add(stream(9, 0, beats * LANES), 0, Some(&old), &full), Ok(0));
        }
        let report = ledger.report();
        assert_eq!(report.missing_bytes, report.repaired_bytes + report.drift_bytes, "seed {seed}: {report:?}");
        let differ = replica.chunks(LANES).zip(truth.chunks(LANES)).filter(|(one, two)| one != two).count() as u64;
        assert!(differ * 64 <= report.drift_bytes, "seed {seed}: {differ} beats differ, {report:?}");
        assert_eq!(differ == 0, report.drift_bytes == 0, "seed {seed}: {differ} beats differ, {report:?}");
        with_drift += u32::from(report.drift_bytes > 0);
        repaired += u32::from(report.repaired_bytes > 0);
    }
    assert!(with_drift > 20 && with_drift < 400 && repaired > 300, "{with_drift} with drift, {repaired} repaired");
}
