//~ cannot borrow `*bucket` as mutable more than once at a time
pub fn both(bucket: &mut optireduce::Bucket) {
    std::thread::scope(|threads| {
        threads.spawn(|| bucket.all_reduce(&mut [1.0]).map(drop));
        threads.spawn(|| bucket.all_reduce(&mut [2.0]).map(drop));
    });
}
