/* Wrong uses of a single caller. Each returns a status, and a text with the argument and the values
 * found and expected. */
#include "ranks.h"

#define ELEMENTS 1000

static void bad_init(void) {
    optr_comm_t comm = (optr_comm_t)0x77;
    optr_unique_id_t id;
    OK(optr_get_unique_id("127.0.0.1", &id));
    optr_config_t config = patient_config();

    FAILS(optr_get_unique_id(NULL, NULL), OPTR_INVALID_ARGUMENT, "id is NULL, expected an address to write to");
    FAILS(optr_get_unique_id("no such host", &id), OPTR_INVALID_ARGUMENT, "address is \"no such host\"");
    FAILS(optr_get_unique_id("192.0.2.1", &id), OPTR_SYSTEM, "no port at 192.0.2.1"); /* not in use (RFC 5737) */
    FAILS(optr_get_unique_id("\xff\xfe", &id), OPTR_INVALID_ARGUMENT, "address is not UTF-8");
    FAILS(optr_comm_init_rank(NULL, 2, &id, 0, NULL), OPTR_INVALID_ARGUMENT, "comm is NULL");
    FAILS(optr_comm_init_rank(&comm, 2, NULL, 0, NULL), OPTR_INVALID_ARGUMENT, "id is NULL, expected the id from optr_get_unique_id");
    FAILS(optr_comm_init_rank(&comm, 0, &id, 0, NULL), OPTR_INVALID_ARGUMENT, "world_size is 0, expected 1 to 65536 ranks");
    CHECK(comm == NULL); /* cleared by the error */
    FAILS(optr_comm_init_rank(&comm, -5, &id, 0, NULL), OPTR_INVALID_ARGUMENT, "world_size is -5, expected 1 to 1024");
    FAILS(optr_comm_init_rank(&comm, 2000000, &id, 0, NULL), OPTR_INVALID_ARGUMENT, "world_size is 2000000, expected");
    FAILS(optr_comm_init_rank(&comm, 2, &id, 2, NULL), OPTR_INVALID_ARGUMENT, "rank is \"2\", expected 0 to 1");
    FAILS(optr_comm_init_rank(&comm, 2, &id, -1, NULL), OPTR_INVALID_ARGUMENT, "rank is -1");
    optr_unique_id_t zeros, ones;
    memset(&zeros, 0, sizeof zeros);
    memset(&ones, 0xff, sizeof ones);
    FAILS(optr_comm_init_rank(&comm, 2, &zeros, 0, NULL), OPTR_INVALID_ARGUMENT, "id is 128 bytes that optr_get_unique_id has not written");
    FAILS(optr_comm_init_rank(&comm, 2, &ones, 0, NULL), OPTR_INVALID_ARGUMENT, "id is 128 bytes");
    FAILS(optr_comm_init(&comm, NULL), OPTR_INVALID_ARGUMENT, "no launcher's environment found");
    setenv("OPTIREDUCE_RANK", "0", 1);
    FAILS(optr_comm_init(&comm, NULL), OPTR_INVALID_ARGUMENT, "world_size (OPTIREDUCE_WORLD_SIZE, --world-size) is not set");
    unsetenv("OPTIREDUCE_RANK");

    /* Configs. */
#define WRONG(field, value, text)                                                                                      \
    do {                                                                                                               \
        optr_config_t wrong = config;                                                                                  \
        wrong.field = value;                                                                                           \
        FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &wrong), OPTR_INVALID_ARGUMENT, text);                             \
    } while (0)
    WRONG(size, 0, "config->size is 0, expected sizeof(optr_config_t)");
    WRONG(size, offsetof(optr_config_t, card), "config->size is ");
    WRONG(size, SIZE_MAX, "config->size is ");
    WRONG(early, OPTR_AUTO, "config->early is 3, expected OPTR_EARLY_DEFAULT (0), OPTR_EARLY_OFF (1) or OPTR_EARLY_ADAPTIVE (2)");
    WRONG(hadamard, 4, "config->hadamard is 4");
    WRONG(bf16, OPTR_AUTO, "config->bf16 is 3, expected OPTR_DEFAULT (0), OPTR_OFF (1) or OPTR_ON (2)");
    WRONG(repair, 9, "config->repair is 9, expected OPTR_REPAIR_DEFAULT (0), OPTR_REPAIR_OFF (1), OPTR_REPAIR_NEXT_UPDATE (2) or OPTR_REPAIR_THIS_UPDATE (3)");
    WRONG(agree, 9, "config->agree is 9");
    WRONG(skip_gone, UINT32_MAX, "config->skip_gone is 4294967295");
    WRONG(card_fallback, OPTR_AUTO, "config->card_fallback is 3");
    WRONG(shared_memory, OPTR_ON, "config->shared_memory is 2");
    WRONG(rejoin, OPTR_AUTO, "config->rejoin is 3");
    WRONG(timeout_s, 0.0001, "timeout_s is 0.0001, expected 0.001 to 86400 s");
    WRONG(timeout_s, -1, "timeout_s is -1");
    WRONG(bound_ms, 1e9, "bound_ms is 1000000000, expected 0.001 to 4290 ms, or measured");
    WRONG(bound_ms, 0.0 / 0.0, "bound_ms is NaN");
    WRONG(bound_max_ms, 1, "bound_max_ms is 1, expected 5 to 4290 ms");
    WRONG(mtu, 20, "mtu is 20, expected 114 to 65535 bytes, or auto");
    WRONG(interface, "\xff", "config->interface is not UTF-8");
    WRONG(card, "c.sock,address=10.0.0.2/24", "card is c.sock,address=10.0.0.2/24, expected WHERE,address=IP");
    WRONG(secret_file, "/nonexistent", "secret_file is /nonexistent, expected a file with a secret: reading");
    WRONG(secret_file, "/dev/null", "the secret has 0 bytes");
    WRONG(bound_ms, -1.0 / 0.0, "bound_ms is -inf, expected");
    WRONG(bound_max_ms, 1e-320, "bound_max_ms is 1e-320, expected");
    WRONG(card, "a\nb,c", "card is \"a\\nb,c\", expected WHERE[,address=IP[/PREFIX][:PORT]][,gateway=MAC], without control characters");
    /* The place of the rank is in the arguments. */
    WRONG(rank, 1, "config->rank is 1, expected the default, since optr_comm_init_rank takes the rank from its arguments");
    WRONG(world_size, 2, "config->world_size is 2");
    WRONG(root, "", "config->root is \"\", expected the default");
    WRONG(job_id, "j", "config->job_id is \"j\", expected the default");
    char *endless = malloc(5000);
    memset(endless, 'x', 5000);
    WRONG(interface, endless, "config->interface is an unterminated text");
    free(endless);
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, (optr_config_t *)((char *)&config + 4)), OPTR_INVALID_ARGUMENT, "config is at 0x");
    /* A config of an older header ends before these fields. */
    optr_config_t older = config;
    older.size = offsetof(optr_config_t, rank);
    older.mtu = 16;
    memset((char *)&older + older.size, 0xa5, sizeof older - older.size);
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &older), OPTR_INVALID_ARGUMENT, "mtu is 16");
    /* A config of a newer header is valid unless it uses new fields. */
    struct { optr_config_t config; unsigned char more[16]; } newer = {config, {0}};
    newer.config.size = sizeof newer;
    newer.config.mtu = 16;
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &newer.config), OPTR_INVALID_ARGUMENT, "mtu is 16");
    newer.more[3] = 1;
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &newer.config), OPTR_INVALID_ARGUMENT, "install a library as new as the header");
    optr_config_t nowhere = config;
    nowhere.interface = "no such interface";
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &nowhere), OPTR_SYSTEM, "addresses of interface no such interface: none found");
    /* No other rank connects. */
    config.timeout_s = 0.2;
    FAILS(optr_comm_init_rank(&comm, 2, &id, 0, &config), OPTR_PEER_FAILED, "1 of 2 ranks did not connect within 0.2 s: rank 1");
    CHECK(comm == NULL);
    FAILS(optr_comm_init_rank(&comm, 2, &id, 1, &config), OPTR_PEER_FAILED, "rank 0 was not reached at 127.0.0.1");
}

/* One config places a rank. The address is of an unused port. */
static char placed_root[OPTR_UNIQUE_ID_BYTES];

static void *placed(void *number) {
    this_rank = (int)(size_t)number;
    optr_config_t config = patient_config();
    config.rank = (uint32_t)this_rank;
    config.world_size = 2;
    config.root = placed_root;
    config.job_id = "placed";
    optr_comm_t comm;
    int rank, world_size;
    OK(optr_comm_init(&comm, &config));
    OK(optr_comm_rank(comm, &rank));
    OK(optr_comm_world_size(comm, &world_size));
    CHECK(rank == this_rank && world_size == 2);
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
    return NULL;
}

static void config_with_a_place(void) {
    optr_unique_id_t id;
    pthread_t threads[2];
    OK(optr_get_unique_id("127.0.0.1", &id));
    CHECK(sscanf((const char *)id.bytes, "optireduce 1 %127s", placed_root) == 1);
    for (size_t rank = 0; rank < 2; rank++) CHECK(pthread_create(&threads[rank], NULL, placed, (void *)rank) == 0);
    for (size_t rank = 0; rank < 2; rank++) CHECK(pthread_join(threads[rank], NULL) == 0);
    this_rank = -1;
    optr_comm_t comm;
    optr_config_t config = patient_config();
    config.rank = 1;
    FAILS(optr_comm_init(&comm, &config), OPTR_INVALID_ARGUMENT, "world_size (OPTIREDUCE_WORLD_SIZE, --world-size) is not set");
    config.world_size = 1;
    FAILS(optr_comm_init(&comm, &config), OPTR_INVALID_ARGUMENT, "rank is \"1\", expected 0");
    config.rank = 0;
    OK(optr_comm_init(&comm, &config));
    OK(optr_comm_destroy(comm));
}

static void never_called(optr_status_t status, const char *error, void *context) {
    (void)status, (void)error, (void)context;
    FAIL("a callback was called that was never set");
}

/* Invalid handles. */
static void bad_handles(void) {
    static int somewhere;
    void *none[] = {NULL, (void *)1, (void *)3, (void *)5, (void *)0x1234, (void *)UINTPTR_MAX, &somewhere};
    optr_report_t report = optr_report_init();
    float values[4] = {0};
    int number;
    size_t count;
    uint32_t op;
    optr_status_t error;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        optr_request_t started = (optr_request_t)values;
        const char *comm = i ? "comm is 0x" : "comm is NULL, expected a communicator from optr_comm_init or optr_comm_init_rank";
        const char *bucket = i ? "bucket is 0x" : "bucket is NULL, expected a bucket from optr_bucket_create";
        const char *request = i ? "*request is 0x" : "*request is NULL, expected a request from a call with a request";
        FAILS(optr_comm_rank(none[i], &number), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_world_size(none[i], &number), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_shard(none[i], 5, &count, &count), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_async_error(none[i], &error), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_rejoin(none[i], &op, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_rejoin(none[i], &op, &started), OPTR_INVALID_HANDLE, comm);
        char *json = (char *)values;
        FAILS(optr_comm_metrics(none[i], &json, NULL), OPTR_INVALID_HANDLE, comm);
        CHECK(json == NULL);
        FAILS(optr_comm_split(none[i], 0, &(optr_comm_t){NULL}, &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_close(none[i], &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_close(none[i], NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_abort(none[i]), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_comm_destroy(none[i]), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_barrier(none[i], NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_broadcast(none[i], 0, values, 4, OPTR_UINT8, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_gather(none[i], 0, values, 4, values, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_scatter(none[i], 0, values, values, 4, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_all_to_all(none[i], values, 4, values, NULL), OPTR_INVALID_HANDLE, comm);
        optr_bucket_t made = (optr_bucket_t)values;
        FAILS(optr_bucket_create(none[i], 4, NULL, &made, NULL), OPTR_INVALID_HANDLE, comm);
        CHECK(made == NULL);
        void *memory = values;
        FAILS(optr_alloc(none[i], 4, &memory), OPTR_INVALID_HANDLE, comm);
        CHECK(memory == NULL);
        FAILS(optr_free(none[i], values), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_bucket_destroy(none[i]), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_all_reduce(none[i], values, values, 4, &report, NULL), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_reduce_scatter(none[i], values, 4, values, 4, &report, NULL), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_all_gather(none[i], values, 4, values, 4, &report, NULL), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_settle(none[i], 0, values, 4, &number, &number, NULL), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_barrier(none[i], &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_broadcast(none[i], 0, values, 4, OPTR_UINT8, &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_all_gather(none[i], values, 4, values, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_all_reduce(none[i], values, values, 4, OPTR_INT32, OPTR_SUM, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_reduce_scatter(none[i], values, 4, values, 4, OPTR_INT32, OPTR_SUM, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_exact_all_reduce(none[i], values, values, 4, OPTR_INT32, OPTR_SUM, &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_send(none[i], 0, 0, values, 4, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_recv(none[i], 0, 0, values, 4, NULL, NULL), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_send(none[i], 0, 0, values, 4, &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_recv(none[i], 0, 0, values, 4, NULL, &started), OPTR_INVALID_HANDLE, comm);
        FAILS(optr_bucket_all_reduce(none[i], values, values, 4, &report, &started), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_reduce_scatter(none[i], values, 4, values, 4, &report, &started), OPTR_INVALID_HANDLE, bucket);
        FAILS(optr_bucket_all_gather(none[i], values, 4, values, 4, &report, &started), OPTR_INVALID_HANDLE, bucket);
        CHECK(started == NULL);
        started = none[i];
        FAILS(optr_request_wait(&started, 0), OPTR_INVALID_HANDLE, request);
        FAILS(optr_request_wait(&started, OPTR_NO_TIMEOUT), OPTR_INVALID_HANDLE, request);
        FAILS(optr_request_on_done(&started, never_called, NULL), OPTR_INVALID_HANDLE, request);
        FAILS(optr_request_free(&started), OPTR_INVALID_HANDLE, request);
        CHECK(started == none[i]);
    }
}

/* Wrong uses of a communicator and a bucket. Both ranks make the same calls, also valid ones. */
static void rank(optr_comm_t comm, int rank) {
    float values[ELEMENTS];
    void *const misaligned = (char *)values + 1;
    for (int i = 0; i < ELEMENTS; i++) values[i] = (float)rank;
    int number;
    size_t count;
    uint32_t op;
    optr_bucket_t bucket;
    optr_request_t request;
    optr_report_t report = optr_report_init();
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));

    FAILS(optr_comm_rank(comm, NULL), OPTR_INVALID_ARGUMENT, "rank is NULL");
    FAILS(optr_comm_world_size(comm, NULL), OPTR_INVALID_ARGUMENT, "world_size is NULL");
    FAILS(optr_comm_shard(comm, 5, NULL, &count), OPTR_INVALID_ARGUMENT, "first is NULL");
    FAILS(optr_comm_shard(comm, 5, &count, NULL), OPTR_INVALID_ARGUMENT, "count is NULL");
    FAILS(optr_comm_shard(comm, SIZE_MAX, &count, &count), OPTR_INVALID_ARGUMENT, "elements is 18446744073709551615, expected at most");
    FAILS(optr_comm_async_error(comm, NULL), OPTR_INVALID_ARGUMENT, "error is NULL");
    FAILS(optr_comm_rejoin(comm, NULL, NULL), OPTR_INVALID_ARGUMENT, "first_op is NULL");
    OK(optr_comm_rejoin(comm, &op, NULL)); /* no effect, since this rank takes part */
    FAILS(optr_comm_metrics(comm, NULL, NULL), OPTR_INVALID_ARGUMENT, "json is NULL");
    FAILS(optr_barrier(comm, misaligned), OPTR_INVALID_ARGUMENT, "request is at 0x");

    /* Values and lengths. */
    FAILS(optr_exact_broadcast(comm, 0, NULL, 4, OPTR_UINT8, NULL), OPTR_INVALID_ARGUMENT, "data is NULL, expected 4 bytes");
    FAILS(optr_bucket_all_reduce(bucket, misaligned, values, 4, &report, NULL), OPTR_INVALID_ARGUMENT, "expected a multiple of 4");
    FAILS(optr_exact_broadcast(comm, 0, misaligned, 4, OPTR_FLOAT32, NULL), OPTR_INVALID_ARGUMENT, "expected a multiple of 4");
    FAILS(optr_exact_broadcast(comm, 0, values, 4, 12, NULL), OPTR_INVALID_ARGUMENT, "type is 12, expected OPTR_FLOAT16 (0) to OPTR_UINT64 (11)");
    FAILS(optr_exact_broadcast(comm, 0, values, SIZE_MAX, OPTR_UINT8, NULL), OPTR_INVALID_ARGUMENT, "elements is");
    FAILS(optr_exact_broadcast(comm, 2, values, 4, OPTR_UINT8, NULL), OPTR_INVALID_ARGUMENT, "the root is 2, expected a rank from 0 to 1");
    FAILS(optr_exact_broadcast(comm, -1, values, 4, OPTR_UINT8, NULL), OPTR_INVALID_ARGUMENT, "the root is ");
    FAILS(optr_exact_broadcast(comm, 0, NULL, 4, OPTR_UINT8, &request), OPTR_INVALID_ARGUMENT, "data is NULL");
    FAILS(optr_exact_all_gather(comm, values, SIZE_MAX / 2 + 2, values, NULL), OPTR_INVALID_ARGUMENT, "elements is");
    FAILS(optr_exact_all_gather(comm, values, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "output is NULL, expected 8 bytes");
    FAILS(optr_exact_all_to_all(comm, NULL, 4, values, NULL), OPTR_INVALID_ARGUMENT, "input is NULL, expected 8 bytes");
    FAILS(optr_exact_gather(comm, rank, values, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "output is NULL, expected 8 bytes");
    FAILS(optr_exact_scatter(comm, rank, NULL, values, 4, NULL), OPTR_INVALID_ARGUMENT, "input is NULL, expected 8 bytes");
    FAILS(optr_exact_gather(comm, 2, values, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "the root is 2, expected a rank from 0 to 1");
    FAILS(optr_exact_scatter(comm, -1, NULL, values, 4, NULL), OPTR_INVALID_ARGUMENT, "the root is ");

    /* Exact reductions. */
    FAILS(optr_exact_all_reduce(comm, values, values, 4, 12, OPTR_SUM, NULL), OPTR_INVALID_ARGUMENT, "type is 12, expected OPTR_FLOAT16 (0) to OPTR_UINT64 (11)");
    FAILS(optr_exact_all_reduce(comm, values, values, 4, OPTR_INT32, 8, NULL), OPTR_INVALID_ARGUMENT, "op is 8, expected OPTR_AVG (0) to OPTR_XOR (7)");
    FAILS(optr_exact_all_reduce(comm, values, values, 4, OPTR_INT32, OPTR_AVG, NULL), OPTR_INVALID_ARGUMENT, "there is no avg of i32 values");
    FAILS(optr_exact_all_reduce(comm, values, values, 4, OPTR_FLOAT32, OPTR_XOR, NULL), OPTR_INVALID_ARGUMENT, "there is no xor of f32 values");
    FAILS(optr_exact_all_reduce(comm, NULL, values, 4, OPTR_INT64, OPTR_SUM, NULL), OPTR_INVALID_ARGUMENT, "input is NULL, expected 32 bytes");
    FAILS(optr_exact_all_reduce(comm, values, (char *)values + 2, 4, OPTR_INT64, OPTR_SUM, NULL), OPTR_INVALID_ARGUMENT, "expected a multiple of 8");
    FAILS(optr_exact_all_reduce(comm, values, values, SIZE_MAX / 4, OPTR_INT64, OPTR_SUM, NULL), OPTR_INVALID_ARGUMENT, "elements is");
    FAILS(optr_exact_reduce_scatter(comm, values, 9, values, 6, OPTR_INT32, OPTR_SUM, NULL), OPTR_INVALID_ARGUMENT, rank ? "output_elements is 6, expected 4" : "expected 5");

    /* Messages. */
    optr_message_t message;
    FAILS(optr_send(comm, 2, 0, values, 4, NULL), OPTR_INVALID_ARGUMENT, "to is 2, expected a rank from 0 to 1");
    FAILS(optr_send(comm, -1, 0, values, 4, NULL), OPTR_INVALID_ARGUMENT, "to is -1");
    FAILS(optr_send(comm, 0, 0, NULL, 4, NULL), OPTR_INVALID_ARGUMENT, "data is NULL, expected 4 bytes");
    FAILS(optr_recv(comm, 2, 0, values, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "from is 2, expected a rank from 0 to 1");
    FAILS(optr_recv(comm, -2, 0, values, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "from is -2");
    FAILS(optr_recv(comm, 0, 0, NULL, 4, NULL, NULL), OPTR_INVALID_ARGUMENT, "data is NULL");
    FAILS(optr_send(comm, 2, 0, values, 4, &request), OPTR_INVALID_ARGUMENT, "to is 2");
    CHECK(request == NULL);
    for (int i = 0; i < 3; i++) OK(optr_send(comm, rank, 5, values, 8, NULL)); /* to itself */
    FAILS(optr_recv(comm, rank, 5, values, 7, &message, NULL), OPTR_MISMATCH, "a message of 8 bytes arrived from rank");
    FAILS(optr_recv(comm, rank, 5, values, 9, NULL, NULL), OPTR_MISMATCH, "with tag 5, expected 9; it is lost");
    OK(optr_recv(comm, OPTR_ANY_RANK, 5, values, 9, &message, NULL));
    CHECK(message.bytes == 8 && message.rank == rank);
    FAILS(optr_bucket_all_reduce(bucket, NULL, values, 4, &report, NULL), OPTR_INVALID_ARGUMENT, "input is NULL, expected 4 values");
    FAILS(optr_bucket_all_reduce(bucket, values, NULL, 4, &report, NULL), OPTR_INVALID_ARGUMENT, "output is NULL, expected 4 values");
    FAILS(optr_bucket_all_reduce(bucket, values, values, SIZE_MAX / 4, &report, NULL), OPTR_INVALID_ARGUMENT, "elements is");
    FAILS(optr_bucket_reduce_scatter(bucket, values, ELEMENTS, values, 499, &report, NULL), OPTR_INVALID_ARGUMENT, "output_elements is 499, expected 500");
    FAILS(optr_bucket_reduce_scatter(bucket, values, ELEMENTS, values, 501, &report, NULL), OPTR_INVALID_ARGUMENT, "output_elements is 501, expected 500");
    FAILS(optr_bucket_all_gather(bucket, values, 500, values, 999, &report, NULL), OPTR_INVALID_ARGUMENT, "elements is 999, expected 1000");
    FAILS(optr_bucket_reduce_scatter(bucket, values, ELEMENTS, values, 501, &report, &request), OPTR_INVALID_ARGUMENT, "output_elements is 501");
    FAILS(optr_bucket_all_gather(bucket, values, 500, values, 999, &report, &request), OPTR_INVALID_ARGUMENT, "elements is 999");
    FAILS(optr_bucket_all_reduce(bucket, NULL, values, ELEMENTS, &report, &request), OPTR_INVALID_ARGUMENT, "input is NULL");
    FAILS(optr_bucket_settle(bucket, 0, values, 5, &number, &number, NULL), OPTR_INVALID_ARGUMENT, "elements is 5, expected 1000");
    FAILS(optr_bucket_settle(bucket, 0, NULL, ELEMENTS, &number, &number, NULL), OPTR_INVALID_ARGUMENT, "correction is NULL");
    FAILS(optr_bucket_settle(bucket, 0, values, ELEMENTS, NULL, &number, NULL), OPTR_INVALID_ARGUMENT, "has_correction is NULL");
    for (int i = 0; i < ELEMENTS; i++) values[i] = (float)rank;

    /* Memory. */
    void *memory;
    FAILS(optr_alloc(comm, 8, NULL), OPTR_INVALID_ARGUMENT, "memory is NULL");
    FAILS(optr_alloc(comm, 0, &memory), OPTR_INVALID_ARGUMENT, "bytes is 0, expected at least 1");
    FAILS(optr_alloc(comm, SIZE_MAX, &memory), OPTR_NO_MEMORY, "the memory needs ");
    FAILS(optr_alloc(comm, (size_t)1 << 50, &memory), OPTR_NO_MEMORY, "ask for less, or raise this rank's memory limit");
    CHECK(memory == NULL);
    OK(optr_alloc(comm, 1, &memory));
    FAILS(optr_free(comm, (char *)memory + 1), OPTR_INVALID_ARGUMENT, "expected an address from optr_alloc for this communicator");
    FAILS(optr_free(comm, values), OPTR_INVALID_ARGUMENT, "memory is at 0x");
    OK(optr_free(comm, memory));
    FAILS(optr_free(comm, memory), OPTR_INVALID_ARGUMENT, "and not freed before");

    /* Invalid buckets. */
    optr_bucket_t none;
    optr_bucket_options_t options = optr_bucket_options_init();
    FAILS(optr_bucket_create(comm, 4, NULL, NULL, NULL), OPTR_INVALID_ARGUMENT, "bucket is NULL");
    FAILS(optr_bucket_create(comm, 0, NULL, &none, NULL), OPTR_INVALID_ARGUMENT, "the number of elements of a bucket is 0, expected at least 1");
    FAILS(optr_bucket_create(comm, SIZE_MAX, NULL, &none, NULL), OPTR_INVALID_ARGUMENT, "the number of elements of a bucket is");
    FAILS(optr_bucket_create(comm, (size_t)1 << 31, NULL, &none, NULL), OPTR_INVALID_ARGUMENT, "split the bucket");
    options.op = 2;
    FAILS(optr_bucket_create(comm, 4, &options, &none, NULL), OPTR_INVALID_ARGUMENT, "options->op is 2, expected OPTR_AVG (0) or OPTR_SUM (1): other reductions exist only in exact calls");
    options.op = 9;
    FAILS(optr_bucket_create(comm, 4, &options, &none, NULL), OPTR_INVALID_ARGUMENT, "options->op is 9, expected OPTR_AVG (0) to OPTR_XOR (7)");
    options.op = OPTR_AVG, options.hadamard = 5;
    FAILS(optr_bucket_create(comm, 4, &options, &none, NULL), OPTR_INVALID_ARGUMENT, "options->hadamard is 5");
    options.size = 3;
    FAILS(optr_bucket_create(comm, 4, &options, &none, NULL), OPTR_INVALID_ARGUMENT, "options->size is 3, expected sizeof(optr_bucket_options_t)");

    /* Reports. */
    FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, NULL, NULL), OPTR_INVALID_ARGUMENT, "report is NULL, expected an address to write the report to");
    report.size = 0;
    FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_INVALID_ARGUMENT, "report->size is 0, expected sizeof(optr_report_t)");
    report = optr_report_init();
    optr_peer_report_t peers[2];
    memset(peers, 0xa5, sizeof peers);
    report.peers = peers, report.peer_capacity = 2, report.peer_size = 0;
    FAILS(optr_bucket_all_reduce(bucket, values, values, 4, &report, NULL), OPTR_INVALID_ARGUMENT, "report->peer_size is 0, expected sizeof(optr_peer_report_t)");
    /* Room for fewer peers than there are: the first ones, and their number. */
    report.peer_size = sizeof *peers, report.peer_capacity = 1;
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL));
    CHECK(report.peer_count == 2 && peers[0].rank == 0 && peers[1].rank == 0xa5a5a5a5 && values[7] == 0.5f);
    report = optr_report_init();

    /* Handles of another type, and destroyed handles. */
    FAILS(optr_barrier((optr_comm_t)(void *)bucket, NULL), OPTR_INVALID_HANDLE, "comm is a bucket, expected a communicator");
    FAILS(optr_bucket_destroy((optr_bucket_t)(void *)comm), OPTR_INVALID_HANDLE, "bucket is a communicator, expected a bucket");
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, &request));
    optr_request_t old = request;
    FAILS(optr_comm_destroy((optr_comm_t)(void *)request), OPTR_INVALID_HANDLE, "comm is a request");
    FAILS(optr_request_wait(NULL, 0), OPTR_INVALID_ARGUMENT, "request is NULL");
    FAILS(optr_request_free(NULL), OPTR_INVALID_ARGUMENT, "request is NULL");
    FAILS(optr_request_on_done(&request, NULL, NULL), OPTR_INVALID_ARGUMENT, "callback is NULL");
    OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    request = old;
    FAILS(optr_request_wait(&request, 0), OPTR_INVALID_HANDLE, "*request is a request that was destroyed or finished before");
    CHECK(request == old);
    FAILS(optr_request_on_done(&request, never_called, NULL), OPTR_INVALID_HANDLE, "finished before");
    FAILS(optr_request_free(&request), OPTR_INVALID_HANDLE, "finished before");
    /* A timeout keeps the request. The other rank is late. */
    static int was_too_short;
    if (rank == 1) wait_for_flag(&was_too_short);
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, &request));
    if (rank == 0) FAILS(optr_request_wait(&request, 1000), OPTR_PENDING, "was not done within 1000 us");
    if (rank == 0) set_flag(&was_too_short);
    CHECK(request != NULL);
    OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));
    OK(optr_bucket_destroy(bucket));
    FAILS(optr_bucket_destroy(bucket), OPTR_INVALID_HANDLE, "bucket is a bucket that was destroyed or finished before");
    FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_INVALID_HANDLE, "destroyed or finished before");

    /* Repeated ends, in the wrong order. */
    OK(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    OK(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, &request));
    OK(optr_comm_close(comm, NULL));
    FAILS(optr_comm_close(comm, NULL), OPTR_CLOSED, "the communicator was closed; destroy it");
    FAILS(optr_barrier(comm, NULL), OPTR_CLOSED, "the communicator was closed");
    FAILS(optr_bucket_create(comm, 4, NULL, &none, NULL), OPTR_CLOSED, "the communicator was closed");
    FAILS(optr_bucket_all_reduce(bucket, values, values, ELEMENTS, &report, NULL), OPTR_CLOSED, "the communicator was closed");
    OK(optr_request_wait(&request, 0)); /* done before the end */
    OK(optr_comm_abort(comm));          /* no effect */
    OK(optr_comm_destroy(comm));
    FAILS(optr_comm_destroy(comm), OPTR_INVALID_HANDLE, "comm is a communicator that was destroyed or finished before");
    FAILS(optr_bucket_destroy(bucket), OPTR_INVALID_HANDLE, "or whose communicator was");
}

int main(void) {
    CHECK(!*optr_last_error());
    CHECK(!strcmp(optr_status_name(OPTR_BUSY), "OPTR_BUSY") && !strcmp(optr_status_name(-3), "unknown status"));
    bad_handles();
    bad_init();
    config_with_a_place();
    job_config = patient_config();
    run_ranks(2, rank);
    bad_handles();
    puts("done");
    return 0;
}
