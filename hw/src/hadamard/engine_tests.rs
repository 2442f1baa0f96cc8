use super::testing::{EAGER, KINDS, Kind, Manners, Play, Random, play, play_all};
use super::{Hadamard, latency_cycles};
use crate::cosim::Bench;
use crate::hdl::prelude::*;

fn run(bench: &mut Bench<Hadamard>, seed: u64, sizes: &[u32], manners: Manners, loss: u32) {
    let mut random = Random::new(seed);
    for log2n in sizes {
        for decode in [false, true] {
            let mut kinds = KINDS;
            kinds.rotate_left(random.below(10) as usize);
            let blocks = [10, 10, 4, 3][*log2n as usize / 2 - 4];
            let window = Play::random(&mut random, *log2n, decode, &kinds[..blocks], loss);
            play(bench, &window, manners, &mut random);
        }
    }
}

#[test]
fn engine_agrees_with_model_at_full_speed() {
    run(&mut Bench::new(Hadamard::default()), 10, &[8, 12, 10, 8, 10, 12, 8], EAGER, 0);
}

#[test]
fn engine_agrees_with_model_with_bubbles_and_losses() {
    let manners = Manners { offer: 60, go: 100 };
    run(&mut Bench::new(Hadamard::default()), 11, &[10, 8, 12, 8, 8, 10], manners, 10);
}

#[test]
fn engine_agrees_with_model_under_back_pressure() {
    let manners = Manners { offer: 100, go: 2 };
    run(&mut Bench::new(Hadamard::default()), 12, &[8, 10, 8, 12, 8], manners, 5);
}

#[test]
fn engine_agrees_with_model_with_bubbles_and_back_pressure() {
    let manners = Manners { offer: 50, go: 3 };
    run(&mut Bench::new(Hadamard::default()), 13, &[8, 10, 12, 8, 8, 10, 8], manners, 50);
}

#[test]
fn largest_and_smallest_engine_agree_with_model() {
    let manners = Manners { offer: 90, go: 20 };
    run(&mut Bench::new(Hadamard::new(14)), 18, &[14, 8, 12, 14, 10], EAGER, 1);
    run(&mut Bench::new(Hadamard::new(14)), 19, &[14, 10], manners, 5);
    run(&mut Bench::new(Hadamard::new(8)), 18, &[8; 5], EAGER, 0);
    run(&mut Bench::new(Hadamard::new(8)), 19, &[8; 5], manners, 5);
    run(&mut Bench::new(Hadamard::new(10)), 19, &[8, 10, 8], manners, 5);
}

#[test]
fn engine_agrees_with_model_on_every_kind_of_largest_block() {
    let mut random = Random::new(14);
    let mut bench = Bench::new(Hadamard::default());
    for kinds in KINDS.chunks(5) {
        let window = Play::random(&mut random, 12, kinds.len() % 2 == 0, kinds, 1);
        play(&mut bench, &window, EAGER, &mut random);
    }
}

#[test]
fn decoding_what_was_encoded_returns_it() {
    let mut random = Random::new(15);
    let mut bench = Bench::new(Hadamard::default());
    let encode = Play::random(&mut random, 10, false, &[Kind::Gaussian; 3], 0);
    play(&mut bench, &encode, EAGER, &mut random);
    let encoded = encode.expected().chunks(64).map(|b| b.iter().flat_map(|(beat, _)| beat.0).collect()).collect();
    let decode = Play { log2n: 10, decode: true, key: encode.key, blocks: encoded, received: encode.received.clone() };
    play(&mut bench, &decode, EAGER, &mut random);
    let decoded = decode.expected();
    let (mut error, mut energy) = (0.0, 0.0);
    for (i, bits) in encode.blocks.iter().flatten().enumerate() {
        let (x, y) = (f32::from_bits(*bits) as f64, f32::from_bits(decoded[i / 16].0.0[i % 16]) as f64);
        error += (x - y).powi(2);
        energy += x * x;
    }
    assert!(error / energy < 1e-12, "NMSE {:e}", error / energy);
}

#[test]
fn latency_is_as_published_and_blocks_follow_without_gap() {
    let mut random = Random::new(16);
    for log2n_max in [8, 10, 12, 14] {
        let mut bench = Bench::new(Hadamard::new(log2n_max));
        for log2n in (8..=log2n_max).step_by(2) {
            let blocks = if log2n == 14 { 3 } else { 6 };
            let window = Play::random(&mut random, log2n, log2n == log2n_max, &[Kind::Gaussian; 6][..blocks], 0);
            let report = play(&mut bench, &window, EAGER, &mut random);
            let block = (1 << log2n) / 16;
            assert_eq!(report.answered[0] - report.accepted[block - 1], latency_cycles(log2n), "log2n {log2n}");
            for cycles in [&report.accepted, &report.answered] {
                assert_eq!(cycles.len(), blocks * block);
                assert!(cycles.windows(2).all(|pair| pair[1] == pair[0] + 1), "a gap, log2n {log2n}");
            }
        }
    }
    assert_eq!([8, 10, 12, 14].map(latency_cycles), [36, 86, 280, 1050]);
}

#[test]
fn windows_follow_after_six_cycles() {
    let mut random = Random::new(24);
    let mut bench = Bench::new(Hadamard::default());
    for (log2n, decode) in [(8, true), (10, false), (12, true), (12, false)] {
        let windows: Vec<_> =
            (0..4).map(|_| Play::random(&mut random, log2n, decode, &[Kind::Gaussian; 4], 1)).collect();
        let report = play_all(&mut bench, &windows, EAGER, &mut random);
        let window = 4 << (log2n - 4);
        for cycles in [&report.accepted, &report.answered] {
            let gaps = cycles.windows(2).enumerate().filter(|(_, pair)| pair[1] != pair[0] + 1);
            let gaps: Vec<_> = gaps.map(|(at, pair)| (at + 1, pair[1] - pair[0])).collect();
            assert_eq!(gaps, [(window, 6), (2 * window, 6), (3 * window, 6)], "log2n {log2n}");
        }
    }
}

/// Plays short windows, most of them of the previous one's kind.
fn follow(bench: &mut Bench<Hadamard>, seed: u64, sizes: &[u32], windows: usize) {
    let mut random = Random::new(seed);
    for manners in [EAGER, Manners { offer: 60, go: 100 }, Manners { offer: 100, go: 5 }, Manners { offer: 80, go: 3 }]
    {
        let (mut log2n, mut decode) = (8, false);
        let mut any = |random: &mut Random| {
            if random.percent(25) {
                log2n = sizes[random.below(sizes.len() as u32) as usize];
                decode = random.percent(50);
            }
            let kinds: Vec<_> = (0..1 + random.below(4)).map(|_| KINDS[random.below(10) as usize]).collect();
            Play::random(random, log2n, decode, &kinds, 5)
        };
        let windows: Vec<_> = (0..windows).map(|_| any(&mut random)).collect();
        play_all(bench, &windows, manners, &mut random);
    }
}

#[test]
fn windows_follow_each_other_at_every_pace() {
    follow(&mut Bench::new(Hadamard::default()), 25, &[8, 8, 10, 12], 40);
    follow(&mut Bench::new(Hadamard::new(14)), 26, &[8, 10, 14], 6);
}

#[test]
fn verilog_of_windows_in_each_other_agrees() {
    let mut bench = Bench::recording(Hadamard::new(10));
    follow(&mut bench, 27, &[8, 8, 10], 12);
    bench.verify_with_verilator("hadamard-windows");
}

#[test]
fn windows_follow_an_abandoned_one_when_it_is_out() {
    let mut random = Random::new(28);
    let mut bench = Bench::new(Hadamard::default());
    // Beats, in blocks of 16, after which the window is abandoned.
    for beats in [16, 24, 32, 47, 160] {
        bench.block.start.next = true;
        bench.block.log2n.next = bits_w(8);
        bench.block.decode.next = true;
        bench.tick();
        bench.block.start.next = false;
        bench.block.in_valid.next = true;
        bench.block.go.next = true;
        (0..beats).for_each(|_| bench.tick());
        bench.block.in_valid.next = false;
        bench.block.clear.next = true;
        bench.tick();
        bench.block.clear.next = false;
        let mut waited = 0;
        bench.settle();
        while !bench.block.idle.val() {
            assert!(!bench.block.start_ready.val(), "{waited} cycles after `clear` at {beats} beats");
            bench.tick();
            bench.settle();
            waited += 1;
        }
        assert!(waited > 30 && bench.block.start_ready.val(), "idle after {waited} cycles");
        let windows = [(); 3].map(|_| Play::random(&mut random, 8, true, &[Kind::Gaussian; 3], 5));
        play_all(&mut bench, &windows, EAGER, &mut random);
    }
}

#[test]
fn unknown_size_accepts_nothing_until_the_next_start() {
    for log2n_max in [8, 10, 12, 14] {
        refuses_all_sizes_but(log2n_max);
    }
}

fn refuses_all_sizes_but(log2n_max: u64) {
    let mut random = Random::new(17);
    let mut bench = Bench::new(Hadamard::new(log2n_max as u32));
    bench.settle();
    assert!(!bench.block.in_ready.val(), "before the first start");
    for log2n in (0..16).filter(|size| *size < 8 || size % 2 == 1 || *size > log2n_max) {
        bench.block.start.next = true;
        bench.block.log2n.next = bits_w(log2n);
        bench.tick();
        bench.block.start.next = false;
        bench.block.in_valid.next = true;
        for _ in 0..40 {
            bench.settle();
            assert!(!bench.block.in_ready.val() && bench.block.idle.val(), "log2n {log2n}");
            bench.tick();
        }
        bench.block.in_valid.next = false;
        let window = Play::random(&mut random, 8, false, &[Kind::Gaussian], 0);
        play(&mut bench, &window, EAGER, &mut random);
    }
}

#[test]
fn verilog_agrees_at_full_speed() {
    let mut bench = Bench::recording(Hadamard::default());
    run(&mut bench, 20, &[8, 12, 10, 8], EAGER, 0);
    bench.verify_with_verilator("hadamard");
}

#[test]
fn verilog_agrees_with_bubbles_back_pressure_and_losses() {
    let mut bench = Bench::recording(Hadamard::default());
    run(&mut bench, 21, &[8, 10, 8, 12, 8], Manners { offer: 60, go: 5 }, 10);
    bench.verify_with_verilator("hadamard");
}

#[test]
fn verilog_of_largest_and_smallest_engine_agrees() {
    let manners = Manners { offer: 90, go: 20 };
    let mut bench = Bench::recording(Hadamard::new(14));
    run(&mut bench, 22, &[14, 8, 14], manners, 5);
    bench.verify_with_verilator("hadamard14");
    let mut bench = Bench::recording(Hadamard::new(8));
    run(&mut bench, 23, &[8; 6], manners, 5);
    bench.verify_with_verilator("hadamard8");
}

/// Run as `cargo test --release -p optireduce-hw speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a check"]
fn simulation_speed() {
    let mut random = Random::new(30);
    let mut bench = Bench::new(Hadamard::default());
    bench.block.start.next = true;
    bench.block.log2n.next = bits_w(12);
    bench.tick();
    bench.block.start.next = false;
    bench.block.in_valid.next = true;
    bench.block.in_received.next = true;
    bench.block.go.next = true;
    let beats: Vec<Beat> =
        (0..256).map(|_| Beat(std::array::from_fn(|place| Kind::Gaussian.value(&mut random, place)))).collect();
    let cycles = 20_000;
    let begin = std::time::Instant::now();
    for i in 0..cycles {
        bench.block.in_data.next = beats[i % beats.len()];
        bench.tick();
    }
    println!("{:.0} cycles/s", cycles as f64 / begin.elapsed().as_secs_f64());
}
