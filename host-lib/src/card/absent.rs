//! Without the feature `smartnic`: there are no cards, and these types have no values.

use std::net::SocketAddr;

use super::address::CardAddress;
use super::error::CardError;
use super::job::Cards;
use crate::control::{CardLimits, Job};

/// There is none.
pub(crate) enum OpenCard {}

/// There is none.
pub(crate) enum CardPlane {}

impl OpenCard {
    /// Says what is missing.
    ///
    /// # Errors
    /// Always.
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
