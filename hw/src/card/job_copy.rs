//! `JobCopy`: job registers for the blocks around [`SmartNic`](super::smartnic::SmartNic), copied
//! from register writes.
//!
//! Latency: 1 cycle, one write a cycle. No back-pressure. Reset: `reset` (of the bus) clears
//! CONTROL.enable only.

use crate::hdl::prelude::*;
use optireduce_contract::registers as map;

const _: () = assert!(
    map::CONTROL.word() == 64
        && map::RANKS.word() == 67
        && map::JOB_TAG_LO.word() == 68
        && map::PAYLOAD_BEATS.word() == 70
        && map::UDP_PORT.word() == 71
        && map::LOCAL_IP.word() == 72
        && map::LOCAL_MAC_HI.word() == 74
);

/// Tag, port and addresses are wire bytes loaded little-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CopiedJob {
    pub enable: bool,
    /// World size.
    pub ranks: W<7>,
    pub job_tag: W<64>,
    /// Payload of a full packet in beats.
    pub payload_beats: W<8>,
    pub udp_port: W<16>,
    pub ip: W<32>,
    pub mac: W<48>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Host {
    enable: bool,
    ranks: W<7>,
    job_tag_lo: W<32>,
    job_tag_hi: W<32>,
    payload_beats: W<8>,
    udp_port: W<16>,
    ip: W<32>,
    mac_lo: W<32>,
    mac_hi: W<16>,
}

#[derive(LogicBlock, Default)]
pub struct JobCopy {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub write: Signal<In, bool>,
    pub write_address: Signal<In, W<10>>,
    pub write_data: Signal<In, W<32>>,
    pub job: Signal<Out, CopiedJob>,
    host: DFF<Host>,
}

impl Logic for JobCopy {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, host);
        if self.write.val() {
            if self.write_address.val() == 0x40 {
                self.host.d.next.enable = self.write_data.val().get_bit(0);
            } else if self.write_address.val() == 0x43 {
                self.host.d.next.ranks = self.write_data.val().get_bits::<7>(0);
            } else if self.write_address.val() == 0x44 {
                self.host.d.next.job_tag_lo = self.write_data.val();
            } else if self.write_address.val() == 0x45 {
                self.host.d.next.job_tag_hi = self.write_data.val();
            } else if self.write_address.val() == 0x46 {
                self.host.d.next.payload_beats = self.write_data.val().get_bits::<8>(0);
            } else if self.write_address.val() == 0x47 {
                self.host.d.next.udp_port = self.write_data.val().get_bits::<16>(0);
            } else if self.write_address.val() == 0x48 {
                self.host.d.next.ip = self.write_data.val();
            } else if self.write_address.val() == 0x49 {
                self.host.d.next.mac_lo = self.write_data.val();
            } else if self.write_address.val() == 0x4a {
                self.host.d.next.mac_hi = self.write_data.val().get_bits::<16>(0);
            }
        }
        if self.reset.val() {
            self.host.d.next.enable = false;
        }
        self.job.next.enable = self.host.q.val().enable;
        self.job.next.ranks = self.host.q.val().ranks;
        self.job.next.job_tag = (bit_cast_w::<64, 32>(self.host.q.val().job_tag_hi) << 32)
            | bit_cast_w::<64, 32>(self.host.q.val().job_tag_lo);
        self.job.next.payload_beats = self.host.q.val().payload_beats;
        self.job.next.udp_port = self.host.q.val().udp_port;
        self.job.next.ip = self.host.q.val().ip;
        self.job.next.mac =
            (bit_cast_w::<48, 16>(self.host.q.val().mac_hi) << 32) | bit_cast_w::<48, 32>(self.host.q.val().mac_lo);
    }
}

clocked!(JobCopy);
