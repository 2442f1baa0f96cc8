//! Runs the examples.

#[path = "../examples/four_ranks.rs"]
mod four_ranks;
#[path = "../examples/tokio_service.rs"]
mod tokio_service;

#[test]
fn four_ranks_train_in_one_program() {
    four_ranks::main().unwrap();
}

#[test]
fn a_tokio_service_all_reduces_while_it_serves() {
    tokio_service::main().unwrap();
}
