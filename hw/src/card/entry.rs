//! The contract's fixed layouts as HDL signal types of one beat.
//!
//! Header fields that the card computes with are big-endian on the wire and therefore split into
//! bytes, `_b0` first.

use crate::hdl::prelude::*;

macro_rules! one_beat_struct {
    ($(#[$meta:meta])* $name:ident, $from:ident, $to:ident; $($field:ident: $width:literal,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
        pub struct $name {
            $(#[doc = concat!("Field `", stringify!($field), "` of the layout.")] pub $field: W<$width>,)*
        }

        #[allow(unused_assignments)]
        pub fn $from(beat: Beat) -> $name {
            let mut view = $name::default();
            let mut at = 0;
            $(view.$field = beat.get_bits::<$width>(at); at += $width;)*
            view
        }

        #[allow(unused_assignments)]
        pub fn $to(word: $name) -> Beat {
            let mut beat = Beat::default();
            let mut at = 0;
            $(beat.put_bits(at, word.$field); at += $width;)*
            beat
        }

        impl $name {
            /// Returns name, bit offset and width of every field.
            pub fn fields() -> Vec<(&'static str, usize, usize)> {
                let mut at = 0;
                vec![$({ at += $width; (stringify!($field), at - $width, $width) },)*]
            }
        }
    };
}

one_beat_struct! {
    /// Submission queue entry.
    SubmissionWord, bit_cast_submission, bit_cast_submission_beat;
    opcode: 8, slot: 8, step: 16, cookie: 32, bucket: 16, flags: 8, log2_n: 8, base: 32, beats: 16,
    shard_quotient: 16, shard_remainder: 8, rotation: 8, start_peers: 8, log2_blocks: 8, bound_ns: 32, grace_ns: 32,
    host_beats: 16, timeout_16us: 16, incast: 8, mark_packets: 8, send_incast: 8, reserved: 8, host_address: 64,
    report_address: 64, sign_key: 64,
}

one_beat_struct! {
    /// Completion queue entry.
    CompletionWord, bit_cast_completion, bit_cast_completion_beat;
    opcode: 8, slot: 8, closed_by: 8, status: 8, cookie: 32, received_beats: 32, expected_beats: 32, elapsed_ns: 64,
    heard: 64, closed_ns: 64, sq_head: 16, own_beats: 16, reserved_lo: 64, reserved_mid: 64, reserved_hi: 24, phase: 8,
}

one_beat_struct! {
    /// First beat of a frame.
    HeaderWord, bit_cast_header, bit_cast_header_beat;
    eth_dst: 48, eth_src: 48, eth_type: 16, ip_version_ihl: 8, ip_tos: 8, ip_total_length_b0: 8,
    ip_total_length_b1: 8, ip_identification: 16, ip_fragment: 16, ip_ttl: 8, ip_protocol: 8, ip_checksum: 16,
    ip_src: 32, ip_dst: 32, udp_src: 16, udp_dst: 16, udp_length_b0: 8, udp_length_b1: 8, udp_checksum: 16,
    bucket_b0: 8, bucket_b1: 8, offset_b0: 8, offset_b1: 8, offset_b2: 8, offset_b3: 8, timeout_b0: 8, timeout_b1: 8,
    incast_flags: 8, version_stage: 8, sender_b0: 8, sender_b1: 8, step_b0: 8, step_b1: 8, job_tag: 64,
}

one_beat_struct! {
    /// ARP packet for IPv4 over Ethernet (RFC 826) in its frame, padded to a beat.
    ArpWord, bit_cast_arp, bit_cast_arp_beat;
    eth_dst: 48, eth_src: 48, eth_type: 16, hardware: 16, protocol: 16, sizes: 16, operation: 16, sender_mac: 48,
    sender_ip: 32, target_mac: 48, target_ip: 32, padding_lo: 64, padding_mid: 64, padding_hi: 48,
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::field::Field;
    use optireduce_contract::{packet, queue};

    /// Merges fields `x_b0`, `x_b1`, ... into `x` and drops reserved ones.
    fn merged(fields: Vec<(&'static str, usize, usize)>) -> Vec<(String, usize, usize)> {
        let mut out: Vec<(String, usize, usize)> = Vec::new();
        for (name, offset, width) in fields {
            if name.starts_with("reserved") {
                continue;
            }
            match name.rsplit_once("_b") {
                Some((stem, "0")) => out.push((stem.to_string(), offset, width)),
                Some((stem, digit)) if digit.parse::<u8>().is_ok() => {
                    let last = out.last_mut().filter(|last| last.0 == stem).expect("bytes are adjacent");
                    last.2 += width;
                }
                _ => out.push((name.to_string(), offset, width)),
            }
        }
        out
    }

    fn assert_equals_contract(fields: Vec<(&'static str, usize, usize)>, table: &[Field]) {
        let contract: Vec<_> = table.iter().map(|f| (f.name.to_lowercase(), f.offset * 8, f.bytes * 8)).collect();
        assert_eq!(merged(fields), contract);
    }

    #[test]
    fn hdl_layouts_equal_the_contract_field_by_field() {
        assert_equals_contract(SubmissionWord::fields(), queue::submission::ALL);
        assert_equals_contract(CompletionWord::fields(), queue::completion::ALL);
        assert_equals_contract(HeaderWord::fields(), packet::frame::ALL);
    }

    #[test]
    fn views_keep_every_bit_and_agree_with_the_software_codec() {
        let bytes: [u8; 64] = std::array::from_fn(|i| (i as u8).wrapping_mul(73) ^ 0x33);
        let beat = Beat::from_bytes(&bytes);
        assert_eq!(bit_cast_submission_beat(bit_cast_submission(beat)), beat);
        assert_eq!(bit_cast_completion_beat(bit_cast_completion(beat)), beat);
        assert_eq!(bit_cast_header_beat(bit_cast_header(beat)), beat);
        let (view, entry) = (bit_cast_submission(beat), queue::Submission::from_bytes(&bytes));
        assert_eq!(view.bound_ns.raw(), u64::from(entry.bound_ns));
        assert_eq!(view.sign_key.raw(), entry.sign_key);
    }

    #[test]
    fn emitted_offsets_are_those_of_the_view() {
        let word = HeaderWord::default();
        assert_eq!(word.get_my_offset_bucket_b0(), packet::frame::BUCKET.offset * 8);
        assert_eq!(word.get_my_offset_job_tag(), packet::frame::JOB_TAG.offset * 8);
    }
}
