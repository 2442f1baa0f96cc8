//! Runs arithmetic blocks on files of test vectors (`optireduce-hdl check`).
//!
//! A file, plain or gzipped, has one vector of Berkeley TestFloat per line, in hexadecimal:
//! operands, expected result, and exception flags, which the card does not have. Vectors enter the
//! block one per cycle, and each result is read exactly the latency later.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The Rust description in the rust-hdl engine.
    Rtl,
    /// The emitted Verilog in Verilator (which must be installed).
    Verilator,
    /// The block's model in plain Rust.
    Model,
}

pub type Operands = [u32; 2];

pub struct Checkable {
    pub name: &'static str,
    pub operands: &'static [&'static str],
    format: Format,
    run: fn(Engine, &[Operands]) -> Result<Vec<u32>, String>,
}

/// Format of a result. All fp32 NaNs are equal.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Fp32,
    Int32,
}

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

pub const BLOCKS: &[Checkable] = &[
    checkable!("fp32_add", FpAdd { a, b } => sum: Format::Fp32, fp_add::LATENCY, fp_add(a, b)),
    checkable!("fp32_mul", FpMul { a, b } => product: Format::Fp32, fp_mul::LATENCY, fp_mul(a, b)),
    checkable!("fp32_to_int32", FpToInt { a } => result: Format::Int32, fp_to_int::LATENCY, fp_to_int(a) as u32),
    checkable!("int32_to_fp32", IntToFp { a } => result: Format::Fp32, int_to_fp::LATENCY, int_to_fp(a as i32)),
];

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

/// Line of a file, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    pub line: usize,
    pub operands: Operands,
    pub expected: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub block: &'static str,
    pub engine: Engine,
    pub vectors: usize,
    pub agree: usize,
    pub first_difference: Option<Difference>,
}

/// First result that differs, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub line: usize,
    pub operands: Vec<String>,
    pub found: String,
    pub expected: String,
}

impl Checkable {
    pub fn named(name: &str) -> Result<&'static Self, String> {
        BLOCKS.iter().find(|block| block.name == name).ok_or_else(|| {
            let names: Vec<_> = BLOCKS.iter().map(|block| block.name).collect();
            format!("{name}: no such block, expected one of {}", names.join(", "))
        })
    }

    pub fn run(&self, engine: Engine, operands: &[Operands]) -> Result<Vec<u32>, String> {
        (self.run)(engine, operands)
    }

    /// Reads a file of vectors, at least one.
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
