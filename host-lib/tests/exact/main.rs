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
use optireduce::{BucketOptions, Communicator, ControlError, ElementType, Error, ExactOp};
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
        let mut communicator = builder(rank, 3, &root).connect().unwrap();
        for (element, value) in values.clone() {
            let mean = communicator.start_all_reduce_exact(value.clone(), element, ExactOp::Avg).wait().unwrap();
            assert_eq!(mean, value, "{element}");
        }
        communicator.close().unwrap();
    });
}

/// At lengths around the number of ranks, with the same bits on all ranks, in all-reduce and
/// reduce-scatter. Values are random bytes, so floats include NaN, infinities and subnormals.
#[test]
fn every_type_and_operation_gives_what_a_plain_fold_in_the_order_of_ranks_does() {
    let seed = Random::seed();
    for ranks in [2, 3, 5] {
        let results = job(ranks, move |rank, root| {
            let mut communicator = builder(rank, ranks, &root).connect().unwrap();
            let mut results = Vec::new();
            let mut random = Random::new(seed, 0);
            for element in ElementType::ALL {
                for op in ExactOp::ALL.into_iter().filter(|op| op.is_for(element)) {
                    let elements = random.below(4 * ranks as u64 + 1) as usize;
                    let all: Vec<_> = (0..ranks).map(|_| random.bytes(elements * element.bytes())).collect();
                    let expected = reference::fold(element, op, &all);
                    let reduced = communicator.start_all_reduce_exact(all[rank].clone(), element, op);
                    let shard = communicator.start_reduce_scatter_exact(all[rank].clone(), element, op);
                    let (reduced, shard) = (reduced.wait().unwrap(), shard.wait().unwrap());
                    let what = format!("{op} of {elements} {element}, rank {rank} of {ranks}");
                    assert!(same(element, &reduced, &expected), "{what}: {all:?} gave {reduced:?}, not {expected:?}");
                    let part = communicator.shard_range(elements);
                    let part = part.start * element.bytes()..part.end * element.bytes();
                    assert_eq!(shard, reduced[part], "{what}");
                    results.push(reduced);
                }
            }
            communicator.close().unwrap();
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
        let mut communicator = builder(rank, 3, &root).connect().unwrap();
        let mut data: Vec<f32> = (0..ELEMENTS).map(|index| value(rank, index)).collect();
        communicator.all_reduce_exact(&mut data, ExactOp::Sum).unwrap();
        for index in (0..ELEMENTS).step_by(997) {
            let expected = value(0, index) + value(1, index) + value(2, index);
            assert_eq!(data[index].to_bits(), expected.to_bits(), "element {index}");
        }
        communicator.close().unwrap();
    });
}

#[test]
fn typed_calls_do_what_those_of_bytes_do() {
    job(2, |rank, root| {
        let mut communicator = builder(rank, 2, &root).connect().unwrap();
        let mut counts = [i64::MAX, rank as i64, -3];
        communicator.all_reduce_exact(&mut counts, ExactOp::Sum).unwrap();
        assert_eq!(counts, [-2, 1, -6], "integers wrap");
        let mut least = [f32::NAN, 1.0 + rank as f32, f32::NEG_INFINITY];
        least[0] = if rank == 1 { f32::NAN } else { 1.0 };
        communicator.all_reduce_exact(&mut least, ExactOp::Min).unwrap();
        assert!(least[0].is_nan() && least[1..] == [1.0, f32::NEG_INFINITY], "{least:?}");
        let shard = communicator.reduce_scatter_exact(&[1u8, 2, 4 << rank], ExactOp::Or).unwrap();
        assert_eq!(shard, [vec![1, 2], vec![12]][rank]);
        communicator.all_reduce_exact::<f64>(&mut [], ExactOp::Avg).unwrap();
        communicator.close().unwrap();
    });
}

#[test]
fn bytes_of_any_length_go_to_the_ranks_that_they_are_for() {
    let seed = Random::seed();
    const RANKS: usize = 4;
    // One of them exceeds the limit of bytes in flight.
    let lengths = [0, 1, 300_000, 9 << 20];
    job(RANKS, move |rank, root| {
        let mut communicator = builder(rank, RANKS, &root).connect().unwrap();
        let part = |call: usize, from: usize, to: usize| {
            Random::new(seed, (call * 64 + from * 8 + to) as u64).bytes(lengths[(call + from + to) % lengths.len()])
        };
        let all = |call: usize| (0..RANKS).map(|to| part(call, rank, to)).collect::<Vec<_>>();
        for call in 0..3 {
            let root = call % RANKS;
            let from_all = (0..RANKS).map(|from| part(call, from, rank)).collect::<Vec<_>>();
            assert!(communicator.start_all_to_all_bytes(all(call)).wait().unwrap() == from_all, "all to all");
            let given = (0..RANKS).map(|from| part(call, from, 0)).collect::<Vec<_>>();
            assert!(communicator.all_gather_bytes(&given[rank]).unwrap() == given, "all-gather");
            let gathered = communicator.gather_bytes(root, &given[rank]).unwrap();
            assert!(gathered == if rank == root { given } else { vec![] }, "gather");
            let parts = if rank == root { all(call) } else { vec![vec![9]; RANKS] };
            let scattered = communicator.start_scatter_bytes(root, parts).wait().unwrap();
            assert!(scattered == part(call, root, rank), "scatter");
            let mut data = part(call, root, root);
            if rank != root {
                data.fill(7);
            }
            communicator.broadcast_bytes(root, &mut data).unwrap();
            assert!(data == part(call, root, root), "broadcast");
        }
        communicator.close().unwrap();
    });
}

#[test]
fn calls_that_were_begun_together_are_made_in_their_order_and_hold_up_no_bucket() {
    job(2, |rank, root| {
        let mut communicator = builder(rank, 2, &root).connect().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).unwrap();
        let sums = [1i64, 10, 100].map(|value| {
            communicator.start_all_reduce_exact(value.to_le_bytes().to_vec(), ElementType::I64, ExactOp::Sum)
        });
        let mut barrier = communicator.start_barrier();
        drop(communicator.start_all_gather_bytes(vec![rank as u8]));
        let mut data = vec![rank as f32; 1000];
        assert_eq!(bucket.all_reduce(&mut data).unwrap().lost_bytes(), 0);
        while !barrier.wait_timeout(Duration::from_millis(20)) {}
        assert!(barrier.test());
        barrier.wait().unwrap();
        for (sum, expected) in sums.into_iter().zip([2i64, 20, 200]) {
            assert_eq!(sum.wait().unwrap(), expected.to_le_bytes());
        }
        communicator.close().unwrap();
    });
}

/// Later calls succeed.
fn fails_on_all(expected: &str, call: impl Fn(usize, &mut Communicator) -> Result<(), Error> + Clone + Send + 'static) {
    let errors = job(3, move |rank, root| {
        let mut communicator = builder(rank, 3, &root).connect().unwrap();
        let error = call(rank, &mut communicator).unwrap_err();
        let mut data = [rank as i32];
        communicator.all_reduce_exact(&mut data, ExactOp::Sum).unwrap();
        assert_eq!(data, [3]);
        communicator.close().unwrap();
        error.to_string()
    });
    assert!(errors.iter().all(|error| error.starts_with(expected)), "{errors:#?}, expected {expected}");
}

#[test]
fn ranks_that_differ_all_hear_who_does_and_how_and_go_on() {
    fails_on_all("the ranks differ: elements is 5 on rank 2, but 4 on rank 0;", |rank, communicator| {
        communicator.all_reduce_exact(&mut vec![0i32; if rank == 2 { 5 } else { 4 }], ExactOp::Sum)
    });
    fails_on_all("the ranks differ: the element type is f32 on rank 1, but i32 on rank 0;", |rank, communicator| {
        match rank {
            1 => communicator.all_reduce_exact(&mut [0f32; 4], ExactOp::Sum),
            _ => communicator.all_reduce_exact(&mut [0i32; 4], ExactOp::Sum),
        }
    });
    fails_on_all("the ranks differ: the operation is max on rank 1, but min on rank 0;", |rank, communicator| {
        communicator.all_reduce_exact(&mut [0u8; 4], if rank == 0 { ExactOp::Min } else { ExactOp::Max })
    });
    let expected = "the ranks differ: the call is reduce_scatter_exact on rank 2, but all_reduce_exact on rank 0;";
    fails_on_all(expected, |rank, communicator| match rank {
        2 => communicator.reduce_scatter_exact(&[0u8; 4], ExactOp::Sum).map(drop),
        _ => communicator.all_reduce_exact(&mut [0u8; 4], ExactOp::Sum),
    });
    fails_on_all("the ranks differ: the root is 1 on rank 1, but 0 on rank 0;", |rank, communicator| {
        communicator.gather_bytes(rank.min(1), &[1]).map(drop)
    });
    fails_on_all("the ranks differ: bytes is 3 on rank 1, but 2 on rank 0;", |rank, communicator| {
        communicator.broadcast_bytes(0, &mut vec![0; if rank == 1 { 3 } else { 2 }])
    });
    fails_on_all("the ranks differ: parts at the root is 3 on rank 1, but 2 on rank 0;", |_, communicator| {
        communicator.scatter_bytes(0, &[&[1], &[2]]).map(drop)
    });
    fails_on_all("the ranks differ: parts is 4 on rank 2, but 3 on rank 0;", |rank, communicator| {
        communicator.start_all_to_all_bytes(vec![vec![1]; if rank == 2 { 4 } else { 3 }]).wait().map(drop)
    });
}

#[test]
fn arguments_that_cannot_be_are_errors_on_all_ranks_and_change_nothing() {
    fails_on_all("invalid argument: the root is 3, expected a rank from 0 to 2;", |_, communicator| {
        communicator.broadcast_bytes(3, &mut [1])
    });
    fails_on_all("invalid argument: parts is 2, expected 3, one for each rank;", |_, communicator| {
        communicator.all_to_all_bytes(&[&[1], &[2]]).map(drop)
    });
    fails_on_all("invalid argument: there is no xor of f32 values: avg is for", |_, communicator| {
        communicator.all_reduce_exact(&mut [1f32], ExactOp::Xor)
    });
    fails_on_all("invalid argument: there is no avg of u8 values:", |_, communicator| {
        communicator.reduce_scatter_exact(&[1u8], ExactOp::Avg).map(drop)
    });
    fails_on_all("invalid argument: the number of bytes is 9, expected a multiple of 8", |_, communicator| {
        communicator.start_all_reduce_exact(vec![0; 9], ElementType::I64, ExactOp::Sum).wait().map(drop)
    });
}

#[test]
fn a_rank_that_has_ended_is_named_at_once() {
    let all_done = Arc::new(Barrier::new(2));
    job(3, move |rank, root| {
        let mut communicator = builder(rank, 3, &root).timeout(Duration::from_secs(600)).connect().unwrap();
        communicator.barrier().unwrap();
        if rank == 2 {
            return;
        }
        let begin = Instant::now();
        let error = communicator.all_reduce_exact(&mut [1f32; 100], ExactOp::Sum).unwrap_err();
        assert!(matches!(error, Error::Control(ControlError::Gone(2))), "{error}");
        let error = communicator.all_to_all_bytes(&[&[], &[], &[]]).unwrap_err().to_string();
        assert!(error.contains("the connection to rank 2 has ended"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(300), "{:?}", begin.elapsed());
        all_done.wait();
    });
}

#[test]
fn ranks_that_skip_one_that_ended_reduce_without_it() {
    let results = job(3, |rank, root| {
        let mut communicator = builder(rank, 3, &root).connect().unwrap();
        communicator.skip_gone_ranks().unwrap();
        if rank == 1 {
            return None;
        }
        let mut means = [rank as f64, 5.0, 6.0, 7.0];
        communicator.barrier().unwrap();
        communicator.all_reduce_exact(&mut means, ExactOp::Avg).unwrap();
        let all = communicator.all_to_all_bytes(&[&[0, rank as u8], &[1], &[2, rank as u8]]).unwrap();
        let gathered = communicator.gather_bytes(2, &[rank as u8]).unwrap();
        let lost = communicator.broadcast_bytes(1, &mut [0; 4]).unwrap_err();
        assert!(matches!(lost, Error::Control(ControlError::Gone(1))), "{lost}");
        communicator.barrier().unwrap();
        Some((means, all, gathered))
    });
    let expected = |rank: u8, gathered: Vec<Vec<u8>>| {
        Some(([1.0, 5.0, 6.0, 7.0], vec![vec![rank, 0], vec![], vec![rank, 2]], gathered))
    };
    assert_eq!(results[0], expected(0, vec![]));
    assert_eq!(results[2], expected(2, vec![vec![0], vec![], vec![2]]));
}

/// The others must return the call's result or an error that names the dead rank. The rank drops
/// its communicator at a random time during the call.
#[test]
fn ranks_that_skip_one_that_dies_in_the_middle_of_a_call_stay_in_step() {
    const DYING: usize = 1;
    let seed = Random::seed();
    for time in 0..12 {
        let outcomes = job(3, move |rank, root| {
            let mut communicator = builder(rank, 3, &root).connect().unwrap();
            communicator.skip_gone_ranks().unwrap();
            let part = vec![1; 5 << 20];
            let call = |communicator: &mut Communicator| match time % 3 {
                0 => communicator.start_all_reduce_exact(part.clone(), ElementType::U8, ExactOp::Sum),
                1 => communicator.start_broadcast_bytes(DYING, part.clone()),
                _ => communicator.start_reduce_scatter_exact(part.clone(), ElementType::U8, ExactOp::Max),
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
            let mut others = [10 << rank];
            communicator.all_reduce_exact(&mut others, ExactOp::Sum).unwrap();
            assert_eq!(others, [50], "rank {rank}, after: {outcome}");
            assert_eq!(communicator.all_gather_bytes(&[rank as u8]).unwrap(), [vec![0], vec![], vec![2]]);
            outcome
        });
        println!("{time}: {outcomes:?}");
        let is_named = |outcome: &String| outcome.contains("bytes of") || outcome.contains("rank 1");
        assert!(outcomes.iter().all(|outcome| outcome.is_empty() || is_named(outcome)), "{outcomes:?}");
    }
}
