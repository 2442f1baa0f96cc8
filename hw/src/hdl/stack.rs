//! Threads with a stack large enough for a card: rust-hdl builds blocks by value.

/// A card is several hundred kilobytes, and unoptimised builds keep copies.
const STACK_BYTES: usize = 64 << 20;

/// Runs `build` on a large stack.
///
/// # Panics
/// If `build` panics or the thread cannot be created.
pub fn on_a_large_stack<T: Send>(build: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let spawned =
            std::thread::Builder::new().name("card".into()).stack_size(STACK_BYTES).spawn_scoped(scope, build);
        let thread =
            spawned.unwrap_or_else(|error| panic!("no thread with a stack of {} MiB: {error}", STACK_BYTES >> 20));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
