//! The contract as a C header.
//!
//! Queue entries are structs whose members have the offsets of the contract by themselves, which the header asserts; they are little-endian, as
//! hosts are that have such cards. The packet, in network byte order, is offsets.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::registers::{self, Access, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, REGISTERS};
use optireduce_contract::{limits, packet, pci, queue};

/// Numbers by name, each with its meaning.
type Numbers = &'static [(&'static str, u64, &'static str)];

const LIMITS: Numbers = &[
    ("CONTRACT_VERSION", limits::CONTRACT_VERSION as u64, "version of this contract"),
    ("MAGIC", limits::MAGIC as u64, "first register"),
    ("PCI_VENDOR_ID", pci::VENDOR_ID as u64, "in configuration space"),
    ("PCI_DEVICE_ID", pci::DEVICE_ID as u64, "in configuration space"),
    ("PCI_CLASS", pci::CLASS as u64, "in configuration space"),
    ("BAR0_BYTES", pci::BAR0_BYTES as u64, "of BAR 0, the only one"),
    ("BAR_BYTES", registers::BAR_BYTES as u64, "of the registers, at the start of BAR 0"),
    ("MSIX_TABLE", pci::MSIX_TABLE as u64, "offset in BAR 0; a vector for each queue pair"),
    ("MSIX_PENDING", pci::MSIX_PENDING as u64, "offset in BAR 0"),
    ("BEAT_BYTES", limits::BEAT_BYTES as u64, "a beat: 16 values of fp32, or 32 of bf16"),
    ("RANKS_MAX", limits::RANKS_MAX as u64, "of a job with cards"),
    ("QUEUES", limits::QUEUES as u64, "queue pairs of a card"),
    ("ENTRY_BYTES", queue::ENTRY_BYTES as u64, "of an entry of either ring"),
    ("STAGE_REPORT_BYTES", queue::STAGE_REPORT_BYTES as u64, "received beats by rank, uint16_t each, little-endian"),
    ("REPORT_BYTES", queue::REPORT_BYTES as u64, "at report_address: contribute stage, broadcast stage"),
    ("NAN_BITS", limits::NAN_BITS as u64, "the only NaN that sums and means produce"),
];

const VALUES: Numbers = &[
    ("CONTROL_ENABLE", registers::CONTROL_ENABLE as u64, "CONTROL: the card is enabled"),
    ("STATUS_DMA_ERROR", registers::STATUS_DMA_ERROR as u64, "STATUS: an access to host memory failed"),
    ("STATUS_BUSY", registers::STATUS_BUSY as u64, "STATUS: a reset is under way"),
    ("STATUS_STOPPED_0", registers::status_stopped(0) as u64, "STATUS: queue pair 0 has stopped; shifted left by q: q"),
    ("OP_ARM", queue::OP_ARM as u64, "submission: reserves a slot, opens its stages"),
    ("OP_CONTRIBUTE", queue::OP_CONTRIBUTE as u64, "submission: sends this rank's gradient"),
    ("OP_BROADCAST", queue::OP_BROADCAST as u64, "submission: sends the mean"),
    ("FLAG_HADAMARD", queue::FLAG_HADAMARD as u64, "submission's flags: the window is encoded"),
    ("FLAG_AUTO_BROADCAST", queue::FLAG_AUTO_BROADCAST as u64, "submission's flags: no OP_BROADCAST is needed"),
    ("FLAG_EARLY", queue::FLAG_EARLY as u64, "submission's flags: a stage may close early"),
    ("FLAG_BF16", queue::FLAG_BF16 as u64, "submission's flags: payloads are bf16"),
    ("DONE_CONTRIBUTE", queue::DONE_CONTRIBUTE as u64, "completion: the contribute stage has closed"),
    ("DONE_BROADCAST", queue::DONE_BROADCAST as u64, "completion: the result is there, the slot is free"),
    ("DONE_REFUSED", queue::DONE_REFUSED as u64, "completion: a submission was refused"),
    ("CLOSED_COMPLETE", queue::CLOSED_COMPLETE as u64, "completion: everything came"),
    ("CLOSED_EARLY", queue::CLOSED_EARLY as u64, "completion: by the early rule"),
    ("CLOSED_DEADLINE", queue::CLOSED_DEADLINE as u64, "completion: by the bound"),
    ("OK", queue::STATUS_OK as u64, "completion's status"),
    ("DMA_ERROR", queue::STATUS_DMA_ERROR as u64, "completion's status: host memory was not reached"),
    ("BAD_COMMAND", queue::STATUS_BAD_COMMAND as u64, "completion's status: outside the limits"),
    ("SLOT_BUSY", queue::STATUS_SLOT_BUSY as u64, "completion's status: ARM of a slot in use"),
    ("STALE", queue::STATUS_STALE as u64, "completion's status: not armed, or no longer"),
    ("UDP_PORT_DEFAULT", packet::UDP_PORT_DEFAULT as u64, "of packets"),
    ("UBT_VERSION", packet::VERSION as u64, "of the packet's header"),
    ("STAGE_CONTRIBUTE", packet::STAGE_CONTRIBUTE as u64, "packet's stage: to the owner"),
    ("STAGE_BROADCAST", packet::STAGE_BROADCAST as u64, "packet's stage: from the owner"),
    ("PACKET_LAST_PERCENTILE", packet::FLAG_LAST_PERCENTILE as u64, "packet's flags: among the last 1 % of its stage"),
    ("PACKET_HADAMARD", packet::FLAG_HADAMARD as u64, "packet's flags: the payload is encoded"),
    ("PACKET_BF16", packet::FLAG_BF16 as u64, "packet's flags: the payload is bf16"),
];

/// The header: `optireduce_card.h`.
pub fn c_header() -> String {
    let mut out = format!(
        "/* Contract between an OptiReduce card and its software, version {}. Made by `optireduce-hdl contract --format c`. */\n\
         #ifndef OPTIREDUCE_CARD_H\n#define OPTIREDUCE_CARD_H\n\n#include <stddef.h>\n#include <stdint.h>\n",
        limits::CONTRACT_VERSION
    );
    numbers(&mut out, "Sizes and identity.", LIMITS);
    numbers(&mut out, "Values.", VALUES);
    out.push_str(
        "\n/* Registers of BAR 0, 32 bits each: byte offsets. Those from SQ_BASE_LO on are of queue pair 0. */\n",
    );
    for one in REGISTERS {
        let by = if one.access == Access::ReadOnly { "card" } else { "host" };
        let unit = if one.unit.is_empty() { String::new() } else { format!(", {}", one.unit) };
        let _ = writeln!(out, "#define OPTR_REG_{} {:#05x}u /* {by}{unit}. {} */", one.name, one.offset, one.doc);
    }
    let _ = writeln!(out, "#define OPTR_REG_QUEUES_BEGIN {QUEUE_BASE:#05x}u");
    let _ = writeln!(out, "#define OPTR_REG_QUEUE_STRIDE {QUEUE_BYTES:#05x}u /* from a queue pair to the next */");
    let _ =
        writeln!(out, "#define OPTR_REG_PEERS {PEER_TABLE:#05x}u /* host. The peer table: an entry for each rank */");
    let _ = writeln!(out, "#define OPTR_REG_PEER_STRIDE {PEER_BYTES:#04x}u");
    for Field { name, offset, doc, .. } in registers::peer::ALL {
        let _ = writeln!(out, "#define OPTR_PEER_{name} {offset:#03x}u /* {doc} */");
    }
    entry(
        &mut out,
        "optr_submission",
        "What the host writes into a submission ring; fields that an opcode does not use are 0.",
        queue::submission::ALL,
        queue::submission::BYTES,
    );
    entry(
        &mut out,
        "optr_completion",
        "What the card writes into a completion ring.",
        queue::completion::ALL,
        queue::completion::BYTES,
    );
    out.push_str("\n/* A frame's first 64 bytes, in network byte order: byte offsets. The payload follows. */\n");
    for field in packet::frame::ALL {
        let Field { name, offset, bytes, doc } = field;
        let _ = writeln!(out, "#define OPTR_FRAME_{name} {offset}u /* {bytes} bytes. {doc} */");
    }
    let _ = writeln!(out, "#define OPTR_FRAME_PAYLOAD {}u", packet::HEADER_BYTES);
    out.push_str("\n#endif\n");
    out
}

fn numbers(out: &mut String, title: &str, numbers: Numbers) {
    let _ = writeln!(out, "\n/* {title} */");
    for (name, value, doc) in numbers {
        let _ = writeln!(out, "#define OPTR_CARD_{name} {value:#x}u /* {doc} */");
    }
}

/// A ring's entry as a struct, and what shows that it has the contract's layout.
fn entry(out: &mut String, name: &str, doc: &str, fields: &[Field], bytes: usize) {
    let _ = writeln!(out, "\n/* {doc} Little-endian. */\nstruct {name} {{");
    let (mut at, mut asserts) = (0, String::new());
    for field in fields {
        if field.offset > at {
            let _ = writeln!(out, "    uint8_t reserved_{at}[{}];", field.offset - at);
        }
        let member = field.name.to_lowercase();
        let _ = writeln!(out, "    uint{}_t {member}; /* {} */", 8 * field.bytes, field.doc);
        let _ = writeln!(asserts, "OPTR_ASSERT(offsetof(struct {name}, {member}) == {}, \"{member}\");", field.offset);
        at = field.end();
    }
    if bytes > at {
        let _ = writeln!(out, "    uint8_t reserved_{at}[{}];", bytes - at);
    }
    out.push_str("};\n");
    let assert =
        "#ifdef __cplusplus\n#define OPTR_ASSERT static_assert\n#else\n#define OPTR_ASSERT _Static_assert\n#endif\n";
    let _ = write!(
        out,
        "{assert}OPTR_ASSERT(sizeof(struct {name}) == {bytes}, \"{name}\");\n{asserts}#undef OPTR_ASSERT\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_and_field_is_there_once() {
        let text = c_header();
        for one in REGISTERS {
            assert_eq!(text.matches(&format!("#define OPTR_REG_{} {:#05x}u ", one.name, one.offset)).count(), 1);
        }
        for field in queue::submission::ALL.iter().chain(queue::completion::ALL) {
            assert!(
                text.contains(&format!("uint{}_t {};", 8 * field.bytes, field.name.to_lowercase())),
                "{}",
                field.name
            );
        }
        for field in packet::frame::ALL {
            assert_eq!(text.matches(&format!("#define OPTR_FRAME_{} {}u ", field.name, field.offset)).count(), 1);
        }
        assert!(
            text.lines().all(|line| line.matches("/*").count() == line.matches("*/").count()),
            "a comment that does not end"
        );
    }
}
