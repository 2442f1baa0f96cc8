//! The contract as a Markdown reference.

use std::fmt::Write;

use optireduce_contract::field::Field;
use optireduce_contract::registers::{self, Access, PEER_BYTES, PEER_TABLE, REGISTERS};
use optireduce_contract::shard::ShardMap;
use optireduce_contract::signs::{signs16, window_key};
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
        "| {PEER_TABLE:#05x} | peer table | host | 0 | | {} entries of {PEER_BYTES} bytes, by rank: see below. |\n",
        limits::RANKS_MAX
    );
    fields(&mut out, "Peer table entry", registers::peer::ALL);
    fields(&mut out, "Submission queue entry", queue::submission::ALL);
    fields(&mut out, "Completion queue entry", queue::completion::ALL);
    fields(&mut out, "Frame, first beat", packet::frame::ALL);
    use_of_it(&mut out);
    vectors(&mut out);
    out
}

/// What tables do not say: enough to write a host or a peer. Where the code says it, at length, is named.
fn use_of_it(out: &mut String) {
    let _ = write!(
        out,
        "## How it is used

**Byte order.** Registers and ring entries are little-endian; the frame's headers are in network byte order; payloads are fp32, or bf16, little-endian.

**Identity first.** MAGIC, CONTRACT, the limits, and SCRATCH with SCRATCH_ECHO, before anything else is written. All ones may be a register's value, but not \
MAGIC's: then the card is gone.

**Order.** CONTROL = 0, until STATUS bit 1 and every SQ_HEAD and CQ_TAIL are 0; then the job's registers, the peer table, and the rings, whose completion entries are \
zeros; then CONTROL = {enable}. Everything that the host writes is a level: writing it again changes nothing. While the card is enabled, only the rings of \
queue pairs that are idle (SQ_BASE 0), SQ_TAIL, CQ_HEAD and SCRATCH may change. CONTROL may be cleared at any time: the card completes what it has begun on the bus and \
the wire (STATUS bit 1 meanwhile), and is then as after power-on.

**Queue pairs.** The registers from {queue_base:#x} on exist for each of {queues} queue pairs, {queue_bytes:#x} bytes apart. MSI-X vector q announces completions of \
queue pair q, and may overtake them: look at the ring once more after arming. A window belongs to the queue pair that armed it.

**Rings.** Entries of {entry} bytes. The host writes entries, a release fence, and then SQ_TAIL, as one 32-bit store. The card writes a completion's PHASE last: 1 in the first \
turn of the ring, 0 in the second, and so on; after it an acquire fence, then the rest. Indices count modulo 65536 and are not reduced by the ring's size. The card \
writes no completion for which CQ_HEAD leaves no room.

**Life of a window.** ARM reserves a slot and opens both stages to the peers; packets that come before it are dropped (DROP_NO_WINDOW). CONTRIBUTE reads this \
rank's gradient and sends each owner its shard. When the contribute stage has closed, the mean of this rank's shard goes to all: by itself with flag 2, else on BROADCAST. When \
the broadcast stage has closed, the result is at HOST_ADDRESS, both stage reports are at REPORT_ADDRESS ({report} bytes: by rank, beats received as u16, contribute stage \
first), and the slot is free. Each stage gives a completion. The fields of each opcode are in the table; those that it does not use are zero. A command that is \
refused gives a completion of opcode 3, with the first cause that applies (`hw/contract/src/rules/command.rs`).

**When a stage closes.** Everything came; or, with flag 4, the last-percentile marks of all peers came and GRACE_NS of silence after them; or BOUND_NS after its clock started, which it does \
when this rank enters the stage, or once START_PEERS peers were heard (`rules/gate.rs`).

**Shards.** A window of B beats is cut into N shards, one for each rank; the first B mod N have one beat more. Rank r owns shard (r + step) mod N.

**Sums.** Each beat of each rank counts once, in the order of arrival; later copies are dropped and counted. A sum is that of IEEE-754 fp32, subnormals included, rounded to nearest even after each \
addition. The mean is the sum times the fp32 nearest to 1 / (number of contributions that came, this rank's own included). Every NaN that results is {nan:#010x}. A \
beat that nobody contributed to is missing.

**bf16.** Rounded to nearest even; a payload beat holds two beats of the window, and the second half of the last one of an odd shard is padding. OFFSET counts bytes of fp32.

**Encoded windows** hold 2^LOG2_BLOCKS blocks of 2^LOG2_N elements. A block becomes H diag(signs) x / sqrt(n), in the arithmetic of `hw/src/hadamard/model.rs`, \
and beat b of block k of K travels at position b * K + k of the window. The signs of a beat are 16 bits, from the window's SIGN_KEY and the beat's number in block order (k * beats of a block + b); \
bit i negates lane i (`hw/contract/src/signs.rs`).

**Not checked by the card:** the peer's addresses (a packet's SENDER says who it is), the IPv4 header's checksum, a UDP checksum of zero. No ARP: peers' MAC addresses are in the peer table. \
No retransmission: what is lost is reported.

",
        enable = registers::CONTROL_ENABLE,
        queue_base = registers::QUEUE_BASE,
        queues = limits::QUEUES,
        queue_bytes = registers::QUEUE_BYTES,
        entry = queue::ENTRY_BYTES,
        report = queue::REPORT_BYTES,
        nan = limits::NAN_BITS,
    );
}

/// To compare an implementation with.
fn vectors(out: &mut String) {
    out.push_str(
        "## Vectors\n\n| job seed, step, bucket, window | SIGN_KEY | signs of beats 0, 1, 2, 1023 |\n|---|---|---|\n",
    );
    for (seed, step, bucket, window) in [(0, 0, 0, 0), (7, 1, 0, 0), (7, 1, 0, 1), (u64::MAX, 65535, 513, 3)] {
        let key = window_key(seed, step, bucket, window);
        let signs = [0, 1, 2, 1023].map(|beat| format!("{:#06x}", signs16(key, beat))).join(", ");
        let _ = writeln!(out, "| {seed:#x}, {step}, {bucket}, {window} | {key:#018x} | {signs} |");
    }
    out.push_str("\n| beats, ranks, step | shards, as first beat + beats, by rank |\n|---|---|\n");
    for (beats, ranks, step) in [(16, 4, 0), (17, 4, 1), (1024, 3, 5), (2, 4, 0)] {
        let map = ShardMap::new(beats, ranks, step);
        let shards: Vec<String> = (0..ranks)
            .map(|rank| map.range_of(rank))
            .map(|shard| format!("{} + {}", shard.start, shard.len()))
            .collect();
        let _ = writeln!(out, "| {beats}, {ranks}, {step} | {} |", shards.join(", "));
    }
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
