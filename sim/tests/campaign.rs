//! The campaign: thousands of collectives under faults.

use std::ops::ControlFlow;

use optireduce_sim::campaign::runner::{Until, campaign};
use optireduce_sim::campaign::{Edits, run};

/// Takes about a minute on two cores.
const COLLECTIVES: u64 = 10_000;

#[test]
fn under_faults_no_judge_objects() {
    let report = campaign(0, Until::Collectives(COLLECTIVES), 2, false, |_| ControlFlow::Continue(()));
    let failures: Vec<_> = report.failures.iter().map(|one| format!("{}\n  {}", one.violation, one.replay)).collect();
    assert!(failures.is_empty(), "{} jobs failed:\n{}", failures.len(), failures.join("\n"));
    assert!(report.tally.collectives >= COLLECTIVES && report.tally.lossy > 0 && report.tally.skipped > 0);
    // Every fault and every moment of the protocol occurs.
    assert!(report.faults.iter().chain(&report.transitions).all(|one| one.count > 0), "{report:?}");
    assert!(2 * report.pairs_hit > report.pairs / 2, "{} of {} pairs", report.pairs_hit, report.pairs);
}

/// Minimised jobs that once exposed a fault of the protocol or of a judge.
#[test]
fn jobs_that_failed_once_stay_mended() {
    let job = |seed, ranks, calls, only: &[usize]| {
        (seed, Edits { ranks, calls: Some(calls), only: Some(only.to_vec()), plain: true, shifts: Vec::new() })
    };
    for (seed, edits) in [
        // A view's first collective was preposted during the last one before it and blocked it.
        job(101_352, None, 8, &[0]),
        job(101_297, Some(5), 19, &[0, 3]),
        job(101_022, Some(4), 51, &[4]),
        // A window that closed while it was contributed was not reported before the watchdog.
        job(300_202, Some(2), 2, &[4]),
        // An owner answered with zeros for beats without contributors, in a truncated packet.
        job(300_382, None, 7, &[]),
        job(300_444, None, 13, &[0, 1, 3]),
        // The result of a late owner, in a bucket without repair, had zeros for such beats.
        job(30_006_644, None, 39, &[]),
        // Requests of a joining rank were dropped by ranks that did not have its view yet.
        job(301_197, Some(8), 14, &[2, 4]),
        job(301_705, None, 41, &[0, 1]),
        // A connection breaks between a rank and its neighbour, and either may be dropped.
        job(300_293, None, 19, &[0]),
        job(301_867, None, 23, &[2]),
        // In a one-off collective, a rank waited for a dead one beyond the limit of silence.
        job(300_558, None, 11, &[1, 4, 5]),
        // A rank that waited for a dead one was silent, and the others dropped it.
        job(30_002_339, None, 21, &[0]),
        job(30_006_352, Some(6), 14, &[2, 3]),
        job(30_009_836, Some(6), 21, &[2, 5]),
        // A dropped leader that had forgotten its decision decided again after a late vote.
        job(30_001_412, None, 5, &[0, 2, 3]),
        // A dropped leader decided alone; other ranks took that for their leader's decision.
        job(40_000_777, None, 9, &[0, 1]),
        // A joining rank's new connection ended before its view arrived, and no rank dropped it.
        job(40_002_816, None, 31, &[0, 1, 2, 3, 4, 5]),
        // The calls of a dropped rank, still in its old view, counted as a difference.
        job(40_008_277, None, 13, &[1, 2, 3]),
        job(40_008_542, None, 28, &[1, 2]),
        // Ranks gave up means of owners that waited for a lost contribution, and stayed ahead.
        job(40_014_685, None, 11, &[1]),
        // A restarted process waited for answers of ended ranks.
        job(30_011_572, None, 26, &[1, 4, 5]),
        // A joining rank started collectives before its view and had others dropped.
        job(30_006_209, None, 24, &[0, 4]),
        // The last rank of a job had a card, which needs at least two ranks.
        job(700_149, None, 35, &[0, 1, 2, 3, 4, 5, 6, 7]),
        // A host slower than the limit of silence is dropped, as intended.
        job(100_593, Some(3), 8, &[0]),
        job(101_084, Some(4), 17, &[1]),
        // A clock jumped while a rank began a call that was due before the jump.
        job(51_001_430, Some(3), 4, &[2]),
        // Zeros without contributors in a reduce-scatter's own shard were not reported as missing.
        job(51_006_582, None, 14, &[0, 1, 4]),
        // A rank whose calls were all too early for the others fell silent and was dropped.
        job(51_010_131, None, 11, &[3]),
    ] {
        let outcome = run(seed, &edits, false);
        assert_eq!(outcome.violation, None, "seed {seed}, {edits:?}");
        assert_eq!(outcome.tally.collectives, u64::from(edits.calls.unwrap()), "seed {seed}");
    }
}

/// A search follows from its first seed, including its modified jobs.
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
    for state in ["logged: collective preposted", "sent: promise", "all-reduce, encoded: broadcast closed by deadline"]
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
