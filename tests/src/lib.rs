//! Whole-stack tests live in `whole_stack/`; this crate has no code of its own. See `README.md`.
