/* Ranks that differ: all get the same text, with the rank and both values. */
#include "ranks.h"
#include <arpa/inet.h>
#include <sys/socket.h>

#define RANKS 3
#define ELEMENTS 100

static const char *different(const char *text) {
    static _Thread_local char whole[300];
    snprintf(whole, sizeof whole, "the ranks differ: %s", text);
    return whole;
}

/* Differences after which the communicator stays usable. */
static void goes_on(optr_comm_t comm, int rank) {
    float values[ELEMENTS + 2] = {0};
    char all[RANKS * (ELEMENTS + 1)];
    size_t elements = ELEMENTS + (rank == 2);
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    optr_bucket_options_t options = optr_bucket_options_init();
    optr_status_t error;
    FAILS(optr_bucket_create(comm, elements, NULL, &bucket, NULL), OPTR_MISMATCH, different("elements is 101 on rank 2, but 100 on rank 0"));
    CHECK(bucket == NULL);
    options.op = rank == 1 ? OPTR_SUM : OPTR_AVG;
    FAILS(optr_bucket_create(comm, ELEMENTS, &options, &bucket, NULL), OPTR_MISMATCH, different("reduce_op is Sum on rank 1, but Avg on rank 0"));
    FAILS(optr_exact_broadcast(comm, rank == 1, values, 100, OPTR_FLOAT32, NULL), OPTR_MISMATCH, different("the root is 1 on rank 1, but 0 on rank 0"));
    FAILS(optr_exact_broadcast(comm, 0, values, elements, OPTR_UINT8, NULL), OPTR_MISMATCH, different("elements is 101 on rank 2, but 100 on rank 0"));
    FAILS(optr_exact_broadcast(comm, 0, values, 100, rank == 2 ? OPTR_INT8 : OPTR_UINT8, NULL), OPTR_MISMATCH, different("the element type is i8 on rank 2, but u8 on rank 0"));
    if (rank == 0)
        FAILS(optr_barrier(comm, NULL), OPTR_MISMATCH, different("the call is exact broadcast on rank 1, but barrier on rank 0"));
    else
        FAILS(optr_exact_broadcast(comm, 0, values, 100, OPTR_FLOAT32, NULL), OPTR_MISMATCH, different("the call is exact broadcast on rank 1, but barrier on rank 0"));
    FAILS(optr_exact_all_gather(comm, values, elements, all, NULL), OPTR_MISMATCH, different("bytes is 101 on rank 2, but 100 on rank 0"));
    FAILS(optr_exact_all_gather(comm, values, rank == 2 ? 0 : 4, all, NULL), OPTR_MISMATCH, different("bytes is 0 on rank 2, but 4 on rank 0"));
    FAILS(optr_exact_all_to_all(comm, values, rank == 2 ? 3 : 4, all, NULL), OPTR_MISMATCH, different("bytes is 3 on rank 2, but 4 on rank 0"));
    /* Only the root has all lengths, and only the other ranks have the length of their part. */
    const char *only = different("bytes is 3 on rank 2, but 4 on rank 0");
    if (rank == 0) FAILS(optr_exact_gather(comm, 0, values, 4, all, NULL), OPTR_MISMATCH, only);
    else OK(optr_exact_gather(comm, 0, values, rank == 2 ? 3 : 4, all, NULL));
    if (rank == 2) FAILS(optr_exact_scatter(comm, 0, values, all, 3, NULL), OPTR_MISMATCH, different("bytes is 4 on rank 0, but 3 on this rank"));
    else OK(optr_exact_scatter(comm, 0, values, all, 4, NULL));
    if (rank == 2) FAILS(optr_exact_scatter(comm, 0, values, all, 5, NULL), OPTR_MISMATCH, different("bytes is 4 on rank 0, but 5 on this rank"));
    else OK(optr_exact_scatter(comm, 0, values, all, 4, NULL));
    FAILS(optr_exact_gather(comm, rank == 2, values, 4, all, NULL), OPTR_MISMATCH, different("the root is 1 on rank 2, but 0 on rank 0"));
    FAILS(optr_exact_all_reduce(comm, values, values, elements, OPTR_FLOAT32, OPTR_SUM, NULL), OPTR_MISMATCH, different("elements is 101 on rank 2"));
    FAILS(optr_exact_all_reduce(comm, values, values, 50, rank ? OPTR_FLOAT64 : OPTR_INT64, OPTR_SUM, NULL), OPTR_MISMATCH, different("the element type is f64 on rank 1, but i64 on rank 0"));
    FAILS(optr_exact_all_reduce(comm, values, values, 50, OPTR_INT64, rank ? OPTR_MIN : OPTR_MAX, NULL), OPTR_MISMATCH, different("the operation is min on rank 1, but max on rank 0"));
    optr_request_t request;
    OK(optr_exact_broadcast(comm, 0, values, elements, OPTR_UINT8, &request));
    FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_MISMATCH, different("elements is 101 on rank 2, but 100 on rank 0"));
    OK(optr_bucket_create(comm, elements, NULL, &bucket, &request));
    FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_MISMATCH, different("elements is 101 on rank 2, but 100 on rank 0"));
    CHECK(bucket == NULL && request == NULL);
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS);
    OK(optr_barrier(comm, NULL));
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* A rank passes a wrong number of values, which ends the job on all ranks. kind 0: blocking, 1: a
 * request, 2: a shard. */
static int kind;

static void wrong_length(optr_comm_t comm, int rank) {
    float values[ELEMENTS + 1];
    for (int i = 0; i <= ELEMENTS; i++) values[i] = 7;
    size_t elements = ELEMENTS + (rank == 2), shard = kind == 2 && rank == 1 ? 30 : rank == 2 ? 32 : 34;
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    optr_request_t request;
    optr_status_t error;
    const char *text = kind == 2 ? "rank 1" : "rank 2";
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    if (kind == 0) FAILS(optr_bucket_all_reduce(bucket, values, values, elements, &report, NULL), OPTR_MISMATCH, text);
    if (kind == 1) {
        OK(optr_bucket_all_reduce(bucket, values, values, elements, &report, &request));
        FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_MISMATCH, text);
        CHECK(request == NULL);
    }
    if (kind == 2) FAILS(optr_bucket_all_gather(bucket, values, shard, values, ELEMENTS, &report, NULL), OPTR_MISMATCH, text);
    CHECK(strstr(optr_last_error(), kind == 2 ? "is 30 on rank 1" : "is 101 on rank 2"));
    CHECK(strstr(optr_last_error(), ", expected "));
    for (int i = 0; i <= ELEMENTS; i++) CHECK(values[i] == 7);
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_MISMATCH && strstr(optr_last_error(), text));
    FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_MISMATCH, text);
    /* Wait until all ranks have the error. */
    sleep_ms(500);
    OK(optr_comm_destroy(comm));
}

/* One collective fewer on one rank, found by optr_comm_close(NULL). */
static void one_fewer(optr_comm_t comm, int rank) {
    float values[ELEMENTS] = {0};
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    if (rank != 1) OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
    FAILS(optr_comm_close(comm, NULL), OPTR_MISMATCH, "the ranks differ: ");
    CHECK(strstr(optr_last_error(), "rank 1") && strstr(optr_last_error(), "rank 0"));
    FAILS(optr_barrier(comm, NULL), OPTR_CLOSED, "closed");
    OK(optr_comm_destroy(comm));
}

/* With different settings no rank gets a communicator. */
static void *join_with_other_settings(void *number) {
    int rank = this_rank = (int)(size_t)number;
    optr_config_t config = job_config;
    config.repair = rank == 1 ? OPTR_REPAIR_OFF : OPTR_REPAIR_NEXT_UPDATE;
    optr_comm_t comm;
    FAILS(optr_comm_init_rank(&comm, RANKS, &job_id, rank, &config), OPTR_MISMATCH, "repair is off on rank 1, but next_update on rank 0");
    CHECK(comm == NULL);
    return NULL;
}

/* Rank 2 has another version of the library. The others can only parse its greeting. */
static int join_with_another_version(void) {
    int port, joined;
    char job[33], frame[200] = {0};
    CHECK(sscanf((const char *)job_id.bytes, "optireduce 1 127.0.0.1:%d %32s", &port, job) == 2);
    /* A length of four bytes, and a type of one byte. */
    int bytes = snprintf(frame + 5, sizeof frame - 5, "{\"version\":1,\"job_id\":\"%s\",\"world_size\":3,\"member\":{\"rank\":2}}", job);
    frame[0] = (char)bytes;
    struct sockaddr_in root;
    memset(&root, 0, sizeof root);
    root.sin_family = AF_INET;
    root.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    root.sin_port = htons((uint16_t)port);
    for (int tries = 0;; tries++) {
        CHECK((joined = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && tries < 2000);
        if (!connect(joined, (struct sockaddr *)&root, sizeof root)) break; /* rank 0 listens */
        close(joined);
        sleep_ms(10);
    }
    CHECK(write(joined, frame, (size_t)bytes + 5) == bytes + 5);
    return joined;
}

static void *join_one_of_another_version(void *number) {
    this_rank = (int)(size_t)number;
    optr_comm_t comm;
    FAILS(optr_comm_init_rank(&comm, RANKS, &job_id, this_rank, &job_config), OPTR_MISMATCH, "the ranks differ: the protocol version (");
    CHECK(strstr(optr_last_error(), ") is 1 on rank 2, but "));
    CHECK(comm == NULL);
    return NULL;
}

int main(void) {
    job_config = patient_config();
    run_ranks(RANKS, goes_on);
    for (kind = 0; kind < 3; kind++) run_ranks(RANKS, wrong_length);
    job_config.bound_ms = 300;
    run_ranks(RANKS, one_fewer);
    pthread_t threads[RANKS];
    OK(optr_get_unique_id("127.0.0.1", &job_id));
    for (int i = 0; i < RANKS; i++) CHECK(pthread_create(&threads[i], NULL, join_with_other_settings, (void *)(size_t)i) == 0);
    for (int i = 0; i < RANKS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    OK(optr_get_unique_id("127.0.0.1", &job_id));
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, join_one_of_another_version, (void *)(size_t)i) == 0);
    int joined = join_with_another_version();
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(close(joined) == 0);
    puts("done");
    return 0;
}
