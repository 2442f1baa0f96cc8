//~ unused `Settled` that must be used
//~ replicas differ until its correction is applied
#![deny(unused_must_use)]

pub fn end(bucket: &mut optireduce::Bucket) -> Result<(), optireduce::Error> {
    bucket.settle(None).wait()?;
    Ok(())
}
