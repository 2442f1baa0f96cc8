//~ `&mut [f32]` cannot move into a call that outlives this function
//~ `Bucket::all_reduce` takes a slice, and blocks
pub fn step(bucket: &mut optireduce::Bucket, gradient: &mut [f32]) {
    let _request = bucket.start_all_reduce(gradient);
}
