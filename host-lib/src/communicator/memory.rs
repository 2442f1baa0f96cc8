//! Memory of calls that outlive the function that made them.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use crate::buffer::Buffer;
use optireduce_core::Values;

/// Memory of a bounded collective, which moves into the call and back with its result:
///
/// * `Vec<f32>`: an all-reduce copies nothing, and may return other memory than it was given.
/// * [`Buffer`]: cards and ranks of this host read it in place; the result is copied once.
/// * `(Buffer, Buffer)`: the first is read, the second is written; an all-reduce copies nothing.
///
/// After an error the memory is not returned, since a card or another rank may still read it. It
/// is freed once its last user is done.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot move into a call that outlives this function",
    label = "not memory that the call can own",
    note = "pass a `Vec<f32>`, a `Buffer` from `Communicator::alloc`, or two buffers, one read and one written",
    note = "`Bucket::all_reduce` takes a slice, and blocks"
)]
pub trait Memory: sealed::Lend {}

impl Memory for Vec<f32> {}
impl Memory for Buffer {}
impl Memory for (Buffer, Buffer) {}

/// Lends memory until the values are dropped, which returns it to the other end.
pub fn lend<M: DerefMut<Target = [f32]> + Send + Sync + 'static>(memory: M) -> (Values, Back<M>) {
    let back = Back(Arc::default());
    (Values::lent(Parcel { memory: Some(memory), back: back.clone() }), back)
}

/// End to which [lent](lend) memory returns.
#[derive(Debug)]
pub struct Back<M>(Arc<Mutex<Option<M>>>);

impl<M> Back<M> {
    /// Returns the memory; `None` while it is lent.
    pub fn take(&self) -> Option<M> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<M> Clone for Back<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Parcel<M> {
    /// `None` only in `drop`.
    memory: Option<M>,
    back: Back<M>,
}

impl<M: Deref<Target = [f32]>> Deref for Parcel<M> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.memory.as_deref().unwrap_or_default()
    }
}

impl<M: DerefMut<Target = [f32]>> DerefMut for Parcel<M> {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.memory.as_deref_mut().unwrap_or_default()
    }
}

impl<M> Drop for Parcel<M> {
    fn drop(&mut self) {
        *self.back.0.lock().unwrap_or_else(PoisonError::into_inner) = self.memory.take();
    }
}

mod sealed {
    use super::lend;
    use crate::buffer::Buffer;
    use optireduce_core::{Destination, Values};

    pub trait Lend: Sized + Send + 'static {
        /// Lends the memory to an all-reduce. The function takes the result and returns the memory.
        fn lend(self) -> (Values, Destination, impl FnOnce(Values) -> Option<Self> + Send + 'static);

        /// Lends the memory for reading. The function returns it once the call has ended.
        fn lend_to_read(self) -> (Values, impl FnOnce() -> Option<Self> + Send + 'static);

        fn read(&self) -> &[f32];

        fn write(&mut self) -> &mut [f32];

        /// Writes a whole result.
        fn put(&mut self, result: Vec<f32>) {
            self.write().copy_from_slice(&result);
        }

        /// Returns a length other than `elements`, if the memory has one.
        fn misfit(&self, elements: usize) -> Option<usize> {
            Some(self.read().len()).filter(|found| *found != elements)
        }
    }

    impl Lend for Vec<f32> {
        fn lend(self) -> (Values, Destination, impl FnOnce(Values) -> Option<Self> + Send + 'static) {
            (self.into(), Destination::Bucket, |result: Values| Some(result.into_vec()))
        }

        fn lend_to_read(self) -> (Values, impl FnOnce() -> Option<Self> + Send + 'static) {
            let (values, back) = lend(self);
            (values, move || back.take())
        }

        fn read(&self) -> &[f32] {
            self
        }

        fn write(&mut self) -> &mut [f32] {
            self
        }

        fn put(&mut self, result: Vec<f32>) {
            *self = result;
        }
    }

    impl Lend for Buffer {
        fn lend(self) -> (Values, Destination, impl FnOnce(Values) -> Option<Self> + Send + 'static) {
            let (values, back) = self.lend_to_read();
            let back = move |result| {
                drop(result);
                back()
            };
            (values, Destination::Gradient, back)
        }

        fn lend_to_read(self) -> (Values, impl FnOnce() -> Option<Self> + Send + 'static) {
            let (values, back) = lend(self);
            (values, move || back.take())
        }

        fn read(&self) -> &[f32] {
            self
        }

        fn write(&mut self) -> &mut [f32] {
            self
        }
    }

    impl Lend for (Buffer, Buffer) {
        fn lend(self) -> (Values, Destination, impl FnOnce(Values) -> Option<Self> + Send + 'static) {
            let ((from, from_back), (to, to_back)) = (lend(self.0), lend(self.1));
            let back = move |result| {
                drop(result);
                from_back.take().zip(to_back.take())
            };
            (from, Destination::Here(to), back)
        }

        fn lend_to_read(self) -> (Values, impl FnOnce() -> Option<Self> + Send + 'static) {
            let ((from, back), to) = (lend(self.0), self.1);
            (from, move || Some((back.take()?, to)))
        }

        fn read(&self) -> &[f32] {
            &self.0
        }

        fn write(&mut self) -> &mut [f32] {
            &mut self.1
        }

        fn misfit(&self, elements: usize) -> Option<usize> {
            [self.0.len(), self.1.len()].into_iter().find(|found| *found != elements)
        }
    }
}
