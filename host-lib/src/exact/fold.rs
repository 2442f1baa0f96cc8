//! Reduction of the ranks' values, in pieces.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul};

use half::{bf16, f16};

use super::{ElementType, ExactOp};

/// Folds equally long pieces of several ranks, in the order of the calls.
pub(crate) trait Fold: Send {
    /// Takes a rank's piece of whole elements, one of `ranks`.
    fn take(&mut self, piece: &[u8], ranks: usize);
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
    Some(match element {
        ElementType::F16 => {
            let (read, write) =
                (|bytes| f16::from_le_bytes(bytes).to_f32(), |value| f16::from_f32(value).to_le_bytes());
            float(op, read, write)?
        }
        ElementType::Bf16 => {
            let (read, write) =
                (|bytes| bf16::from_le_bytes(bytes).to_f32(), |value| bf16::from_f32(value).to_le_bytes());
            float(op, read, write)?
        }
        ElementType::F32 => float(op, f32::from_le_bytes, f32::to_le_bytes)?,
        ElementType::F64 => float(op, f64::from_le_bytes, f64::to_le_bytes)?,
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

/// Floating-point type of the arithmetic.
trait Real: Copy + Add<Output = Self> + Mul<Output = Self> + PartialOrd + Send + 'static {
    /// Factor of the terms of a mean, so that their sum does not overflow, rounded or not: a power
    /// of two. It rounds subnormal terms only.
    fn scale(ranks: usize) -> Self;
    /// Returns a function from the sum of scaled terms to their mean.
    fn mean(ranks: usize) -> impl Fn(Self) -> Self;
}

macro_rules! real {
    ($($type:ident),*) => {$(
        impl Real for $type {
            fn scale(ranks: usize) -> Self {
                0.5 / ranks.next_power_of_two() as $type
            }

            fn mean(ranks: usize) -> impl Fn(Self) -> Self {
                // Neither divisor nor factor is rounded. A division takes longer.
                let divisor = ranks as $type * Self::scale(ranks);
                let (factor, is_exact) = (1.0 / divisor, ranks.is_power_of_two());
                move |sum| {
                    let mean = if is_exact { sum * factor } else { sum / divisor };
                    // Rounding may exceed the largest term.
                    if mean.is_infinite() && sum.is_finite() { $type::MAX.copysign(sum) } else { mean }
                }
            }
        }
    )*};
}

real!(f32, f64);

/// Fold of a floating-point type, computed in `W`.
fn float<W: Real, const N: usize>(
    op: ExactOp,
    read: impl Fn([u8; N]) -> W + Copy + Send + 'static,
    write: impl Fn(W) -> [u8; N] + Copy + Send + 'static,
) -> Option<Box<dyn Fold>> {
    // NaN does not compare with itself. It wins, whichever rank has it.
    let first = |a: W, b: W, first: bool| if first || a.partial_cmp(&a).is_none() { a } else { b };
    Some(match op {
        ExactOp::Sum => folded(read, W::add, write),
        ExactOp::Avg => {
            let term = move |ranks| {
                let scale = W::scale(ranks);
                move |bytes| read(bytes) * scale
            };
            let mean = move |ranks| {
                let mean = W::mean(ranks);
                move |sum| write(mean(sum))
            };
            scaled(term, W::add, mean)
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
    /// Returns the reader of values for a number of ranks; `write`: of results.
    read: R,
    combine: C,
    write: T,
}

fn folded<W: Copy + Send + 'static, const N: usize>(
    read: impl Fn([u8; N]) -> W + Copy + Send + 'static,
    combine: impl Fn(W, W) -> W + Send + 'static,
    write: impl Fn(W) -> [u8; N] + Copy + Send + 'static,
) -> Box<dyn Fold> {
    scaled(move |_| read, combine, move |_| write)
}

fn scaled<W: Copy + Send + 'static, const N: usize, G: Fn([u8; N]) -> W, H: Fn(W) -> [u8; N]>(
    read: impl Fn(usize) -> G + Send + 'static,
    combine: impl Fn(W, W) -> W + Send + 'static,
    write: impl Fn(usize) -> H + Send + 'static,
) -> Box<dyn Fold> {
    Box::new(Values::<W, N, _, _, _> { values: Vec::new(), is_new: true, read, combine, write })
}

impl<W, const N: usize, R, G, C, T, H> Fold for Values<W, N, R, C, T>
where
    W: Copy + Send,
    R: Fn(usize) -> G + Send,
    G: Fn([u8; N]) -> W,
    C: Fn(W, W) -> W + Send,
    T: Fn(usize) -> H + Send,
    H: Fn(W) -> [u8; N],
{
    fn take(&mut self, piece: &[u8], ranks: usize) {
        let (piece, rest) = piece.as_chunks::<N>();
        debug_assert!(rest.is_empty() && (self.is_new || piece.len() == self.values.len()), "{} values", piece.len());
        let read = (self.read)(ranks);
        if std::mem::take(&mut self.is_new) {
            self.values.extend(piece.iter().map(|bytes| read(*bytes)));
        } else {
            let values = self.values.iter_mut().zip(piece);
            values.for_each(|(value, bytes)| *value = (self.combine)(*value, read(*bytes)));
        }
    }

    fn finish(&mut self, ranks: usize, into: &mut Vec<u8>) {
        let begin = into.len();
        into.resize(begin + N * self.values.len(), 0);
        let (places, write) = (into[begin..].as_chunks_mut::<N>().0.iter_mut(), (self.write)(ranks));
        places.zip(&self.values).for_each(|(place, value)| *place = write(*value));
        self.values.clear();
        self.is_new = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(values: &[f32]) -> f32 {
        let (mut fold, mut mean) = (fold(ElementType::F32, ExactOp::Avg).unwrap(), Vec::new());
        values.iter().for_each(|value| fold.take(&value.to_le_bytes(), values.len()));
        fold.finish(values.len(), &mut mean);
        f32::from_le_bytes(mean.try_into().unwrap())
    }

    #[test]
    fn a_mean_is_exact_to_the_rounding_of_its_sum_and_never_overflows() {
        for ranks in [1, 2, 3, 5, 7, 8, 100, 1024] {
            for value in [3e38, f32::MAX, -f32::MAX, 0.1, f32::MIN_POSITIVE * ranks as f32] {
                let (mean, close) = (mean_of(&vec![value; ranks]), value.abs() * ranks as f32 * f32::EPSILON / 2.0);
                assert!((mean - value).abs() <= close && mean.is_finite(), "{mean} of {ranks} times {value}");
            }
            let values: Vec<f32> = (0..ranks).map(|rank| (rank as f32 * 0.37 - 50.0) * 1e36).collect();
            let exact = values.iter().map(|value| f64::from(*value)).sum::<f64>() / ranks as f64;
            let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let close = f64::from(largest) * ranks as f64 * f64::from(f32::EPSILON);
            assert!((f64::from(mean_of(&values)) - exact).abs() <= close, "{ranks} ranks");
        }
        assert_eq!(mean_of(&[3e38, 3e38]), 3e38);
        assert!(mean_of(&[f32::INFINITY, 1.0]).is_infinite() && mean_of(&[f32::NAN, 1.0]).is_nan());
    }
}
