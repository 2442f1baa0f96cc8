//~ unused `optireduce::Request` that must be used
#![deny(unused_must_use)]

pub fn step(bucket: &mut optireduce::Bucket, gradient: Vec<f32>) {
    bucket.start_all_reduce(gradient);
}
