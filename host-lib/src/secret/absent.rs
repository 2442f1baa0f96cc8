//! Replacement of `crypto` without the feature `secret`. The types have no values, so their methods
//! cannot be called.

use std::io;

use super::{SealDrops, Secret, SecretError};

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Key {}

pub(crate) enum Handshake {}

#[derive(Debug)]
pub(crate) enum Records {}

pub(crate) enum Seals {}

impl Key {
    pub fn new(_: &[u8]) -> Result<Self, SecretError> {
        Err(SecretError::NotBuilt)
    }
}

impl Handshake {
    pub fn new(secret: &Secret, _: &str, _: bool) -> io::Result<Self> {
        match secret.0 {}
    }

    pub fn write(&mut self) -> io::Result<Vec<u8>> {
        match *self {}
    }

    pub fn read(&mut self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn finish(self) -> io::Result<[Records; 2]> {
        match self {}
    }
}

impl Records {
    pub fn open(&mut self, _: &[u8], _: &mut Vec<u8>) -> io::Result<()> {
        match *self {}
    }

    pub fn seal(&mut self, _: &[u8]) -> io::Result<Vec<u8>> {
        match *self {}
    }
}

impl Seals {
    pub fn new(secret: &Secret, _: &[u8; 32], _: usize, _: &[u64]) -> Self {
        match secret.0 {}
    }

    pub fn renew(&mut self, _: usize, _: u64) {
        match *self {}
    }

    pub fn drops(&self) -> &SealDrops {
        match *self {}
    }

    pub fn seal<'a>(&mut self, _: usize, _: impl IntoIterator<Item = &'a [u8]>, _: usize, _: &mut Vec<u8>) {
        match *self {}
    }

    pub fn open<'a>(&mut self, _: Option<usize>, _: &'a mut [u8]) -> Option<&'a [u8]> {
        match *self {}
    }
}
