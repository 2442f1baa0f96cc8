//! Partial Reduce over real sockets: groups of ready ranks, independent of the others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use optireduce::{BucketOptions, Communicator, PartialOptions, PartialReduce, Report, SharedMemory, Weights};

use super::ranks::{builder, job};

const ELEMENTS: usize = 20_000;

struct Averaged {
    rank: usize,
    given: Vec<f32>,
    got: Vec<f32>,
    report: Report,
}

fn train(
    rank: usize,
    partial: &mut PartialReduce,
    goes_on: impl FnMut(&usize) -> bool,
    step: Duration,
) -> Vec<Averaged> {
    let mut model: Vec<f32> = (0..ELEMENTS).map(|at| (at % 101) as f32 + rank as f32).collect();
    let mut iteration = 0;
    let average = |number: usize| {
        sleep(step);
        model.iter_mut().for_each(|value| *value += 0.01 * (number * rank) as f32);
        let given = model.clone();
        let report;
        (model, report) = partial.average(given.clone(), iteration + 1).wait().unwrap();
        iteration = report.group.as_ref().unwrap().iteration;
        Averaged { rank, given, got: model.clone(), report }
    };
    (0..).take_while(goes_on).map(average).collect()
}

/// Every group's model must be the weighted mean of its members, with the same bits on all.
fn check(all: Vec<Averaged>) -> BTreeMap<u32, Vec<Averaged>> {
    let mut groups: BTreeMap<u32, Vec<Averaged>> = BTreeMap::new();
    all.into_iter().for_each(|one| groups.entry(one.report.number).or_default().push(one));
    for members in groups.values_mut() {
        members.sort_by_key(|one| one.rank);
        let report = &members[0].report;
        let group = report.group.as_ref().unwrap();
        assert!(members.iter().map(|one| one.rank).eq(report.ranks.iter().copied()), "{report}");
        assert!((group.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{report}");
        for one in members.iter() {
            let what = format!("rank {}: {}", one.rank, one.report);
            let of_one = one.report.group.as_ref().unwrap();
            assert_eq!((&of_one.weights, of_one.iteration), (&group.weights, group.iteration), "{what}");
            assert!(of_one.uncounted_ranks.is_empty() && one.report.missing.is_empty(), "{what}");
            assert!(one.got.iter().zip(&members[0].got).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}");
            for (at, found) in one.got.iter().enumerate() {
                let terms = members.iter().zip(&group.weights).map(|(one, weight)| weight * f64::from(one.given[at]));
                let mean = terms.sum::<f64>();
                assert!((f64::from(*found) - mean).abs() < 1e-4, "{what}: element {at} is {found}, expected {mean}");
            }
        }
    }
    groups
}

#[test]
fn groups_of_the_ranks_that_are_ready_average_their_models_while_a_slow_one_trains() {
    const FAST: usize = 3;
    for local in [SharedMemory::Off, SharedMemory::Auto] {
        let trained = Arc::new(AtomicUsize::new(0));
        let results = job(4, move |rank, root| {
            let mut world = Communicator::connect(builder(rank, 4, &root).shared_memory(local)).wait().unwrap();
            let mut bucket = world.bucket(100, BucketOptions::new()).wait().unwrap();
            let mut partial = world.partial_reduce(ELEMENTS, PartialOptions::new()).wait().unwrap();
            let averaged = if rank < FAST {
                // Until all have made their steps, so that no rank is left alone.
                let goes_on = |made: &usize| {
                    trained.fetch_add(usize::from(*made == 20), Ordering::Relaxed);
                    *made < 20 || trained.load(Ordering::Relaxed) < FAST
                };
                train(rank, &mut partial, goes_on, Duration::from_millis(2))
            } else {
                train(rank, &mut partial, |made| *made < 5, Duration::from_millis(40))
            };
            partial.close().wait().unwrap();
            assert_eq!(bucket.all_reduce(&mut [1.0; 100]).unwrap().lost_bytes, 0);
            world.close().wait().unwrap();
            averaged
        });
        let groups = check(results.into_iter().flatten().collect());
        let pairs = groups.values().filter(|members| members.len() == 2).count();
        assert!(groups.values().all(|members| members.len() <= 2) && pairs >= 25, "{pairs} of {} groups", groups.len());
    }
}

/// Rank 0, which forms the groups, ends in the middle, and so does another.
#[test]
fn the_others_go_on_when_the_rank_that_forms_the_groups_has_ended() {
    let results = job(5, |rank, root| {
        let mut world = Communicator::connect(builder(rank, 5, &root)).wait().unwrap();
        let options = PartialOptions::new().weights(Weights::Constant).repair_timeout(Duration::from_millis(200));
        let mut partial = world.partial_reduce(ELEMENTS, options).wait().unwrap();
        let dies = rank == 0 || rank == 4;
        let goes_on = |made: &usize| *made < if dies { 4 } else { 20 };
        let averaged = train(rank, &mut partial, goes_on, Duration::from_millis(3));
        if !dies {
            partial.close().wait().unwrap();
        }
        averaged.len()
    });
    assert_eq!(results, [4, 20, 20, 20, 4]);
}

#[test]
fn what_cannot_be_is_named_and_what_differs_is_named_on_all_ranks() {
    let errors = job(2, |rank, root| {
        let mut world = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let error = world.partial_reduce(100, PartialOptions::new().group_size(3)).wait().unwrap_err().to_string();
        assert!(error.contains("groups of 3 of 2 workers; expected 2 to 2"), "{error}");
        let error = world.partial_reduce(0, PartialOptions::new()).wait().unwrap_err().to_string();
        assert!(error.contains("the number of elements of a model is 0, expected at least 1"), "{error}");
        let differs = world.partial_reduce(100 + rank, PartialOptions::new()).wait().unwrap_err().to_string();
        let patience = Duration::from_millis(300);
        let mut partial = world.partial_reduce(4, PartialOptions::new().patience(patience)).wait().unwrap();
        let model = vec![rank as f32; 4];
        let error = partial.average(model[1..].to_vec(), 1).wait().unwrap_err().to_string();
        assert!(error.contains("the number of elements is 3, expected 4"), "{error}");
        let (model, report) = partial.average(model, 1).wait().unwrap();
        assert_eq!((&model[..], &report.ranks[..]), (&[0.5; 4][..], &[0, 1][..]));
        let error = partial.average(model.clone(), 1).wait().unwrap_err().to_string();
        assert!(error.contains("the iteration is 1, expected more than 1"), "{error}");
        if rank == 0 {
            // The other rank is alive but not ready, so this rank continues alone.
            let begin = Instant::now();
            let (_, report) = partial.average(model, 2).wait().unwrap();
            let group = report.group.as_ref().unwrap();
            assert_eq!((&report.ranks[..], &group.weights[..], group.is_full), (&[0][..], &[1.0][..], true));
            assert!(begin.elapsed() >= patience && group.waited >= patience, "{report}");
            world.barrier().wait().unwrap();
        } else {
            world.barrier().wait().unwrap();
            drop(partial.average(model, 5).wait().unwrap());
        }
        partial.close().wait().unwrap();
        world.close().wait().unwrap();
        differs
    });
    for error in errors {
        assert!(error.contains("the ranks differ: elements is 101 on rank 1, but 100 on rank 0"), "{error}");
    }
}
