//! Text of the Markdown reference: how to write a host or a peer.

use std::fmt::Write;

use optireduce_contract::rules::command::SEND_INCAST_MAX;
use optireduce_contract::{answer, limits, packet, pci, queue, registers};
use optireduce_hw::card::build::Build;

use crate::flows::bitstream;

/// Fields that ARM, CONTRIBUTE and BROADCAST need.
const NEEDS: [(&str, [&str; 3]); 24] = [
    ("OPCODE", ["1", "2", "3"]),
    ("SLOT", ["yes"; 3]),
    ("STEP", ["yes", "as armed", "as armed"]),
    ("COOKIE", ["yes", "as armed", "as armed"]),
    ("BUCKET", ["yes", "", ""]),
    ("FLAGS", ["yes", "", ""]),
    ("LOG2_N", ["with flag 1", "", ""]),
    ("BASE", ["yes", "", ""]),
    ("BEATS", ["yes", "", ""]),
    ("SHARD_QUOTIENT", ["yes", "", ""]),
    ("SHARD_REMAINDER", ["yes", "", ""]),
    ("ROTATION", ["yes", "", ""]),
    ("START_PEERS", ["yes", "", ""]),
    ("LOG2_BLOCKS", ["with flag 1", "", ""]),
    ("BOUND_NS", ["yes", "", ""]),
    ("GRACE_NS", ["with flag 4", "", ""]),
    ("HOST_BEATS", ["yes", "yes", ""]),
    ("TIMEOUT_16US", ["", "yes", ""]),
    ("INCAST", ["", "yes", ""]),
    ("MARK_PACKETS", ["yes", "", ""]),
    ("SEND_INCAST", ["yes", "", ""]),
    ("HOST_ADDRESS", ["yes", "yes", ""]),
    ("REPORT_ADDRESS", ["yes", "", ""]),
    ("SIGN_KEY", ["with flag 1", "", ""]),
];

pub(super) fn builds(out: &mut String) {
    let _ = writeln!(
        out,
        "## Builds\n\nAll cards have {} window slots, {} queue pairs, up to {} ranks, payloads of up to {} beats, beats of {} bytes, MAGIC {:#010x}, CONTRACT {} and BUILD {}. \
         WINDOW_BEATS_MAX and HADAMARD_LOG2_MAX report the limits of the build.\n\n\
         | build | largest window | largest Hadamard block | receive filter and UDP checksums |\n|---|---|---|---|",
        limits::SLOTS,
        limits::QUEUES,
        limits::RANKS_MAX,
        limits::PAYLOAD_BEATS_MAX,
        limits::BEAT_BYTES,
        limits::MAGIC,
        limits::CONTRACT_VERSION,
        registers::BUILD.reset,
    );
    for (name, build, checked) in [
        ("simulated; Alveo and OpenNIC from the committed Verilog", Build::default(), "yes"),
        (
            "Alveo from Verilog written for it (see its README); functional simulated card, served to a driver",
            Build::BOARD,
            "yes",
        ),
        ("reduced, for ECP5", bitstream::BUILD, "no: the filter's counters read 0, and checksums are sent as 0"),
    ] {
        let (beats, log2_n) = (1 << build.window_log2, build.hadamard_log2);
        let kib = beats * limits::BEAT_BYTES / 1024;
        let _ = writeln!(out, "| {name} | {beats} beats, {kib} KiB | 2^{log2_n} elements | {checked} |");
    }
    let _ = writeln!(
        out,
        "\nThe cards are designed for {} MHz, {} ns a cycle. Hadamard blocks have 2^{}, 2^10, 2^12 or 2^14 elements, up to the largest of the build.\n",
        limits::CLOCK_MHZ,
        limits::CYCLE_NS,
        limits::HADAMARD_LOG2_MIN
    );
}

pub(super) fn pci(out: &mut String) {
    let _ = write!(
        out,
        "## PCI function

This section describes the Alveo shells (not built, not run on a board) and a simulated card that is served to a driver. The OpenNIC shell maps the registers elsewhere and has no interrupts. The ECP5 shell has no PCI.

| | |
|---|---|
| vendor, device | {vendor:#06x}, {device:#06x}; not unique: only MAGIC identifies a card |
| class | {class:#08x}, an Ethernet controller |
| BAR {bar} | {bytes} bytes of memory, 64 bits, not prefetchable; the only BAR |
| registers | BAR {bar}, offset 0, {registers} bytes |
| MSI-X | {vectors} vectors, one for each queue pair; no MSI, no INTx |
| MSI-X table | BIR {bar}, offset {table:#x}, {vector_bytes} bytes a vector |
| MSI-X pending bits | BIR {bar}, offset {pending:#x}, 8 bytes |
| reset | simulated card: function-level reset; Alveo: reset of the bus |

Access BAR {bar} in whole, aligned words of 32 bits. After either reset, CONTROL is 0, and counters, windows and the card's indices have their power-on values. Other registers that the host wrote \
may have kept their values (see Start-up).

",
        vendor = pci::VENDOR_ID,
        device = pci::DEVICE_ID,
        class = pci::CLASS,
        bar = pci::BAR,
        bytes = pci::BAR0_BYTES,
        registers = registers::BAR_BYTES,
        vectors = limits::QUEUES,
        table = pci::MSIX_TABLE,
        vector_bytes = pci::MSIX_VECTOR_BYTES,
        pending = pci::MSIX_PENDING,
    );
}

pub(super) fn commands(out: &mut String) {
    out.push_str("## Commands\n\nFields that a command does not need are zero.\n\n| field | ARM | CONTRIBUTE | BROADCAST |\n|---|---|---|---|\n");
    for (name, needs) in &NEEDS {
        let _ = writeln!(out, "| {name} | {} |", needs.join(" | "));
    }
    let _ = write!(
        out,
        "
A refused command returns a completion of opcode {refused}. Its STATUS is that of the first condition that fails:

1. SLOT is below {slots}, and OPCODE is 1, 2 or 3; otherwise {bad}.
2. ARM: all of these limits hold; otherwise {bad}.
   - BEATS is from 1 to WINDOW_BEATS_MAX, and HOST_BEATS is at most BEATS.
   - SHARD_QUOTIENT is at most half of WINDOW_BEATS_MAX, and SHARD_REMAINDER is below RANKS.
   - SHARD_QUOTIENT * RANKS + SHARD_REMAINDER = BEATS.
   - ROTATION and START_PEERS are below RANKS, and SEND_INCAST is at most {incast}.
   - HOST_ADDRESS and BASE are multiples of 64, and REPORT_ADDRESS is a multiple of 256.
   - With flag 1: LOG2_N is even, from {log2_min} to HADAMARD_LOG2_MAX, LOG2_BLOCKS is at most {blocks}, and 2^(LOG2_N - 4 + LOG2_BLOCKS) = BEATS.
3. ARM: the slot is free; otherwise {busy}. A slot is free after reset and after the completion of its broadcast stage.
4. CONTRIBUTE and BROADCAST: this queue pair armed the slot with this COOKIE and STEP, and the broadcast stage is not being finished; otherwise {stale}.
5. CONTRIBUTE: it is the first one for this window; otherwise {stale}. HOST_BEATS is at most the armed BEATS, and HOST_ADDRESS is a multiple of 64; otherwise {bad}.
6. BROADCAST: the contribute stage has closed; otherwise {stale}. The window was armed without flag 2; otherwise {bad}.

",
        refused = queue::DONE_REFUSED,
        slots = limits::SLOTS,
        bad = queue::STATUS_BAD_COMMAND,
        busy = queue::STATUS_SLOT_BUSY,
        stale = queue::STATUS_STALE,
        incast = SEND_INCAST_MAX,
        log2_min = limits::HADAMARD_LOG2_MIN,
        blocks = limits::LOG2_BLOCKS_MAX,
    );
}

pub(super) fn use_of_it(out: &mut String) {
    out.push_str("## Use\n\n");
    host(out);
    windows(out);
    order(out);
    arithmetic(out);
    wire(out);
}

fn host(out: &mut String) {
    let _ = write!(
        out,
        "**Byte order.** Registers and ring entries are little-endian. Frame headers are in network byte order. Payloads are little-endian fp32 or bf16.

**Identity.** Before writing anything else, check MAGIC, CONTRACT, the limits, and SCRATCH with SCRATCH_ECHO. If MAGIC reads as all ones, the card is gone. \
Other registers may contain all ones.

**Start-up.**

1. Write CONTROL = 0, and wait until STATUS bit 1 and every SQ_HEAD and CQ_TAIL are 0.
2. Write all of the job's registers, the peer table, and the rings of all queue pairs: SQ_BASE 0 for those that are not used. The completion entries in memory must be zeros. \
The registers may still hold values from before CONTROL was cleared or the card was reset. If a ring is not written, the card uses the ring of the previous host.
3. Write CONTROL = {enable}.

Everything that the host writes is a level: writing it again changes nothing. While the card is enabled, only the rings of \
idle queue pairs (SQ_BASE 0), SQ_TAIL, CQ_HEAD and SCRATCH may change. CONTROL may be cleared at any time. The card then completes its transfers on the bus and \
the wire, with STATUS bit 1 set meanwhile. Afterwards counters, windows and the card's indices have their power-on values, and other registers that the host wrote keep theirs.

**Queue pairs.** The registers from {queue_base:#x} on exist for each of {queues} queue pairs, {queue_bytes:#x} bytes apart. A window belongs to the queue pair that armed it. MSI-X vector q announces completions of \
queue pair q. An interrupt may overtake its completion, so check the ring once more after arming the interrupt.

**Rings.** An entry has {entry} bytes. The host writes entries, then a release fence, then SQ_TAIL with one 32-bit store. The card writes a completion's PHASE last: 1 in the first \
turn of the ring, 0 in the second, and so on. After PHASE, the host needs an acquire fence before it reads the rest. Indices count modulo 65536 and are not reduced by the ring's size. The card \
writes no completion for which CQ_HEAD leaves no room.

",
        enable = registers::CONTROL_ENABLE,
        queue_base = registers::QUEUE_BASE,
        queues = limits::QUEUES,
        queue_bytes = registers::QUEUE_BYTES,
        entry = queue::ENTRY_BYTES,
    );
}

fn windows(out: &mut String) {
    let _ = write!(
        out,
        "**Life of a window.**

1. ARM reserves a slot and opens both stages to the peers. Packets that arrive before it are dropped (DROP_NO_WINDOW).
2. CONTRIBUTE reads this rank's gradient and sends each owner its shard. Beats from HOST_BEATS on are zeros.
3. When the contribute stage has closed, the mean of this rank's shard is sent to all peers: immediately with flag 2, otherwise on BROADCAST.
4. When the broadcast stage has closed, the result is at HOST_ADDRESS, both stage reports are at REPORT_ADDRESS, and the slot is free.

Each stage ends with a completion. The stage reports have {report} bytes, the contribute stage first: by rank, the number of beats received as u16. \
In the contribute stage, a rank's own entry counts its own shard, if it contributed in time. In the broadcast stage, its own entry is 0. Reports count beats of the window, also if payloads are bf16. \
After STATUS {dma_error}, the contents of HOST_ADDRESS and REPORT_ADDRESS are undefined.

**Closing of a stage.** The clock of a stage starts when this rank enters the stage, or earlier, once START_PEERS distinct peers were heard. This rank enters the contribute stage with CONTRIBUTE, and the broadcast stage when the contribute stage closes. \
The stage closes at the first of these events. If several hold at the same time, the first in this order counts:

1. Complete: everything arrived, this rank's own shard included.
2. Early, with flag 4: this rank's own beats are in, every peer with something to send has sent a packet with the last-percentile mark, and GRACE_NS of silence have passed. \
Silence counts from the last packet or from the start of the clock, whichever is later.
3. Deadline: BOUND_NS have passed since the clock started.

A stage whose clock has not started does not close.

**Shards.** A window of B beats is cut into N shards, one for each rank. The first B mod N shards have one more beat. Rank r owns shard (r + ROTATION) mod N. All ranks arm a window with the same ROTATION. Software \
uses the collective number mod N.

**Rounds.** A stage is sent in rounds of SEND_INCAST peers, beginning with the next rank. The peers of a round take turns, packet by packet. A shard is cut into packets of PAYLOAD_BEATS, the last one shorter. \
The last MARK_PACKETS to each peer carry the mark.

",
        report = queue::REPORT_BYTES,
        dma_error = queue::STATUS_DMA_ERROR,
    );
}

fn order(out: &mut String) {
    out.push_str(
        "**Order of commands and packets.** A host may rely on this order:

- The commands of a queue pair are executed in the order of its ring.
- The contribute stage of a window completes before its broadcast stage.
- The packets of one stage of a window leave in the order of its rounds, and to one peer by OFFSET. Receivers need not rely on this, because each packet carries step, bucket, stage and OFFSET.

A host may not rely on any order between queue pairs, between completions of different windows, or between packets of different windows or stages. Cards differ:

- The card in Verilog decides packet by packet, means first. A mean that becomes ready during a contribution leaves between two of its packets, and the contribution \
continues when no mean is left. A CONTRIBUTE that arrives while the mean of another window is sent waits for this mean and for all means that become ready meanwhile.
- The functional simulated card decides stage by stage. All packets of a stage leave before those of a stage that becomes ready later, so a mean never overtakes a contribution.
- CONTRIBUTE may arrive while its own window's mean is sent. In Verilog, the remaining frames of the mean advertise its values (see Advertised values). In the functional card, none of them do.

",
    );
}

fn arithmetic(out: &mut String) {
    let _ = write!(
        out,
        "**Sums.** Each beat of each rank counts once, in the order of arrival. Later copies are dropped and counted. Addition is IEEE-754 fp32, subnormals included, rounded to nearest even after each \
addition. The mean is the sum times the fp32 nearest to 1 / (number of contributions received, this rank's own included), rounded to nearest even. Every resulting NaN is {nan:#010x}. A \
beat without contributions is missing.

**bf16** is the upper half of fp32, rounded to nearest even. A value that rounds beyond the largest becomes infinity, and a NaN stays a NaN. Contributions and means are rounded when sent. Sums stay fp32. A payload beat holds two beats of the \
window, the first in its lower 32 bytes. OFFSET counts bytes of fp32, so it grows by 128 for each payload beat. The second half of the last beat of an odd shard is padding.

**Encoded windows** hold K = 2^LOG2_BLOCKS blocks of n = 2^LOG2_N elements, n / 16 beats each. A block x is encoded as y = H diag(s) x / sqrt(n), where H is the Walsh-Hadamard matrix in natural order and s the signs (see Signs). It is decoded as x = diag(s) H y / sqrt(n). \
Beat b of block k travels at position b * K + k of the window. Shards and packets are cut from positions. Lost beats are decoded as zeros. The host receives their number and rescales. The exact steps:

1. E is the largest exponent field of the block's elements, at least 1. If it is 255, the whole block becomes {nan:#010x}.
2. S = E + LOG2_N / 2 + 1. Every element becomes an integer: its value / 2^(S - 157), rounded to nearest even.
3. To encode, negate the elements whose sign bit (see Signs) is 1.
4. Apply LOG2_N stages of butterflies, of distance 1, 2, 4, .. n / 2. In the first, third, .. stage, (a, b) becomes (a + b, b - a). In the second, fourth, .. stage, it becomes (floor(a / 2) + ceil(b / 2), floor(b / 2) - floor(a / 2)).
5. Negate the elements whose index in the block has an odd number of ones in binary.
6. To decode, negate the elements whose sign bit is 1.
7. Integers become fp32: times 2^(S - 157), rounded to nearest even. Results below the smallest normal number and all zeros become +0. Results that are too large become infinity.

**Signs.** Bit i of a beat's 16 sign bits belongs to lane i. The sign bits are the low 16 bits of mix((beat xor high half of SIGN_KEY) + low half of SIGN_KEY), all in 32 bits. Here beat is the number of the beat in block order: k * n / 16 + b. mix(a) is, with each line in 32 bits:

    a = (a + 0x7ed55d16) + (a << 12)
    a = (a ^ 0xc761c23c) ^ (a >> 19)
    a = (a + 0x165667b1) + (a << 5)
    a = (a + 0xd3a2646c) ^ (a << 9)
    a = (a + 0xfd7046c5) + (a << 3)
    a = (a ^ 0xb55a4f09) ^ (a >> 16)

On the right side of each line, a is the value of the line before. The host chooses SIGN_KEY, the same on all ranks. Software uses splitmix64(splitmix64(job seed) + (step << 32 | bucket << 16 | window)), where splitmix64(x) is, in 64 bits:

    z = x + 0x9e3779b97f4a7c15
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb
    z ^ (z >> 31)

",
        nan = limits::NAN_BITS,
    );
}

fn wire(out: &mut String) {
    let _ = write!(
        out,
        "**Dropped frames.** A card counts each dropped frame once, under the first cause that applies:

1. RX_BAD: the MAC marks the frame as bad, or it is whole beats of IPv4/UDP and its UDP checksum is neither right nor zero.
2. DROP_FOREIGN: not IPv4 without options and fragments, not UDP, or not to UDP_PORT.
3. DROP_MAC: to another MAC address than LOCAL_MAC.
4. DROP_IP_CHECKSUM: a wrong IPv4 header checksum.
5. DROP_IP: to another IPv4 address than LOCAL_IP.
6. DROP_SOURCE: of version {version}, with this JOB_TAG and a SENDER below RANKS, but not from the address of SENDER in the peer table.
7. DROP_TOO_LONG: an IPv4 length above 50 + 64 * PAYLOAD_BEATS.
8. RX_BAD: not whole beats.
9. DROP_FIFO_FULL: no room in the receive buffer.
10. DROP_MALFORMED: lengths that disagree with each other or the frame, no payload, a SENDER that is not below RANKS or is this rank, a stage other than {contribute} and {broadcast}, or an OFFSET that is not a multiple of 64.
11. DROP_VERSION: another version.
12. DROP_JOB: another JOB_TAG.
13. DROP_STALE: no window armed for its bucket, step and offset, and a window of its bucket armed for a later step.
14. DROP_NO_WINDOW: no window armed for its bucket, step and offset.
15. DROP_FLAGS: flags 2 and 4 other than the window's.
16. DROP_OUT_OF_SHARD: payload outside the shard that SENDER may write: this rank's in the contribute stage, SENDER's own in the broadcast stage.

In the remaining packets, beats that arrive after the close of their stage (DROP_LATE_BEATS) and second copies of beats (DROP_DUPLICATE_BEATS) are dropped and counted as beats.

**Answered frames.** While it is enabled, a card that is not the reduced one answers ARP requests for LOCAL_IP, and pings (ICMP echo requests without IPv4 options and fragments) of LOCAL_IP in frames of at most {ping} bytes. Answers go to the MAC address of the request. \
They are whole beats, and an ARP reply is padded with zeros. They count in RX_PACKETS, TX_PACKETS, and ARP_REPLIES or PING_REPLIES. The card keeps one answer at a time. A request that arrives before the last answer has left, and any other request, counts in DROP_FOREIGN. \
The card sends no requests and learns no addresses.

**Not checked by the card:** a UDP checksum of zero, source MAC addresses, source ports, and IPv4 fields not named above. \
MAC addresses of peers are taken from the peer table. Cards do not retransmit: lost beats are reported.

**Advertised values.** Frames of both stages carry TIMEOUT_16US and INCAST of their window's CONTRIBUTE. Frames of a mean that is sent before this command, or without it, carry zeros, \
never the values of an earlier window of the slot. A receiver takes zeros as no value.

",
        ping = answer::PING_BYTES_MAX,
        version = packet::VERSION,
        contribute = packet::STAGE_CONTRIBUTE,
        broadcast = packet::STAGE_BROADCAST,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::queue::submission;
    use optireduce_contract::signs::{SPLITMIX64_STEP, signs16, splitmix64};

    #[test]
    fn every_field_of_a_submission_is_in_the_table_as_its_line_says() {
        assert_eq!(NEEDS.len(), submission::ALL.len());
        for ((name, [arm, contribute, broadcast]), field) in NEEDS.iter().zip(submission::ALL) {
            assert_eq!(*name, field.name);
            let says = |command: &str| field.doc.contains(&format!("{command}: "));
            if says("ARM") || says("CONTRIBUTE") {
                assert_eq!((!arm.is_empty(), !contribute.is_empty()), (says("ARM"), says("CONTRIBUTE")), "{name}");
                assert!(broadcast.is_empty(), "{name}");
            } else {
                assert!([arm, contribute, broadcast].iter().all(|need| !need.is_empty()), "{name}");
            }
        }
    }

    #[test]
    fn builds_and_pci_are_those_of_the_tables() {
        let mut text = String::new();
        builds(&mut text);
        pci(&mut text);
        for line in [
            "| simulated; Alveo and OpenNIC from the committed Verilog | 1024 beats, 64 KiB | 2^12 elements | yes |",
            "| vendor, device | 0x10ee, 0x903f; ",
            "| class | 0x020000, ",
            "| BAR 0 | 65536 bytes ",
            "| registers | BAR 0, offset 0, 4096 bytes |",
            "| MSI-X | 4 vectors, ",
            "| MSI-X table | BIR 0, offset 0x8000, 16 bytes a vector |",
            "| MSI-X pending bits | BIR 0, offset 0x9000, 8 bytes |",
        ] {
            assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
        }
    }

    #[test]
    fn a_host_is_told_to_write_the_rings_of_all_queue_pairs() {
        let mut text = String::new();
        pci(&mut text);
        host(&mut text);
        assert!(
            !text.contains("is then as after power-on") && !text.contains("the card is as after power-on"),
            "{text}"
        );
        assert!(text.contains("the rings of all queue pairs: SQ_BASE 0 for those that are not used"), "{text}");
    }

    /// With the formulas copied from the text.
    #[test]
    fn the_signs_are_those_of_the_text() {
        let mix = |a: u32| {
            let a = a.wrapping_add(0x7ed5_5d16).wrapping_add(a << 12);
            let a = (a ^ 0xc761_c23c) ^ (a >> 19);
            let a = a.wrapping_add(0x1656_67b1).wrapping_add(a << 5);
            let a = a.wrapping_add(0xd3a2_646c) ^ (a << 9);
            let a = a.wrapping_add(0xfd70_46c5).wrapping_add(a << 3);
            (a ^ 0xb55a_4f09) ^ (a >> 16)
        };
        for at in 0..1000u32 {
            let key = splitmix64(at.into());
            let (high, low) = ((key >> 32) as u32, key as u32);
            assert_eq!(signs16(key, at), mix((at ^ high).wrapping_add(low)) as u16, "beat {at}");
        }
        let mut text = String::new();
        arithmetic(&mut text);
        assert!(text.contains(&format!("z = x + {SPLITMIX64_STEP:#x}")));
    }
}
