//~ use of moved value: `barrier`
pub fn meet(communicator: &mut optireduce::Communicator) -> Result<(), optireduce::Error> {
    let barrier = communicator.barrier();
    barrier.wait()?;
    barrier.wait()
}
