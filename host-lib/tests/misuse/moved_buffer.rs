//~ borrow of moved value: `gradient`
pub fn step(bucket: &mut optireduce::Bucket, gradient: optireduce::Buffer) -> f32 {
    let _request = bucket.start_all_reduce(gradient);
    gradient[0]
}
