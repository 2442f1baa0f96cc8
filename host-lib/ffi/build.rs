//! How the shared library is linked: its name, and that it stays where it was loaded.
//!
//! Until 1.0 a minor version may break the interface, so it is part of the name under which programs look for it. A program that
//! unloads it (`dlclose`) must not take the code away under its threads, which may still be ending.

fn main() {
    let part = |name: &str| std::env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
    let (major, minor) = (part("MAJOR"), part("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liboptireduce.so.{major}.{minor}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
