//! Levels of a job on one level, for its buckets with groups.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};

use super::super::builder::Builder;
use super::super::flat_bucket::declaration;
use super::super::options::BucketOptions;
use super::super::request::reply;
use super::super::settle::Unsettled;
use super::super::{Cause, ConnectError, Error, Flat, Request, Shared};
use super::calls::Calls;
use super::connect::{listen, partitions};
use super::plan::lock;
use super::{Core, Levels, LevelsBucket};
use crate::control::{ControlChannel, ControlError, Group, Partition, Terms};
use crate::settings::Groups;

/// Levels by their groups. Only the thread of the job's calls adds some, in the same order on all
/// ranks. Dropping it ends them.
#[derive(Debug, Default)]
pub(in super::super) struct Table(Arc<Mutex<Vec<Entry>>>);

#[derive(Clone, Debug)]
struct Entry {
    groups: Groups,
    calls: Calls,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum State {
    Connecting,
    Connected(Box<Levels>),
    Failed(Error),
    Ended,
}

impl Entry {
    fn core(&self) -> Result<Arc<Core>, Error> {
        match &*lock(&self.state) {
            State::Connected(levels) => Ok(levels.core.clone()),
            State::Failed(error) => Err(error.clone()),
            State::Connecting | State::Ended => Err(Cause::Closed.into()),
        }
    }
}

/// Job of a [`Table`].
struct Job {
    entries: Arc<Mutex<Vec<Entry>>>,
    shared: Arc<Shared>,
    builder: Builder,
    addresses: Vec<IpAddr>,
}

impl Table {
    /// Declares a bucket, and connects its groups before if they are new.
    pub fn bucket<B: From<LevelsBucket> + Send + 'static>(
        &self,
        flat: &Flat,
        groups: Groups,
        elements: usize,
        options: BucketOptions,
    ) -> Request<B> {
        let (sender, reply) = reply();
        let Flat { shared, builder, addresses, .. } = flat;
        let addresses = addresses.iter().map(SocketAddr::ip).collect();
        let job = Job { entries: self.0.clone(), shared: shared.clone(), builder: builder.clone(), addresses };
        shared.run(move |channel| match job.begin(channel, groups, elements, &options) {
            Ok((entry, number)) => entry.calls.clone().run(move || {
                let declared = entry.core().and_then(|core| core.declare(number, elements, options));
                let _ = sender.send(declared.map(B::from));
            }),
            Err(error) => drop(sender.send(Err(error))),
        });
        reply.into()
    }

    /// Ends all levels after the calls so far. The iterator waits for each.
    pub fn start_ending(&self, flat: &Flat) -> impl Iterator<Item = Result<Unsettled, Error>> + Send + use<> {
        let (sender, ended) = mpsc::channel();
        let entries = self.0.clone();
        flat.shared.run(move |_| {
            for entry in lock(&entries).clone() {
                let sender = sender.clone();
                entry.calls.clone().run(move || {
                    // Levels that did not connect have nothing to settle.
                    let _ = sender.send(entry.core().map_or_else(|_| Ok(Unsettled::new()), |core| core.end()));
                });
            }
        });
        ended.into_iter()
    }

    /// Returns the connected levels.
    pub fn cores(&self) -> Vec<Arc<Core>> {
        lock(&self.0).iter().filter_map(|entry| entry.core().ok()).collect()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for entry in lock(&self.0).drain(..) {
            let ended = std::mem::replace(&mut *lock(&entry.state), State::Ended);
            drop(ended);
        }
    }
}

impl Job {
    /// Returns the levels of a new bucket and its number.
    fn begin(
        &self,
        channel: &mut ControlChannel,
        groups: Groups,
        elements: usize,
        options: &BucketOptions,
    ) -> Result<(Entry, u32), Error> {
        let Self { entries, shared, .. } = self;
        let number = shared.declared.load(Ordering::Relaxed);
        let known = lock(entries).iter().find(|entry| entry.groups == groups).cloned();
        let (terms, memory) = declaration(options, elements, number);
        let terms = terms.with("the connection of its groups", if known.is_some() { "made before" } else { "new" });
        if let Some((by, before)) = channel.declared_before(number as usize) {
            before.compare(by, shared.params.rank, &terms).map_err(ControlError::from)?;
            self.count(channel, &terms, number);
            let (call, instead) = ("a bucket in a process that joins later", "restart all ranks of the job");
            return Err(Cause::Levels { call, instead }.into());
        }
        let timeout = shared.timeout;
        let entry = match known {
            Some(entry) => {
                channel.call(&terms, timeout, |_| Ok(()))?;
                memory?;
                entry
            }
            None => {
                let listening = groups.cut(&self.addresses).and_then(|cut| {
                    let (places, listeners) = listen(self.addresses[shared.params.rank])?;
                    Ok((partitions(&cut), serde_json::to_vec(&places).unwrap_or_default(), listeners))
                });
                let place = listening.as_ref().map_or(&[][..], |(_, place, _)| place);
                let exchange = |channel: &mut ControlChannel| channel.hand_over(|_| Some(place), false, timeout);
                let told = channel.call(&terms, timeout, exchange)?;
                let (partitions, _, listeners) = listening?;
                memory?;
                self.connect(groups, partitions, &told, listeners)?
            }
        };
        self.count(channel, &terms, number);
        Ok((entry, number))
    }

    fn count(&self, channel: &ControlChannel, terms: &Terms, number: u32) {
        channel.declared(number as usize, terms);
        self.shared.declared.store(number.wrapping_add(1), Ordering::Relaxed);
    }

    /// `told`: by each rank, the addresses of its listeners.
    fn connect(
        &self,
        groups: Groups,
        partitions: Vec<Partition>,
        told: &[Vec<u8>],
        listeners: Vec<Arc<TcpListener>>,
    ) -> Result<Entry, Error> {
        if let Some(gone) = told.iter().position(Vec::is_empty) {
            return Err(ControlError::Gone(gone).into());
        }
        let own = self.shared.params.rank;
        let ranks_here = self.addresses.iter().filter(|address| **address == self.addresses[own]).count();
        let group = |(level, Partition { name, groups }): (usize, Partition)| {
            let number = groups.iter().position(|ranks| ranks.contains(&own)).expect("each rank once");
            let (ranks, lowest) = (groups[number].clone(), groups[number][0]);
            let places: Vec<SocketAddr> = serde_json::from_slice(&told[lowest]).unwrap_or_default();
            let root = *places.get(level).ok_or(ControlError::Gone(lowest))?;
            Ok(Group { name, number, ranks, root, ranks_here })
        };
        let found = partitions.into_iter().enumerate().map(group).collect::<Result<Vec<_>, Error>>()?;
        let calls = Calls::start(Some(self.shared.clone())).map_err(ConnectError::Thread)?;
        let entry = Entry { groups, calls: calls.clone(), state: Arc::new(Mutex::new(State::Connecting)) };
        let (builder, state) = (self.builder.clone(), entry.state.clone());
        entry.calls.run(move || {
            let connected = Levels::join(builder, found, listeners, calls);
            let mut state = lock(&state);
            if matches!(*state, State::Connecting) {
                *state = connected.map(Box::new).map_or_else(State::Failed, State::Connected);
            }
        });
        lock(&self.entries).push(entry.clone());
        Ok(entry)
    }
}
