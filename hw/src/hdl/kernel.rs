//! Parses the string that `#[hdl_gen]` writes for a kernel into rust-hdl's syntax tree.
//!
//! rust-hdl's own attribute generates code that builds this tree: a large part of a card's machine
//! code, which simulations never run. A test compares the resulting Verilog with the committed
//! `rtl/` byte by byte.
//!
//! Grammar, in prefix notation with words separated by spaces. `w` is a number, or `@i` for entry
//! `i` of the list of values beside the string:
//!
//! ```text
//! block      { statement* }
//! statement  = signal expression                   assignment
//!            | field= w w signal expression        of a field: width, offset
//!            | if expression block (end | else block | else if ...)
//!            | match expression { (pattern block)* }
//!            | for name w w block
//!            | macro block                         written by one macro
//! expression 'name | number | numberu64 | true | false
//!            | + - * && || ^ & | << >> == != < <= >= >   expression expression
//!            | paren | not | neg | any | all             expression
//!            | cast w expression
//!            | slice w expression offset
//!            | field w w expression                width, offset
//!            | bit expression index
//!            | replace expression index expression
//! ```
//! Limits: the subset of the kernel language that the card uses. `#[hdl_gen]` rejects the rest at
//! compile time.

use rust_hdl_core::ast::{
    Verilog, VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogLiteral, VerilogLoop, VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement,
};
use std::iter::Peekable;
use std::str::SplitAsciiWhitespace;

/// # Panics
/// If `kernel` was not written by `#[hdl_gen]`.
pub fn verilog(kernel: &str, values: &[usize]) -> Verilog {
    let mut reader = Reader { words: kernel.split_ascii_whitespace().peekable(), values };
    Verilog::Combinatorial(reader.block())
}

struct Reader<'a> {
    words: Peekable<SplitAsciiWhitespace<'a>>,
    values: &'a [usize],
}

impl<'a> Reader<'a> {
    fn word(&mut self) -> &'a str {
        self.words.next().expect("unexpected end of the kernel")
    }

    fn expect(&mut self, expected: &str) {
        let found = self.word();
        assert_eq!(found, expected, "a word of the kernel");
    }

    fn read(&mut self, word: &str) -> bool {
        self.words.next_if_eq(&word).is_some()
    }

    fn number(&mut self) -> usize {
        let word = self.word();
        let number = word
            .strip_prefix('@')
            .map_or_else(|| word.parse().ok(), |index| index.parse().ok().map(|index: usize| self.values[index]));
        number.unwrap_or_else(|| panic!("{word}: expected a number in the kernel"))
    }

    fn block(&mut self) -> VerilogBlock {
        self.expect("{");
        let mut block = Vec::new();
        while !self.read("}") {
            block.push(self.statement());
        }
        block
    }

    fn statement(&mut self) -> VerilogStatement {
        match self.word() {
            "=" => VerilogStatement::Assignment(self.expression(), self.expression()),
            "field=" => {
                let (width, offset) = (self.number(), self.number());
                VerilogStatement::SliceAssignment {
                    width,
                    offset: VerilogExpression::Literal(offset.into()),
                    base: self.expression(),
                    replacement: self.expression(),
                }
            }
            "if" => self.conditional(),
            "match" => {
                let test = self.expression();
                let mut cases = Vec::new();
                self.expect("{");
                while !self.read("}") {
                    cases.push(VerilogCase { condition: self.word().to_owned(), block: self.block() });
                }
                VerilogStatement::Match(VerilogMatch { test, cases })
            }
            "for" => VerilogStatement::Loop(VerilogLoop {
                index: self.word().to_owned(),
                from: self.number().into(),
                to: self.number().into(),
                block: self.block(),
            }),
            "macro" => VerilogStatement::Macro(self.block()),
            word => panic!("{word}: expected a statement in the kernel"),
        }
    }

    fn conditional(&mut self) -> VerilogStatement {
        let (test, then) = (self.expression(), self.block());
        let otherwise = match self.word() {
            "end" => VerilogBlockOrConditional::None,
            _ if self.read("if") => VerilogBlockOrConditional::Conditional(Box::new(self.conditional())),
            _ => VerilogBlockOrConditional::Block(self.block()),
        };
        VerilogStatement::If(VerilogConditional { test, then, otherwise })
    }

    fn boxed(&mut self) -> Box<VerilogExpression> {
        Box::new(self.expression())
    }

    fn expression(&mut self) -> VerilogExpression {
        use VerilogExpression::{Binary, Cast, Index, IndexReplace, Literal, Paren, Signal, Slice, Unary};
        let word = self.word();
        if let Some(operator) = binary(word) {
            return Binary(self.boxed(), operator, self.boxed());
        }
        match word {
            "paren" => Paren(self.boxed()),
            "not" => Unary(VerilogOpUnary::Not, self.boxed()),
            "neg" => Unary(VerilogOpUnary::Neg, self.boxed()),
            "any" => Unary(VerilogOpUnary::Any, self.boxed()),
            "all" => Unary(VerilogOpUnary::All, self.boxed()),
            "bit" => Index(self.boxed(), self.boxed()),
            "replace" => IndexReplace(self.boxed(), self.boxed(), self.boxed()),
            "cast" => {
                let width = self.number();
                Cast(self.boxed(), width)
            }
            "slice" => {
                let width = self.number();
                Slice(self.boxed(), width, self.boxed())
            }
            "field" => {
                let (width, offset) = (self.number(), self.number());
                Slice(self.boxed(), width, Box::new(Literal(offset.into())))
            }
            _ => word.strip_prefix('\'').map_or_else(|| Literal(literal(word)), |name| Signal(name.to_owned())),
        }
    }
}

/// Parses a number with the width of its Rust type, which rust-hdl prints.
fn literal(word: &str) -> VerilogLiteral {
    let number = match (word, word.strip_suffix("u64")) {
        ("true" | "false", _) => Some(VerilogLiteral::from(word == "true")),
        (_, Some(digits)) => digits.parse::<u64>().ok().map(VerilogLiteral::from),
        _ => word.parse::<i32>().ok().map(VerilogLiteral::from),
    };
    number.unwrap_or_else(|| panic!("{word}: expected an expression in the kernel"))
}

fn binary(word: &str) -> Option<VerilogOp> {
    Some(match word {
        "+" => VerilogOp::Add,
        "-" => VerilogOp::Sub,
        "*" => VerilogOp::Mul,
        "&&" => VerilogOp::LogicalAnd,
        "||" => VerilogOp::LogicalOr,
        "^" => VerilogOp::BitXor,
        "&" => VerilogOp::BitAnd,
        "|" => VerilogOp::BitOr,
        "<<" => VerilogOp::Shl,
        ">>" => VerilogOp::Shr,
        "==" => VerilogOp::Eq,
        "!=" => VerilogOp::Ne,
        "<" => VerilogOp::Lt,
        "<=" => VerilogOp::Le,
        ">=" => VerilogOp::Ge,
        ">" => VerilogOp::Gt,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::hdl::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, LogicState)]
    enum State {
        Idle,
        Busy,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
    struct Pair {
        low: W<4>,
        high: W<12>,
    }

    /// Defines a block that uses every construct, once per attribute.
    macro_rules! every_construct {
        ($block:ident, $hdl_gen:path) => {
            #[derive(LogicBlock, Default)]
            struct $block<const N: usize> {
                clock: Signal<In, Clock>,
                a: Signal<In, W<N>>,
                flags: Signal<In, W<8>>,
                y: Signal<Out, W<N>>,
                wide: Signal<Out, Beat>,
                bit: [Signal<Out, bool>; 3],
                found: Signal<Out, bool>,
                low: Signal<Out, W<4>>,
                sum: Wire<W<8>>,
                state: DFF<State>,
                pair: DFF<Pair>,
            }

            impl<const N: usize> Logic for $block<N> {
                #[$hdl_gen]
                fn update(&mut self) {
                    clock!(self, clock, pair);
                    dff_setup!(self, clock, state);
                    self.pair.d.next = self.pair.q.val();
                    self.sum.next = self.flags.val() + bits_w::<8>(3);
                    self.y.next = bit_cast_w::<N, 8>(self.sum.val()) ^ bits_w::<N>(0x1_2345_6789u64);
                    self.wide.next = bits_beat(7);
                    self.low.next = self.pair.q.val().low;
                    self.found.next =
                        !(self.a.val() >= self.y.val()) && (self.flags.val().any() || self.flags.val().all());
                    for i in 0..3 {
                        self.bit[i].next = self.flags.val().get_bit(i);
                    }
                    match self.state.q.val() {
                        State::Idle => {
                            self.pair.d.next.high = self.flags.val().get_bits::<4>(2).into();
                        }
                        State::Busy => self.state.d.next = State::Idle,
                    }
                    if self.flags.val() == 4 {
                        self.sum.next = self.sum.val().replace_bit(1, true);
                    } else if self.flags.val() << 1 != self.sum.val() - 1 {
                        self.state.d.next = State::Busy;
                    } else {
                        self.state.d.next = State::Idle;
                    }
                }
            }
        };
    }

    impl From<W<4>> for W<12> {
        fn from(word: W<4>) -> Self {
            bits_w(word.raw())
        }
    }
    every_construct!(Original, rust_hdl_core::prelude::hdl_gen);
    every_construct!(Ours, optireduce_hw_derive::hdl_gen);

    fn emitted<B: Block + Default>() -> String {
        let mut block = B::default();
        block.connect_all();
        check_all(&block).expect("all is driven");
        generate_verilog_unchecked(&block)
    }

    #[test]
    fn a_kernel_kept_as_data_prints_what_rust_hdl_prints() {
        let verilog = emitted::<Ours<48>>();
        assert_eq!(verilog, emitted::<Original<48>>());
        for part in [
            "case (state$q)",
            "bit$2 =",
            "else if",
            "64'h123456789",
            "512'h",
            "pair$d[(64'h4)+:(12)]",
            "|flags || &flags",
        ] {
            assert!(verilog.contains(part), "the block shows no {part}: {verilog}");
        }
    }
}
