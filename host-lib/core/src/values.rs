//! The memory of a collective's values: owned, or lent by the caller.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Caller-owned buffer. Until it is dropped, no other code may write it, or read it if it is a
/// destination.
pub trait Loan: DerefMut<Target = [f32]> + Send + Sync {}

impl<T: DerefMut<Target = [f32]> + Send + Sync> Loan for T {}

/// Values of a gradient or a result.
pub enum Values {
    /// Owned memory, which a later collective may reuse for its result.
    Own(Vec<f32>),
    /// Caller-owned buffer, returned by dropping it in every case.
    Lent(Box<dyn Loan>),
}

impl Values {
    /// Wraps a caller-owned buffer.
    pub fn lent(loan: impl Loan + 'static) -> Self {
        Self::Lent(Box::new(loan))
    }

    /// Returns the values, copied if they are lent.
    pub fn into_vec(self) -> Vec<f32> {
        match self {
            Self::Own(values) => values,
            Self::Lent(loan) => loan.to_vec(),
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Self::Own(values)
    }
}

impl From<Values> for Vec<f32> {
    fn from(values: Values) -> Self {
        values.into_vec()
    }
}

impl Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Own(values) => values,
            Self::Lent(loan) => loan,
        }
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Own(values) => values,
            Self::Lent(loan) => loan,
        }
    }
}

/// The clone is owned.
impl Clone for Values {
    fn clone(&self) -> Self {
        Self::Own(self.to_vec())
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Vec<f32>> for Values {
    fn eq(&self, other: &Vec<f32>) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Memory for the result of an all-reduce of a declared bucket.
#[derive(Debug, Default)]
pub enum Destination {
    /// Memory of the bucket, which keeps the gradient's in exchange.
    #[default]
    Bucket,
    /// Memory of the gradient, into which the result is copied if it is applied.
    Gradient,
    /// This memory. The data plane writes into it directly if possible; otherwise the result is
    /// copied at the end. Its contents are unspecified if the update is not applied.
    Here(Values),
}
