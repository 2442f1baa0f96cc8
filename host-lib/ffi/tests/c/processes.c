/* Forks, signals and ranks that die. */
#include "ranks.h"
#include <sys/resource.h>
#include <sys/time.h>

#define ELEMENTS 20000
#define RANKS 3

/* Runs a function in a forked child, which must succeed. */
#define IN_CHILD(body)                                                                                                 \
    do {                                                                                                               \
        pid_t child_ = fork();                                                                                         \
        CHECK(child_ >= 0);                                                                                            \
        if (child_ == 0) {                                                                                             \
            body;                                                                                                      \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        int status_;                                                                                                   \
        CHECK(waitpid(child_, &status_, 0) == child_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0);              \
    } while (0)

/* A child cannot use the communicators of its parent, which continues. */
static void forked(optr_comm_t comm, int rank) {
    float values[ELEMENTS] = {0};
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    if (rank == 0) {
        IN_CHILD({
            int number;
            optr_comm_t other;
            const char *text = "is a fork of";
            FAILS(optr_barrier(comm, NULL), OPTR_FORKED, text);
            FAILS(optr_comm_rank(comm, &number), OPTR_FORKED, text);
            FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_FORKED, text);
            FAILS(optr_comm_abort(comm), OPTR_FORKED, text);
            FAILS(optr_comm_destroy(comm), OPTR_FORKED, text);
            FAILS(optr_comm_init_rank(&other, 2, &job_id, 0, NULL), OPTR_FORKED, "fork before the first communicator is created, or call exec");
            CHECK(optr_version() == OPTR_VERSION);
        });
    }
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal) {
    (void)signal;
    alarms++;
}

/* A signal every millisecond, with a handler that does not restart system calls. */
static void interrupted(optr_comm_t comm, int rank) {
    static float all[RANKS][ELEMENTS];
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < ELEMENTS; i++) all[rank][i] = (float)rank;
        OK(optr_bucket_all_reduce(bucket, all[rank], all[rank], ELEMENTS, &report, NULL));
        CHECK(report.is_applied && all[rank][ELEMENTS / 2] == 1);
        OK(optr_barrier(comm, NULL));
    }
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* A rank dies during a call: the others get an error, and no SIGPIPE kills them. */
static void survivor(optr_comm_t comm, int rank) {
    static float values[ELEMENTS];
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
    if (rank == 2) kill(getpid(), SIGKILL);
    optr_status_t status = OPTR_SUCCESS;
    for (int step = 0; step < 1000 && status == OPTR_SUCCESS; step++) status = optr_barrier(comm, NULL);
    if (status != OPTR_PEER_FAILED) FAIL("the barrier gave %s", optr_status_name(status));
    /* The error may name any other rank, since ranks with the error end as well. */
    CHECK(strstr(optr_last_error(), "rank "));
    FAILS(optr_exact_broadcast(comm, 0, values, ELEMENTS, OPTR_UINT8, NULL), OPTR_PEER_FAILED, "make a new communicator");
    optr_status_t error;
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_PEER_FAILED);
    OK(optr_comm_destroy(comm));
}

/* A rank leaves while another writes to it, who gets an error, and no SIGPIPE. */
static void left(optr_comm_t comm, int rank) {
    static char bytes[100000];
    OK(optr_barrier(comm, NULL));
    optr_status_t status = OPTR_SUCCESS;
    for (int i = 0; rank == 0 && status == OPTR_SUCCESS; i++) {
        status = optr_send(comm, 1, 0, bytes, sizeof bytes, NULL);
        CHECK(i < 100000);
    }
    if (rank == 0 && status != OPTR_PEER_FAILED) FAIL("a message gave %s: %s", optr_status_name(status), optr_last_error());
    OK(optr_comm_destroy(comm));
}

static volatile int steps;

static void *make_steps(void *bucket) {
    static float values[ELEMENTS];
    optr_report_t report = optr_report_init();
    for (int step = 0; step < 200; step++) {
        OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
        if (this_rank != 1) steps++;
    }
    pthread_testcancel();
    return NULL;
}

/* A thread cancelled in a call ends after the call, and the communicator stays usable. */
static void cancelled(optr_comm_t comm, int rank) {
    optr_bucket_t bucket;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    if (rank == 0) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, make_steps, bucket) == 0);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && steps == 200);
    } else {
        make_steps(bucket);
    }
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* A process with a low file limit gets an error until the limit is high enough. */
static void no_files(void) {
    optr_config_t config = patient_config();
    config.timeout_s = 0.05;
    for (rlim_t files = 3; files < 30; files++) {
        struct rlimit limit = {files, 100};
        optr_comm_t comm;
        optr_unique_id_t id;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        optr_status_t status = optr_get_unique_id("127.0.0.1", &id);
        if (status == OPTR_SUCCESS) status = optr_comm_init_rank(&comm, 2, &id, files % 2, &config);
        if (status != OPTR_SYSTEM && status != OPTR_PEER_FAILED) FAIL("with %d files: %s", (int)files, optr_status_name(status));
        CHECK(files > 3 || strstr(optr_last_error(), "Too many open files"));
    }
}

static void on_abort(optr_status_t status, const char *error, void *context) {
    CHECK(status == OPTR_ABORTED && strstr(error, "was aborted"));
    set_flag(context);
}

/* Rank 1 cannot connect to the new communicator. An abort ends the calls of rank 0 that wait for it,
 * long before their timeout. */
static void no_new_connection(optr_comm_t comm, int rank) {
    static int is_over, is_called;
    optr_comm_t first, second;
    optr_request_t request, watched;
    if (rank == 1) {
        struct rlimit limit = {3, 3};
        OK(optr_comm_split(comm, 0, &first, &request));
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        OK(optr_send(comm, 0, 1, NULL, 0, NULL));
        FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_SYSTEM, "Too many open files");
        FAILS(optr_recv(comm, 0, 1, &is_over, sizeof is_over, NULL, NULL), OPTR_PEER_FAILED, "rank 0");
        OK(optr_comm_destroy(comm));
        return;
    }
    OK(optr_recv(comm, 1, 1, NULL, 0, NULL, NULL));
    OK(optr_comm_split(comm, 0, &first, &watched));
    sleep_ms(500);
    OK(optr_comm_split(comm, 0, &second, &request));
    OK(optr_request_on_done(&watched, on_abort, &is_called));
    FAILS(optr_request_wait(&request, 1000), OPTR_PENDING, "wait for it again");
    time_t begin = time(NULL);
    OK(optr_comm_abort(comm));
    wait_for_flag(&is_called);
    FAILS(optr_request_wait(&request, OPTR_NO_TIMEOUT), OPTR_ABORTED, "was aborted");
    CHECK(time(NULL) - begin < 10 && first == NULL && second == NULL);
    OK(optr_comm_destroy(comm));
}

/* The others drop a silent rank, which then rejoins. */
static int is_dropped, is_back;

static void silent(optr_comm_t comm, int rank) {
    float values[100] = {0};
    optr_report_t report = optr_report_init();
    optr_bucket_t bucket;
    uint32_t first;
    OK(optr_bucket_create(comm, 100, NULL, &bucket, NULL));
    OK(optr_bucket_all_reduce(bucket, values, values, 100, &report, NULL));
    if (rank == 1) {
        wait_for_flag(&is_dropped);
        optr_status_t status;
        do status = optr_bucket_all_reduce(bucket, values, values, 100, &report, NULL);
        while (status == OPTR_SUCCESS);
        CHECK(status == OPTR_DROPPED && strstr(optr_last_error(), "rejoin"));
        OK(optr_comm_rejoin(comm, &first, NULL));
        OK(optr_bucket_all_reduce(bucket, values, values, 100, &report, NULL));
        CHECK(report.number == first && report.ranks == RANKS && report.joined_rank == 1);
        set_flag(&is_back);
    }
    while (!__atomic_load_n(&is_back, __ATOMIC_SEQ_CST)) {
        OK(optr_bucket_all_reduce(bucket, values, values, 100, &report, NULL));
        if (report.ranks == RANKS - 1) set_flag(&is_dropped);
    }
    OK(optr_comm_abort(comm));
    OK(optr_comm_destroy(comm));
}

/* Runs ranks in processes, of which at most one, `dies`, may end by a signal. */
static void run_processes(int ranks, void (*rank)(optr_comm_t, int), int dies) {
    OK(optr_get_unique_id("127.0.0.1", &job_id));
    pid_t children[RANKS];
    job_ranks = ranks, job_rank = rank;
    for (int i = 0; i < ranks; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            run_rank((void *)(size_t)i);
            _exit(0);
        }
    }
    for (int i = 0; i < ranks; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i]);
        if (i == dies ? !WIFSIGNALED(status) : !WIFEXITED(status) || WEXITSTATUS(status)) FAIL("rank %d: %x", i, status);
    }
}

int main(void) {
    job_config = patient_config();
    /* Before the first communicator and after the last, children may create communicators. */
    IN_CHILD(run_ranks(2, forked));
    run_ranks(RANKS, forked);
    IN_CHILD(run_ranks(2, forked));

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    run_ranks(RANKS, interrupted);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(alarms > 10);

    run_ranks(2, cancelled);
    IN_CHILD(no_files());

    signal(SIGPIPE, SIG_DFL);
    run_processes(RANKS, survivor, 2);
    for (int i = 0; i < 20; i++) run_processes(2, left, -1);
    run_processes(2, no_new_connection, -1);

    job_config.bound_ms = 20;
    job_config.timeout_s = 3;
    run_ranks(RANKS, silent);
    puts("done");
    return 0;
}
