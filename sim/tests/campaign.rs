//! The campaign: ten thousand collectives under faults, and judges that object where they must.

use std::ops::ControlFlow;

use optireduce_sim::campaign::runner::{Until, campaign};
use optireduce_sim::campaign::{Edits, run};

/// Less than a minute on two cores.
const COLLECTIVES: u64 = 10_000;

#[test]
fn under_faults_no_judge_objects() {
    let report = campaign(0, Until::Collectives(COLLECTIVES), 2, |_| ControlFlow::Continue(()));
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
    let job =
        |seed, ranks, calls, only: &[usize]| (seed, Edits { ranks, calls: Some(calls), only: Some(only.to_vec()) });
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
        // A host that was slow for longer than silence is borne was dropped, as it must be.
        job(100_593, Some(3), 8, &[0]),
        job(101_084, Some(4), 17, &[1]),
    ] {
        let outcome = run(seed, &edits, false);
        assert_eq!(outcome.violation, None, "seed {seed}, {edits:?}");
        assert_eq!(outcome.tally.collectives, u64::from(edits.calls.unwrap()), "seed {seed}");
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
