//! The lint, compared with co-simulation. Expressions in this file are flagged if and only if they
//! differ between engine and emitted Verilog, or are not valid Verilog.
//!
//! A comment `lint: ` with the class precedes each line that must be flagged.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use optireduce_hdl::checks::lint::{self, Report};
use optireduce_hw::cosim::Bench;
use optireduce_hw::hdl::engine::Clocked;
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::random::Random;

/// Every output differs at a = 200, b = 100, zero = 0, one = 1, ones = 255.
#[derive(LogicBlock, Default)]
struct Treacherous {
    clock: Signal<In, Clock>,
    a: Signal<In, W<8>>,
    b: Signal<In, W<8>>,
    zero: Signal<In, W<8>>,
    one: Signal<In, W<8>>,
    ones: Signal<In, W<8>>,
    cast_of_sum: Signal<Out, W<9>>,
    cast_of_products: Signal<Out, W<32>>,
    compare_sum: Signal<Out, bool>,
    compare_difference: Signal<Out, bool>,
    compare_shift: Signal<Out, bool>,
    compare_not: Signal<Out, bool>,
    compare_not_inside: Signal<Out, bool>,
    cast_of_not: Signal<Out, W<16>>,
    precedence: Signal<Out, bool>,
    range: [Signal<Out, bool>; 3],
    cast_of_shift: Signal<Out, W<16>>,
    shift_of_difference: Signal<Out, W<8>>,
    shift_by_sum: Signal<Out, W<8>>,
    any_of_sum: Signal<Out, bool>,
}

#[sections]
impl Logic for Treacherous {
    // rust-hdl's own attribute, because ours refuses the inclusive range.
    #[rust_hdl_core::prelude::hdl_gen]
    fn update(&mut self) {
        self.numbers();
        self.bits();
    }

    /// Casts and comparisons of sums, differences and complements.
    fn numbers(&mut self) {
        // lint: cast-of-sum
        self.cast_of_sum.next = bit_cast_w::<9, 8>(self.a.val() + self.b.val());
        // lint: cast-of-sum
        self.cast_of_products.next = bit_cast_w::<32, 16>(self.a.val() * self.a.val() + self.a.val() * self.ones.val());
        // lint: compare-sum
        self.compare_sum.next = self.b.val() > self.ones.val() + 1;
        // lint: compare-sum
        self.compare_difference.next = (self.zero.val() - 1) > self.ones.val();
        // lint: compare-sum
        self.compare_shift.next = self.a.val() << 1 == bits_w::<8>(144);
        // lint: compare-not
        self.compare_not.next = !self.ones.val() == 0;
        // lint: compare-not
        self.compare_not_inside.next = (self.a.val() | !self.a.val()) != 255;
        // lint: cast-of-not
        self.cast_of_not.next = bit_cast_w::<16, 8>(!self.a.val());
    }

    /// Single bits and shifts.
    fn bits(&mut self) {
        // lint: bit-op-precedence
        self.precedence.next = self.one.val() & self.b.val() == self.b.val();
        for i in 0..3 {
            self.range[i].next = false;
        }
        // lint: inclusive-range
        for i in 0..=2 {
            self.range[i].next = true;
        }
        // lint: slice-or-shift-of-expression
        self.cast_of_shift.next = bit_cast_w::<16, 8>(self.a.val() << 4);
        // lint: slice-or-shift-of-expression
        self.shift_of_difference.next = (self.zero.val() - 1) >> 1;
        // lint: slice-or-shift-of-expression
        self.shift_by_sum.next = self.a.val() >> (self.ones.val() + 1);
        // lint: slice-or-shift-of-expression
        self.any_of_sum.next = (self.ones.val() + 1).any();
    }
}

/// Expressions that the lint accepts, with the same result in both.
#[derive(LogicBlock, Default)]
struct Harmless {
    clock: Signal<In, Clock>,
    a: Signal<In, W<8>>,
    b: Signal<In, W<8>>,
    flag: Signal<In, bool>,
    sum: Signal<Local, W<8>>,
    complement: Signal<Local, W<8>>,
    narrow_sum: Signal<Out, W<16>>,
    wide_sum: Signal<Out, W<9>>,
    shifted_sum: Signal<Out, W<8>>,
    complemented: Signal<Out, W<16>>,
    compared: [Signal<Out, bool>; 6],
    anded: Signal<Out, W<8>>,
    ranged: [Signal<Out, bool>; 3],
    shifted: Signal<Out, W<16>>,
    shifted_up: Signal<Out, W<8>>,
    sliced: Signal<Out, W<4>>,
    reduced: [Signal<Out, bool>; 3],
}

impl Logic for Harmless {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = self.a.val() + self.b.val() - 1;
        self.complement.next = !self.a.val();
        self.narrow_sum.next = bit_cast_w::<16, 8>(self.sum.val()) << 2;
        self.wide_sum.next = bit_cast_w::<9, 8>(self.a.val()) + bit_cast_w::<9, 8>(self.b.val());
        self.shifted_sum.next = (self.a.val() + self.b.val()) << self.b.val();
        self.complemented.next = bit_cast_w::<16, 8>(self.complement.val());
        self.compared[0].next = self.sum.val() > self.complement.val();
        self.compared[1].next = (self.a.val() & self.b.val()) == self.b.val();
        self.compared[2].next = !(self.flag.val() && self.a.val() == self.b.val());
        self.compared[3].next = !self.a.val().any() || self.a.val() >> 2 == self.b.val();
        self.compared[4].next = self.a.val().get_bits::<4>(2) == 3 && self.a.val() != 255;
        self.compared[5].next = bit_cast_w::<4, 8>(self.sum.val()) <= self.a.val().get_bits::<4>(0);
        self.anded.next = !self.a.val() & self.b.val() | self.a.val() ^ 0x55;
        for i in 0..3 {
            self.ranged[i].next = self.a.val().get_bit(i + 2);
        }
        self.shifted.next = bit_cast_w::<16, 8>(self.a.val() >> 3);
        self.shifted_up.next = self.a.val() << 3;
        self.sliced.next = self.sum.val().get_bits::<4>(3);
        self.reduced[0].next = (self.a.val() & self.b.val()).any();
        self.reduced[1].next = (self.a.val() | self.b.val()).all();
        self.reduced[2].next = self.sum.val().any();
    }
}

/// A slice of an expression, which rust-hdl prints as invalid Verilog.
#[derive(LogicBlock, Default)]
struct Broken {
    clock: Signal<In, Clock>,
    a: Signal<In, W<8>>,
    slice: Signal<Out, W<4>>,
}

impl Logic for Broken {
    #[hdl_gen]
    fn update(&mut self) {
        // lint: slice-or-shift-of-expression
        self.slice.next = (self.a.val() | 1).get_bits::<4>(2);
    }
}

clocked!(Treacherous, Harmless, Broken);

/// Not a kernel, so the lint ignores it.
fn model(a: W<8>, b: W<8>) -> W<9> {
    bit_cast_w::<9, 8>(a + b)
}

fn differences<B: Clocked>(mut bench: Bench<B>, name: &str) -> Option<String> {
    let verified = catch_unwind(AssertUnwindSafe(|| bench.verify_with_verilator(name)));
    verified.err().map(|panic| *panic.downcast::<String>().expect("a message"))
}

#[test]
fn what_is_flagged_differs_between_engine_and_verilog() {
    let mut bench = Bench::recording(Treacherous::default());
    (bench.block.a.next, bench.block.b.next) = (bits_w(200), bits_w(100));
    (bench.block.one.next, bench.block.ones.next) = (bits_w(1), bits_w(255));
    bench.tick();
    assert_eq!(model(bench.block.a.val(), bench.block.b.val()), bench.block.cast_of_sum.val());
    let text = differences(bench, "lint_treacherous").expect("a difference");
    let found: HashSet<&str> = text.lines().skip(1).filter_map(|line| line.split(':').next()).map(str::trim).collect();
    let ports = "cast_of_sum cast_of_products compare_sum compare_difference compare_shift compare_not \
                 compare_not_inside cast_of_not precedence range$2 cast_of_shift shift_of_difference shift_by_sum any_of_sum";
    assert_eq!(found, ports.split_whitespace().collect(), "{text}");

    let mut bench = Bench::recording(Broken::default());
    bench.tick();
    let text = differences(bench, "lint_broken").expect("an error");
    assert!(text.contains("Verilator refuses") && text.contains("syntax error"), "{text}");
}

#[test]
fn what_is_not_flagged_is_the_same_in_engine_and_verilog() {
    let mut bench = Bench::recording(Harmless::default());
    let mut random = Random::new(3);
    for cycle in 0..2000 {
        let edge = [0, 1, 3, 12, 200, 254, 255].get(cycle).copied();
        bench.block.a.next = bits_w(edge.unwrap_or_else(|| random.next()));
        bench.block.b.next = bits_w(random.next() >> random.below(64));
        bench.block.flag.next = random.one_in(2);
        bench.tick();
    }
    bench.verify_with_verilator("lint_harmless");
}

#[test]
fn every_marked_line_is_found_in_its_class_and_no_other() {
    let file = Path::new(file!()).file_name().expect("a file").as_ref();
    let text = include_str!("lint.rs");
    let mut report = Report::default();
    lint::source(file, text, &mut report).expect("Rust");
    let marks = text.lines().zip(2..).filter_map(|(line, next)| Some((next, line.trim().strip_prefix("// lint: ")?)));
    let marked: Vec<(usize, &str)> = marks.collect();
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.line, finding.class.name())).collect();
    assert_eq!(found, marked, "{report}");
    let classes: HashSet<_> = report.findings.iter().map(|finding| finding.class).collect();
    assert_eq!((report.files, report.kernels, classes.len()), (1, 3, 7));
    let first = report.findings[0].to_string();
    let expected = "cast-of-sum: `bit_cast_w::<9, 8>(self.a.val() + self.b.val())`: cast the operands, then add;";
    assert!(first.starts_with(&format!("lint.rs:{}:33: {expected}", marked[0].0)), "{first}");
}

/// The longest function allowed, and one line more, as a kernel, a section and a plain function.
#[test]
fn a_function_of_a_kernel_that_is_too_long_is_found() {
    let kernel =
        |lines: usize| format!("    #[hdl_gen]\n    fn update(&mut self) {{\n{}    }}\n", "\n".repeat(lines - 2));
    let section = |lines: usize| format!("    fn rings(&mut self) {{\n{}    }}\n", "\n".repeat(lines - 2));
    let whole = |kernel, section| format!("#[sections]\nimpl Logic for Block {{\n{kernel}{section}}}\n");
    let found = |text: &str| {
        let mut report = Report::default();
        lint::source(Path::new("x.rs"), text, &mut report).expect("Rust");
        report.findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(found(&whole(kernel(150), section(150))), none);
    assert_eq!(found(&format!("impl Model {{\n{}}}\n", section(151))), none, "a plain function");
    let instead = "more than 150 lines: split it into several functions with #[sections]";
    let long_kernel = format!("x.rs:4:5: long-function: `fn update(&mut self)`: {instead}");
    assert_eq!(found(&format!("impl Logic for Block {{\n\n{}}}\n", kernel(151))), [long_kernel]);
    let long_section = format!("x.rs:154:5: long-function: `fn rings(&mut self)`: {instead}");
    assert_eq!(found(&whole(kernel(150), section(151))), [long_section]);
}

#[test]
fn the_sources_of_the_card_are_clean() {
    let report = lint::paths(&[]).expect("the sources");
    assert!(report.findings.is_empty(), "{report}");
    assert!(report.kernels > 30 && report.files > 50, "{report}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let no_rust = lint::source(Path::new("x.rs"), "fn f( {", &mut Report::default()).unwrap_err();
    assert!(no_rust.starts_with("x.rs:1:") && no_rust.contains("not Rust"), "{no_rust}");
    let missing = lint::paths(&["no/such/place".into()]).unwrap_err();
    assert!(missing.starts_with("no/such/place: "), "{missing}");
}
