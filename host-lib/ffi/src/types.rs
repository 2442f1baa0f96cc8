//! Types and constants of the header, under its names.
//!
//! Structs that may grow start with their size. A caller built with an older header passes a
//! smaller struct, whose missing fields count as zero, which is always the default. Enums are
//! integers in these structs, since C may store any value there.
#![allow(non_camel_case_types)]

mod partial;
mod settings;

use std::ffi::{c_char, c_int, c_void};

pub use self::partial::{
    optr_partial_member_t, optr_partial_options_t, optr_partial_report_t, optr_partial_s, optr_partial_t,
    optr_weights_t,
};
pub use self::settings::*;

/// Version of this header: 10000 * major + 100 * minor + patch.
pub const OPTR_VERSION: u32 = 100;

/// Size of an optr_unique_id_t in bytes.
pub const OPTR_UNIQUE_ID_BYTES: usize = 128;

/// In optr_config_t.drop_silent_after: never drop a rank. In optr_partial_options_t.mix_within:
/// never wait for a rank that connects groups.
pub const OPTR_NEVER: u32 = u32::MAX;

/// In optr_request_wait(): no limit. In optr_bucket_settle(): optr_config_t.timeout_s.
///
/// Every request ends: a collective of a bucket by its deadlines, others after timeout_s without
/// progress.
pub const OPTR_NO_TIMEOUT: u64 = u64::MAX;

/// In optr_recv(): from any rank.
pub const OPTR_ANY_RANK: c_int = -1;

/// In optr_comm_split(): this rank joins no new communicator.
pub const OPTR_NO_COLOR: c_int = -1;

/// Result of a call. optr_last_error() returns the text of a failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_status_t {
    /// Success.
    OPTR_SUCCESS = 0,
    /// An argument, a setting or the launcher's environment is invalid. Nothing was changed.
    OPTR_INVALID_ARGUMENT = 1,
    /// The handle is NULL, destroyed, or of another type.
    OPTR_INVALID_HANDLE = 2,
    /// Another thread is in a call of the same object, or a collective uses the memory.
    OPTR_BUSY = 3,
    /// A rank made no progress for optr_config_t.timeout_s.
    OPTR_TIMEOUT = 4,
    /// The ranks differ in settings, calls or lengths, with the same text on all ranks; or a
    /// message does not fit. The communicator stays usable unless calls of buckets differ.
    OPTR_MISMATCH = 5,
    /// Another rank is gone or absent, or gave up the call. optr_comm_async_error() reports
    /// whether the communicator is still usable.
    OPTR_PEER_FAILED = 6,
    /// The other ranks dropped this rank: call optr_comm_rejoin(). In a partial reduce, this rank's
    /// part has ended.
    OPTR_DROPPED = 7,
    /// The communicator was aborted.
    OPTR_ABORTED = 8,
    /// The communicator or partial reduce was closed or destroyed.
    OPTR_CLOSED = 9,
    /// This host or its container has too little memory. Nothing was changed.
    OPTR_NO_MEMORY = 10,
    /// The operating system refused a request, or this rank's data plane failed.
    OPTR_SYSTEM = 11,
    /// This process is a fork, which cannot use the communicators of its parent.
    OPTR_FORKED = 12,
    /// A bug in this library. Please report it with the text.
    OPTR_INTERNAL = 13,
    /// At least 3 collectives in a row lost more than 10 % each, with at least 512 packets
    /// together: stop the job. The report is written, and the output of a reduction is zeros. The
    /// communicator stays usable.
    OPTR_HALTED = 14,
    /// The job has ended, but this replica lacks repaired updates, since a bucket was not settled:
    /// see optr_bucket_settle().
    OPTR_UNSETTLED = 15,
    /// The request is not done yet and continues.
    OPTR_PENDING = 16,
    /// This job does not support the call, or this build the setting. Nothing was changed.
    OPTR_UNSUPPORTED = 17,
}

/// Reason why a stage of a collective closed.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_closed_by_t {
    /// All data had arrived.
    OPTR_COMPLETE = 0,
    /// Early close: the last-percentile marks of all peers had arrived, and a grace time of silence
    /// had passed.
    OPTR_EARLY = 1,
    /// The bound t_B had passed.
    OPTR_DEADLINE = 2,
}

/// Values of switches. Each switch lists the values that it supports.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum optr_switch_t {
    /// The documented default. In optr_bucket_options_t: the setting of the communicator.
    OPTR_DEFAULT = 0,
    OPTR_OFF = 1,
    OPTR_ON = 2,
    /// On when the job needs it.
    OPTR_AUTO = 3,
}

/// Reductions. Buckets support OPTR_AVG and OPTR_SUM.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum optr_op_t {
    /// Mean. In a bucket, of the values that arrived in time. In exact reductions, of
    /// floating-point types only.
    OPTR_AVG = 0,
    /// Sum. In a bucket, the mean times the number of live ranks: an estimate if values were lost.
    OPTR_SUM = 1,
    OPTR_PRODUCT = 2,
    OPTR_MIN = 3,
    OPTR_MAX = 4,
    /// Bitwise and, of integers only.
    OPTR_AND = 5,
    /// Bitwise or, of integers only.
    OPTR_OR = 6,
    /// Bitwise exclusive or, of integers only.
    OPTR_XOR = 7,
}

/// Element types of exact reductions. OPTR_FLOAT32 is float, OPTR_FLOAT64 is double, and the
/// integers are the types of stdint.h.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum optr_type_t {
    /// IEEE 754 half precision.
    OPTR_FLOAT16 = 0,
    /// Upper half of a float.
    OPTR_BFLOAT16 = 1,
    OPTR_FLOAT32 = 2,
    OPTR_FLOAT64 = 3,
    OPTR_INT8 = 4,
    /// Also booleans as 0 and 1, with OPTR_MIN for "all" and OPTR_MAX for "any".
    OPTR_UINT8 = 5,
    OPTR_INT16 = 6,
    OPTR_UINT16 = 7,
    OPTR_INT32 = 8,
    OPTR_UINT32 = 9,
    OPTR_INT64 = 10,
    OPTR_UINT64 = 11,
}

/// See optr_comm_t.
#[derive(Debug)]
pub struct optr_comm_s {
    _private: (),
}

/// See optr_bucket_t.
#[derive(Debug)]
pub struct optr_bucket_s {
    _private: (),
}

/// See optr_request_t.
#[derive(Debug)]
pub struct optr_request_s {
    _private: (),
}

/// Communicator: one rank of a job. Handles are numbers in a table, not addresses, so the use of a
/// destroyed handle is an error. NULL is never valid.
pub type optr_comm_t = *mut optr_comm_s;

/// Declared bucket: a stream of collectives over the same number of elements.
pub type optr_bucket_t = *mut optr_bucket_s;

/// Call in progress. The last argument of every call that waits is NULL, or the address of one.
pub type optr_request_t = *mut optr_request_s;

/// Address of rank 0 and id of the job, from optr_get_unique_id().
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_unique_id_t {
    /// Opaque.
    pub bytes: [u8; OPTR_UNIQUE_ID_BYTES],
}

/// Options of a bucket, from optr_bucket_options_init(), the same on all ranks. Zero selects the
/// default of a field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_bucket_options_t {
    /// sizeof(optr_bucket_options_t).
    pub size: usize,
    /// OPTR_AVG or OPTR_SUM. Default: OPTR_AVG.
    pub op: u32,
    /// OPTR_OFF, OPTR_ON or OPTR_AUTO. Default: the setting of the communicator.
    pub hadamard: u32,
    /// OPTR_OFF or OPTR_ON. Default: the setting of the communicator.
    pub bf16: u32,
    /// Repair of lost means, an optr_repair_t. Default: the setting of the communicator.
    pub repair: u32,
    /// Groups of a bucket on two levels, in a job on one level: "2" to "1024", "auto" or "hosts".
    /// The first bucket with the same groups connects them. Default: the setting of the
    /// communicator.
    pub groups: *const c_char,
}

/// Received message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_message_t {
    /// Length.
    pub bytes: usize,
    /// Sender.
    pub rank: c_int,
}

/// Data received from one rank in a collective. Index 0 is the contribute stage, 1 the broadcast
/// stage.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct optr_peer_report_t {
    /// Fraction of the expected bytes that arrived in time, 0 to 1; 1 for this rank itself.
    pub received_fraction: [f64; 2],
    /// Bytes expected from the rank.
    pub expected_bytes: [u64; 2],
    /// Bytes that arrived in time.
    pub received_bytes: [u64; 2],
    /// Number of the rank.
    pub rank: u32,
    /// 1 if the rank takes part, 0 if it was dropped.
    pub is_live: u32,
    /// 1 if less than half of its contribution arrived in time.
    pub is_late: u32,
    /// Always 0.
    pub reserved: u32,
}

/// One stage of a collective, over all its windows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_stage_report_t {
    /// Bytes expected from peers; 0 if the collective does not have the stage.
    pub expected_bytes: u64,
    /// Bytes that arrived in time.
    pub received_bytes: u64,
    /// received_bytes / expected_bytes; 1 if nothing was expected.
    pub received_fraction: f64,
    /// Longest duration of the stage in one window.
    pub time_ns: u64,
    /// An optr_closed_by_t: the reason why the stage closed, the worst of its windows.
    pub closed_by: u32,
    /// Always 0.
    pub reserved: u32,
}

/// Bytes of means of a bucket since the start of the job: missing = repaired + outstanding + drift.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_repairs_t {
    /// Bytes missing when the broadcast stage closed.
    pub missing_bytes: u64,
    /// Missing bytes fetched since.
    pub repaired_bytes: u64,
    /// Missing bytes still requested.
    pub outstanding_bytes: u64,
    /// Missing bytes given up: a permanent replica divergence.
    pub drift_bytes: u64,
}

/// Kind of a collective.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_kind_t {
    /// All ranks receive the mean or sum.
    OPTR_ALL_REDUCE = 0,
    /// Each rank receives its shard of the mean or sum.
    OPTR_REDUCE_SCATTER = 1,
    /// All ranks receive the shards of all ranks.
    OPTR_ALL_GATHER = 2,
}

/// Outcome of a collective on this rank, from optr_report_init(). It can be reused.
///
/// The caller sets the fields up to peer_capacity, and the library sets the others. Bytes count
/// values as fp32, also if they travelled as bf16.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_report_t {
    /// sizeof(optr_report_t).
    pub size: usize,
    /// sizeof(optr_peer_report_t).
    pub peer_size: usize,
    /// NULL, or room for peer_capacity ranks, which are filled in by rank.
    pub peers: *mut optr_peer_report_t,
    /// Length of peers. If it is less than peer_count, only the first ranks are filled in.
    pub peer_capacity: u32,
    /// Number of ranks in the job.
    pub peer_count: u32,
    /// An optr_kind_t.
    pub kind: u32,
    /// Number of the collective, the same on all ranks.
    pub number: u32,
    /// Id of the bucket, the same on all ranks.
    pub bucket: u32,
    /// 1 if the output contains the update; always 1 for an all-gather. 0 if more than 10 % of the
    /// expected bytes were lost: the output of a reduction is then zeros.
    pub is_applied: u32,
    /// 1 if all ranks that take part agreed on is_applied.
    pub is_agreed: u32,
    /// Number of ranks that took part.
    pub ranks: u32,
    /// Number of late ranks; see optr_peer_report_t.is_late.
    pub late_ranks: u32,
    /// 1 if this rank was late: in some window, its gradient is not in the mean of its shard.
    pub is_late: u32,
    /// Rank that rejoins with this collective and needs the model, the same on all ranks; -1 if
    /// none.
    pub joined_rank: i32,
    /// 1 if the values travelled Hadamard-encoded.
    pub is_hadamard: u32,
    /// 1 if the result includes repairs of earlier results of the bucket.
    pub is_corrected: u32,
    /// 1 while the ranks measure the bound, with the longest one until then.
    pub is_bound_measured: u32,
    /// 1 if this collective is the first with a new bound.
    pub bound_changed: u32,
    /// Always 0.
    pub reserved: u32,
    /// Number of elements in the bucket.
    pub elements: u64,
    /// Bytes expected from peers.
    pub expected_bytes: u64,
    /// Bytes that did not arrive in time.
    pub lost_bytes: u64,
    /// Number of elements missing in the result. Repairs add them to a later all-reduce of the
    /// bucket.
    pub missing_elements: u64,
    /// Number of infinities and NaNs in the result.
    pub not_finite: u64,
    /// Bytes copied between the caller, the engine and a card in an all-reduce of a bucket, see
    /// optr_alloc().
    pub copied_bytes: u64,
    /// Packets that a rank with the largest shards expects; the same number on all ranks.
    pub packets: u64,
    /// Repairs of the bucket.
    pub repairs: optr_repairs_t,
    /// Bytes of means with outstanding repairs, in all buckets, by which this replica differs from
    /// others.
    pub outstanding_bytes: u64,
    /// Bytes of means whose repair was given up, in all buckets: a permanent replica divergence.
    pub drift_bytes: u64,
    /// Bound t_B of each stage of each window.
    pub bound_ns: u64,
    /// The contribute stage, then the broadcast stage.
    pub stages: [optr_stage_report_t; 2],
}

/// Function that is called once when a request is done, on a thread of the library.
///
/// status is the result of the call, whose outputs and report are written before. error is its
/// text, or "" on success, and valid during the call of the function.
///
/// It may make any call of this library, and wait for other requests. It must not wait for another
/// function of its communicator, which is called after it has returned. It must not end its thread,
/// leave by longjmp(), or throw.
pub type optr_callback_t =
    Option<unsafe extern "C" fn(status: optr_status_t, error: *const c_char, context: *mut c_void)>;
