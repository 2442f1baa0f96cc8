//! Communicators of some of the ranks.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::Flat;
use super::builder::Builder;
use super::{Communicator, Error, ONE_LEVEL, Request};
use crate::control::{BootstrapError, Terms};

/// Meeting address of a rank's group, if this rank is its lowest.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    color: Option<usize>,
    root: String,
}

struct Places {
    builder: Builder,
    of_ranks: Vec<(usize, Place)>,
    listener: Arc<TcpListener>,
}

impl Places {
    /// `bound`: `None` for the setting.
    fn join(self, color: usize, bound: Option<Duration>) -> Result<Flat, Error> {
        let Self { builder, of_ranks, listener } = self;
        let same: Vec<(usize, Place)> = of_ranks.into_iter().filter(|(_, one)| one.color == Some(color)).collect();
        let index = same.iter().position(|(member, _)| *member == builder.launch.rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let mut settings = builder.of_some(index, same.len(), &root, &color.to_string());
        if let Some(bound) = bound {
            settings = settings.bound(bound);
        }
        settings.inherited.listener = Some(listener).filter(|_| index == 0);
        Flat::connect(Builder::new(&settings)?)
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
    /// See [`Error`]. [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) on two levels.
    pub fn split(&mut self, color: Option<usize>) -> Request<Option<Communicator>> {
        self.on_one_level("split", ONE_LEVEL, |flat| {
            let (places, bound_ns) = (flat.start_places(color), flat.shared.bound_ns.clone());
            Request::on_a_thread("optireduce-connect", move || {
                let places = places()?;
                let bound = Duration::from_nanos(bound_ns.load(Ordering::Relaxed));
                color.map(|color| places.join(color, Some(bound)).map(Self::from)).transpose()
            })
        })
    }
}

impl Flat {
    /// Exchanges the colors and addresses of all ranks; the function waits for them.
    fn start_places(&self, color: Option<usize>) -> impl FnOnce() -> Result<Places, Error> + Send + 'static + use<> {
        let begun = self.free_place().map(|(root, listener)| {
            let place = serde_json::to_vec(&Place { color, root }).unwrap_or_default();
            let terms = Terms::default().with("the call", "split");
            let told =
                self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&place), false, timeout));
            (told, listener)
        });
        let builder = self.builder.clone();
        move || {
            let (told, listener) = begun?;
            let all: Vec<Vec<u8>> = told.wait()?;
            // Ranks that are gone and left out have an empty place.
            let of = |(member, place): (usize, &Vec<u8>)| Some((member, serde_json::from_slice(place).ok()?));
            let of_ranks = all.iter().enumerate().filter_map(of).collect();
            Ok(Places { builder, of_ranks, listener })
        }
    }

    /// Opens a listener for a group whose lowest rank is this one.
    pub(super) fn free_place(&self) -> Result<(String, Arc<TcpListener>), Error> {
        let (place, listener) = listen_at_free_port(self.addresses[self.shared.params.rank].ip())?;
        Ok((place.to_string(), listener))
    }

    /// Connects all ranks again, without cards.
    pub(super) fn same_ranks(&self) -> Result<Flat, Error> {
        self.start_places(Some(0))()?.join(0, None)
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
