//! One rank is a job: every call works, without a root and without losses.

use optireduce::{BucketOptions, Communicator, ErrorKind, ExactOp, ReduceOp, Settings};

#[test]
fn every_call_of_one_rank_returns_what_it_was_given() {
    let mut alone = Communicator::connect(Settings::new().rank(0).world_size(1)).wait().unwrap();
    assert_eq!((alone.rank(), alone.world_size()), (0, 1));
    for op in [ReduceOp::Avg, ReduceOp::Sum] {
        let mut bucket = alone.bucket(100_000, BucketOptions::new().reduce_op(op)).wait().unwrap();
        let given: Vec<f32> = (0..100_000).map(|value| value as f32).collect();
        for _ in 0..20 {
            let mut values = given.clone();
            let report = bucket.all_reduce(&mut values).unwrap();
            assert_eq!((values == given, report.loss(), report.lost_bytes), (true, 0.0, 0), "{report}");
        }
        let (shard, report) = bucket.reduce_scatter(given.clone()).wait().unwrap();
        assert_eq!((shard == given, report.lost_bytes), (true, 0));
        let (all, report) = bucket.all_gather(shard).wait().unwrap();
        assert_eq!((all == given, report.lost_bytes), (true, 0));
        assert!(bucket.settle(None).wait().unwrap().is_settled);
    }
    for op in [ExactOp::Sum, ExactOp::Max] {
        assert_eq!(alone.exact().all_reduce(vec![7_i64], op).wait().unwrap(), [7]);
        assert_eq!(alone.exact().reduce_scatter(vec![7_i64], op).wait().unwrap(), [7]);
    }
    let bytes = vec![7, 0, 0];
    let all = [Some(bytes.clone())];
    assert_eq!(alone.exact().all_gather(bytes.clone()).wait().unwrap(), all);
    assert_eq!(alone.exact().gather(0, bytes.clone()).wait().unwrap(), all);
    assert_eq!(alone.exact().all_to_all(vec![bytes.clone()]).wait().unwrap(), all);
    assert_eq!(alone.exact().broadcast(0, vec![3.0_f32]).wait().unwrap(), [3.0]);
    assert_eq!(alone.exact().scatter(0, vec![bytes.clone()]).wait().unwrap(), bytes);
    for parts in [0, 2] {
        let error = alone.exact().scatter(0, vec![bytes.clone(); parts]).wait().unwrap_err().to_string();
        let expected = format!("parts at the root is {parts}, expected 1, one for each rank");
        assert!(error.contains(&expected), "{error}");
    }
    alone.send(0, 5, b"to itself".to_vec()).wait().unwrap();
    assert_eq!(alone.recv(0, 5).wait().unwrap().bytes, b"to itself");
    alone.barrier().wait().unwrap();
    let group = alone.split(Some(3)).wait().unwrap().unwrap();
    assert_eq!(group.world_size(), 1);
    group.close().wait().unwrap();
    assert!(alone.split(None).wait().unwrap().is_none());
    assert_eq!(alone.metrics().wait().unwrap().live, [0]);
    alone.close().wait().unwrap();
}

#[test]
fn without_a_launcher_and_a_world_size_there_is_no_job() {
    let error = Settings::new().variables(|_| None).launch().unwrap_err();
    assert!(error.kind() == ErrorKind::Argument, "{error:?}");
    assert!(error.to_string().contains("for one rank, a world size of 1 suffices"));
}
