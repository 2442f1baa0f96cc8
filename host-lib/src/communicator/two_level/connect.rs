//! Two-level jobs without a flat communicator of all ranks.
//!
//! Why: a rank of a flat job has a connection to every other. Here it has connections inside its
//! group (twice, for two communicators) and to its equals: 2 M + G - 3 for G groups of M ranks.
//!
//! How: rank 0 tells each rank where its groups meet ([`find_groups`]). Each group is then a job.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use super::super::builder::Builder;
use super::super::error::named;
use super::super::groups::listen_at_free_port;
use super::super::{Communicator, ConnectError, Error, Request};
use super::TwoLevel;
use super::groups::Groups;
use crate::control::{Group, Meeting, Member, Partition, find_groups, local_address, resolve};
use crate::settings::{Repair, Settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Inside,
    /// Equals: the ranks with the same place in all groups.
    Across,
}

/// In the order in which they connect.
const COMMUNICATORS: [(&str, Level); 3] =
    [("inside", Level::Inside), ("across", Level::Across), ("gather", Level::Inside)];

impl Settings {
    /// Connects the ranks on two levels: each rank only to the ranks of its group and to its equals
    /// in the other groups. Collective: all ranks pass the same groups and settings.
    ///
    /// At most 65 536 ranks, in 2 to 1024 groups of 2
    /// to 1024. Every rank first reports to rank 0, which keeps a file open for it meanwhile. This
    /// step and each group may take the [timeout](Self::timeout) each.
    ///
    /// Gradients use the kernel's UDP, also on ranks with a card. Collectives
    /// [wait for repairs](Repair::ThisUpdate). No process can join later, so
    /// [`rejoin`](Self::rejoin) is ignored.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use optireduce::{BucketOptions, Groups, Settings};
    ///
    /// let mut levels = Settings::new().connect_two_level(Groups::Auto).wait()?;
    /// let mut bucket = levels.bucket(1 << 20, BucketOptions::new()).wait()?;
    /// let mut gradient = vec![levels.rank() as f32; 1 << 20];
    /// bucket.all_reduce(&mut gradient)?;
    /// levels.close().wait()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]. Missing ranks, different settings and impossible groups are the same
    /// error on every rank.
    pub fn connect_two_level(self, groups: Groups) -> Request<TwoLevel> {
        Request::on_a_thread("optireduce-connect", move || self.connect_levels(groups))
    }

    fn connect_levels(self, groups: Groups) -> Result<TwoLevel, Error> {
        // Repairs are fixed, since they are compared with the other ranks. A card has one job at a
        // time.
        let builder = Builder::new(&self.rejoin(false).card("none").repair(Repair::ThisUpdate))?;
        let (launch, secret, timeout) = (builder.launch.clone(), builder.secret.clone(), builder.timeout);
        let terms = builder.terms().with("groups", groups);
        let deadline = Instant::now() + timeout;
        let root = resolve(&launch.root, builder.interface.as_deref(), deadline)?;
        let address = local_address(builder.interface.as_deref(), &root)?;
        let open: Vec<_> = COMMUNICATORS.iter().map(|_| listen_at_free_port(address)).collect::<Result<_, _>>()?;
        let (places, listeners): (Vec<SocketAddr>, Vec<_>) = open.into_iter().unzip();
        let member = Member { places: places.clone(), ..Member::at(launch.rank, places[0]) };
        let (of, listener, mtu) = (launch.clone(), builder.listener.clone(), builder.mtu);
        let meeting = Meeting { launch: of, root, listener, local: address, mtu, secret, timeout, deadline };
        let cut = move |addresses: &[IpAddr]| {
            groups.cut(addresses).map(|group_of| partitions(&group_of)).map_err(|error| error.to_string())
        };
        let found = find_groups(meeting, member, terms, cut)?;
        let ranks = found.iter().map(|group| group.ranks.clone()).collect();
        TwoLevel::of(builder.connect_groups(found, listeners)?, ranks, launch.world_size)
    }
}

impl Builder {
    /// `listeners`: for groups whose lowest rank is this one.
    fn connect_groups(&self, groups: Vec<Group>, listeners: Vec<Arc<TcpListener>>) -> Result<Vec<Communicator>, Error> {
        let (mut connected, mut failed) = (Vec::new(), None);
        for (Group { name, number, ranks, root, ranks_here }, listener) in groups.into_iter().zip(listeners) {
            let rank = ranks.partition_point(|rank| *rank < self.launch.rank);
            let group = format!("{name}.{number}");
            let level = self.clone().for_a_level(ranks_here);
            let mut settings = level.of_some(rank, ranks.len(), &root.to_string(), &group);
            settings.inherited.listener = Some(listener).filter(|_| rank == 0);
            let builder = Self::new(&settings)?;
            if let Some(reason) = &failed {
                // So that they need not wait for this rank.
                builder.decline(&ToString::to_string(reason));
                continue;
            }
            match Communicator::connect_as(builder) {
                Ok(communicator) => connected.push(communicator),
                Err(source) => {
                    failed = Some(ConnectError::InGroup { group, ranks: named(&ranks), source });
                }
            }
        }
        failed.map_or(Ok(connected), |failed| Err(failed.into()))
    }
}

/// Returns the groups of each of [`COMMUNICATORS`].
pub(super) fn partitions(group_of: &[usize]) -> Vec<Partition> {
    let mut inside = vec![Vec::new(); group_of.iter().max().map_or(0, |last| last + 1)];
    group_of.iter().enumerate().for_each(|(rank, group)| inside[*group].push(rank));
    let equals = |place: usize| {
        let mut ranks: Vec<usize> = inside.iter().map(|ranks| ranks[place]).collect();
        ranks.sort_unstable();
        ranks
    };
    let across: Vec<Vec<usize>> = (0..inside[0].len()).map(equals).collect();
    let groups = |level| if level == Level::Inside { inside.clone() } else { across.clone() };
    COMMUNICATORS.iter().map(|(name, level)| Partition { name: (*name).into(), groups: groups(*level) }).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rank_whose_group_fails_tells_its_other_group_why() {
        let at = |rank, ranks, root: String, job_id: &str| {
            let place = Settings::new().rank(rank).world_size(ranks).root(root).job_id(job_id);
            place.card("none").timeout(Duration::from_secs(if rank == 0 { 1 } else { 20 }))
        };
        let places = [0, 1].map(|_| listen_at_free_port(Ipv4Addr::LOCALHOST.into()).unwrap());
        let group = |kind: usize, other| {
            let (name, root) = (COMMUNICATORS[kind].0.to_owned(), places[kind].0);
            Group { name, number: 0, ranks: vec![0, other], root, ranks_here: 4 }
        };
        // No other rank of the first group connects.
        let (groups, listeners) =
            (vec![group(0, 1), group(1, 2)], places.clone().map(|(_, listener)| listener).to_vec());
        let of_job = Builder::new(&at(0, 4, "127.0.0.1:1".into(), "job")).unwrap();
        let of_group = at(1, 2, places[1].0.to_string(), "job/across.0").repair(Repair::ThisUpdate);
        let told = std::thread::spawn(move || of_group.connect().wait().unwrap_err().to_string());
        let failed = of_job.connect_groups(groups, listeners).unwrap_err().to_string();
        let expected =
            "the group inside.0 of job ranks 0, 1 (numbered from 0 inside the group): 1 of 2 ranks did not connect ";
        assert!(failed.starts_with(expected), "{failed}");
        assert_eq!(told.join().unwrap(), format!("rank 0 cannot take part: {failed}"));
    }

    #[test]
    fn each_rank_is_in_a_group_and_among_its_equals() {
        let of = |name: &str, groups: &[&[usize]]| Partition {
            name: name.into(),
            groups: groups.iter().map(|ranks| ranks.to_vec()).collect(),
        };
        let [inside, across, gather] = ["inside", "across", "gather"];
        let (groups, equals): (&[&[usize]], &[&[usize]]) = (&[&[0, 1, 2], &[3, 4, 5]], &[&[0, 3], &[1, 4], &[2, 5]]);
        let neighbours = partitions(&[0, 0, 0, 1, 1, 1]);
        assert_eq!(neighbours, [of(inside, groups), of(across, equals), of(gather, groups)]);
        let (groups, equals): (&[&[usize]], &[&[usize]]) = (&[&[0, 3], &[1, 2]], &[&[0, 1], &[2, 3]]);
        assert_eq!(partitions(&[0, 1, 1, 0]), [of(inside, groups), of(across, equals), of(gather, groups)]);
    }
}
