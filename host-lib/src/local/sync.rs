//! Atomics of the rings. `tests/rings.rs` compiles `ring.rs` and `sleep.rs` with loom's instead.

pub(super) use std::sync::atomic::{AtomicU64, Ordering, fence};
