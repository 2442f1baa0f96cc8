//! Communicators of a subset of ranks, made by its members alone.

use std::time::Duration;

use optireduce::{BucketOptions, Communicator, ExactOp};

use super::ranks::{builder, job};

fn sums(communicator: &mut Communicator, value: f32) -> [f32; 2] {
    let mut exact = [value];
    communicator.all_reduce_exact(&mut exact, ExactOp::Sum).unwrap();
    let mut bounded = vec![value; 100];
    let mut bucket = communicator.bucket(100, BucketOptions::new()).unwrap();
    assert_eq!(bucket.all_reduce(&mut bounded).unwrap().lost_bytes(), 0);
    [exact[0], bounded[99] * communicator.world_size() as f32]
}

#[test]
fn groups_with_ranks_in_common_are_made_by_their_members_alone_and_live_at_once() {
    job(4, |rank, root| {
        let mut world = builder(rank, 4, &root).connect().unwrap();
        // Rank 3 is in neither of the first two, and makes another in between.
        let lists: &[&[usize]] = match rank {
            0 => &[&[0, 1, 2], &[2, 0]],
            1 => &[&[2, 1, 0], &[1, 3]],
            2 => &[&[1, 0, 2], &[0, 2]],
            _ => &[&[3, 1]],
        };
        let mut groups: Vec<_> = lists.iter().map(|list| world.group(list).unwrap()).collect();
        for _ in 0..2 {
            for (group, list) in groups.iter_mut().zip(lists) {
                let index = list.iter().filter(|member| **member < rank).count();
                assert_eq!((group.rank(), group.world_size()), (index, list.len()));
                let sum: usize = list.iter().sum();
                assert_eq!(sums(group, rank as f32), [sum as f32; 2], "{list:?}");
            }
            assert_eq!(sums(&mut world, rank as f32), [6.0; 2]);
        }
        groups.into_iter().for_each(|group| group.close().unwrap());
        world.close().unwrap();
    });
}

#[test]
fn members_whose_lists_differ_all_hear_it_and_lists_that_cannot_be_are_refused() {
    let errors = job(3, |rank, root| {
        let mut world = builder(rank, 3, &root).connect().unwrap();
        let error = world.group(if rank == 1 { &[0, 1] } else { &[0, 1, 2] }).unwrap_err().to_string();
        for list in [&[][..], &[rank, rank], &[rank, 3], &[(rank + 1) % 3, (rank + 2) % 3]] {
            let error = world.group(list).unwrap_err().to_string();
            let expected = format!(", expected different ranks from 0 to 2, {rank} among them");
            assert!(error.starts_with("the ranks of the group is ") && error.ends_with(&expected), "{error}");
        }
        assert_eq!(world.group(&[rank]).unwrap().world_size(), 1);
        let group = world.group(&[0, 1, 2]).unwrap();
        group.close().unwrap();
        world.barrier().unwrap();
        error
    });
    let expected = "the ranks differ: the ranks of the group is 0, 1 on rank 1, but 0, 1, 2 on rank 0;";
    assert!(errors.iter().all(|error| error.contains(expected)), "{errors:#?}");
}

#[test]
fn a_member_that_has_ended_is_named_to_all_others_and_these_make_a_group_without_it() {
    job(4, |rank, root| {
        let mut world = builder(rank, 4, &root).connect().unwrap();
        world.barrier().unwrap();
        if rank == 2 {
            return;
        }
        let error = world.group(&[0, 1, 2, 3]).unwrap_err().to_string();
        assert!(error.contains("the connection to rank 2 has ended"), "rank {rank}: {error}");
        let mut group = world.group(&[0, 1, 3]).unwrap();
        assert_eq!(sums(&mut group, rank as f32), [4.0; 2]);
        group.close().unwrap();
    });
}

#[test]
fn a_bucket_may_be_declared_and_settled_while_something_else_is_done() {
    job(2, |rank, root| {
        let mut world = builder(rank, 2, &root).connect().unwrap();
        if rank == 1 {
            world.recv_bytes(0, 0).unwrap();
        }
        let mut declared = world.start_bucket(100, BucketOptions::new());
        if rank == 0 {
            assert!(!declared.wait_timeout(Duration::from_millis(20)), "rank 1 waits for a message first");
            world.send_bytes(1, 0, &[]).unwrap();
        }
        let mut bucket = declared.wait().unwrap();
        assert_eq!(bucket.all_reduce(&mut [1.0; 100]).unwrap().lost_bytes(), 0);
        let settled = bucket.start_settle(None).wait().unwrap();
        assert!(settled.is_settled && settled.correction.is_none(), "{settled:?}");
        world.close().unwrap();
    });
}
