//! Model of a small trainer. Gradients are whole numbers, so sums do not depend on the order of
//! corrections, and replicas can be compared bit by bit.

use optireduce::Bucket;

pub fn add(weights: &mut [f32], update: &[f32]) {
    weights.iter_mut().zip(update).for_each(|(weight, update)| *weight += update);
}

pub fn settle(bucket: &mut Bucket, weights: &mut [f32]) {
    let settled = bucket.settle(None).wait().unwrap();
    assert!(settled.is_settled, "{settled:?}");
    settled.correction.iter().for_each(|correction| add(weights, correction));
}

pub fn print(weights: &[f32]) {
    let digest = weights.iter().fold(0u64, |digest, weight| digest.rotate_left(7) ^ u64::from(weight.to_bits()));
    println!("weights {digest:016x} {:?}", weights[0]);
}

pub fn assert_equal(printed: &[Vec<String>]) {
    let of_ranks: Vec<_> = printed.iter().map(|lines| lines.iter().find(|line| line.starts_with("weights"))).collect();
    assert!(of_ranks[0].is_some() && of_ranks.iter().all(|weights| *weights == of_ranks[0]), "{of_ranks:?}");
}
