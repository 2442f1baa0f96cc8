//! What workers tell one another of groups, on the control channel, and its limits.

use thiserror::Error;

/// Most elements of an answer: 64 KiB.
pub const ANSWER_ELEMENTS_MAX: usize = 16_384;
/// Most ranges of a question.
pub const RANGES_MAX: usize = 1024;

/// A message about groups. Numbers of groups count from 0, and grow for each worker.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialMessage {
    /// To the controller: the sender has a model of this iteration and waits for a group.
    Ready {
        /// Of the membership, as the sender knows it.
        view: u32,
        /// Of its model.
        iteration: u64,
        /// The least number that its group may have.
        number: u32,
    },
    /// From the controller, to a worker that waits: it is there.
    Alive {
        /// Of the membership, as the sender knows it.
        view: u32,
    },
    /// From the controller, to each member: they are a group.
    Group {
        /// The group.
        group: GroupPlan,
    },
    /// The sender takes part in no group any more. It still answers.
    Leave {},
    /// To a member of a group, which the sender is, too: what did not come of its contribution, or of its part of the means.
    Ask {
        /// Number of the group's collective.
        op: u32,
        /// Elements on the wire. At most [`RANGES_MAX`] ranges, of at most [`ANSWER_ELEMENTS_MAX`] elements each.
        ranges: Vec<ElementRange>,
    },
    /// The answer to one range.
    Answer {
        /// As in the question.
        op: u32,
        /// First element.
        first: u64,
        /// At most [`ANSWER_ELEMENTS_MAX`].
        values: Vec<f32>,
    },
    /// The sender does not have what it was asked for, or not any more.
    Gone {
        /// As in the question.
        op: u32,
    },
    /// The sender has the group's model, and will ask for nothing more of it.
    Done {
        /// Of the group.
        number: u32,
    },
}

/// A group, as its members are told.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    /// Of the group.
    pub number: u32,
    /// The iteration that all members carry afterwards.
    pub iteration: u64,
    /// Whether it has as many members as a group takes, or as there are.
    pub is_full: bool,
    /// In ascending order of ranks.
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupMember {
    /// Its rank.
    pub rank: u16,
    /// Of its model.
    pub iteration: u64,
    /// How much its model counts; those of a group have a sum of 1.
    pub weight: f64,
}

/// Elements on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRange {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u32,
}

/// A message that breaks a limit, or cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("partial-reduce message: {what} is {found}, expected {expected}")]
pub struct BadPartialMessage {
    /// What is wrong.
    pub what: &'static str,
    /// What there is.
    pub found: u64,
    /// What may be.
    pub expected: &'static str,
}

impl PartialMessage {
    /// Checks the limits, in a job of `ranks`.
    ///
    /// # Errors
    /// [`BadPartialMessage`] names what is wrong.
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
    /// A group has two collectives, and their numbers have 32 bits.
    pub const NUMBER_MAX: u32 = (1 << 31) - 2;

    /// Ranks of the members.
    pub fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|member| member.rank.into())
    }
}
