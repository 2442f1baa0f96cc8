//! A TUN or TAP device: cards behind a network interface of this host.
//!
//! The kernel reaches them as hosts of that network, with its own routes, and ranks without cards by ordinary sockets. A TUN device carries IPv4 packets,
//! so their Ethernet headers are made here and taken off; a TAP device carries the frames as they are.
//!
//! A card's MAC address is where its frames come from; until it has sent one after a reset, the one that follows from its IP address ([`Endpoint::of_ip`]), and if
//! it has none either it gets what is for MAC addresses that no other card has.
//! A device that is there is taken as it is, and needs no privileges if it was made for this user
//! (`ip tuntap add dev or0 mode tun user $USER`); another one is made, brought up, and goes with this process, which needs `CAP_NET_ADMIN`.
//! Limits: TUN takes IPv4 only. With TAP the kernel finds cards by ARP once they are enabled.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use optireduce_contract::packet::{Endpoint, frame};
use rustix::net::netdevice::name_to_index;
use tun_rs::{DeviceBuilder, SyncDevice};

use super::FRAME_BYTES_MAX;

pub(super) use tun_rs::Layer;

/// Bytes of an Ethernet header.
const ETHERNET_BYTES: usize = frame::IP_VERSION_IHL.offset;
/// Fewest bytes of a frame, without its check sequence.
const FRAME_BYTES_MIN: usize = 60;
/// Bytes of an IPv4 header without options.
const IPV4_BYTES: usize = 20;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// MTU of a device that is made: the largest that networks of this kind have.
const MTU: u16 = 9000;
/// Packets that a device holds until they are taken. More than a burst of a job's.
const DEVICE_QUEUE_PACKETS: u32 = 5000;
/// Frames that wait for a card; what comes beyond is lost.
const FRAMES_MAX: usize = 1 << 14;

/// A card's port behind a device.
pub(super) struct DeviceLink {
    segment: Arc<Segment>,
    /// Its place among the cards there.
    card: usize,
    /// Its MAC address while it has sent nothing, as [`Place`] has it.
    first_mac: u64,
    frames: Mutex<Receiver<Vec<u8>>>,
}

/// What cards behind one device share.
struct Segment {
    name: String,
    device: SyncDevice,
    layer: Layer,
    cards: Vec<Place>,
}

/// Where a card is.
struct Place {
    /// Its MAC address, behind two zero bytes, or [`UNKNOWN`].
    mac: AtomicU64,
    /// What is for it.
    frames: SyncSender<Vec<u8>>,
}

/// No MAC address.
const UNKNOWN: u64 = u64::MAX;

fn number_of([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

impl Place {
    fn give(&self, frame: &[u8]) {
        if self.frames.try_send(frame.to_vec()).is_err() {
            tracing::debug!("a packet is lost: too many wait for the card");
        }
    }
}

impl DeviceLink {
    /// The ports of cards with these addresses, or none yet, behind the device `name`.
    pub fn open_all(name: &str, layer: Layer, addresses: &[Option<SocketAddrV4>]) -> io::Result<Vec<Self>> {
        let kind = if layer == Layer::L3 { "TUN" } else { "TAP" };
        let is_there = name_to_index(UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?, name).is_ok();
        let builder = DeviceBuilder::new().name(name).layer(layer);
        let builder = if is_there { builder.inherit_enable_state() } else { builder.mtu(MTU).enable(true) };
        let device = builder.build_sync().map_err(|error| {
            let mode = kind.to_lowercase();
            let what = format!(
                "{kind} device {name}: {error}; it needs /dev/net/tun (in a container: --device /dev/net/tun), and root or a device made for this user: \
                 ip tuntap add dev {name} mode {mode} user $USER"
            );
            io::Error::new(error.kind(), what)
        })?;
        // Whoever is root in a user namespace alone may not, and gets the 500 that devices come with.
        if !is_there && let Err(error) = device.set_tx_queue_len(DEVICE_QUEUE_PACKETS) {
            tracing::debug!(device = name, %error, "the device's queue is as short as it comes");
        }
        let mac = |address: &SocketAddrV4| number_of(Endpoint::of_ip(address.ip().octets()).mac);
        let (cards, frames): (Vec<_>, Vec<_>) = addresses
            .iter()
            .map(|address| {
                let (sender, receiver) = sync_channel(FRAMES_MAX);
                let mac = address.as_ref().map_or(UNKNOWN, mac);
                (Place { mac: mac.into(), frames: sender }, (mac, receiver))
            })
            .unzip();
        let segment = Arc::new(Segment { name: name.into(), device, layer, cards });
        let reading = segment.clone();
        thread::Builder::new().name("device".into()).spawn(move || reading.read())?;
        let link = |(card, (first_mac, frames))| Self {
            segment: segment.clone(),
            card,
            first_mac,
            frames: Mutex::new(frames),
        };
        Ok(frames.into_iter().enumerate().map(link).collect())
    }

    /// Sends a frame: to another card behind the device, or to this host's kernel.
    pub fn send(&self, frame: &[u8]) {
        self.segment.send(self.card, frame);
    }

    /// The card is reset: it may have another MAC address from now on.
    pub fn reset(&self) {
        self.segment.cards[self.card].mac.store(self.first_mac, Ordering::Relaxed);
    }

    /// Waits for a frame to the card.
    pub fn receive(&self) -> io::Result<Vec<u8>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.recv().map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the device is gone"))
    }
}

impl Segment {
    /// Gives what comes from the kernel to the cards, until the device goes.
    fn read(&self) {
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        loop {
            let bytes = match self.device.recv(&mut buffer) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return tracing::error!(device = self.name, %error, "nothing comes from the device any more");
                }
            };
            let framed =
                if self.layer == Layer::L3 { framed(&buffer[..bytes]) } else { Some(padded(&buffer[..bytes])) };
            if let Some(frame) = framed {
                self.deliver(None, &frame);
            }
        }
    }

    /// Gives a frame to the card that it is for, or to all but who sent it; whether it is for one of them alone.
    fn deliver(&self, from: Option<usize>, frame: &[u8]) -> bool {
        let Some(to) = frame.first_chunk::<6>() else { return false };
        let (is_for_all, to) = (to[0] & 1 == 1, number_of(*to));
        let cards =
            || self.cards.iter().enumerate().map(|(card, place)| (card, place, place.mac.load(Ordering::Relaxed)));
        if let Some((card, place, _)) = cards().find(|(.., mac)| *mac == to) {
            if from != Some(card) {
                place.give(frame);
            }
            return true;
        }
        let might = |(card, _, mac): &(usize, &Place, u64)| from != Some(*card) && (is_for_all || *mac == UNKNOWN);
        cards().filter(might).for_each(|(_, place, _)| place.give(frame));
        false
    }

    fn send(&self, card: usize, frame: &[u8]) {
        if frame.len() <= ETHERNET_BYTES {
            return;
        }
        if let Some(mac) = frame[frame::ETH_SRC.offset..].first_chunk() {
            self.cards[card].mac.store(number_of(*mac), Ordering::Relaxed);
        }
        if self.deliver(Some(card), frame) {
            return;
        }
        let packet = if self.layer == Layer::L3 { packet(frame) } else { Some(frame) };
        let Some(packet) = packet else {
            return tracing::debug!("the card sends what is no IPv4 packet, which a TUN device does not carry");
        };
        if let Err(error) = self.device.send(packet) {
            tracing::debug!(device = self.name, %error, "a packet of the card is lost");
        }
    }
}

/// The frame in which a router would send an IPv4 packet; of other packets none.
fn framed(packet: &[u8]) -> Option<Vec<u8>> {
    let header: &[u8; IPV4_BYTES] = packet.first_chunk()?;
    if header[0] >> 4 != 4 {
        return None;
    }
    let ip = |field: optireduce_contract::field::Field| -> Option<[u8; 4]> {
        header[field.offset - ETHERNET_BYTES..].first_chunk().copied()
    };
    let [to, from] = [frame::IP_DST, frame::IP_SRC].map(|field| ip(field).map(|ip| Endpoint::of_ip(ip).mac));
    Some([&to?[..], &from?, &ETHERTYPE_IPV4, packet].concat())
}

/// A frame as a MAC sends it, which pads what is shorter than Ethernet has it.
fn padded(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame.resize(frame.len().max(FRAME_BYTES_MIN), 0);
    frame
}

/// The IPv4 packet in a frame.
fn packet(frame: &[u8]) -> Option<&[u8]> {
    let kind = frame.get(frame::ETH_TYPE.offset..frame::ETH_TYPE.end())?;
    (kind == ETHERTYPE_IPV4).then(|| &frame[ETHERNET_BYTES..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_packet_is_framed_as_cards_address_each_other_and_nothing_else_is() {
        let mut packet = vec![0; IPV4_BYTES + 8];
        packet[0] = 0x45;
        packet[12..20].copy_from_slice(&[10, 80, 0, 1, 10, 80, 0, 2]);
        let frame = framed(&packet).unwrap();
        let macs = [Endpoint::of_ip([10, 80, 0, 2]).mac, Endpoint::of_ip([10, 80, 0, 1]).mac].concat();
        assert_eq!((&frame[..12], super::packet(&frame)), (&macs[..], Some(&packet[..])));
        packet[0] = 0x60;
        assert_eq!((framed(&packet), framed(&[0x45; 19]), framed(&[])), (None, None, None));
        assert_eq!((super::packet(&[0; 20]), super::packet(&frame[..13])), (None, None));
    }
}
