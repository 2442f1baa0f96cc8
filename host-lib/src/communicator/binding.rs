//! Calls for the bindings of other languages, which keep track of their memory themselves. Outside
//! of semantic versioning.

use std::time::Duration;

pub use optireduce_core::{Destination, Loan, Values};

use super::exact::reliable_mean;
pub use super::memory::{Back, lend};
use super::request::Outcome;
pub use super::request::block_on_for;
use super::{Bucket, Cause, Communicator, Error, PartialReduce, Report, Request};
pub use crate::control::Launch;
use crate::settings::Setting;
pub use crate::settings::Shape;
use optireduce_core::protocol::Kind;

/// Memory available to this process.
pub mod memory {
    pub use crate::memory::{NotEnoughMemory, require, require_each, room};
}

/// Averages values of caller-owned memory, which is returned by dropping it, at the latest with the
/// communicator. [`Report::copied_bytes`] counts:
///
/// * [`Destination::Here`]: nothing, or the result once if stages had closed before the call.
/// * [`Destination::Gradient`]: the result once.
///
/// The destination is zeros after a [halt](crate::ErrorKind::Halted), and if the update is
/// [skipped](Report::is_applied). Drives the engine without waking its thread.
///
/// # Errors
/// See [`Error`].
pub fn all_reduce(bucket: &mut Bucket, values: Values, destination: Destination) -> Result<(Values, Report), Error> {
    bucket.reduce((values, destination).into())
}

/// Starts [`all_reduce`].
pub fn start_all_reduce(bucket: &mut Bucket, values: Values, destination: Destination) -> Request<(Values, Report)> {
    bucket.begin(Kind::AllReduce, (values, destination).into(), Outcome::whole).wake()
}

/// Starts a reduce-scatter, which returns the shard alone.
pub fn start_reduce_scatter(bucket: &mut Bucket, values: Values) -> Request<(Values, Report)> {
    bucket.begin(Kind::ReduceScatter, values.into(), Outcome::whole).wake()
}

/// Starts an all-gather of the shard alone, which returns all values.
pub fn start_all_gather(bucket: &mut Bucket, shard: Values) -> Request<(Values, Report)> {
    bucket.begin(Kind::AllGather, shard.into(), Outcome::whole).wake()
}

/// Starts [`Communicator::close`], after which the caller drops the communicator. Dropping it
/// earlier aborts the close.
pub fn start_close(communicator: &mut Communicator) -> Request<()> {
    Request::on_a_thread("optireduce-close", communicator.start_ending())
}

/// Starts [`PartialReduce::close`], as [`start_close`].
pub fn start_close_partial(partial: &mut PartialReduce) -> Request<()> {
    partial.start_close()
}

/// Form of the values of a setting.
pub fn shape(setting: &Setting) -> Shape {
    setting.shape()
}

/// Error of a call whose communicator has ended.
pub fn closed() -> Error {
    Cause::Closed.into()
}

/// Id of a bucket in [`Report::bucket`].
pub fn bucket_id(bucket: &Bucket) -> u16 {
    bucket.id()
}

/// Starts an exact average over TCP, as a baseline for bounded stages: returns the mean and the
/// duration of each stage.
pub fn start_reliable_mean(communicator: &mut Communicator, values: Vec<f32>) -> Request<(Vec<f32>, [Duration; 2])> {
    reliable_mean(communicator, values)
}
