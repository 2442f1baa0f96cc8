/* Random calls with random arguments from several threads, on valid, aborted and invalid
 * handles. No call crashes, blocks forever or returns OPTR_INTERNAL, and every failure has a
 * text. Buffers always have the stated length, as the header requires.
 *
 * Usage: random [SEED]. A seed determines the calls of each thread, but not their timing. */
#include "ranks.h"

#define THREADS 6
#define CALLS 300
#define ELEMENTS 300
#define HANDLES 24

enum kind { COMM, BUCKET, REQUEST, PARTIAL };

static struct {
    void *handle;
    enum kind kind;
} handles[HANDLES];
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static float arena[4 * ELEMENTS];
/* Must stay valid until their requests are done. */
static struct outputs {
    optr_partial_report_t group;
    optr_report_t report;
    optr_peer_report_t peers[2];
    void *made;
    char *json;
    optr_message_t message;
    int has_correction, is_settled;
    uint32_t op;
} outputs[THREADS][CALLS];
static unsigned long seed;
static long statuses[OPTR_UNSUPPORTED + 1];

static uint32_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A handle, mostly of this kind. */
static void *any_handle(uint64_t *state, enum kind kind) {
    uint32_t of = next(state) % (HANDLES + 2);
    if (of >= HANDLES) return of == HANDLES ? NULL : (void *)(size_t)(next(state) % 4000);
    pthread_mutex_lock(&handles_lock);
    for (int i = 0; i < HANDLES && (next(state) % 32) && (handles[of].kind != kind || !handles[of].handle); i++) of = (of + 1) % HANDLES;
    void *handle = handles[of].handle;
    pthread_mutex_unlock(&handles_lock);
    return handle;
}

/* The first handles are communicators and stay. The others are replaced. */
static void keep(uint64_t *state, void *handle, enum kind kind) {
    if (!handle) return;
    pthread_mutex_lock(&handles_lock);
    uint32_t at = kind == COMM ? next(state) % 6 : 6 + next(state) % (HANDLES - 6);
    handles[at].handle = handle, handles[at].kind = kind;
    pthread_mutex_unlock(&handles_lock);
}

static void on_done(optr_status_t status, const char *error, void *context) {
    CHECK(status != OPTR_UNSUPPORTED && (status == OPTR_SUCCESS) == !*error);
    CHECK(context == arena);
}

static void *caller(void *number) {
    uint64_t random = seed * 1000 + (size_t)number;
    this_rank = (int)(size_t)number;
    for (int i = 0; i < 20; i++) next(&random);
    for (int i = 0; i < CALLS; i++) {
        int call = (int)(next(&random) % 40);
        void *handle = any_handle(&random, call > 36 ? PARTIAL : call > 31 ? REQUEST : call > 25 ? BUCKET : COMM), *made = NULL;
        float *in = next(&random) % 16 ? arena + next(&random) % ELEMENTS : NULL;
        float *out = next(&random) % 16 ? arena + 2 * ELEMENTS + next(&random) % ELEMENTS : NULL;
        size_t few = next(&random) % 4 ? ELEMENTS : next(&random) % ELEMENTS, other = next(&random) % 3 ? ELEMENTS / 2 : next(&random) % ELEMENTS;
        struct outputs *output = &outputs[(size_t)number][i];
        output->report = optr_report_init(), output->group = optr_partial_report_init();
        optr_report_t *at = next(&random) % 16 ? &output->report : NULL;
        optr_partial_report_t *group = next(&random) % 16 ? &output->group : NULL;
        if (next(&random) % 2) output->report.peers = output->peers, output->report.peer_capacity = next(&random) % 3;
        optr_bucket_options_t options = optr_bucket_options_init();
        options.op = next(&random) % 3, options.bf16 = next(&random) % 3;
        optr_partial_options_t patient = optr_partial_options_init();
        patient.patience_s = 0.02, patient.weights = next(&random) % 2;
        optr_config_t config = job_config;
        optr_unique_id_t id;
        int a, way = (int)(next(&random) % 2);
        size_t first, count;
        /* Every call that waits blocks, or has a request. */
        optr_request_t request = handle, begun = NULL, *place = way ? &begun : NULL;
        int rarely = next(&random) % 8 && !way, hardly_ever = next(&random) % 60;
        optr_status_t status = OPTR_SUCCESS, error;
        uint32_t type = next(&random) % 13, op = next(&random) % 9, tag = next(&random) % 3;
        int peer = (int)(next(&random) % 4) - 1, root = (int)(next(&random) % 3);
        switch (call) {
        case 0: status = optr_comm_rank(handle, &a); break;
        case 1: status = optr_comm_world_size(handle, next(&random) % 2 ? &a : NULL); break;
        case 2: status = optr_comm_shard(handle, few, &first, &count); break;
        case 3: status = optr_comm_async_error(handle, &error); break;
        case 4: status = optr_comm_metrics(handle, &output->json, place); break;
        case 5: status = rarely ? OPTR_SUCCESS : optr_comm_rejoin(handle, &output->op, place); break;
        case 6: status = hardly_ever ? OPTR_SUCCESS : optr_comm_close(handle, place); break;
        case 7: status = hardly_ever ? OPTR_SUCCESS : optr_comm_abort(handle); break;
        case 8: status = hardly_ever ? OPTR_SUCCESS : optr_comm_destroy(handle); break;
        case 9:
            if (!rarely) status = optr_comm_split(handle, (int)(next(&random) % 3) - 1, (optr_comm_t *)&output->made, place);
            if (status == OPTR_SUCCESS) keep(&random, way ? NULL : output->made, COMM);
            break;
        case 10:
        case 11:
            status = optr_bucket_create(handle, few, next(&random) % 2 ? &options : NULL, (optr_bucket_t *)&output->made, place);
            if (!way) keep(&random, output->made, BUCKET);
            break;
        case 12:
            status = optr_partial_create(handle, few, next(&random) % 2 ? &patient : NULL, (optr_partial_t *)&output->made, place);
            if (!way) keep(&random, output->made, PARTIAL);
            break;
        case 13: status = optr_barrier(handle, place); break;
        case 14: status = optr_exact_broadcast(handle, root, out, out ? few / 2 : few % 2, type, place); break;
        case 15: status = optr_exact_all_reduce(handle, in, out, few / 2, type, op, place); break;
        case 16: status = optr_exact_reduce_scatter(handle, in, few / 2, out, other / 2, type, op, place); break;
        case 17: status = optr_exact_all_gather(handle, in, few / 2, out, place); break;
        case 18: status = optr_exact_gather(handle, root, in, few / 2, out, place); break;
        case 19: status = optr_exact_scatter(handle, root, in, out, few / 2, place); break;
        case 20: status = optr_exact_all_to_all(handle, in, few / 2, out, place); break;
        case 21: status = rarely ? OPTR_SUCCESS : optr_send(handle, peer, tag, in, few, place); break;
        case 22: status = rarely ? OPTR_SUCCESS : optr_recv(handle, peer, tag, out, few, next(&random) % 2 ? &output->message : NULL, place); break;
        case 23: status = optr_get_unique_id(next(&random) % 2 ? "127.0.0.1" : "nonsense host", &id); break;
        case 24:
            memset(&id, (int)next(&random), sizeof id);
            status = optr_comm_init_rank((optr_comm_t *)&made, (int)next(&random) - 5, &id, (int)(next(&random) % 3) - 1, &config);
            keep(&random, made, COMM);
            break;
        case 25:
            memset((char *)&config + sizeof config.size, (int)next(&random), next(&random) % (offsetof(optr_config_t, interface) - sizeof config.size));
            status = optr_comm_init_rank((optr_comm_t *)&made, 2, &job_id, 5, &config);
            keep(&random, made, COMM);
            break;
        case 26: status = next(&random) % 4 ? OPTR_SUCCESS : optr_bucket_destroy(handle); break;
        case 27:
        case 28: status = optr_bucket_all_reduce(handle, in, out, few, at, place); break;
        case 29: status = optr_bucket_reduce_scatter(handle, in, few, out, other, at, place); break;
        case 30: status = optr_bucket_all_gather(handle, in, other, out, few, at, place); break;
        case 31: status = optr_bucket_settle(handle, next(&random) % 1000, out, few, &output->has_correction, &output->is_settled, place); break;
        case 32: status = optr_request_wait(&request, 0); break;
        case 33:
        case 34: status = optr_request_wait(&request, next(&random) % 2000); break;
        case 35: status = optr_request_on_done(&request, next(&random) % 8 ? on_done : NULL, arena); break;
        case 36: status = optr_request_free(&request); break;
        case 37: status = optr_partial_average(handle, in, out, few, (uint64_t)i % 40, group, place); break;
        case 38: status = rarely ? OPTR_SUCCESS : optr_partial_close(handle, place); break;
        default: status = next(&random) % 4 ? OPTR_SUCCESS : optr_partial_destroy(handle);
        }
        CHECK(status == OPTR_SUCCESS || !begun);
        keep(&random, begun, REQUEST);
        if (status == OPTR_INTERNAL || (status != OPTR_SUCCESS && !*optr_last_error())) FAIL("seed %lu: call %d is %s", seed, call, optr_status_name(status));
        __atomic_fetch_add(&statuses[status], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* A job whose ranks only provide handles. */
static void lender(optr_comm_t comm, int rank) {
    optr_bucket_t bucket;
    optr_partial_t partial;
    optr_partial_options_t patient = optr_partial_options_init();
    patient.patience_s = 0.02;
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_partial_create(comm, ELEMENTS, &patient, &partial, NULL));
    uint64_t random = seed + (uint64_t)rank;
    handles[rank].handle = comm, handles[rank].kind = COMM;
    keep(&random, bucket, BUCKET);
    keep(&random, partial, PARTIAL);
}

int main(int count, char **arguments) {
    seed = count > 1 ? strtoul(arguments[1], NULL, 0) : (unsigned long)time(NULL);
    fprintf(stderr, "seed %lu\n", seed);
    job_config = patient_config();
    job_config.timeout_s = 0.4; /* ranks make different calls, so waits must be short */
    job_config.bound_ms = 2;
    job_config.drop_silent_after = OPTR_NEVER;
    for (int round = 0; round < 4; round++, seed++) {
        run_ranks(2, lender);
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, caller, (void *)(size_t)i) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        for (int i = 0; i < HANDLES; i++) optr_comm_destroy(handles[i].handle), handles[i].handle = NULL;
    }
    for (int i = 0; i <= OPTR_UNSUPPORTED; i++) printf("%s %ld\n", optr_status_name(i), statuses[i]);
    puts("done");
    return 0;
}
