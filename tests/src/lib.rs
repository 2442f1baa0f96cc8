//! Package of the whole-stack tests in `whole_stack/`. See `README.md`.

/// Compiles the examples of the host library's README.
#[cfg(doctest)]
#[doc = include_str!("../../host-lib/README.md")]
struct ReadmeExamples;
