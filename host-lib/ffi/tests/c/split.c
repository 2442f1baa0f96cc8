/* Communicators of some of the ranks: two-level all-reduces with exact sums, ranks without a
 * color, and separate ends. Buckets and jobs on two levels. */
#include "ranks.h"

#define RANKS 4
#define ELEMENTS 10007 /* a prime: shards differ in length */

/* Integers, so that all sums and their fourths are exact. */
static float value(int rank, size_t i) { return (float)((i * 7 + (size_t)rank * 31) % 1024); }

static int rank_of(optr_comm_t comm) {
    int rank;
    OK(optr_comm_rank(comm, &rank));
    return rank;
}

static int size_of(optr_comm_t comm) {
    int size;
    OK(optr_comm_world_size(comm, &size));
    return size;
}

/* Reduce-scatter between neighbours, average of the shards across groups, all-gather in each
 * group. */
static void reduce_on_two_levels(optr_comm_t inside, optr_comm_t across, int rank) {
    optr_bucket_t in_group, of_shards;
    static float given[RANKS][ELEMENTS], got[RANKS][ELEMENTS], shards[RANKS][ELEMENTS];
    float *shard = shards[rank];
    optr_report_t report = optr_report_init();
    size_t first, count;
    OK(optr_comm_shard(inside, ELEMENTS, &first, &count));
    for (size_t i = 0; i < ELEMENTS; i++) given[rank][i] = value(rank, i);
    OK(optr_bucket_create(inside, ELEMENTS, NULL, &in_group, NULL));
    OK(optr_bucket_create(across, count, NULL, &of_shards, NULL));
    OK(optr_bucket_reduce_scatter(in_group, given[rank], ELEMENTS, shard, count, &report, NULL));
    OK(optr_bucket_all_reduce(of_shards, shard, shard, count, &report, NULL));
    OK(optr_bucket_all_gather(in_group, shard, count, got[rank], ELEMENTS, &report, NULL));
    for (size_t i = 0; i < ELEMENTS; i++) {
        float mean = (value(0, i) + value(1, i) + value(2, i) + value(3, i)) / RANKS;
        if (got[rank][i] != mean) FAIL("element %zu is %f, not %f", i, got[rank][i], mean);
    }
}

/* All-reduces on two levels, blocking and with a request, in place and in allocated memory. */
static void reduce_on_levels(optr_comm_t comm, const optr_bucket_options_t *options, int rank) {
    static float data[RANKS][ELEMENTS];
    optr_bucket_t bucket;
    optr_report_t report = optr_report_init();
    optr_request_t request;
    void *memory[2];
    OK(optr_bucket_create(comm, ELEMENTS, options, &bucket, NULL));
    for (int i = 0; i < 2; i++) OK(optr_alloc(comm, sizeof data[0], &memory[i]));
    float *given = memory[0], *mean = memory[1];
    for (size_t i = 0; i < ELEMENTS; i++) given[i] = data[rank][i] = value(rank, i);
    OK(optr_bucket_all_reduce(bucket, given, mean, ELEMENTS, &report, &request));
    OK(rank ? test_until_done(&request) : optr_request_wait(&request, OPTR_NO_TIMEOUT));
    OK(optr_bucket_all_reduce(bucket, data[rank], data[rank], ELEMENTS, &report, NULL));
    CHECK(report.is_applied == 1 && report.ranks == RANKS && report.lost_bytes == 0);
    for (size_t i = 0; i < ELEMENTS; i++) {
        float expected = (value(0, i) + value(1, i) + value(2, i) + value(3, i)) / RANKS;
        if (data[rank][i] != expected || mean[i] != expected) FAIL("element %zu is %f and %f, not %f", i, data[rank][i], mean[i], expected);
    }
    size_t count = rank % 2 ? ELEMENTS / 2 : ELEMENTS - ELEMENTS / 2;
    FAILS(optr_bucket_reduce_scatter(bucket, given, ELEMENTS, mean, count, &report, NULL), OPTR_UNSUPPORTED,
          "reduce_scatter is not supported on two levels; declare a bucket without groups");
    int32_t has_correction, is_settled;
    OK(optr_bucket_settle(bucket, OPTR_NO_TIMEOUT, mean, ELEMENTS, &has_correction, &is_settled, NULL));
    CHECK(has_correction == 0 && is_settled == 1);
    for (int i = 0; i < 2; i++) OK(optr_free(comm, memory[i]));
    OK(optr_bucket_destroy(bucket));
}

static void rank_on_levels(optr_comm_t comm, int rank) {
    optr_comm_t none;
    reduce_on_levels(comm, NULL, rank);
    FAILS(optr_comm_split(comm, 0, &none, NULL), OPTR_UNSUPPORTED, "split is not supported on two levels; connect without groups");
    FAILS(optr_send(comm, 0, 1, "x", 1, NULL), OPTR_UNSUPPORTED, "send is not supported on two levels");
    OK(optr_barrier(comm, NULL));
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

static void rank(optr_comm_t comm, int rank) {
    optr_bucket_options_t options = optr_bucket_options_init();
    options.groups = "2";
    reduce_on_levels(comm, &options, rank);
    options.groups = "3";
    optr_bucket_t bucket;
    FAILS(optr_bucket_create(comm, ELEMENTS, &options, &bucket, NULL), OPTR_INVALID_ARGUMENT, "4 ranks in 3 groups");
    optr_comm_t inside, across, none = comm;
    OK(optr_comm_split(comm, rank / 2, &inside, NULL));
    optr_request_t request;
    OK(optr_comm_split(comm, rank % 2, &across, &request));
    CHECK(across == NULL);
    OK(rank ? test_until_done(&request) : optr_request_wait(&request, OPTR_NO_TIMEOUT));
    CHECK(rank_of(inside) == rank % 2 && size_of(inside) == 2 && rank_of(across) == rank / 2 && size_of(across) == 2);
    reduce_on_two_levels(inside, across, rank);
    /* Three ranks without rank 2. */
    OK(optr_comm_split(comm, rank == 2 ? OPTR_NO_COLOR : 7, &none, NULL));
    if (rank == 2) {
        CHECK(none == NULL);
    } else {
        CHECK(size_of(none) == 3 && rank_of(none) == (rank > 2 ? 2 : rank));
        OK(optr_barrier(none, NULL));
        OK(optr_comm_destroy(none));
    }
    /* The parent communicator may end first. */
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
    OK(optr_barrier(inside, NULL));
    OK(optr_comm_close(inside, NULL));
    OK(optr_comm_destroy(inside));
    OK(optr_comm_abort(across));
    FAILS(optr_comm_split(across, 0, &none, NULL), OPTR_ABORTED, "the communicator was aborted");
    OK(optr_comm_destroy(across));
}

static void *split(void *comm) {
    optr_comm_t new_comm;
    FAILS(optr_comm_split(comm, 0, &new_comm, NULL), OPTR_ABORTED, "the communicator was aborted");
    CHECK(new_comm == NULL);
    return NULL;
}

static void other_call(optr_comm_t comm, int rank) {
    optr_comm_t new_comm;
    optr_status_t status = rank == 0 ? optr_comm_split(comm, 0, &new_comm, NULL) : optr_barrier(comm, NULL);
    CHECK(status == OPTR_MISMATCH && strstr(optr_last_error(), "split"));
    OK(optr_comm_destroy(comm));
}

static pthread_barrier_t at_the_end;

static void misuse(optr_comm_t comm, int rank) {
    optr_comm_t new_comm = comm;
    FAILS(optr_comm_split(comm, 0, NULL, NULL), OPTR_INVALID_ARGUMENT, "new_comm is NULL");
    FAILS(optr_comm_split(NULL, 0, &new_comm, NULL), OPTR_INVALID_HANDLE, "comm");
    FAILS(optr_comm_split(comm, -2, &new_comm, NULL), OPTR_INVALID_ARGUMENT, "color is -2, expected 0 or more, or OPTR_NO_COLOR");
    CHECK(new_comm == NULL);
    /* A color may have one rank. */
    OK(optr_comm_split(comm, rank, &new_comm, NULL));
    int alone = 0;
    OK(optr_comm_world_size(new_comm, &alone));
    CHECK(alone == 1);
    OK(optr_comm_destroy(new_comm));
    OK(optr_barrier(comm, NULL));
    /* The other ranks do not call it, until it is aborted. */
    if (rank == 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, split, comm) == 0);
        sleep_ms(50);
        OK(optr_comm_abort(comm));
        CHECK(pthread_join(thread, NULL) == 0);
    }
    pthread_barrier_wait(&at_the_end);
    OK(optr_comm_destroy(comm));
}

int main(void) {
    job_config = patient_config();
    run_ranks(RANKS, rank);
    job_config.groups = "2";
    run_ranks(RANKS, rank_on_levels);
    job_config.groups = NULL;
    run_ranks(2, other_call);
    CHECK(pthread_barrier_init(&at_the_end, NULL, 2) == 0);
    run_ranks(2, misuse);
    puts("done");
    return 0;
}
