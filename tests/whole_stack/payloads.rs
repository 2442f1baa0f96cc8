//! bf16, several peers at a time, and pacing, on functional cards and on Verilog.
//!
//! Goal: each option changes the packets as intended, and the result only by rounding. Method: the
//! checks of the scenarios, which repeat the arithmetic, and the network's record of packets.

use optireduce_core::protocol::{ClosedBy, UpdateAction};
use optireduce_sim::Engine;
use optireduce_sim::check::oracle;
use optireduce_sim::check::scenario::{Scenario, check_losses_are_reported};
use optireduce_sim::cluster::StepRecord;
use optireduce_sim::network::{Fate, Impairments};
use optireduce_sim::wire::{PS_PER_BYTE, wire_ps};

macro_rules! on_both_cards {
    ($($(#[$doc:meta])* $name:ident = $body:expr;)*) => {
        mod functional {
            $($(#[$doc])* #[test] fn $name() { let body: fn(super::Engine) = $body; body(super::Engine::Functional) })*
        }
        mod verilog {
            $($(#[$doc])* #[test] fn $name() { let body: fn(super::Engine) = $body; body(super::Engine::Verilator) })*
        }
    };
}

on_both_cards! {
    bf16_gives_all_ranks_the_same_bits_and_the_error_of_rounding = super::bf16_error;
    bf16_cuts_windows_of_any_length = super::bf16_lengths;
    bf16_halves_the_bytes = super::bf16_bytes;
    bf16_under_every_impairment_loses_what_the_network_lost = super::bf16_impaired;
    bf16_keeps_what_is_no_number = super::bf16_specials;
    a_round_goes_to_as_many_peers_as_the_incast_packet_by_packet = super::incast_rounds;
    incast_under_every_impairment_loses_what_the_network_lost = super::incast_impaired;
    a_rate_stretches_the_stages_and_changes_nothing_else = super::rate;
}

fn checked<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|what| panic!("{what}"))
}

/// Runs a scenario without loss: complete, with equal bits on all ranks.
fn complete(scenario: &Scenario) -> Vec<StepRecord> {
    let records = checked(scenario.run());
    for one in records.iter().flat_map(|record| &record.ranks) {
        assert_eq!(one.report.closed_by, [ClosedBy::Complete; 2], "{scenario:?}");
        assert_eq!((one.report.lost_bytes, one.report.action), (0, UpdateAction::Apply));
    }
    for record in &records {
        let bits = |rank: usize| record.ranks[rank].output.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!((1..record.ranks.len()).all(|rank| bits(rank) == bits(0)), "ranks differ in {scenario:?}");
    }
    records
}

fn bf16_error(engine: Engine) {
    for hadamard in [false, true] {
        let scenario = Scenario::new(engine, 4, 16_384).hadamard(hadamard).bf16();
        let gradients = scenario.gradients(0);
        let record = complete(&scenario).remove(0);
        let predicted = oracle::predicted_bf16_nmse(&record.plans, &gradients);
        let found = oracle::nmse(&record.ranks[0].output, &oracle::exact_mean(&gradients));
        // 16384 elements with five roundings each: three standard deviations are about 2 %.
        assert!((found / predicted - 1.0).abs() < 0.05, "NMSE {found:e}, predicted {predicted:e}, Hadamard {hadamard}");
    }
}

fn bf16_lengths(engine: Engine) {
    // Shards of 0 to 3 beats, odd ones of many packets, several windows; 139 beats of payload make
    // one packet.
    for (ranks, elements) in
        [(2, 1), (3, 17), (4, 100), (5, 16 * 7), (2, 16 * 46), (3, 16 * 139), (8, 9610), (4, 20_000)]
    {
        for hadamard in [false, true] {
            complete(&Scenario::new(engine, ranks, elements).hadamard(hadamard).bf16());
        }
    }
    for payload_beats in [1, 139] {
        complete(&Scenario::new(engine, 3, 4096).bf16().with(|config| config.payload_beats = payload_beats));
    }
}

fn bf16_bytes(engine: Engine) {
    let scenario = Scenario::new(engine, 4, 16_384);
    let bytes = |scenario: &Scenario| {
        let record = complete(scenario).remove(0);
        record.fates.iter().map(|fate| u64::from(fate.payload_bytes)).sum::<u64>()
    };
    // Each of 4 ranks sends three quarters of 64 KiB in each of two stages.
    assert_eq!(bytes(&scenario), 4 * 2 * 3 * 16_384);
    assert_eq!(bytes(&scenario.bf16()), 4 * 3 * 16_384);
}

fn impaired(seed: u64) -> Impairments {
    Impairments { seed, loss: 0.1, duplicate: 0.05, hold: 0.05, tail_ratio: 3.0, ..Impairments::default() }
}

fn bf16_impaired(engine: Engine) {
    for seed in 0..4 {
        let scenario = Scenario::new(engine, 2 + seed as usize % 4, 9610)
            .with(|config| (config.impairments, config.bound_ns) = (impaired(seed), 400_000))
            .hadamard(seed % 2 == 1)
            .bf16();
        for record in checked(scenario.run()) {
            checked(check_losses_are_reported(&record).map_err(|what| format!("{what}\n  in {scenario:?}")));
        }
    }
}

fn bf16_specials(engine: Engine) {
    let scenario = Scenario::new(engine, 2, 64).bf16();
    let mut gradients = scenario.gradients(0);
    (gradients[0][0], gradients[1][1]) = (f32::NAN, f32::INFINITY);
    // Above the largest bf16; a sum above the largest fp32; half the smallest bf16, and slightly
    // more.
    (gradients[0][2], gradients[1][2]) = (f32::MAX, 0.0);
    (0..2).for_each(|rank| gradients[rank][3] = f32::from_bits(0x7f7f_0000));
    (0..2).for_each(|rank| gradients[rank][4] = f32::from_bits(0x8000));
    (0..2).for_each(|rank| gradients[rank][5] = f32::from_bits(0x8001));
    (0..2).for_each(|rank| gradients[rank][6] = -0.0);
    for one in checked(scenario.run_with(&[gradients])).remove(0).ranks {
        let bits = |at: usize| one.output[at].to_bits();
        assert!(one.output[0].is_nan() && one.output[7..].iter().all(|x| x.is_finite()));
        let infinity = f32::INFINITY.to_bits();
        assert_eq!([1, 2, 3, 4, 5, 6].map(bits), [infinity, infinity, infinity, 0, 0x1_0000, 0x8000_0000]);
    }
}

/// Destinations of a rank's packets in a stage, in order.
fn destinations(fates: &[Fate], src: u8, stage: u8) -> Vec<u8> {
    fates.iter().map(|fate| fate.packet).filter(|p| (p.src, p.stage) == (src, stage)).map(|p| p.dst).collect()
}

fn incast_rounds(engine: Engine) {
    let ranks = 8;
    for (incast, rounds) in [(1, 7), (2, 4), (4, 2), (15, 1)] {
        // Shards of 64 beats: three packets.
        let scenario = Scenario::new(engine, ranks, 8 * 64 * 16).with(|config| config.incast = incast);
        let record = complete(&scenario).remove(0);
        for src in 0..ranks as u8 {
            let peers: Vec<u8> = (1..ranks as u8).map(|k| (src + k) % ranks as u8).collect();
            let of_rounds: Vec<_> = peers.chunks(incast).collect();
            assert_eq!(of_rounds.len(), rounds);
            let expected: Vec<u8> = of_rounds.iter().flat_map(|peers| peers.repeat(3)).collect();
            for stage in [0, 2] {
                let found = destinations(&record.fates, src, stage);
                assert_eq!(found, expected, "rank {src}, stage {stage}, incast {incast}");
            }
        }
    }
    // Shards of unequal lengths, several windows, encoded, and as bf16: the scenario's own checks
    // suffice.
    for incast in [2, 3] {
        let scenario = Scenario::new(engine, 5, 40_000).with(|config| config.incast = incast);
        complete(&scenario.clone().hadamard(true));
        complete(&scenario.bf16());
    }
}

fn incast_impaired(engine: Engine) {
    for seed in 0..4 {
        let scenario = Scenario::new(engine, 5, 9610).hadamard(true).with(|config| {
            (config.impairments, config.bound_ns) = (impaired(seed), 400_000);
            config.incast = 2 + seed as usize % 3;
        });
        for record in checked(scenario.run()) {
            checked(check_losses_are_reported(&record).map_err(|what| format!("{what}\n  in {scenario:?}")));
        }
    }
}

fn rate(engine: Engine) {
    // 3 peers, a shard of 64 beats each: packets of 22, 22 and 20 beats. All delays are equal.
    let scenario = Scenario::new(engine, 4, 4 * 64 * 16).with(|config| config.impairments.tail_ratio = 1.0);
    let wire_bytes = [22, 22, 20].map(|beats| wire_ps(64 + 64 * beats) / PS_PER_BYTE);
    let bytes = wire_bytes.iter().sum::<u64>();
    let free = complete(&scenario).remove(0);
    for (incast, rounds, rate) in [(1, 3, 250), (3, 1, 250), (2, 2, 100)] {
        let scenario = scenario.clone().with(|config| (config.incast, config.rate_bytes_per_us) = (incast, rate));
        let paced = complete(&scenario).remove(0);
        // A bucket holds a frame and the tokens of 512 ns. The last packet of each round of both
        // stages waits for the rest. Part of the wire's own time, 1.1 us per stage, may overlap.
        // Quanta are 1 us.
        let rate = u64::from(rate);
        let bucket = wire_bytes[0] + rate * 512 / 1000;
        let least_ns = free.virtual_ns + 2 * rounds * 1000 * (bytes - bucket) / rate - 4000;
        let most_ns = free.virtual_ns + 2 * rounds * 1000 * bytes / rate + 4000;
        let found_ns = paced.virtual_ns;
        assert!((least_ns..most_ns).contains(&found_ns), "{found_ns} ns, expected {least_ns} to {most_ns} at {rate}");
        let sent = |record: &StepRecord| {
            let mut packets: Vec<_> = record.fates.iter().map(|fate| (fate.packet, fate.payload_bytes)).collect();
            packets.sort_unstable();
            packets
        };
        assert_eq!(sent(&paced), sent(&free), "the same packets go out");
    }
}
