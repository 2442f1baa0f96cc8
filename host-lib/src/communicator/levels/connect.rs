//! Jobs on two levels, without connections between all ranks.
//!
//! Why: a rank of a flat job has a connection to every other. Here it has connections inside its
//! group (twice, for two communicators) and to its equals: 2 M + G - 3 for G groups of M ranks.
//!
//! How: rank 0 tells each rank where its groups meet ([`find_groups`]). Each group is then a job.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use super::super::Flat;
use super::super::builder::{Builder, Card};
use super::super::error::named;
use super::super::groups::listen_at_free_port;
use super::super::report::Numbers;
use super::super::{ConnectError, Error};
use super::Core;
use super::Levels;
use super::calls::Calls;
use crate::control::{Group, Launch, Meeting, Member, Partition, find_groups, local_address, resolve};
use crate::settings::{Groups, Repair};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Inside,
    /// Equals: the ranks with the same place in all groups.
    Across,
}

/// In the order in which they connect.
const COMMUNICATORS: [(&str, Level); 3] =
    [("inside", Level::Inside), ("across", Level::Across), ("gather", Level::Inside)];

impl Levels {
    /// Connects each rank only to the ranks of its group and to its equals. Every rank first
    /// reports to rank 0, which keeps a file open for it meanwhile. This step and each group may
    /// take the timeout each.
    pub fn connect(builder: Builder, groups: Groups) -> Result<Self, Error> {
        if let Some(Card { place, .. }) = &builder.card {
            let expected = "none in a job on two levels, which uses the kernel's UDP; leave out card or groups".into();
            let error = Error::from(ConnectError::Setting { setting: "card", found: place.clone(), expected });
            builder.decline(&error.to_string());
            return Err(error);
        }
        // No process can join later.
        let launch = Launch { rejoin: false, ..builder.launch.clone() };
        let (secret, timeout, terms) = (builder.secret.clone(), builder.timeout, builder.terms());
        let deadline = Instant::now() + timeout;
        let root = resolve(&launch.root, builder.interface.as_deref(), deadline)?;
        let address = local_address(builder.interface.as_deref(), &root)?;
        let (places, listeners) = listen(address)?;
        let member = Member { places: places.clone(), ..Member::at(launch.rank, places[0]) };
        let (of, listener, mtu) = (launch.clone(), builder.listener.clone(), builder.mtu);
        let meeting = Meeting { launch: of, root, listener, local: address, mtu, secret, timeout, deadline };
        let cut = move |addresses: &[IpAddr]| {
            groups.cut(addresses).map(|group_of| partitions(&group_of)).map_err(|error| error.to_string())
        };
        let found = find_groups(meeting, member, terms, cut)?;
        Self::join(builder, found, listeners, Calls::start(None).map_err(ConnectError::Thread)?)
    }

    /// Connects to these groups, one for each of [`COMMUNICATORS`].
    pub(super) fn join(
        builder: Builder,
        groups: Vec<Group>,
        listeners: Vec<Arc<TcpListener>>,
        calls: Calls,
    ) -> Result<Self, Error> {
        let [inside, across, _] = [0, 1, 2].map(|level| groups[level].ranks.clone());
        let numbers = Numbers { world_size: builder.launch.world_size, inside, across };
        let flats = builder.connect_groups(groups, listeners)?;
        let flats = <[Flat; 3]>::try_from(flats).expect("one of each");
        let all = flats.each_ref().map(|flat| flat.shared.clone());
        let core = Core::new(numbers, all, calls).map_err(ConnectError::Thread)?;
        Ok(Self { core, builder, _flats: flats.into() })
    }
}

/// Opens a listener for each of [`COMMUNICATORS`].
pub(super) fn listen(address: IpAddr) -> Result<(Vec<SocketAddr>, Vec<Arc<TcpListener>>), Error> {
    let open: Vec<_> = COMMUNICATORS.iter().map(|_| listen_at_free_port(address)).collect::<Result<_, _>>()?;
    Ok(open.into_iter().unzip())
}

impl Builder {
    /// Adapts the settings to a step. It waits for repairs, since later ones would miss the last
    /// step. It drops only ranks without connections, since a group lacks the shard of a dropped
    /// rank. `ranks_here`: ranks of the job on this host.
    fn for_a_level(mut self, ranks_here: usize) -> Self {
        self.settings = self.settings.repair(Repair::ThisUpdate).skip_gone(false);
        self.settings.inherited.ranks_here = Some(ranks_here);
        self.settings.inherited.silent = Some(self.timeout);
        self
    }

    /// `listeners`: for groups whose lowest rank is this one.
    fn connect_groups(&self, groups: Vec<Group>, listeners: Vec<Arc<TcpListener>>) -> Result<Vec<Flat>, Error> {
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
            match Flat::connect(builder) {
                Ok(flat) => connected.push(flat),
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
    use crate::{Communicator, Settings};

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
        let told = std::thread::spawn(move || Communicator::connect(of_group).wait().unwrap_err().to_string());
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
