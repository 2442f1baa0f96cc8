/* Memory from optr_alloc: address of results, copies, conflicts with collectives in progress, and
 * contents after the end. */
#include "ranks.h"

#define ELEMENTS 20000
#define BYTES (ELEMENTS * sizeof(float))
#define RANKS 2

/* Shared by the ranks. */
static uint64_t copied[RANKS];
static int may_go, is_over[2];

static float *allocated(optr_comm_t comm, size_t elements) {
    void *memory;
    OK(optr_alloc(comm, elements * sizeof(float), &memory));
    CHECK(memory && (size_t)memory % 64 == 0);
    for (size_t i = 0; i < elements; i++) CHECK(((float *)memory)[i] == 0);
    return memory;
}

/* Values with exact means: i plus twice the rank. */
static void give(float *values, int rank) {
    for (int i = 0; i < ELEMENTS; i++) values[i] = (float)(i % 1000 + 2 * rank);
}

/* Whether the values are those of give() with rank * 2 replaced by `plus`, multiplied by
 * `times`. */
static int has(const float *values, float times, float plus) {
    for (int i = 0; i < ELEMENTS; i++)
        if (values[i] != times * ((float)(i % 1000) + plus)) return 0;
    return 1;
}

static void results_lie_where_they_are_wanted(optr_comm_t comm, int rank) {
    optr_report_t report = optr_report_init();
    optr_bucket_options_t sums = optr_bucket_options_init();
    sums.op = OPTR_SUM;
    optr_bucket_t bucket, summed;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_bucket_create(comm, ELEMENTS, &sums, &summed, NULL));
    /* Two separate buffers, and one for three, used out of order. */
    float *a = allocated(comm, ELEMENTS), *b = allocated(comm, ELEMENTS), *three = allocated(comm, 3 * ELEMENTS);
    float *plain = malloc(BYTES);
    CHECK(plain);
    const struct { float *input, *output; uint64_t copies; } cases[] = {
        {a, b, 0}, {three + 2 * ELEMENTS, three, 0}, {b, three + 1, 0}, /* no copy, or the result if the peer began first */
        {a, a, 1}, {three + 5, three + 5, 1},                          /* the result */
        {a, plain, 2}, {plain, a, 2}, {plain, plain, 2},               /* input and result */
        {three, three + 8, 2}, {three + 8, three, 2},                  /* overlap */
    };
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            optr_bucket_t of = round == 2 ? summed : bucket;
            float *input = cases[i].input, *output = cases[i].output;
            give(input, rank);
            if (round == 1) {
                optr_request_t request;
                OK(optr_bucket_all_reduce(of, input, output, ELEMENTS, &report, &request));
                OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
            } else {
                OK(optr_bucket_all_reduce(of, input, output, ELEMENTS, &report, NULL));
            }
            CHECK(report.is_applied && has(output, of == summed ? 2 : 1, 1));
            if (output + ELEMENTS <= input || input + ELEMENTS <= output) CHECK(has(input, 1, 2.0f * (float)rank));
            copied[rank] = report.copied_bytes;
            OK(optr_barrier(comm, NULL));
            uint64_t least = copied[0] < copied[1] ? copied[0] : copied[1], most = copied[0] + copied[1] - least;
            /* The rank that began first copied nothing. */
            uint64_t more = cases[i].copies ? 0 : BYTES;
            if (least != cases[i].copies * BYTES || most > least + more) FAIL("case %zu: copied %zu and %zu bytes", i, (size_t)least, (size_t)most);
            OK(optr_barrier(comm, NULL));
        }
    }
    OK(optr_free(comm, a));
    OK(optr_free(comm, NULL));
    free(plain);
    OK(optr_comm_close(comm, NULL));
    CHECK(b[1] != 0 && three[1] != 0); /* valid until the end of the communicator */
    OK(optr_comm_destroy(comm));
}

static int calls;

static void on_done(optr_status_t status, const char *error, void *context) {
    CHECK(status == OPTR_SUCCESS && !*error && has(context, 1, 1));
    __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void what_a_collective_has_is_refused(optr_comm_t comm, int rank) {
    optr_report_t report = optr_report_init(), first_report = report, second_report = report;
    optr_bucket_t bucket, other;
    optr_request_t first, second, none;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &other, NULL));
    float *a = allocated(comm, ELEMENTS), *b = allocated(comm, ELEMENTS), *c = allocated(comm, ELEMENTS), *plain = malloc(BYTES);
    CHECK(plain);
    give(a, rank);
    give(plain, rank);
    if (rank == 1) wait_for_flag(&may_go); /* until then nothing finishes on rank 0 */
    OK(optr_bucket_all_reduce(bucket, a, b, ELEMENTS, &first_report, &first));
    const char *sends = "output is memory that a collective sends from; wait for its request first";
    const char *writes = "output is memory that a collective writes", *reads = "input is memory that a collective writes";
    if (rank == 0) {
        FAILS(optr_bucket_all_reduce(other, c, a, ELEMENTS, &report, &none), OPTR_BUSY, sends);
        FAILS(optr_bucket_all_reduce(other, c, b, ELEMENTS, &report, &none), OPTR_BUSY, writes);
        FAILS(optr_bucket_all_reduce(other, b, c, ELEMENTS, &report, &none), OPTR_BUSY, reads);
        FAILS(optr_bucket_all_reduce(other, b, plain, ELEMENTS, &report, &none), OPTR_BUSY, reads);
        FAILS(optr_bucket_all_reduce(other, plain, b, ELEMENTS, &report, &none), OPTR_BUSY, writes);
        FAILS(optr_bucket_all_reduce(other, a, a, ELEMENTS, &report, NULL), OPTR_BUSY, sends);
        CHECK(none == NULL);
    }
    /* Two collectives may send the same memory: the second sends a copy. */
    OK(optr_bucket_all_reduce(other, a, c, ELEMENTS, &second_report, &second));
    if (rank == 0) {
        FAILS(optr_bucket_all_reduce(other, a, a, ELEMENTS, &report, &none), OPTR_BUSY, sends);
        set_flag(&may_go);
    }
    OK(optr_request_wait(&second, OPTR_NO_TIMEOUT));
    CHECK(second_report.is_applied && has(c, 1, 1) && (rank == 1 || second_report.copied_bytes == 2 * BYTES));
    OK(optr_request_wait(&first, OPTR_NO_TIMEOUT));
    CHECK(first_report.is_applied && has(b, 1, 1) && has(a, 1, 2.0f * (float)rank) && first_report.copied_bytes <= BYTES);

    /* Reusable after the request is done, also with a callback. Memory that is freed during a
     * collective stays until its end. */
    give(a, rank);
    OK(optr_bucket_all_reduce(bucket, a, b, ELEMENTS, &first_report, &first));
    OK(optr_request_on_done(&first, on_done, b));
    OK(optr_barrier(comm, NULL));
    while (__atomic_load_n(&calls, __ATOMIC_SEQ_CST) < RANKS) sleep_ms(1);
    OK(optr_bucket_all_reduce(bucket, a, b, ELEMENTS, &first_report, &first));
    OK(optr_free(comm, a));
    OK(optr_free(comm, b));
    OK(optr_request_wait(&first, OPTR_NO_TIMEOUT));
    CHECK(first_report.is_applied);

    /* The collective of a freed request keeps its memory until it is done. */
    give(c, rank);
    OK(optr_bucket_all_reduce(bucket, c, c, ELEMENTS, &first_report, &first));
    OK(optr_request_free(&first));
    OK(optr_bucket_all_reduce(other, plain, plain, ELEMENTS, &report, NULL)); /* finishes after the first */
    OK(optr_bucket_all_reduce(other, c, c, ELEMENTS, &report, NULL));
    CHECK(report.is_applied && has(c, 1, 1));
    free(plain);
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* The peer is too late: the update is skipped, and the output is zeros. Then an abort during a
 * collective. */
static void it_outlives_skips_and_aborts(optr_comm_t comm, int rank) {
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    optr_request_t request;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    float *a = allocated(comm, ELEMENTS), *b = allocated(comm, ELEMENTS);
    for (int in_place = 0; in_place < 2; in_place++) {
        if (rank == 1) wait_for_flag(&is_over[in_place]);
        give(a, rank);
        OK(optr_bucket_all_reduce(bucket, a, in_place ? a : b, ELEMENTS, &report, NULL));
        if (rank == 0) CHECK(!report.is_applied && report.copied_bytes == 0);
        if (rank == 0) set_flag(&is_over[in_place]);
        if (report.is_applied) continue;
        CHECK(has(in_place ? a : b, 0, 0));
        if (!in_place) CHECK(has(a, 1, 2.0f * (float)rank));
    }
    OK(optr_barrier(comm, NULL));
    give(a, rank);
    if (rank == 0) OK(optr_bucket_all_reduce(bucket, a, b, ELEMENTS, &report, &request));
    OK(optr_comm_abort(comm));
    /* The abort ends it, unless its deadlines passed first. */
    optr_status_t status = rank == 0 ? optr_request_wait(&request, OPTR_NO_TIMEOUT) : OPTR_ABORTED;
    CHECK(status == OPTR_ABORTED || (status == OPTR_SUCCESS && !report.is_applied));
    CHECK(has(a, 1, 2.0f * (float)rank));
    give(b, rank);
    OK(optr_free(comm, b));
    FAILS(optr_free(comm, b), OPTR_INVALID_ARGUMENT, "not freed before");
    OK(optr_comm_destroy(comm));
    FAILS(optr_free(comm, a), OPTR_INVALID_HANDLE, "destroyed");
}

int main(void) {
    job_config = patient_config();
    run_ranks(RANKS, results_lie_where_they_are_wanted);
    run_ranks(RANKS, what_a_collective_has_is_refused);
    job_config.bound_ms = 20;
    job_config.drop_silent_after = OPTR_NEVER;
    run_ranks(RANKS, it_outlives_skips_and_aborts);
    puts("done");
    return 0;
}
