//! Communicators of some of the ranks.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::builder::Builder;
use super::connect::ranks_at;
use super::{Communicator, Error, Request};
use crate::control::{BootstrapError, Terms};

/// Meeting address of a rank's group, if this rank is its lowest.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    color: Option<usize>,
    root: String,
}

struct Places {
    rank: usize,
    meeting: Meeting,
    listener: Arc<TcpListener>,
    of_ranks: Vec<(usize, Place)>,
}

impl Places {
    fn join(self, color: usize) -> Result<Communicator, Error> {
        let Self { rank, meeting, listener, of_ranks } = self;
        let same: Vec<(usize, Place)> = of_ranks.into_iter().filter(|(_, one)| one.color == Some(color)).collect();
        let index = same.iter().position(|(member, _)| *member == rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let listener = Some(listener).filter(|_| index == 0);
        meeting.join(index, same.len(), &root, listener, &color.to_string())
    }
}

struct Meeting {
    builder: Builder,
    /// Bound of the communicator when the group connects. `None`: of `builder`.
    bound_ns: Option<Arc<AtomicU64>>,
}

impl Meeting {
    fn join(
        self,
        rank: usize,
        ranks: usize,
        root: &str,
        listener: Option<Arc<TcpListener>>,
        id: &str,
    ) -> Result<Communicator, Error> {
        let mut settings = self.builder.of_some(rank, ranks, root, id);
        if let Some(bound_ns) = self.bound_ns {
            settings = settings.bound(Duration::from_nanos(bound_ns.load(Ordering::Relaxed)));
        }
        settings.inherited.listener = listener;
        Communicator::connect_as(Builder::new(&settings)?)
    }
}

const BACKLOG: i32 = 1024;

impl Communicator {
    /// Connects the ranks with the same color in a new communicator, in the order of their ranks.
    /// Ranks without a color must call it too, and get `None`. Collective.
    ///
    /// The new communicator has a separate engine, and inherits the settings and the present bound.
    /// It uses the kernel's UDP, also on ranks with a card.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn split(&mut self, color: Option<usize>) -> Request<Option<Communicator>> {
        let places = self.start_places(color);
        Request::on_a_thread("optireduce-connect", move || {
            let places = places()?;
            color.map(|color| places.join(color)).transpose()
        })
    }

    /// Exchanges the colors and addresses of all ranks; the function waits for them.
    fn start_places(
        &mut self,
        color: Option<usize>,
    ) -> impl FnOnce() -> Result<Places, Error> + Send + 'static + use<> {
        let begun = self.free_place().map(|(root, listener)| {
            let place = serde_json::to_vec(&Place { color, root }).unwrap_or_default();
            let terms = Terms::default().with("the call", "split");
            let told =
                self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&place), false, timeout));
            (told, listener)
        });
        let (rank, meeting) = (self.rank(), self.meeting());
        move || {
            let (told, listener) = begun?;
            let all: Vec<Vec<u8>> = told.wait()?;
            // Ranks that are gone and left out have an empty place.
            let of = |(member, place): (usize, &Vec<u8>)| Some((member, serde_json::from_slice(place).ok()?));
            let of_ranks = all.iter().enumerate().filter_map(of).collect();
            Ok(Places { rank, meeting, listener, of_ranks })
        }
    }

    /// Opens a listener for a group whose lowest rank is this one.
    pub(super) fn free_place(&self) -> Result<(String, Arc<TcpListener>), Error> {
        let (place, listener) = listen_at_free_port(self.addresses[self.rank()].ip())?;
        Ok((place.to_string(), listener))
    }

    fn meeting(&self) -> Meeting {
        Meeting { builder: self.builder.clone(), bound_ns: Some(self.shared.bound_ns.clone()) }
    }

    /// Begins a communicator of a two-level job; the function connects it.
    pub(super) fn level(
        &mut self,
        color: usize,
    ) -> impl FnOnce() -> Result<Communicator, Error> + Send + 'static + use<> {
        let places = self.start_places(Some(color));
        let ranks_here = ranks_at(self.addresses.iter().map(SocketAddr::ip), self.rank());
        move || {
            let mut places = places()?;
            let meeting = &mut places.meeting;
            meeting.builder = meeting.builder.clone().for_a_level(ranks_here);
            // Each step measures its own bound.
            meeting.bound_ns = None;
            places.join(color)
        }
    }

    /// Connects all ranks again, without cards.
    pub(super) fn same_ranks(&mut self) -> Result<Communicator, Error> {
        let mut places = self.start_places(Some(0))()?;
        places.meeting.bound_ns = None;
        places.join(0)
    }
}

pub(super) fn listen_at_free_port(address: IpAddr) -> Result<(SocketAddr, Arc<TcpListener>), Error> {
    let listen = || {
        let socket = Socket::new(Domain::for_address((address, 0).into()), Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((address, 0)).into())?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from(socket);
        Ok((listener.local_addr()?, Arc::new(listener)))
    };
    let failed = |source| BootstrapError::Io { what: format!("a free port of {address}"), source };
    listen().map_err(failed).map_err(Error::from)
}
