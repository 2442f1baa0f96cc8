//! Which card stands behind the bus: the one place that chooses.

use optireduce_driver::CardEnd;

use crate::card::Card;
use crate::error::SimError;
use crate::functional::FunctionalCard;
use crate::rtl::RtlCard;

/// A kind of simulated card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The hardware description, clock cycle by clock cycle.
    #[default]
    Rtl,
    /// As [`Rtl`](Engine::Rtl), and the cards record their ports for a replay on Verilator; for tests.
    #[value(skip)]
    RtlRecorded,
    /// The same behaviour packet by packet: many times faster, timing approximate.
    Functional,
}

impl Engine {
    /// A card at power-on, behind the card's end of a bus.
    ///
    /// # Errors
    /// If this build has no such card.
    pub fn build(self, end: CardEnd) -> Result<Box<dyn Card>, SimError> {
        match self {
            Self::Functional => Ok(Box::new(FunctionalCard::new(end))),
            Self::Rtl => Ok(Box::new(RtlCard::new(end))),
            Self::RtlRecorded => Ok(Box::new(RtlCard::recording(end))),
        }
    }

    /// Whether a card of this kind takes long enough to run that cards are worth a thread each.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Rtl | Self::RtlRecorded)
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rtl | Self::RtlRecorded => "rtl",
            Self::Functional => "functional",
        })
    }
}
