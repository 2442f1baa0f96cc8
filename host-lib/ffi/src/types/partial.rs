//! What the header declares for Partial Reduce.
#![allow(non_camel_case_types)]

/// How much the models of a group count.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_weights_t {
    /// A model counts less for each iteration that it is behind the newest of its group.
    OPTR_WEIGHTS_DYNAMIC = 0,
    /// All the same.
    OPTR_WEIGHTS_CONSTANT = 1,
}

/// What is behind an optr_partial_t; never to be looked at.
#[derive(Debug)]
pub struct optr_partial_s {
    _private: (),
}

/// Averages of models among groups of the ranks that are ready first. NULL is none.
pub type optr_partial_t = *mut optr_partial_s;

/// How groups are formed and what they do; zero is the default of each. Begin with optr_partial_options_init(). The same on
/// all ranks, which is checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_partial_options_t {
    /// sizeof(optr_partial_options_t).
    pub size: usize,
    /// How long a member waits for an answer to what it lacks, before it goes on without. Default 1 s.
    pub repair_timeout_us: u64,
    /// How long those that are ready wait at most for one that is not; then they go on without, a last one alone. Default 10 s; longer
    /// than the slowest rank's step.
    pub patience_us: u64,
    /// The deadline of each of the two stages of a group; what comes later is fetched. Default: the communicator's.
    pub bound_us: u64,
    /// With OPTR_WEIGHTS_DYNAMIC: how much a model counts that is an iteration older, above 0 and below 1. Default 0.5.
    pub decay: f64,
    /// Ranks of a group, 2 to all. Default 2.
    pub group_size: u32,
    /// An optr_weights_t. Default OPTR_WEIGHTS_DYNAMIC.
    pub weights: u32,
    /// All ranks must have met, if only by way of others, within this many times as many groups as there are ranks; then groups wait for
    /// ranks that bridge. OPTR_NEVER: ranks that are ready at the same times may stay among themselves. Default 2.
    pub sync_bound: u32,
    /// Whether what the packets of a group lost is fetched before its mean is used: OPTR_OFF, OPTR_ON. Default OPTR_ON.
    pub repair: u32,
}

/// A rank of a group.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct optr_partial_member_t {
    /// How much its model counted; those of a group have a sum of 1.
    pub weight: f64,
    /// Its number.
    pub rank: u32,
    /// 1: something of its model does not count in this rank's part of the mean: it has died, or did not answer.
    pub is_uncounted: u32,
}

/// How an average of a group went, as this rank saw it. Begin with optr_partial_report_init(); it can be used again for the next one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_partial_report_t {
    /// Given: sizeof(optr_partial_report_t).
    pub size: usize,
    /// Given: sizeof(optr_partial_member_t).
    pub member_size: usize,
    /// Given: NULL, or room for member_capacity of them. Filled in the order of ranks.
    pub members: *mut optr_partial_member_t,
    /// Given: how many there is room for. If the group has more, the first ones are filled in.
    pub member_capacity: u32,
    /// Ranks of the group. 1: no other was left, or became ready within the patience.
    pub member_count: u32,
    /// Number of the group, the same on its members; greater than that of this rank's group before.
    pub number: u32,
    /// 1: it has as many members as a group takes, or as there are.
    pub is_full: u32,
    /// The newest of the members' iterations, which all of them carry from now on.
    pub iteration: u64,
    /// How long this rank waited for its group.
    pub waited_us: u64,
    /// How long the average took after that.
    pub took_us: u64,
    /// Bytes of other members that did not come in time.
    pub lost_bytes: u64,
    /// Of these, bytes that were fetched before the mean was used.
    pub repaired_bytes: u64,
    /// Bytes of models that do not count in this rank's part of the mean; members says whose.
    pub uncounted_bytes: u64,
    /// Elements of which no mean came: there the model is as this rank gave it.
    pub missing_elements: u64,
}
