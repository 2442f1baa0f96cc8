//! Communicators of some of the ranks.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::builder::Builder;
use super::connect::ranks_at;
use super::request::block_on;
use super::{Communicator, ConnectError, Error};
use crate::control::{BootstrapError, ControlError, Mismatch, Terms};

/// Meeting address of a rank's group, if this rank is its lowest.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    colour: Option<usize>,
    root: String,
}

struct Places {
    rank: usize,
    meeting: Meeting,
    listener: Arc<TcpListener>,
    of_ranks: Vec<(usize, Place)>,
}

impl Places {
    async fn join(self, colour: usize) -> Result<Communicator, ConnectError> {
        let Self { rank, meeting, listener, of_ranks } = self;
        let same: Vec<(usize, Place)> = of_ranks.into_iter().filter(|(_, one)| one.colour == Some(colour)).collect();
        let index = same.iter().position(|(member, _)| *member == rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let listener = Some(listener).filter(|_| index == 0);
        meeting.join(index, same.len(), &root, listener, &colour.to_string()).await
    }
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Root(String),
    Differs(Mismatch),
    /// Cause of the lowest rank's failure.
    Failed(String),
}

struct Meeting {
    builder: Builder,
    /// Bound of the communicator when the group connects. `None`: of `builder`.
    bound_ns: Option<Arc<AtomicU64>>,
}

impl Meeting {
    async fn join(
        self,
        rank: usize,
        ranks: usize,
        root: &str,
        listener: Option<Arc<TcpListener>>,
        id: &str,
    ) -> Result<Communicator, ConnectError> {
        let mut settings = self.builder.of_some(rank, ranks, root, id);
        if let Some(bound_ns) = self.bound_ns {
            settings = settings.bound(Duration::from_nanos(bound_ns.load(Ordering::Relaxed)));
        }
        settings.inherited.listener = listener;
        Communicator::connect_async(settings).await
    }
}

const CALL: u32 = 0;
const ANSWER: u32 = 1;
const BACKLOG: i32 = 1024;

impl Communicator {
    /// Connects the ranks with the same `colour` in a new communicator, in the order of their
    /// ranks. Collective.
    ///
    /// The new communicator has a separate engine, and inherits the settings and the present bound.
    /// It uses the kernel's UDP, also on ranks with a card.
    pub fn split(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        block_on(self.split_async(colour))
    }

    /// Async form of [`split`](Self::split).
    pub async fn split_async(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        self.start_places(Some(colour)).await?.join(colour).await
    }

    /// Starts [`split`](Self::split). Ranks without a colour must call it too, and get `None`. The
    /// future borrows nothing.
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

    /// Exchanges the colours and addresses of all ranks.
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
            // Ranks that are gone and left out have an empty place.
            let of = |(member, place): (usize, &Vec<u8>)| Some((member, serde_json::from_slice(place).ok()?));
            let of_ranks = all.iter().enumerate().filter_map(of).collect();
            Ok(Places { rank, meeting, listener, of_ranks })
        }
    }

    /// Connects some of the ranks in a new communicator, in the order of their ranks. Only the
    /// ranks in `ranks` call it, with the same list in any order.
    ///
    /// The new communicator is as after [`split`](Self::split). A rank in two groups must create
    /// them in the same order as the others. Another thread may make a collective call meanwhile.
    ///
    /// # Errors
    /// If `ranks` are not different ranks, with this one among them. On all members if
    /// their lists differ. See [`ConnectError`].
    pub fn group(&self, ranks: &[usize]) -> Result<Communicator, ConnectError> {
        block_on(self.group_async(ranks))
    }

    /// Async form of [`group`](Self::group).
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
                let _ = self.send_in_group(*member, ANSWER, answer.clone()).await;
            }
            let (root, listener) = agreed?;
            (root, Some(listener))
        } else {
            self.send_in_group(first, CALL, serde_json::to_vec(&terms).unwrap_or_default()).await?;
            // The first may wait for other members itself, and reports when it times out.
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

    /// Compares the calls of a group at its lowest rank, and returns their meeting address.
    async fn agree(&self, others: &[usize], terms: &Terms) -> Result<(String, Arc<TcpListener>), ConnectError> {
        let (mut same, deadline) = (Ok(()), Instant::now() + self.shared.timeout);
        for member in others {
            // All calls are received, so that a failed group leaves no messages behind.
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

    fn check_members(&self, ranks: &[usize]) -> Result<Vec<usize>, ConnectError> {
        let mut members = ranks.to_vec();
        members.sort_unstable();
        members.dedup();
        let is_valid = members.len() == ranks.len()
            && members.last().is_some_and(|last| *last < self.world_size())
            && members.contains(&self.rank());
        if is_valid {
            return Ok(members);
        }
        let (own, last) = (self.rank(), self.world_size() - 1);
        let expected = format!("different ranks from 0 to {last}, {own} among them");
        Err(ConnectError::Setting { setting: "the ranks of the group", found: list(ranks), expected })
    }

    /// Opens a listener for a group whose lowest rank is this one.
    pub(super) fn free_place(&self) -> Result<(String, Arc<TcpListener>), ConnectError> {
        let (place, listener) = listen_at_free_port(self.addresses[self.rank()].ip())?;
        Ok((place.to_string(), listener))
    }

    fn meeting(&self) -> Meeting {
        Meeting { builder: self.builder.clone(), bound_ns: Some(self.shared.bound_ns.clone()) }
    }

    /// Connects a communicator of a two-level job.
    pub(super) async fn level(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        let mut places = self.start_places(Some(colour)).await?;
        let meeting = &mut places.meeting;
        let ranks_here = ranks_at(self.addresses.iter().map(SocketAddr::ip), self.rank());
        meeting.builder = meeting.builder.clone().for_a_level(ranks_here);
        // Each step measures its own bound.
        meeting.bound_ns = None;
        places.join(colour).await
    }

    /// Connects all ranks again, without cards.
    pub(super) async fn same_ranks(&mut self) -> Result<Communicator, ConnectError> {
        let mut places = self.start_places(Some(0)).await?;
        places.meeting.bound_ns = None;
        places.join(0).await
    }
}

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

pub(super) fn list(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
