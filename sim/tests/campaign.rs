//! The campaign: ten thousand collectives under faults, and judges that object where they must.

use optireduce_sim::campaign::runner::{Until, campaign};
use optireduce_sim::campaign::{Edits, run};

/// Less than a minute on two cores.
const COLLECTIVES: u64 = 10_000;

#[test]
fn under_faults_no_judge_objects() {
    let report = campaign(0, Until::Collectives(COLLECTIVES), 2, |_| ());
    let failures: Vec<_> = report.failures.iter().map(|one| format!("{}\n  {}", one.violation, one.replay)).collect();
    assert!(failures.is_empty(), "{} jobs failed:\n{}", failures.len(), failures.join("\n"));
    assert!(report.tally.collectives >= COLLECTIVES && report.tally.lossy > 0 && report.tally.skipped > 0);
    // Every fault and every moment of the protocol is there.
    assert!(report.faults.iter().chain(&report.transitions).all(|one| one.count > 0), "{report:?}");
    assert!(2 * report.pairs_hit > report.pairs / 2, "{} of {} pairs", report.pairs_hit, report.pairs);
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
