//! A TUN or TAP device: cards behind a network interface of this host.
//!
//! The kernel routes to the cards, so ranks without cards use ordinary sockets. A TUN device
//! carries only IPv4 packets, without Ethernet headers; a TAP device carries frames, and the kernel
//! finds enabled cards by ARP.
//!
//! The MAC address of a card is learnt from its frames. Until its first frame after a reset, it
//! derives from the IP address ([`Endpoint::of_ip`]). A card without an IP address receives the
//! frames with unknown destinations.
//!
//! An existing device needs no privileges if it was created for this user (`ip tuntap add dev or0
//! mode tun user $USER`). Otherwise a device is created for the lifetime of this process, which
//! needs `CAP_NET_ADMIN`.

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

const ETHERNET_BYTES: usize = frame::IP_VERSION_IHL.offset;
const FRAME_BYTES_MIN: usize = 60;
const IPV4_BYTES: usize = 20;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// The largest common MTU.
const MTU: u16 = 9000;
/// Larger than a burst of a job.
const DEVICE_QUEUE_PACKETS: u32 = 5000;
/// Further frames are lost.
const FRAMES_MAX: usize = 1 << 14;

pub(super) struct DeviceLink {
    segment: Arc<Segment>,
    card: usize,
    first_mac: u64,
    frames: Mutex<Receiver<Vec<u8>>>,
}

struct Segment {
    name: String,
    device: SyncDevice,
    layer: Layer,
    cards: Vec<Place>,
}

struct Place {
    /// MAC address, or [`UNKNOWN`].
    mac: AtomicU64,
    frames: SyncSender<Vec<u8>>,
}

const UNKNOWN: u64 = u64::MAX;

fn number_of([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

impl Place {
    fn give(&self, frame: &[u8]) {
        if self.frames.try_send(frame.to_vec()).is_err() {
            tracing::debug!("a packet is lost: the card's queue is full");
        }
    }
}

impl DeviceLink {
    /// Opens a device for cards with these addresses, if known.
    pub fn open_all(name: &str, layer: Layer, addresses: &[Option<SocketAddrV4>]) -> io::Result<Vec<Self>> {
        let kind = if layer == Layer::L3 { "TUN" } else { "TAP" };
        let is_there = name_to_index(UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?, name).is_ok();
        let builder = DeviceBuilder::new().name(name).layer(layer);
        let builder = if is_there { builder.inherit_enable_state() } else { builder.mtu(MTU).enable(true) };
        let device = builder.build_sync().map_err(|error| {
            let mode = kind.to_lowercase();
            let what = format!(
                "{kind} device {name}: {error}; it needs /dev/net/tun (in a container: --device /dev/net/tun), and root or a device created for this user: \
                 ip tuntap add dev {name} mode {mode} user $USER"
            );
            io::Error::new(error.kind(), what)
        })?;
        // Root of a user namespace may not, and keeps the default of 500.
        if !is_there && let Err(error) = device.set_tx_queue_len(DEVICE_QUEUE_PACKETS) {
            tracing::debug!(device = name, %error, "cannot enlarge the device's queue");
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

    pub fn send(&self, frame: &[u8]) {
        self.segment.send(self.card, frame);
    }

    pub fn reset(&self) {
        self.segment.cards[self.card].mac.store(self.first_mac, Ordering::Relaxed);
    }

    pub fn receive(&self) -> io::Result<Vec<u8>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.recv().map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the device failed"))
    }
}

impl Segment {
    fn read(&self) {
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        loop {
            let bytes = match self.device.recv(&mut buffer) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return tracing::error!(device = self.name, %error, "the device failed");
                }
            };
            let framed =
                if self.layer == Layer::L3 { framed(&buffer[..bytes]) } else { Some(padded(&buffer[..bytes])) };
            if let Some(frame) = framed {
                self.deliver(None, &frame);
            }
        }
    }

    /// Delivers a frame to its card, or to all but the sender if no card is known. Returns whether
    /// the frame was for a single card.
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
            return tracing::debug!("a frame of the card is lost: a TUN device carries only IPv4");
        };
        if let Err(error) = self.device.send(packet) {
            tracing::debug!(device = self.name, %error, "a packet of the card is lost");
        }
    }
}

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

fn padded(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame.resize(frame.len().max(FRAME_BYTES_MIN), 0);
    frame
}

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
