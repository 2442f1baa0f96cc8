//! Collectives on the functional card, over many seeds, ranks and lengths.

use optireduce_core::protocol::{ClosedBy, HadamardMode, UpdateAction};
use optireduce_hw::card::build::Build;
use optireduce_sim::Impairments;
use optireduce_sim::card::engine::Engine::{Functional, Rtl};
use optireduce_sim::check::oracle;
use optireduce_sim::check::scenario::{Scenario, bytes_lost_by_network, check_losses_are_reported};
use optireduce_sim::cluster::bound;
use optireduce_sim::cluster::{ClusterConfig, Early, RankRecord, Straggler};

fn checked<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|what| panic!("{what}"))
}

/// Every stage is complete, and the only error is rounding.
fn check_exact(scenario: &Scenario) {
    for (step, record) in checked(scenario.run()).iter().enumerate() {
        let mean = oracle::exact_mean(&scenario.gradients(step));
        for (rank, one) in record.ranks.iter().enumerate() {
            assert_eq!(one.report.closed_by, [ClosedBy::Complete; 2], "rank {rank} of {scenario:?}");
            assert_eq!((one.report.lost_bytes, one.report.action), (0, UpdateAction::Apply));
            assert!(one.report.local_contribution && one.report.late_peers.is_empty());
            let nmse = oracle::nmse(&one.output, &mean);
            assert!(nmse < 1e-12, "rank {rank}: NMSE {nmse:e} in {scenario:?}");
        }
        assert_eq!(record.ranks.iter().map(|one| one.output.len()).max(), Some(scenario.elements));
    }
}

#[test]
fn without_loss_every_rank_gets_the_mean() {
    for ranks in [2, 3, 4, 5, 8] {
        for elements in [1, 15, 16, 17, 255, 4096, 9610] {
            for hadamard in [false, true] {
                check_exact(&Scenario::new(Functional, ranks, elements).hadamard(hadamard));
            }
        }
    }
}

#[test]
fn a_bucket_of_more_windows_than_slots_is_pipelined() {
    for hadamard in [false, true] {
        check_exact(&Scenario::new(Functional, 4, 200_000).hadamard(hadamard));
    }
}

/// Windows of 1 MiB and Hadamard blocks of 16384, read from card registers.
#[test]
fn a_card_with_larger_windows_and_blocks_is_used_to_the_full() {
    for (hadamard, windows) in [(false, vec![16_384, 2]), (true, vec![16_384, 1024])] {
        let scenario =
            Scenario::new(Functional, 3, (1 << 18) + 20).hadamard(hadamard).with(|config| config.build = Build::BOARD);
        check_exact(&scenario);
        check_exact(&scenario.clone().with(|config| config.incast = 2));
        let record = checked(scenario.bf16().run()).remove(0);
        let beats: Vec<_> = record.plans.iter().map(|plan| plan.beats).collect();
        assert_eq!(beats, windows);
        assert!(record.plans.iter().all(|plan| plan.log2_n == if hadamard { 14 } else { 0 }));
    }
    let error = Scenario::new(Rtl, 2, 1).with(|config| config.build = Build::BOARD).run().unwrap_err();
    assert!(error.contains("rtl cards of Build"), "{error}");
}

#[test]
fn sixty_four_ranks_reduce_a_short_bucket() {
    check_exact(&Scenario::new(Functional, 64, 1000));
    check_exact(&Scenario::new(Functional, 64, 1000).hadamard(true));
}

#[test]
fn ten_collectives_in_a_row_reuse_the_same_cards() {
    let mut scenario = Scenario::new(Functional, 4, 9610);
    scenario.steps = 10;
    check_exact(&scenario);
    check_exact(&scenario.hadamard(true));
}

#[test]
fn packets_of_one_beat_and_of_jumbo_frames_give_the_same_result() {
    for payload_beats in [1, 139] {
        check_exact(&Scenario::new(Functional, 3, 9610).with(|config| config.payload_beats = payload_beats));
    }
}

fn impaired(seed: u64) -> Impairments {
    Impairments { seed, loss: 0.1, duplicate: 0.05, hold: 0.05, tail_ratio: 3.0, ..Impairments::default() }
}

#[test]
fn with_losses_duplicates_and_reordering_only_what_the_network_lost_is_missing() {
    for seed in 0..20 {
        for hadamard in [false, true] {
            // Far above any delay: every delivered packet is in time.
            let mut scenario = Scenario::new(Functional, 2 + seed as usize % 4, 9610)
                .with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 1_000_000))
                .hadamard(hadamard);
            scenario.steps = 2;
            let records = checked(scenario.run());
            for record in &records {
                checked(check_losses_are_reported(record).map_err(|what| format!("{what}\n  in {scenario:?}")));
            }
            let lost: u64 = records.iter().map(|record| bytes_lost_by_network(record, 0)).sum();
            assert!(lost > 0, "nothing was lost in {scenario:?}");
        }
    }
}

/// Cards and software ranks in both directions. The oracle checks every mean to the bit.
#[test]
fn a_flipped_bit_never_reaches_a_mean() {
    for (software_ranks, hadamard, bf16) in [vec![], vec![0], vec![1, 2], vec![0, 1, 2]]
        .iter()
        .flat_map(|ranks| [(ranks, false, false), (ranks, true, false), (ranks, false, true)])
    {
        let (mut lost, mut corrupted) = (0, 0);
        for seed in 0..8 {
            let impairments = Impairments { seed, corrupt: 0.2, ..Impairments::default() };
            let scenario = Scenario::new(Functional, 3, 9610).hadamard(hadamard).with(|config| {
                (config.impairments, config.bound_ns) = (impairments, 1_000_000);
                (config.software_ranks, config.bf16) = (software_ranks.clone(), bf16);
            });
            for record in checked(scenario.run()) {
                lost += record.ranks.iter().map(|one| one.report.lost_bytes).sum::<u64>();
                corrupted += record.fates.iter().map(|fate| u32::from(fate.corrupted)).sum::<u32>();
            }
        }
        assert!(corrupted > 50, "only {corrupted} packets corrupted");
        assert!(lost > 0, "corrupted packets were taken with software ranks {software_ranks:?}");
    }
}

/// The oracle recomputes all sums from the accepted beats, and all ranks have the same bits.
#[test]
fn ranks_with_and_without_cards_speak_the_same_packets() {
    for (software_ranks, hadamard, bf16) in [vec![0], vec![1, 3], vec![0, 1, 2, 3]]
        .iter()
        .flat_map(|ranks| [(ranks, false, false), (ranks, true, false), (ranks, false, true), (ranks, true, true)])
    {
        let scenario = Scenario::new(Functional, 4, 40_000)
            .hadamard(hadamard)
            .with(|config| (config.software_ranks, config.bf16) = (software_ranks.clone(), bf16));
        for record in checked(scenario.run()) {
            let bits = |one: &RankRecord| one.output.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            for one in &record.ranks {
                assert_eq!(one.report.closed_by, [ClosedBy::Complete; 2], "{scenario:?}");
                assert_eq!(bits(one), bits(&record.ranks[0]), "{scenario:?}");
            }
        }
        for seed in 0..5 {
            let scenario =
                scenario.clone().with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 1_000_000));
            for record in checked(scenario.run()) {
                checked(check_losses_are_reported(&record).map_err(|what| format!("{what}\n  in {scenario:?}")));
            }
        }
        let straggler = vec![Straggler { rank: software_ranks[0], delay_ns: 3_000_000 }];
        checked(scenario.with(|config| (config.stragglers, config.bound_ns) = (straggler, 200_000)).run());
    }
}

#[test]
fn a_bound_that_is_not_given_is_measured_and_hardly_depends_on_loss() {
    for (early, hadamard) in [(Early::Adaptive, HadamardMode::Auto), (Early::Off, HadamardMode::Off)] {
        for seed in 0..3 {
            let measured_ns = |loss: f64| {
                let impairments = Impairments { seed, loss, ..Impairments::default() };
                let config = ClusterConfig { impairments, early, hadamard, ..ClusterConfig::new(Rtl, 4) };
                bound::measure(&config, 20_000).unwrap()
            };
            let clean_ns = measured_ns(0.0);
            // 10 us of network delay, and 80 kB at 100 Gb/s, in two stages.
            assert!((20_000..100_000).contains(&clean_ns), "seed {seed}: {clean_ns} ns");
            for loss in [0.01, 0.05, 0.2] {
                let lossy_ns = measured_ns(loss);
                assert!((clean_ns / 2..=2 * clean_ns).contains(&lossy_ns), "seed {seed}: {lossy_ns} of {clean_ns} ns");
            }
        }
    }
}

#[test]
fn a_cluster_without_cards_may_have_more_ranks_than_a_card_takes() {
    let without_cards = |ranks: usize| {
        Scenario::new(Functional, ranks, 16 * ranks).with(|config| config.software_ranks = (0..ranks).collect())
    };
    check_exact(&without_cards(70));
    let refused = |scenario: Scenario| scenario.run().unwrap_err();
    assert!(refused(without_cards(255)).contains("255 ranks, expected 2 to 254"));
    let with_a_card = without_cards(65).with(|config| config.software_ranks.truncate(64));
    assert!(refused(with_a_card).contains("65 ranks, expected 2 to 64"));
}

#[test]
fn a_software_rank_and_a_card_of_clock_cycles_reduce_together() {
    for hadamard in [false, true] {
        let scenario = Scenario::new(Rtl, 2, 2000).hadamard(hadamard).with(|config| config.software_ranks = vec![1]);
        check_exact(&scenario);
        let gradients = vec![(0..2).map(|rank| adversarial(rank, 2000)).collect()];
        let record = checked(scenario.run_with(&gradients)).remove(0);
        let bits = |rank: usize| record.ranks[rank].output.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(bits(0) == bits(1), "the ranks differ in {scenario:?}");
        let impair = |config: &mut ClusterConfig| (config.impairments, config.bound_ns) = (impaired(7), 200_000);
        checked(scenario.with(impair).run());
    }
}

#[test]
fn the_early_rule_closes_before_the_deadline_and_loses_no_more() {
    let (mut early, mut total) = (0, 0);
    for seed in 0..20 {
        let scenario = Scenario::new(Functional, 4, 9610).with(|config| {
            config.impairments = Impairments { seed, loss: 0.02, ..Impairments::default() };
            (config.bound_ns, config.early) = (5_000_000, Early::Grace(200_000));
        });
        for record in checked(scenario.run()) {
            checked(check_losses_are_reported(&record).map_err(|what| format!("{what}\n  in {scenario:?}")));
            for (rank, one) in record.ranks.iter().enumerate() {
                assert_eq!(one.report.lost_bytes, bytes_lost_by_network(&record, rank), "rank {rank} of {scenario:?}");
            }
            for by in record.ranks.iter().flat_map(|one| one.report.closed_by) {
                early += usize::from(by == ClosedBy::Early);
                total += usize::from(by != ClosedBy::Complete);
            }
        }
    }
    // A stage reaches its deadline only if one of three marks was lost: 3 of 21 packets.
    assert!(early * 10 > total * 6, "{early} of {total} incomplete stages closed early");
}

/// With a short grace time and slow, uneven peers: a stage with all last packets is complete.
#[test]
fn on_a_network_without_loss_the_early_rule_loses_nothing() {
    for (bf16, incast, rate_bytes_per_us, software_ranks) in [
        (true, 3, 3125, vec![]),
        (true, 3, 3125, vec![0, 2]),
        (true, 3, 625, vec![1]),
        (false, 1, 0, vec![]),
        (false, 1, 0, vec![3]),
    ] {
        for seed in 0..20 {
            let mut scenario = Scenario::new(Functional, 4, 9610).with(|config| {
                config.impairments = Impairments { seed, ..Impairments::default() };
                (config.bf16, config.incast, config.rate_bytes_per_us) = (bf16, incast, rate_bytes_per_us);
                (config.bound_ns, config.early) = (1_000_000, Early::Grace(1000));
                config.software_ranks = software_ranks.clone();
            });
            scenario.steps = 2;
            for record in checked(scenario.run()) {
                for (rank, one) in record.ranks.iter().enumerate() {
                    assert_eq!(one.report.lost_bytes, 0, "rank {rank} of {scenario:?}");
                    assert_eq!(one.report.closed_by, [ClosedBy::Complete; 2], "rank {rank} of {scenario:?}");
                }
            }
        }
    }
}

#[test]
fn the_error_under_loss_is_the_predicted_one() {
    for hadamard in [false, true] {
        let (mut found, mut predicted) = (0.0, 0.0);
        for seed in 0..60 {
            let scenario = Scenario::new(Functional, 4, 9610)
                .with(|config| {
                    config.impairments = Impairments { seed, loss: 0.05, ..Impairments::default() };
                    config.bound_ns = 1_000_000;
                })
                .hadamard(hadamard);
            let gradients = scenario.gradients(0);
            let mean = oracle::exact_mean(&gradients);
            for record in checked(scenario.run()) {
                found += record.ranks.iter().map(|one| oracle::nmse(&one.output, &mean)).sum::<f64>() / 4.0;
                predicted += oracle::predicted_nmse(&record.plans, &gradients, 0.05);
            }
        }
        // 60 seeds of 168 packets at 5 % lose about 500, with a standard deviation of 4.5 %. Three
        // of them must fit.
        let ratio = found / predicted;
        assert!((ratio - 1.0).abs() < 0.15, "hadamard {hadamard}: NMSE {} of the predicted {}", found, predicted);
    }
}

#[test]
fn a_straggler_costs_its_peers_at_most_the_bounds_and_is_named() {
    for hadamard in [false, true] {
        let bound_ns = 200_000;
        let scenario = Scenario::new(Functional, 4, 9610)
            .with(|config| {
                config.bound_ns = bound_ns;
                config.stragglers = vec![Straggler { rank: 2, delay_ns: 3_000_000 }];
            })
            .hadamard(hadamard);
        let record = checked(scenario.run()).remove(0);
        for (rank, one) in record.ranks.iter().enumerate().filter(|(rank, _)| *rank != 2) {
            assert_eq!(one.report.late_peers, [2], "rank {rank}");
            assert_eq!(one.report.closed_by[0], ClosedBy::Deadline);
            assert!(one.report.local_contribution);
            // Both stages at their bounds, plus host memory and the delay of the last packets.
            assert!(one.done_ns <= 2 * bound_ns + 50_000, "rank {rank} was done after {} ns", one.done_ns);
            assert_eq!(one.report.received_fraction[1], 1.0, "rank {rank}");
            assert!((one.report.received_fraction[0] - 2.0 / 3.0).abs() < 1e-9);
        }
        let straggler = &record.ranks[2];
        assert!(!straggler.report.local_contribution && straggler.done_ns >= 3_000_000);
        let gradients = scenario.gradients(0);
        let on_time: Vec<_> = [0, 1, 3].map(|rank| gradients[rank].clone()).into();
        let mean = oracle::exact_mean(&on_time);
        for one in &record.ranks {
            let nmse = oracle::nmse(&one.output, &mean);
            assert!(nmse < 1e-12, "NMSE {nmse:e} against the mean of the ranks on time");
        }
    }
}

#[test]
fn a_straggler_of_a_bucket_larger_than_its_slots_catches_up() {
    let scenario = Scenario::new(Functional, 4, 200_000).with(|config| {
        config.bound_ns = 200_000;
        config.stragglers = vec![Straggler { rank: 0, delay_ns: 5_000_000 }];
    });
    let record = checked(scenario.run()).remove(0);
    assert!(record.ranks.iter().skip(1).all(|one| one.report.late_peers.contains(&0)));
    assert!(!record.ranks[0].report.local_contribution);
}

#[test]
fn a_rank_that_is_late_but_within_the_bound_costs_nothing() {
    let mut scenario = Scenario::new(Functional, 4, 9610).with(|config| {
        (config.bound_ns, config.early) = (1_000_000, Early::Grace(20_000));
        config.stragglers = vec![Straggler { rank: 1, delay_ns: 300_000 }];
    });
    scenario.steps = 3;
    check_exact(&scenario);
}

#[test]
fn losing_too_much_skips_and_then_halts() {
    // Enough packets to rule out chance.
    let mut scenario = Scenario::new(Functional, 4, 60_000).with(|config| {
        config.impairments.loss = 0.4;
        config.bound_ns = 100_000;
    });
    scenario.steps = 3;
    let records = checked(scenario.run());
    for (record, action) in records.iter().zip([UpdateAction::Skip, UpdateAction::Skip, UpdateAction::Halt]) {
        assert!(record.ranks.iter().all(|one| one.report.action == action), "step {}", record.op);
    }
}

#[test]
fn hadamard_comes_on_at_the_step_after_a_loss_above_two_percent() {
    let run = |loss| {
        // Enough packets to rule out chance.
        let mut scenario = Scenario::new(Functional, 4, 100_000).with(|config| {
            config.impairments = Impairments { seed: 3, loss, ..Impairments::default() };
            (config.bound_ns, config.hadamard) = (500_000, HadamardMode::Auto);
        });
        scenario.steps = 3;
        checked(scenario.run()).iter().map(|record| record.hadamard).collect::<Vec<_>>()
    };
    assert_eq!(run(0.0), [false, false, false]);
    assert_eq!(run(0.1), [false, true, true]);
}

#[test]
fn nan_infinity_and_subnormals_pass_through_as_ieee_says() {
    let scenario = Scenario::new(Functional, 4, 64);
    let mut gradients = scenario.gradients(0);
    (gradients[0][0], gradients[1][1], gradients[2][2]) = (f32::NAN, f32::INFINITY, f32::INFINITY);
    gradients[3][2] = f32::NEG_INFINITY;
    (0..4).for_each(|rank| gradients[rank][3] = f32::from_bits(3));
    (0..4).for_each(|rank| gradients[rank][4] = -0.0);
    let record = checked(scenario.run_with(&[gradients])).remove(0);
    for one in &record.ranks {
        assert_eq!(one.output[0].to_bits(), 0x7fc0_0000);
        assert_eq!(one.output[1], f32::INFINITY);
        assert!(one.output[2].is_nan());
        assert_eq!(one.output[3].to_bits(), 3);
        assert_eq!(one.output[4].to_bits(), 0x8000_0000);
        assert!(one.output[5..].iter().all(|x| x.is_finite()));
    }
}

/// Special values: NaNs of both signs and kinds with payloads, cancelling infinities, zeros,
/// subnormals, and large numbers whose sums overflow.
fn adversarial(rank: usize, elements: usize) -> Vec<f32> {
    const BITS: [u32; 20] = [
        0x7fc0_0000,
        0xffc0_0000,
        0x7f80_0001,
        0xff80_0001,
        0x7fff_ffff,
        0xffff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x807f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x3f80_0000,
        0xbf80_8000,
    ];
    // Every pair of values meets in some element.
    let value = |at: usize| match (at / 400 + rank) % 3 {
        0 => BITS[at % 20],
        1 => BITS[at / 20 % 20],
        _ => BITS[8 + (at * 7 + rank) % 12],
    };
    (0..elements).map(|at| f32::from_bits(value(at))).collect()
}

#[test]
fn ranks_with_and_without_cards_hold_the_same_bits_of_any_values() {
    for (software_ranks, hadamard, bf16) in [vec![0], vec![1, 2], vec![0, 1, 2]]
        .iter()
        .flat_map(|ranks| [(ranks, false, false), (ranks, false, true), (ranks, true, false), (ranks, true, true)])
    {
        let scenario = Scenario::new(Functional, 3, 5000)
            .hadamard(hadamard)
            .with(|config| (config.software_ranks, config.bf16) = (software_ranks.clone(), bf16));
        // Specials everywhere, then small and large numbers between specials.
        let everywhere: Vec<_> = (0..3).map(|rank| adversarial(rank, 5000)).collect();
        let finite = |value: f32| if value.is_finite() { value } else { f32::from_bits(value.to_bits() >> 9) };
        let numbers: Vec<Vec<f32>> =
            everywhere.iter().map(|values| values.iter().copied().map(finite).collect()).collect();
        for gradients in [everywhere, numbers] {
            let record = checked(scenario.run_with(&[gradients])).remove(0);
            let bits = |one: &RankRecord| one.output.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            for (rank, one) in record.ranks.iter().enumerate() {
                let differs = bits(one).iter().zip(bits(&record.ranks[0])).position(|(a, b)| *a != b);
                let values = differs.map(|at| (at, one.output[at].to_bits(), record.ranks[0].output[at].to_bits()));
                assert_eq!(values, None, "rank {rank} and rank 0 in {scenario:x?}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let scenario = Scenario::new(Functional, 5, 5000)
            .with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 300_000))
            .hadamard(true);
        let record = checked(scenario.run()).remove(0);
        (
            record.virtual_ns,
            record.fates,
            record.ranks.into_iter().map(|one| (one.output, one.trace)).collect::<Vec<_>>(),
        )
    };
    assert!(run(7) == run(7));
    assert!(run(7) != run(8));
}
