//! Calls of a communicator that wait for other ranks.

use std::sync::Arc;

use optireduce::{Communicator, PartialOptions, Request};

use crate::comm::{Averages, Comm};
use crate::guard::Live;
use crate::request::{self, Operation, RequestPlace};
use crate::status::Failure;

impl Comm {
    /// Makes a collective call. `end` handles its result.
    pub fn call<T: Send + 'static>(
        self: Arc<Self>,
        place: RequestPlace,
        begin: impl FnOnce(&mut Communicator) -> Request<T>,
        end: impl FnOnce(T) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let _turn = self.turn(place.is_none())?;
        let (begun, of) = (self.begin(begin)?, self.clone());
        request::complete(&self, place, begun, move |done| end(done.map_err(|error| of.failed(error))?))
    }

    /// As [`call`](Self::call), for a call that connects ranks and does not end with this
    /// communicator.
    fn connect_ranks<T: Send + 'static>(
        self: Arc<Self>,
        place: RequestPlace,
        begin: impl FnOnce(&mut Communicator) -> Request<T>,
        end: impl FnOnce(T) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let _turn = self.turn(place.is_none())?;
        let (begun, of) = (Operation::until(self.ends(), self.begin(begin)?), self.clone());
        request::complete(&self, place, begun, move |done| {
            end(done.map_err(|error| if of.has_ended() { of.ended() } else { of.failed(error) })?)
        })
    }

    pub fn partial_reduce(
        self: Arc<Self>,
        place: RequestPlace,
        elements: usize,
        options: PartialOptions,
        end: impl FnOnce(Arc<Averages>) + Send + 'static,
    ) -> Result<(), Failure> {
        let of = self.clone();
        let declare = |communicator: &mut Communicator| communicator.partial_reduce(elements, options);
        self.connect_ranks(place, declare, move |partial| of.keep(partial).map(end))
    }

    /// Creates a communicator of the ranks of a color, `None` for a rank without one. It does not
    /// end with this one.
    pub fn split(
        self: Arc<Self>,
        place: RequestPlace,
        color: Option<usize>,
        end: impl FnOnce(Option<Self>) + Send + 'static,
    ) -> Result<(), Failure> {
        let live = Live::new();
        let split = |communicator: &mut Communicator| communicator.split(color);
        self.connect_ranks(place, split, move |new| {
            end(new.map(|communicator| Self::of_communicator(communicator, live)));
            Ok(())
        })
    }

    pub fn close(self: Arc<Self>, place: RequestPlace) -> Result<(), Failure> {
        let _turn = self.turn(place.is_none())?;
        let (closing, of) = (self.begin_close()?, self.clone());
        request::complete(&self, place, closing, move |done| {
            let result = done.map_err(|error| of.failed(error));
            of.end_close();
            result
        })
    }
}
