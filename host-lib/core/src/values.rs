//! The memory of a collective's values: handed in, or lent by a caller whose values must stay where they are.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Memory that a caller has lent: nobody else writes it, or reads it if it is written, until this is dropped.
pub trait Loan: DerefMut<Target = [f32]> + Send + Sync {}

impl<T: DerefMut<Target = [f32]> + Send + Sync> Loan for T {}

/// Values of a gradient or a result.
pub enum Values {
    /// Memory that was handed in. It may become the result memory of a later collective.
    Own(Vec<f32>),
    /// Memory that lies where it must stay. It is given back when it is dropped, whatever becomes of the collective.
    Lent(Box<dyn Loan>),
}

impl Values {
    /// Lends memory.
    pub fn lent(loan: impl Loan + 'static) -> Self {
        Self::Lent(Box::new(loan))
    }

    /// The values, copied if they are lent.
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
    /// As [`Values::into_vec`].
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

/// A copy of lent memory is memory of its own.
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

/// Where the result of an all-reduce of a declared bucket is to lie.
#[derive(Debug, Default)]
pub enum Destination {
    /// In memory of the bucket's, for which it takes what was given.
    #[default]
    Bucket,
    /// Where the gradient lies. The result is copied there if the update is applied.
    Gradient,
    /// Here: it is written here as it comes, and what came before the caller did is moved here. Only if stages have closed by then it is
    /// copied at the end. If the update is not applied, what it holds means nothing.
    Here(Values),
}
