//! The contract as a Markdown reference, made from its tables so that prose can never disagree with code.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::registers::{Access, PEER_BYTES, PEER_TABLE, REGISTERS};
use optireduce_contract::{limits, packet, queue};

/// The reference: limits, registers, queue entries and the frame's header beat.
pub fn markdown() -> String {
    let mut out = String::from("# Contract between card and software\n\n");
    let _ =
        writeln!(out, "Version {}. Made by `optireduce-hdl contract` from `hw/contract`.\n", limits::CONTRACT_VERSION);
    let _ = writeln!(
        out,
        "{} window slots of {} beats; {} ranks; beats of {} bytes; Hadamard blocks of 2^{} to 2^{} elements; clock {} MHz.\n",
        limits::SLOTS,
        limits::WINDOW_BEATS,
        limits::RANKS_MAX,
        limits::BEAT_BYTES,
        limits::HADAMARD_LOG2_MIN,
        limits::HADAMARD_LOG2_MAX,
        limits::CLOCK_MHZ,
    );
    out.push_str(
        "## Registers (BAR 0)\n\n| offset | name | access | reset | unit | meaning |\n|---|---|---|---|---|---|\n",
    );
    for r in REGISTERS {
        let access = match r.access {
            Access::ReadOnly => "card",
            Access::ReadWrite => "host",
        };
        let _ =
            writeln!(out, "| {:#05x} | {} | {access} | {:#x} | {} | {} |", r.offset, r.name, r.reset, r.unit, r.doc);
    }
    let _ = writeln!(
        out,
        "| {PEER_TABLE:#05x} | peer table | host | 0 | | {} entries of {PEER_BYTES} bytes: address, MAC bytes 0..4, MAC bytes 4..6. |\n",
        limits::RANKS_MAX
    );
    fields(&mut out, "Submission queue entry", queue::submission::ALL);
    fields(&mut out, "Completion queue entry", queue::completion::ALL);
    fields(&mut out, "Frame, first beat", packet::frame::ALL);
    out
}

fn fields(out: &mut String, title: &str, table: &[Field]) {
    let _ = writeln!(out, "## {title}\n\n| bytes | field | meaning |\n|---|---|---|");
    for field in table {
        let _ = writeln!(out, "| {}-{} | {} | {} |", field.offset, field.end() - 1, field.name, field.doc);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_names_every_register_and_field_once() {
        let text = markdown();
        for register in REGISTERS {
            assert_eq!(
                text.matches(&format!("| {} | card |", register.name)).count()
                    + text.matches(&format!("| {} | host |", register.name)).count(),
                1,
                "{}",
                register.name
            );
        }
        for field in packet::frame::ALL {
            assert!(text.contains(&format!("| {}-{} | {} |", field.offset, field.end() - 1, field.name)));
        }
    }
}
