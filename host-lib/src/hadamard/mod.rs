//! placeholder
#![allow(missing_docs)]
pub struct Code {
    pub log2_n: u32,
    pub log2_blocks: u32,
    pub sign_key: u64,
}
pub fn encode(_: Code, _: &[f32], _: &mut [f32]) {
    unimplemented!()
}
pub fn decode(_: Code, _: &[f32], _: Option<&[u64]>, _: &mut [f32]) {
    unimplemented!()
}
pub fn round_to_bf16(x: &mut [f32]) {
    for v in x {
        let b = v.to_bits();
        if !v.is_nan() {
            *v = f32::from_bits((b + 0x7fff + (b >> 16 & 1)) & 0xffff_0000);
        }
    }
}
