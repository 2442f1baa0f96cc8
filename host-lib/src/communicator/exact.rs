//! Exact reductions over TCP, of any element type, with the same bits on all ranks.

use std::time::Duration;

use super::request::{Pending, block_on};
use super::{Communicator, Error};
use crate::control::{Terms, reliable};
use crate::exact::{Bytes as _, Element, ElementType, ExactOp, Fold, fold};
use optireduce_core::protocol::Parts;

impl Communicator {
    /// Reduces `data` over all ranks, in place. Exact, over TCP, with the same bits on all ranks.
    /// Collective.
    ///
    /// The [timeout](crate::Settings::timeout) bounds the time without progress. Integers wrap, NaN
    /// of any rank stays in minimum and maximum, and floating-point values are folded in the order
    /// of ranks. Each rank sends 2 (ranks - 1) / ranks times the bytes.
    ///
    /// # Errors
    /// On every rank if lengths, types or operations differ. If the type does not support the
    /// operation. Names a rank that is gone or makes no progress for the timeout. `data` is then
    /// unchanged.
    pub fn all_reduce_exact<T: Element>(&mut self, data: &mut [T], op: ExactOp) -> Result<(), Error> {
        block_on(self.all_reduce_exact_async(data, op))
    }

    /// Async form of [`all_reduce_exact`](Self::all_reduce_exact).
    pub async fn all_reduce_exact_async<T: Element>(&mut self, data: &mut [T], op: ExactOp) -> Result<(), Error> {
        let bytes = self.start_all_reduce_exact(T::to_bytes(data), T::TYPE, op).await?;
        T::put(&bytes, data);
        Ok(())
    }

    /// Starts [`all_reduce_exact`](Self::all_reduce_exact) with little-endian values of a type
    /// known at run time, and returns the result.
    pub fn start_all_reduce_exact(
        &mut self,
        mut bytes: Vec<u8>,
        element: ElementType,
        op: ExactOp,
    ) -> Pending<Vec<u8>> {
        let (terms, fold) = check("all_reduce_exact", bytes.len(), element, op);
        self.shared.call_with(terms, fold, move |fold, channel, timeout| {
            reliable::all_reduce(channel, &mut bytes, element.bytes(), fold, timeout)?;
            Ok(bytes)
        })
    }

    /// Reduces `data` over all ranks as [`all_reduce_exact`](Self::all_reduce_exact), and returns
    /// this rank's [`shard`](Self::shard_range). Collective.
    ///
    /// # Errors
    /// See [`all_reduce_exact`](Self::all_reduce_exact).
    pub fn reduce_scatter_exact<T: Element>(&mut self, data: &[T], op: ExactOp) -> Result<Vec<T>, Error> {
        block_on(self.reduce_scatter_exact_async(data, op))
    }

    /// Async form of [`reduce_scatter_exact`](Self::reduce_scatter_exact).
    pub async fn reduce_scatter_exact_async<T: Element>(&mut self, data: &[T], op: ExactOp) -> Result<Vec<T>, Error> {
        let bytes = self.start_reduce_scatter_exact(T::to_bytes(data), T::TYPE, op).await?;
        let mut shard = vec![T::default(); bytes.len() / T::TYPE.bytes()];
        T::put(&bytes, &mut shard);
        Ok(shard)
    }

    /// Starts [`reduce_scatter_exact`](Self::reduce_scatter_exact), with values as in
    /// [`start_all_reduce_exact`](Self::start_all_reduce_exact).
    pub fn start_reduce_scatter_exact(
        &mut self,
        bytes: Vec<u8>,
        element: ElementType,
        op: ExactOp,
    ) -> Pending<Vec<u8>> {
        let (terms, fold) = check("reduce_scatter_exact", bytes.len(), element, op);
        let (size, ranks) = (element.bytes(), self.world_size());
        self.shared.call_with(terms, fold, move |fold, channel, timeout| {
            let parts = Parts::new(bytes.len() / size, ranks);
            let parts = (0..ranks).map(|rank| parts.of(rank)).map(|part| part.start * size..part.end * size);
            reliable::reduce_scatter(channel, &bytes, &parts.collect::<Vec<_>>(), fold, timeout)
        })
    }

    /// Averages `data` as [`all_reduce_exact`](Self::all_reduce_exact), and returns the duration of
    /// each stage, as a baseline for bounded stages. Collective.
    ///
    /// # Errors
    /// As [`all_reduce_exact`](Self::all_reduce_exact).
    pub fn all_reduce_reliable(&mut self, data: &mut [f32]) -> Result<[Duration; 2], Error> {
        block_on(self.all_reduce_reliable_async(data))
    }

    /// Async form of [`all_reduce_reliable`](Self::all_reduce_reliable).
    pub async fn all_reduce_reliable_async(&mut self, data: &mut [f32]) -> Result<[Duration; 2], Error> {
        let (element, mut bytes) = (ElementType::F32, f32::to_bytes(data));
        let (terms, fold) = check("all_reduce_reliable", bytes.len(), element, ExactOp::Avg);
        let reduced = self.shared.call_with(terms, fold, move |fold, channel, timeout| {
            let times = reliable::all_reduce(channel, &mut bytes, element.bytes(), fold, timeout)?;
            Ok((bytes, times))
        });
        let (bytes, times) = reduced.await?;
        f32::put(&bytes, data);
        Ok(times)
    }
}

/// Returns the terms of the call, and its fold.
fn check(call: &str, bytes: usize, element: ElementType, op: ExactOp) -> (Terms, Result<Box<dyn Fold>, Error>) {
    let size = element.bytes();
    let is_whole = bytes.is_multiple_of(size);
    let elements = if is_whole { (bytes / size).to_string() } else { format!("{bytes} bytes") };
    let terms = Terms::default().with("the call", call).with("the element type", element);
    let terms = terms.with("the operation", op).with("elements", elements);
    let (name, expected) = ("the number of bytes", format!("a multiple of {size}, as a value of {element} has"));
    let fold = match fold(element, op) {
        _ if !is_whole => Err(Error::Argument { name, found: bytes, expected }),
        Some(fold) => Ok(fold),
        None => Err(Error::Operation { op, element }),
    };
    (terms, fold)
}
