//! Which card stands behind the bus: the one place that chooses.

use optireduce_driver::CardEnd;

use crate::card::Card;
use crate::card::functional::FunctionalCard;
use crate::card::rtl::RtlCard;
use crate::card::software_card::SoftwareCard;
use crate::error::SimError;

/// A kind of simulated card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The hardware description, cycle by cycle.
    #[default]
    Rtl,
    /// Its Verilog, cycle by cycle, compiled by Verilator (must be installed): bit for bit the same, and faster; the first run
    /// takes half a minute to build the model.
    Verilator,
    /// The same behaviour, packet by packet: many times faster, with approximate timing.
    Functional,
    /// No card: the host library's software data plane in a card's place, for the rules that hold for both.
    #[value(skip)]
    Software,
}

impl Engine {
    /// A card at power-on, behind the card's end of a bus.
    ///
    /// # Errors
    /// If Verilator is wanted and missing.
    pub fn build(self, end: CardEnd) -> Result<Box<dyn Card>, SimError> {
        match self {
            Self::Functional => Ok(Box::new(FunctionalCard::new(end))),
            Self::Software => Ok(Box::new(SoftwareCard::new(end))),
            Self::Rtl => Ok(Box::new(RtlCard::new(end))),
            Self::Verilator => match RtlCard::verilated(end) {
                Ok(card) => Ok(Box::new(card)),
                Err(problem) => Err(SimError::Engine { engine: self.to_string(), problem }),
            },
        }
    }

    /// Whether a card of this kind takes long enough to run that cards are worth a thread each.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Rtl | Self::Verilator)
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rtl => "rtl",
            Self::Verilator => "verilator",
            Self::Functional => "functional",
            Self::Software => "software",
        })
    }
}
