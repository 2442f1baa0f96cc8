/* liboptireduce: all-reduce with a deadline, for data-parallel training. Made by cbindgen of host-lib/ffi/src: do not edit.
 *
 *     optr_comm_t comm;                                        one rank of the job that torchrun, mpirun or srun has started
 *     optr_comm_init_env(&comm, NULL);
 *     optr_bucket_t bucket;                                    what is averaged again and again: declared once
 *     optr_bucket_create(comm, elements, NULL, &bucket);
 *     optr_report_t report = optr_report_init();
 *     optr_bucket_all_reduce(bucket, gradient, gradient, elements, &report);
 *     if (report.action == OPTR_APPLY) ...                     the gradient is now the mean over the ranks
 *
 * Every function but optr_version, optr_last_error and optr_status_name returns a status; optr_last_error() has the text. Functions marked
 * collective must be called by all ranks, in the same order and with the same lengths. A process that was forked after a communicator was
 * made gets OPTR_FORKED from all functions. Nothing here throws, and no signal handler is installed; none of these may be called in one.
 * Calls that block want a stack of 1 MiB.
 *
 * Errors of any function: OPTR_INVALID_ARGUMENT and OPTR_INVALID_HANDLE (nothing was changed), OPTR_FORKED, OPTR_INTERNAL; of calls that
 * are made one at a time, OPTR_BUSY; of a communicator that has ended, OPTR_ABORTED and OPTR_CLOSED; of collectives, OPTR_MISMATCH,
 * OPTR_PEER_FAILED and OPTR_DROPPED; of what takes memory, OPTR_NO_MEMORY. What else a function gives stands at it.
 *
 * Memory that a caller gives is the caller's: it is read and written until the call returns, or the request is done, and no address of it
 * is kept. Memory from optr_alloc() and optr_bucket_buffer() and texts are the library's. Destroying a communicator ends all that
 * was made of it: buckets, partial reduces, requests, memory.
 */

#ifndef OPTIREDUCE_H
#define OPTIREDUCE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Version of this header: 10000 * major + 100 * minor + patch. optr_version() says which library is there.
#define OPTR_VERSION 100

// Bytes of an optr_unique_id_t.
#define OPTR_UNIQUE_ID_BYTES 128

// optr_config_t.drop_silent_after: no rank is ever dropped. optr_partial_options_t.sync_bound: no group waits for a bridge.
#define OPTR_NEVER UINT32_MAX

// optr_request_wait(): as long as it takes. Collectives of buckets are bounded by their deadlines, all else by the timeout
// of the config.
#define OPTR_NO_TIMEOUT UINT64_MAX

// optr_recv(): from any rank.
#define OPTR_ANY_RANK -1

// optr_comm_split(): this rank is in none of the new communicators.
#define OPTR_NO_COLOR -1

// What a call has come to. optr_last_error() has the text.
enum optr_status_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    OPTR_SUCCESS = 0,
    // An argument, a setting or the launcher's environment is not valid; nothing was changed.
    OPTR_INVALID_ARGUMENT = 1,
    // No such communicator, bucket, partial reduce or request: NULL, destroyed before, or another kind of handle.
    OPTR_INVALID_HANDLE = 2,
    // Another thread is in a call of the same object; nothing was done.
    OPTR_BUSY = 3,
    // The request was not done in time; it goes on, and can be waited for again.
    OPTR_TIMEOUT = 4,
    // The ranks differ: in settings, in what they call, or with which lengths. All ranks get the same text. The communicator
    // can go on if settings of optr_bucket_create() or of a call of the communicator differ; if calls of buckets do, it
    // cannot.
    OPTR_MISMATCH = 5,
    // Another rank is gone, silent, did not come, or gave up the call. optr_comm_async_error() says whether the communicator
    // is of use.
    OPTR_PEER_FAILED = 6,
    // The others go on without this rank: call optr_comm_rejoin(). Of a partial reduce: it is over for this rank.
    OPTR_DROPPED = 7,
    // The communicator was aborted: destroy it.
    OPTR_ABORTED = 8,
    // The communicator was finalized or destroyed, before the call or during it.
    OPTR_CLOSED = 9,
    // Too little memory on this host, or in its container; nothing was changed.
    OPTR_NO_MEMORY = 10,
    // The operating system refused something, or this rank's data plane failed.
    OPTR_SYSTEM = 11,
    // This process is a fork of the one that made its communicators, which it cannot use.
    OPTR_FORKED = 12,
    // A bug in this library; please report it with the text.
    OPTR_INTERNAL = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_status_t optr_status_t;
#else
typedef int32_t optr_status_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What to do with the update of a collective.
enum optr_action_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Use it.
    OPTR_APPLY = 0,
    // Too much was lost: the output is as it was (but see optr_alloc()). Go on without this update.
    OPTR_SKIP = 1,
    // Too much was lost in three collectives in a row: stop the job.
    OPTR_HALT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_action_t optr_action_t;
#else
typedef uint32_t optr_action_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a stage of a collective ended.
enum optr_closed_by_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Everything had come.
    OPTR_COMPLETE = 0,
    // The last packets of all peers had come, and silence had followed.
    OPTR_EARLY = 1,
    // The stage deadline (t_B) was over.
    OPTR_DEADLINE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_closed_by_t optr_closed_by_t;
#else
typedef uint32_t optr_closed_by_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Values of switches in optr_config_t and optr_bucket_options_t. Each says which it takes.
enum optr_switch_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // As documented; in options of a bucket: as the communicator is set.
    OPTR_DEFAULT = 0,
    // Off.
    OPTR_OFF = 1,
    // On.
    OPTR_ON = 2,
    // As the job needs it.
    OPTR_AUTO = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_switch_t optr_switch_t;
#else
typedef uint32_t optr_switch_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a reduction does with the values of all ranks. Buckets take OPTR_AVG and OPTR_SUM.
enum optr_op_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The mean; of a bucket, of what came in time. Exact ones: floating-point types only.
    OPTR_AVG = 0,
    // The sum; of a bucket the mean times the ranks that take part: the sum, if everything came, else an estimate of it.
    OPTR_SUM = 1,
    // The product.
    OPTR_PRODUCT = 2,
    // The least.
    OPTR_MIN = 3,
    // The greatest.
    OPTR_MAX = 4,
    // The bits that all have; integers only.
    OPTR_AND = 5,
    // The bits that any has; integers only.
    OPTR_OR = 6,
    // The bits that an odd number has; integers only.
    OPTR_XOR = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_op_t optr_op_t;
#else
typedef uint32_t optr_op_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Types of values of exact reductions.
enum optr_type_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // IEEE 754 half precision.
    OPTR_FLOAT16 = 0,
    // The upper half of a float.
    OPTR_BFLOAT16 = 1,
    // float.
    OPTR_FLOAT32 = 2,
    // double.
    OPTR_FLOAT64 = 3,
    // int8_t.
    OPTR_INT8 = 4,
    // uint8_t; truth values as 0 and 1, with OPTR_MIN for "all" and OPTR_MAX for "any".
    OPTR_UINT8 = 5,
    // int16_t.
    OPTR_INT16 = 6,
    // uint16_t.
    OPTR_UINT16 = 7,
    // int32_t.
    OPTR_INT32 = 8,
    // uint32_t.
    OPTR_UINT32 = 9,
    // int64_t.
    OPTR_INT64 = 10,
    // uint64_t.
    OPTR_UINT64 = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_type_t optr_type_t;
#else
typedef uint32_t optr_type_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How much the models of a group count.
enum optr_weights_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A model counts less for each iteration that it is behind the newest of its group.
    OPTR_WEIGHTS_DYNAMIC = 0,
    // All the same.
    OPTR_WEIGHTS_CONSTANT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum optr_weights_t optr_weights_t;
#else
typedef uint32_t optr_weights_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What is behind an optr_bucket_t; never to be looked at.
typedef struct optr_bucket_s optr_bucket_s;

// What is behind an optr_comm_t; never to be looked at.
typedef struct optr_comm_s optr_comm_s;

// What is behind an optr_partial_t; never to be looked at.
typedef struct optr_partial_s optr_partial_s;

// What is behind an optr_request_t; never to be looked at.
typedef struct optr_request_s optr_request_s;

// Where rank 0 listens, and which job it is: from optr_get_unique_id(), to be handed to all ranks as it is.
typedef struct optr_unique_id_t {
    // Not to be looked at.
    uint8_t bytes[OPTR_UNIQUE_ID_BYTES];
} optr_unique_id_t;

// One rank of a job. A handle is a number, not an address: one that was destroyed gives OPTR_INVALID_HANDLE. NULL is none.
typedef struct optr_comm_s *optr_comm_t;

// Settings of a communicator; zero is the default of each. Begin with optr_config_init(). All but timeout_us, mtu_bytes,
// interface_name, secret_file and rejoin must be the same on all ranks, which is checked.
typedef struct optr_config_t {
    // sizeof(optr_config_t).
    size_t size;
    // How long ranks wait for one another outside of stages: connecting, barriers, agreements. Default 60 s; 1 ms to a day.
    uint64_t timeout_us;
    // The deadline t_B of each stage, 1 us to 4.29 s. Default: measured over the collectives of the job.
    uint64_t bound_us;
    // The longest deadline that is measured, 5 ms to 4.29 s. Default 1 s.
    uint64_t bound_max_us;
    // With this, a stage may end before its deadline after so much silence. Default: after a time that follows loss and
    // stage times.
    uint64_t early_grace_us;
    // Largest window in bytes of fp32: a multiple of 64 up to 1 MiB. Default 1 MiB.
    size_t window_bytes;
    // Bytes of the largest IP packet, at least 114. Default: what gets through between all ranks.
    uint32_t mtu_bytes;
    // Peers that are sent to at a time, 1 to 15. Default: as many as the receivers can take.
    uint32_t incast;
    // Collectives in a row without a sign of a rank after which the others go on without it; OPTR_NEVER. Default 3.
    uint32_t drop_silent_after;
    // Whether a stage may end before its deadline: OPTR_OFF, OPTR_AUTO. Default OPTR_AUTO.
    uint32_t early;
    // Whether gradients are Hadamard-encoded: OPTR_OFF, OPTR_ON, OPTR_AUTO (once more than 2 % were lost). Default OPTR_AUTO.
    uint32_t hadamard;
    // Whether gradients travel as bf16; sums stay fp32: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    uint32_t bf16;
    // Whether what a rank missed of a mean is fetched and added to the bucket's next result: OPTR_OFF, OPTR_ON. Default OPTR_ON.
    uint32_t repair;
    // Whether all ranks skip an update if one does: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    uint32_t agree;
    // Whether the rate to each peer follows its round-trip times: OPTR_OFF, OPTR_ON. Default OPTR_OFF.
    uint32_t rate_control;
    // Whether ranks of one host send through shared memory: OPTR_OFF, OPTR_AUTO. Default: what OPTIREDUCE_LOCAL says, or auto.
    uint32_t local;
    // Whether this process may come into a job that runs already: OPTR_OFF, OPTR_ON. Default: what OPTIREDUCE_REJOIN and the
    // launcher say; off with a unique id.
    uint32_t rejoin;
    // Name or address of the network interface. Default (NULL): the one on the way to rank 0.
    const char *interface_name;
    // A file with the secret that all ranks share, 16 to 4096 bytes: all that travels is then encrypted and authenticated.
    // Default (NULL): the secret in OPTIREDUCE_SECRET, or none.
    const char *secret_file;
} optr_config_t;

// Something that has begun: a collective, a call over TCP, an average of a group, a message. NULL is none.
typedef struct optr_request_s *optr_request_t;

// What one rank sent in a collective. Of two values, the first is of the contribute stage, the second of the broadcast stage.
typedef struct optr_peer_report_t {
    // Received part of the bytes that it was to send, 0 to 1; 1 for this rank itself.
    double received_fraction[2];
    // Bytes that it was to send.
    uint64_t expected_bytes[2];
    // Bytes that came in time.
    uint64_t received_bytes[2];
    // Its number.
    uint32_t rank;
    // 1: it takes part. 0: it was dropped.
    uint32_t is_live;
    // 1: less than half of its contribution came in time.
    uint32_t is_late;
    // 0.
    uint32_t reserved;
} optr_peer_report_t;

// How a collective went, as this rank saw it. Begin with optr_report_init(); it can be used again for the next call. Bytes
// are bytes of fp32, whatever travelled. Of two values, the first is of the contribute stage, the second of the broadcast
// stage.
typedef struct optr_report_t {
    // Given: sizeof(optr_report_t).
    size_t size;
    // Given: sizeof(optr_peer_report_t).
    size_t peer_size;
    // Given: NULL, or room for peer_capacity of them. Filled in the order of ranks.
    struct optr_peer_report_t *peers;
    // Given: how many there is room for. If there are more ranks, the first ones are filled in.
    uint32_t peer_capacity;
    // Ranks of the job.
    uint32_t peer_count;
    // An optr_action_t: look at it after every collective.
    uint32_t action;
    // Number of the collective, the same on all ranks.
    uint32_t op_number;
    // Id of the bucket, the same on all ranks.
    uint32_t bucket_id;
    // Ranks that took part.
    uint32_t live_ranks;
    // Ranks that were late; peers says which.
    uint32_t late_ranks;
    // The rank that takes part again from this collective on and needs the model, the same on all ranks; -1: none.
    int32_t joined_rank;
    // Elements of the bucket.
    uint64_t elements;
    // Bytes that peers were to send.
    uint64_t expected_bytes[2];
    // Bytes of them that came in time.
    uint64_t received_bytes[2];
    // received_bytes / expected_bytes; 1 if nothing was expected.
    double received_fraction[2];
    // Longest time from the start of a stage to its end, over its windows.
    uint64_t stage_time_ns[2];
    // The deadline of each stage (t_B).
    uint64_t stage_deadline_ns;
    // An optr_closed_by_t: why each stage ended, the worst of its windows.
    uint32_t closed_by[2];
    // Elements that the result lacks. Of a bucket that is repaired they come with a later result.
    uint64_t missing_elements;
    // Values of the result that are infinities or NaNs.
    uint64_t not_finite;
    // Bytes of means of all buckets that this rank has still asked for: as long, its replica differs from others.
    uint64_t outstanding_bytes;
    // Bytes of means of all buckets that were given up: there, this replica differs from others for good.
    uint64_t drift_bytes;
    // 1: this rank was late: its own gradient is not in every part of the mean.
    uint32_t is_late;
    // 1: it travelled Hadamard-encoded.
    uint32_t is_hadamard;
    // 1: all ranks that take part have agreed on the action.
    uint32_t is_agreed;
    // 1: the result contains what earlier results of the bucket lacked.
    uint32_t is_corrected;
    // 1: the ranks still measure the stage deadline.
    uint32_t is_measuring_deadline;
    // 1: this collective is the first with a new stage deadline.
    uint32_t deadline_changed;
    // Of an all-reduce of a bucket: bytes that were copied between the caller's memory and the engine's, of input and output. See
    // optr_alloc(). Other calls always copy, and do not count it.
    uint64_t copied_bytes;
} optr_report_t;

// A message that was received.
typedef struct optr_message_t {
    // Its length.
    size_t bytes;
    // The rank that sent it.
    int rank;
} optr_message_t;

// How a bucket is reduced; zero is the default of each. Begin with optr_bucket_options_init(). The same on all ranks, which
// is checked.
typedef struct optr_bucket_options_t {
    // sizeof(optr_bucket_options_t).
    size_t size;
    // An optr_op_t. Default OPTR_AVG.
    uint32_t op;
    // OPTR_OFF, OPTR_ON, OPTR_AUTO. Default: as the communicator is set.
    uint32_t hadamard;
    // OPTR_OFF, OPTR_ON. Default: as the communicator is set.
    uint32_t bf16;
    // OPTR_OFF, OPTR_ON. Default: as the communicator is set.
    uint32_t repair;
} optr_bucket_options_t;

// A declared bucket: a stream of collectives over as many elements. NULL is none.
typedef struct optr_bucket_s *optr_bucket_t;

// How groups are formed and what they do; zero is the default of each. Begin with optr_partial_options_init(). The same on
// all ranks, which is checked.
typedef struct optr_partial_options_t {
    // sizeof(optr_partial_options_t).
    size_t size;
    // How long a member waits for an answer to what it lacks, before it goes on without. Default 1 s.
    uint64_t repair_timeout_us;
    // How long those that are ready wait at most for one that is not; then they go on without, a last one alone. Default 10 s; longer
    // than the slowest rank's step.
    uint64_t patience_us;
    // The deadline of each of the two stages of a group; what comes later is fetched. Default: the communicator's.
    uint64_t bound_us;
    // With OPTR_WEIGHTS_DYNAMIC: how much a model counts that is an iteration older, above 0 and below 1. Default 0.5.
    double decay;
    // Ranks of a group, 2 to all. Default 2.
    uint32_t group_size;
    // An optr_weights_t. Default OPTR_WEIGHTS_DYNAMIC.
    uint32_t weights;
    // All ranks must have met, if only by way of others, within this many times as many groups as there are ranks; then groups wait for
    // ranks that bridge. OPTR_NEVER: ranks that are ready at the same times may stay among themselves. Default 2.
    uint32_t sync_bound;
    // Whether what the packets of a group lost is fetched before its mean is used: OPTR_OFF, OPTR_ON. Default OPTR_ON.
    uint32_t repair;
} optr_partial_options_t;

// Averages of models among groups of the ranks that are ready first. NULL is none.
typedef struct optr_partial_s *optr_partial_t;

// A rank of a group.
typedef struct optr_partial_member_t {
    // How much its model counted; those of a group have a sum of 1.
    double weight;
    // Its number.
    uint32_t rank;
    // 1: something of its model does not count in this rank's part of the mean: it has died, or did not answer.
    uint32_t is_uncounted;
} optr_partial_member_t;

// How an average of a group went, as this rank saw it. Begin with optr_partial_report_init(); it can be used again for the next one.
typedef struct optr_partial_report_t {
    // Given: sizeof(optr_partial_report_t).
    size_t size;
    // Given: sizeof(optr_partial_member_t).
    size_t member_size;
    // Given: NULL, or room for member_capacity of them. Filled in the order of ranks.
    struct optr_partial_member_t *members;
    // Given: how many there is room for. If the group has more, the first ones are filled in.
    uint32_t member_capacity;
    // Ranks of the group. 1: no other was left, or became ready within the patience.
    uint32_t member_count;
    // Number of the group, the same on its members; greater than that of this rank's group before.
    uint32_t number;
    // 1: it has as many members as a group takes, or as there are.
    uint32_t is_full;
    // The newest of the members' iterations, which all of them carry from now on.
    uint64_t iteration;
    // How long this rank waited for its group.
    uint64_t waited_us;
    // How long the average took after that.
    uint64_t took_us;
    // Bytes of other members that did not come in time.
    uint64_t lost_bytes;
    // Of these, bytes that were fetched before the mean was used.
    uint64_t repaired_bytes;
    // Bytes of models that do not count in this rank's part of the mean; members says whose.
    uint64_t uncounted_bytes;
    // Elements of which no mean came: there the model is as this rank gave it.
    uint64_t missing_elements;
} optr_partial_report_t;

// Called once when a request is done, on a thread of the library's: with the status that optr_request_wait() would return,
// the report (NULL after an error, and if it was not a collective of a bucket), the text of the error ("" if there is none),
// and what was given to optr_request_on_done(). Report and text are valid during the call. It may call anything of this
// library, but what it waits for holds up other callbacks. It must not end its thread, jump out (longjmp), or throw.
typedef void (*optr_callback_t)(optr_status_t status, const struct optr_report_t *report, const char *error, void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library: 10000 * major + 100 * minor + patch. OPTR_VERSION is that of the header.
//
// Threads: any, at any time.
uint32_t optr_version(void);

// The text of the last call on this thread that failed: the function, what was found, what was expected, what to do. "" if
// none has. Valid until the next call on this thread that fails, or the thread's end.
//
// Threads: any, at any time.
const char *optr_last_error(void);

// The name of a status, "OPTR_SUCCESS" for example. Valid for ever.
//
// Threads: any, at any time.
const char *optr_status_name(int32_t status);

// Makes the id of a job, on one rank; hand its bytes to all others (by MPI, a file, a socket). address: HOST or HOST:PORT,
// of the host of rank 0, where it is to listen; NULL: OPTIREDUCE_ROOT, or else the address of this host on the way to
// others, and a free port.
//
// Threads: any, at any time.
optr_status_t optr_get_unique_id(const char *address, struct optr_unique_id_t *id);

// Joins a job as one of its ranks. world_size: 2 to 1024. id: from optr_get_unique_id(), the same on all ranks; rank 0 must
// be on the host that its address names. config: NULL for the defaults. Returns when all ranks are there, or after the
// timeout of the config. Collective.
//
// Threads: any, at any time; blocks. Ranks of one process join from a thread each.
optr_status_t optr_comm_init_rank(optr_comm_t *comm,
                                  int world_size,
                                  const struct optr_unique_id_t *id,
                                  int rank,
                                  const struct optr_config_t *config);

// Joins a job as the rank that the launcher's environment says: torchrun, mpirun, srun, or OPTIREDUCE_RANK,
// OPTIREDUCE_WORLD_SIZE and OPTIREDUCE_ROOT. config: NULL for the defaults. Returns when all ranks are there, or after the
// timeout of the config. Collective.
//
// Threads: any, at any time, but not while another thread changes the environment; blocks.
optr_status_t optr_comm_init_env(optr_comm_t *comm, const struct optr_config_t *config);

// This rank, from 0.
//
// Threads: any, at any time.
optr_status_t optr_comm_rank(optr_comm_t comm, int *rank);

// Ranks of the job, those that were dropped included.
//
// Threads: any, at any time.
optr_status_t optr_comm_world_size(optr_comm_t comm, int *world_size);

// Which of so many elements are this rank's shard, in reduce-scatter and all-gather: from first on, count of them. All
// shards are as long as that of rank 0, but the last ones may be shorter, or empty.
//
// Threads: any, at any time.
optr_status_t optr_comm_shard(optr_comm_t comm, size_t elements, size_t *first, size_t *count);

// Why the communicator is of no use any more, found by any thread, request or callback: OPTR_SUCCESS if it is well. The call
// itself gives OPTR_SUCCESS; optr_last_error() then has the text of what was found.
//
// Threads: any, at any time, also while another thread waits in a call; does not block.
optr_status_t optr_comm_async_error(optr_comm_t comm, optr_status_t *error);

// Takes part again after OPTR_DROPPED; a process that came into a job that runs (config.rejoin) calls it once its buckets
// are created. Writes the number of the first collective that this rank is in. The model is the caller's to fetch, when
// optr_report_t.joined_rank says so.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_comm_rejoin(optr_comm_t comm, uint32_t *first_op);

// Makes a communicator of the ranks that give the same color, at least two, in the order of their ranks in this one, with its
// settings, buckets and collectives of its own. color: 0 or more, or OPTR_NO_COLOR: this rank is in none, and gets NULL. It is
// finalized and destroyed by itself, before this one or after it. An all-reduce on two levels is a reduce-scatter in one, an
// all-reduce of the shards in another, and an all-gather in the first. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_comm_split(optr_comm_t comm, int color, optr_comm_t *new_comm);

// From now on calls over TCP (barriers, broadcasts, creation of buckets) leave out ranks whose process has ended, as the
// collectives do. Without it they fail with OPTR_PEER_FAILED. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_comm_skip_gone_ranks(optr_comm_t comm);

// Ends the job in order: waits for the collectives of this rank that still run, then for all ranks, and confirms that all
// have called the same; OPTR_MISMATCH on all ranks if not. Afterwards only optr_comm_destroy() is of use. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_comm_finalize(optr_comm_t comm);

// Ends all calls, requests and connections of a communicator, whichever thread waits in them: those calls, and all later
// ones, give OPTR_ABORTED. The handle must still be destroyed. Twice does no more than once.
//
// Threads: any, at any time, also while another thread waits in a call; takes at most about a second.
optr_status_t optr_comm_abort(optr_comm_t comm);

// Ends a communicator, its buckets and its requests: their handles are worth nothing from now on, and memory of buckets is
// given back. Does not wait for other ranks: call optr_comm_finalize() before, to be sure that all have come to the end.
// Calls of other threads that run give OPTR_CLOSED.
//
// Threads: any, at any time; takes at most about a second.
optr_status_t optr_comm_destroy(optr_comm_t comm);

// Waits until all ranks are here. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_barrier(optr_comm_t comm);

// Begins what optr_barrier() does, and returns at once. Calls of a communicator that have begun are made one after the
// other. Collective.
//
// Threads: any, one at a time per communicator; does not block.
optr_status_t optr_start_barrier(optr_comm_t comm, optr_request_t *request);

// Hands the root's bytes to all ranks, whole: over TCP, for weights and whatever else must be the same everywhere. All ranks give as
// many. After an error data is as it was. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_broadcast(optr_comm_t comm,
                             int root,
                             void *data,
                             size_t bytes);

// Begins what optr_broadcast() does, and returns at once. data must stay valid, and be left alone, until the request is
// done. Collective.
//
// Threads: any, one at a time per communicator; does not block.
optr_status_t optr_start_broadcast(optr_comm_t comm, int root, void *data, size_t bytes, optr_request_t *request);

// Hands every rank's bytes to every rank, whole: over TCP. output: room for as many from each rank, in the order of ranks.
// OPTR_MISMATCH on all ranks if they do not give as many. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_all_gather_bytes(optr_comm_t comm, const void *input, size_t bytes, void *output);

// Averages values over all ranks, once; the ranks compare their calls before. For what is averaged again and again, create a
// bucket, which costs less. input and output may be the same, or overlap. If report->action is not OPTR_APPLY, and after an
// error, output is as it was. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_all_reduce(optr_comm_t comm, const float *input, float *output, size_t elements, struct optr_report_t *report);

// Averages values over all ranks, once, and writes this rank's shard of the mean: output_elements is what optr_comm_shard()
// says. input and output may overlap. If report->action is not OPTR_APPLY, and after an error, output is as it was.
// Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_reduce_scatter(optr_comm_t comm,
                                  const float *input,
                                  size_t elements,
                                  float *output,
                                  size_t output_elements,
                                  struct optr_report_t *report);

// Hands this rank's shard to all ranks, once, and writes the whole, of elements values: input_elements is what
// optr_comm_shard() says of that. What did not come is zero: report->missing_elements. What must arrive whole goes by
// optr_broadcast(). input may be a part of output. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_all_gather(optr_comm_t comm,
                              const float *input,
                              size_t input_elements,
                              float *output,
                              size_t elements,
                              struct optr_report_t *report);

// Reduces values over all ranks, exactly: over TCP, whole, with the same bits on all ranks, as slow as the slowest rank. type: an
// optr_type_t; op: an optr_op_t. Integers wrap, NaN of any rank stays in minimum and maximum, floating-point values are folded in
// the order of ranks. input and output may be the same, or overlap. After an error output is as it was. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_all_reduce_exact(optr_comm_t comm,
                                    const void *input,
                                    void *output,
                                    size_t elements,
                                    uint32_t type_,
                                    uint32_t op);

// Begins what optr_all_reduce_exact() does, and returns at once. input is copied before this returns. output must stay valid, and be
// left alone, until the request is done. Calls of a communicator that have begun are made one after the other. Collective.
//
// Threads: any, one at a time per communicator; does not block.
optr_status_t optr_start_all_reduce_exact(optr_comm_t comm,
                                          const void *input,
                                          void *output,
                                          size_t elements,
                                          uint32_t type_,
                                          uint32_t op,
                                          optr_request_t *request);

// As optr_all_reduce_exact(), for this rank's shard of the result: output_elements is what optr_comm_shard() says. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_reduce_scatter_exact(optr_comm_t comm,
                                        const void *input,
                                        size_t elements,
                                        void *output,
                                        size_t output_elements,
                                        uint32_t type_,
                                        uint32_t op);

// Sends bytes to one rank (this one, too), which receives them with the same tag. Of each other rank a rank keeps up to 8 MiB
// until they are received: what fits is sent at once, a longer message waits until it is asked for, at most for the timeout of the
// config. Messages with the same tag come in the order in which they were sent. Not collective.
//
// Threads: any, at any time, also while another thread waits in a call; blocks.
optr_status_t optr_send(optr_comm_t comm, int to, uint32_t tag, const void *data, size_t bytes);

// Begins what optr_send() does, and returns at once. data is copied before this returns.
//
// Threads: any, at any time, also while another thread waits in a call; does not block.
optr_status_t optr_start_send(optr_comm_t comm, int to, uint32_t tag, const void *data, size_t bytes, optr_request_t *request);

// Receives what one rank (from; OPTR_ANY_RANK: any) sends with this tag: the first such message that is not received yet.
// data: room for so many bytes. message: NULL, and the message must have as many; or where to write how many it has, and
// from whom. A message that does not fit is OPTR_MISMATCH, and lost. Waits at most for the timeout of the config. Not
// collective.
//
// Threads: any, at any time, also while another thread waits in a call; blocks.
optr_status_t optr_recv(optr_comm_t comm, int from, uint32_t tag, void *data, size_t bytes, struct optr_message_t *message);

// Begins what optr_recv() does, and returns at once. data and message must stay valid, and be left alone, until the request
// is done. A request that is given up takes no message.
//
// Threads: any, at any time, also while another thread waits in a call; does not block.
optr_status_t optr_start_recv(optr_comm_t comm,
                              int from,
                              uint32_t tag,
                              void *data,
                              size_t bytes,
                              struct optr_message_t *message,
                              optr_request_t *request);

// Declares a bucket of so many elements: settles its length and options among all ranks, and finds the memory for it.
// options: NULL for the defaults. OPTR_MISMATCH on all ranks if they differ; the communicator can go on then. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_bucket_create(optr_comm_t comm,
                                 size_t elements,
                                 const struct optr_bucket_options_t *options,
                                 optr_bucket_t *bucket);

// Ends a bucket, on this rank alone: its memory is given back, its requests go on.
//
// Threads: any, at any time; does not block.
optr_status_t optr_bucket_destroy(optr_bucket_t bucket);

// Reduces values over all ranks; returns after two stage deadlines at the latest. input and output may be the same, or
// overlap. elements: those of the bucket; with another number nothing is sent, and all ranks get OPTR_MISMATCH, which ends
// the job. If report->action is not OPTR_APPLY, and after an error, output is as it was. Copies the values twice, unless they lie in
// memory from optr_alloc(). Collective.
//
// Threads: any, one at a time per bucket; blocks.
optr_status_t optr_bucket_all_reduce(optr_bucket_t bucket,
                                     const float *input,
                                     float *output,
                                     size_t elements,
                                     struct optr_report_t *report);

// Memory of the bucket's, as many values as it has elements: what is written there travels by
// optr_bucket_all_reduce_in_place() without a copy. Zeros at first, and after a call that failed. Valid until the next call
// of this bucket that blocks, or its end.
//
// Threads: any, one at a time per bucket; does not block.
optr_status_t optr_bucket_buffer(optr_bucket_t bucket, float **values, size_t *elements);

// Reduces the values in the bucket's own memory, see optr_bucket_buffer(), over all ranks, without a copy. They lie
// elsewhere afterwards: where, is written to values. If report->action is not OPTR_APPLY, they are unchanged. Collective.
//
// Threads: any, one at a time per bucket; blocks.
optr_status_t optr_bucket_all_reduce_in_place(optr_bucket_t bucket, float **values, struct optr_report_t *report);

// As optr_bucket_all_reduce(), for this rank's shard of the result: output_elements is what optr_comm_shard() says. Collective.
//
// Threads: any, one at a time per bucket; blocks.
optr_status_t optr_bucket_reduce_scatter(optr_bucket_t bucket,
                                         const float *input,
                                         size_t elements,
                                         float *output,
                                         size_t output_elements,
                                         struct optr_report_t *report);

// Hands this rank's shard to all ranks and writes the whole, as many values as the bucket has elements. What did not come is zero:
// report->missing_elements. Collective.
//
// Threads: any, one at a time per bucket; blocks.
optr_status_t optr_bucket_all_gather(optr_bucket_t bucket,
                                     const float *input,
                                     size_t input_elements,
                                     float *output,
                                     size_t elements,
                                     struct optr_report_t *report);

// Begins what optr_bucket_all_reduce() does, and returns at once; other collectives may begin before it is done. input is
// copied before this returns, unless input and output are memory from optr_alloc(): then both are to be left alone until the request
// is done. output must stay valid, and be left alone, until then. Collective.
//
// Threads: any, one at a time per bucket; does not block.
optr_status_t optr_bucket_start_all_reduce(optr_bucket_t bucket,
                                           const float *input,
                                           float *output,
                                           size_t elements,
                                           optr_request_t *request);

// Begins what optr_bucket_reduce_scatter() does, and returns at once, as optr_bucket_start_all_reduce(). Collective.
//
// Threads: any, one at a time per bucket; does not block.
optr_status_t optr_bucket_start_reduce_scatter(optr_bucket_t bucket,
                                               const float *input,
                                               size_t elements,
                                               float *output,
                                               size_t output_elements,
                                               optr_request_t *request);

// Begins what optr_bucket_all_gather() does, and returns at once, as optr_bucket_start_all_reduce(). Collective.
//
// Threads: any, one at a time per bucket; does not block.
optr_status_t optr_bucket_start_all_gather(optr_bucket_t bucket,
                                           const float *input,
                                           size_t input_elements,
                                           float *output,
                                           size_t elements,
                                           optr_request_t *request);

// Waits until nothing of this bucket is outstanding any more, at most timeout_us (OPTR_NO_TIMEOUT: the timeout of the
// config), and writes what its results so far lack, to be applied as one more update: *has_correction is 1 if there is
// anything, else correction is as it was. *is_settled is 0 if the time was too short. Call it on every rank after the last
// collective of the bucket. elements: those of the bucket.
//
// Threads: any, one at a time per bucket; blocks.
optr_status_t optr_bucket_settle(optr_bucket_t bucket,
                                 uint64_t timeout_us,
                                 float *correction,
                                 size_t elements,
                                 int32_t *has_correction,
                                 int32_t *is_settled);

// Allocates memory of this host, zeros, aligned to 64 bytes, for any number of gradients and results. It stays where it is, and is the
// caller's to read and write, until optr_free() or optr_comm_destroy(); aborting or finalizing the communicator leaves it.
//
// An all-reduce of a bucket whose input and output both lie in such memory of its communicator, anywhere in it, sends the input from
// there. The result is received in the output; if peers began before this rank, it is received elsewhere and copied to the output once;
// so it is, always, if output and input are the same. optr_report_t.copied_bytes says what was copied. Leave input and output alone
// until the call, or the request, is done: a call that is given an output that a collective uses, or an input that one writes,
// gets OPTR_BUSY, and nothing is done. If the update is not applied, and after an error, the values of an output that is not
// the input mean nothing. All other calls take the memory as any.
//
// On a rank with a card (OPTIREDUCE_CARD) the card reads and writes this memory itself: nothing is copied of what begins at a multiple of 64 bytes. The
// last window of a bucket that is no multiple of 16 elements is copied, unless input and output end where their memory ends. Other ranks of this host that
// share memory with this one read it where it lies.
//
// It is a shared mapping: a process that forks has the same memory as its child, not a copy.
//
// Threads: any, at any time; does not block.
optr_status_t optr_alloc(optr_comm_t comm,
                         size_t bytes,
                         void **memory);

// Frees memory from optr_alloc(), which is not to be read or written any more. NULL: nothing is done. Collectives that run with it keep
// it until they are done, and write their results nowhere that is of use.
//
// Threads: any, at any time; does not block.
optr_status_t optr_free(optr_comm_t comm,
                        void *memory);

// Declares averages of models of so many elements among groups of the ranks that are ready first (Partial Reduce, SIGMOD'21), instead
// of all-reduces of gradients: each rank trains its model, calls optr_partial_average() at its own pace, and nobody waits for the
// rest. All ranks begin with the same model: optr_broadcast() it. options: NULL for the defaults. OPTR_MISMATCH on all ranks if they
// differ; the communicator can go on then. Collective.
//
// Threads: any, one at a time per communicator; blocks.
optr_status_t optr_partial_create(optr_comm_t comm,
                                  size_t elements,
                                  const struct optr_partial_options_t *options,
                                  optr_partial_t *partial);

// Averages a model with those of a group of ranks that are ready, too; not all ranks need call it, nor as often. input and output may
// be the same, or overlap. elements: those of the partial reduce. iteration: of the model, which counts from 1 and must be greater
// than report->iteration of the last group, usually by one. Waits for one more rank at least, no longer than the patience of the
// options; the average is bounded by two deadlines, and what it lost by as many repair timeouts. After an error output is as it was.
//
// Threads: any, one at a time per partial reduce; blocks.
optr_status_t optr_partial_average(optr_partial_t partial,
                                   const float *input,
                                   float *output,
                                   size_t elements,
                                   uint64_t iteration,
                                   struct optr_partial_report_t *report);

// Begins what optr_partial_average() does, and returns at once. input is copied before this returns. output and report must stay valid,
// and be left alone, until the request is done. If the request is given up, this rank takes part in its group all the same.
//
// Threads: any, one average at a time per partial reduce; does not block.
optr_status_t optr_partial_start_average(optr_partial_t partial,
                                         const float *input,
                                         float *output,
                                         size_t elements,
                                         uint64_t iteration,
                                         struct optr_partial_report_t *report,
                                         optr_request_t *request);

// Takes part in no group any more, and waits until the others do not, either: until then this rank forms their groups, if it did.
// OPTR_PEER_FAILED names a rank that has not closed and lives, after the timeout of the config; this rank's part is over all the same.
// All ranks call it, before optr_comm_finalize(); their models still differ: optr_all_reduce_exact() gives all the mean. Afterwards only
// optr_partial_destroy() is of use.
//
// Threads: any, one at a time per partial reduce; blocks.
optr_status_t optr_partial_close(optr_partial_t partial);

// Ends this rank's part, and gives its memory back. Does not wait for other ranks: if it was not closed before, to them it has died.
// Calls of other threads that run give OPTR_CLOSED.
//
// Threads: any, at any time; takes at most about a second.
optr_status_t optr_partial_destroy(optr_partial_t partial);

// Whether something that has begun is done: *done is 1 or 0. If it is, its result was written, the report is filled in (NULL
// will do if it is no collective of a bucket), and *request becomes NULL; the status is then that of what has begun.
//
// Threads: any, one at a time per request; does not block.
optr_status_t optr_request_test(optr_request_t *request, int *done, struct optr_report_t *report);

// Waits until something that has begun is done, at most timeout_us (OPTR_NO_TIMEOUT: as long as it takes). Then its result
// was written, the report is filled in (NULL will do if it is no collective of a bucket), and *request becomes NULL.
// OPTR_TIMEOUT: it goes on, wait again.
//
// Threads: any, one at a time per request; blocks.
optr_status_t optr_request_wait(optr_request_t *request, uint64_t timeout_us, struct optr_report_t *report);

// Has a function called once what has begun is done, also if it fails: see optr_callback_t. *request becomes NULL; the
// output must stay valid until then. context is handed to the function as it is.
//
// Threads: any, one at a time per request; does not block. The function is called on a thread of the library's, one after
// the other.
optr_status_t optr_request_on_done(optr_request_t *request, optr_callback_t callback, void *context);

// Gives a request up: what has begun goes on, but its result is written nowhere; a message that is not on its way is
// withdrawn. *request becomes NULL. A collective with memory from optr_alloc() has it until it is done.
//
// Threads: any, one at a time per request; does not block.
optr_status_t optr_request_free(optr_request_t *request);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

// The defaults.
static inline optr_config_t optr_config_init(void) {
    optr_config_t config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    return config;
}

// The defaults.
static inline optr_bucket_options_t optr_bucket_options_init(void) {
    optr_bucket_options_t options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

// The defaults.
static inline optr_partial_options_t optr_partial_options_init(void) {
    optr_partial_options_t options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

// A report without room for members; set members and member_capacity for that.
static inline optr_partial_report_t optr_partial_report_init(void) {
    optr_partial_report_t report;
    memset(&report, 0, sizeof report);
    report.size = sizeof report;
    report.member_size = sizeof(optr_partial_member_t);
    return report;
}

// A report without room for peers; set peers and peer_capacity for that.
static inline optr_report_t optr_report_init(void) {
    optr_report_t report;
    memset(&report, 0, sizeof report);
    report.size = sizeof report;
    report.peer_size = sizeof(optr_peer_report_t);
    return report;
}

#endif /* OPTIREDUCE_H */
