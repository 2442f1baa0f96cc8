//! Whole-stack tests live in `whole_stack/`; this crate has no code of its own. See `README.md`.

/// The example in the root README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct ReadmeExamples;
