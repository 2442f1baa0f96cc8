/* Every collective in every form of call, with results checked on all ranks. */
#include "ranks.h"

#define RANKS 3
#define ELEMENTS 10007 /* a prime: shards differ in length */

/* Values with exact means, also in bf16. */
static float value(int rank, size_t i) { return (float)(3 * ((i * 7 + (size_t)rank * 3) % 16)); }

static float mean(size_t i) {
    float sum = 0;
    for (int rank = 0; rank < RANKS; rank++) sum += value(rank, i);
    return sum / RANKS;
}

static void fill(float *values, int rank) {
    for (size_t i = 0; i < ELEMENTS; i++) values[i] = value(rank, i);
}

/* `count` means from element `first`, times `factor`. */
static void check_means(const float *values, size_t first, size_t count, float factor) {
    for (size_t i = 0; i < count; i++) {
        float expected = factor * mean(first + i);
        if (fabsf(values[i] - expected) > 1e-4f * (1 + expected)) FAIL("element %zu is %f, not %f", first + i, values[i], expected);
    }
}

/* A report in which nothing is missing. */
static void check_report(const optr_report_t *report) {
    CHECK(report->is_applied && report->elements == ELEMENTS && report->ranks == RANKS);
    CHECK(report->late_ranks == 0 && report->missing_elements == 0 && report->not_finite == 0 && report->joined_rank == -1);
    uint64_t expected = 0;
    for (int i = 0; i < 2; i++) {
        const optr_stage_report_t *stage = &report->stages[i];
        CHECK(stage->received_bytes == stage->expected_bytes && stage->received_fraction == 1);
        CHECK(stage->closed_by == OPTR_COMPLETE);
        expected += stage->expected_bytes;
    }
    CHECK(report->expected_bytes == expected && expected > 0 && report->lost_bytes == 0);
    CHECK(report->bound_ns == 3000000000u && report->size == sizeof *report);
}

static void check_peers(const optr_report_t *report, int rank) {
    CHECK(report->peer_count == RANKS);
    for (uint32_t i = 0; i < report->peer_count; i++) {
        const optr_peer_report_t *peer = &report->peers[i];
        CHECK(peer->rank == i && peer->is_live == 1 && peer->is_late == 0 && peer->reserved == 0);
        CHECK(peer->received_fraction[0] == 1 && peer->received_fraction[1] == 1);
        CHECK(peer->received_bytes[0] == peer->expected_bytes[0]);
        CHECK((peer->expected_bytes[0] > 0) == (i != (uint32_t)rank));
    }
}

struct outcome {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int calls;
    optr_status_t status;
    char error[200];
};

static void on_done(optr_status_t status, const char *error, void *context) {
    struct outcome *outcome = context;
    pthread_mutex_lock(&outcome->lock);
    outcome->calls++;
    outcome->status = status;
    snprintf(outcome->error, sizeof outcome->error, "%s", error);
    pthread_cond_signal(&outcome->changed);
    pthread_mutex_unlock(&outcome->lock);
}

static void wait_for(struct outcome *outcome) {
    pthread_mutex_lock(&outcome->lock);
    while (outcome->calls == 0) pthread_cond_wait(&outcome->changed, &outcome->lock);
    pthread_mutex_unlock(&outcome->lock);
}

static void rank(optr_comm_t comm, int rank) {
    static float all[RANKS][4][ELEMENTS];
    float *in = all[rank][0], *out = all[rank][1], *more = all[rank][2], *again = all[rank][3];
    optr_peer_report_t peers[RANKS];
    optr_report_t report = optr_report_init();
    size_t first, count;
    int number;
    optr_status_t error;
    OK(optr_comm_rank(comm, &number));
    CHECK(number == rank);
    OK(optr_comm_world_size(comm, &number));
    CHECK(number == RANKS);
    OK(optr_comm_shard(comm, ELEMENTS, &first, &count));
    CHECK(first == (size_t)rank * 3336 && count == (rank == 2 ? 3335 : 3336));
    OK(optr_barrier(comm, NULL));

    /* Exact collectives. */
    for (size_t i = 0; i < ELEMENTS; i++) out[i] = rank == 1 ? (float)i : -1;
    OK(optr_exact_broadcast(comm, 1, out, ELEMENTS, OPTR_FLOAT32, NULL));
    for (size_t i = 0; i < ELEMENTS; i++) CHECK(out[i] == (float)i);

    /* Blocking collectives of a bucket. */
    optr_bucket_t bucket, sums;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    fill(in, rank);
    OK(optr_bucket_all_reduce(bucket, in, out, ELEMENTS, &report, NULL));
    check_means(out, 0, ELEMENTS, 1), check_report(&report);
    CHECK(in[5] == value(rank, 5) && report.peers == NULL && report.peer_count == RANKS);
    OK(optr_bucket_reduce_scatter(bucket, in, ELEMENTS, out, count, &report, NULL));
    check_means(out, first, count, 1);
    CHECK(report.is_applied);
    memcpy(more + first, out, count * sizeof *out);
    OK(optr_bucket_all_gather(bucket, more + first, count, more, ELEMENTS, &report, NULL)); /* in place, as in NCCL */
    check_means(more, 0, ELEMENTS, 1);
    optr_bucket_options_t options = optr_bucket_options_init();
    options.op = OPTR_SUM;
    options.hadamard = OPTR_OFF;
    options.repair = OPTR_REPAIR_OFF;
    OK(optr_bucket_create(comm, ELEMENTS, &options, &sums, NULL));
    report.peers = peers;
    report.peer_capacity = RANKS;
    fill(in, rank);
    OK(optr_bucket_all_reduce(bucket, in, out, ELEMENTS, &report, NULL));
    check_means(out, 0, ELEMENTS, 1), check_report(&report), check_peers(&report, rank);
    CHECK(in[9] == value(rank, 9) && report.peers == peers && report.peer_capacity == RANKS);
    OK(optr_bucket_all_reduce(bucket, in, in, ELEMENTS, &report, NULL));
    CHECK(memcmp(in, out, sizeof all[0][0]) == 0);
    fill(in, rank);
    OK(optr_bucket_all_reduce(sums, in, out, ELEMENTS, &report, NULL));
    check_means(out, 0, ELEMENTS, RANKS), check_report(&report);
    OK(optr_bucket_reduce_scatter(bucket, in, ELEMENTS, in, count, &report, NULL)); /* the output is a part of the input */
    check_means(in, first, count, 1);
    OK(optr_bucket_all_gather(bucket, in, count, in, ELEMENTS, &report, NULL)); /* the input is a part of the output */
    check_means(in, 0, ELEMENTS, 1);

    /* In memory of the library. */
    void *values;
    OK(optr_alloc(comm, ELEMENTS * sizeof(float), &values));
    for (int step = 0; step < 3; step++) {
        fill(values, rank);
        OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
        check_means(values, 0, ELEMENTS, 1), check_report(&report);
    }
    OK(optr_free(comm, values));

    /* Several concurrent requests: waited for, tested, with a callback, freed. */
    optr_request_t requests[4];
    optr_report_t reports[4];
    for (int i = 0; i < 4; i++) reports[i] = optr_report_init();
    reports[0].peers = peers, reports[0].peer_capacity = RANKS;
    fill(in, rank);
    fill(more, rank);
    fill(again, rank);
    OK(optr_bucket_all_reduce(bucket, in, in, ELEMENTS, &reports[0], &requests[0]));
    OK(optr_bucket_all_reduce(sums, more, out, ELEMENTS, &reports[1], &requests[1]));
    OK(optr_bucket_reduce_scatter(bucket, again, ELEMENTS, again, count, &reports[2], &requests[2]));
    OK(optr_bucket_all_reduce(bucket, more, more, ELEMENTS, &reports[3], &requests[3]));
    OK(optr_request_free(&requests[3]));
    CHECK(requests[3] == NULL);
    static struct outcome outcomes[RANKS][2];
    memset(outcomes[rank], 0, sizeof outcomes[rank]);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&outcomes[rank][i].lock, NULL);
        pthread_cond_init(&outcomes[rank][i].changed, NULL);
    }
    OK(optr_request_on_done(&requests[2], on_done, &outcomes[rank][0]));
    CHECK(requests[2] == NULL);
    OK(optr_request_wait(&requests[0], OPTR_NO_TIMEOUT));
    CHECK(requests[0] == NULL);
    check_means(in, 0, ELEMENTS, 1), check_report(&reports[0]), check_peers(&reports[0], rank);
    OK(test_until_done(&requests[1]));
    check_means(out, 0, ELEMENTS, RANKS), check_report(&reports[1]);
    CHECK(reports[1].number == reports[0].number + 1);
    wait_for(&outcomes[rank][0]);
    CHECK(outcomes[rank][0].status == OPTR_SUCCESS && !*outcomes[rank][0].error);
    CHECK(reports[2].is_applied == 1 && reports[2].peer_count == RANKS && reports[3].peer_count == 0);
    check_means(again, first, count, 1);
    for (size_t i = 0; i < ELEMENTS; i++) CHECK(more[i] == value(rank, i)); /* the request was freed */
    /* A callback for a finished request is still called. */
    fill(in, rank);
    OK(optr_bucket_all_gather(bucket, again, count, in, ELEMENTS, &reports[0], &requests[0]));
    OK(optr_barrier(comm, NULL));
    sleep_ms(50);
    OK(optr_request_on_done(&requests[0], on_done, &outcomes[rank][1]));
    wait_for(&outcomes[rank][1]);
    check_means(in, 0, ELEMENTS, 1);

    /* Creation and settling with requests. */
    optr_bucket_t other = (optr_bucket_t)in;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &other, &requests[0]));
    OK(test_until_done(&requests[0]));
    fill(in, rank);
    OK(optr_bucket_all_reduce(other, in, in, ELEMENTS, &report, NULL));
    check_means(in, 0, ELEMENTS, 1);
    int has_correction = 7, is_settled = 7;
    OK(optr_bucket_settle(other, OPTR_NO_TIMEOUT, out, ELEMENTS, &has_correction, &is_settled, &requests[0]));
    OK(optr_request_wait(&requests[0], OPTR_NO_TIMEOUT));
    CHECK(has_correction == 0 && is_settled == 1);

    /* Metrics. */
    char *json;
    for (int i = 0; i < 2; i++) {
        OK(optr_comm_metrics(comm, &json, i ? &requests[0] : NULL));
        if (i) OK(optr_request_wait(&requests[0], OPTR_NO_TIMEOUT));
        CHECK(json[0] == '{' && json[strlen(json) - 1] == '}' && strstr(json, "\"settings\":{"));
        CHECK(strstr(json, "\"bound_ms\":\"3000\"") && strstr(json, "\"world_size\":\"3\"") && strstr(json, "\"rtt_us\":["));
        OK(optr_free(comm, json));
    }

    /* The end, with and without a request. */
    OK(optr_bucket_settle(bucket, OPTR_NO_TIMEOUT, out, ELEMENTS, &has_correction, &is_settled, NULL));
    CHECK(has_correction == 0 && is_settled == 1);
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS);
    OK(optr_bucket_destroy(sums));
    OK(optr_comm_close(comm, rank == 1 ? NULL : &requests[0]));
    if (rank != 1) OK(optr_request_wait(&requests[0], OPTR_NO_TIMEOUT));
    FAILS(optr_barrier(comm, NULL), OPTR_CLOSED, "was closed");
    OK(optr_comm_destroy(comm));
    CHECK(outcomes[rank][0].calls == 1 && outcomes[rank][1].calls == 1);
}

/* Rank 1 calls only after rank 0 has returned, so rank 0 loses everything: two updates are skipped,
 * and then each call halts. In every form of call the output is zeros, and the ranks stay in step. */
#define LARGE 100000 /* in packets for 1500 bytes, three all-reduces have more than 512 */
#define WAYS 5
static int has_returned;

static void late_rank(optr_comm_t comm, int rank) {
    static float all[2][2][LARGE];
    float *in = all[rank][0], *out = all[rank][1];
    optr_peer_report_t peers[2];
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    optr_request_t request;
    optr_status_t error;
    uint32_t ops[2];
    static struct outcome outcomes[2];
    struct outcome *outcome = &outcomes[rank];
    pthread_mutex_init(&outcome->lock, NULL);
    pthread_cond_init(&outcome->changed, NULL);
    report.peers = peers, report.peer_capacity = 2;
    void *values;
    OK(optr_alloc(comm, LARGE * sizeof *out, &values));
    OK(optr_bucket_create(comm, LARGE, NULL, &bucket, NULL));
    if (rank == 1) wait_for_flag(&has_returned);
    for (int call = -2; call < WAYS; call++) {
        optr_status_t status = OPTR_INTERNAL;
        const float *result = out;
        size_t count = LARGE;
        report.is_applied = 1;
        for (size_t i = 0; i < LARGE; i++) in[i] = 5, out[i] = -1;
        switch (call) {
        case 0:
            OK(optr_bucket_all_reduce(bucket, in, out, LARGE, &report, &request));
            status = optr_request_wait(&request, OPTR_NO_TIMEOUT);
            CHECK(request == NULL);
            break;
        case 1:
            memcpy(values, in, LARGE * sizeof *in);
            status = optr_bucket_all_reduce(bucket, values, values, LARGE, &report, NULL);
            result = values;
            break;
        case 2:
            OK(optr_comm_shard(comm, LARGE, &(size_t){0}, &count));
            status = optr_bucket_reduce_scatter(bucket, in, LARGE, out, count, &report, NULL);
            break;
        case 3:
            OK(optr_bucket_all_reduce(bucket, in, out, LARGE, &report, &request));
            OK(optr_request_on_done(&request, on_done, outcome));
            wait_for(outcome);
            status = outcome->status;
            if (rank == 0) CHECK(strstr(outcome->error, "stop the job"));
            break;
        default: status = optr_bucket_all_reduce(bucket, in, out, LARGE, &report, NULL);
        }
        if (rank == 1) { /* it may skip and halt, too */
            CHECK(status == OPTR_SUCCESS || status == OPTR_HALTED);
        } else if (call < 0) {
            CHECK(status == OPTR_SUCCESS && !report.is_applied);
        } else {
            CHECK(status == OPTR_HALTED && !report.is_applied);
            if (call != 3) CHECK(strstr(optr_last_error(), "stop the job"));
        }
        if (rank == 0) {
            CHECK(report.stages[0].received_bytes < report.stages[0].expected_bytes && report.number == (uint32_t)(call + 2));
            CHECK(peers[1].received_fraction[0] < 1 && peers[0].received_fraction[0] == 1 && peers[0].is_late == 0);
        }
        for (size_t i = 0; !report.is_applied && i < count; i++) CHECK(result[i] == 0);
    }
    if (rank == 0) set_flag(&has_returned);
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS);
    OK(optr_barrier(comm, NULL));
    error = optr_bucket_all_reduce(bucket, in, out, LARGE, &report, NULL);
    CHECK(error == OPTR_SUCCESS || error == OPTR_HALTED);
    ops[rank] = report.number;
    OK(optr_exact_broadcast(comm, 0, &ops[0], 1, OPTR_UINT32, NULL));
    CHECK(ops[0] == WAYS + 2 && ops[rank] == WAYS + 2);
    OK(optr_comm_close(comm, NULL)); /* all ranks made as many calls */
    OK(optr_comm_destroy(comm));
}

/* Rank 0 has skipped an update, and ends the job with or without it. */
static int settles, has_skipped;

static void ends(optr_comm_t comm, int rank) {
    static float all[2][ELEMENTS], corrections[2][ELEMENTS];
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    int has_correction, is_settled;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    for (size_t i = 0; i < ELEMENTS; i++) all[rank][i] = 5;
    if (rank == 1) wait_for_flag(&has_skipped);
    OK(optr_bucket_all_reduce(bucket, all[rank], all[rank], ELEMENTS, &report, NULL));
    if (rank == 0) CHECK(!report.is_applied);
    if (rank == 0) set_flag(&has_skipped);
    if (settles || rank == 1) {
        OK(optr_bucket_settle(bucket, OPTR_NO_TIMEOUT, corrections[rank], ELEMENTS, &has_correction, &is_settled, NULL));
        CHECK(is_settled == 1 && (rank == 1 || (has_correction == 1 && corrections[rank][7] == 5)));
    }
    if (settles || rank == 1) OK(optr_comm_close(comm, NULL));
    else FAILS(optr_comm_close(comm, NULL), OPTR_UNSETTLED, "this replica lacks 40028 bytes of repairs of buckets [0]");
    FAILS(optr_barrier(comm, NULL), OPTR_CLOSED, "was closed");
    OK(optr_comm_destroy(comm));
}

int main(void) {
    CHECK(optr_version() == OPTR_VERSION);
    job_config = patient_config();
    run_ranks(RANKS, rank);
    /* A second job in the same process, with other settings. */
    job_config.bf16 = OPTR_ON;
    job_config.hadamard = OPTR_OFF;
    job_config.drop_silent_after = OPTR_NEVER;
    job_config.repair = OPTR_REPAIR_THIS_UPDATE;
    job_config.agree = OPTR_ON;
    run_ranks(RANKS, rank);
    job_config = patient_config();
    job_config.bound_ms = 20;
    job_config.mtu = 1500;
    job_config.drop_silent_after = OPTR_NEVER;
    job_config.repair = OPTR_REPAIR_OFF;
    run_ranks(2, late_rank);
    job_config.repair = OPTR_REPAIR_NEXT_UPDATE;
    for (settles = 0; settles < 2; settles++, has_skipped = 0) run_ranks(2, ends);
    puts("done");
    return 0;
}
