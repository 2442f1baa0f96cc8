//! Types without values, for builds without the feature `smartnic`.

use std::net::SocketAddr;

use super::address::CardAddress;
use super::error::CardError;
use super::job::Cards;
use crate::control::{CardLimits, Job};

pub(crate) enum OpenCard {}

pub(crate) enum CardPlane {}

impl OpenCard {
    pub fn open(address: &str, _: Option<CardAddress>) -> Result<Self, CardError> {
        Err(CardError::NotBuilt { address: address.into() })
    }

    pub fn address(&self) -> SocketAddr {
        match *self {}
    }

    pub fn mac(&self) -> [u8; 6] {
        match *self {}
    }

    pub fn limits(&self) -> CardLimits {
        match *self {}
    }

    pub fn join(self, _: usize, _: &Job, _: &Cards, _: usize, _: bool) -> Result<CardPlane, CardError> {
        match self {}
    }
}
