/* Callbacks that start the next collective, wait for others, and destroy their own communicator,
 * and a process that ends on any thread while collectives run. Usage: callbacks [exit | return] */
#include "ranks.h"

#define ELEMENTS 500
#define STEPS 20

struct chain {
    optr_comm_t comm;
    optr_bucket_t bucket;
    float values[ELEMENTS];
    int rank, step;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_over;
    optr_report_t report;
};

static void finish(struct chain *chain) {
    pthread_mutex_lock(&chain->lock);
    chain->is_over = 1;
    pthread_cond_signal(&chain->changed);
    pthread_mutex_unlock(&chain->lock);
}

static void on_done(optr_status_t status, const char *error, void *context) {
    struct chain *chain = context;
    optr_request_t request;
    this_rank = chain->rank;
    if (status != OPTR_SUCCESS) FAIL("step %d: %s", chain->step, error);
    CHECK(chain->report.is_applied && chain->values[7] == 1 + (float)chain->step);
    if (++chain->step < STEPS) {
        for (int i = 0; i < ELEMENTS; i++) chain->values[i] = (float)(2 * chain->rank + chain->step);
        OK(optr_bucket_all_reduce(chain->bucket, chain->values, chain->values, ELEMENTS, &chain->report, &request));
        OK(optr_request_on_done(&request, on_done, chain));
        return;
    }
    /* The last callback destroys its own communicator. */
    OK(optr_comm_destroy(chain->comm));
    FAILS(optr_barrier(chain->comm, NULL), OPTR_INVALID_HANDLE, "destroyed");
    finish(chain);
}

static void chain(optr_comm_t comm, int rank) {
    static struct chain chains[2];
    struct chain *chain = &chains[rank];
    optr_request_t request;
    chain->comm = comm, chain->rank = rank, chain->report = optr_report_init();
    pthread_mutex_init(&chain->lock, NULL);
    pthread_cond_init(&chain->changed, NULL);
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &chain->bucket, NULL));
    for (int i = 0; i < ELEMENTS; i++) chain->values[i] = (float)(2 * rank);
    OK(optr_bucket_all_reduce(chain->bucket, chain->values, chain->values, ELEMENTS, &chain->report, &request));
    OK(optr_request_on_done(&request, on_done, chain));
    pthread_mutex_lock(&chain->lock);
    while (!chain->is_over) pthread_cond_wait(&chain->changed, &chain->lock);
    pthread_mutex_unlock(&chain->lock);
}

/* A callback of each kind of call that waits for other calls. The ranks' callbacks wait for one
 * another, in one process. */
static void waits_for_others(optr_status_t status, const char *error, void *context) {
    struct chain *chain = context;
    optr_report_t report = optr_report_init();
    optr_request_t request, receive;
    float values[ELEMENTS] = {(float)chain->rank};
    int received = -1, peer = 1 - chain->rank;
    this_rank = chain->rank;
    if (status != OPTR_SUCCESS) FAIL("%s", error);
    OK(optr_bucket_all_reduce(chain->bucket, values, values, ELEMENTS, &report, &request));
    OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    CHECK(report.is_applied && values[0] == 0.5f);
    OK(optr_bucket_all_reduce(chain->bucket, values, values, ELEMENTS, &report, NULL));
    OK(optr_recv(chain->comm, peer, 9, &received, sizeof received, NULL, &receive));
    OK(optr_send(chain->comm, peer, 9, &chain->rank, sizeof chain->rank, NULL));
    OK(optr_request_wait(&receive, 60000000));
    CHECK(received == peer);
    OK(optr_barrier(chain->comm, &request));
    OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    OK(optr_barrier(chain->comm, NULL));
    finish(chain);
}

static void wait_in_callbacks(optr_comm_t comm, int rank) {
    static struct chain chains[2];
    struct chain *chain = &chains[rank];
    optr_request_t request;
    int received;
    chain->comm = comm, chain->rank = rank, chain->report = optr_report_init();
    pthread_mutex_init(&chain->lock, NULL);
    pthread_cond_init(&chain->changed, NULL);
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &chain->bucket, NULL));
    for (int kind = 0; kind < 3; kind++) {
        chain->is_over = 0;
        if (kind == 0) OK(optr_bucket_all_reduce(chain->bucket, chain->values, chain->values, ELEMENTS, &chain->report, &request));
        else if (kind == 1) OK(optr_barrier(comm, &request));
        else {
            OK(optr_recv(comm, 1 - rank, 5, &received, sizeof received, NULL, &request));
            OK(optr_send(comm, 1 - rank, 5, &rank, sizeof rank, NULL));
        }
        OK(optr_request_on_done(&request, waits_for_others, chain));
        pthread_mutex_lock(&chain->lock);
        while (!chain->is_over) pthread_cond_wait(&chain->changed, &chain->lock);
        pthread_mutex_unlock(&chain->lock);
    }
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

static void end_process(optr_status_t status, const char *error, void *context) {
    (void)status, (void)error, (void)context;
    puts("done");
    exit(0);
}

static pthread_barrier_t begun;

/* In progress: a collective with a waiting thread, one with a callback, and a barrier. */
static void never_ends(optr_comm_t comm, int rank) {
    static float values[2][2][ELEMENTS];
    static optr_report_t reports[2];
    optr_bucket_t bucket;
    optr_request_t request;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    reports[rank] = optr_report_init();
    OK(optr_bucket_all_reduce(bucket, values[rank][0], values[rank][0], ELEMENTS, &reports[rank], &request));
    pthread_barrier_wait(&begun);
    if (job_ranks == 2 && rank == 0) OK(optr_request_on_done(&request, end_process, NULL));
    if (rank == 1) (void)optr_barrier(comm, NULL);
    sleep_ms(60000);
}

static void *run(void *unused) {
    (void)unused;
    run_ranks(2, never_ends);
    return NULL;
}

int main(int count, char **arguments) {
    job_config = patient_config();
    if (count == 1) {
        run_ranks(2, chain);
        run_ranks(2, wait_in_callbacks);
        puts("done");
        return 0;
    }
    pthread_barrier_init(&begun, NULL, 3);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
    pthread_barrier_wait(&begun);
    if (!strcmp(arguments[1], "exit")) pthread_join(thread, NULL); /* a callback ends the process */
    puts("done");
    return 0;
}
