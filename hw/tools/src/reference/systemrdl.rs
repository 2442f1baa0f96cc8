//! BAR 0 as SystemRDL 2.0 (Accellera), which register tools turn into documents, headers and models.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::limits::{CONTRACT_VERSION, QUEUES, RANKS_MAX};
use optireduce_contract::registers::{
    Access, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, REGISTERS, Register, STATUS_BUSY, STATUS_DMA_ERROR, peer,
    status_stopped,
};

/// The address map.
pub fn systemrdl() -> String {
    let mut out = format!(
        "// BAR 0 of the OptiReduce card, contract version {CONTRACT_VERSION}. Made by `optireduce-hdl contract --format systemrdl`.\n\
         addrmap optireduce_card {{\n    name = \"OptiReduce card, BAR 0\";\n    default regwidth = 32;\n    default accesswidth = 32;\n    littleendian;\n\n"
    );
    let (shared, of_queue): (Vec<_>, Vec<_>) = REGISTERS.iter().partition(|one| one.offset < QUEUE_BASE);
    for one in &shared {
        register(&mut out, "    ", one, 0);
    }
    out.push_str("\n    regfile {\n        name = \"What the card knows of a peer; by rank\";\n");
    for &Field { name, offset, doc, .. } in peer::ALL {
        let word = Register { name, offset, access: Access::ReadWrite, reset: 0, unit: "", doc };
        register(&mut out, "        ", &word, 0);
    }
    let _ = write!(
        out,
        "    }} PEER[{RANKS_MAX}] @ {PEER_TABLE:#x} += {PEER_BYTES:#x};\n\n    regfile {{\n        name = \"A queue pair\";\n"
    );
    for one in &of_queue {
        register(&mut out, "        ", one, QUEUE_BASE);
    }
    let _ = writeln!(out, "    }} QUEUE[{QUEUES}] @ {QUEUE_BASE:#x} += {QUEUE_BYTES:#x};\n}};");
    out
}

/// Its fields: name, highest bit, lowest bit.
fn fields(register: &Register) -> Vec<(&'static str, u32, u32)> {
    match register.name {
        "CONTROL" => vec![("enable", 0, 0)],
        "STATUS" => {
            let stopped = status_stopped(0).trailing_zeros();
            let bit = |mask: u32| mask.trailing_zeros();
            vec![
                ("dma_error", bit(STATUS_DMA_ERROR), bit(STATUS_DMA_ERROR)),
                ("busy", bit(STATUS_BUSY), bit(STATUS_BUSY)),
                ("stopped", stopped + QUEUES as u32 - 1, stopped),
            ]
        }
        _ => vec![("value", 31, 0)],
    }
}

fn register(out: &mut String, indent: &str, register: &Register, base: usize) {
    let access = match register.access {
        Access::ReadOnly => "sw = r; hw = w;",
        Access::ReadWrite => "sw = rw; hw = r;",
    };
    let unit = if register.unit.is_empty() { String::new() } else { format!(" Unit: {}.", register.unit) };
    let doc = register.doc.replace('"', "\\\"");
    let _ = write!(out, "{indent}reg {{ desc = \"{doc}{unit}\";");
    for (name, high, low) in fields(register) {
        let reset = register.reset >> low & (u32::MAX >> (31 - (high - low)));
        let _ = write!(out, " field {{ {access} }} {name}[{high}:{low}] = {reset:#x};");
    }
    let _ = writeln!(out, " }} {} @ {:#05x};", register.name, register.offset - base);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_is_there_once_at_its_place() {
        let text = systemrdl();
        for one in REGISTERS {
            let base = if one.offset < QUEUE_BASE { 0 } else { QUEUE_BASE };
            assert_eq!(
                text.matches(&format!(" }} {} @ {:#05x};\n", one.name, one.offset - base)).count(),
                1,
                "{}",
                one.name
            );
        }
        assert!(text.contains(" field { sw = r; hw = w; } value[31:0] = 0x4f524e43; } MAGIC @ 0x000;"), "{text}");
        assert!(text.contains("} stopped[11:8] = 0x0; } STATUS @ 0x044;"), "{text}");
        assert!(text.contains("\\\"ORNC\\\""), "quotation marks end no text");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }
}
