//! Ports of a block as rows of 32-bit words, the interface to a Verilated model.
//!
//! Inputs and outputs have separate rows, without the clock. Ports follow in order of declaration,
//! each on a word boundary, low word first.

use crate::hdl::signal::Signal;
use crate::hdl::word::{Beat, W};
use rust_hdl_core::prelude::*;

pub use optireduce_hw_derive::Ports;

/// Row of words and its direction. Each port consumes its words from the front.
pub enum Rows<'a> {
    /// Inputs update to their next value and write it to the row.
    Inputs(&'a mut [u32]),
    /// Outputs read their value from the row.
    Outputs(&'a [u32]),
}

/// Block or port whose values can be exchanged from outside rust-hdl; see `#[derive(Ports)]`.
pub trait Ports {
    /// Passes `rows` to every port in order of declaration.
    ///
    /// # Panics
    /// If a row is shorter than its ports.
    fn exchange(&mut self, rows: &mut Rows);
}

pub trait Words: Synth {
    const WORDS: usize;
    fn write(self, words: &mut [u32]);
    /// Bits of `words` above the value's width must be zero.
    fn read(words: &[u32]) -> Self;
}

impl<T: Words> Ports for Signal<In, T> {
    #[inline]
    fn exchange(&mut self, rows: &mut Rows) {
        if let Rows::Inputs(row) = rows {
            let (words, rest) = std::mem::take(row).split_at_mut(T::WORDS);
            self.update_all();
            self.val().write(words);
            *row = rest;
        }
    }
}

impl<T: Words> Ports for Signal<Out, T> {
    #[inline]
    fn exchange(&mut self, rows: &mut Rows) {
        if let Rows::Outputs(row) = rows {
            let (words, rest) = row.split_at(T::WORDS);
            self.next = T::read(words);
            self.update_all();
            *row = rest;
        }
    }
}

impl<P: Ports, const N: usize> Ports for [P; N] {
    #[inline]
    fn exchange(&mut self, rows: &mut Rows) {
        self.iter_mut().for_each(|port| port.exchange(rows));
    }
}

impl Words for Clock {
    const WORDS: usize = 0;
    fn write(self, _: &mut [u32]) {}
    fn read(_: &[u32]) -> Self {
        Clock::default()
    }
}

impl Words for bool {
    const WORDS: usize = 1;
    #[inline]
    fn write(self, words: &mut [u32]) {
        words[0] = self.into();
    }
    #[inline]
    fn read(words: &[u32]) -> Self {
        words[0] != 0
    }
}

impl<const N: usize> Words for W<N> {
    const WORDS: usize = N.div_ceil(32);
    #[inline]
    fn write(self, words: &mut [u32]) {
        for (i, word) in words.iter_mut().enumerate() {
            *word = (self.raw() >> (32 * i)) as u32;
        }
    }
    #[inline]
    fn read(words: &[u32]) -> Self {
        crate::hdl::word::bits_w(words.iter().rev().fold(0, |value, &word| value << 32 | u64::from(word)))
    }
}

impl Words for Beat {
    const WORDS: usize = 16;
    #[inline]
    fn write(self, words: &mut [u32]) {
        words.copy_from_slice(&self.0);
    }
    #[inline]
    fn read(words: &[u32]) -> Self {
        Beat(std::array::from_fn(|lane| words[lane]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdl::word::bits_w;

    #[test]
    fn values_take_their_words_low_word_first_and_come_back() {
        fn check<T: Words + PartialEq + std::fmt::Debug>(value: T, words: &[u32]) {
            let mut found = vec![0xa5a5_a5a5; T::WORDS];
            value.write(&mut found);
            assert_eq!(found, words);
            assert_eq!(T::read(words), value);
        }
        check(true, &[1]);
        check(bits_w::<8>(0xfe), &[0xfe]);
        check(bits_w::<48>(0x1234_89ab_cdef), &[0x89ab_cdef, 0x1234]);
        check(bits_w::<64>(u64::MAX - 1), &[0xffff_fffe, 0xffff_ffff]);
        let lanes = std::array::from_fn(|lane| lane as u32 * 0x0101_0101);
        check(Beat(lanes), &lanes);
        check(Clock::default(), &[]);
    }
}
