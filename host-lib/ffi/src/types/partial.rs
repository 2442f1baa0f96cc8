//! Types of the header for Partial Reduce.
#![allow(non_camel_case_types)]

/// Weights of the models in a group.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_weights_t {
    /// A model weighs less for each iteration behind the newest of its group.
    OPTR_WEIGHTS_DYNAMIC = 0,
    /// Equal weights.
    OPTR_WEIGHTS_CONSTANT = 1,
}

/// See optr_partial_t.
#[derive(Debug)]
pub struct optr_partial_s {
    _private: (),
}

/// Partial reduce: averages of models among groups of the ranks that are ready first.
pub type optr_partial_t = *mut optr_partial_s;

/// Options of a partial reduce, from optr_partial_options_init(), the same on all ranks. Zero
/// selects the default of a field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_partial_options_t {
    /// sizeof(optr_partial_options_t).
    pub size: usize,
    /// Longest wait for each answer to a repair request. Default: 1 s.
    pub repair_timeout_s: f64,
    /// Longest wait of ready ranks for another one; then they proceed, even alone. It should exceed
    /// the slowest rank's step. Default: 10 s.
    pub patience_s: f64,
    /// Deadline of each of the two stages of each window. Later data is repaired. Default: the
    /// communicator's.
    pub bound_ms: f64,
    /// With OPTR_WEIGHTS_DYNAMIC: weight relative to a model one iteration newer, above 0 and below
    /// 1. Default: 0.5.
    pub decay: f64,
    /// Number of ranks in a group, 2 to all. Default: 2.
    pub group_size: u32,
    /// An optr_weights_t. Default: OPTR_WEIGHTS_DYNAMIC.
    pub weights: u32,
    /// Number s of rounds of groups that mix all models: any s * world_size successive groups
    /// connect all ranks, directly or through others. Groups wait for ranks that connect them.
    /// Default: 2.
    ///
    /// With OPTR_NEVER, ranks that are always ready together may stay among themselves.
    pub mix_within: u32,
    /// Repair of lost packets before the mean is used: OPTR_OFF or OPTR_ON. Default: OPTR_ON.
    pub repair: u32,
}

/// Member of a group.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct optr_partial_member_t {
    /// Weight of its model. The weights of a group have the sum 1.
    pub weight: f64,
    /// Number of the rank.
    pub rank: u32,
    /// 1 if its model is incomplete in this rank's part of the mean, because it ended or did not
    /// answer.
    pub is_uncounted: u32,
}

/// Outcome of an average on this rank, from optr_partial_report_init(). It can be reused.
///
/// The caller sets the fields up to member_capacity, and the library sets the others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_partial_report_t {
    /// sizeof(optr_partial_report_t).
    pub size: usize,
    /// sizeof(optr_partial_member_t).
    pub member_size: usize,
    /// NULL, or room for member_capacity members, which are filled in by rank.
    pub members: *mut optr_partial_member_t,
    /// Length of members. If it is less than member_count, only the first ones are filled in.
    pub member_capacity: u32,
    /// Number of ranks in the group; 1 if no other rank was left, or ready within the patience.
    pub member_count: u32,
    /// Number of the group, the same on its members. It increases from group to group of a rank.
    pub number: u32,
    /// 1 if the group has the full size, or all remaining ranks.
    pub is_full: u32,
    /// Newest iteration of the members, with which all of them continue.
    pub iteration: u64,
    /// Time that this rank waited for its group.
    pub waited_us: u64,
    /// Duration of the average after that wait.
    pub took_us: u64,
    /// Bytes of other members that did not arrive in time.
    pub lost_bytes: u64,
    /// Part of lost_bytes that was repaired before the mean was used.
    pub repaired_bytes: u64,
    /// Bytes of models that are missing in this rank's part of the mean. Their members have
    /// is_uncounted 1.
    pub uncounted_bytes: u64,
    /// Number of elements without a mean. They keep this rank's values.
    pub missing_elements: u64,
}
