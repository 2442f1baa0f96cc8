//! Plain-Rust model of a window on its way into and out of the card: encoding and interleave, and
//! decoding with losses.

use crate::arith::fp_mul_model::fp_mul;
use crate::arith::recip_rom::recip;
use crate::hadamard::model::transform_block;
use crate::hdl::prelude::Beat;
use optireduce_contract::shard::interleaved;

#[derive(Clone, Copy, Debug)]
pub struct Code {
    pub log2_n: u32,
    pub log2_blocks: u32,
    pub key: u64,
}

impl Code {
    fn beats_of_block(&self) -> usize {
        1 << (self.log2_n - 4)
    }

    fn transform(&self, beats: &mut [Beat], decode: bool, block: usize) {
        let mut lanes: Vec<f32> = beats.iter().flat_map(|beat| beat.0.map(f32::from_bits)).collect();
        transform_block(&mut lanes, self.log2_n, decode, self.key, (block * self.beats_of_block()) as u32);
        for (beat, lanes) in beats.iter_mut().zip(lanes.chunks_exact(16)) {
            *beat = Beat(std::array::from_fn(|lane| lanes[lane].to_bits()));
        }
    }
}

/// Contents of the transmit buffer: padded with zeros to `beats`, and encoded if there is a code.
pub fn sent(gradient: &[Beat], beats: usize, code: Option<Code>) -> Vec<Beat> {
    let mut window = gradient.to_vec();
    window.resize(beats, Beat::default());
    let Some(code) = code else { return window };
    let mut out = vec![Beat::default(); beats];
    for (block, beats) in window.chunks_exact_mut(code.beats_of_block()).enumerate() {
        code.transform(beats, false, block);
        for (beat, data) in beats.iter().enumerate() {
            out[interleaved(block, beat, 1 << code.log2_blocks)] = *data;
        }
    }
    out
}

/// Data written to host memory for these gathered beats, `None` for a missing one.
pub fn result(gathered: &[Option<Beat>], host_beats: usize, code: Option<Code>) -> Vec<Beat> {
    let mut out: Vec<Beat> = Vec::new();
    let times = |beat: Beat, factor: u32| Beat(beat.0.map(|lane| fp_mul(lane, factor)));
    if let Some(code) = code {
        let n = code.beats_of_block();
        for block in 0..gathered.len() / n {
            let place = |beat| gathered[interleaved(block, beat, 1 << code.log2_blocks)];
            let received = (0..n).filter(|beat| place(*beat).is_some()).count();
            let mut beats: Vec<Beat> = (0..n).map(|beat| place(beat).unwrap_or_default()).collect();
            code.transform(&mut beats, true, block);
            let ratio = fp_mul((n as f32).to_bits(), recip(received.max(1) as u32));
            out.extend(beats.into_iter().map(|beat| times(beat, ratio)));
        }
    } else {
        out.extend(gathered.iter().map(|beat| times(beat.unwrap_or_default(), 1.0f32.to_bits())));
    }
    out.truncate(host_beats);
    out
}
