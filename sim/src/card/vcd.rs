//! Waveforms: the signals of all cards in one VCD file, for GTKWave or Surfer.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use vcd::{IdCode, TimescaleUnit, Value, VarType};

use crate::card::{SignalChange, SignalDef};

/// Writer of a VCD file.
pub struct VcdTrace<W: Write> {
    writer: vcd::Writer<Shared<W>>,
    file: Shared<W>,
    /// Indexed by rank, then signal.
    signals: Vec<Vec<(IdCode, u32)>>,
    now_ns: Option<u64>,
}

impl<W: Write> VcdTrace<W> {
    /// Writes the header: a module per rank with its card's signals. Dots in a signal's name open
    /// scopes.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn new(to: W, cards: &[Vec<SignalDef>]) -> std::io::Result<Self> {
        let file = Shared(Rc::new(RefCell::new(to)));
        let mut writer = vcd::Writer::new(file.clone());
        writer.timescale(1, TimescaleUnit::NS)?;
        let mut signals = Vec::new();
        for (rank, defs) in cards.iter().enumerate() {
            writer.add_module(&format!("rank{rank}"))?;
            let (mut ids, mut open) = (Vec::new(), Vec::new());
            for def in defs {
                let mut path: Vec<&str> = def.name.split('.').collect();
                let leaf = path.pop().unwrap_or_default();
                let shared = open.iter().zip(&path).take_while(|(open, scope)| open == scope).count();
                for _ in open.drain(shared..) {
                    writer.upscope()?;
                }
                for scope in &path[shared..] {
                    writer.add_module(scope)?;
                }
                open = path;
                ids.push((writer.add_var(VarType::Wire, def.bits, leaf, None)?, def.bits));
            }
            for _ in 0..=open.len() {
                writer.upscope()?;
            }
            signals.push(ids);
        }
        writer.enddefinitions()?;
        Ok(Self { writer, file, signals, now_ns: None })
    }

    /// Writes the changes of all cards since the last call, indexed by rank. Calls must be in order
    /// of time.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, changes: Vec<Vec<SignalChange>>) -> std::io::Result<()> {
        let of_rank = |(rank, list): (usize, Vec<SignalChange>)| list.into_iter().map(move |change| (rank, change));
        let mut all: Vec<_> = changes.into_iter().enumerate().flat_map(of_rank).collect();
        if all.is_empty() {
            return Ok(());
        }
        all.sort_by_key(|(_, change)| change.at_ns);
        for (rank, change) in all {
            let Some(&(id, bits)) = self.signals.get(rank).and_then(|ids| ids.get(change.signal as usize)) else {
                continue;
            };
            let at_ns = change.at_ns.max(self.now_ns.unwrap_or(0));
            if self.now_ns != Some(at_ns) {
                self.writer.timestamp(at_ns)?;
                self.now_ns = Some(at_ns);
            }
            let bit = |place: u32| Value::from(change.value >> place & 1 == 1);
            if bits == 1 {
                self.writer.change_scalar(id, bit(0))?;
            } else {
                self.writer.change_vector(id, &(0..bits).rev().map(bit).collect::<Vec<_>>())?;
            }
        }
        self.file.flush()
    }
}

/// Shared with the writer of the format, which does not forward flushes.
struct Shared<W>(Rc<RefCell<W>>);

impl<W> Clone for Shared<W> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<W: Write> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_two_cards_are_merged_in_order_of_time() {
        let def = |name: &str, bits| SignalDef { name: name.to_owned(), bits };
        let cards = [vec![def("slot0.state", 3), def("busy", 1)], vec![def("busy", 1)]];
        let mut file = Vec::new();
        let mut trace = VcdTrace::new(&mut file, &cards).unwrap();
        let change = |at_ns, signal, value| SignalChange { at_ns, signal, value };
        trace.write(vec![vec![change(5, 1, 1), change(9, 0, 6)], vec![change(7, 0, 1)]]).unwrap();
        trace.write(vec![vec![change(9, 1, 0)], vec![]]).unwrap();
        drop(trace);
        let text = String::from_utf8(file).unwrap();
        let (_, body) = text.split_once("$enddefinitions $end\n").unwrap();
        assert_eq!(body, "#5\n1\"\n#7\n1#\n#9\nb110 !\n0\"\n");
        assert!(text.contains("$scope module rank1 $end"), "{text}");
    }
}
