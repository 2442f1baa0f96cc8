//! What the fuzzer of `fuzz/` has kept, played again.

#[path = "../fuzz/rank.rs"]
mod rank;

#[test]
fn a_rank_survives_whatever_the_fuzzer_found() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        // A panic names the input.
        println!("{}", path.display());
        rank::play(&std::fs::read(&path).expect("an input"));
        played += 1;
    }
    assert!(played > 50, "only {played} inputs in {folder}");
}
