//! Verilator half of [`crate::cosim`]: port layout, build, replay.
//!
//! A wrapper packs all inputs into one bus and all outputs into another, each port on a 32-bit
//! boundary, so that one C++ interface serves every block.
//! Libraries are cached in `<target>/cosim/` under a hash of all their inputs. Each is built once:
//! others that need it wait for its lock. It is built in a separate directory and renamed into
//! place, so an interrupted build leaves no broken library.
//! Registers without an initial value start with random bits, to expose reads of them.

use super::verilated::Model;
use crate::hdl::ports::{Ports, Rows};
use rust_hdl_core::prelude::*;
use std::any::type_name;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

const INTERFACE: &str = include_str!("verilated.cpp");
/// Precompiled for replays: most of the compiler's work on a small model.
const HEADER: &str = "#include \"verilated.h\"\n#include <memory>\n";

/// Every warning is an error, except WIDTH (rust-hdl prints literals and sums without the width of
/// their target, and the replay checks the values) and DECLFILENAME (one file has all modules).
/// Symbols are hidden, because a process loads several libraries that define the same ones.
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
    "--top-module",
    "cosim",
    "--prefix",
    "Cosim",
    "-o",
    "cosim.so",
    "-CFLAGS",
    "-fvisibility=hidden",
    "-LDFLAGS",
    "-shared -Wl,-Bsymbolic,-z,defs",
];

/// Optimisation of a model by the C++ compiler.
#[derive(Clone, Copy, Hash)]
pub(crate) enum Optimise {
    /// For a replay of a trace, which is short.
    Little,
    /// For runs of a card, a quarter faster than make's default, `-Os`.
    Much,
}

impl Optimise {
    fn flag(self) -> &'static str {
        match self {
            Optimise::Little => "OPT_FAST=-O1",
            Optimise::Much => "OPT_FAST=-O2",
        }
    }
}

/// Places of top-level ports in a row of the trace, inputs first.
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

    /// # Panics
    /// If `Ports` of the block exchanges other ports than this layout has.
    pub(crate) fn check_exchange<B: Ports>(&self, block: &mut B) {
        let (mut inputs, outputs) = (vec![0; self.input_words], vec![0; self.row_words - self.input_words]);
        for mut rows in [Rows::Inputs(&mut inputs), Rows::Outputs(&outputs)] {
            block.exchange(&mut rows);
            let (Rows::Inputs(&mut []) | Rows::Outputs([])) = rows else {
                panic!(
                    "{}: derive(Ports) misses a port; write its type as Signal<In, _> or Signal<Out, _>",
                    type_name::<B>()
                )
            };
        }
    }

    #[cfg(test)]
    pub(crate) fn input_words(&self) -> usize {
        self.input_words
    }

    #[cfg(test)]
    pub(crate) fn row_words(&self) -> usize {
        self.row_words
    }

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

    /// Buses have at least 96 bits, because Verilator stores narrower ones as scalars.
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
             wire unused = &inputs;\n  top dut(\n    .clock(clock){pins}\n  );\nendmodule\n",
            32 * bus_words(self.input_words) - 1,
            32 * bus_words(output_words) - 1,
        )
    }

    fn differences(&self, found: &[u32], expected: &[u32]) -> String {
        let of = |port: &Port, row: &[u32]| {
            let words = &row[port.word - self.input_words..][..port.bits.div_ceil(32)];
            let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
            format!("{}'h{}", port.bits, &digits[digits.len() - port.bits.div_ceil(4)..])
        };
        let outputs = self.ports.iter().filter(|port| port.is_output);
        let values = outputs.map(|port| (&port.name, of(port, found), of(port, expected)));
        values
            .filter(|(_, found, expected)| found != expected)
            .map(|(name, found, expected)| {
                format!("\n  {name}: found {found} in Verilog, expected {expected} from Rust")
            })
            .collect()
    }
}

/// Calls `visit` with every top-level port except the clock, in declaration order.
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

pub(crate) struct Compiled(PathBuf);

impl Compiled {
    pub(crate) fn open(&self) -> Result<Model, String> {
        Model::load(&self.0).map_err(|error| format!("{}: {error}; delete it, it will be rebuilt", self.0.display()))
    }
}

/// Replays `words`, rows of `layout`, on `verilog`.
///
/// # Errors
/// Like [`compile`], and on a difference with cycle, port, found and expected.
pub(crate) fn verify(name: &str, verilog: &str, layout: &Layout, words: &[u32], pace: usize) -> Result<(), String> {
    let mut model = compile(name, verilog, layout, Optimise::Little)?.open()?;
    let outputs = layout.row_words - layout.input_words;
    for (cycle, row) in words.chunks_exact(layout.row_words).enumerate() {
        let (inputs, expected) = row.split_at(layout.input_words);
        model.inputs()[..inputs.len()].copy_from_slice(inputs);
        for _ in 1..pace {
            model.eval(false);
            model.eval(true);
        }
        model.eval(false);
        let found = &model.outputs()[..outputs];
        if found != expected {
            return Err(format!("{name}: cycle {cycle} differs:{}", layout.differences(found, expected)));
        }
        model.eval(true);
        let risen = model.outputs()[..outputs].to_vec();
        model.eval(false);
        if model.outputs()[..outputs] != risen {
            return Err(format!("{name}: cycle {cycle}: outputs change at the falling edge of the clock"));
        }
    }
    Ok(())
}

/// Compiles a block, or returns the cached library.
///
/// # Errors
/// If Verilator is missing or rejects the Verilog.
pub(crate) fn compile(name: &str, verilog: &str, layout: &Layout, optimise: Optimise) -> Result<Compiled, String> {
    let verilog = verilog.to_owned() + &layout.wrapper();
    let version = run(Command::new("verilator").arg("--version"))?.stdout;
    let mut hasher = DefaultHasher::new();
    (&verilog, INTERFACE, FLAGS, optimise, compiler(), &version).hash(&mut hasher);
    let directory = target_directory().join("cosim");
    let library = directory.join(format!("{name}-{:016x}.so", hasher.finish()));
    let _lock = lock(&library)?;
    if library.exists() {
        return Ok(Compiled(library));
    }
    // A closed standard error must not stop the build.
    let seconds = "seconds, the whole card half a minute";
    let _ = writeln!(std::io::stderr(), "building the Verilator model of {name} ({seconds}): {}", library.display());
    let runtime = runtime(&version)?;
    // Only files of the same optimisation can use the precompiled header.
    let header = if let Optimise::Little = optimise { &runtime.include } else { "" };
    // Keep make from compiling the runtime: the linker uses the shared objects.
    let make = format!("VM_GLOBAL_FAST= VM_GLOBAL_SLOW= '{} {header}'", optimise.flag());
    let work = build(name, &verilog, &["-MAKEFLAGS", &make, "-LDFLAGS", &runtime.objects])?;
    let moved = fs::rename(work.join("obj_dir/cosim.so"), &library).and_then(|()| fs::remove_dir_all(&work));
    moved.map_err(|error| at(&library, error))?;
    Ok(Compiled(library))
}

/// Verilator's runtime, in `<target>/cosim/runtime-<hash>`: it takes longer to compile than most
/// models.
struct Runtime {
    /// Object files, for the linker.
    objects: String,
    /// Option of the compiler that includes the header.
    include: String,
}

/// Builds the runtime with the makefile of an empty model.
fn runtime(version: &[u8]) -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let compiled = RUNTIME.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        (FLAGS, HEADER, compiler(), version).hash(&mut hasher);
        let place = target_directory().join(format!("cosim/runtime-{:016x}", hasher.finish()));
        let _lock = lock(&place)?;
        if !place.is_dir() {
            let empty = Layout { ports: Vec::new(), input_words: 0, row_words: 0 };
            let top = "module top(input wire clock);\n  wire unused = clock;\nendmodule\n";
            let work = build("runtime", &(top.to_owned() + &empty.wrapper()), &[])?;
            for name in ["header.h", "header.cpp"] {
                let path = work.join("obj_dir").join(name);
                fs::write(&path, HEADER).map_err(|error| at(&path, error))?;
            }
            let moved = fs::rename(work.join("obj_dir"), &place).and_then(|()| fs::remove_dir_all(&work));
            moved.map_err(|error| at(&place, error))?;
            precompile(&place)?;
        }
        let is_object = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("verilated") && name.ends_with(".o")
        };
        let files = fs::read_dir(&place).map_err(|error| at(&place, error))?;
        let mut objects: Vec<PathBuf> = files.flatten().map(|file| file.path()).filter(is_object).collect();
        objects.sort();
        if objects.is_empty() {
            return Err(format!("{}: no verilated*.o; delete it, it will be rebuilt", place.display()));
        }
        let objects: Vec<String> = objects.iter().map(|object| object.display().to_string()).collect();
        Ok(Runtime { objects: objects.join(" "), include: format!("-include {}", place.join("header.h").display()) })
    });
    compiled.as_ref().map_err(Clone::clone)
}

/// Writes the precompiled form of `header.h`, with the flags of the folder's makefile and of
/// [`Optimise::Little`]; with others GCC 12 crashes. Clang's form names its folder. Until it is
/// there, and without it, compilers read the header itself.
fn precompile(folder: &Path) -> Result<(), String> {
    let mut make = Command::new("make");
    let optimise = format!("{} -x c++-header", Optimise::Little.flag());
    make.args(["-f", "Cosim.mk", "header.o", &optimise, &format!("CXX={}", compiler().0)]);
    make.current_dir(folder);
    if run(without_cargo(&mut make))?.status.success() {
        let path = folder.join("header.h.gch");
        fs::rename(folder.join("header.o"), &path).map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Returns the C++ compiler and its flags. Clang compiles Verilator's code in a half to a quarter
/// of GCC's time.
fn compiler() -> (&'static str, &'static str) {
    static HAS_CLANG: OnceLock<bool> = OnceLock::new();
    let has_clang = HAS_CLANG.get_or_init(|| {
        // It lacks the headers where only another version of GCC has them.
        let mut clang = Command::new("clang++");
        clang.args(["-fsyntax-only", "-x", "c++", "-include", "memory", "/dev/null"]).stderr(Stdio::null());
        clang.status().is_ok_and(|status| status.success())
    });
    if *has_clang { ("clang++", "-fPIC") } else { ("g++", "-fPIC -fno-gnu-unique") }
}

/// Removes make's variables, which would tie a build to a make that runs cargo.
fn without_cargo(command: &mut Command) -> &mut Command {
    command.env_remove("MAKEFLAGS").env_remove("MFLAGS").env_remove("MAKELEVEL")
}

/// Locks a path that is not built yet, until the result is dropped. Waits for other builders.
fn lock(built: &Path) -> Result<Option<fs::File>, String> {
    if built.exists() {
        return Ok(None);
    }
    let path = built.with_extension("lock");
    fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(|error| at(&path, error))?;
    let file = fs::File::create(&path).map_err(|error| at(&path, error))?;
    file.lock().map_err(|error| at(&path, error))?;
    Ok(Some(file))
}

/// Runs Verilator and the compiler in a new directory. Returns the directory.
fn build(name: &str, verilog: &str, options: &[&str]) -> Result<PathBuf, String> {
    let work = target_directory().join(format!("cosim/build-{name}-{}", unique()));
    fs::create_dir_all(&work).map_err(|error| at(&work, error))?;
    for (file, text) in [("cosim.v", verilog), ("interface.cpp", INTERFACE)] {
        let path = work.join(file);
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    let (compiler, flag) = compiler();
    let mut command = Command::new("verilator");
    command.args(FLAGS).args(["-MAKEFLAGS", &format!("CXX={compiler} LINK={compiler}"), "-CFLAGS", flag]);
    command.args(options).args(["cosim.v", "interface.cpp"]).current_dir(&work);
    let output = run(without_cargo(&mut command))?;
    if output.status.success() {
        return Ok(work);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first: Vec<&str> = text.lines().take(24).collect();
    Err(format!("{name}: Verilator refuses {}/cosim.v:\n{}", work.display(), first.join("\n")))
}

fn at(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn run(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound if command.get_program() == "verilator" => {
            "verilator is not on PATH; it runs the emitted Verilog. Install it with `apt-get install verilator g++ make` \
             (tests/run does), or see https://verilator.org"
                .into()
        }
        _ => format!("{command:?}: {error}"),
    })
}

/// Target directory of this executable, found by Cargo's marker file, or else the workspace's.
pub fn target_directory() -> PathBuf {
    let executable = env::current_exe().unwrap_or_default();
    let marked = executable.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    marked.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), Path::to_path_buf)
}

/// Unique among concurrent builds of all processes.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
