//! Group rendezvous: how ranks find their groups without connections between all ranks.
//!
//! Every rank reports the addresses at which its groups would meet if it were their lowest rank.
//! Rank 0 forms the groups, sends each rank its own, and closes the connections. Each group then
//! bootstraps like a job, at its lowest rank.
//! Limits: rank 0 needs an open file for each rank. Ranks cannot join a group later.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use super::bootstrap::{Answer, BootstrapError, Group, Meeting, Member, Refusal, io_error};
use super::files;
use super::gather::Gathering;
use super::join::reach_root;
use super::meet::on_a_thread;
use super::terms::Terms;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    pub name: String,
    pub groups: Vec<Vec<usize>>,
}

/// Returns the groups of this rank, one of each partition. Blocks, also inside an async runtime.
///
/// * `member`: this rank, with an address for each partition.
/// * `cut`: forms the partitions from the addresses of all ranks, at rank 0.
pub(crate) fn find_groups(
    meeting: Meeting,
    member: Member,
    settings: Terms,
    cut: impl FnOnce(&[IpAddr]) -> Result<Vec<Partition>, String> + Send + 'static,
) -> Result<Vec<Group>, BootstrapError> {
    on_a_thread(async move || match member.rank {
        0 => hand_out(&meeting, member, settings, cut).await,
        _ => ask(&meeting, member, settings).await,
    })
}

async fn hand_out(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
    cut: impl FnOnce(&[IpAddr]) -> Result<Vec<Partition>, String>,
) -> Result<Vec<Group>, BootstrapError> {
    files::make_room(meeting.launch.world_size)?;
    let mut gathering = Gathering::start(meeting, member, settings)?;
    let members = gathering.gather().await?;
    let addresses: Vec<IpAddr> = members.iter().map(|member| member.control.ip()).collect();
    let partitions = match cut(&addresses).and_then(|partitions| check_places(&members, partitions)) {
        Ok(partitions) => partitions,
        Err(reason) => return Err(gathering.refuse(Refusal::Groups { reason }, None).await),
    };
    // One rank at a time: the lists of all ranks together would be quadratic.
    let mut ranks_at: BTreeMap<IpAddr, usize> = BTreeMap::new();
    addresses.iter().for_each(|address| *ranks_at.entry(*address).or_default() += 1);
    let numbers: Vec<Vec<usize>> = partitions.iter().map(|partition| partition.numbers(members.len())).collect();
    let of_rank = |rank: usize| {
        let kinds = partitions.iter().zip(&numbers).enumerate();
        let groups = kinds.map(|(kind, (Partition { name, groups }, numbers))| {
            let (number, ranks) = (numbers[rank], groups[numbers[rank]].clone());
            let (root, ranks_here) = (members[ranks[0]].places[kind], ranks_at[&addresses[rank]]);
            Group { name: name.clone(), number, ranks, root, ranks_here }
        });
        groups.collect::<Vec<Group>>()
    };
    gathering.answer_each(|rank| Answer::Groups(of_rank(rank))).await;
    Ok(of_rank(0))
}

impl Partition {
    fn numbers(&self, ranks: usize) -> Vec<usize> {
        let mut numbers = vec![0; ranks];
        for (number, group) in self.groups.iter().enumerate() {
            group.iter().for_each(|rank| numbers[*rank] = number);
        }
        numbers
    }
}

fn check_places(members: &[Member], partitions: Vec<Partition>) -> Result<Vec<Partition>, String> {
    match members.iter().find(|member| member.places.len() != partitions.len()) {
        None => Ok(partitions),
        Some(Member { rank, places, .. }) => {
            let (found, expected) = (places.len(), partitions.len());
            Err(format!(
                "rank {rank} has {found} addresses for its groups, expected {expected}; do all ranks run the same release?"
            ))
        }
    }
}

async fn ask(meeting: &Meeting, member: Member, settings: Terms) -> Result<Vec<Group>, BootstrapError> {
    let (_, answer) = reach_root(meeting, &member, &settings).await?;
    let is_in = |group: &Group| group.ranks.is_sorted() && group.ranks.binary_search(&member.rank).is_ok();
    match answer {
        Answer::Groups(groups) if groups.len() == member.places.len() && groups.iter().all(is_in) => Ok(groups),
        _ => {
            let what = format!("rank 0 at {}", meeting.launch.root);
            Err(io_error(what)(io::Error::other("it sent no groups that contain this rank")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};
    use std::time::{Duration, Instant};

    use tokio::runtime;
    use tokio::task::JoinSet;

    use super::super::launch::Launch;
    use super::*;
    use crate::root::free_root;

    /// More than the limit of one level.
    const RANKS: usize = 1100;
    const GROUPS: usize = 25;
    const TIMEOUT: Duration = Duration::from_secs(60);

    fn meeting(rank: usize, root: &str) -> Meeting {
        let launch = Launch::new(rank, RANKS, root).unwrap();
        let (root, local, deadline) =
            (vec![root.parse().unwrap()], Ipv4Addr::LOCALHOST.into(), Instant::now() + TIMEOUT);
        Meeting { launch, root, listener: None, local, mtu: None, secret: None, timeout: TIMEOUT, deadline }
    }

    fn member(rank: usize) -> Member {
        let port = |kind: usize| SocketAddr::from((Ipv4Addr::LOCALHOST, (1024 + 2 * rank + kind) as u16));
        Member { places: vec![port(0), port(1)], ..Member::at(rank, port(0)) }
    }

    fn partitions() -> Vec<Partition> {
        let members = RANKS / GROUPS;
        let inside = (0..GROUPS).map(|group| (group * members..(group + 1) * members).collect()).collect();
        let across = (0..members).map(|place| (place..RANKS).step_by(members).collect()).collect();
        let named = |name: &str, groups| Partition { name: name.into(), groups };
        vec![named("inside", inside), named("across", across)]
    }

    #[test]
    fn more_ranks_than_one_level_holds_learn_where_their_groups_meet() {
        // Both ends of each connection are in this process.
        files::make_room(2 * RANKS).unwrap();
        let root = free_root();
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (all, of_root) = runtime.block_on(async {
            let mut asking = JoinSet::new();
            for rank in 1..RANKS {
                let meeting = meeting(rank, &root);
                asking.spawn(async move { (rank, ask(&meeting, member(rank), Terms::default()).await.unwrap()) });
            }
            let cut = |addresses: &[IpAddr]| {
                assert_eq!(addresses, [IpAddr::from(Ipv4Addr::LOCALHOST); RANKS]);
                Ok(partitions())
            };
            let of_root = hand_out(&meeting(0, &root), member(0), Terms::default(), cut).await.unwrap();
            (asking.join_all().await, of_root)
        });
        assert_eq!(all.len(), RANKS - 1);
        for (rank, found) in all.into_iter().chain([(0, of_root)]) {
            let expected = partitions().into_iter().enumerate().map(|(kind, Partition { name, groups })| {
                let number = groups.iter().position(|ranks| ranks.contains(&rank)).unwrap();
                let (ranks, root) = (groups[number].clone(), member(groups[number][0]).places[kind]);
                Group { name, number, ranks, root, ranks_here: RANKS }
            });
            assert!(expected.eq(found.iter().cloned()), "rank {rank}: {found:?}");
        }
    }
}
