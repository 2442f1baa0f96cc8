//! Whole collectives on cycle-level cards, with driver, host library and network.
//!
//! Goal: properties of the functional card, tested over thousands of seeds, hold for the hardware
//! description. Method: the checks of `optireduce_sim::check::scenario`. Outputs equal the oracle's
//! for the recorded order of arrival. Reported bytes were accepted, and accepted bytes were
//! delivered and accepted once. No stage exceeds its bound. Most tests run on the card's Verilog,
//! which is faster and the same cycle by cycle (`verilator.rs`).

use optireduce_core::protocol::{ClosedBy, UpdateAction};
use optireduce_sim::Impairments;
use optireduce_sim::card::engine::Engine::{self, Functional, Rtl, Verilator};
use optireduce_sim::check::oracle;
use optireduce_sim::check::scenario::{Scenario, check_losses_are_reported};
use optireduce_sim::cluster::Straggler;

fn checked<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|what| panic!("{what}"))
}

/// Without loss: complete, equal bits on all ranks, and only a rounding error.
fn check_exact(scenario: &Scenario, nmse_max: f64) {
    for (step, record) in checked(scenario.run()).iter().enumerate() {
        let mean = oracle::exact_mean(&scenario.gradients(step));
        let bits = |rank: usize| record.ranks[rank].output.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for (rank, one) in record.ranks.iter().enumerate() {
            assert_eq!(one.report.closed_by, [ClosedBy::Complete; 2], "rank {rank} of {scenario:?}");
            assert_eq!((one.report.lost_bytes, one.report.action), (0, UpdateAction::Apply));
            assert_eq!(bits(rank), bits(0), "rank {rank} of {scenario:?}");
            let nmse = oracle::nmse(&one.output, &mean);
            assert!(nmse < nmse_max, "rank {rank}: NMSE {nmse:e} in {scenario:?}");
        }
    }
}

fn check_lengths(engine: Engine, ranks: usize) {
    for elements in [1, 15, 16, 17, 255, 4096, 9610] {
        check_exact(&Scenario::new(engine, ranks, elements).hadamard(false), 1e-12);
        check_exact(&Scenario::new(engine, ranks, elements).hadamard(true), 1e-10);
    }
}

#[test]
fn two_ranks_get_the_mean() {
    check_lengths(Rtl, 2);
}

#[test]
fn three_ranks_get_the_mean() {
    check_lengths(Verilator, 3);
}

#[test]
fn four_ranks_get_the_mean() {
    check_lengths(Verilator, 4);
}

#[test]
fn five_ranks_get_the_mean() {
    check_lengths(Verilator, 5);
}

#[test]
fn eight_ranks_get_the_mean() {
    check_lengths(Verilator, 8);
}

#[test]
fn a_hundred_thousand_elements_flow_through_more_windows_than_slots_in_flight() {
    check_exact(&Scenario::new(Verilator, 4, 100_000).hadamard(false), 1e-12);
    check_exact(&Scenario::new(Verilator, 4, 100_000).hadamard(true), 1e-10);
}

#[test]
fn ten_collectives_in_a_row_reuse_the_same_cards() {
    let mut scenario = Scenario::new(Verilator, 4, 1000);
    scenario.steps = 10;
    check_exact(&scenario.clone().hadamard(false), 1e-12);
    check_exact(&scenario.hadamard(true), 1e-10);
}

/// Always in slot 0: its 8-bit epoch wraps, and no old data is used.
#[test]
fn hundreds_of_collectives_wrap_the_epoch_of_a_slot() {
    let mut scenario = Scenario::new(Verilator, 2, 40).hadamard(false);
    scenario.config.impairments.delay_us_median = 1.0;
    scenario.steps = 260;
    check_exact(&scenario, 1e-12);
}

#[test]
fn packets_of_one_beat_and_of_jumbo_frames_give_the_same_result() {
    for payload_beats in [1, 139] {
        check_exact(&Scenario::new(Rtl, 3, 4096).with(|config| config.payload_beats = payload_beats), 1e-12);
    }
}

fn impaired(seed: u64) -> Impairments {
    Impairments { seed, loss: 0.1, duplicate: 0.05, hold: 0.05, tail_ratio: 3.0, ..Impairments::default() }
}

#[test]
fn under_every_impairment_nothing_is_added_twice_and_only_what_was_lost_is_missing() {
    for seed in 0..4 {
        for hadamard in [false, true] {
            // One seed runs on the rust-hdl engine, with and without the transform.
            let engine = if seed == 0 { Rtl } else { Verilator };
            let scenario = Scenario::new(engine, 2 + seed as usize % 4, 9610)
                .with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 400_000))
                .hadamard(hadamard);
            for record in checked(scenario.run()) {
                checked(check_losses_are_reported(&record).map_err(|what| format!("{what}\n  in {scenario:?}")));
            }
        }
    }
}

/// Between cards, and between cards and a rank without a card.
#[test]
fn a_flipped_bit_never_reaches_a_mean() {
    for (seed, software_ranks, hadamard) in [(1, vec![], false), (2, vec![], true), (3, vec![1], false)] {
        let impairments = Impairments { seed, corrupt: 0.2, ..Impairments::default() };
        let scenario = Scenario::new(Rtl, 3, 9610).hadamard(hadamard).with(|config| {
            (config.impairments, config.bound_ns) = (impairments, 400_000);
            config.software_ranks = software_ranks;
        });
        for record in checked(scenario.run()) {
            let corrupted: u32 = record.fates.iter().map(|fate| u32::from(fate.corrupted)).sum();
            let lost: u64 = record.ranks.iter().map(|one| one.report.lost_bytes).sum();
            assert!(corrupted > 5 && lost > 0, "{corrupted} packets corrupted, {lost} bytes dropped");
        }
    }
}

#[test]
fn short_bounds_cut_stages_off_and_the_checks_still_hold() {
    for seed in 0..4 {
        let mut scenario = Scenario::new(Verilator, 4, 9610)
            .with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 14_000))
            .hadamard(seed % 2 == 1);
        scenario.steps = 2;
        let records = checked(scenario.run());
        let by_deadline = |by: &ClosedBy| *by == ClosedBy::Deadline;
        assert!(records.iter().flat_map(|r| &r.ranks).flat_map(|one| &one.report.closed_by).any(by_deadline));
    }
}

#[test]
fn the_error_under_loss_is_the_predicted_one() {
    let (mut found, mut predicted) = (0.0, 0.0);
    for seed in 0..6 {
        let scenario = Scenario::new(Verilator, 4, 9610).hadamard(true).with(|config| {
            config.impairments = Impairments { seed, loss: 0.1, ..Impairments::default() };
            config.bound_ns = 200_000;
        });
        let gradients = scenario.gradients(0);
        let mean = oracle::exact_mean(&gradients);
        for record in checked(scenario.run()) {
            found += record.ranks.iter().map(|one| oracle::nmse(&one.output, &mean)).sum::<f64>() / 4.0;
            predicted += oracle::predicted_nmse(&record.plans, &gradients, 0.1);
        }
    }
    // 6 seeds of 168 packets at 10 %: about 100 losses, a standard deviation of 10 %; three of them
    // allowed.
    let ratio: f64 = found / predicted;
    assert!((ratio - 1.0).abs() < 0.3, "NMSE {found} of the predicted {predicted}");
}

#[test]
fn a_straggler_costs_its_peers_at_most_the_bounds_and_is_named() {
    let bound_ns = 100_000;
    let scenario = Scenario::new(Rtl, 4, 9610).hadamard(true).with(|config| {
        config.bound_ns = bound_ns;
        config.stragglers = vec![Straggler { rank: 2, delay_ns: 1_000_000 }];
    });
    let record = checked(scenario.run()).remove(0);
    for (rank, one) in record.ranks.iter().enumerate().filter(|(rank, _)| *rank != 2) {
        assert_eq!(one.report.late_peers, [2], "rank {rank}");
        assert!(one.done_ns <= 2 * bound_ns + 50_000, "rank {rank} was done after {} ns", one.done_ns);
        // The straggler's card sums, scales and sends its shard although its host sleeps.
        assert_eq!(one.report.received_fraction[1], 1.0, "rank {rank}");
        assert_eq!(one.report.action, UpdateAction::Apply);
    }
    assert!(!record.ranks[2].report.local_contribution);
}

#[test]
fn the_functional_card_decides_as_the_hardware_does() {
    for seed in 0..3 {
        let outcome = |engine| {
            let scenario = Scenario::new(engine, 4, 9610).hadamard(true).with(|config| {
                config.impairments = Impairments { seed, loss: 0.05, ..Impairments::default() };
                config.bound_ns = 300_000;
            });
            let record = checked(scenario.run()).remove(0);
            record
                .ranks
                .into_iter()
                .map(|one| (one.report.closed_by, one.report.lost_bytes, one.report.late_peers, one.report.action))
                .collect::<Vec<_>>()
        };
        assert_eq!(outcome(Verilator), outcome(Functional), "seed {seed}");
    }
}
