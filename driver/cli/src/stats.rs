//! `stats`: the counters of a card.

use optireduce_contract::registers::REGISTERS;
use optireduce_driver::{Counters, Nic};
use serde_json::Value;

use crate::args::CardArgs;
use crate::card::{LITTLE_BYTES, open};
use crate::outcome::{Failure, print, table};

/// Shows them.
///
/// # Errors
/// If the card cannot be opened, or is none of ours.
pub fn run(args: &CardArgs) -> Result<(), Failure> {
    let counters = Nic::open(open(args.card.as_deref(), LITTLE_BYTES)?)?.counters()?;
    print(args.json, &counters, || describe(&counters))
}

fn describe(counters: &Counters) -> String {
    let Ok(Value::Object(mut values)) = serde_json::to_value(counters) else { return String::new() };
    let mut rows = Vec::new();
    for register in REGISTERS {
        let name = register.name.to_lowercase();
        if let Some(value) = values.remove(&name) {
            rows.push([name, value.to_string(), register.unit.to_owned(), register.doc.to_owned()]);
        }
    }
    // What is no register of its own.
    rows.extend(values.into_iter().map(|(name, value)| [name, value.to_string(), String::new(), String::new()]));
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_line() {
        let counters = Counters { rx_packets: 1234, drop_late_beats: 77, dma_error: true, ..Counters::default() };
        let text = describe(&counters);
        let Ok(Value::Object(values)) = serde_json::to_value(counters) else { panic!("{text}") };
        assert_eq!(text.lines().count(), values.len());
        let line =
            |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().nth(1).unwrap();
        assert_eq!([line("rx_packets"), line("drop_late_beats"), line("dma_error")], ["1234", "77", "true"]);
    }
}
