//! A dissector of the packets in Lua, for Wireshark and tshark.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::limits::CONTRACT_VERSION;
use optireduce_contract::packet::{
    FLAG_ANSWER, FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, STAGE_BROADCAST, STAGE_CONTRIBUTE, STAGE_FEEDBACK,
    UBT_BYTES, UDP_PORT_DEFAULT, VERSION, frame,
};

/// Flags of a packet.
const FLAGS: [(&str, u8, &str); 4] = [
    ("last_percentile", FLAG_LAST_PERCENTILE, "Among the last 1 % of its stage"),
    ("hadamard", FLAG_HADAMARD, "Hadamard-encoded"),
    ("bf16", FLAG_BF16, "bf16"),
    ("answer", FLAG_ANSWER, "The sender waits for feedback that names this packet"),
];

/// Where a field begins in a datagram.
fn offset(field: &Field) -> usize {
    field.offset - frame::BUCKET.offset
}

/// A field's name as people read it.
fn label(name: &str) -> String {
    let words = name.replace('_', " ");
    words[..1].to_uppercase() + &words[1..]
}

/// The script.
pub fn dissector() -> String {
    let mut out = format!(
        "-- Packets of OptiReduce (UBT) in Wireshark, contract version {CONTRACT_VERSION}. Made by `optireduce-hdl contract --format wireshark`.\n\
         -- wireshark -X lua_script:ubt.lua; or in the folder of personal Lua plugins (Help, About, Folders).\n\
         -- Other ports than {UDP_PORT_DEFAULT}: Decode As, or tshark -d udp.port==PORT,ubt. Sealed packets (jobs with a secret) cannot be read.\n\
         local ubt = Proto(\"ubt\", \"OptiReduce UBT\")\nlocal fields = {{}}\n\
         local stages = {{[{STAGE_CONTRIBUTE}] = \"contribute\", [{STAGE_BROADCAST}] = \"broadcast\", [{STAGE_FEEDBACK}] = \"feedback\"}}\n"
    );
    let is_nibbles = |field: &Field| [frame::INCAST_FLAGS.name, frame::VERSION_STAGE.name].contains(&field.name);
    let plain = frame::ALL.iter().filter(|field| field.offset >= frame::BUCKET.offset && !is_nibbles(field));
    let mut reads = String::new();
    for field in plain {
        let name = field.name.to_lowercase();
        let (base, bits) = (if field.bytes == 8 { "HEX" } else { "DEC" }, 8 * field.bytes);
        let (label, doc) = (label(&name), field.doc);
        let _ = writeln!(
            out,
            "fields.{name} = ProtoField.uint{bits}(\"ubt.{name}\", \"{label}\", base.{base}, nil, nil, \"{doc}\")"
        );
        let _ = writeln!(reads, "    item:add(fields.{name}, datagram({}, {}))", offset(field), field.bytes);
    }
    let nibbles = [
        ("incast", &frame::INCAST_FLAGS, "0xf0", "nil"),
        ("stage", &frame::VERSION_STAGE, "0x0f", "stages"),
        ("version", &frame::VERSION_STAGE, "0xf0", "nil"),
    ];
    for (name, field, mask, values) in nibbles {
        let label = label(name);
        let _ =
            writeln!(out, "fields.{name} = ProtoField.uint8(\"ubt.{name}\", \"{label}\", base.DEC, {values}, {mask})");
        let _ = writeln!(reads, "    item:add(fields.{name}, datagram({}, 1))", offset(field));
    }
    for (name, mask, label) in FLAGS {
        let _ = writeln!(out, "fields.{name} = ProtoField.bool(\"ubt.{name}\", \"{label}\", 8, nil, {mask:#04x})");
        let _ = writeln!(reads, "    item:add(fields.{name}, datagram({}, 1))", offset(&frame::INCAST_FLAGS));
    }
    let [stage, sender, step, bucket, at] =
        [&frame::VERSION_STAGE, &frame::SENDER, &frame::STEP, &frame::BUCKET, &frame::OFFSET].map(offset);
    let _ = write!(
        out,
        "fields.payload = ProtoField.bytes(\"ubt.payload\", \"Payload\")\n\
         ubt.fields = fields\n\n\
         function ubt.dissector(datagram, info, tree)\n\
         \x20   if datagram:len() < {UBT_BYTES} then return 0 end\n\
         \x20   local version = datagram({stage}, 1):bitfield(0, 4)\n\
         \x20   if version ~= {VERSION} then\n\
         \x20       -- Others may know it. This is asked twice where both ports are ours.\n\
         \x20       if info.private.ubt then return 0 end\n\
         \x20       info.private.ubt = \"seen\"\n\
         \x20       local text = string.format(\"UBT version %d, or no UBT: this dissector reads version {VERSION}\", version)\n\
         \x20       tree:add(ubt, datagram(0, {UBT_BYTES}), text):add(fields.version, datagram({stage}, 1))\n\
         \x20       return 0\n\
         \x20   end\n\
         \x20   local payload = datagram:len() - {UBT_BYTES}\n\
         \x20   local item = tree:add(ubt, datagram(0, {UBT_BYTES}))\n\
         {reads}\
         \x20   if payload > 0 then tree:add(fields.payload, datagram({UBT_BYTES})) end\n\
         \x20   info.cols.protocol = \"UBT\"\n\
         \x20   info.cols.info = string.format(\"%s: step %d, rank %d, bucket %d, %d bytes at %d\",\n\
         \x20       stages[datagram({stage}, 1):bitfield(4, 4)] or \"unknown stage\", datagram({step}, 2):uint(), datagram({sender}, 2):uint(),\n\
         \x20       datagram({bucket}, 2):uint(), payload, datagram({at}, 4):uint())\n\
         \x20   return datagram:len()\n\
         end\n\n\
         DissectorTable.get(\"udp.port\"):add({UDP_PORT_DEFAULT}, ubt)\n"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_header_is_read_where_it_is() {
        let text = dissector();
        for field in frame::ALL.iter().filter(|field| field.offset >= frame::BUCKET.offset) {
            let read = format!(", datagram({}, {}))", offset(field), field.bytes);
            assert!(text.contains(&read), "{}: {text}", field.name);
        }
        let all = FLAGS.iter().fold(0, |all, (_, mask, _)| all | mask);
        assert_eq!(all, 0xf, "every flag is named");
        for (name, ..) in FLAGS {
            assert_eq!(text.matches(&format!("fields.{name}")).count(), 2, "{name} is declared and added");
        }
    }
}
