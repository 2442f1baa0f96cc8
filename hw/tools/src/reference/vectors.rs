//! Vectors for testing an implementation, computed by the card's models.

use std::fmt::Write;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    Endpoint, FLAG_LAST_PERCENTILE, HEADER_BYTES, UDP_PORT_DEFAULT, UbtHeader, write_header, write_udp_checksum,
};
use optireduce_contract::rules::send::{Cut, Packets};
use optireduce_contract::shard::{ShardMap, interleaved};
use optireduce_contract::signs::{signs16, window_key};
use optireduce_hw::arith::bf16;
use optireduce_hw::arith::fp_add_model::fp_add;
use optireduce_hw::arith::fp_mul_model::fp_mul;
use optireduce_hw::arith::recip_rom::recip;
use optireduce_hw::hadamard::model::transform_block;

/// log2 of the elements of a block.
const LOG2_N: u32 = 8;
const N: usize = 1 << LOG2_N;
const BLOCK_BEATS: usize = N / 16;
/// SIGN_KEY of the encoded window.
const KEY: u64 = 0x0123_4567_89ab_cdef;

pub(super) fn vectors(out: &mut String) {
    out.push_str(
        "## Vectors\n\nNumbers are decimal, or hexadecimal with 0x. fp32 values and bytes are hexadecimal without 0x.\n\n",
    );
    signs(out);
    shards(out);
    sums(out);
    bf16_rounding(out);
    bf16_packets(out);
    encoded(out);
    interleave(out);
    frame(out);
}

fn signs(out: &mut String) {
    out.push_str("| job seed, step, bucket, window | SIGN_KEY | signs of beats 0, 1, 2, 1023 |\n|---|---|---|\n");
    for (seed, step, bucket, window) in [(0, 0, 0, 0), (7, 1, 0, 0), (7, 1, 0, 1), (u64::MAX, 65535, 513, 3)] {
        let key = window_key(seed, step, bucket, window);
        let signs = [0, 1, 2, 1023].map(|beat| format!("{:#06x}", signs16(key, beat))).join(", ");
        let _ = writeln!(out, "| {seed:#x}, {step}, {bucket}, {window} | {key:#018x} | {signs} |");
    }
}

fn shards(out: &mut String) {
    out.push_str("\n| beats, ranks, ROTATION | first beat + beats of the shard that rank 0, 1, .. owns |\n|---|---|\n");
    for (beats, ranks, rotation) in [(16, 4, 0), (17, 4, 1), (1024, 3, 2), (2, 4, 0)] {
        let map = ShardMap::new(beats, ranks, rotation);
        let shards: Vec<String> = (0..ranks)
            .map(|rank| map.range_of(rank))
            .map(|shard| format!("{} + {}", shard.start, shard.len()))
            .collect();
        let _ = writeln!(out, "| {beats}, {ranks}, {rotation} | {} |", shards.join(", "));
    }
}

fn sums(out: &mut String) {
    out.push_str("\n| contributions, in order of arrival | sum | 1 / count | mean |\n|---|---|---|---|\n");
    let cases: [&[u32]; 7] = [
        &[0x3f80_0000, 0x4000_0000, 0x4040_0000],
        &[0x4b80_0000, 0x3f80_0000, 0x3f80_0000],
        &[0x3f80_0000, 0x3f80_0000, 0x4b80_0000],
        &[0x3f80_0000, 0x3f80_0001, 0x3f80_0003, 0x3f80_0005, 0x3f80_0007, 0x3f80_0009, 0x3f80_000b],
        &[0x0000_0001, 0x0000_0003],
        &[0x7f7f_ffff, 0x7f7f_ffff],
        &[0x7f80_0000, 0xff80_0000],
    ];
    for contributions in cases {
        let sum = contributions.iter().copied().reduce(fp_add).unwrap_or_default();
        let reciprocal = recip(contributions.len() as u32);
        let list: Vec<String> = contributions.iter().map(|bits| format!("{bits:08x}")).collect();
        let mean = fp_mul(sum, reciprocal);
        let _ = writeln!(out, "| {} | {sum:08x} | {reciprocal:08x} | {mean:08x} |", list.join(" "));
    }
}

fn bf16_rounding(out: &mut String) {
    out.push_str("\n| fp32 | bf16 | |\n|---|---|---|\n");
    for (bits, what) in [
        (0x3f80_8000, "halfway, to even: down"),
        (0x3f81_8000, "halfway, to even: up"),
        (0x3f80_8001, "above halfway"),
        (0x3f80_7fff, "below halfway"),
        (0xbfff_ffff, "into the next exponent"),
        (0x7f7f_ffff, "beyond the largest: infinity"),
        (0x0000_8001, "a subnormal number"),
        (0x8000_0000, "the sign of zero is kept"),
        (0xff80_0000, "infinity"),
        (0x7f80_0001, "a NaN stays a NaN, made quiet"),
        (0xffc1_2345, "a NaN, truncated"),
    ] {
        let _ = writeln!(out, "| {bits:08x} | {:04x} | {what} |", bf16::round(bits) >> 16);
    }
}

fn bf16_packets(out: &mut String) {
    out.push_str(
        "\nA shard of beats 7 to 11 of a window with BASE 4096, PAYLOAD_BEATS 2, MARK_PACKETS 1, as packets:\n\n\
         | payload | OFFSET, payload bytes, beats of the window, flags |\n|---|---|\n",
    );
    for (name, per_beat) in [("fp32", 1), ("bf16", 2)] {
        let cut = Cut { packet_beats: 2 * per_beat, mark_packets: 1 };
        let packets = Packets::new(7..12, cut).map(|packet| {
            let (offset, beats) = (4096 + packet.beats.start * BEAT_BYTES, packet.beats.len());
            let payload = beats.div_ceil(per_beat) * BEAT_BYTES;
            let flags = (u8::from(packet.marked) * FLAG_LAST_PERCENTILE) | (u8::from(per_beat == 2) * 4);
            format!("{offset}, {payload}, {} to {}, {flags}", packet.beats.start, packet.beats.end - 1)
        });
        let _ = writeln!(out, "| {name} | {} |", packets.collect::<Vec<_>>().join("; "));
    }
}

fn window(blocks: usize) -> Vec<f32> {
    (0..blocks * N).map(|element| (element as f32 - 100.0) / 8.0).collect()
}

fn encoded(out: &mut String) {
    let mut block = window(1);
    transform_block(&mut block, LOG2_N, false, KEY, 0);
    let _ = write!(
        out,
        "\nA window of one block of {N} elements, element i = (i - 100) / 8, SIGN_KEY {KEY:#018x}, encoded, one line per beat:\n\n```text\n",
    );
    for (beat, values) in block.chunks(16).enumerate() {
        let words: Vec<String> = values.iter().map(|value| format!("{:08x}", value.to_bits())).collect();
        let _ = writeln!(out, "{beat:2}: {}", words.join(" "));
    }
    out.push_str("```\n\nThe first eight elements of the same window, decoded. First line: all beats. Second line: beat 3 was lost and decoded as zeros.\n\n```text\n");
    let mut lossy = block.clone();
    lossy[3 * 16..4 * 16].fill(0.0);
    for mut values in [block, lossy] {
        transform_block(&mut values, LOG2_N, true, KEY, 0);
        let words: Vec<String> = values[..8].iter().map(|value| format!("{:08x}", value.to_bits())).collect();
        let _ = writeln!(out, "{}", words.join(" "));
    }
    out.push_str("```\n");
}

fn interleave(out: &mut String) {
    let mut values = window(2);
    for (block, part) in values.chunks_mut(N).enumerate() {
        transform_block(part, LOG2_N, false, KEY, (block * BLOCK_BEATS) as u32);
    }
    let _ = writeln!(
        out,
        "\nA window of two such blocks (elements 0 to {}) with the same key: lane 0 of the beats in the order of travel.\n\n\
         | position in the window | block, beat of the block | beat number of its signs, signs | lane 0 |\n|---|---|---|---|",
        2 * N - 1
    );
    for (block, beat) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, BLOCK_BEATS - 1), (1, BLOCK_BEATS - 1)] {
        let number = block * BLOCK_BEATS + beat;
        let (position, signs) = (interleaved(block, beat, 2), signs16(KEY, number as u32));
        let lane = values[number * 16].to_bits();
        let _ = writeln!(out, "| {position} | {block}, {beat} | {number}, {signs:#06x} | {lane:08x} |");
    }
}

fn frame(out: &mut String) {
    let ubt = UbtHeader {
        bucket: 2,
        offset: 4096,
        timeout_16us: 77,
        incast: 5,
        flags: FLAG_LAST_PERCENTILE,
        sender: 3,
        step: 0x1234,
        job_tag: 0x1122_3344_5566_7788,
        ..UbtHeader::default()
    };
    let mut header = [0; HEADER_BYTES];
    write_header(&mut header, Endpoint::of_rank(3), Endpoint::of_rank(0), UDP_PORT_DEFAULT, &ubt, BEAT_BYTES);
    let payload = (0..16).flat_map(|lane| (lane as f32).to_le_bytes());
    let mut bytes: Vec<u8> = header.into_iter().chain(payload).collect();
    write_udp_checksum(&mut bytes);
    let _ = write!(
        out,
        "\nA frame without FCS: {ubt}, incast {}, job tag {:#018x}; payload 0.0, 1.0, .. 15.0; both checksums filled in:\n\n```text\n",
        ubt.incast, ubt.job_tag,
    );
    for line in bytes.chunks(16) {
        let line: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(out, "{}", line.join(" "));
    }
    out.push_str("```\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::packet::{ipv4_checksum, udp_checksum_holds};

    fn text() -> String {
        let mut out = String::new();
        vectors(&mut out);
        out
    }

    fn words(text: &str, from: &str) -> Vec<u32> {
        let at = text.find(from).unwrap_or_else(|| panic!("{from} is not there")) + from.len();
        let block = text[at..].split("```").nth(1).expect("a block of text");
        let lines =
            block.trim_start_matches("text").lines().map(|line| line.split_once(": ").map_or(line, |part| part.1));
        lines.flat_map(str::split_whitespace).map(|word| u32::from_str_radix(word, 16).expect(word)).collect()
    }

    /// With the formula in 64-bit floats.
    #[test]
    fn the_encoded_window_is_what_the_formula_gives() {
        let text = text();
        let found = words(&text, "encoded, one line per beat:");
        assert_eq!(found.len(), N);
        let sign = |at: usize| if signs16(KEY, at as u32 / 16) >> (at % 16) & 1 == 1 { -1.0 } else { 1.0 };
        for (row, bits) in found.iter().enumerate() {
            let h = |at: usize| if (row & at).count_ones() % 2 == 1 { -1.0 } else { 1.0 };
            let exact: f64 = (0..N).map(|at| h(at) * sign(at) * (at as f64 - 100.0) / 8.0).sum::<f64>() / 16.0;
            let value = f64::from(f32::from_bits(*bits));
            assert!((value - exact).abs() < 1e-5, "element {row}: {value}, expected {exact}");
        }
        let decoded = words(&text, "The first eight elements of the same window");
        for (at, bits) in decoded[..8].iter().enumerate() {
            let value = f64::from(f32::from_bits(*bits));
            assert!((value - (at as f64 - 100.0) / 8.0).abs() < 1e-5, "element {at}: {value}");
        }
        assert_ne!(decoded[..8], decoded[8..], "a lost beat changes them");
    }

    #[test]
    fn the_frame_holds_its_checksums() {
        let text = text();
        let words = words(&text, "both checksums filled in");
        let bytes: Vec<u8> = words.iter().map(|word| *word as u8).collect();
        assert_eq!(bytes.len(), 128);
        assert_eq!(ipv4_checksum(&bytes[14..34]), 0);
        assert!(udp_checksum_holds(&bytes) && bytes[40..42] != [0, 0]);
    }

    #[test]
    fn the_packets_of_a_bf16_shard_are_those_worked_out_by_hand() {
        let text = text();
        assert!(
            text.contains("| fp32 | 4544, 128, 7 to 8, 0; 4672, 128, 9 to 10, 0; 4800, 64, 11 to 11, 1 |"),
            "{text}"
        );
        assert!(text.contains("| bf16 | 4544, 128, 7 to 10, 4; 4800, 64, 11 to 11, 5 |"), "{text}");
        assert!(text.contains("| 3f808000 | 3f80 |") && text.contains("| 3f818000 | 3f82 |"), "{text}");
    }
}
