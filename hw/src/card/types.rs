//! Signal bundles that travel between the units of the card.

use crate::hdl::prelude::*;
pub use crate::mem::place::SlotBeat;

/// Context of an armed window. The arm bus writes a copy into each unit that needs it by slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotContext {
    /// Chosen by the host.
    pub cookie: W<32>,
    /// Collective.
    pub step: W<16>,
    pub bucket: W<16>,
    /// Offset in the bucket, in beats.
    pub base_beat: W<26>,
    pub beats: W<15>,
    /// Beats of a shard, rounded down.
    pub quotient: W<15>,
    /// Number of leading shards with one beat more.
    pub remainder: W<7>,
    /// Rank r owns shard (r + rotation) mod ranks.
    pub rotation: W<7>,
    pub hadamard: bool,
    pub bf16: bool,
    /// The mean is broadcast without asking the host.
    pub auto_broadcast: bool,
    /// The stages may close early.
    pub early: bool,
    /// log2 of the Hadamard block in elements.
    pub log2_n: W<4>,
    /// log2 of the blocks in the window.
    pub log2_blocks: W<4>,
    /// Beats in host memory; the rest is padding.
    pub host_beats: W<15>,
    /// Last packets to a peer that carry the mark.
    pub mark_packets: W<8>,
    /// Peers per round.
    pub send_incast: W<4>,
    /// Queue pair that armed the window.
    pub queue: W<2>,
    /// First beat and length of the local shard.
    pub own_start: W<15>,
    pub own_beats: W<15>,
    /// Generation of the slot; words of another epoch are empty.
    pub epoch: W<8>,
    /// Destination of the result.
    pub host_address: W<64>,
    /// Destination of the stage reports.
    pub report_address: W<64>,
    pub sign_key: W<64>,
}

/// Rules for closing a stage, part of the arm bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GateRules {
    pub bound_ns: W<32>,
    /// Silence that closes early.
    pub grace_ns: W<32>,
    /// Distinct peers that start the clock; 0: none.
    pub start_peers: W<7>,
    pub early: bool,
    /// Peers with something to send.
    pub senders: W<64>,
    /// Beats expected, local ones included.
    pub expected: W<22>,
    /// Local beats expected.
    pub own: W<15>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GateReport {
    /// 0 complete, 1 early, 2 deadline.
    pub closed_by: W<2>,
    /// Beats accepted from peers.
    pub received: W<22>,
    /// Local beats accepted.
    pub own: W<22>,
    pub heard: W<64>,
    /// Start of the stage's clock.
    pub start_ns: W<48>,
    pub closed_ns: W<48>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameBeat {
    pub data: Beat,
    pub last: bool,
}

/// Header fields, named as in [`SlotContext`].
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct RxHeader {
    pub bucket: W<16>,
    pub step: W<16>,
    /// Offset in the bucket, in beats.
    pub beat: W<26>,
    pub beats: W<10>,
    pub sender: W<6>,
    pub broadcast: bool,
    pub mark: bool,
    pub hadamard: bool,
    pub bf16: bool,
}

/// Payload beat to be summed (contribute) or stored (broadcast).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowBeat {
    pub slot: W<3>,
    /// Beat of the window.
    pub position: W<14>,
    /// Beat of the local shard; contribute only.
    pub relative: W<14>,
    /// This card's rank for the local gradient.
    pub sender: W<6>,
    pub epoch: W<8>,
    pub data: Beat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AccWord {
    pub data: Beat,
    /// Bit r: rank r's contribution is in.
    pub arrived: W<64>,
    pub count: W<7>,
    /// Slot's epoch at the write; a word of another epoch is empty.
    pub epoch: W<8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct GatherWord {
    pub data: Beat,
    /// Slot's epoch at the write; a word of another epoch is missing.
    pub epoch: W<8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PacketOrder {
    pub slot: W<3>,
    /// Reads the gather memory (broadcast); otherwise the transmit buffer.
    pub broadcast: bool,
    pub bank: bool,
    pub peer: W<6>,
    pub position: W<14>,
    pub beats: W<8>,
    /// bf16: the second half of the last beat is zero.
    pub half: bool,
    pub mark: bool,
    /// End of the window; the order has no payload.
    pub last: bool,
    /// In units of 16 us.
    pub timeout: W<16>,
    pub incast: W<4>,
    pub step: W<16>,
    pub bucket: W<16>,
    /// Offset in the bucket, in beats.
    pub beat: W<26>,
    pub hadamard: bool,
    pub bf16: bool,
}

/// Order to read, encode and send this rank's gradient of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct ContributeOrder {
    pub slot: W<3>,
    pub host_address: W<64>,
    pub host_beats: W<15>,
}

/// Order to send one window: the shards in the transmit buffer, or the mean of the local shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SendOrder {
    pub slot: W<3>,
    /// Sends the mean; otherwise the gradient.
    pub broadcast: bool,
    pub bank: bool,
}

/// Values advertised by all frames of a window, from its CONTRIBUTE; zero before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Advert {
    /// In units of 16 us.
    pub timeout: W<16>,
    pub incast: W<4>,
}

/// Refused submission; slot and cookie are as submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Refusal {
    pub queue: W<2>,
    pub slot: W<8>,
    pub cookie: W<32>,
    pub status: W<8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct JobWords {
    pub rank: W<6>,
    pub ranks: W<7>,
    /// Like port and addresses below, as loaded little-endian from the wire.
    pub job_tag: W<64>,
    /// Payload of a full packet in beats.
    pub payload_beats: W<8>,
    pub udp_port: W<16>,
    pub ip: W<32>,
    pub mac: W<48>,
    /// The card's largest window in beats, a power of two.
    pub window_beats: W<15>,
    /// log2 of the card's largest Hadamard block in elements.
    pub log2_n_max: W<4>,
}
