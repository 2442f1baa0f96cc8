//! Replays the corpus of a fuzz target in a test.

use std::path::Path;

///
/// Plays every input of `tests/fuzz/corpus/TARGET`.
///
/// # Panics
/// If an input panics, or the corpus is too small.
pub fn replay(target: &str, play: impl Fn(&[u8])) {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/fuzz/corpus"));
    let folder = folders.map(|corpus| corpus.join(target)).find(|folder| folder.is_dir()).expect("the corpus");
    let mut played = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        play(&std::fs::read(&path).expect("an input"));
        played += 1;
    }
    assert!(played > 50, "only {played} inputs in {}", folder.display());
}
