//! Reduction of the ranks' values, in pieces.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul};

use half::{bf16, f16};

use super::{ElementType, ExactOp};

/// Folds equally long pieces of several ranks, in the order of the calls.
pub(crate) trait Fold: Send {
    /// Takes a rank's piece of whole elements.
    fn take(&mut self, piece: &[u8]);
    /// Appends the result for `ranks` ranks to `into`, and resets.
    fn finish(&mut self, ranks: usize, into: &mut Vec<u8>);
}

/// Returns `None` if the operation does not support the type.
pub(crate) fn fold(element: ElementType, op: ExactOp) -> Option<Box<dyn Fold>> {
    macro_rules! integer {
        ($type:ident) => {{
            let (read, write) = ($type::from_le_bytes, $type::to_le_bytes);
            match op {
                ExactOp::Sum => folded(read, $type::wrapping_add, write),
                ExactOp::Product => folded(read, $type::wrapping_mul, write),
                ExactOp::Min => folded(read, Ord::min, write),
                ExactOp::Max => folded(read, Ord::max, write),
                ExactOp::And => folded(read, BitAnd::bitand, write),
                ExactOp::Or => folded(read, BitOr::bitor, write),
                ExactOp::Xor => folded(read, BitXor::bitxor, write),
                ExactOp::Avg => return None,
            }
        }};
    }
    let narrow = |mean| mean as f32;
    Some(match element {
        ElementType::F16 => {
            let (read, write) =
                (|bytes| f16::from_le_bytes(bytes).to_f32(), |value| f16::from_f32(value).to_le_bytes());
            float(op, narrow, read, write)?
        }
        ElementType::Bf16 => {
            let (read, write) =
                (|bytes| bf16::from_le_bytes(bytes).to_f32(), |value| bf16::from_f32(value).to_le_bytes());
            float(op, narrow, read, write)?
        }
        ElementType::F32 => float(op, narrow, f32::from_le_bytes, f32::to_le_bytes)?,
        ElementType::F64 => float(op, |mean| mean, f64::from_le_bytes, f64::to_le_bytes)?,
        ElementType::I8 => integer!(i8),
        ElementType::U8 => integer!(u8),
        ElementType::I16 => integer!(i16),
        ElementType::U16 => integer!(u16),
        ElementType::I32 => integer!(i32),
        ElementType::U32 => integer!(u32),
        ElementType::I64 => integer!(i64),
        ElementType::U64 => integer!(u64),
    })
}

/// Divisor of the terms of a mean, so that their sum does not overflow where the mean does not: a
/// power of two, at least the number of ranks. It rounds no number above 1e-302.
const HEADROOM: f64 = 65_536.0;

/// Fold of a floating-point type, computed in `W`; means in `f64`.
fn float<W, const N: usize>(
    op: ExactOp,
    narrow: impl Fn(f64) -> W + Send + 'static,
    read: impl Fn([u8; N]) -> W + Send + 'static,
    write: impl Fn(W) -> [u8; N] + Send + 'static,
) -> Option<Box<dyn Fold>>
where
    W: Copy + Add<Output = W> + Mul<Output = W> + Into<f64> + PartialOrd + Send + 'static,
{
    // NaN does not compare with itself. It wins, whichever rank has it.
    let first = |a: W, b: W, first: bool| if first || a.partial_cmp(&a).is_none() { a } else { b };
    Some(match op {
        ExactOp::Sum => folded(read, W::add, write),
        ExactOp::Avg => {
            let mean = move |sum, ranks: usize| write(narrow(sum / ranks as f64 * HEADROOM));
            scaled(move |bytes| read(bytes).into() / HEADROOM, f64::add, mean)
        }
        ExactOp::Product => folded(read, W::mul, write),
        ExactOp::Min => folded(read, move |a, b| first(a, b, a <= b), write),
        ExactOp::Max => folded(read, move |a, b| first(a, b, a >= b), write),
        ExactOp::And | ExactOp::Or | ExactOp::Xor => return None,
    })
}

struct Values<W, const N: usize, R, C, T> {
    values: Vec<W>,
    is_new: bool,
    read: R,
    combine: C,
    write: T,
}

fn folded<W: Copy + Send + 'static, const N: usize>(
    read: impl Fn([u8; N]) -> W + Send + 'static,
    combine: impl Fn(W, W) -> W + Send + 'static,
    write: impl Fn(W) -> [u8; N] + Send + 'static,
) -> Box<dyn Fold> {
    scaled(read, combine, move |value, _| write(value))
}

fn scaled<W: Copy + Send + 'static, const N: usize>(
    read: impl Fn([u8; N]) -> W + Send + 'static,
    combine: impl Fn(W, W) -> W + Send + 'static,
    write: impl Fn(W, usize) -> [u8; N] + Send + 'static,
) -> Box<dyn Fold> {
    Box::new(Values::<W, N, _, _, _> { values: Vec::new(), is_new: true, read, combine, write })
}

impl<W, const N: usize, R, C, T> Fold for Values<W, N, R, C, T>
where
    W: Copy + Send,
    R: Fn([u8; N]) -> W + Send,
    C: Fn(W, W) -> W + Send,
    T: Fn(W, usize) -> [u8; N] + Send,
{
    fn take(&mut self, piece: &[u8]) {
        let (piece, rest) = piece.as_chunks::<N>();
        debug_assert!(rest.is_empty() && (self.is_new || piece.len() == self.values.len()), "{} values", piece.len());
        if std::mem::take(&mut self.is_new) {
            self.values.extend(piece.iter().map(|bytes| (self.read)(*bytes)));
        } else {
            let values = self.values.iter_mut().zip(piece);
            values.for_each(|(value, bytes)| *value = (self.combine)(*value, (self.read)(*bytes)));
        }
    }

    fn finish(&mut self, ranks: usize, into: &mut Vec<u8>) {
        let begin = into.len();
        into.resize(begin + N * self.values.len(), 0);
        let places = into[begin..].as_chunks_mut::<N>().0.iter_mut();
        places.zip(self.values.drain(..)).for_each(|(place, value)| *place = (self.write)(value, ranks));
        self.is_new = true;
    }
}
