//! A thread with a stack that holds a card: rust-hdl builds blocks by value.

/// Bytes of stack: a card is several hundred kilobytes of signals, and builds without optimisation keep several copies.
const STACK_BYTES: usize = 64 << 20;

/// Runs `build` on a large stack and returns its result.
///
/// # Panics
/// When `build` panics, or the system cannot create such a thread.
pub fn on_a_large_stack<T: Send>(build: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let spawned =
            std::thread::Builder::new().name("card".into()).stack_size(STACK_BYTES).spawn_scoped(scope, build);
        let thread =
            spawned.unwrap_or_else(|error| panic!("no thread with a stack of {} MiB: {error}", STACK_BYTES >> 20));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
