//! Misuse that the compiler refuses. Each file of `misuse` has one error, which contains the texts
//! after `//~`.
//!
//! Why not trybuild: it compiles all dependencies again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use optireduce::{Bucket, Communicator, Error, Report, Request};

fn compile(source: &Path, library: &Path) -> Output {
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-o", "/dev/null"]).arg(source);
    rustc.arg("-L").arg(library.parent().unwrap()).arg("--extern").arg(format!("optireduce={}", library.display()));
    rustc.output().unwrap()
}

/// The newest build of the library; others may lack features or be of another profile.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let files = fs::read_dir(test.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("liboptireduce-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap_or(SystemTime::UNIX_EPOCH);
    files.filter(is_library).max_by_key(built).expect("a library beside this test")
}

/// Compiles here: a request outlives its bucket and its communicator, on another thread.
#[allow(dead_code)]
fn outlives(mut communicator: Communicator, mut bucket: Bucket) -> std::thread::JoinHandle<Result<(), Error>> {
    let (barrier, reduction): (_, Request<(Vec<f32>, Report)>) =
        (communicator.barrier(), bucket.start_all_reduce(vec![1.0]));
    drop((communicator, bucket));
    std::thread::spawn(move || reduction.wait().map(drop).and(barrier.wait()))
}

#[test]
fn misuse_does_not_compile() {
    let (library, folder) = (library(), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse"));
    let cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(cases.len() >= 10, "{cases:?}");
    for case in cases {
        let (source, output) = (fs::read_to_string(&case).unwrap(), compile(&case, &library));
        let text = String::from_utf8(output.stderr).unwrap();
        let mut expected = source.lines().filter_map(|line| line.strip_prefix("//~ ")).peekable();
        assert!(!output.status.success() && expected.peek().is_some(), "{}: {text}", case.display());
        assert_eq!(text.matches("\nerror: aborting due to 1 previous error").count(), 1, "{}: {text}", case.display());
        expected.for_each(|expected| assert!(text.contains(expected), "{}: no `{expected}`: {text}", case.display()));
    }
}
