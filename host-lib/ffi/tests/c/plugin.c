/* The library as a plugin: loaded, used, unloaded and reloaded while its threads still end. Usage:
 * plugin LIBRARY */
#include <dlfcn.h>

#include "ranks.h"

/* Functions of the loaded library that ranks.h and this file use. */
#define EACH(f)                                                                                                        \
    f(optr_last_error) f(optr_status_name) f(optr_get_unique_id) f(optr_comm_init_rank) f(optr_comm_destroy)           \
        f(optr_bucket_create) f(optr_bucket_all_reduce) f(optr_request_on_done) f(optr_barrier)           \
        f(optr_request_wait)
static void *loaded_library;

#define STRINGS(name) #name,
static const char *const names[] = {EACH(STRINGS)};
static void (*addresses[sizeof names / sizeof *names])(void);

static void load(const char *path) {
    loaded_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded_library) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(loaded_library, names[i]);
        if (!address) _exit(2);
        memcpy(&addresses[i], &address, sizeof address);
    }
}

const char *optr_last_error(void) { return ((const char *(*)(void))addresses[0])(); }
const char *optr_status_name(int32_t status) { return ((const char *(*)(int32_t))addresses[1])(status); }
optr_status_t optr_get_unique_id(const char *address, optr_unique_id_t *id) {
    return ((optr_status_t(*)(const char *, optr_unique_id_t *))addresses[2])(address, id);
}
optr_status_t optr_comm_init_rank(optr_comm_t *comm, int ranks, const optr_unique_id_t *id, int rank, const optr_config_t *config) {
    return ((optr_status_t(*)(optr_comm_t *, int, const optr_unique_id_t *, int, const optr_config_t *))addresses[3])(comm, ranks, id, rank, config);
}
optr_status_t optr_comm_destroy(optr_comm_t comm) { return ((optr_status_t(*)(optr_comm_t))addresses[4])(comm); }
optr_status_t optr_bucket_create(optr_comm_t comm, size_t elements, const optr_bucket_options_t *options, optr_bucket_t *bucket, optr_request_t *request) {
    return ((optr_status_t(*)(optr_comm_t, size_t, const optr_bucket_options_t *, optr_bucket_t *, optr_request_t *))addresses[5])(comm, elements, options, bucket, request);
}
optr_status_t optr_bucket_all_reduce(optr_bucket_t bucket, const float *in, float *out, size_t elements, optr_report_t *report, optr_request_t *request) {
    return ((optr_status_t(*)(optr_bucket_t, const float *, float *, size_t, optr_report_t *, optr_request_t *))addresses[6])(bucket, in, out, elements, report, request);
}
optr_status_t optr_request_on_done(optr_request_t *request, optr_callback_t callback, void *context) {
    return ((optr_status_t(*)(optr_request_t *, optr_callback_t, void *))addresses[7])(request, callback, context);
}
optr_status_t optr_barrier(optr_comm_t comm, optr_request_t *request) {
    return ((optr_status_t(*)(optr_comm_t, optr_request_t *))addresses[8])(comm, request);
}
optr_status_t optr_request_wait(optr_request_t *request, uint64_t timeout_us) {
    return ((optr_status_t(*)(optr_request_t *, uint64_t))addresses[9])(request, timeout_us);
}

static int calls;

static void on_done(optr_status_t status, const char *error, void *context) {
    (void)error, (void)context;
    __atomic_fetch_add(&calls, status == OPTR_SUCCESS, __ATOMIC_SEQ_CST);
}

static void rank(optr_comm_t comm, int rank) {
    static float values[2][100];
    static optr_report_t reports[2];
    optr_bucket_t bucket;
    optr_request_t request;
    reports[rank] = optr_report_init();
    OK(optr_bucket_create(comm, 100, NULL, &bucket, NULL));
    OK(optr_bucket_all_reduce(bucket, values[rank], values[rank], 100, &reports[rank], &request));
    OK(optr_request_on_done(&request, on_done, NULL));
    OK(optr_barrier(comm, NULL));
    while (__atomic_load_n(&calls, __ATOMIC_SEQ_CST) < 2) sleep_ms(1);
    OK(optr_barrier(comm, NULL));
    OK(optr_comm_destroy(comm));
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    job_config = patient_config();
    for (int i = 0; i < 3; i++) {
        load(arguments[1]);
        calls = 0;
        run_ranks(2, rank);
        if (dlclose(loaded_library)) return 3;
        sleep_ms(50);
    }
    puts("done");
    return 0;
}
