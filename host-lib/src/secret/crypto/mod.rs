//! Cryptography of a secret, by the crates `snow` and `ring`.

mod key;
mod packets;
mod records;

pub(crate) use key::Key;
pub(crate) use packets::Seals;
pub(crate) use records::{Handshake, Records};
