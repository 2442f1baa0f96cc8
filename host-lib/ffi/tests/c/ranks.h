/* Ranks as threads of this process, and checks that report the failing rank and its last error. */
#ifndef RANKS_H
#define RANKS_H

#include <errno.h>
#include <math.h>
#include <optireduce.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 4

static _Thread_local int this_rank = -1;

#define FAIL(...)                                                                                                      \
    do {                                                                                                               \
        fprintf(stderr, "%s:%d: rank %d: ", __FILE__, __LINE__, this_rank);                                            \
        fprintf(stderr, __VA_ARGS__);                                                                                  \
        fprintf(stderr, "; last error: %s\n", optr_last_error());                                                      \
        _exit(1);                                                                                                      \
    } while (0)

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) FAIL("%s does not hold", #condition);                                                        \
    } while (0)

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        optr_status_t status_ = (call);                                                                                \
        if (status_ != OPTR_SUCCESS) FAIL("%s is %s", #call, optr_status_name(status_));                               \
    } while (0)

/* A call that must fail, with a text that names its function and contains `text`. */
#define FAILS(call, expected, text)                                                                                    \
    do {                                                                                                               \
        optr_status_t status_ = (call);                                                                                \
        if (status_ != (expected)) FAIL("%s is %s instead of %s", #call, optr_status_name(status_), #expected);        \
        if (!strstr(optr_last_error(), text)) FAIL("%s: no \"%s\"", #call, text);                                      \
        if (strncmp(#call, optr_last_error(), strcspn(#call, "("))) FAIL("%s: its name is not in the text", #call);    \
    } while (0)

static optr_unique_id_t job_id;
static int job_ranks;
static void (*job_rank)(optr_comm_t comm, int rank);
static optr_config_t job_config;

static void *run_rank(void *number) {
    this_rank = (int)(size_t)number;
    optr_comm_t comm;
    OK(optr_comm_init_rank(&comm, job_ranks, &job_id, this_rank, &job_config));
    job_rank(comm, this_rank);
    return NULL;
}

/* Settings that tolerate a busy machine. */
static optr_config_t patient_config(void) {
    optr_config_t config = optr_config_init();
    config.timeout_s = 20;
    config.bound_ms = 3000;
    config.early = OPTR_EARLY_OFF;
    config.repair = OPTR_REPAIR_NEXT_UPDATE;
    config.shared_memory = OPTR_OFF;
    return config;
}

/* Runs a function on one thread per rank, with a communicator that the function destroys. */
static void run_ranks(int ranks, void (*rank)(optr_comm_t comm, int rank)) {
    pthread_t threads[RANKS_MAX];
    job_ranks = ranks;
    job_rank = rank;
    OK(optr_get_unique_id("127.0.0.1", &job_id));
    for (int i = 0; i < ranks; i++) CHECK(pthread_create(&threads[i], NULL, run_rank, (void *)(size_t)i) == 0);
    for (int i = 0; i < ranks; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Tests a request until it is done. */
static inline optr_status_t test_until_done(optr_request_t *request) {
    optr_status_t status;
    do {
        status = optr_request_wait(request, 0);
        CHECK((status == OPTR_PENDING) == (*request != NULL));
    } while (status == OPTR_PENDING);
    return status;
}

static inline void sleep_ms(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) && errno == EINTR) continue;
}

/* Flags from one rank to the others. */
static inline void set_flag(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST); }

static inline void wait_for_flag(int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_SEQ_CST)) sleep_ms(1);
}

#endif
