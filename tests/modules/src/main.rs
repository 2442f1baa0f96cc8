//! Prints the dependencies between a crate's modules:
//! `cargo run -p optireduce-modules -- host-lib/core/src/lib.rs`.

use std::path::Path;
use std::process::ExitCode;

use optireduce_modules::Crate;

fn main() -> ExitCode {
    let Some(root) = std::env::args().nth(1) else {
        eprintln!("usage: optireduce-modules ROOT, where ROOT is a crate's lib.rs or main.rs");
        return ExitCode::from(2);
    };
    let found = match Crate::read(Path::new(&root)) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    for (parent, uses) in found.uses() {
        println!("{}", if parent.is_empty() { "crate".to_owned() } else { parent.join("::") });
        for (from, to) in uses {
            println!("    {from} -> {}", to.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
    let circles = found.circles();
    circles.iter().for_each(|circle| println!("circle: {circle}"));
    if circles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
