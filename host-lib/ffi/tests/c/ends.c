/* A communicator that is aborted or destroyed during calls on other threads: they end promptly,
 * with the right status, and so do later calls. */
#include "ranks.h"

#define ELEMENTS 1000
#define SOON_MS 10000 /* on a busy machine; without the end, the calls wait for 20 s or more */

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A call on a separate thread that only the end of its communicator ends. */
struct caller {
    optr_comm_t comm;
    optr_bucket_t bucket;
    int call;
    optr_status_t status;
    char error[300];
    float values[ELEMENTS];
    optr_request_t request;
    int is_in; /* about to make its call */
};

/* More than a receiver stores before a receive. */
static char large[16 << 20];

static int callbacks;
static optr_status_t callback_status;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;

static void on_done(optr_status_t status, const char *error, void *context) {
    CHECK(*error && context == &callbacks);
    pthread_mutex_lock(&lock);
    callbacks++, callback_status = status;
    pthread_cond_signal(&called);
    pthread_mutex_unlock(&lock);
}

static void *make_call(void *argument) {
    struct caller *caller = argument;
    optr_report_t report = optr_report_init();
    optr_request_t request;
    optr_bucket_t bucket;
    optr_partial_t partial;
    optr_comm_t made;
    float *values = caller->values;
    __atomic_store_n(&caller->is_in, 1, __ATOMIC_SEQ_CST);
    /* The other thread polls the object, which makes this call busy: retry. */
#define AGAIN(call)                                                                                                    \
    do caller->status = (call);                                                                                        \
    while (caller->status == OPTR_BUSY)
    switch (caller->call) {
    case 0: caller->status = optr_barrier(caller->comm, NULL); break;
    case 1: caller->status = optr_exact_broadcast(caller->comm, 1, values, ELEMENTS, OPTR_FLOAT32, NULL); break;
    case 2: caller->status = optr_exact_all_reduce(caller->comm, values, values, ELEMENTS, OPTR_FLOAT32, OPTR_SUM, NULL); break;
    case 3: caller->status = optr_bucket_create(caller->comm, ELEMENTS, NULL, &bucket, NULL); break;
    case 4: caller->status = optr_comm_close(caller->comm, NULL); break;
    case 5: caller->status = optr_comm_split(caller->comm, 0, &made, NULL); break;
    case 6: AGAIN(optr_bucket_all_reduce(caller->bucket, values, values, ELEMENTS, &report, NULL)); break;
    case 7: AGAIN(optr_bucket_reduce_scatter(caller->bucket, values, ELEMENTS, values, ELEMENTS / 2, &report, NULL)); break;
    case 8: caller->status = optr_recv(caller->comm, 1, 7, values, 16, NULL, NULL); break;
    case 9: caller->status = optr_send(caller->comm, 1, 7, large, sizeof large, NULL); break;
    case 10: OK(optr_barrier(caller->comm, &request)); break;
    case 11: OK(optr_recv(caller->comm, OPTR_ANY_RANK, 7, values, 16, NULL, &request)); break;
    case 12: OK(optr_bucket_all_reduce(caller->bucket, values, values, ELEMENTS, &report, &request)); break;
    case 13: OK(optr_comm_split(caller->comm, 0, &made, &request)); break;
    case 14: OK(optr_partial_create(caller->comm, 4, NULL, &partial, &request)); break;
    default: OK(optr_comm_close(caller->comm, &request));
    }
    if (caller->call >= 10) {
        __atomic_store_n(&caller->request, request, __ATOMIC_SEQ_CST);
        AGAIN(optr_request_wait(&request, caller->call % 2 ? 60000000 : OPTR_NO_TIMEOUT));
        CHECK(request == NULL);
    }
    snprintf(caller->error, sizeof caller->error, "%s", optr_last_error());
    return NULL;
}
#define CALLS 16

static int call, destroys;

/* Rank 1 makes no call at all. */
static void rank(optr_comm_t comm, int rank) {
    static pthread_barrier_t at_the_end;
    optr_bucket_t bucket, none;
    optr_comm_t made;
    optr_status_t error;
    optr_report_t report = optr_report_init(), late_report = optr_report_init();
    if (rank == 0) pthread_barrier_init(&at_the_end, NULL, 2);
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    if (rank == 1) {
        pthread_barrier_wait(&at_the_end);
        OK(optr_comm_destroy(comm));
        return;
    }
    struct caller caller = {.comm = comm, .bucket = bucket, .call = call, .status = OPTR_INTERNAL};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, make_call, &caller) == 0);
    /* Wait until the thread is in its call, which most calls show by OPTR_BUSY. */
    int is_busy = 0, number;
    float values[ELEMENTS] = {0}, late[ELEMENTS] = {0};
    for (int i = 0; i < 20000 && !is_busy; i++, sleep_ms(1)) {
        optr_request_t of_it = __atomic_load_n(&caller.request, __ATOMIC_SEQ_CST);
        if (call < 6) is_busy = __atomic_load_n(&caller.is_in, __ATOMIC_SEQ_CST);
        else if (call < 8) is_busy = optr_bucket_settle(bucket, 0, values, ELEMENTS, &number, &number, NULL) == OPTR_BUSY;
        else if (call < 10) is_busy = __atomic_load_n(&caller.is_in, __ATOMIC_SEQ_CST);
        else is_busy = of_it && optr_request_wait(&of_it, 0) == OPTR_BUSY;
    }
    CHECK(is_busy);
    if (call < 6 || call == 8 || call == 9) sleep_ms(200); /* these calls cannot be observed from outside without side effects */
    /* Other threads may read the state, but not make collective calls. */
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS);
    optr_request_t request = NULL, watched = NULL;
    if (call < 6) {
        /* Messages are independent of collective calls. */
        float echo = 0;
        if (call != 4) {
            OK(optr_send(comm, 0, 3, &call, sizeof call, NULL));
            OK(optr_recv(comm, 0, 3, &echo, sizeof echo, NULL, NULL));
            CHECK(memcmp(&echo, &call, sizeof call) == 0);
        }
        FAILS(optr_barrier(comm, NULL), OPTR_BUSY, "another thread is in a call of this communicator");
        FAILS(optr_bucket_create(comm, 4, NULL, &none, NULL), OPTR_BUSY, "another thread");
        FAILS(optr_comm_close(comm, NULL), OPTR_BUSY, "another thread");
        /* A call with a request only begins here. */
        if (call != 4) OK(optr_barrier(comm, &request));
    } else if (call < 8) {
        FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_BUSY, "another thread is in a call of this bucket");
    } else if (call == 12) {
        optr_request_t waited_for = caller.request;
        FAILS(optr_request_wait(&waited_for, 0), OPTR_BUSY, "another thread waits for this request");
        FAILS(optr_request_wait(&waited_for, OPTR_NO_TIMEOUT), OPTR_BUSY, "another thread");
        FAILS(optr_request_free(&waited_for), OPTR_BUSY, "another thread");
        FAILS(optr_request_on_done(&waited_for, on_done, NULL), OPTR_BUSY, "another thread");
        CHECK(waited_for == caller.request);
        OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, &request));
        OK(optr_bucket_all_reduce(bucket, values, late, ELEMENTS, &late_report, &watched));
        OK(optr_request_on_done(&watched, on_done, &callbacks));
    } else if (call == 13) {
        OK(optr_comm_split(comm, 0, &made, &watched));
        OK(optr_request_on_done(&watched, on_done, &callbacks));
    }
    long begin = now_ms();
    if (destroys) OK(optr_comm_destroy(comm));
    else OK(optr_comm_abort(comm));
    CHECK(pthread_join(thread, NULL) == 0);
    if (now_ms() - begin > SOON_MS) FAIL("call %d has ended after %ld ms", call, now_ms() - begin);
    optr_status_t expected = destroys ? OPTR_CLOSED : OPTR_ABORTED;
    /* On a very busy machine, the thread had not made its call yet. */
    if ((call == 8 || call == 9) && destroys && caller.status == OPTR_INVALID_HANDLE) caller.status = expected, strcpy(caller.error, "was destroyed");
    if (caller.status != expected) FAIL("call %d gave %s (%s)", call, optr_status_name(caller.status), caller.error);
    if (!strstr(caller.error, destroys ? "was destroyed" : "was aborted")) FAIL("call %d: %s", call, caller.error);
    if (call == 12 || call == 13) {
        pthread_mutex_lock(&lock);
        while (!callbacks) pthread_cond_wait(&called, &lock);
        CHECK(callbacks == 1 && callback_status == expected);
        callbacks = 0;
        pthread_mutex_unlock(&lock);
    }
    if (destroys) {
        FAILS(optr_barrier(comm, NULL), OPTR_INVALID_HANDLE, "destroyed");
        FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_INVALID_HANDLE, "or whose communicator was");
        if (request) FAILS(optr_request_wait(&request, 0), OPTR_INVALID_HANDLE, "or whose communicator was");
    } else {
        FAILS(optr_barrier(comm, NULL), OPTR_ABORTED, "the communicator was aborted; destroy it");
        FAILS(optr_comm_close(comm, NULL), OPTR_ABORTED, "aborted");
        FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_ABORTED, "aborted");
        if (request) FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_ABORTED, "aborted");
        OK(optr_comm_async_error(comm, &error));
        CHECK(error == OPTR_ABORTED && strstr(optr_last_error(), "aborted"));
        OK(optr_comm_abort(comm));
        OK(optr_comm_destroy(comm));
    }
    pthread_barrier_wait(&at_the_end);
}

int main(void) {
    job_config = patient_config();
    for (destroys = 0; destroys < 2; destroys++)
        for (call = 0; call < CALLS; call++) run_ranks(2, rank);
    puts("done");
    return 0;
}
