//! Runs the examples.

#[path = "../examples/mixed_job.rs"]
mod mixed_job;

#[test]
fn ranks_with_and_without_a_card_reduce_in_one_job() {
    mixed_job::main().unwrap();
}
