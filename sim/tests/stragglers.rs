//! Training with slow workers: results that hold for every seed.

use optireduce_sim::Impairments;
use optireduce_sim::stragglers::{Condition, Contender, Counts, Run, Setup};

fn setup(workers: usize) -> Setup {
    Setup {
        workers,
        group_size: workers / 2,
        own: 0.8,
        train_ns: 5_000_000_000,
        step_ns: 20_000_000,
        stall_ns: 200_000_000,
        deadline_ns: 25_000_000,
        impairments: Impairments { delay_us_median: 100.0, ..Impairments::default() },
        target: 0.9,
    }
}

fn shown(setup: &Setup, condition: &str, seed: u64) -> String {
    format!(
        "optireduce-sim stragglers --seconds 5 --target 90 --workers {} --conditions {condition} --seeds 1 --seed {seed}",
        setup.workers
    )
}

fn steps(run: &Run) -> u64 {
    run.steps.iter().sum()
}

fn lost(run: &Run) -> f64 {
    let bytes = |of: fn(&Counts) -> u64| run.counts.iter().map(of).sum::<u64>() as f64;
    bytes(|one| one.lost_bytes) / bytes(|one| one.expected_bytes)
}

#[test]
fn partial_reduce_does_not_wait_for_a_slow_worker_and_learns_its_digits_all_the_same() {
    for workers in [4, 8] {
        let setup = setup(workers);
        for seed in 1..4 {
            let run = |contender| setup.run(Condition::Slow4, contender, seed).unwrap();
            let (reliable, partial) = (run(Contender::AllReduce), run(Contender::Partial));
            let what = format!("{}: {reliable:?}, {partial:?}", shown(&setup, "slow4", seed));
            // Steps of 80 ms, one more or less.
            let slowest = 62 * workers as u64;
            assert!(steps(&reliable).abs_diff(slowest) <= 3 * workers as u64, "{what}");
            assert!(steps(&partial) > 2 * steps(&reliable), "{what}");
            // The slow worker is in nearly as many groups as it has steps.
            assert!(partial.steps[workers - 1].abs_diff(60) <= 5, "{what}");
            assert!(partial.accuracy > reliable.accuracy - 0.03, "{what}");
        }
    }
}

#[test]
fn with_shards_that_are_alike_more_steps_are_less_time() {
    for workers in [4, 8] {
        let setup = Setup { own: 0.0, ..setup(workers) };
        for seed in 1..4 {
            let run = |contender| setup.run(Condition::Slow4, contender, seed).unwrap();
            let (reliable, partial) = (run(Contender::AllReduce), run(Contender::Partial));
            let what = format!("{} --own 0: {reliable:?}, {partial:?}", shown(&setup, "slow4", seed));
            let seconds = |run: &Run| run.seconds_to_target.unwrap_or_else(|| panic!("{what}"));
            assert!(1.3 * seconds(&partial) < seconds(&reliable), "{what}");
        }
    }
}

#[test]
fn a_bounded_all_reduce_leaves_out_a_worker_that_is_always_late() {
    let setup = setup(4);
    for seed in 1..4 {
        let run = |contender| setup.run(Condition::Slow4, contender, seed).unwrap();
        let (reliable, bounded, fixed) =
            (run(Contender::AllReduce), run(Contender::Bounded), run(Contender::BoundedFixed));
        let what = format!("{}: {reliable:?}, {bounded:?}, {fixed:?}", shown(&setup, "slow4", seed));
        for late in [&bounded, &fixed] {
            assert!(late.accuracy < reliable.accuracy - 0.05, "{what}");
            assert!((0.1..0.4).contains(&lost(late)), "{} lost: {what}", lost(late));
        }
        // Without late workers.
        let even = |contender| setup.run(Condition::Even, contender, seed).unwrap();
        let (reliable, bounded) = (even(Contender::AllReduce), even(Contender::Bounded));
        assert!((bounded.accuracy - reliable.accuracy).abs() < 0.01, "{bounded:?}, {reliable:?}");
        assert!(bounded.counts.iter().all(|one| one.lost_bytes == 0 && one.skipped == 0), "{bounded:?}");
    }
}

#[test]
fn halves_that_never_meet_drift_apart_unless_the_guard_bridges_them() {
    let setup = setup(4);
    for seed in 1..4 {
        let run = |contender| setup.run(Condition::Halves, contender, seed).unwrap();
        let (guarded, unguarded) = (run(Contender::Partial), run(Contender::PartialUnguarded));
        let what = format!("{}: {guarded:?}, {unguarded:?}", shown(&setup, "halves", seed));
        assert!(unguarded.distance > 0.25 && guarded.distance < 0.06, "{what}");
        assert!(unguarded.accuracy_least + 0.05 < guarded.accuracy_least, "{what}");
    }
}

#[test]
fn what_the_network_loses_is_fetched_before_a_model_is_used() {
    let (clean, mut setup) = (setup(4), setup(4));
    (setup.impairments.loss, setup.impairments.tail_ratio) = (0.02, 3.0);
    for seed in 1..4 {
        let run = |setup: &Setup| setup.run(Condition::Even, Contender::Partial, seed).unwrap();
        let (clean, partial) = (run(&clean), run(&setup));
        let what = format!("{} --loss 0.02 --tail-ratio 3: {partial:?}", shown(&setup, "even", seed));
        assert!((0.005..0.06).contains(&lost(&partial)), "{} lost: {what}", lost(&partial));
        assert!((partial.accuracy - clean.accuracy).abs() < 0.02 && partial.distance < 0.06, "{what}");
    }
}

#[test]
fn weights_are_dynamic_unless_they_are_to_be_constant_and_a_seed_repeats_a_run() {
    let setup = setup(8);
    let run = |contender, seed| setup.run(Condition::Slow4, contender, seed).unwrap();
    let (dynamic, constant) = (run(Contender::Partial, 1), run(Contender::PartialConstant, 1));
    // Groups do not depend on models, so they have the same workers.
    assert_eq!((&dynamic.steps, &dynamic.counts), (&constant.steps, &constant.counts));
    assert_ne!(dynamic.distance, constant.distance);
    assert_eq!(run(Contender::Partial, 1), dynamic);
    assert_ne!(run(Contender::Partial, 2).steps, dynamic.steps);
}
