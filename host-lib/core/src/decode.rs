//! The output of a window from the beats that came.
//!
//! Used when a window ends, and again when repairs have filled what was missing.

use optireduce_contract::limits::{LANES, NAN_BITS};

use crate::hadamard::{self, Code};
use crate::protocol::WindowPlan;

/// The output of a window from its beats in wire order, of which those with a bit in `present` came: missing beats are
/// zeros, blocks decoded and rescaled.
pub(crate) fn decode_window(plan: &WindowPlan, gathered: &[f32], present: &[u64], out: &mut [f32]) {
    if plan.hadamard {
        return hadamard::decode(code(plan), gathered, Some(present), out);
    }
    for (position, to) in out.chunks_mut(LANES).enumerate() {
        if present[position / 64] >> (position % 64) & 1 == 1 {
            to.iter_mut().zip(&gathered[position * LANES..]).for_each(|(to, from)| *to = canonical(*from));
        } else {
            to.fill(0.0);
        }
    }
}

/// The card has one NaN, processors have many: which of them a sum gives depends on its operands and on the instruction. It
/// is enough to look at means and at results, since what is a NaN in between stays one.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(NAN_BITS) } else { value }
}

/// How the window is encoded.
pub(crate) fn code(plan: &WindowPlan) -> Code {
    Code { log2_n: plan.log2_n, log2_blocks: plan.log2_blocks, sign_key: plan.sign_key }
}
