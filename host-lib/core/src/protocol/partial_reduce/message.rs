//! Messages about groups on the control channel, and their limits.

use thiserror::Error;

/// Maximum number of elements in an answer: 64 KiB.
pub const ANSWER_ELEMENTS_MAX: usize = 16_384;
/// Maximum number of ranges in a question.
pub const RANGES_MAX: usize = 1024;

/// Message about groups. `view` is the sender's membership view, `op` the group's collective. Group
/// numbers grow for each worker.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields described above
pub enum PartialMessage {
    /// To the controller: the sender waits for a group. `number` is the minimum.
    Ready { view: u32, iteration: u64, number: u32 },
    /// From the controller to waiting workers.
    Alive { view: u32 },
    /// From the controller to the members of a group.
    Group { group: GroupPlan },
    /// The sender needs no further group, but still answers questions.
    Leave {},
    /// Between members: elements missing from the receiver's contribution or part of the means.
    Ask {
        op: u32,
        /// At most [`RANGES_MAX`], of at most [`ANSWER_ELEMENTS_MAX`] elements each.
        ranges: Vec<ElementRange>,
    },
    /// The answer to one range.
    Answer { op: u32, first: u64, values: Vec<f32> },
    /// The sender does not have the requested elements.
    Gone { op: u32 },
    /// The sender has the model of group `number`, and no more questions.
    Done { number: u32 },
}

/// A group, as announced to its members; see [`Group`](super::Group).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // described there
pub struct GroupPlan {
    /// At most [`NUMBER_MAX`](Self::NUMBER_MAX).
    pub number: u32,
    pub iteration: u64,
    pub is_full: bool,
    pub members: Vec<GroupMember>,
}

/// A member of a group; see [`Member`](super::Member).
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // described there
pub struct GroupMember {
    pub rank: u16,
    pub iteration: u64,
    pub weight: f64,
}

/// A range of elements on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct ElementRange {
    pub first: u64,
    pub count: u32,
}

/// A message that breaks a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("partial-reduce message: {what} is {found}, expected {expected}")]
#[allow(missing_docs)] // described above
pub struct BadPartialMessage {
    pub what: &'static str,
    pub found: u64,
    pub expected: &'static str,
}

impl PartialMessage {
    /// Checks the limits.
    ///
    /// # Errors
    /// [`BadPartialMessage`] names the broken limit.
    pub fn check(&self, ranks: usize) -> Result<(), BadPartialMessage> {
        let bad = |what, found: u64, expected| Err(BadPartialMessage { what, found, expected });
        match self {
            Self::Ask { ranges, .. } => {
                if !(1..=RANGES_MAX).contains(&ranges.len()) {
                    return bad("the number of ranges", ranges.len() as u64, "1 to 1024");
                }
                let most = ANSWER_ELEMENTS_MAX as u32;
                match ranges.iter().find(|range| !(1..=most).contains(&range.count)) {
                    Some(range) => bad("the length of a range", range.count.into(), "1 to 16384 elements"),
                    None => Ok(()),
                }
            }
            Self::Answer { values, .. } if !(1..=ANSWER_ELEMENTS_MAX).contains(&values.len()) => {
                bad("the length of an answer", values.len() as u64, "1 to 16384 elements")
            }
            Self::Group { group: GroupPlan { members, number, .. } } => {
                if *number > GroupPlan::NUMBER_MAX {
                    return bad("the number of a group", (*number).into(), "at most 2^31 - 2");
                }
                let in_order = members.is_sorted_by(|one, next| one.rank < next.rank);
                if !in_order || members.is_empty() || members.len() > ranks {
                    return bad("the number of members", members.len() as u64, "1 to all ranks, each once, in order");
                }
                if let Some(last) = members.last().filter(|last| usize::from(last.rank) >= ranks) {
                    return bad("the last member", last.rank.into(), "a rank of the job");
                }
                let sum: f64 = members.iter().map(|member| member.weight).sum();
                let is_weight = |weight: f64| (0.0..=1.0).contains(&weight);
                let are_weights = members.iter().all(|member| is_weight(member.weight)) && (sum - 1.0).abs() < 1e-6;
                let millionths = (sum * 1e6) as u64;
                if are_weights {
                    Ok(())
                } else {
                    bad("the sum of the weights in millionths", millionths, "1000000, of weights from 0 to 1")
                }
            }
            _ => Ok(()),
        }
    }
}

impl GroupPlan {
    /// Largest number. A group has two collectives, whose numbers must fit 32 bits.
    pub const NUMBER_MAX: u32 = (1 << 31) - 2;

    /// Ranks of the members.
    pub fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|member| member.rank.into())
    }
}
