//! Sets the soname of the shared library, and prevents unloading.
//!
//! Before 1.0 a minor version may break the interface, so the soname includes it. `dlclose` must
//! not unmap the code, since threads of the library may still be ending.

fn main() {
    let part = |name: &str| std::env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
    let (major, minor) = (part("MAJOR"), part("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liboptireduce.so.{major}.{minor}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
