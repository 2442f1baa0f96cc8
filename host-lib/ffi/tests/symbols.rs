//! Checks that the exported symbols are exactly those in the committed list and in the header.

mod built;

use std::collections::BTreeSet;
use std::path::Path;

fn exported() -> BTreeSet<String> {
    let list =
        built::run(built::bare("nm").args(["-D", "--defined-only"]).arg(built::libraries().join("liboptireduce_c.so")));
    list.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

fn committed() -> BTreeSet<String> {
    let file = std::fs::read_to_string(Path::new(built::HERE).join("tests/symbols.txt")).unwrap();
    file.lines().map(str::to_owned).collect()
}

#[test]
fn the_shared_library_exports_what_is_on_the_list_and_nothing_else() {
    let (exported, committed) = (exported(), committed());
    let of = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect::<Vec<_>>();
    let (more, fewer) = (of(&exported, &committed), of(&committed, &exported));
    assert!(
        more.is_empty() && fewer.is_empty(),
        "not on the list in tests/symbols.txt: {more:?}; on it, but not exported: {fewer:?}. A symbol that was released must stay \
         until the next minor version"
    );
}

#[test]
fn the_header_declares_what_is_on_the_list() {
    let header = std::fs::read_to_string(Path::new(built::HERE).join("include/optireduce.h")).unwrap();
    let declared = header.lines().filter(|line| !line.starts_with([' ', '/', '#']) && !line.contains("static inline"));
    let name = |line: &str| {
        let before = line.split_once('(')?.0;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("optr_")).map(str::to_owned)
    };
    assert_eq!(declared.filter_map(name).collect::<BTreeSet<_>>(), committed());
}
