//! Terms of a job with cards, derived on every rank from the bootstrap's data.

use std::net::{IpAddr, SocketAddr};

use super::error::CardError;
use crate::control::{CardLimits, Member};
use optireduce_core::PlaneLimits;
use optireduce_core::protocol::Ranks;

#[derive(Clone, Debug)]
pub(crate) struct Cards {
    ranks: Ranks,
    /// UDP port at which all ranks receive.
    port: u16,
    limits: CardLimits,
}

impl Cards {
    /// `None` if no member has a card. Fails if ranks cannot reach each other or are too many for a
    /// card.
    pub fn of(members: &[Member]) -> Result<Option<Self>, CardError> {
        let mut with_card = members.iter().filter_map(|member| Some((member, member.card?)));
        let Some((Member { rank: first, udp, .. }, first_limits)) = with_card.next() else { return Ok(None) };
        let (first, port, mut limits) = (*first, udp.port(), first_limits);
        check_ranks(members.len(), first, &limits)?;
        for (&Member { rank, udp, .. }, card) in with_card {
            if udp.port() != port {
                return Err(CardError::Port { rank, found: udp, first, expected: port });
            }
            check_ranks(members.len(), rank, &card)?;
            limits = smaller(limits, card);
        }
        for (rank, member) in members.iter().enumerate() {
            let address = member.udp.ip();
            if !address.is_ipv4() {
                return Err(CardError::NotIpv4 { rank, found: address, card: first });
            }
            if let Some(first) = members[..rank].iter().position(|other| other.udp.ip() == address) {
                return Err(CardError::SameAddress { first, second: rank, address, port });
            }
        }
        let on_loopback = |is: bool| members.iter().position(|member| member.udp.ip().is_loopback() == is);
        if let (Some(rank), Some(other)) = (on_loopback(true), on_loopback(false)) {
            let [found, address] = [rank, other].map(|rank| members[rank].udp.ip());
            return Err(CardError::Loopback { rank, found, other, address });
        }
        let of_cards = members.iter().enumerate().filter(|(_, member)| member.card.is_some()).map(|(rank, _)| rank);
        Ok(Some(Self { ranks: Ranks::none(members.len()).with(of_cards), port, limits }))
    }

    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    #[cfg(feature = "smartnic")]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Address at which a rank without a card receives.
    pub fn place(&self, address: IpAddr) -> SocketAddr {
        SocketAddr::new(address, self.port)
    }

    /// Reduces a data plane's limits to the cards' limits, since windows must suit all ranks.
    pub fn limit(&self, plane: PlaneLimits) -> PlaneLimits {
        let CardLimits { slots, window_beats_max, hadamard_log2_max, ranks_max, payload_beats_max } = self.limits;
        PlaneLimits {
            slots: plane.slots.min(slots),
            window_beats_max: plane.window_beats_max.min(window_beats_max),
            hadamard_log2_max: plane.hadamard_log2_max.min(hadamard_log2_max),
            ranks_max: plane.ranks_max.min(ranks_max),
            payload_beats_max: plane.payload_beats_max.min(payload_beats_max),
        }
    }
}

fn check_ranks(ranks: usize, rank: usize, limits: &CardLimits) -> Result<(), CardError> {
    let max = limits.ranks_max;
    if ranks <= max { Ok(()) } else { Err(CardError::Ranks { ranks, rank, max }) }
}

fn smaller(one: CardLimits, other: CardLimits) -> CardLimits {
    CardLimits {
        slots: one.slots.min(other.slots),
        window_beats_max: one.window_beats_max.min(other.window_beats_max),
        hadamard_log2_max: one.hadamard_log2_max.min(other.hadamard_log2_max),
        ranks_max: one.ranks_max.min(other.ranks_max),
        payload_beats_max: one.payload_beats_max.min(other.payload_beats_max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CardLimits =
        CardLimits { slots: 8, window_beats_max: 1024, hadamard_log2_max: 12, ranks_max: 64, payload_beats_max: 139 };

    fn members(addresses: &[(&str, Option<CardLimits>)]) -> Vec<Member> {
        let member = |(rank, (address, card)): (usize, &(&str, Option<CardLimits>))| Member {
            udp: address.parse().unwrap(),
            card: *card,
            ..Member::at(rank, "127.0.0.1:1".parse().unwrap())
        };
        addresses.iter().enumerate().map(member).collect()
    }

    fn error(addresses: &[(&str, Option<CardLimits>)]) -> String {
        Cards::of(&members(addresses)).unwrap_err().to_string()
    }

    #[test]
    fn a_job_has_the_smallest_limits_of_its_cards_and_their_port() {
        assert!(Cards::of(&members(&[("[::1]:7", None), ("[::1]:8", None)])).unwrap().is_none());
        let other = CardLimits { slots: 4, hadamard_log2_max: 14, ..LIMITS };
        let job = [("10.0.0.1:99", None), ("10.0.0.2:5791", Some(LIMITS)), ("10.0.0.3:5791", Some(other))];
        let cards = Cards::of(&members(&job)).unwrap().unwrap();
        assert_eq!(cards.ranks(), &Ranks::none(3).with([1, 2]));
        assert_eq!(cards.place([10, 0, 0, 1].into()), "10.0.0.1:5791".parse().unwrap());
        let software = PlaneLimits {
            slots: 32,
            window_beats_max: 16_384,
            hadamard_log2_max: 14,
            ranks_max: 1024,
            payload_beats_max: 100,
        };
        let found = cards.limit(software);
        assert_eq!((found.slots, found.window_beats_max, found.hadamard_log2_max), (4, 1024, 12));
        assert_eq!((found.ranks_max, found.payload_beats_max), (64, 100));
    }

    #[test]
    fn ranks_that_could_not_reach_one_another_are_named_with_what_to_do() {
        let card = Some(LIMITS);
        let same = error(&[("10.0.0.2:5791", card), ("10.0.0.1:1", None), ("10.0.0.1:2", None)]);
        assert!(same.starts_with("ranks 1 and 2 are both at 10.0.0.1, ") && same.contains("`interface`"), "{same}");
        let port = error(&[("10.0.0.2:5791", card), ("10.0.0.3:5792", card)]);
        assert!(port.contains("rank 1 is at 10.0.0.3:5792") && port.contains("udp:10.0.0.3:5791`"), "{port}");
        let ipv6 = error(&[("10.0.0.2:5791", card), ("[::1]:1", None)]);
        assert!(ipv6.starts_with("rank 1 is at ::1, expected an IPv4 address: rank 0 has a card"), "{ipv6}");
        let far = error(&[("10.0.0.1:1", None), ("127.0.0.2:5791", card)]);
        assert!(
            far.starts_with("rank 1 is at 127.0.0.2, which only its own host reaches, but rank 0 is at 10.0.0.1"),
            "{far}"
        );
        let small = Some(CardLimits { ranks_max: 2, ..LIMITS });
        let many = error(&[("10.0.0.1:5791", card), ("10.0.0.2:5791", small), ("10.0.0.3:1", None)]);
        assert_eq!(many, "a job of 3 ranks, expected at most 2, the limit of the card of rank 1");
    }
}
