//! The Verilator half of [`crate::cosim`]: port layout, build, replay.
//!
//! How: a wrapper module puts all inputs into one bus and all outputs into another, every port on a 32-bit boundary,
//! so one fixed C++ driver serves every block and a recorded cycle is a row of words that is copied in and compared.
//! Executables are kept in `<target>/cosim/`, named by a hash of all they are made from. They are built in a directory
//! of their own and renamed into place, so test processes may build the same one at the same time.
//! Registers without an initial value start at random, so that reading one shows as a difference.

use rust_hdl::core::prelude::*;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

const DRIVER: &str = include_str!("replay.cpp");

/// Everything Verilator warns about is an error, except: WIDTH (rust-hdl prints literals and sums without the width
/// of their target; the replay checks the values), DECLFILENAME (one file holds all modules), UNUSED (parts of ports
/// are left unread on purpose) and UNOPTFLAT (one always block a module makes any memory with a combinational read
/// look like a loop; it costs speed only, and rust-hdl refuses true loops).
const FLAGS: &[&str] = &[
    "--cc",
    "--exe",
    "--build",
    "-O3",
    "--x-initial",
    "unique",
    "-Wall",
    "-Wno-WIDTH",
    "-Wno-DECLFILENAME",
    "-Wno-UNUSED",
    "-Wno-UNOPTFLAT",
    "--top-module",
    "cosim",
    "--prefix",
    "Cosim",
    "-o",
    "cosim",
    "-CFLAGS",
    "-O1",
];

/// Where each top-level port lies in a row of the trace: inputs first, then outputs.
pub(crate) struct Layout {
    ports: Vec<Port>,
    input_words: usize,
    row_words: usize,
}

struct Port {
    name: String,
    bits: usize,
    is_output: bool,
    /// First word in the row.
    word: usize,
}

impl Layout {
    pub(crate) fn of(block: &dyn Block) -> Self {
        let mut ports = Vec::new();
        walk(block, &mut |name, atom| {
            let is_output = match atom.kind() {
                AtomKind::InputParameter => false,
                AtomKind::OutputParameter => true,
                kind => panic!("port {name}: {kind:?} cannot be replayed, only inputs and outputs"),
            };
            ports.push(Port { name, bits: atom.bits(), is_output, word: 0 });
        });
        let mut row_words = 0;
        let mut input_words = 0;
        for is_output in [false, true] {
            input_words = row_words;
            for port in ports.iter_mut().filter(|port| port.is_output == is_output) {
                port.word = row_words;
                row_words += port.bits.div_ceil(32);
            }
        }
        Layout { ports, input_words, row_words }
    }

    #[cfg(test)]
    pub(crate) fn input_words(&self) -> usize {
        self.input_words
    }

    #[cfg(test)]
    pub(crate) fn row_words(&self) -> usize {
        self.row_words
    }

    /// Appends the present value of every port to `words`.
    pub(crate) fn sample(&self, block: &dyn Block, words: &mut Vec<u32>) {
        let start = words.len();
        words.resize(start + self.row_words, 0);
        let mut ports = self.ports.iter();
        let mut literal = String::new();
        walk(block, &mut |_, atom| {
            let port = ports.next().expect("a block keeps its ports");
            literal.clear();
            write!(literal, "{:x}", atom.verilog()).expect("a string takes all");
            let digits = literal.split_once("'h").expect("a literal has a base").1;
            for (i, digit) in digits.bytes().rev().enumerate() {
                let value = (digit as char).to_digit(16).expect("a hexadecimal digit");
                words[start + port.word + i / 8] |= value << (i % 8 * 4);
            }
        });
    }

    /// Buses of at least three words, so that Verilator stores both as arrays.
    fn wrapper(&self) -> String {
        let bus_words = |words: usize| words.max(3);
        let output_words = self.row_words - self.input_words;
        let mut pins = String::new();
        let mut padding = String::new();
        let mut pad = |from: usize, to: usize| {
            if from < to {
                padding += &format!("  assign outputs[{}:{from}] = 0;\n", to - 1);
            }
        };
        for port in &self.ports {
            let (bus, bit) = match port.is_output {
                true => ("outputs", 32 * (port.word - self.input_words)),
                false => ("inputs", 32 * port.word),
            };
            pins += &format!(",\n    .{}({bus}[{bit}+:{}])", port.name, port.bits);
            if port.is_output {
                pad(bit + port.bits, bit + port.bits.next_multiple_of(32));
            }
        }
        pad(32 * output_words, 32 * bus_words(output_words));
        format!(
            "\n\nmodule cosim(input wire clock, input wire [{}:0] inputs, output wire [{}:0] outputs);\n{padding}  \
             top dut(\n    .clock(clock){pins}\n  );\nendmodule\n",
            32 * bus_words(self.input_words) - 1,
            32 * bus_words(output_words) - 1,
        )
    }

    fn value(&self, port: &Port, row: &[u32]) -> String {
        let words = &row[port.word..port.word + port.bits.div_ceil(32)];
        let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
        format!("{}'h{}", port.bits, &digits[digits.len() - port.bits.div_ceil(4)..])
    }
}

/// Calls `visit` with every top-level port but the clock, in declaration order.
fn walk(block: &dyn Block, visit: &mut dyn FnMut(String, &dyn Atom)) {
    struct Ports<'a> {
        depth: usize,
        namespace: Vec<String>,
        visit: &'a mut dyn FnMut(String, &dyn Atom),
    }
    impl Probe for Ports<'_> {
        fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
            self.depth += 1;
        }
        fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
            self.depth -= 1;
        }
        fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
            self.namespace.push(name.to_owned());
        }
        fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
            self.namespace.pop();
        }
        fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
            if self.depth == 1 && atom.kind().is_parameter() && !(name == "clock" && self.namespace.is_empty()) {
                let path = self.namespace.iter().map(String::as_str).chain([name]).collect::<Vec<_>>();
                (self.visit)(path.join("$"), atom);
            }
        }
    }
    block.accept("top", &mut Ports { depth: 0, namespace: Vec::new(), visit });
}

/// Replays `words`, rows of `layout`, on `verilog` and compares the outputs. Panics on any difference or failure.
pub(crate) fn verify(name: &str, verilog: &str, layout: &Layout, words: &[u32]) {
    let executable = build(name, &(verilog.to_owned() + &layout.wrapper()));
    let trace = executable.with_extension(format!("{}.trace", unique()));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&trace, bytes).unwrap_or_else(|error| panic!("{}: {error}", trace.display()));
    let sizes = [layout.input_words, layout.row_words].map(|size| size.to_string());
    let output = run(Command::new(&executable).arg(&trace).args(sizes));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().skip(1).map_while(|number| number.parse().ok()).collect();
    let rows = words.len() / layout.row_words;
    match (text.split_whitespace().next(), numbers.as_slice()) {
        (Some("same"), &[cycles]) if cycles == rows as u64 => {
            fs::remove_file(&trace).unwrap_or_else(|error| panic!("{}: {error}", trace.display()));
        }
        (Some("falling"), &[cycle]) => panic!("{name}: cycle {cycle}: outputs change at the falling edge of the clock"),
        (Some("differs"), &[cycle, ref found @ ..]) if found.len() == layout.row_words => {
            let found: Vec<u32> = found.iter().map(|&word| word as u32).collect();
            let expected = &words[cycle as usize * layout.row_words..][..layout.row_words];
            let ports = layout.ports.iter().filter(|port| layout.value(port, &found) != layout.value(port, expected));
            let list: String = ports
                .map(|port| {
                    let (found, expected) = (layout.value(port, &found), layout.value(port, expected));
                    format!("\n  {}: found {found} in Verilog, expected {expected} from Rust", port.name)
                })
                .collect();
            panic!(
                "{name}: cycle {cycle} differs:{list}\nreplay: {} {} {} {}",
                executable.display(),
                trace.display(),
                layout.input_words,
                layout.row_words
            );
        }
        _ => panic!("{name}: the replay failed ({}): {text}{}", output.status, String::from_utf8_lossy(&output.stderr)),
    }
}

/// The executable for `verilog`, built unless it is there already.
fn build(name: &str, verilog: &str) -> PathBuf {
    let version = run(Command::new("verilator").arg("--version")).stdout;
    let mut hasher = DefaultHasher::new();
    (verilog, DRIVER, FLAGS, version).hash(&mut hasher);
    let directory = target_directory().join("cosim");
    let executable = directory.join(format!("{name}-{:016x}", hasher.finish()));
    if executable.exists() {
        return executable;
    }
    let work = directory.join(format!("build-{name}-{}", unique()));
    let write = |file: &str, text: &str| {
        let path = work.join(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    fs::create_dir_all(&work).unwrap_or_else(|error| panic!("{}: {error}", work.display()));
    write("cosim.v", verilog);
    write("replay.cpp", DRIVER);
    let mut command = Command::new("verilator");
    // Make's own variables would tie this build to a make that may be running cargo.
    command.args(FLAGS).args(["cosim.v", "replay.cpp"]).current_dir(&work);
    command.env_remove("MAKEFLAGS").env_remove("MFLAGS").env_remove("MAKELEVEL");
    let output = run(&mut command);
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = text.lines().take(24).collect();
        panic!("{name}: Verilator refuses {}/cosim.v:\n{}", work.display(), first.join("\n"));
    }
    let moved = fs::rename(work.join("obj_dir/cosim"), &executable).and_then(|()| fs::remove_dir_all(&work));
    moved.unwrap_or_else(|error| panic!("{}: {error}", executable.display()));
    executable
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound if command.get_program() == "verilator" => {
            panic!("Verilator is not installed, so the emitted Verilog cannot be checked. Run `tests/run`, which installs it.")
        }
        _ => panic!("{command:?}: {error}"),
    })
}

/// The target directory of the build under test.
pub(crate) fn target_directory() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    workspace.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Tells concurrent builds and traces of all test processes apart.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
