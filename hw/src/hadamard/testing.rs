use super::{Hadamard, model};
use crate::cosim::Bench;
use crate::hdl::prelude::*;

pub struct Random(crate::random::Random);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(crate::random::Random::new(seed))
    }

    pub fn next_u32(&mut self) -> u32 {
        self.0.next() as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit as u64) as u32
    }

    pub fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    pub fn gaussian(&mut self) -> f64 {
        let uniform = |random: &mut Self| (random.next_u32() as f64 + 0.5) / 4294967296.0;
        let radius = (-2.0 * uniform(self).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(self)).cos()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Gaussian,
    AllBits,
    Subnormal,
    Huge,
    Tiny,
    Zero,
    Infinity,
    Nan,
    Mixed,
    Largest,
}

pub const KINDS: [Kind; 10] = [
    Kind::Gaussian,
    Kind::AllBits,
    Kind::Subnormal,
    Kind::Huge,
    Kind::Tiny,
    Kind::Zero,
    Kind::Infinity,
    Kind::Nan,
    Kind::Mixed,
    Kind::Largest,
];

impl Kind {
    pub fn value(self, random: &mut Random, place: usize) -> u32 {
        let sign = random.next_u32() & 1 << 31;
        let fraction = random.next_u32() & 0x7f_ffff;
        match self {
            Kind::Gaussian => (random.gaussian() as f32).to_bits(),
            Kind::AllBits => sign | random.below(255) << 23 | fraction,
            Kind::Subnormal => sign | fraction,
            Kind::Huge => sign | (248 + random.below(7)) << 23 | fraction,
            Kind::Tiny => sign | random.below(12) << 23 | fraction,
            Kind::Zero => sign,
            Kind::Infinity if place == 37 => sign | 0x7f80_0000,
            Kind::Nan if place == 201 => sign | 0x7f80_0000 | fraction.max(1),
            Kind::Infinity | Kind::Nan => (random.gaussian() as f32).to_bits(),
            Kind::Mixed => sign | (100 + random.below(60)) << 23 | fraction & random.next_u32(),
            Kind::Largest => sign | 0x7f7f_ffff,
        }
    }
}

pub struct Play {
    pub log2n: u32,
    pub decode: bool,
    pub key: u64,
    pub blocks: Vec<Vec<u32>>,
    pub received: Vec<Vec<bool>>,
}

impl Play {
    /// Creates a window with one block per kind. `loss` is in percent of the beats.
    pub fn random(random: &mut Random, log2n: u32, decode: bool, kinds: &[Kind], loss: u32) -> Self {
        let key = (random.next_u32() as u64) << 32 | random.next_u32() as u64;
        let n = 1usize << log2n;
        let blocks = kinds.iter().map(|kind| (0..n).map(|place| kind.value(random, place)).collect()).collect();
        let received = kinds.iter().map(|_| (0..n / 16).map(|_| !random.percent(loss)).collect()).collect();
        Play { log2n, decode, key, blocks, received }
    }

    pub fn expected(&self) -> Vec<(Beat, u64)> {
        let mut out = Vec::new();
        for (k, (block, received)) in self.blocks.iter().zip(&self.received).enumerate() {
            let beats = received.len();
            let mut x: Vec<f32> = block
                .iter()
                .enumerate()
                .map(|(i, bits)| if received[i / 16] { f32::from_bits(*bits) } else { 0.0 })
                .collect();
            model::transform_block(&mut x, self.log2n, self.decode, self.key, (k * beats) as u32);
            let count = received.iter().filter(|r| **r).count() as u64;
            let beat = |lanes: &[f32]| Beat(std::array::from_fn(|i| lanes[i].to_bits()));
            out.extend(x.chunks_exact(16).map(|lanes| (beat(lanes), count)));
        }
        out
    }
}

/// Percentage of cycles.
#[derive(Clone, Copy)]
pub struct Manners {
    pub offer: u32,
    pub go: u32,
}

pub const EAGER: Manners = Manners { offer: 100, go: 100 };

/// Cycles of a run, counted from the start of the bench.
#[derive(Default)]
pub struct Report {
    pub accepted: Vec<u64>,
    pub answered: Vec<u64>,
}

pub fn play(bench: &mut Bench<Hadamard>, window: &Play, manners: Manners, random: &mut Random) -> Report {
    play_all(bench, std::slice::from_ref(window), manners, random)
}

/// Plays windows, each started as early as possible.
///
/// Checks every output beat, the contiguity of bursts, `burst`, `idle` and `start_ready`.
pub fn play_all(bench: &mut Bench<Hadamard>, windows: &[Play], manners: Manners, random: &mut Random) -> Report {
    // Expected results, each with its place in the block; offered beats; ends of the windows.
    let (mut expected, mut beats, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for window in windows {
        let block_beats = 1usize << (window.log2n - 4);
        expected.extend(window.expected().into_iter().enumerate().map(|(at, answer)| (at % block_beats, answer)));
        beats.extend(window.blocks.iter().zip(&window.received).flat_map(|(block, received)| {
            block.chunks_exact(16).map(|c| Beat(std::array::from_fn(|i| c[i]))).zip(received.iter().copied())
        }));
        ends.push(beats.len());
    }
    let mut report = Report::default();
    let (mut begun, mut committed, mut answered_blocks) = (0, 0, 0);
    let (mut patience, mut went) = (0, false);
    while report.answered.len() < expected.len() {
        let (accepted, answered) = (report.accepted.len(), report.answered.len());
        let fed = begun == 0 || accepted == ends[begun - 1];
        let starts = windows.get(begun).filter(|_| fed);
        let next = beats.get(accepted).filter(|_| !fed && random.percent(manners.offer));
        bench.block.log2n.next = bits_w(starts.map_or(random.next_u32(), |window| window.log2n).into());
        bench.block.decode.next = starts.map_or(random.percent(50), |window| window.decode);
        let garbage = (random.next_u32() as u64) << 32 | random.next_u32() as u64;
        bench.block.key.next = bits_w(starts.map_or(garbage, |window| window.key));
        bench.block.in_valid.next = next.is_some();
        let garbage = Beat(std::array::from_fn(|_| random.next_u32()));
        bench.block.in_data.next = next.filter(|(_, received)| *received).map_or(garbage, |(beat, _)| *beat);
        bench.block.in_received.next = next.is_none_or(|(_, received)| *received);
        bench.block.go.next = random.percent(manners.go);
        bench.settle();
        assert_eq!(bench.block.idle.val(), accepted == answered, "idle with {accepted} beats in, {answered} out");
        let start = starts.is_some() && bench.block.start_ready.val();
        bench.block.start.next = start;
        bench.settle();
        if bench.block.out_valid.val() {
            let (place, (data, received)) = expected[answered];
            assert_eq!(bench.block.out_data.val(), data, "output beat {answered}");
            assert_eq!(bench.block.out_received.val().raw(), received, "received count at output beat {answered}");
            answered_blocks += usize::from(place == 0);
            assert!(answered_blocks <= committed, "output beat {answered} was never committed");
            if place != 0 {
                assert_eq!(report.answered.last(), Some(&(bench.cycles() - 1)), "a bubble before beat {answered}");
            }
            report.answered.push(bench.cycles());
            patience = 0;
        }
        if bench.block.burst.val() {
            assert!(went, "block {committed} committed without `go` in the cycle before");
            committed += 1;
        }
        went = bench.block.go.next;
        if next.is_some() && bench.block.in_ready.val() {
            report.accepted.push(bench.cycles());
            patience = 0;
        }
        if let Some(window) = starts {
            if accepted == answered {
                assert!(start, "an idle engine accepts any window");
            } else if start {
                let before = &windows[begun - 1];
                assert_eq!((window.log2n, window.decode), (before.log2n, before.decode), "a start into another kind");
                assert!(begun < 2 || answered >= ends[begun - 2], "three windows inside");
            }
            begun += usize::from(start);
        }
        bench.tick();
        patience += 1;
        assert!(patience < 20_000, "no progress after {accepted} beats in, {answered} out");
    }
    bench.block.start.next = false;
    bench.block.in_valid.next = false;
    bench.block.go.next = false;
    bench.settle();
    assert!(bench.block.idle.val(), "idle after the last beat");
    assert_eq!(committed, windows.iter().map(|window| window.blocks.len()).sum::<usize>(), "blocks committed");
    report
}
