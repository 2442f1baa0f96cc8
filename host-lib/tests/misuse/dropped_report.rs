//~ unused `optireduce::Report` that must be used
//~ it shows losses, whether the update was applied
#![deny(unused_must_use)]

pub fn step(bucket: &mut optireduce::Bucket, gradient: &mut [f32]) -> Result<(), optireduce::Error> {
    bucket.all_reduce(gradient)?;
    Ok(())
}
