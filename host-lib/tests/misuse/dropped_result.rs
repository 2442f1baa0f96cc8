//~ unused `optireduce::Report` in tuple element 1 that must be used
#![deny(unused_must_use)]

pub fn step(bucket: &mut optireduce::Bucket, gradient: Vec<f32>) -> Result<(), optireduce::Error> {
    bucket.start_all_reduce(gradient).wait()?;
    Ok(())
}
