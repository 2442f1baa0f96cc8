//! Checks that the modules of each crate of the workspace have no cyclic dependencies.

use std::fs;
use std::path::Path;

use optireduce_modules::Crate;

fn of(sources: &[(&str, &str)]) -> Vec<String> {
    let mut found = Crate::default();
    for (path, source) in sources {
        let path: Vec<String> = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        found.add(&path, source);
    }
    found.circles().iter().map(ToString::to_string).collect()
}

#[test]
fn no_crate_has_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = workspace.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let mut found = Vec::new();
    let mut crates = 0;
    for member in members.split('"').skip(1).step_by(2) {
        for file in ["lib.rs", "main.rs"] {
            let file = root.join(member).join("src").join(file);
            if file.is_file() {
                crates += 1;
                let circles = Crate::read(&file).unwrap().circles();
                found.extend(circles.iter().map(|circle| (member.to_owned(), circle.to_string())));
            }
        }
    }
    assert!(crates > 5, "{crates} crates of {members}");
    assert!(
        found.is_empty(),
        "modules use one another in a circle: {found:#?}\nmove what they share to where both may use it"
    );
}

#[test]
fn a_circle_is_found_wherever_the_path_stands() {
    for source in [
        "use crate::b::Thing;",
        "use super::b::Thing;",
        "use super::{b::{self, Thing}, c};",
        "pub(crate) use crate::{c, b as other};",
        "fn f() -> crate::b::Thing { loop {} }",
        "fn f() { let x = [super::b::Thing, 1]; }",
        "impl crate::Thing for X {}",
        "mod inner { use super::super::b; }",
        "// it is\nconst TEXT: &str = r#\"\\\"#; const TICK: char = '\\''; use crate::b; const END: char = '\"';",
    ] {
        let sources =
            [("", "mod a; mod b; mod c; pub use b::Thing;"), ("a", source), ("b", "use crate::a;"), ("c", "")];
        assert_eq!(of(&sources), ["a -> b -> a"], "{source}");
    }
}

#[test]
fn what_is_no_circle_is_none() {
    for source in [
        "// use crate::b;",
        "/* use /* crate::b; */ use crate::b; */",
        "const TEXT: &str = \"use crate::b;\";",
        "#[cfg(test)]\nmod tests { use crate::b; }",
        "#[cfg(test)]\n#[allow(dead_code)]\nuse crate::b;",
        "#[cfg(test)]\nfn f(x: [u8; 3]) { crate::b::g(); }",
        "use std::b; use other::b::Thing; fn f() { b::g() }",
        "use crate::c; use super::Root; use self::inner::X; mod inner { pub struct X; }",
    ] {
        let sources = [("", "mod a; mod b; mod c; pub struct Root;"), ("a", source), ("b", "use crate::a;"), ("c", "")];
        assert_eq!(of(&sources), [""; 0], "{source}");
    }
}

#[test]
fn circles_are_told_by_room_one_for_each_knot_and_the_shortest() {
    let sources = [
        ("", "mod a; mod b;"),
        ("a", "mod x; mod y; mod z; pub use x::X;"),
        ("a::x", "use super::y::Y; use crate::b;"),
        ("a::y", "use super::z::Z;"),
        ("a::z", "use super::X; use super::y;"),
        ("b", "use crate::a::z::Z;"),
    ];
    assert_eq!(of(&sources), ["a -> b -> a", "a::x -> a::y -> a::z -> a::x"]);
    let sources =
        [("", "mod a; mod b; mod c;"), ("a", "use crate::b;"), ("b", "use crate::{a, c};"), ("c", "use crate::b;")];
    assert_eq!(of(&sources), ["a -> b -> a, in a knot of a, b, c"]);
}
