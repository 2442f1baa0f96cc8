//! Communicators of some of the ranks.

use std::time::Duration;

use optireduce::{BucketOptions, Communicator, ExactOp};

use super::ranks::{builder, job};

fn sums(communicator: &mut Communicator, value: f32) -> [f32; 2] {
    let exact = communicator.exact().all_reduce(vec![value], ExactOp::Sum).wait().unwrap();
    let mut bounded = vec![value; 100];
    let mut bucket = communicator.bucket(100, BucketOptions::new()).wait().unwrap();
    assert_eq!(bucket.all_reduce(&mut bounded).unwrap().lost_bytes, 0);
    [exact[0], bounded[99] * communicator.world_size() as f32]
}

#[test]
fn groups_with_ranks_in_common_live_at_once_and_ranks_without_a_color_are_in_none() {
    job(4, |rank, root| {
        let mut world = Communicator::connect(builder(rank, 4, &root)).wait().unwrap();
        // Colors of the ranks; the last call makes two groups.
        let colors =
            [[Some(7), Some(7), Some(7), None], [Some(0), None, Some(0), None], [Some(1), Some(0), Some(1), Some(0)]];
        let groups: Vec<_> = colors.iter().map(|colors| world.split(colors[rank])).collect();
        let mut groups: Vec<_> = groups.into_iter().map(|group| group.wait().unwrap()).collect();
        for _ in 0..2 {
            for (group, colors) in groups.iter_mut().zip(colors) {
                let members: Vec<usize> = (0..4).filter(|member| colors[*member] == colors[rank]).collect();
                assert_eq!(group.is_some(), colors[rank].is_some(), "rank {rank}: {colors:?}");
                if let Some(group) = group {
                    let place = members.iter().position(|member| *member == rank);
                    assert_eq!((Some(group.rank()), group.world_size()), (place, members.len()));
                    let sum = members.iter().sum::<usize>() as f32;
                    assert_eq!(sums(group, rank as f32), [sum; 2], "rank {rank}: {colors:?}");
                }
            }
            assert_eq!(sums(&mut world, rank as f32), [6.0; 2]);
        }
        groups.into_iter().flatten().for_each(|group| group.close().wait().unwrap());
        world.close().wait().unwrap();
    });
}

#[test]
fn a_rank_that_has_ended_is_named_to_all_others_or_left_out_of_their_group() {
    for skip_gone in [false, true] {
        job(4, move |rank, root| {
            let mut world = Communicator::connect(builder(rank, 4, &root).skip_gone(skip_gone)).wait().unwrap();
            world.barrier().wait().unwrap();
            if rank == 2 {
                return;
            }
            match world.split(Some(0)).wait() {
                Ok(group) => {
                    assert!(skip_gone, "rank {rank}");
                    let mut group = group.unwrap();
                    assert_eq!(sums(&mut group, rank as f32), [4.0; 2]);
                    group.close().wait().unwrap();
                }
                Err(error) => {
                    let error = error.to_string();
                    let is_named = error.contains("the connection to rank 2 has ended");
                    assert!(is_named && !skip_gone, "rank {rank}: {error}");
                }
            }
        });
    }
}

#[test]
fn a_bucket_may_be_declared_and_settled_while_something_else_is_done() {
    job(2, |rank, root| {
        let mut world = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        if rank == 1 {
            world.recv(0, 0).wait().unwrap();
        }
        let mut declared = world.bucket(100, BucketOptions::new());
        if rank == 0 {
            assert!(!declared.wait_timeout(Duration::from_millis(20)), "rank 1 waits for a message first");
            world.send(1, 0, vec![]).wait().unwrap();
        }
        let mut bucket = declared.wait().unwrap();
        assert_eq!(bucket.all_reduce(&mut [1.0; 100]).unwrap().lost_bytes, 0);
        let settled = bucket.settle(None).wait().unwrap();
        assert!(settled.is_settled && settled.correction.is_none(), "{settled:?}");
        world.close().wait().unwrap();
    });
}
