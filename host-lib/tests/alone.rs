//! One rank is a job: every call works, without a root and without losses.

use optireduce::{BucketOptions, Communicator, ElementType, ExactOp, LaunchError, ReduceOp, SettingError, Settings};

#[test]
fn every_call_of_one_rank_returns_what_it_was_given() {
    let mut alone = Communicator::connect(Settings::new().rank(0).world_size(1)).unwrap();
    assert_eq!((alone.rank(), alone.world_size()), (0, 1));
    for op in [ReduceOp::Avg, ReduceOp::Sum] {
        let mut bucket = alone.bucket(100_000, BucketOptions::new().reduce_op(op)).unwrap();
        let given: Vec<f32> = (0..100_000).map(|value| value as f32).collect();
        for _ in 0..20 {
            let mut values = given.clone();
            let report = bucket.all_reduce(&mut values).unwrap();
            assert_eq!((values == given, report.loss(), report.lost_bytes()), (true, 0.0, 0), "{report}");
        }
        let (shard, report) = bucket.reduce_scatter(&given).unwrap();
        assert_eq!((shard == given, report.lost_bytes()), (true, 0));
        let (all, report) = bucket.all_gather(&given).unwrap();
        assert_eq!((all == given, report.lost_bytes()), (true, 0));
        assert!(bucket.settle(None).unwrap().is_settled);
    }
    let bytes = 7_i64.to_ne_bytes().to_vec();
    for op in [ExactOp::Sum, ExactOp::Max] {
        assert_eq!(alone.start_all_reduce_exact(bytes.clone(), ElementType::I64, op).wait().unwrap(), bytes);
    }
    assert_eq!(alone.all_gather_bytes(&bytes).unwrap(), std::slice::from_ref(&bytes));
    let mut values = [3.0];
    alone.broadcast(0, &mut values).unwrap();
    assert_eq!(alone.scatter_bytes(0, &[&bytes[..]]).unwrap(), bytes);
    for parts in [&[][..], &[&bytes[..], &bytes[..]]] {
        let error = alone.scatter_bytes(0, parts).unwrap_err().to_string();
        let expected = format!("parts at the root is {}, expected 1, one for each rank", parts.len());
        assert!(error.contains(&expected), "{error}");
    }
    alone.send_bytes(0, 5, b"to itself").unwrap();
    assert_eq!(alone.recv_bytes(0, 5).unwrap(), b"to itself");
    alone.barrier().unwrap();
    for group in [alone.split(3).unwrap(), alone.group(&[0]).unwrap()] {
        assert_eq!(group.world_size(), 1);
        group.close().unwrap();
    }
    assert_eq!(alone.metrics().unwrap().live, [0]);
    alone.close().unwrap();
}

#[test]
fn without_a_launcher_and_a_world_size_there_is_no_job() {
    let error = Settings::new().variables(|_| None).launch().unwrap_err();
    assert!(matches!(error, SettingError::Place(LaunchError::NoLauncher)), "{error:?}");
    assert!(error.to_string().contains("for one rank, a world size of 1 suffices"));
}
