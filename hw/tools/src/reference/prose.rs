//! What tables do not say: enough to write a host or a peer without reading the code.

use std::fmt::Write;

use optireduce_contract::rules::command::SEND_INCAST_MAX;
use optireduce_contract::{answer, limits, packet, pci, queue, registers};
use optireduce_hw::card::build::Build;

use crate::flows::bitstream;

/// Which fields each command needs, by opcode: ARM, CONTRIBUTE, BROADCAST. Fields of a submission are here in their order.
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

/// What cards are built with, beside what all have.
pub(super) fn builds(out: &mut String) {
    let _ = writeln!(
        out,
        "## Builds\n\nAll cards: {} window slots, {} queue pairs, {} ranks, payloads of up to {} beats, beats of {} bytes, MAGIC {:#010x}, CONTRACT {}, BUILD {}. \
         A card says its own numbers in WINDOW_BEATS_MAX and HADAMARD_LOG2_MAX.\n\n\
         | build | largest window | largest Hadamard block | frames are filtered, UDP checksums checked and filled in |\n|---|---|---|---|",
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
            "Alveo from Verilog written for it (see its README); the functional simulated card when it is served",
            Build::BOARD,
            "yes",
        ),
        ("reduced, for ECP5", bitstream::BUILD, "no: the counters of the filter read 0, and checksums leave as 0"),
    ] {
        let (beats, log2_n) = (1 << build.window_log2, build.hadamard_log2);
        let kib = beats * limits::BEAT_BYTES / 1024;
        let _ = writeln!(out, "| {name} | {beats} beats, {kib} KiB | 2^{log2_n} elements | {checked} |");
    }
    let _ = writeln!(
        out,
        "\nClock {} MHz: {} ns a cycle. Hadamard blocks have 2^{}, 2^10, 2^12 or 2^14 elements, up to the largest of the build.\n",
        limits::CLOCK_MHZ,
        limits::CYCLE_NS,
        limits::HADAMARD_LOG2_MIN
    );
}

/// The card as a PCI function.
pub(super) fn pci(out: &mut String) {
    let _ = write!(
        out,
        "## PCI function

Of the Alveo shells (not built, not run on a board), and of a simulated card that is served. The shell for OpenNIC has the registers elsewhere and no interrupts, the one for ECP5 no PCI.

| | |
|---|---|
| vendor, device | {vendor:#06x}, {device:#06x}; other designs may have them too: only MAGIC tells that a device is a card |
| class | {class:#08x}, an Ethernet controller |
| BAR {bar} | {bytes} bytes of memory, 64 bits, not prefetchable; no other BAR |
| registers | BAR {bar}, from 0 on, {registers} bytes |
| MSI-X | {vectors} vectors, one for each queue pair; no MSI, no INTx |
| MSI-X table | BIR {bar}, offset {table:#x}, {vector_bytes} bytes a vector |
| MSI-X pending bits | BIR {bar}, offset {pending:#x}, 8 bytes |
| reset | simulated: function-level reset; Alveo: of the bus |

Accesses to BAR {bar} are of whole aligned words of 32 bits. After either reset CONTROL is 0, and counters, windows and the card's indices are as after power-on. The rest of what the host wrote \
may have stayed (see Order).

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

/// Which fields each command needs, and why it may be refused.
pub(super) fn commands(out: &mut String) {
    out.push_str("## Commands\n\nFields that a command does not need are zero.\n\n| field | ARM | CONTRIBUTE | BROADCAST |\n|---|---|---|---|\n");
    for (name, needs) in &NEEDS {
        let _ = writeln!(out, "| {name} | {} |", needs.join(" | "));
    }
    let _ = write!(
        out,
        "
A command is refused by a completion of opcode {refused} with the STATUS of the first of these that does not hold:

1. SLOT is below {slots} and OPCODE is 1, 2 or 3: else {bad}.
2. ARM: every field is within its limits: else {bad}. BEATS from 1 to WINDOW_BEATS_MAX; HOST_BEATS at most BEATS; SHARD_QUOTIENT at most half of WINDOW_BEATS_MAX; \
SHARD_REMAINDER below RANKS; SHARD_QUOTIENT * RANKS + SHARD_REMAINDER = BEATS; ROTATION and START_PEERS below RANKS; SEND_INCAST at most {incast}; HOST_ADDRESS and BASE multiples of 64, \
REPORT_ADDRESS of 256. With flag 1 also: LOG2_N even, from {log2_min} to HADAMARD_LOG2_MAX; LOG2_BLOCKS at most {blocks}; 2^(LOG2_N - 4 + LOG2_BLOCKS) = BEATS.
3. ARM: the slot is free: else {busy}. It is free after reset, and from the completion of the broadcast stage on.
4. CONTRIBUTE and BROADCAST: the slot is armed, by this queue pair, with this COOKIE and STEP, and its broadcast stage is not being finished: else {stale}.
5. CONTRIBUTE: the first one for this window: else {stale}; HOST_BEATS at most those armed, HOST_ADDRESS a multiple of 64: else {bad}.
6. BROADCAST: the contribute stage has closed: else {stale}; the window was armed without flag 2: else {bad}.

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

/// How it is used.
pub(super) fn use_of_it(out: &mut String) {
    out.push_str("## How it is used\n\n");
    host(out);
    windows(out);
    order(out);
    arithmetic(out);
    wire(out);
}

fn host(out: &mut String) {
    let _ = write!(
        out,
        "**Byte order.** Registers and ring entries are little-endian; the frame's headers are in network byte order; payloads are fp32, or bf16, little-endian.

**Identity first.** MAGIC, CONTRACT, the limits, and SCRATCH with SCRATCH_ECHO, before anything else is written. All ones may be a register's value, but not \
MAGIC's: then the card is gone.

**Order.** CONTROL = 0, until STATUS bit 1 and every SQ_HEAD and CQ_TAIL are 0; then the job's registers, the peer table, and the rings, whose completion entries are \
zeros; then CONTROL = {enable}. What was written before CONTROL was cleared, or before a reset, may still be there, so all of the job's registers are written, and the rings of all queue pairs: SQ_BASE 0 for those \
that are not used. Else the card would use the rings of whoever had it before. Everything that the host writes is a level: writing it again changes nothing. While the card is enabled, only the rings of \
queue pairs that are idle (SQ_BASE 0), SQ_TAIL, CQ_HEAD and SCRATCH may change. CONTROL may be cleared at any time: the card completes what it has begun on the bus and \
the wire (STATUS bit 1 meanwhile), and counters, windows and its indices are then as after power-on; what the host wrote stays.

**Queue pairs.** The registers from {queue_base:#x} on exist for each of {queues} queue pairs, {queue_bytes:#x} bytes apart. MSI-X vector q announces completions of \
queue pair q, and may overtake them: look at the ring once more after arming. A window belongs to the queue pair that armed it.

**Rings.** Entries of {entry} bytes. The host writes entries, a release fence, and then SQ_TAIL, as one 32-bit store. The card writes a completion's PHASE last: 1 in the first \
turn of the ring, 0 in the second, and so on; after it an acquire fence, then the rest. Indices count modulo 65536 and are not reduced by the ring's size. The card \
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
        "**Life of a window.** ARM reserves a slot and opens both stages to the peers; packets that come before it are dropped (DROP_NO_WINDOW). CONTRIBUTE reads this \
rank's gradient and sends each owner its shard. When the contribute stage has closed, the mean of this rank's shard goes to all: by itself with flag 2, else on BROADCAST. When \
the broadcast stage has closed, the result is at HOST_ADDRESS, both stage reports are at REPORT_ADDRESS ({report} bytes: by rank, beats received as u16, contribute stage \
first), and the slot is free. In the report of the contribute stage a rank's own entry is its own shard, if it contributed in time; in that of the broadcast stage it is 0. Beats are those of the window, also if payloads are bf16. \
Beats of the gradient from HOST_BEATS on are zeros. Each stage gives a completion; after STATUS {dma_error} nothing is promised of the memory at HOST_ADDRESS and REPORT_ADDRESS.

**When a stage closes.** Its clock starts when this rank enters the stage, or by itself once START_PEERS distinct peers were heard. This rank enters the contribute stage with CONTRIBUTE, and the broadcast stage when the contribute stage closes. The stage is over at the first of these, in this order if they come at once: complete, everything came, this rank's own \
shard included; early, with flag 4, once this rank's own beats are in and every peer that has something to send has sent a packet with the last-percentile mark, after GRACE_NS of silence; deadline, \
BOUND_NS after its clock started. Silence counts from the last packet or from the start of the clock, whichever is later. A stage whose clock has not started does not close.

**Shards.** A window of B beats is cut into N shards, one for each rank; the first B mod N have one beat more. Rank r owns shard (r + ROTATION) mod N. All ranks of a window arm the same ROTATION; software \
takes the collective number mod N.

**Rounds.** A stage goes to the peers in rounds of SEND_INCAST, beginning with the next rank; those of a round take turns, packet by packet. A shard is cut into packets of PAYLOAD_BEATS, the last one shorter; \
the last MARK_PACKETS to each peer carry the mark.

",
        report = queue::REPORT_BYTES,
        dma_error = queue::STATUS_DMA_ERROR,
    );
}

fn order(out: &mut String) {
    out.push_str(
        "**Order of commands and packets.** A host may rely on this: the commands of a queue pair are carried out in the order of its ring; a window's contribute stage \
completes before its broadcast stage; the packets of one stage of a window leave in the order of its rounds, and to one peer by OFFSET. \
A receiver needs none of the latter, since each packet says step, bucket, stage and OFFSET.

A host may not rely on the order between queue pairs, between the completions of different windows, or between packets of different windows or stages, because cards differ there. \
The card in Verilog decides packet by packet, and means go first: one that becomes ready while a contribution is sent leaves between two of its packets, and the rest of the contribution \
follows when no mean is left. A CONTRIBUTE that comes while the mean of another window is sent thus waits for it, and for all means that become ready meanwhile. \
The functional simulated card decides stage by stage: once a stage is ready, all its packets leave before those of a stage that becomes ready later, so a mean never overtakes a contribution. \
If CONTRIBUTE comes while its own window's mean is sent, the rest of the mean's frames advertise what it says (see Advertised) in Verilog, and none of them in the functional card.

",
    );
}

fn arithmetic(out: &mut String) {
    let _ = write!(
        out,
        "**Sums.** Each beat of each rank counts once, in the order of arrival; later copies are dropped and counted. A sum is that of IEEE-754 fp32, subnormals included, rounded to nearest even after each \
addition. The mean is the sum times the fp32 nearest to 1 / (number of contributions that came, this rank's own included), rounded to nearest even. Every NaN that results is {nan:#010x}. A \
beat that nobody contributed to is missing.

**bf16** is the upper half of fp32, rounded to nearest even; what rounds past the largest becomes infinity, a NaN stays one. Contributions and means are rounded when sent, sums stay fp32. A payload beat holds two beats of the \
window, the first in its lower 32 bytes. OFFSET counts bytes of fp32, so it grows by 128 for each payload beat; the second half of the last beat of an odd shard is padding.

**Encoded windows** hold K = 2^LOG2_BLOCKS blocks of n = 2^LOG2_N elements, n / 16 beats each. A block x becomes y = H diag(s) x / sqrt(n), H the Walsh-Hadamard matrix in natural order, and is decoded by x = diag(s) H y / sqrt(n). \
Beat b of block k travels at position b * K + k of the window, and shards and packets are cut of positions. Lost beats are decoded as zeros; the host is told how many, and rescales. To the bit:

1. E is the largest exponent field of the block's elements, at least 1. If it is 255, the whole block becomes {nan:#010x}.
2. S = E + LOG2_N / 2 + 1. Every element becomes an integer: its value / 2^(S - 157), rounded to nearest even.
3. To encode, elements whose sign bit is set are negated.
4. LOG2_N stages of butterflies, of distance 1, 2, 4, .. n / 2. (a, b) becomes (a + b, b - a); in the second, fourth, .. stage (floor(a / 2) + ceil(b / 2), floor(b / 2) - floor(a / 2)).
5. Elements whose number in the block has an odd number of ones are negated.
6. To decode, elements whose sign bit is set are negated.
7. Integers become fp32: times 2^(S - 157), rounded to nearest even; below the smallest normal number +0, and every zero +0; too large: infinity.

**Signs.** Bit i of a beat's 16 sign bits is that of lane i. They are the low 16 bits of mix((beat xor high half of SIGN_KEY) + low half of SIGN_KEY), all in 32 bits, where the beat's number counts in block order: k * n / 16 + b. mix(a), each line in 32 bits:

    a = (a + 0x7ed55d16) + (a << 12)
    a = (a ^ 0xc761c23c) ^ (a >> 19)
    a = (a + 0x165667b1) + (a << 5)
    a = (a + 0xd3a2646c) ^ (a << 9)
    a = (a + 0xfd7046c5) + (a << 3)
    a = (a ^ 0xb55a4f09) ^ (a >> 16)

On the right of each line a is the value of the line before. SIGN_KEY is the host's choice, the same on all ranks; software takes splitmix64(splitmix64(job seed) + (step << 32 | bucket << 16 | window)), where splitmix64(x) is, in 64 bits:

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
        "**What a card drops**, each frame counted once, under the first of these: bad (the MAC says so; or it is whole beats, IPv4/UDP, and its UDP checksum is neither right nor zero; RX_BAD); not IPv4 without options and \
fragments, UDP, to UDP_PORT (DROP_FOREIGN); to another MAC address than LOCAL_MAC (DROP_MAC); a wrong IPv4 header checksum (DROP_IP_CHECKSUM); to another address than LOCAL_IP (DROP_IP); of version {version}, this JOB_TAG and a SENDER below RANKS, and not from \
the address that the peer table has for SENDER (DROP_SOURCE); an IPv4 length of more than 50 + 64 * PAYLOAD_BEATS (DROP_TOO_LONG); not whole beats (RX_BAD); no room (DROP_FIFO_FULL); lengths that disagree with each other or the frame, no payload, a SENDER that \
is not below RANKS or is this rank, a stage other than {contribute} and {broadcast}, an OFFSET that is no multiple of 64 (DROP_MALFORMED); another version (DROP_VERSION); another JOB_TAG (DROP_JOB); a step before that of the window armed for its bucket (DROP_STALE), or no window armed for its bucket, step and offset (DROP_NO_WINDOW); \
flags 2 and 4 other than the window's (DROP_FLAGS); payload outside the shard that SENDER may write: this rank's in the contribute stage, SENDER's own in the broadcast stage (DROP_OUT_OF_SHARD). Of what is left, beats that come after the close of their stage, and second copies, are dropped and counted as beats.

**What a card answers**, while it is enabled and unless it is the reduced one: ARP requests for LOCAL_IP, and pings (ICMP echo requests without IPv4 options and fragments) of LOCAL_IP in frames of at most {ping} bytes. Answers go to the MAC address that asked, \
and are whole beats, zeros behind an ARP reply. They count as RX_PACKETS, TX_PACKETS, and ARP_REPLIES or PING_REPLIES. One answer is kept at a time: a request that comes before the last answer has left, and every other one, is DROP_FOREIGN. \
The card asks nobody and learns no address.

**Not checked by the card:** a UDP checksum of zero, source MAC addresses and ports, the fields of IPv4 that decide nothing. \
Peers' MAC addresses are in the peer table. No retransmission: what is lost is reported.

**Advertised.** Frames of both stages carry TIMEOUT_16US and INCAST of their window's CONTRIBUTE. Frames of a mean that is sent before this command comes, if it comes at all, carry zeros, \
never what an earlier window of the slot advertised; a receiver takes zeros for nothing said.

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
            "| registers | BAR 0, from 0 on, 4096 bytes |",
            "| MSI-X | 4 vectors, ",
            "| MSI-X table | BIR 0, offset 0x8000, 16 bytes a vector |",
            "| MSI-X pending bits | BIR 0, offset 0x9000, 8 bytes |",
        ] {
            assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
        }
    }

    /// A reset keeps what the host wrote (`registers_tests`), rings too, which a host must know.
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

    /// The formulas of the text, followed to the letter.
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
