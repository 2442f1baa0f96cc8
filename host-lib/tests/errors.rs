//! Kinds of errors, and what an error knows. Other kinds: `Halted` and `Unsettled` in `api.rs`,
//! `Dropped` in `rejoin.rs`, `Unsupported` in `without_secret.rs` and `card.rs`.

mod ranks;

use std::error::Error as _;
use std::time::Duration;

use optireduce::{BucketOptions, Communicator, Error, ErrorKind, ExactOp, PartialOptions};
use ranks::{builder, job};

fn check(error: &Error, kind: ErrorKind, rank: Option<usize>, is_fatal: bool, text: &str) {
    assert_eq!((error.kind(), error.rank(), error.is_fatal()), (kind, rank, is_fatal), "{error}");
    assert!(error.to_string().contains(text), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(error.clone().to_string(), error.to_string());
    assert!(error.report().is_none() && error.mismatch().is_some() == (kind == ErrorKind::Mismatch), "{error}");
}

#[test]
fn an_error_has_a_kind_a_rank_and_a_difference() {
    job(2, |rank, root| {
        let place = builder(rank, 2, &root).timeout(Duration::from_secs(5));
        let error = Communicator::connect(place.clone().interface("no such interface")).wait().map(drop).unwrap_err();
        check(&error, ErrorKind::System, None, false, "no such interface");
        assert!(error.source().is_some(), "{error}");
        let error = place.clone().set("mtu", "many").unwrap_err();
        check(&error, ErrorKind::Argument, None, false, "mtu is many, expected");
        let mut communicator = Communicator::connect(place).wait().unwrap();
        let error = communicator.exact().broadcast(2, vec![0.0_f32]).wait().unwrap_err();
        check(&error, ErrorKind::Argument, None, false, "the root is 2, expected");
        let error = communicator.partial_reduce(1 << 40, PartialOptions::new()).wait().map(drop).unwrap_err();
        check(&error, ErrorKind::Memory, None, false, "partial reduce of 1099511627776 elements");
        let error = communicator.bucket(10 + rank, BucketOptions::new()).wait().map(drop).unwrap_err();
        check(&error, ErrorKind::Mismatch, Some(1), false, "elements is 11 on rank 1, but 10 on rank 0");
        let differs = error.mismatch().unwrap();
        let values = (&*differs.name, &*differs.found, &*differs.expected);
        assert_eq!((values, differs.rank, &differs.by[..]), (("elements", "11", "10"), 1, &[0][..]));
        communicator.barrier().wait().unwrap();
        let mut bucket = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        if rank == 1 {
            return;
        }
        let error = communicator.exact().all_reduce(vec![1f32], ExactOp::Sum).wait().unwrap_err();
        check(&error, ErrorKind::Peer, Some(1), true, "the connection to rank 1 has ended");
        drop(communicator);
        let error = bucket.all_reduce(&mut [0.0; 10]).unwrap_err();
        check(&error, ErrorKind::Closed, None, true, "make a new communicator");
    });
}

#[test]
fn a_message_that_does_not_come_is_a_timeout_and_no_end() {
    job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).timeout(Duration::from_secs(1))).wait().unwrap();
        let error = communicator.recv(1 - rank, 7).wait().unwrap_err();
        check(&error, ErrorKind::Timeout, Some(1 - rank), false, "no message with tag 7 arrived");
        communicator.barrier().wait().unwrap();
    });
}
