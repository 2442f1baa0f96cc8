//~ unused return value of `optireduce::Request::<T>::wait_timeout` that must be used
#![deny(unused_must_use)]

pub fn meet(communicator: &mut optireduce::Communicator) -> Result<(), optireduce::Error> {
    let mut barrier = communicator.barrier();
    barrier.wait_timeout(std::time::Duration::from_secs(1));
    barrier.wait()
}
