//! The installed library, and C programs linked with it.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

pub const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Time limit of a C program, on a busy machine.
const RUN_MAX: Duration = Duration::from_secs(120);

/// Prefix under which the library of this build is installed.
pub fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        // Test programs run concurrently, so each has its own prefix. Processes of one program, as
        // of `cargo nextest`, share it: the first one installs.
        let program = std::env::current_exe().unwrap();
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().unwrap());
        let mut lock =
            File::options().create(true).append(true).read(true).open(prefix.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let [archive, shared] = ["a", "so"].map(|kind| libraries().join(format!("liboptireduce_c.{kind}")));
        let files = [archive, shared, Path::new(HERE).join("include/optireduce.h")];
        let built = format!("{:?}", files.map(|file| file.metadata().unwrap().modified().unwrap()));
        let mut installed = String::new();
        lock.read_to_string(&mut installed).unwrap();
        if installed != built {
            lock.set_len(0).unwrap();
            let _ = std::fs::remove_dir_all(&prefix);
            run(Command::new(Path::new(HERE).join("install")).arg("--from").arg(libraries()).arg(&prefix));
            lock.write_all(built.as_bytes()).unwrap();
        }
        prefix
    })
}

/// Directory of this program, with the libraries that cargo built.
pub fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Shared,
    Static,
    /// The program loads the library at run time.
    Nothing,
}

/// Field of the installed pkg-config file, expanded.
pub fn pkg_config(field: &str) -> Vec<String> {
    let file = std::fs::read_to_string(prefix().join("lib/pkgconfig/optireduce.pc")).unwrap();
    let line = file.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    let line = line.replace("${includedir}", "${prefix}/include").replace("${libdir}", "${prefix}/lib");
    line.replace("${prefix}", prefix().to_str().unwrap()).split_whitespace().map(str::to_owned).collect()
}

/// Compiles a C program (a path in the package) with all warnings as errors.
pub fn compile(compiler: &str, source: &str, link: Link, flags: &[&str]) -> PathBuf {
    let stem = Path::new(source).file_stem().unwrap().to_str().unwrap();
    // Tests run concurrently, so each variant has its own file.
    let variant = flags.concat().replace(['-', '=', ','], "");
    let program = prefix().join(format!("{stem}.{compiler}.{link:?}{variant}"));
    let mut command = Command::new(compiler);
    let language = if source.ends_with(".cpp") { "-std=c++11" } else { "-std=c11" };
    command.args([language, "-g", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(flags);
    command.arg(Path::new(HERE).join(source)).args(pkg_config("Cflags"));
    match link {
        Link::Shared => {
            let lib = prefix().join("lib");
            command.args(pkg_config("Libs")).arg(format!("-Wl,-rpath,{}", lib.display()));
        }
        Link::Nothing => {
            command.arg("-ldl");
        }
        Link::Static => {
            command.arg(prefix().join("lib/liboptireduce.a")).args(pkg_config("Libs.private"));
        }
    }
    run(command.args(["-pthread", "-o"]).arg(&program));
    program
}

pub fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout
}

pub fn finish(mut child: Child) -> Output {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > RUN_MAX {
            kill(&mut child);
            let output = child.wait_with_output().unwrap();
            panic!("killed after {RUN_MAX:?}: {}{}", lossy(&output.stdout), lossy(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// Kills a process and its forks.
fn kill(child: &mut Child) {
    let group = Pid::from_child(child);
    if kill_process_group(group, Signal::KILL).is_err() {
        // It is in the process group of this test.
        child.kill().unwrap();
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Fails if a command is missing. `package`: its name in Debian and Ubuntu.
pub fn need(command: &str, package: &str) {
    let is_there = Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(
        is_there,
        "{command} is not installed; install it (apt-get install {package}) and run again: tests/run does"
    );
}

/// Command without the environment of any launcher.
pub fn bare(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let of_launcher = ["OPTIREDUCE_", "OMPI_", "PMI_", "PMIX_", "SLURM_", "TORCHELASTIC_", "MASTER_"];
        if of_launcher.iter().any(|prefix| name.starts_with(prefix)) || name == "RANK" || name == "WORLD_SIZE" {
            command.env_remove(name);
        }
    }
    // Leaks are errors as well.
    command
        .env("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1")
        .env("UBSAN_OPTIONS", "halt_on_error=1");
    // A separate process group, so that its forks can be killed with it.
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the ranks of a job, and returns their outputs. `environment`: a launcher's, for a rank.
pub fn job(program: &Path, ranks: usize, environment: impl Fn(usize) -> Vec<(&'static str, String)>) -> Vec<Output> {
    let children: Vec<_> = (0..ranks).map(|rank| bare(program).envs(environment(rank)).spawn().unwrap()).collect();
    children.into_iter().map(finish).collect()
}
