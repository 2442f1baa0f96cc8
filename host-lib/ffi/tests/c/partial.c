/* Partial reduce. Means are exact for exact sums, and bitwise equal on all members. */
#include "ranks.h"

#define RANKS 4
#define ELEMENTS 10007 /* a prime: parts differ in length */
#define STEPS 12

/* Input and result of a rank in a group. */
struct average {
    uint64_t iteration;
    optr_partial_report_t report;
    optr_partial_member_t members[RANKS];
    float given[ELEMENTS], got[ELEMENTS];
};

static struct average averages[RANKS][STEPS];
static int steps_of[RANKS], called[RANKS];

/* Integers, so that all sums and their halves are exact. */
static float value(int rank, int step, size_t i) { return (float)((i * 7 + (size_t)(rank * 31 + step * 5)) % 1024); }

static void on_done(optr_status_t status, const char *error, void *context) {
    CHECK(status == OPTR_SUCCESS && !*error);
    __atomic_store_n((int *)context, 1, __ATOMIC_SEQ_CST);
}

/* One average, with one form of waiting. */
static void average(optr_partial_t partial, struct average *one, int rank, int way) {
    optr_request_t request;
    one->report = optr_partial_report_init();
    one->report.members = one->members;
    one->report.member_capacity = RANKS;
    memcpy(one->got, one->given, sizeof one->got);
    if (way == 0) {
        OK(optr_partial_average(partial, one->got, one->got, ELEMENTS, one->iteration, &one->report, NULL)); /* in place */
        return;
    }
    OK(optr_partial_average(partial, one->given, one->got, ELEMENTS, one->iteration, &one->report, &request));
    if (way == 1) {
        OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    } else if (way == 2) {
        OK(test_until_done(&request));
    } else {
        __atomic_store_n(&called[rank], 0, __ATOMIC_SEQ_CST);
        OK(optr_request_on_done(&request, on_done, &called[rank]));
        while (!__atomic_load_n(&called[rank], __ATOMIC_SEQ_CST)) sleep_ms(1);
    }
    CHECK(request == NULL);
}

/* The average of a member in the group with this number. */
static const struct average *of_group(uint32_t number, int rank) {
    for (int step = 0; step < steps_of[rank]; step++)
        if (averages[rank][step].report.number == number) return &averages[rank][step];
    FAIL("rank %d was in no group %u", rank, number);
}

/* The weight of one of two models, by the formula of the paper. */
static double weight_of(uint64_t own, uint64_t other) {
    double power = 1;
    for (uint64_t i = own > other ? own : other; i > 0; i--) power /= 2;
    double newest = 0.5 / (1 - power);
    return own == other ? 0.5 : own > other ? newest : 1 - newest;
}

static void check(const struct average *one, int rank, int is_dynamic) {
    const optr_partial_report_t *report = &one->report;
    const struct average *members[2] = {one, one};
    CHECK(report->size == sizeof *report && report->members == one->members && report->member_capacity == RANKS);
    CHECK(report->member_count == 1 || report->member_count == 2);
    CHECK(report->lost_bytes == 0 && report->repaired_bytes == 0 && report->uncounted_bytes == 0 && report->missing_elements == 0);
    int is_member = 0;
    uint64_t newest = 0;
    for (uint32_t i = 0; i < report->member_count; i++) {
        members[i] = of_group(report->number, (int)one->members[i].rank);
        is_member |= members[i] == one;
        if (members[i]->iteration > newest) newest = members[i]->iteration;
        CHECK(i == 0 || one->members[0].rank < one->members[1].rank);
        CHECK(one->members[i].is_uncounted == 0);
        CHECK(members[i]->report.member_count == report->member_count && members[i]->report.iteration == report->iteration);
        if (memcmp(members[i]->got, one->got, sizeof one->got)) FAIL("group %u: other bits than rank %u", report->number, one->members[i].rank);
    }
    CHECK(is_member && report->iteration == newest);
    double weights[2] = {1, 0};
    if (report->member_count == 2) {
        weights[0] = is_dynamic ? weight_of(members[0]->iteration, members[1]->iteration) : 0.5;
        weights[1] = 1 - weights[0];
        CHECK(report->is_full == 1);
    }
    int is_exact = 1;
    for (uint32_t i = 0; i < report->member_count; i++) {
        is_exact &= weights[i] == 0.5 || weights[i] == 1;
        if (fabs(one->members[i].weight - weights[i]) > 1e-12) FAIL("rank %d: weight %f, not %f", rank, one->members[i].weight, weights[i]);
    }
    for (size_t i = 0; i < ELEMENTS; i++) {
        double mean = weights[0] * members[0]->given[i] + weights[1] * members[1]->given[i];
        if (is_exact ? one->got[i] != (float)mean : fabs(one->got[i] - mean) > 1e-3)
            FAIL("group %u, element %zu: %f, not %f", report->number, i, one->got[i], mean);
    }
}

static int is_dynamic;

/* The last rank is slow, so it takes part in fewer groups. */
static void rank(optr_comm_t comm, int rank) {
    optr_partial_options_t options = optr_partial_options_init();
    options.group_size = 2;
    options.weights = is_dynamic ? OPTR_WEIGHTS_DYNAMIC : OPTR_WEIGHTS_CONSTANT;
    optr_partial_t partial;
    optr_request_t request;
    OK(optr_partial_create(comm, ELEMENTS, &options, &partial, is_dynamic ? &request : NULL));
    if (is_dynamic) OK(test_until_done(&request));
    uint64_t iteration = 0;
    steps_of[rank] = rank == RANKS - 1 ? STEPS / 3 : STEPS;
    for (int step = 0; step < steps_of[rank]; step++) {
        struct average *one = &averages[rank][step];
        sleep_ms(rank == RANKS - 1 ? 20 : 1);
        for (size_t i = 0; i < ELEMENTS; i++) one->given[i] = value(rank, step, i);
        one->iteration = iteration + 1;
        average(partial, one, rank, step % 4);
        CHECK(one->report.iteration > iteration);
        iteration = one->report.iteration;
    }
    OK(optr_partial_close(partial, is_dynamic ? &request : NULL));
    if (is_dynamic) OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    FAILS(optr_partial_close(partial, NULL), OPTR_CLOSED, "the partial reduce was closed or destroyed");
    float *got = averages[rank][0].got, kept = got[3];
    FAILS(optr_partial_average(partial, averages[rank][1].given, got, ELEMENTS, iteration + 1, &averages[rank][0].report, NULL), OPTR_CLOSED, "closed or destroyed");
    FAILS(optr_partial_average(partial, got, got, ELEMENTS, iteration + 1, &averages[rank][0].report, &request), OPTR_CLOSED, "closed or destroyed");
    CHECK(request == NULL && got[3] == kept);
    OK(optr_partial_destroy(partial));
    FAILS(optr_partial_destroy(partial), OPTR_INVALID_HANDLE, "partial is a partial reduce that was destroyed or finished before");
    /* All ranks have stored their results. The communicator is still usable. */
    OK(optr_barrier(comm, NULL));
    for (int step = 0; step < steps_of[rank]; step++) check(&averages[rank][step], rank, is_dynamic);
    OK(optr_barrier(comm, NULL));
    OK(optr_exact_all_reduce(comm, got, got, ELEMENTS, OPTR_FLOAT32, OPTR_AVG, NULL));
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* Wrong uses, and ranks that differ. The communicator stays usable. */
static void misuse(optr_comm_t comm, int rank) {
    float values[100], means[100];
    for (int i = 0; i < 100; i++) values[i] = (float)(i + rank), means[i] = -1;
    optr_partial_t partial = (optr_partial_t)values;
    optr_partial_options_t options = optr_partial_options_init();
    optr_partial_report_t report = optr_partial_report_init();
    optr_request_t request;
    optr_status_t error;
    FAILS(optr_partial_create(comm, 4, NULL, NULL, NULL), OPTR_INVALID_ARGUMENT, "partial is NULL");
    FAILS(optr_partial_create(NULL, 4, NULL, &partial, NULL), OPTR_INVALID_HANDLE, "comm is NULL");
    CHECK(partial == NULL);
    FAILS(optr_partial_average(NULL, values, means, 4, 1, &report, NULL), OPTR_INVALID_HANDLE, "partial is NULL, expected a partial reduce from optr_partial_create");
    FAILS(optr_partial_average(NULL, values, means, 4, 1, &report, &request), OPTR_INVALID_HANDLE, "partial is NULL");
    FAILS(optr_partial_close((optr_partial_t)(void *)comm, NULL), OPTR_INVALID_HANDLE, "partial is a communicator, expected a partial reduce");
    FAILS(optr_partial_destroy(NULL), OPTR_INVALID_HANDLE, "partial is NULL");
#define WRONG(field, value, text)                                                                                      \
    do {                                                                                                               \
        optr_partial_options_t wrong = options;                                                                        \
        wrong.field = value;                                                                                           \
        FAILS(optr_partial_create(comm, 100, &wrong, &partial, NULL), OPTR_INVALID_ARGUMENT, text);                          \
    } while (0)
    WRONG(size, 3, "options->size is 3, expected sizeof(optr_partial_options_t)");
    WRONG(weights, 2, "options->weights is 2, expected OPTR_WEIGHTS_DYNAMIC (0) or OPTR_WEIGHTS_CONSTANT (1)");
    WRONG(repair, OPTR_AUTO, "options->repair is 3, expected OPTR_DEFAULT (0), OPTR_OFF (1) or OPTR_ON (2)");
    WRONG(group_size, 3, "groups of 3 of 2 workers; expected 2 to 2");
    WRONG(group_size, 1, "groups of 1 of 2 workers");
    WRONG(decay, 1.5, "the decay of weights is 1.5; expected more than 0 and less than 1");
    WRONG(patience_s, 0.0 / 0.0, "options->patience_s is NaN, expected a positive number");
    WRONG(repair_timeout_s, -1, "options->repair_timeout_s is -1, expected");
    WRONG(bound_ms, 1e300, "options->bound_ms is 1e300, expected");
    options.weights = OPTR_WEIGHTS_CONSTANT;
    FAILS(optr_partial_create(comm, 0, NULL, &partial, NULL), OPTR_INVALID_ARGUMENT, "the number of elements of a model is 0, expected at least 1");
    FAILS(optr_partial_create(comm, 100 + (size_t)rank, NULL, &partial, NULL), OPTR_MISMATCH, "the ranks differ: elements is 101 on rank 1, but 100 on rank 0");
    options.mix_within = rank ? OPTR_NEVER : 3;
    FAILS(optr_partial_create(comm, 100, &options, &partial, NULL), OPTR_MISMATCH, "the ranks differ: mix_within is never on rank 1, but 3 on rank 0");
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS && partial == NULL);

    options.mix_within = 0;
    OK(optr_partial_create(comm, 100, &options, &partial, NULL));
    FAILS(optr_bucket_destroy((optr_bucket_t)(void *)partial), OPTR_INVALID_HANDLE, "bucket is a partial reduce, expected a bucket");
    FAILS(optr_partial_average(partial, values, means, 99, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "elements is 99, expected 100");
    FAILS(optr_partial_average(partial, values, means, 101, 1, &report, &request), OPTR_INVALID_ARGUMENT, "elements is 101, expected 100");
    FAILS(optr_partial_average(partial, NULL, means, 100, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "input is NULL, expected 100 values");
    FAILS(optr_partial_average(partial, values, NULL, 100, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "output is NULL, expected 100 values");
    FAILS(optr_partial_average(partial, values, means, 100, 1, NULL, NULL), OPTR_INVALID_ARGUMENT, "report is NULL, expected an address to write the report to: the model continues");
    FAILS(optr_partial_average(partial, values, means, 100, 1, NULL, &request), OPTR_INVALID_ARGUMENT, "report is NULL");
    FAILS(optr_partial_average(partial, values, means, 100, 0, &report, NULL), OPTR_INVALID_ARGUMENT, "the iteration is 0, expected more than 0");
    optr_partial_member_t members[2];
    memset(members, 0xa5, sizeof members);
    report.members = members, report.member_capacity = 1, report.member_size = 5;
    FAILS(optr_partial_average(partial, values, means, 100, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "report->member_size is 5, expected sizeof(optr_partial_member_t)");
    report.member_size = sizeof *members, report.size = 7;
    FAILS(optr_partial_average(partial, values, means, 100, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "report->size is 7, expected sizeof(optr_partial_report_t)");
    CHECK(means[0] == -1 && means[99] == -1);
    /* Room for fewer members than there are: the first ones, and their number. */
    report.size = sizeof report;
    OK(optr_partial_average(partial, values, means, 100, 1, &report, NULL));
    CHECK(report.member_count == 2 && members[0].rank == 0 && members[0].weight == 0.5 && members[1].rank == 0xa5a5a5a5);
    for (int i = 0; i < 100; i++) CHECK(means[i] == (float)i + 0.5f);
    FAILS(optr_partial_average(partial, values, means, 100, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "the iteration is 1, expected more than 1");
    OK(optr_partial_close(partial, NULL));
    OK(optr_partial_destroy(partial));
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int ends, how;
static optr_status_t end_status;

static void on_end(optr_status_t status, const char *error, void *context) {
    CHECK(context == &ends && *error);
    pthread_mutex_lock(&lock);
    ends++, end_status = status;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
}

struct waiter {
    optr_partial_t partial;
    optr_partial_report_t report;
    float values[4];
    optr_status_t status;
};

static void *wait_for_a_group(void *of) {
    struct waiter *waiter = of;
    /* The other thread polls the object, which makes this call busy: retry. */
    do waiter->status = optr_partial_average(waiter->partial, waiter->values, waiter->values, 4, 1, &waiter->report, NULL);
    while (waiter->status == OPTR_BUSY);
    return NULL;
}

/* Rank 0 waits for a group that never forms, on a thread (how < 3) or with a callback. Its part
 * ends in one of three ways. */
static void ending(optr_comm_t comm, int rank) {
    static pthread_barrier_t at_the_end;
    optr_status_t expected[] = {OPTR_ABORTED, OPTR_CLOSED, OPTR_CLOSED};
    optr_partial_options_t options = optr_partial_options_init();
    options.patience_s = 60;
    optr_partial_t partial;
    optr_partial_report_t report = optr_partial_report_init();
    if (rank == 0) pthread_barrier_init(&at_the_end, NULL, 2);
    OK(optr_partial_create(comm, 4, &options, &partial, NULL));
    if (rank == 1) {
        pthread_barrier_wait(&at_the_end);
        OK(optr_comm_destroy(comm)); /* and with it the partial reduce */
        FAILS(optr_partial_close(partial, NULL), OPTR_INVALID_HANDLE, "or whose communicator was");
        return;
    }
    struct waiter waiter = {partial, optr_partial_report_init(), {1, 2, 3, 4}, OPTR_INTERNAL};
    pthread_t thread = 0;
    optr_request_t request = NULL, second = NULL;
    if (how < 3) {
        CHECK(pthread_create(&thread, NULL, wait_for_a_group, &waiter) == 0);
        optr_status_t status = OPTR_INTERNAL;
        float other[4] = {0};
        /* The wrong iteration is the error until the thread is in its call. */
        for (int i = 0; i < 20000 && status != OPTR_BUSY; i++, sleep_ms(1)) status = optr_partial_average(partial, other, other, 4, 0, &report, NULL);
        CHECK(status == OPTR_BUSY && strstr(optr_last_error(), "another thread is in a call of this partial reduce"));
        FAILS(optr_partial_close(partial, NULL), OPTR_BUSY, "another thread");
    } else {
        OK(optr_partial_average(partial, waiter.values, waiter.values, 4, 1, &waiter.report, &request));
        FAILS(optr_partial_average(partial, waiter.values, waiter.values, 4, 1, &report, NULL), OPTR_INVALID_ARGUMENT, "the number of averages at a time is 2, expected 1");
        OK(optr_partial_average(partial, waiter.values, waiter.values, 4, 1, &report, &second));
        FAILS(optr_request_wait(&second, OPTR_NO_TIMEOUT), OPTR_INVALID_ARGUMENT, "");
        FAILS(optr_request_wait(&request, 1000), OPTR_PENDING, "wait for it again");
        OK(optr_request_on_done(&request, on_end, &ends));
    }
    switch (how % 3) {
    case 0: OK(optr_comm_abort(comm)); break;
    case 1: OK(optr_comm_destroy(comm)); break;
    default: OK(optr_partial_destroy(partial));
    }
    if (how < 3) {
        CHECK(pthread_join(thread, NULL) == 0);
        end_status = waiter.status;
    } else {
        pthread_mutex_lock(&lock);
        while (!ends) pthread_cond_wait(&ended, &lock);
        CHECK(ends == 1);
        ends = 0;
        pthread_mutex_unlock(&lock);
    }
    if (end_status != expected[how % 3]) FAIL("how %d: %s", how, optr_status_name(end_status));
    CHECK(waiter.values[3] == 4);
    if (how % 3 == 0) {
        FAILS(optr_partial_average(partial, waiter.values, waiter.values, 4, 1, &report, NULL), OPTR_ABORTED, "the communicator was aborted");
        FAILS(optr_partial_create(comm, 4, NULL, &(optr_partial_t){NULL}, NULL), OPTR_ABORTED, "aborted");
        OK(optr_partial_destroy(partial));
    }
    if (how % 3 != 1) OK(optr_comm_destroy(comm));
    pthread_barrier_wait(&at_the_end);
}

int main(void) {
    job_config = patient_config();
    for (is_dynamic = 0; is_dynamic < 2; is_dynamic++) run_ranks(RANKS, rank);
    run_ranks(2, misuse);
    for (how = 0; how < 6; how++) run_ranks(2, ending);
    puts("done");
    return 0;
}
