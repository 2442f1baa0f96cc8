//! The whole card as emitted Verilog equals the card in the rust-hdl engine cycle by cycle.

use std::io::Write;
use std::sync::{Arc, Mutex};

use optireduce_core::protocol::HadamardMode;
use optireduce_sim::Engine;
use optireduce_sim::Impairments;
use optireduce_sim::check::card_bench::CardBench;
use optireduce_sim::check::card_rules::{CARD_RULES, PACKET_RULES, check};
use optireduce_sim::check::scenario::Scenario;
use optireduce_sim::cluster::{Cluster, ClusterConfig, Early};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Observations of a job (results, reports, times, accepted beats, fates, counters), the ports of
/// all cards in every cycle, and the number of cycles.
fn watch(engine: Engine, hadamard: HadamardMode) -> (Vec<String>, Vec<u8>, u64) {
    let mut config = ClusterConfig::new(engine, 3);
    config.impairments = Impairments { seed: 5, loss: 0.05, duplicate: 0.1, hold: 0.1, ..Impairments::default() };
    (config.hadamard, config.bound_ns, config.early) = (hadamard, 60_000, Early::Grace(5_000));
    let scenario = Scenario { config: config.clone(), elements: 3000, steps: 2 };
    let mut cluster = Cluster::new(config).unwrap();
    let waves = Shared::default();
    cluster.record_vcd(Box::new(waves.clone())).unwrap();
    let (mut seen, mut cycles) = (Vec::new(), 0);
    for step in 0..scenario.steps {
        let record = cluster.step(&scenario.gradients(step), |_| ()).unwrap();
        cycles += record.cycles;
        let bits = |output: &[f32]| output.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        seen.extend(record.ranks.iter().map(|rank| format!("output {:x?}", bits(&rank.output))));
        seen.push(format!("{record:?}"));
    }
    seen.push(format!("{:?}", cluster.counters().unwrap()));
    drop(cluster);
    let waves = waves.0.lock().unwrap().clone();
    (seen, waves, cycles)
}

#[test]
fn a_job_on_the_emitted_cards_is_the_job_on_the_engines_cards() {
    for hadamard in [HadamardMode::Off, HadamardMode::On] {
        let (rtl, rtl_waves, cycles) = watch(Engine::Rtl, hadamard);
        let (verilator, verilator_waves, _) = watch(Engine::Verilator, hadamard);
        for (rtl, verilator) in rtl.iter().zip(&verilator) {
            assert_eq!(rtl, verilator, "{hadamard:?}");
        }
        assert!(cycles > 5000 && rtl_waves.len() > 100_000, "{cycles} cycles, {} bytes of waves", rtl_waves.len());
        assert!(rtl_waves == verilator_waves, "{hadamard:?}: the waveforms of the ports differ");
    }
}

/// Compares every frame of a contribution, byte for byte, with its time.
#[test]
fn an_emitted_card_sends_the_engines_frames() {
    let sent = |engine| {
        let mut bench = CardBench::new(engine, 3).unwrap();
        bench.submit(&[bench.arm(300)]).unwrap();
        bench.submit(&[bench.contribute(300)]).unwrap();
        bench.run_us(200);
        (std::mem::take(&mut bench.sent), bench.completions().unwrap())
    };
    let (frames, completions) = sent(Engine::Rtl);
    assert!(frames.len() > 50 && !completions.is_empty(), "{} frames, {completions:?}", frames.len());
    assert_eq!(sent(Engine::Verilator), (frames, completions));
}

#[test]
fn an_emitted_card_obeys_every_rule() {
    check(Engine::Verilator, &[PACKET_RULES, CARD_RULES]).unwrap_or_else(|broken| panic!("{broken}"));
}
