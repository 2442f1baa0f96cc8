//~ the `?` operator cannot be applied to type `optireduce::Request<()>`
pub fn meet(communicator: &mut optireduce::Communicator) -> Result<(), optireduce::Error> {
    communicator.barrier()?;
    Ok(())
}
