//! The contract in formats for other programs (`optireduce-hdl contract`).
//!
//! Goal: the dissector shows each field of a packet, and SystemRDL has each register at its
//! address. Method: tshark dissects a capture, systemrdl-compiler elaborates BAR 0.
//! `hw/tools/tests/suite/command.rs` compiles the C header.

use std::path::PathBuf;
use std::process::Command;

use optireduce_contract::limits::{QUEUES, RANKS_MAX};
use optireduce_contract::packet::{FLAG_ANSWER, HEADER_BYTES, UBT_BYTES, UbtHeader, VERSION, frame};
use optireduce_contract::registers::{
    Access, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, REGISTERS, Register, peer,
};
use optireduce_hdl::reference::Format;
use optireduce_sim::card::engine::Engine;
use optireduce_sim::check::scenario::Scenario;
use optireduce_sim::cluster::Cluster;

/// Headers of a pcap file, and of each record.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("formats");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn output(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| {
        panic!("{}: {error}. Run `tests/run`, which installs it.", command.get_program().display())
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Captures a collective of bf16 and an encoded one.
fn capture() -> Vec<u8> {
    let mut all = Vec::new();
    for scenario in
        [Scenario::new(Engine::Functional, 3, 3000).bf16(), Scenario::new(Engine::Functional, 2, 500).hadamard(true)]
    {
        let path = file("job.pcap");
        let mut cluster = Cluster::new(scenario.config.clone()).unwrap();
        cluster.record_pcap(Box::new(std::fs::File::create(&path).unwrap())).unwrap();
        cluster.step(&scenario.gradients(0), |_| {}).unwrap();
        cluster.finish_pcap().unwrap();
        let written = std::fs::read(path).unwrap();
        all.extend(&written[if all.is_empty() { 0 } else { FILE_HEADER }..]);
    }
    all
}

fn frames(capture: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = FILE_HEADER;
    while at < capture.len() {
        let bytes = u32::from_le_bytes(capture[at + 8..at + 12].try_into().unwrap()) as usize;
        found.push(at + RECORD_HEADER..at + RECORD_HEADER + bytes);
        at += RECORD_HEADER + bytes;
    }
    found
}

#[test]
fn tshark_shows_each_field_of_each_packet_and_that_a_version_is_another() {
    let mut capture = capture();
    let frames = frames(&capture);
    // Added by hand: cards never set the flag `answer`, and no simulator writes another version.
    capture[frames[0].start + frame::INCAST_FLAGS.offset] |= FLAG_ANSWER;
    capture[frames[1].start + frame::VERSION_STAGE.offset] ^= (VERSION ^ 9) << 4;
    let (script, packets) = (file("ubt.lua"), file("changed.pcap"));
    std::fs::write(&script, Format::Wireshark.text()).unwrap();
    std::fs::write(&packets, &capture).unwrap();
    let tshark = |arguments: &[&str]| {
        let mut command = Command::new("tshark");
        command.arg("-X").arg(format!("lua_script:{}", script.display())).arg("-r").arg(&packets);
        output(command.args(arguments))
    };
    let numbers = ["bucket", "offset", "timeout", "incast", "version", "stage", "sender", "step", "job_tag"];
    let flags = ["last_percentile", "hadamard", "bf16", "answer"];
    let mut arguments = vec!["-T".to_owned(), "fields".into(), "-E".into(), "separator=,".into()];
    for name in numbers.iter().chain(&flags) {
        arguments.extend(["-e".to_owned(), format!("ubt.{name}")]);
    }
    arguments.extend(["-e", "_ws.col.Protocol", "-e", "ubt.payload"].map(str::to_owned));
    let said = tshark(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    // Some versions of tshark print booleans as True and False.
    let said = said.replace("True", "1").replace("False", "0");
    let expected = frames.iter().enumerate().map(|(index, range)| {
        let packet = &capture[range.clone()];
        if index == 1 {
            return ",,,,9,,,,,,,,,UDP,".to_owned();
        }
        let header: [u8; UBT_BYTES] = packet[frame::BUCKET.offset..HEADER_BYTES].try_into().unwrap();
        let UbtHeader { bucket, offset, timeout_16us, incast, flags, stage, sender, step, job_tag } =
            UbtHeader::of_any_job(&header);
        let flags: String = (0..4).map(|bit| format!("{},", flags >> bit & 1)).collect();
        let payload: String = packet[HEADER_BYTES..].iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "{bucket},{offset},{timeout_16us},{incast},{VERSION},{stage},{sender},{step},{job_tag:#018x},{flags}UBT,{payload}"
        )
    });
    let expected: Vec<String> = expected.collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    // The capture has both stages, both kinds of payload, and last packets of a stage.
    for part in [",1,0,", ",1,2,", ",1,0,1,0,UBT", ",0,1,0,0,UBT", ",0,0,1,0,UBT", ",1,UBT"] {
        assert!(expected.iter().any(|line| line.contains(part)), "{part}");
    }
    let other = tshark(&["-V", "-Y", "frame.number == 2"]);
    assert!(other.contains("UBT version 9, or no UBT: this dissector reads version 1"), "{other}");
}

/// Prints a line for each register: name, address, access, reset.
const REGISTERS_OF: &str = "
import sys
from systemrdl import RDLCompiler
from systemrdl.node import RegNode
compiler = RDLCompiler()
compiler.compile_file(sys.argv[1])
for node in compiler.elaborate().top.descendants(unroll=True):
    if isinstance(node, RegNode):
        at = hex(node.absolute_address)
        fields = node.fields()
        reset = sum((field.get_property('reset') or 0) << field.low for field in fields)
        print(node.get_path().split('.', 1)[1], at, fields[0].get_property('sw').name, hex(reset))
";

#[test]
fn a_register_tool_finds_every_register_at_its_address() {
    // tests/run installs the compiler beside cargo's own folder.
    let venv = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../eda/venv/bin/python");
    let text = file("card.rdl");
    std::fs::write(&text, Format::Systemrdl.text()).unwrap();
    let said = output(Command::new(venv).args(["-c", REGISTERS_OF]).arg(&text));
    let line = |name: String, offset: usize, one: &Register| {
        let access = if one.access == Access::ReadOnly { "r" } else { "rw" };
        format!("{name} {offset:#x} {access} {:#x}", one.reset)
    };
    let (shared, of_queue): (Vec<&Register>, Vec<&Register>) =
        REGISTERS.iter().partition(|one| one.offset < QUEUE_BASE);
    let shared = shared.into_iter().map(|one| line(one.name.to_owned(), one.offset, one));
    let queues = (0..QUEUES).flat_map(|queue| {
        let name = move |one: &Register| format!("QUEUE[{queue}].{}", one.name);
        of_queue.iter().copied().map(move |one| line(name(one), one.offset + queue * QUEUE_BYTES, one))
    });
    let peers = (0..RANKS_MAX).flat_map(|rank| {
        let at = PEER_TABLE + rank * PEER_BYTES;
        peer::ALL.iter().map(move |word| format!("PEER[{rank}].{} {:#x} rw 0x0", word.name, at + word.offset))
    });
    let mut expected: Vec<String> = shared.chain(queues).chain(peers).collect();
    let mut found: Vec<&str> = said.lines().collect();
    expected.sort();
    found.sort_unstable();
    assert_eq!(found, expected);
}
