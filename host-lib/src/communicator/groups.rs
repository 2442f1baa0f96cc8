//! Communicators of some of the ranks.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::connect::ranks_at;
use super::request::block_on;
use super::{Bound, Builder, Communicator, ConnectError, Error};
use crate::control::{BootstrapError, ControlError, Launch, Mismatch, Terms};

/// Where a rank's group could meet, if it were the lowest of its group.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    /// `None`: it wants no group.
    colour: Option<usize>,
    root: String,
}

/// What all ranks said of their groups.
struct Places {
    rank: usize,
    meeting: Meeting,
    /// Where this rank's group meets if it is the lowest.
    listener: Arc<TcpListener>,
    /// With their ranks.
    of_ranks: Vec<(usize, Place)>,
}

impl Places {
    /// The communicator of the ranks of this colour, this one among them.
    async fn join(self, colour: usize) -> Result<Communicator, ConnectError> {
        let Self { rank, meeting, listener, of_ranks } = self;
        let same: Vec<(usize, Place)> = of_ranks.into_iter().filter(|(_, one)| one.colour == Some(colour)).collect();
        let index = same.iter().position(|(member, _)| *member == rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let listener = Some(listener).filter(|_| index == 0);
        meeting.join(index, same.len(), &root, listener, &colour.to_string()).await
    }
}

/// What the lowest rank of a group tells the others.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// Where all meet.
    Root(String),
    /// Their lists differ.
    Differs(Mismatch),
    /// It cannot go on, and why.
    Failed(String),
}

/// What communicators of some of the ranks have of the one that they are made from.
struct Meeting {
    builder: Builder,
    /// Its stage deadline, which goes on changing until they meet. `None`: they begin with the same setting as it did.
    bound_ns: Option<Arc<AtomicU64>>,
}

impl Meeting {
    /// A communicator of ranks that meet at `root`, where the lowest listens.
    async fn join(
        self,
        rank: usize,
        ranks: usize,
        root: &str,
        listener: Option<Arc<TcpListener>>,
        id: &str,
    ) -> Result<Communicator, ConnectError> {
        let job_id = self.builder.launch.as_ref().map_or("", |launch| &launch.job_id);
        let launch = Launch::new(rank, ranks, root)?.job_id(format!("{job_id}/{id}"));
        let fixed = |bound_ns: Arc<AtomicU64>| Bound::Fixed(Duration::from_nanos(bound_ns.load(Ordering::Relaxed)));
        let bound = self.bound_ns.map_or(self.builder.bound, fixed);
        // A card has one job at a time.
        let card = Some(String::new());
        Builder { launch: Some(launch), listener, bound, card, ..self.builder }.connect_async().await
    }
}

/// Tags of the messages of ranks that make a group: what each calls, and what the lowest of them answers.
const CALL: u32 = 0;
const ANSWER: u32 = 1;
/// Connections that the kernel keeps until they are taken.
const BACKLOG: i32 = 1024;

impl Communicator {
    /// Joins the ranks that give the same `colour` in a communicator of their own, in the order of their ranks, with sockets,
    /// engine and job tag of its own and this one's settings and bound, over the kernel's UDP also on ranks with a card. Collective: all
    /// ranks call it, each with some colour; each colour has at least two ranks.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn split(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        block_on(self.split_async(colour))
    }

    /// As [`split`](Self::split), without blocking the thread.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn split_async(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        self.start_places(Some(colour)).await?.join(colour).await
    }

    /// Begins as [`split`](Self::split), in the order of the other calls; the future borrows nothing, so the communicator can be used, or
    /// dropped, while it waits. A rank without a colour is in none of the new communicators, but calls it, too.
    ///
    /// # Errors
    /// As [`split`](Self::split), from the future.
    pub fn start_split(
        &mut self,
        colour: Option<usize>,
    ) -> impl Future<Output = Result<Option<Communicator>, ConnectError>> + Send + 'static + use<> {
        let places = self.start_places(colour);
        async move {
            let places = places.await?;
            match colour {
                None => Ok(None),
                Some(colour) => places.join(colour).await.map(Some),
            }
        }
    }

    /// All ranks tell their colours, and where those of each could meet.
    fn start_places(
        &mut self,
        colour: Option<usize>,
    ) -> impl Future<Output = Result<Places, ConnectError>> + Send + 'static + use<> {
        let begun = self.free_place().map(|(root, listener)| {
            let place = serde_json::to_vec(&Place { colour, root }).unwrap_or_default();
            let terms = Terms::default().with("the call", "split");
            let told =
                self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&place), false, timeout));
            (told, listener)
        });
        let (rank, meeting) = (self.rank(), self.meeting());
        async move {
            let (told, listener) = begun?;
            let all: Vec<Vec<u8>> = told.await.map_err(|error| match error {
                Error::Control(error) => ConnectError::Control(error),
                _ => ConnectError::Control(ControlError::Closed),
            })?;
            // Of ranks that are gone, and left out, there is nothing.
            let of = |(member, place): (usize, &Vec<u8>)| Some((member, serde_json::from_slice(place).ok()?));
            let of_ranks = all.iter().enumerate().filter_map(of).collect();
            Ok(Places { rank, meeting, listener, of_ranks })
        }
    }

    /// Joins some of the ranks in a communicator of their own, in the order of their ranks, with sockets, engine and job tag of its own and
    /// this one's settings and bound, over the kernel's UDP also on ranks with a card. Only the ranks that are named call it, with the same list, in any order; the others go on. There may
    /// be any number of groups at once, also with ranks in common; ranks that are in two of them make them in the same order. May be called
    /// while another thread makes a collective call.
    ///
    /// # Errors
    /// If `ranks` are not at least two, all different, of this communicator and this one among them; on all members if their lists
    /// differ, naming rank and both values. See [`ConnectError`].
    pub fn group(&self, ranks: &[usize]) -> Result<Communicator, ConnectError> {
        block_on(self.group_async(ranks))
    }

    /// As [`group`](Self::group), without blocking the thread.
    ///
    /// # Errors
    /// As [`group`](Self::group).
    pub async fn group_async(&self, ranks: &[usize]) -> Result<Communicator, ConnectError> {
        let (own, members) = (self.rank(), self.check_members(ranks)?);
        let (first, others) = (members[0], &members[1..]);
        let terms = Terms::default().with("the call", "group").with("the ranks of the group", list(&members));
        let (root, listener) = if own == first {
            let agreed = self.agree(others, &terms).await;
            let answer = match &agreed {
                Ok((root, _)) => Answer::Root(root.clone()),
                Err(ConnectError::Control(ControlError::Differs(mismatch))) => Answer::Differs(mismatch.clone()),
                Err(error) => Answer::Failed(error.to_string()),
            };
            let answer = serde_json::to_vec(&answer).unwrap_or_default();
            for member in others {
                // Those that are gone need none.
                let _ = self.send_in_group(*member, ANSWER, answer.clone()).await;
            }
            let (root, listener) = agreed?;
            (root, Some(listener))
        } else {
            self.send_in_group(first, CALL, serde_json::to_vec(&terms).unwrap_or_default()).await?;
            // The first may wait for others, and says so when it gives up.
            let longer = self.shared.timeout + self.shared.timeout / 4;
            let answer = self.receive_in_group(first, ANSWER, longer, longer).await?;
            match serde_json::from_slice(&answer).map_err(|_| ControlError::WrongMessage { rank: first })? {
                Answer::Root(root) => (root, None),
                Answer::Differs(mismatch) => return Err(ControlError::Differs(mismatch).into()),
                Answer::Failed(reason) => return Err(ControlError::GivenUp { rank: first, reason }.into()),
            }
        };
        let index = members.iter().position(|member| *member == own).unwrap_or(0);
        self.meeting().join(index, members.len(), &root, listener, &root).await
    }

    /// At the lowest rank of a group: waits for the others, compares what they call, and says where all meet.
    async fn agree(&self, others: &[usize], terms: &Terms) -> Result<(String, Arc<TcpListener>), ConnectError> {
        let (mut same, deadline) = (Ok(()), Instant::now() + self.shared.timeout);
        for member in others {
            // All of them are taken, so that nothing is left of a group that cannot be.
            let left = deadline.saturating_duration_since(Instant::now());
            let call = self.receive_in_group(*member, CALL, left, self.shared.timeout).await;
            same = same.and(call).and_then(|call| {
                let call = serde_json::from_slice(&call).unwrap_or_default();
                terms.compare(self.rank(), *member, &call).map_err(ControlError::from)
            });
        }
        same?;
        self.free_place()
    }

    /// The members of a group, in order.
    fn check_members(&self, ranks: &[usize]) -> Result<Vec<usize>, ConnectError> {
        let mut members = ranks.to_vec();
        members.sort_unstable();
        members.dedup();
        let is_valid = members.len() == ranks.len()
            && members.len() >= 2
            && members.last().is_some_and(|last| *last < self.world_size())
            && members.contains(&self.rank());
        if is_valid {
            return Ok(members);
        }
        let (own, last) = (self.rank(), self.world_size() - 1);
        let expected = format!("at least two different ranks from 0 to {last}, {own} among them");
        Err(ConnectError::Setting { setting: "the ranks of the group", found: list(ranks), expected })
    }

    /// Where a group may meet whose lowest rank this is.
    pub(super) fn free_place(&self) -> Result<(String, Arc<TcpListener>), ConnectError> {
        let (place, listener) = listen_at_free_port(self.addresses[self.rank()].ip())?;
        Ok((place.to_string(), listener))
    }

    fn meeting(&self) -> Meeting {
        Meeting { builder: self.builder.clone(), bound_ns: Some(self.shared.bound_ns.clone()) }
    }

    /// A communicator of the ranks of this colour, for a step of two levels.
    pub(super) async fn level(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        let mut places = self.start_places(Some(colour)).await?;
        let meeting = &mut places.meeting;
        let ranks_here = ranks_at(self.addresses.iter().map(SocketAddr::ip), self.rank());
        meeting.builder = meeting.builder.clone().for_a_level(ranks_here);
        // Each step has a deadline of its own, and that of all ranks on one level may not be known yet.
        meeting.bound_ns = None;
        places.join(colour).await
    }

    /// All ranks once more, in a communicator without cards, with the settings of this one. Collective, before any other call.
    pub(super) async fn same_ranks(&mut self) -> Result<Communicator, ConnectError> {
        let mut places = self.start_places(Some(0)).await?;
        places.meeting.bound_ns = None;
        places.join(0).await
    }
}

/// Takes connections at a port of `address` that nobody else has.
pub(super) fn listen_at_free_port(address: IpAddr) -> Result<(SocketAddr, Arc<TcpListener>), ConnectError> {
    let listen = || {
        let socket = Socket::new(Domain::for_address((address, 0).into()), Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((address, 0)).into())?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from(socket);
        Ok((listener.local_addr()?, Arc::new(listener)))
    };
    let failed = |source| BootstrapError::Io { what: format!("a free port of {address}"), source };
    listen().map_err(failed).map_err(ConnectError::from)
}

/// Ranks, for a message.
pub(super) fn list(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
