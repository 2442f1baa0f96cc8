//! Groups of a job on two levels.

use std::net::IpAddr;

use super::super::{ConnectError, Error};
use crate::settings::Groups;
use optireduce_core::protocol::RANKS_MAX;

fn list(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

const MEMBERS_AUTO_MAX: usize = 64;

impl Groups {
    /// Returns the group of each rank. `addresses`: by rank.
    pub(in super::super) fn cut(self, addresses: &[IpAddr]) -> Result<Vec<usize>, Error> {
        let ranks = addresses.len();
        let groups = match self {
            Self::Auto => auto(ranks).ok_or_else(|| ConnectError::NoGroups { ranks, near: near(ranks) })?,
            Self::Number(groups) => groups,
            Self::Hosts => {
                let group_of = by_host(addresses)?;
                members(ranks, group_of.iter().max().map_or(0, |last| last + 1))?;
                return Ok(group_of);
            }
        };
        let members = members(ranks, groups)?;
        Ok((0..ranks).map(|rank| rank / members).collect())
    }
}

/// Number of ranks in each of `groups` groups.
fn members(ranks: usize, groups: usize) -> Result<usize, Error> {
    let members = ranks.checked_div(groups).filter(|members| members * groups == ranks);
    let can_be = |members: &usize| [*members, groups].iter().all(|number| (2..=RANKS_MAX).contains(number));
    members.filter(can_be).ok_or_else(|| ConnectError::Groups { ranks, groups }.into())
}

fn auto(ranks: usize) -> Option<usize> {
    let sizes = (2..=MEMBERS_AUTO_MAX).rev().filter(|members| ranks.is_multiple_of(*members));
    let numbers = sizes.map(|members| ranks / members).filter(|groups| members(ranks, *groups).is_ok());
    numbers.min_by_key(|groups| 2 * (ranks / groups - 1) + 2 * (groups - 1))
}

fn near(ranks: usize) -> String {
    let fits = |ranks: &usize| auto(*ranks).is_some();
    let (below, above) = ((4..ranks).rev().find(fits), (ranks..).take(ranks + 4).find(fits));
    below.into_iter().chain(above).map(|ranks| ranks.to_string()).collect::<Vec<_>>().join(" or ")
}

/// Returns the group of each rank.
fn by_host(addresses: &[IpAddr]) -> Result<Vec<usize>, Error> {
    let mut hosts: Vec<(IpAddr, Vec<usize>)> = Vec::new();
    for (rank, address) in addresses.iter().enumerate() {
        match hosts.iter_mut().find(|(host, _)| host == address) {
            Some((_, ranks)) => ranks.push(rank),
            None => hosts.push((*address, vec![rank])),
        }
    }
    let members = hosts.first().map_or(0, |(_, ranks)| ranks.len());
    // Two different hosts suffice for the message.
    let other = hosts.iter().position(|(_, ranks)| ranks.len() != members);
    if hosts.len() < 2 || members < 2 || other.is_some() {
        let shown = [Some(0), other.or((hosts.len() > 1).then_some(1))].into_iter().flatten();
        let shown = shown.map(|host| {
            let (address, ranks) = &hosts[host];
            format!("{address} has rank{} {}", if ranks.len() == 1 { "" } else { "s" }, list(ranks))
        });
        return Err(ConnectError::Hosts { found: shown.collect::<Vec<_>>().join(", and ") }.into());
    }
    let host_of = |address: &IpAddr| hosts.iter().position(|(host, _)| host == address).unwrap_or(0);
    Ok(addresses.iter().map(host_of).collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::error::named;
    use super::*;

    #[test]
    fn auto_takes_the_fewest_rounds() {
        for (ranks, groups, members) in [
            (4, 2, 2),
            (12, 3, 4),
            (32, 4, 8),
            (64, 8, 8),
            (1024, 32, 32),
            (1500, 30, 50),
            (2 * 1021, 1021, 2),
            (4096, 64, 64),
            (65_536, 1024, 64),
        ] {
            assert_eq!(auto(ranks), Some(groups), "{ranks} ranks");
            assert_eq!(super::members(ranks, groups).unwrap(), members, "{ranks} ranks");
        }
        let refused = |ranks| Groups::Auto.cut(&vec![IpAddr::from([10, 0, 0, 1]); ranks]).unwrap_err().to_string();
        assert!(
            refused(7).starts_with("7 ranks cannot be divided into equal groups of 2 to 64 ranks;"),
            "{}",
            refused(7)
        );
        assert!(refused(7).contains("start 6 or 8 ranks"), "{}", refused(7));
        assert!(refused(2).contains("start 4 ranks"), "{}", refused(2));
        assert!(refused(1031).contains("start 1030 or 1032 ranks"), "a prime number: {}", refused(1031));
        // 67 has no divisor but itself, and is too large for a group.
        assert!(refused(67 * 67).contains("start 4488 or 4490 ranks"), "{}", refused(67 * 67));
    }

    #[test]
    fn ranks_at_one_address_are_a_group_wherever_they_stand() {
        let groups = |hosts: &[u8]| {
            let addresses: Vec<_> = hosts.iter().map(|host| IpAddr::from([10, 0, 0, *host])).collect();
            by_host(&addresses).map_err(|error| error.to_string())
        };
        assert_eq!(groups(&[7, 7, 3, 3]), Ok(vec![0, 0, 1, 1]));
        assert_eq!(groups(&[7, 3, 9, 9, 3, 7]), Ok(vec![0, 1, 2, 2, 1, 0]));
        let refused = |hosts: &[u8]| groups(hosts).unwrap_err();
        assert!(
            refused(&[7, 7]).starts_with("two levels by host: 10.0.0.7 has ranks 0, 1; expected at least two hosts")
        );
        assert!(refused(&[7, 3]).starts_with("two levels by host: 10.0.0.7 has rank 0, and 10.0.0.3 has rank 1; "));
        let uneven = refused(&[7, 7, 3, 3, 9]);
        assert!(
            uneven.starts_with("two levels by host: 10.0.0.7 has ranks 0, 1, and 10.0.0.9 has rank 4; "),
            "{uneven}"
        );
    }

    #[test]
    fn ranks_of_a_group_are_named_shortly() {
        let names = [&[4, 5, 6, 7][..], &[1, 5, 9], &[0, 3, 4], &[2, 9]].map(named);
        assert_eq!(names, ["4 to 7", "1, 5 to 9", "0, 3, 4", "2, 9"]);
    }
}
