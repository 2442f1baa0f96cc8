//! Exact calls over TCP, on loopback: reductions, messages, and ranks that differ, die or stop.

mod groups;
mod partial_reduce;
mod random;
#[path = "../ranks/mod.rs"]
mod ranks;
mod transfers;
mod waits;

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use half::{bf16, f16};
use optireduce::{BucketOptions, Communicator, ElementType, ErrorKind, ExactOp, Request, Typed};
use random::Random;
use ranks::{builder, job};

mod reference {
    use super::*;

    pub fn fold(element: ElementType, op: ExactOp, ranks: &[Vec<u8>]) -> Vec<u8> {
        let size = element.bytes();
        let values = |index: usize| ranks.iter().map(move |bytes| &bytes[index * size..][..size]);
        (0..ranks[0].len() / size).flat_map(|index| one(element, op, values(index).collect())).collect()
    }

    fn one(element: ElementType, op: ExactOp, values: Vec<&[u8]>) -> Vec<u8> {
        macro_rules! integer {
            ($type:ident) => {{
                let values = values.iter().map(|bytes| i128::from($type::from_le_bytes((*bytes).try_into().unwrap())));
                let exact = match op {
                    ExactOp::Sum => values.sum(),
                    // Modulo 2^128; its lower bits are those of the type.
                    ExactOp::Product => values.fold(1, i128::wrapping_mul),
                    ExactOp::Min => values.min().unwrap(),
                    ExactOp::Max => values.max().unwrap(),
                    ExactOp::And => values.fold(-1, |a, b| a & b),
                    ExactOp::Or => values.fold(0, |a, b| a | b),
                    _ => values.fold(0, |a, b| a ^ b),
                };
                (exact as $type).to_le_bytes().to_vec()
            }};
        }
        macro_rules! float {
            ($read:expr, $write:expr, $wide:ident) => {{
                let values: Vec<$wide> = values.iter().map(|bytes| $read((*bytes).try_into().unwrap())).collect();
                let nan = values.iter().find(|value| value.is_nan());
                let folded = match op {
                    ExactOp::Min | ExactOp::Max if nan.is_some() => *nan.unwrap(),
                    ExactOp::Min => values[1..].iter().fold(values[0], |a, b| if *b < a { *b } else { a }),
                    ExactOp::Max => values[1..].iter().fold(values[0], |a, b| if *b > a { *b } else { a }),
                    ExactOp::Product => values[1..].iter().fold(values[0], |a, b| a * b),
                    ExactOp::Avg => {
                        // Without an overflow of the sum.
                        let scale = 0.5 / values.len().next_power_of_two() as $wide;
                        let sum = values.iter().map(|value| value * scale).reduce(|a, b| a + b).unwrap();
                        sum / (values.len() as $wide * scale)
                    }
                    _ => values[1..].iter().fold(values[0], |a, b| a + b),
                };
                $write(folded).to_le_bytes().to_vec()
            }};
        }
        match element {
            ElementType::F16 => float!(|bytes| f16::from_le_bytes(bytes).to_f32(), f16::from_f32, f32),
            ElementType::Bf16 => float!(|bytes| bf16::from_le_bytes(bytes).to_f32(), bf16::from_f32, f32),
            ElementType::F32 => float!(f32::from_le_bytes, f32::from, f32),
            ElementType::F64 => float!(f64::from_le_bytes, f64::from, f64),
            ElementType::I8 => integer!(i8),
            ElementType::U8 => integer!(u8),
            ElementType::I16 => integer!(i16),
            ElementType::U16 => integer!(u16),
            ElementType::I32 => integer!(i32),
            ElementType::U32 => integer!(u32),
            ElementType::I64 => integer!(i64),
            _ => integer!(u64),
        }
    }
}

/// Bitwise equality, except that all NaNs are equal.
fn same(element: ElementType, found: &[u8], expected: &[u8]) -> bool {
    let size = element.bytes();
    let is_nan = |bytes: &[u8]| match element {
        ElementType::F16 => f16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElementType::Bf16 => bf16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElementType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElementType::F64 => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let pairs = found.chunks(size).zip(expected.chunks(size));
    found.len() == expected.len() && pairs.into_iter().all(|(a, b)| a == b || is_nan(a) && is_nan(b))
}

#[test]
fn a_mean_is_finite_if_its_values_are() {
    let largest = [f16::MAX.to_le_bytes().to_vec(), bf16::MAX.to_le_bytes().to_vec()];
    let largest = largest.into_iter().chain([f32::MAX.to_le_bytes().to_vec(), f64::MAX.to_le_bytes().to_vec()]);
    let floats = [ElementType::F16, ElementType::Bf16, ElementType::F32, ElementType::F64];
    let values: Vec<_> = floats.into_iter().zip(largest).collect();
    job(3, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        for (element, value) in values.clone() {
            let values = Typed { element, bytes: value };
            let mean = communicator.exact().all_reduce(values.clone(), ExactOp::Avg).wait().unwrap();
            assert_eq!(mean, values);
        }
        communicator.close().wait().unwrap();
    });
}

/// At lengths around the number of ranks, with the same bits on all ranks, in all-reduce and
/// reduce-scatter. Values are random bytes, so floats include NaN, infinities and subnormals.
#[test]
fn every_type_and_operation_gives_what_a_plain_fold_in_the_order_of_ranks_does() {
    let seed = Random::seed();
    for ranks in [2, 3, 5] {
        let results = job(ranks, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, ranks, &root)).wait().unwrap();
            let mut results = Vec::new();
            let mut random = Random::new(seed, 0);
            for element in ElementType::ALL {
                for op in ExactOp::ALL.into_iter().filter(|op| op.is_for(element)) {
                    let elements = random.below(4 * ranks as u64 + 1) as usize;
                    let all: Vec<_> = (0..ranks).map(|_| random.bytes(elements * element.bytes())).collect();
                    let expected = reference::fold(element, op, &all);
                    let values = Typed { element, bytes: all[rank].clone() };
                    let reduced = communicator.exact().all_reduce(values.clone(), op);
                    let shard = communicator.exact().reduce_scatter(values, op);
                    let (reduced, shard) = (reduced.wait().unwrap().bytes, shard.wait().unwrap().bytes);
                    let what = format!("{op} of {elements} {element}, rank {rank} of {ranks}");
                    assert!(same(element, &reduced, &expected), "{what}: {all:?} gave {reduced:?}, not {expected:?}");
                    let part = communicator.shard_range(elements);
                    let part = part.start * element.bytes()..part.end * element.bytes();
                    assert_eq!(shard, reduced[part], "{what}");
                    results.push(reduced);
                }
            }
            communicator.close().wait().unwrap();
            results
        });
        assert!(results.iter().all(|result| *result == results[0]), "the same bits on all ranks");
    }
}

#[test]
fn large_buffers_go_in_pieces_and_sums_do_not_depend_on_where_they_are_cut() {
    let seed = Random::seed();
    const ELEMENTS: usize = (3 << 20) + 12_345;
    let value = move |rank: usize, index: usize| {
        Random::new(seed, (rank * ELEMENTS + index) as u64).next() as i32 as f32 * 1e-4
    };
    job(3, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let data: Vec<f32> = (0..ELEMENTS).map(|index| value(rank, index)).collect();
        let data = communicator.exact().all_reduce(data, ExactOp::Sum).wait().unwrap();
        for index in (0..ELEMENTS).step_by(997) {
            let expected = value(0, index) + value(1, index) + value(2, index);
            assert_eq!(data[index].to_bits(), expected.to_bits(), "element {index}");
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn typed_calls_do_what_those_of_bytes_do() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let counts = vec![i64::MAX, rank as i64, -3];
        let counts = communicator.exact().all_reduce(counts, ExactOp::Sum).wait().unwrap();
        assert_eq!(counts, [-2, 1, -6], "integers wrap");
        let least = vec![if rank == 1 { f32::NAN } else { 1.0 }, 1.0 + rank as f32, f32::NEG_INFINITY];
        let least = communicator.exact().all_reduce(least, ExactOp::Min).wait().unwrap();
        assert!(least[0].is_nan() && least[1..] == [1.0, f32::NEG_INFINITY], "{least:?}");
        let shard = communicator.exact().reduce_scatter(vec![1u8, 2, 4 << rank], ExactOp::Or).wait().unwrap();
        assert_eq!(shard, [vec![1, 2], vec![12]][rank]);
        let empty = communicator.exact().all_reduce(Vec::<f64>::new(), ExactOp::Avg).wait().unwrap();
        assert!(empty.is_empty());
        let given = communicator.exact().broadcast(1, vec![rank as f64; 3]).wait().unwrap();
        assert_eq!(given, [1.0; 3]);
        communicator.close().wait().unwrap();
    });
}

#[test]
fn bytes_of_any_length_go_to_the_ranks_that_they_are_for() {
    let seed = Random::seed();
    const RANKS: usize = 4;
    // One of them exceeds the limit of bytes in flight.
    let lengths = [0, 1, 300_000, 9 << 20];
    job(RANKS, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, RANKS, &root)).wait().unwrap();
        let part = |call: usize, from: usize, to: usize| {
            Random::new(seed, (call * 64 + from * 8 + to) as u64).bytes(lengths[(call + from + to) % lengths.len()])
        };
        let all = |call: usize| (0..RANKS).map(|to| part(call, rank, to)).collect::<Vec<_>>();
        for call in 0..3 {
            let root = call % RANKS;
            let from_all = (0..RANKS).map(|from| Some(part(call, from, rank))).collect::<Vec<_>>();
            assert!(communicator.exact().all_to_all(all(call)).wait().unwrap() == from_all, "all to all");
            let given = (0..RANKS).map(|from| Some(part(call, from, 0))).collect::<Vec<_>>();
            let own = part(call, rank, 0);
            assert!(communicator.exact().all_gather(own.clone()).wait().unwrap() == given, "all-gather");
            let gathered = communicator.exact().gather(root, own).wait().unwrap();
            assert!(gathered == if rank == root { given } else { vec![] }, "gather");
            let parts = if rank == root { all(call) } else { vec![vec![9]; RANKS] };
            let scattered = communicator.exact().scatter(root, parts).wait().unwrap();
            assert!(scattered == part(call, root, rank), "scatter");
            let mut data = part(call, root, root);
            if rank != root {
                data.fill(7);
            }
            let data = communicator.exact().broadcast(root, data).wait().unwrap();
            assert!(data == part(call, root, root), "broadcast");
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn calls_that_were_begun_together_are_made_in_their_order_and_hold_up_no_bucket() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
        let sums = [1i64, 10, 100].map(|value| communicator.exact().all_reduce(vec![value], ExactOp::Sum));
        let mut barrier = communicator.barrier();
        drop(communicator.exact().all_gather(vec![rank as u8]));
        let mut data = vec![rank as f32; 1000];
        assert_eq!(bucket.all_reduce(&mut data).unwrap().lost_bytes, 0);
        while !barrier.wait_timeout(Duration::from_millis(20)) {}
        assert!(barrier.is_finished());
        barrier.wait().unwrap();
        for (sum, expected) in sums.into_iter().zip([2i64, 20, 200]) {
            assert_eq!(sum.wait().unwrap(), [expected]);
        }
        communicator.close().wait().unwrap();
    });
}

/// Later calls succeed.
fn fails_on_all<T: std::fmt::Debug>(
    expected: &str,
    call: impl Fn(usize, &mut Communicator) -> Request<T> + Clone + Send + 'static,
) {
    let errors = job(3, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let error = call(rank, &mut communicator).wait().unwrap_err();
        assert_eq!(communicator.exact().all_reduce(vec![rank as i32], ExactOp::Sum).wait().unwrap(), [3]);
        communicator.close().wait().unwrap();
        error.to_string()
    });
    assert!(errors.iter().all(|error| error.starts_with(expected)), "{errors:#?}, expected {expected}");
}

#[test]
fn ranks_that_differ_all_hear_who_does_and_how_and_go_on() {
    fails_on_all("the ranks differ: elements is 5 on rank 2, but 4 on rank 0;", |rank, communicator| {
        communicator.exact().all_reduce(vec![0i32; if rank == 2 { 5 } else { 4 }], ExactOp::Sum)
    });
    fails_on_all("the ranks differ: the element type is f32 on rank 1, but i32 on rank 0;", |rank, communicator| {
        let element = if rank == 1 { ElementType::F32 } else { ElementType::I32 };
        communicator.exact().all_reduce(Typed { element, bytes: vec![0; 16] }, ExactOp::Sum)
    });
    fails_on_all("the ranks differ: the operation is max on rank 1, but min on rank 0;", |rank, communicator| {
        communicator.exact().all_reduce(vec![0u8; 4], if rank == 0 { ExactOp::Min } else { ExactOp::Max })
    });
    let expected = "the ranks differ: the call is exact reduce_scatter on rank 2, but exact all_reduce on rank 0;";
    fails_on_all(expected, |rank, communicator| match rank {
        2 => communicator.exact().reduce_scatter(vec![0u8; 4], ExactOp::Sum),
        _ => communicator.exact().all_reduce(vec![0u8; 4], ExactOp::Sum),
    });
    fails_on_all("the ranks differ: the root is 1 on rank 1, but 0 on rank 0;", |rank, communicator| {
        communicator.exact().gather(rank.min(1), vec![1])
    });
    fails_on_all("the ranks differ: elements is 3 on rank 1, but 2 on rank 0;", |rank, communicator| {
        communicator.exact().broadcast(0, vec![0u8; if rank == 1 { 3 } else { 2 }])
    });
    fails_on_all("the ranks differ: parts at the root is 3 on rank 1, but 2 on rank 0;", |_, communicator| {
        communicator.exact().scatter(0, vec![vec![1], vec![2]])
    });
    fails_on_all("the ranks differ: parts is 4 on rank 2, but 3 on rank 0;", |rank, communicator| {
        communicator.exact().all_to_all(vec![vec![1]; if rank == 2 { 4 } else { 3 }])
    });
}

#[test]
fn arguments_that_cannot_be_are_errors_on_all_ranks_and_change_nothing() {
    fails_on_all("invalid argument: the root is 3, expected a rank from 0 to 2;", |_, communicator| {
        communicator.exact().broadcast(3, vec![1u8])
    });
    fails_on_all("invalid argument: parts is 2, expected 3, one for each rank;", |_, communicator| {
        communicator.exact().all_to_all(vec![vec![1], vec![2]])
    });
    fails_on_all("invalid argument: there is no xor of f32 values: avg is for", |_, communicator| {
        communicator.exact().all_reduce(vec![1f32], ExactOp::Xor)
    });
    fails_on_all("invalid argument: there is no avg of u8 values:", |_, communicator| {
        communicator.exact().reduce_scatter(vec![1u8], ExactOp::Avg)
    });
    fails_on_all("invalid argument: the number of bytes is 9, expected a multiple of 8", |_, communicator| {
        communicator.exact().all_reduce(Typed { element: ElementType::I64, bytes: vec![0; 9] }, ExactOp::Sum)
    });
}

#[test]
fn a_rank_that_has_ended_is_named_at_once() {
    let all_done = Arc::new(Barrier::new(2));
    job(3, move |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 3, &root).timeout(Duration::from_secs(600))).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 2 {
            return;
        }
        let begin = Instant::now();
        let error = communicator.exact().all_reduce(vec![1f32; 100], ExactOp::Sum).wait().unwrap_err();
        assert_eq!((error.kind(), error.rank(), error.is_fatal()), (ErrorKind::Peer, Some(2), true), "{error}");
        let error = communicator.exact().all_to_all(vec![vec![]; 3]).wait().unwrap_err().to_string();
        assert!(error.contains("the connection to rank 2 has ended"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(300), "{:?}", begin.elapsed());
        all_done.wait();
    });
}

#[test]
fn ranks_that_skip_one_that_ended_reduce_without_it() {
    let results = job(3, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root).skip_gone(true)).wait().unwrap();
        if rank == 1 {
            return None;
        }
        communicator.barrier().wait().unwrap();
        let means = communicator.exact().all_reduce(vec![rank as f64, 5.0, 6.0, 7.0], ExactOp::Avg).wait().unwrap();
        let parts = vec![vec![0, rank as u8], vec![1], vec![2, rank as u8]];
        let all = communicator.exact().all_to_all(parts).wait().unwrap();
        let gathered = communicator.exact().gather(2, vec![rank as u8]).wait().unwrap();
        let lost = communicator.exact().broadcast(1, vec![0u8; 4]).wait().unwrap_err();
        assert_eq!((lost.kind(), lost.rank()), (ErrorKind::Peer, Some(1)), "{lost}");
        communicator.barrier().wait().unwrap();
        Some((means, all, gathered))
    });
    let expected = |rank: u8, gathered: Vec<Option<Vec<u8>>>| {
        Some((vec![1.0, 5.0, 6.0, 7.0], vec![Some(vec![rank, 0]), None, Some(vec![rank, 2])], gathered))
    };
    assert_eq!(results[0], expected(0, vec![]));
    assert_eq!(results[2], expected(2, vec![Some(vec![0]), None, Some(vec![2])]));
}

/// The others must return the call's result or an error that names the dead rank. The rank drops
/// its communicator at a random time during the call.
#[test]
fn ranks_that_skip_one_that_dies_in_the_middle_of_a_call_stay_in_step() {
    const DYING: usize = 1;
    let seed = Random::seed();
    for time in 0..12 {
        let outcomes = job(3, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, 3, &root).skip_gone(true)).wait().unwrap();
            let part = vec![1u8; 5 << 20];
            let call = |communicator: &mut Communicator| match time % 3 {
                0 => communicator.exact().all_reduce(part.clone(), ExactOp::Sum),
                1 => communicator.exact().broadcast(DYING, part.clone()),
                _ => communicator.exact().reduce_scatter(part.clone(), ExactOp::Max),
            };
            if rank == DYING {
                let called = call(&mut communicator);
                std::thread::sleep(Duration::from_micros(Random::new(seed, time).below(20_000)));
                drop((communicator, called));
                return String::new();
            }
            let outcome = match call(&mut communicator).wait() {
                Ok(bytes) => format!("{} bytes of {}", bytes.len(), bytes[0]),
                Err(error) => error.to_string(),
            };
            let others = communicator.exact().all_reduce(vec![10 << rank], ExactOp::Sum).wait().unwrap();
            assert_eq!(others, [50], "rank {rank}, after: {outcome}");
            let gathered = communicator.exact().all_gather(vec![rank as u8]).wait().unwrap();
            assert_eq!(gathered, [Some(vec![0]), None, Some(vec![2])]);
            outcome
        });
        println!("{time}: {outcomes:?}");
        let is_named = |outcome: &String| outcome.contains("bytes of") || outcome.contains("rank 1");
        assert!(outcomes.iter().all(|outcome| outcome.is_empty() || is_named(outcome)), "{outcomes:?}");
    }
}
