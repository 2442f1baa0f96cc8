//! The simulation engines of a card.

use optireduce_driver::CardEnd;

use crate::card::Card;
use crate::card::functional::FunctionalCard;
use crate::card::rtl::RtlCard;
use crate::card::software_card::SoftwareCard;
use crate::error::SimError;

/// Simulation engine of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The hardware description, cycle by cycle.
    #[default]
    Rtl,
    /// The Verilog of the hardware in Verilator, which must be installed; bit-identical to rtl and
    /// faster, after a first build of half a minute.
    Verilator,
    /// The same behaviour packet by packet: many times faster, with approximate timing.
    Functional,
    /// The host library's software data plane, to check the rules common to both.
    #[value(skip)]
    Software,
}

impl Engine {
    /// Builds a card at power-on, at its end of a bus.
    ///
    /// # Errors
    /// If Verilator is selected and unavailable.
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

    /// Returns whether a thread per card pays off.
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
