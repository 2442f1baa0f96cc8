//! Addresses of a card in the configuration: on this host and on the network.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};

/// Splits the setting `card` into the place of the card in this host and its network address.
pub(crate) fn split_card(card: &str) -> (&str, Option<&str>) {
    card.split_once(",address=").map_or((card, None), |(place, address)| (place, Some(address)))
}

/// Returns the expected form, if the setting `card` does not have it.
pub(crate) fn card_form(card: &str) -> Option<String> {
    // Of some rank.
    let card = card.replace("{rank}", "1");
    let (place, address) = split_card(&card);
    if place.is_empty() || place.contains(",gateway=") {
        return Some("WHERE[,address=IP[/PREFIX][:PORT]][,gateway=MAC], with a gateway only after an address".into());
    }
    let wrong = address.and_then(|address| address.parse::<CardAddress>().err());
    wrong.map(|expected| format!("WHERE,address={expected}"))
}

const EXPECTED: &str = "IP[/PREFIX][:PORT][,gateway=MAC] (a prefix only with a gateway, and vice versa), for instance 10.0.0.2, 10.0.0.2:5791 or \
                        10.0.0.2/24,gateway=52:54:00:12:34:56";

/// Address of a card on the network, of [`Settings::card`](crate::Settings::card).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardAddress {
    pub socket: SocketAddrV4,
    pub gateway: Option<Gateway>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gateway {
    /// Length in bits, 0 to 32.
    prefix: u32,
    mac: [u8; 6],
}

impl CardAddress {
    /// Destination of packets to `ip`. `mac`: of the interface with address `ip`; `None` if its
    /// network carries IP only and ignores MAC addresses.
    pub fn next_hop(&self, ip: Ipv4Addr, mac: Option<[u8; 6]>) -> Endpoint {
        let direct = mac.map_or(Endpoint::of_ip(ip.octets()), |mac| Endpoint { mac, ip: ip.octets() });
        let network = |ip: &Ipv4Addr, prefix| u64::from(ip.to_bits()) >> (32 - prefix);
        let beyond =
            self.gateway.filter(|gateway| network(&ip, gateway.prefix) != network(self.socket.ip(), gateway.prefix));
        beyond.map_or(direct, |Gateway { mac, .. }| Endpoint { mac, ..direct })
    }
}

impl FromStr for CardAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, gateway) = match text.split_once(',') {
            Some((address, gateway)) => (address, Some(gateway)),
            None => (text, None),
        };
        let (address, port) = match address.split_once(':') {
            Some((address, port)) => (address, port.parse().ok().filter(|port| *port != 0)),
            None => (address, Some(UDP_PORT_DEFAULT)),
        };
        let (ip, prefix) = match address.split_once('/') {
            Some((ip, prefix)) => (ip, Some(prefix)),
            None => (address, None),
        };
        let ip =
            ip.parse().ok().filter(|ip: &Ipv4Addr| !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast());
        let gateway = match (prefix, gateway) {
            (None, None) => Some(None),
            (Some(prefix), Some(gateway)) => gateway_of(prefix, gateway).map(Some),
            _ => None,
        };
        match (ip, port, gateway) {
            (Some(ip), Some(port), Some(gateway)) => Ok(Self { socket: SocketAddrV4::new(ip, port), gateway }),
            _ => Err(EXPECTED.into()),
        }
    }
}

fn gateway_of(prefix: &str, gateway: &str) -> Option<Gateway> {
    let prefix = prefix.parse().ok().filter(|prefix| *prefix <= 32)?;
    let bytes = gateway.strip_prefix("gateway=")?.split(':').map(|byte| u8::from_str_radix(byte, 16).ok());
    let mac: [u8; 6] = bytes.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let is_of_one = mac != [0; 6] && mac[0] & 1 == 0;
    is_of_one.then_some(Gateway { prefix, mac })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: [u8; 6] = [0x52, 0x54, 0, 0x12, 0x34, 0x56];

    fn at(text: &str) -> CardAddress {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_is_one_with_or_without_port_and_gateway_and_nothing_else() {
        let ip = Ipv4Addr::new(10, 0, 0, 2);
        let plain = |port| CardAddress { socket: SocketAddrV4::new(ip, port), gateway: None };
        assert_eq!([at("10.0.0.2"), at("10.0.0.2:7")], [plain(UDP_PORT_DEFAULT), plain(7)]);
        let gateway = Some(Gateway { prefix: 24, mac: MAC });
        assert_eq!(at("10.0.0.2/24:7,gateway=52:54:00:12:34:56"), CardAddress { gateway, ..plain(7) });
        for text in [
            "",
            "here",
            "::1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "10.0.0.2:0",
            "10.0.0.2:65536",
            "10.0.0.2/24",
            "10.0.0.2,gateway=52:54:00:12:34:56",
            "10.0.0.2/33,gateway=52:54:00:12:34:56",
            "10.0.0.2/24,gateway=52:54:00:12:34",
            "10.0.0.2/24,gateway=01:54:00:12:34:56",
            "10.0.0.2/24,gateway=00:00:00:00:00:00",
            "10.0.0.2/24,52:54:00:12:34:56",
            "10.0.0.2/24,gateway=10.0.0.1",
        ] {
            assert_eq!(text.parse::<CardAddress>(), Err(EXPECTED.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_on_the_cards_network_is_sent_to_directly_and_the_rest_to_the_gateway() {
        let own = [2, 0, 0, 0, 0, 9];
        let near = Ipv4Addr::new(10, 0, 0, 9);
        let far = Ipv4Addr::new(10, 0, 1, 9);
        let alone = at("10.0.0.2");
        for ip in [near, far] {
            assert_eq!(alone.next_hop(ip, Some(own)), Endpoint { mac: own, ip: ip.octets() });
            assert_eq!(alone.next_hop(ip, None), Endpoint::of_ip(ip.octets()));
        }
        let through = |prefix| at(&format!("10.0.0.2/{prefix},gateway=52:54:00:12:34:56"));
        assert_eq!(through(24).next_hop(near, Some(own)), Endpoint { mac: own, ip: near.octets() });
        assert_eq!(through(24).next_hop(far, Some(own)), Endpoint { mac: MAC, ip: far.octets() });
        assert_eq!(through(24).next_hop(far, None), Endpoint { mac: MAC, ip: far.octets() });
        assert_eq!(through(0).next_hop(far, Some(own)).mac, own);
        assert_eq!(through(32).next_hop(near, Some(own)).mac, MAC);
    }
}
