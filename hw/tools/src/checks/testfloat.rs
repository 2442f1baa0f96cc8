//! The arithmetic blocks against files of test vectors, on any engine: what `optireduce-hdl check` does.
//!
//! A file has one vector per line, in hexadecimal: the operands, the expected result, and the exception flags, which the card
//! does not have. It may be gzipped. Berkeley TestFloat writes such files.
//! Vectors go into the block one per cycle; each result is read exactly the block's latency later.

use std::fs;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use flate2::read::MultiGzDecoder;
use serde::Serialize;

use optireduce_hw::arith::fp_add::{self, FpAdd};
use optireduce_hw::arith::fp_add_model::{INFINITY, fp_add};
use optireduce_hw::arith::fp_mul::{self, FpMul};
use optireduce_hw::arith::fp_mul_model::fp_mul;
use optireduce_hw::arith::fp_to_int::{self, FpToInt};
use optireduce_hw::arith::fp_to_int_model::fp_to_int;
use optireduce_hw::arith::int_to_fp::{self, IntToFp};
use optireduce_hw::arith::int_to_fp_model::int_to_fp;
use optireduce_hw::cosim::{Bench, Compiled};
use optireduce_hw::hdl::engine::Clocked;
use optireduce_hw::hdl::prelude::*;

/// What runs a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The Rust description in the rust-hdl engine.
    Rtl,
    /// The emitted Verilog, compiled by Verilator (which must be installed).
    Verilator,
    /// The block's model in plain Rust.
    Model,
}

/// Operands of a block; one that takes a single operand ignores the second.
pub type Operands = [u32; 2];

/// A block that can be checked.
pub struct Checkable {
    /// Name on the command line.
    pub name: &'static str,
    /// The names of its operands.
    pub operands: &'static [&'static str],
    format: Format,
    run: fn(Engine, &[Operands]) -> Result<Vec<u32>, String>,
}

/// What a result is.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    /// A float: all NaNs are equal.
    Fp32,
    /// An integer.
    Int32,
}

/// One entry of [`BLOCKS`]: name, type, operands, result, format of the result, latency, model.
macro_rules! checkable {
    ($name:literal, $block:ty { $($operand:ident),+ } => $result:ident: $format:expr, $latency:expr, $model:expr) => {
        Checkable {
            name: $name,
            operands: &[$(stringify!($operand)),+],
            format: $format,
            run: |engine, all| {
                let drive = |block: &mut $block, [$($operand),+, ..]: Operands| {
                    $(block.$operand.next = bits_w($operand.into());)+
                };
                let bench = match engine {
                    Engine::Rtl => Bench::new(<$block>::default()),
                    Engine::Verilator => {
                        Bench::verilated(&Compiled::new($name, <$block>::default())?, <$block>::default())?
                    }
                    Engine::Model => return Ok(all.iter().map(|&[$($operand),+, ..]| $model).collect()),
                };
                Ok(stream(bench, $latency, all, drive, |block| block.$result.val()))
            },
        }
    };
}

/// Every block that can be checked.
pub const BLOCKS: &[Checkable] = &[
    checkable!("fp32_add", FpAdd { a, b } => sum: Format::Fp32, fp_add::LATENCY, fp_add(a, b)),
    checkable!("fp32_mul", FpMul { a, b } => product: Format::Fp32, fp_mul::LATENCY, fp_mul(a, b)),
    checkable!("fp32_to_int32", FpToInt { a } => result: Format::Int32, fp_to_int::LATENCY, fp_to_int(a) as u32),
    checkable!("int32_to_fp32", IntToFp { a } => result: Format::Fp32, int_to_fp::LATENCY, int_to_fp(a as i32)),
];

/// Feeds operands one a cycle and reads each result `latency` cycles later.
fn stream<B: Clocked>(
    mut bench: Bench<B>,
    latency: usize,
    all: &[Operands],
    drive: fn(&mut B, Operands),
    read: fn(&B) -> W<32>,
) -> Vec<u32> {
    let mut results = Vec::with_capacity(all.len());
    for cycle in 1..all.len() + latency {
        drive(&mut bench.block, all.get(cycle - 1).copied().unwrap_or_default());
        bench.tick();
        if cycle >= latency {
            results.push(read(&bench.block).raw() as u32);
        }
    }
    results
}

/// One line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its number, from 1.
    pub line: usize,
    /// What goes in.
    pub operands: Operands,
    /// What must come out.
    pub expected: u32,
}

/// The outcome for a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The block.
    pub block: &'static str,
    /// What ran it.
    pub engine: Engine,
    /// Vectors tried.
    pub vectors: usize,
    /// Vectors whose result is the expected one.
    pub agree: usize,
    /// The first whose result is not.
    pub first_difference: Option<Difference>,
}

/// A result that is not the expected one; numbers in hexadecimal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Line of the file, from 1.
    pub line: usize,
    /// What went in.
    pub operands: Vec<String>,
    /// What came out.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl Checkable {
    /// The block of a name.
    ///
    /// # Errors
    /// With all names, when there is none.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        BLOCKS.iter().find(|block| block.name == name).ok_or_else(|| {
            let names: Vec<_> = BLOCKS.iter().map(|block| block.name).collect();
            format!("{name}: no such block, expected one of {}", names.join(", "))
        })
    }

    /// The results for `operands`, in order.
    ///
    /// # Errors
    /// When Verilator is wanted and missing.
    pub fn run(&self, engine: Engine, operands: &[Operands]) -> Result<Vec<u32>, String> {
        (self.run)(engine, operands)
    }

    /// Reads the vectors of a file.
    ///
    /// # Errors
    /// With file, line, found and expected, when it cannot be read, a line is no vector, or there is none.
    pub fn read(&self, path: &Path) -> Result<Vec<Vector>, String> {
        let mut bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let compressed = std::mem::take(&mut bytes);
            let decompressed = MultiGzDecoder::new(compressed.as_slice()).read_to_end(&mut bytes);
            decompressed.map_err(|error| format!("{}: cannot decompress: {error}", path.display()))?;
        }
        let lines = bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        let vectors: Result<Vec<_>, _> = lines.map(|(at, line)| self.parse(at + 1, line)).collect();
        match vectors {
            Ok(vectors) if vectors.is_empty() => {
                Err(format!("{}: no vectors, expected {}", path.display(), self.line_format()))
            }
            vectors => vectors.map_err(|problem| format!("{}: {problem}", path.display())),
        }
    }

    fn parse(&self, line: usize, text: &[u8]) -> Result<Vector, String> {
        let text = String::from_utf8_lossy(text);
        let words: Result<Vec<u32>, _> = text.split_whitespace().map(|word| u32::from_str_radix(word, 16)).collect();
        match (self.operands.len(), words.as_deref()) {
            (1, Ok(&[a, expected, _flags])) => Ok(Vector { line, operands: [a, 0], expected }),
            (2, Ok(&[a, b, expected, _flags])) => Ok(Vector { line, operands: [a, b], expected }),
            _ => {
                let found: String = text.trim().chars().take(60).collect();
                Err(format!("line {line} is {found:?}, expected {}", self.line_format()))
            }
        }
    }

    fn line_format(&self) -> String {
        format!("words of up to 8 hexadecimal digits: {} expected flags", self.operands.join(" "))
    }

    /// Runs all vectors and counts those that agree.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn check(&self, engine: Engine, vectors: &[Vector]) -> Result<Outcome, String> {
        let operands: Vec<Operands> = vectors.iter().map(|vector| vector.operands).collect();
        let found = self.run(engine, &operands)?;
        let is_nan = |x: u32| self.format == Format::Fp32 && x & 0x7fff_ffff > INFINITY;
        let agrees = |found: u32, expected: u32| found == expected || is_nan(found) && is_nan(expected);
        let differing = vectors.iter().zip(found).filter(|(vector, found)| !agrees(*found, vector.expected));
        let hex = |x: u32| format!("{x:08x}");
        let mut differing = differing.map(|(vector, found)| Difference {
            line: vector.line,
            operands: vector.operands[..self.operands.len()].iter().copied().map(hex).collect(),
            found: hex(found),
            expected: hex(vector.expected),
        });
        let first_difference = differing.next();
        let differ = first_difference.iter().count() + differing.count();
        let (block, vectors) = (self.name, vectors.len());
        Ok(Outcome { block, engine, vectors, agree: vectors - differ, first_difference })
    }
}
