//! Exact calls over TCP: reductions of any element type, and bytes of any length.

use std::time::Duration;

use super::Shared;
use super::{Cause, Communicator, Error, ONE_LEVEL, Of, Request};
use crate::control::{ControlChannel, ControlError, Terms, reliable};
use crate::exact::{ElementType, ExactData, ExactOp, Fold, Typed, fold};
use optireduce_core::protocol::Parts;

/// Exact calls of a communicator, from [`Communicator::exact`]: over TCP, complete, and with the
/// same bits on all ranks. All are collective.
///
/// They are as slow as the slowest rank, and fail when a rank makes no progress for the
/// [timeout](crate::Settings::timeout): when it accepts less than half a MiB in that time. Other
/// ranks learn the cause at most a quarter of the timeout later.
///
/// On two levels, calls but [`broadcast`](Self::broadcast) and [`all_gather`](Self::all_gather) are
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
#[derive(Debug)]
pub struct Exact<'a> {
    pub(super) communicator: &'a mut Communicator,
}

impl Exact<'_> {
    /// Reduces `data` over all ranks.
    ///
    /// Integers wrap, NaN of any rank stays in minimum and maximum, and floating-point values are
    /// folded in the order of ranks. Each rank sends 2 (ranks - 1) / ranks times the bytes.
    ///
    /// # Errors
    /// On every rank if lengths, types or operations differ. If the type does not support the
    /// operation. Names a rank that is gone or makes no progress for the timeout.
    pub fn all_reduce<D: ExactData>(&mut self, data: D, op: ExactOp) -> Request<D> {
        let Typed { element, mut bytes } = data.into_typed();
        let (terms, fold) = check("exact all_reduce", bytes.len(), element, op);
        self.call("exact all_reduce", terms, fold, move |fold, channel, timeout| {
            reliable::all_reduce(channel, &mut bytes, element.bytes(), fold, timeout)?;
            Ok(D::from_typed(Typed { element, bytes }))
        })
    }

    /// Reduces `data` over all ranks as [`all_reduce`](Self::all_reduce), and returns this rank's
    /// [`shard`](Communicator::shard_range).
    ///
    /// # Errors
    /// See [`all_reduce`](Self::all_reduce).
    pub fn reduce_scatter<D: ExactData>(&mut self, data: D, op: ExactOp) -> Request<D> {
        let Typed { element, bytes } = data.into_typed();
        let (terms, fold) = check("exact reduce_scatter", bytes.len(), element, op);
        let (size, ranks) = (element.bytes(), self.communicator.world_size());
        self.call("exact reduce_scatter", terms, fold, move |fold, channel, timeout| {
            let parts = Parts::new(bytes.len() / size, ranks);
            let parts = (0..ranks).map(|rank| parts.of(rank)).map(|part| part.start * size..part.end * size);
            let bytes = reliable::reduce_scatter(channel, &bytes, &parts.collect::<Vec<_>>(), fold, timeout)?;
            Ok(D::from_typed(Typed { element, bytes }))
        })
    }

    /// Copies the root's values to all ranks. `data` has the same type and length on all ranks.
    ///
    /// Finishes once this rank has all values and, at the root, once every rank has.
    ///
    /// # Errors
    /// Names a rank that is gone, makes no progress for the timeout, or uses another root, type or
    /// length.
    pub fn broadcast<D: ExactData>(&mut self, root: usize, data: D) -> Request<D> {
        match &self.communicator.0 {
            Of::Flat(flat, _) => broadcast(&flat.shared, root, data),
            Of::Levels(levels) => levels.core.broadcast(root, data),
        }
    }

    /// Gathers the bytes of every rank, of any lengths, by rank. `None`: a gone rank, only with
    /// [`skip_gone`](crate::Settings::skip_gone).
    ///
    /// # Errors
    /// Names a rank that is gone, makes no progress for the timeout, or makes another call. If this
    /// host has too little memory.
    pub fn all_gather(&mut self, bytes: Vec<u8>) -> Request<Vec<Option<Vec<u8>>>> {
        match &self.communicator.0 {
            Of::Flat(flat, _) => all_gather(&flat.shared, bytes),
            Of::Levels(levels) => levels.core.all_gather(bytes),
        }
    }

    /// Gathers the bytes of every rank at the root, as [`all_gather`](Self::all_gather). The other
    /// ranks get an empty vector.
    ///
    /// # Errors
    /// See [`all_gather`](Self::all_gather). Also if there is no such root.
    pub fn gather(&mut self, root: usize, bytes: Vec<u8>) -> Request<Vec<Option<Vec<u8>>>> {
        let own = self.communicator.rank();
        let terms = Terms::default().with("the call", "exact gather").with("the root", root);
        let root = check_rank("the root", root, self.communicator.world_size());
        self.call("exact gather", terms, root, move |root, channel, timeout| {
            let given = |peer: usize| match (peer == root, own == root) {
                (true, _) => Some(bytes.as_slice()),
                (false, is_root) => is_root.then_some([].as_slice()),
            };
            let all = channel.collect(given, false, timeout)?;
            Ok(if own == root { all } else { Vec::new() })
        })
    }

    /// Sends each rank its part of the root's bytes.
    ///
    /// `parts` has one part for each rank, of any length, and is ignored except at the root.
    /// Finishes once this rank has its part and, at the root, once every rank has.
    ///
    /// # Errors
    /// See [`all_gather`](Self::all_gather). Also if there is no such root, and on all ranks if the
    /// root does not pass one part for each rank.
    pub fn scatter(&mut self, root: usize, parts: Vec<Vec<u8>>) -> Request<Vec<u8>> {
        let (own, ranks) = (self.communicator.rank(), self.communicator.world_size());
        let (name, found) = ("parts at the root", if own == root { parts.len() } else { ranks });
        let terms = Terms::default().with("the call", "exact scatter").with("the root", root).with(name, found);
        // No other rank compares the number if this one is alone.
        let root = check_rank("the root", root, self.communicator.world_size());
        let root = root.and_then(|root| check_parts(name, found, ranks).map(|()| root));
        self.call("exact scatter", terms, root, move |root, channel, timeout| {
            let given = |peer: usize| match own == root {
                true => Some(parts[peer].as_slice()),
                false => (peer == root).then_some([].as_slice()),
            };
            let mut all = channel.collect(given, true, timeout)?;
            all[root].take().ok_or(ControlError::Gone(root))
        })
    }

    /// Sends a part to each rank, and returns the parts received, by rank, as
    /// [`all_gather`](Self::all_gather). `parts` has one part for each rank.
    ///
    /// # Errors
    /// See [`all_gather`](Self::all_gather). Also, on all ranks, if `parts` has a wrong length on
    /// one.
    pub fn all_to_all(&mut self, parts: Vec<Vec<u8>>) -> Request<Vec<Option<Vec<u8>>>> {
        let (name, found, ranks) = ("parts", parts.len(), self.communicator.world_size());
        let terms = Terms::default().with("the call", "exact all_to_all").with(name, found);
        self.call("exact all_to_all", terms, check_parts(name, found, ranks), move |(), channel, timeout| {
            channel.collect(|peer| parts.get(peer).map(Vec::as_slice), false, timeout)
        })
    }

    /// Makes a call that jobs on two levels do not support.
    fn call<G: Send + 'static, T: Send + 'static>(
        &self,
        name: &'static str,
        terms: Terms,
        given: Result<G, Error>,
        call: impl FnOnce(G, &mut ControlChannel, Duration) -> Result<T, ControlError> + Send + 'static,
    ) -> Request<T> {
        self.communicator.on_one_level(name, ONE_LEVEL, |flat| flat.shared.call_with(terms, given, call))
    }
}

pub(super) fn broadcast<D: ExactData>(shared: &Shared, root: usize, data: D) -> Request<D> {
    let Typed { element, mut bytes } = data.into_typed();
    let terms = broadcast_terms(root, element, bytes.len());
    let root = check_rank("the root", root, shared.params.ranks);
    shared.call_with(terms, root, move |root, channel, timeout| {
        channel.broadcast_from(root, &mut bytes, timeout)?;
        Ok(D::from_typed(Typed { element, bytes }))
    })
}

pub(super) fn broadcast_terms(root: usize, element: ElementType, bytes: usize) -> Terms {
    let terms = Terms::default().with("the call", "exact broadcast").with("the root", root);
    terms.with("the element type", element).with("elements", elements(bytes, element))
}

pub(super) fn all_gather(shared: &Shared, bytes: Vec<u8>) -> Request<Vec<Option<Vec<u8>>>> {
    let terms = Terms::default().with("the call", "exact all_gather");
    shared.call(terms, move |channel, timeout| channel.collect(|_| Some(&bytes), false, timeout))
}

/// See [`start_reliable_mean`](super::binding::start_reliable_mean).
pub(super) fn reliable_mean(communicator: &mut Communicator, values: Vec<f32>) -> Request<(Vec<f32>, [Duration; 2])> {
    let Typed { element, mut bytes } = values.into_typed();
    let (terms, fold) = check("exact mean", bytes.len(), element, ExactOp::Avg);
    communicator.exact().call("exact mean", terms, fold, move |fold, channel, timeout| {
        let times = reliable::all_reduce(channel, &mut bytes, element.bytes(), fold, timeout)?;
        Ok((Vec::from_typed(Typed { element, bytes }), times))
    })
}

fn elements(bytes: usize, element: ElementType) -> String {
    let size = element.bytes();
    if bytes.is_multiple_of(size) { (bytes / size).to_string() } else { format!("{bytes} bytes") }
}

/// Returns the terms of the call, and its fold.
fn check(call: &str, bytes: usize, element: ElementType, op: ExactOp) -> (Terms, Result<Box<dyn Fold>, Error>) {
    let size = element.bytes();
    let terms = Terms::default().with("the call", call).with("the element type", element);
    let terms = terms.with("the operation", op).with("elements", elements(bytes, element));
    let (name, expected) = ("the number of bytes", format!("a multiple of {size}, as a value of {element} has"));
    let fold = match fold(element, op) {
        _ if !bytes.is_multiple_of(size) => Err(Cause::Argument { name, found: bytes, expected }.into()),
        Some(fold) => Ok(fold),
        None => Err(Cause::Operation { op, element }.into()),
    };
    (terms, fold)
}

pub(super) fn check_rank(name: &'static str, rank: usize, ranks: usize) -> Result<usize, Error> {
    let wrong = || Cause::Argument { name, found: rank, expected: format!("a rank from 0 to {}", ranks - 1) };
    if rank < ranks { Ok(rank) } else { Err(wrong().into()) }
}

fn check_parts(name: &'static str, found: usize, ranks: usize) -> Result<(), Error> {
    let wrong = || Cause::Argument { name, found, expected: format!("{ranks}, one for each rank") };
    if found == ranks { Ok(()) } else { Err(wrong().into()) }
}
