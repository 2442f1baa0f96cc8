//! Signal bundles that travel between the units of the card.

use crate::hdl::prelude::*;
pub use crate::mem::place::SlotBeat;

/// What the card keeps of an armed window. Units that need it by slot hold a copy in distributed memory, written by
/// the arm bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotContext {
    /// The host's identifier of the window.
    pub cookie: W<32>,
    /// Collective number.
    pub step: W<16>,
    /// Bucket id.
    pub bucket: W<16>,
    /// Offset of the window in the bucket, in beats.
    pub base_beat: W<26>,
    /// Beats of the window.
    pub beats: W<15>,
    /// Beats that every shard has.
    pub quotient: W<15>,
    /// How many of the first shards have one beat more.
    pub remainder: W<7>,
    /// Rank r owns shard (r + rotation) mod ranks.
    pub rotation: W<7>,
    /// The window is Hadamard-encoded.
    pub hadamard: bool,
    /// Payloads travel as bf16.
    pub bf16: bool,
    /// The mean goes out without asking the host.
    pub auto_broadcast: bool,
    /// The early rule applies.
    pub early: bool,
    /// log2 of the Hadamard block in elements.
    pub log2_n: W<4>,
    /// log2 of the blocks in the window.
    pub log2_blocks: W<4>,
    /// Beats of the window that are in host memory; the rest is padding.
    pub host_beats: W<15>,
    /// Last packets to a peer that carry the mark.
    pub mark_packets: W<8>,
    /// Peers that are sent to at a time, packet by packet.
    pub send_incast: W<4>,
    /// Queue pair that armed the window and gets its completions.
    pub queue: W<2>,
    /// First beat of the local shard.
    pub own_start: W<15>,
    /// Beats of the local shard.
    pub own_beats: W<15>,
    /// Generation of the slot: memory words of another epoch are empty.
    pub epoch: W<8>,
    /// Where the result goes.
    pub host_address: W<64>,
    /// Where the stage reports go.
    pub report_address: W<64>,
    /// Key of the Hadamard signs.
    pub sign_key: W<64>,
}

/// How the stage gates of a window are to close, given with the arm bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GateRules {
    /// Bound on the stage in ns.
    pub bound_ns: W<32>,
    /// Silence that closes early, in ns.
    pub grace_ns: W<32>,
    /// Distinct peers that start the clock; 0: none.
    pub start_peers: W<7>,
    /// The early rule applies.
    pub early: bool,
    /// Peers that have something to send.
    pub senders: W<64>,
    /// Beats expected, local ones included.
    pub expected: W<22>,
    /// Local beats expected: the early rule waits for them.
    pub own: W<15>,
}

/// State of a stage gate that the finisher reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GateReport {
    /// 0 complete, 1 early, 2 deadline.
    pub closed_by: W<2>,
    /// Beats accepted from peers.
    pub received: W<22>,
    /// Local beats accepted.
    pub own: W<22>,
    /// Ranks heard.
    pub heard: W<64>,
    /// Start of the stage's clock in ns.
    pub start_ns: W<48>,
    /// Time of the close in ns.
    pub closed_ns: W<48>,
}

/// A beat of a frame in the receive buffer, and on the way to the MAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameBeat {
    /// The beat.
    pub data: Beat,
    /// Last beat of its frame.
    pub last: bool,
}

/// Fields of an accepted frame's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct RxHeader {
    /// Bucket id.
    pub bucket: W<16>,
    /// Collective number.
    pub step: W<16>,
    /// Offset of the payload in the bucket, in beats.
    pub beat: W<26>,
    /// Beats of payload.
    pub beats: W<10>,
    /// Sender's rank.
    pub sender: W<6>,
    /// Broadcast stage; else contribute.
    pub broadcast: bool,
    /// Last-percentile mark.
    pub mark: bool,
    /// Payload is Hadamard-encoded.
    pub hadamard: bool,
    /// Payload is bf16.
    pub bf16: bool,
}

/// A payload beat for one window: to be summed (contribute) or stored (broadcast).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowBeat {
    /// Window slot.
    pub slot: W<3>,
    /// Beat of the window.
    pub position: W<14>,
    /// Beat of the local shard; contribute only.
    pub relative: W<14>,
    /// Sender's rank; this card's rank for the local gradient.
    pub sender: W<6>,
    /// The slot's epoch.
    pub epoch: W<8>,
    /// The beat.
    pub data: Beat,
}

/// One word of the accumulator memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AccWord {
    /// Sum of the contributions so far.
    pub data: Beat,
    /// Bit r: rank r's contribution is in.
    pub arrived: W<64>,
    /// Number of contributions.
    pub count: W<7>,
    /// Epoch of the slot when this word was written; another means empty.
    pub epoch: W<8>,
}

/// One word of the gather memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GatherWord {
    /// The mean.
    pub data: Beat,
    /// Epoch of the slot when this word was written; another means missing.
    pub epoch: W<8>,
}

/// Order to send one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PacketOrder {
    /// Window slot.
    pub slot: W<3>,
    /// From the gather memory (broadcast); else from the transmit buffer.
    pub broadcast: bool,
    /// Bank of the transmit buffer.
    pub bank: bool,
    /// Destination rank.
    pub peer: W<6>,
    /// First beat of the payload in the window.
    pub position: W<14>,
    /// Beats of payload.
    pub beats: W<8>,
    /// bf16: the second half of the last one is zeros.
    pub half: bool,
    /// Carries the last-percentile mark.
    pub mark: bool,
    /// Last packet of its job.
    pub last: bool,
    /// Timeout field.
    pub timeout: W<16>,
    /// Advertised incast.
    pub incast: W<4>,
    /// Collective number.
    pub step: W<16>,
    /// Bucket id.
    pub bucket: W<16>,
    /// Offset of the payload in the bucket, in beats.
    pub beat: W<26>,
    /// Payload is Hadamard-encoded.
    pub hadamard: bool,
    /// Payload is bf16.
    pub bf16: bool,
}

/// Order to read, encode and send this rank's gradient of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct ContributeOrder {
    /// Window slot.
    pub slot: W<3>,
    /// Where the gradient is.
    pub host_address: W<64>,
    /// Beats to read.
    pub host_beats: W<15>,
}

/// Order to send the packets of one window: shards of the transmit buffer, or the mean of the local shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SendOrder {
    /// Window slot.
    pub slot: W<3>,
    /// The mean; else the gradient.
    pub broadcast: bool,
    /// Bank of the transmit buffer.
    pub bank: bool,
}

/// What all frames of a window advertise: what its CONTRIBUTE says, zero until that comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Advert {
    /// Timeout field.
    pub timeout: W<16>,
    /// Incast.
    pub incast: W<4>,
}

/// A refused submission, to be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Refusal {
    /// Queue pair it came from.
    pub queue: W<2>,
    /// Slot as submitted.
    pub slot: W<8>,
    /// Cookie as submitted.
    pub cookie: W<32>,
    /// Status code.
    pub status: W<8>,
}

/// What the job's registers hold and what the card was built with, for the units that need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct JobWords {
    /// This rank.
    pub rank: W<6>,
    /// Ranks of the job.
    pub ranks: W<7>,
    /// Job tag, as loaded little-endian from the wire.
    pub job_tag: W<64>,
    /// Payload of a full packet in beats.
    pub payload_beats: W<8>,
    /// UBT port, as loaded little-endian from the wire.
    pub udp_port: W<16>,
    /// IPv4 address, as loaded little-endian from the wire.
    pub ip: W<32>,
    /// MAC address, as loaded little-endian from the wire.
    pub mac: W<48>,
    /// Largest window of this card in beats, a power of two.
    pub window_beats: W<15>,
    /// log2 of this card's largest Hadamard block in elements.
    pub log2_n_max: W<4>,
}
