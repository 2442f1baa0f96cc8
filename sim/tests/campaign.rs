//! The campaign: ten thousand collectives under faults, and judges that object where they must.

use std::ops::ControlFlow;

use optireduce_sim::campaign::runner::{Until, campaign};
use optireduce_sim::campaign::{Edits, run};

/// A minute on two cores.
const COLLECTIVES: u64 = 10_000;

#[test]
fn under_faults_no_judge_objects() {
    let report = campaign(0, Until::Collectives(COLLECTIVES), 2, false, |_| ControlFlow::Continue(()));
    let failures: Vec<_> = report.failures.iter().map(|one| format!("{}\n  {}", one.violation, one.replay)).collect();
    assert!(failures.is_empty(), "{} jobs failed:\n{}", failures.len(), failures.join("\n"));
    assert!(report.tally.collectives >= COLLECTIVES && report.tally.lossy > 0 && report.tally.skipped > 0);
    // Every fault and every moment of the protocol is there.
    assert!(report.faults.iter().chain(&report.transitions).all(|one| one.count > 0), "{report:?}");
    assert!(2 * report.pairs_hit > report.pairs / 2, "{} of {} pairs", report.pairs_hit, report.pairs);
}

/// Jobs that found a fault of the protocol, or of a judge, as small as they could be made.
#[test]
fn jobs_that_failed_once_stay_mended() {
    let job = |seed, ranks, calls, only: &[usize]| {
        (seed, Edits { ranks, calls: Some(calls), only: Some(only.to_vec()), plain: true, shifts: Vec::new() })
    };
    for (seed, edits) in [
        // The first collective of a view was preposted while the last one before it ran, and held it up for ever.
        job(101_352, None, 8, &[0]),
        job(101_297, Some(5), 19, &[0, 3]),
        job(101_022, Some(4), 51, &[4]),
        // A window that closed while it was contributed was not told of before the watchdog.
        job(300_202, Some(2), 2, &[4]),
        // Beats that nobody contributed to: an owner answered with zeros, and sent them in a packet that was cut short.
        job(300_382, None, 7, &[]),
        job(300_444, None, 13, &[0, 1, 3]),
        // So did the result of a late owner whose bucket is not repaired.
        job(30_006_644, None, 39, &[]),
        // A rank joined, and what it asked of others before they heard of its view was dropped.
        job(301_197, Some(8), 14, &[2, 4]),
        job(301_705, None, 41, &[0, 1]),
        // A connection breaks between a rank and its neighbour, and either may be dropped.
        job(300_293, None, 19, &[0]),
        job(301_867, None, 23, &[2]),
        // A rank waited in a one-off collective for one that had died, for longer than silence is borne.
        job(300_558, None, 11, &[1, 4, 5]),
        // The rank that waited for one that had died said nothing, and the others dropped it.
        job(30_002_339, None, 21, &[0]),
        job(30_006_352, Some(6), 14, &[2, 3]),
        job(30_009_836, Some(6), 21, &[2, 5]),
        // A leader that was dropped, and had forgotten what it had decided, decided again upon a late vote.
        job(30_001_412, None, 5, &[0, 2, 3]),
        // A leader that was dropped decided for itself, and ranks that went on without it took that for their leader's decision.
        job(40_000_777, None, 9, &[0, 1]),
        // The new connection of a rank that joined ended before its view was known, and it was asked, and nobody dropped it.
        job(40_002_816, None, 31, &[0, 1, 2, 3, 4, 5]),
        // A rank that had been dropped, and did not know, called what its old view said, and that counted as a difference.
        job(40_008_277, None, 13, &[1, 2, 3]),
        job(40_008_542, None, 28, &[1, 2]),
        // Ranks gave up the means of owners that waited for a lost contribution, and were a bound ahead of them from then on.
        job(40_014_685, None, 11, &[1]),
        // A process that was started again asked ranks that had ended before it began, and waited for their answers.
        job(30_011_572, None, 26, &[1, 4, 5]),
        // A rank that joined began collectives before its view, heard nobody, and had one rank after the other dropped.
        job(30_006_209, None, 24, &[0, 4]),
        // The last rank of a job had a card, which takes at least two.
        job(700_149, None, 35, &[0, 1, 2, 3, 4, 5, 6, 7]),
        // A host that was slow for longer than silence is borne was dropped, as it must be.
        job(100_593, Some(3), 8, &[0]),
        job(101_084, Some(4), 17, &[1]),
        // A clock jumped while its rank began a call, which was due by the time before.
        job(51_001_430, Some(3), 4, &[2]),
        // Zeros that nobody contributed to, in the own shard of a reduce-scatter, were not reported as missing.
        job(51_006_582, None, 14, &[0, 1, 4]),
        // A rank that had made all its calls, which came too early for others, said no more, and was dropped.
        job(51_010_131, None, 11, &[3]),
    ] {
        let outcome = run(seed, &edits, false);
        assert_eq!(outcome.violation, None, "seed {seed}, {edits:?}");
        assert_eq!(outcome.tally.collectives, u64::from(edits.calls.unwrap()), "seed {seed}");
    }
}

/// What a search does follows from its first seed, also which of its jobs are changed.
#[test]
fn a_search_repeats_whatever_the_threads() {
    let search = |threads, searches| {
        let report = campaign(500, Until::Collectives(1500), threads, searches, |_| ControlFlow::Continue(()));
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        (report.jobs, report.tally, report.states, report.state_pairs, report.pairs_hit)
    };
    let (one, two, plain) = (search(1, true), search(2, true), search(2, false));
    assert_eq!(one, two);
    assert_ne!(one, plain);
    for state in
        ["logged: a collective is preposted", "sent: promise", "all-reduce, encoded: broadcast closed by deadline"]
    {
        assert!(one.2.iter().any(|seen| seen.what == state), "{state}: {:?}", one.2);
    }
}

#[test]
fn a_seed_replays_to_the_byte() {
    let [one, two] = [(), ()].map(|()| run(7, &Edits::default(), true));
    assert!(!one.timeline.is_empty() && one.timeline == two.timeline);
    assert_eq!(
        (one.tally.collectives, one.tally.results, one.tally.lossy),
        (two.tally.collectives, two.tally.results, two.tally.lossy)
    );
}
