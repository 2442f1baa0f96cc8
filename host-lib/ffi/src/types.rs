//! What the header declares beside functions, under the header's names.
//!
//! Structs that may grow begin with their size: a caller that was built with an older header gives a smaller one, and what it
//! lacks is zero. Enums are numbers in these structs, since C may put anything there; zero is always the default.
#![allow(non_camel_case_types)]

mod partial;

use std::ffi::{c_char, c_int, c_void};

pub use self::partial::{
    optr_partial_member_t, optr_partial_options_t, optr_partial_report_t, optr_partial_s, optr_partial_t,
    optr_weights_t,
};

/// Version of this header: 10000 * major + 100 * minor + patch. optr_version() says which library is there.
pub const OPTR_VERSION: u32 = 100;

/// Bytes of an optr_unique_id_t.
pub const OPTR_UNIQUE_ID_BYTES: usize = 128;

/// optr_config_t.drop_silent_after: no rank is ever dropped. optr_partial_options_t.sync_bound: no group waits for a bridge.
pub const OPTR_NEVER: u32 = u32::MAX;

/// optr_request_wait(): as long as it takes. Collectives of buckets are bounded by their deadlines, all else by the timeout
/// of the config.
pub const OPTR_NO_TIMEOUT: u64 = u64::MAX;

/// optr_recv(): from any rank.
pub const OPTR_ANY_RANK: c_int = -1;

/// optr_comm_split(): this rank is in none of the new communicators.
pub const OPTR_NO_COLOR: c_int = -1;

/// What a call has come to. optr_last_error() has the text.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_status_t {
    /// Done.
    OPTR_SUCCESS = 0,
    /// An argument, a setting or the launcher's environment is not valid; nothing was changed.
    OPTR_INVALID_ARGUMENT = 1,
    /// No such communicator, bucket, partial reduce or request: NULL, destroyed before, or another kind of handle.
    OPTR_INVALID_HANDLE = 2,
    /// Another thread is in a call of the same object; nothing was done.
    OPTR_BUSY = 3,
    /// The request was not done in time; it goes on, and can be waited for again.
    OPTR_TIMEOUT = 4,
    /// The ranks differ: in settings, in what they call, or with which lengths. All ranks get the same text. The communicator
    /// can go on if settings of optr_bucket_create() or of a call of the communicator differ; if calls of buckets do, it
    /// cannot.
    OPTR_MISMATCH = 5,
    /// Another rank is gone, silent, did not come, or gave up the call. optr_comm_async_error() says whether the communicator
    /// is of use.
    OPTR_PEER_FAILED = 6,
    /// The others go on without this rank: call optr_comm_rejoin(). Of a partial reduce: it is over for this rank.
    OPTR_DROPPED = 7,
    /// The communicator was aborted: destroy it.
    OPTR_ABORTED = 8,
    /// The communicator was finalized or destroyed, before the call or during it.
    OPTR_CLOSED = 9,
    /// Too little memory on this host, or in its container; nothing was changed.
    OPTR_NO_MEMORY = 10,
    /// The operating system refused something, or this rank's data plane failed.
    OPTR_SYSTEM = 11,
    /// This process is a fork of the one that made its communicators, which it cannot use.
    OPTR_FORKED = 12,
    /// A bug in this library; please report it with the text.
    OPTR_INTERNAL = 13,
}

/// What to do with the update of a collective.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_action_t {
    /// Use it.
    OPTR_APPLY = 0,
    /// Too much was lost: the output is as it was (but see optr_alloc()). Go on without this update.
    OPTR_SKIP = 1,
    /// Too much was lost in three collectives in a row: stop the job.
    OPTR_HALT = 2,
}

/// Why a stage of a collective ended.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_closed_by_t {
    /// Everything had come.
    OPTR_COMPLETE = 0,
    /// The last packets of all peers had come, and silence had followed.
    OPTR_EARLY = 1,
    /// The stage deadline (t_B) was over.
    OPTR_DEADLINE = 2,
}

/// Values of switches in optr_config_t and optr_bucket_options_t. Each says which it takes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_switch_t {
    /// As documented; in options of a bucket: as the communicator is set.
    OPTR_DEFAULT = 0,
    /// Off.
    OPTR_OFF = 1,
    /// On.
    OPTR_ON = 2,
    /// As the job needs it.
    OPTR_AUTO = 3,
}

/// What a reduction does with the values of all ranks. Buckets take OPTR_AVG and OPTR_SUM.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_op_t {
    /// The mean; of a bucket, of what came in time. Exact ones: floating-point types only.
    OPTR_AVG = 0,
    /// The sum; of a bucket the mean times the ranks that take part: the sum, if everything came, else an estimate of it.
    OPTR_SUM = 1,
    /// The product.
    OPTR_PRODUCT = 2,
    /// The least.
    OPTR_MIN = 3,
    /// The greatest.
    OPTR_MAX = 4,
    /// The bits that all have; integers only.
    OPTR_AND = 5,
    /// The bits that any has; integers only.
    OPTR_OR = 6,
    /// The bits that an odd number has; integers only.
    OPTR_XOR = 7,
}

/// Types of values of exact reductions.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum optr_type_t {
    /// IEEE 754 half precision.
    OPTR_FLOAT16 = 0,
    /// The upper half of a float.
    OPTR_BFLOAT16 = 1,
    /// float.
    OPTR_FLOAT32 = 2,
    /// double.
    OPTR_FLOAT64 = 3,
    /// int8_t.
    OPTR_INT8 = 4,
    /// uint8_t; truth values as 0 and 1, with OPTR_MIN for "all" and OPTR_MAX for "any".
    OPTR_UINT8 = 5,
    /// int16_t.
    OPTR_INT16 = 6,
    /// uint16_t.
    OPTR_UINT16 = 7,
    /// int32_t.
    OPTR_INT32 = 8,
    /// uint32_t.
    OPTR_UINT32 = 9,
    /// int64_t.
    OPTR_INT64 = 10,
    /// uint64_t.
    OPTR_UINT64 = 11,
}

/// What is behind an optr_comm_t; never to be looked at.
#[derive(Debug)]
pub struct optr_comm_s {
    _private: (),
}

/// What is behind an optr_bucket_t; never to be looked at.
#[derive(Debug)]
pub struct optr_bucket_s {
    _private: (),
}

/// What is behind an optr_request_t; never to be looked at.
#[derive(Debug)]
pub struct optr_request_s {
    _private: (),
}

/// One rank of a job. A handle is a number, not an address: one that was destroyed gives OPTR_INVALID_HANDLE. NULL is none.
pub type optr_comm_t = *mut optr_comm_s;

/// A declared bucket: a stream of collectives over as many elements. NULL is none.
pub type optr_bucket_t = *mut optr_bucket_s;

/// Something that has begun: a collective, a call over TCP, an average of a group, a message. NULL is none.
pub type optr_request_t = *mut optr_request_s;

/// Where rank 0 listens, and which job it is: from optr_get_unique_id(), to be handed to all ranks as it is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_unique_id_t {
    /// Not to be looked at.
    pub bytes: [u8; OPTR_UNIQUE_ID_BYTES],
}

/// Settings of a communicator; zero is the default of each. Begin with optr_config_init(). All but timeout_us, mtu_bytes,
/// interface_name, secret_file and rejoin must be the same on all ranks, which is checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_config_t {
    /// sizeof(optr_config_t).
    pub size: usize,
    /// How long ranks wait for one another outside of stages: connecting, barriers, agreements. Default 60 s; 1 ms to a day.
    pub timeout_us: u64,
    /// The deadline t_B of each stage, 1 us to 4.29 s. Default: measured over the collectives of the job.
    pub bound_us: u64,
    /// The longest deadline that is measured, 5 ms to 4.29 s. Default 1 s.
    pub bound_max_us: u64,
    /// With this, a stage may end before its deadline after so much silence. Default: after a time that follows loss and
    /// stage times.
    pub early_grace_us: u64,
    /// Largest window in bytes of fp32: a multiple of 64 up to 1 MiB. Default 1 MiB.
    pub window_bytes: usize,
    /// Bytes of the largest IP packet, at least 114. Default: what gets through between all ranks.
    pub mtu_bytes: u32,
    /// Peers that are sent to at a time, 1 to 15. Default: as many as the receivers can take.
    pub incast: u32,
    /// Collectives in a row without a sign of a rank after which the others go on without it; OPTR_NEVER. Default 3.
    pub drop_silent_after: u32,
    /// Whether a stage may end before its deadline: OPTR_OFF, OPTR_AUTO. Default OPTR_AUTO.
    pub early: u32,
    /// Whether gradients are Hadamard-encoded: OPTR_OFF, OPTR_ON, OPTR_AUTO (once more than 2 % were lost). Default OPTR_AUTO.
    pub hadamard: u32,
    /// Whether gradients travel as bf16; sums stay fp32: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    pub bf16: u32,
    /// Whether what a rank missed of a mean is fetched and added to the bucket's next result: OPTR_OFF, OPTR_ON. Default OPTR_ON.
    pub repair: u32,
    /// Whether all ranks skip an update if one does: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    pub agree: u32,
    /// Whether the rate to each peer follows its round-trip times: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    pub rate_control: u32,
    /// Whether ranks of one host send through shared memory: OPTR_OFF, OPTR_AUTO. Default: what OPTIREDUCE_LOCAL says, or auto.
    pub local: u32,
    /// Whether this process may come into a job that runs already: OPTR_OFF, OPTR_ON. Default: what OPTIREDUCE_REJOIN and the
    /// launcher say; off with a unique id.
    pub rejoin: u32,
    /// Name or address of the network interface. Default (NULL): the one on the way to rank 0.
    pub interface_name: *const c_char,
    /// A file with the secret that all ranks share, 16 to 4096 bytes: all that travels is then encrypted and authenticated.
    /// Default (NULL): the secret in OPTIREDUCE_SECRET, or none.
    pub secret_file: *const c_char,
}

/// How a bucket is reduced; zero is the default of each. Begin with optr_bucket_options_init(). The same on all ranks, which
/// is checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_bucket_options_t {
    /// sizeof(optr_bucket_options_t).
    pub size: usize,
    /// An optr_op_t. Default OPTR_AVG.
    pub op: u32,
    /// OPTR_OFF, OPTR_ON, OPTR_AUTO. Default: as the communicator is set.
    pub hadamard: u32,
    /// OPTR_OFF, OPTR_ON. Default: as the communicator is set.
    pub bf16: u32,
    /// OPTR_OFF, OPTR_ON. Default: as the communicator is set.
    pub repair: u32,
}

/// A message that was received.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_message_t {
    /// Its length.
    pub bytes: usize,
    /// The rank that sent it.
    pub rank: c_int,
}

/// What one rank sent in a collective. Of two values, the first is of the contribute stage, the second of the broadcast stage.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct optr_peer_report_t {
    /// Received part of the bytes that it was to send, 0 to 1; 1 for this rank itself.
    pub received_fraction: [f64; 2],
    /// Bytes that it was to send.
    pub expected_bytes: [u64; 2],
    /// Bytes that came in time.
    pub received_bytes: [u64; 2],
    /// Its number.
    pub rank: u32,
    /// 1: it takes part. 0: it was dropped.
    pub is_live: u32,
    /// 1: less than half of its contribution came in time.
    pub is_late: u32,
    /// 0.
    pub reserved: u32,
}

/// How a collective went, as this rank saw it. Begin with optr_report_init(); it can be used again for the next call. Bytes
/// are bytes of fp32, whatever travelled. Of two values, the first is of the contribute stage, the second of the broadcast
/// stage.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct optr_report_t {
    /// Given: sizeof(optr_report_t).
    pub size: usize,
    /// Given: sizeof(optr_peer_report_t).
    pub peer_size: usize,
    /// Given: NULL, or room for peer_capacity of them. Filled in the order of ranks.
    pub peers: *mut optr_peer_report_t,
    /// Given: how many there is room for. If there are more ranks, the first ones are filled in.
    pub peer_capacity: u32,
    /// Ranks of the job.
    pub peer_count: u32,
    /// An optr_action_t: look at it after every collective.
    pub action: u32,
    /// Number of the collective, the same on all ranks.
    pub op_number: u32,
    /// Id of the bucket, the same on all ranks.
    pub bucket_id: u32,
    /// Ranks that took part.
    pub live_ranks: u32,
    /// Ranks that were late; peers says which.
    pub late_ranks: u32,
    /// The rank that takes part again from this collective on and needs the model, the same on all ranks; -1: none.
    pub joined_rank: i32,
    /// Elements of the bucket.
    pub elements: u64,
    /// Bytes that peers were to send.
    pub expected_bytes: [u64; 2],
    /// Bytes of them that came in time.
    pub received_bytes: [u64; 2],
    /// received_bytes / expected_bytes; 1 if nothing was expected.
    pub received_fraction: [f64; 2],
    /// Longest time from the start of a stage to its end, over its windows.
    pub stage_time_ns: [u64; 2],
    /// The deadline of each stage (t_B).
    pub stage_deadline_ns: u64,
    /// An optr_closed_by_t: why each stage ended, the worst of its windows.
    pub closed_by: [u32; 2],
    /// Elements that the result lacks. Of a bucket that is repaired they come with a later result.
    pub missing_elements: u64,
    /// Values of the result that are infinities or NaNs.
    pub not_finite: u64,
    /// Bytes of means of all buckets that this rank has still asked for: as long, its replica differs from others.
    pub outstanding_bytes: u64,
    /// Bytes of means of all buckets that were given up: there, this replica differs from others for good.
    pub drift_bytes: u64,
    /// 1: this rank was late: its own gradient is not in every part of the mean.
    pub is_late: u32,
    /// 1: it travelled Hadamard-encoded.
    pub is_hadamard: u32,
    /// 1: all ranks that take part have agreed on the action.
    pub is_agreed: u32,
    /// 1: the result contains what earlier results of the bucket lacked.
    pub is_corrected: u32,
    /// 1: the ranks still measure the stage deadline.
    pub is_measuring_deadline: u32,
    /// 1: this collective is the first with a new stage deadline.
    pub deadline_changed: u32,
    /// Of an all-reduce of a bucket: bytes that were copied between the caller's memory and the engine's, of input and output. See
    /// optr_alloc(). Other calls always copy, and do not count it.
    pub copied_bytes: u64,
}

/// Called once when a request is done, on a thread of the library's: with the status that optr_request_wait() would return,
/// the report (NULL after an error, and if it was not a collective of a bucket), the text of the error ("" if there is none),
/// and what was given to optr_request_on_done(). Report and text are valid during the call. It may call anything of this
/// library, but what it waits for holds up other callbacks. It must not end its thread, jump out (longjmp), or throw.
pub type optr_callback_t = Option<
    unsafe extern "C" fn(
        status: optr_status_t,
        report: *const optr_report_t,
        error: *const c_char,
        context: *mut c_void,
    ),
>;
