//! The contract as a Markdown reference.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::registers::{self, Access, PEER_BYTES, PEER_TABLE, REGISTERS};
use optireduce_contract::{limits, packet, queue};

use super::{prose, vectors};

/// The reference: builds, PCI, registers, queue entries, the frame's header beat, how they are used, and vectors.
pub fn markdown() -> String {
    let mut out = String::from("# Contract between card and software\n\n");
    let _ =
        writeln!(out, "Version {}. Made by `optireduce-hdl contract` from `hw/contract`.\n", limits::CONTRACT_VERSION);
    prose::builds(&mut out);
    prose::pci(&mut out);
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
        "| {PEER_TABLE:#05x} | peer table | host | 0 | | {} entries of {PEER_BYTES} bytes, by rank: see below. |\n",
        limits::RANKS_MAX
    );
    fields(&mut out, "Peer table entry", registers::peer::ALL);
    fields(&mut out, "Submission queue entry", queue::submission::ALL);
    fields(&mut out, "Completion queue entry", queue::completion::ALL);
    fields(&mut out, "Frame, first beat", packet::frame::ALL);
    prose::commands(&mut out);
    prose::use_of_it(&mut out);
    vectors::vectors(&mut out);
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
    fn nobody_is_sent_to_the_code() {
        let text = markdown();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(".rs")).collect();
        assert!(lines.is_empty(), "{lines:?}");
    }

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
