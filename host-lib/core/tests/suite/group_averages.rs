//! Jobs of Partial Reduce in virtual time, with losses, reordering, deaths and freezes.

use optireduce_core::GroupLoss;

use crate::partial_job::{Case, Job, MS};
use crate::seeds;
use crate::virtual_network::Random;

#[test]
fn groups_over_a_lossy_network_give_their_members_the_weighted_mean_of_their_models() {
    let (mut repaired, mut groups) = (0, 0);
    for seed in seeds(0..12) {
        let workers = 2 + seed as usize % 5;
        let group_size = 2 + (seed as usize / 5) % (workers - 1);
        let job = Job::new(Case::new(seed, workers, group_size)).run();
        job.check();
        groups += job.groups.len();
        let all = job.groups.values().flatten().flat_map(|judged| judged.results.values());
        repaired += all.map(|averaged| averaged.repaired_bytes).sum::<u64>();
        assert_eq!(job.controllers, vec![0; workers], "nobody died");
    }
    assert!(repaired > 100_000 && groups > 200, "{groups} groups, {repaired} B repaired");
}

#[test]
fn what_a_member_had_not_contributed_when_its_window_closed_counts_all_the_same() {
    let mut late = 0;
    for seed in seeds(0..8) {
        // A worker that learns of its group late has all packets of its members. While its first
        // window waits for a lost packet, later windows reach their deadlines without it.
        let (letters_ns, group_loss) = (20_000..25 * MS, GroupLoss::Repair { timeout_ns: 100 * MS });
        let case = Case {
            elements: 12_000,
            in_flight: 1,
            loss: 0.1,
            letters_ns,
            group_loss,
            ..Case::new(seed, 4, 3 + seed as usize % 2)
        };
        let job = Job::new(case).run();
        job.check();
        let all = job.groups.values().flatten().flat_map(|judged| judged.results.values());
        late += all.filter(|averaged| !averaged.reports.is_empty() && !averaged.reports[0].local_contribution).count();
    }
    assert!(
        late >= 10 || std::env::var("SEEDS").is_ok(),
        "{late} averages of which a window closed before this rank had contributed"
    );
}

#[test]
fn without_repair_a_model_is_a_mean_of_what_came() {
    let mut differ = 0;
    for seed in seeds(0..4) {
        let case = Case { group_loss: GroupLoss::Average, loss: 0.05, ..Case::new(seed, 4, 3) };
        let job = Job::new(case).run();
        job.check();
        for judged in job.groups.values().flatten() {
            let models: Vec<_> = judged.results.values().map(|averaged| &averaged.model).collect();
            differ += usize::from(models.windows(2).any(|two| two[0] != two[1]));
        }
    }
    assert!(differ > 10, "{differ} groups whose members differ");
}

#[test]
fn workers_and_controllers_that_die_or_stand_still_hold_nobody_up() {
    for seed in seeds(0..16) {
        let mut random = Random(seed << 8);
        let workers = 5 + seed as usize % 3;
        let mut case = Case { rounds: 30, ..Case::new(seed, workers, 2 + seed as usize % 2) };
        let mut at = || 5 * MS + random.below(40 * MS);
        match seed % 4 {
            0 => case.dies = vec![(0, at())],
            1 => case.dies = vec![(0, at()), (1, at())],
            2 => case.dies = vec![(0, at()), (workers - 1, at())],
            _ => {
                let begin = at();
                // Long enough to be taken for dead before it wakes up.
                case.frozen = vec![(0, begin..begin + 2000 * MS)];
                case.dies = vec![(2, at())];
            }
        }
        let job = Job::new(case).run();
        job.check();
        assert!(job.controllers.iter().any(|host| *host > 0), "seed {seed}: the controller did not move");
        for rank in 0..workers {
            assert!(job.is_hurt(rank, u64::MAX) || job.is_done(rank), "seed {seed}: {rank} was held up");
        }
    }
}

#[test]
fn a_worker_that_stood_still_until_it_was_dropped_takes_part_again() {
    for seed in seeds(0..12) {
        let workers = 4 + seed as usize % 3;
        let stood = 5 * MS..(300 + 100 * (seed % 3)) * MS;
        let case = Case { frozen: vec![(0, stood.clone())], rounds: 300, ..Case::new(seed, workers, 2) };
        let job = Job::new(case).run();
        job.check();
        let what = format!("seed {seed}: {:?}", job.controllers);
        assert!(job.drops(0) == 1 && job.groups_since(0, stood.end) >= 250, "{what}");
        assert!(job.controllers.contains(&1) && job.controllers.last() == Some(&0), "{what}: it forms groups again");
    }
}

#[test]
fn a_process_that_is_started_again_takes_part_again_whoever_it_was_and_died_meanwhile() {
    for seed in seeds(0..24) {
        let mut random = Random(seed << 9);
        let workers = 5 + seed as usize % 3;
        let mut case = Case { rounds: 60, ..Case::new(seed, workers, 2 + seed as usize % 2) };
        let died_ns = 5 * MS + random.below(30 * MS);
        let back_ns = died_ns + [1, MS / 10, 10 * MS, 100 * MS][seed as usize / 2 % 4];
        let again = if seed % 2 == 0 { 0 } else { 2 };
        (case.dies, case.restarts) = (vec![(again, died_ns)], vec![(again, back_ns)]);
        if seed % 3 == 0 {
            case.dies.push((1, died_ns + random.below(20 * MS)));
        }
        let job = Job::new(case).run();
        job.check();
        assert!(job.groups_since(again, back_ns) >= 50, "seed {seed}: {again} is in no groups");
        assert_eq!(job.drops(again), 0, "seed {seed}: {again} was dropped once more");
        // The longest wait is for a silent controller.
        assert!(job.wait_ns_max < 100 * MS, "seed {seed}: {} ns", job.wait_ns_max);
        for rank in 0..workers {
            assert!(job.is_hurt(rank, u64::MAX) || job.is_done(rank), "seed {seed}: {rank} was held up");
        }
    }
}

#[test]
fn a_worker_that_stands_still_and_is_not_needed_is_waited_for_no_longer_than_the_patience() {
    // Two groups of two need bridges, and one worker is no longer ready.
    let case = Case { frozen: vec![(3, 4 * MS..4000 * MS)], rounds: 60, ..Case::new(1, 4, 2) };
    let job = Job::new(case).run();
    job.check();
    assert!((0..4).all(|rank| job.is_done(rank)), "it comes back and gets its groups");
}
