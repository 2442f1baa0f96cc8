/* Calls over TCP: exact calls of every type, of bytes, and point-to-point messages. */
#include "ranks.h"

#define RANKS 3
#define ELEMENTS 1001

/* Results of each operation on 1 + i % 5, 2 + i % 5, 3 + i % 5, for one type. */
#define OF_TYPE(type, name, is_float)                                                                                  \
    static void check_##type(optr_comm_t comm, int rank) {                                                             \
        static type all[RANKS][2][ELEMENTS];                                                                           \
        type *in = all[rank][0], *out = all[rank][1];                                                                  \
        size_t first, count;                                                                                           \
        OK(optr_comm_shard(comm, ELEMENTS, &first, &count));                                                           \
        for (int op = is_float ? OPTR_AVG : OPTR_SUM; op <= (is_float ? OPTR_MAX : OPTR_XOR); op++) {                  \
            optr_request_t request;                                                                                    \
            for (int i = 0; i < ELEMENTS; i++) in[i] = (type)(1 + rank + i % 5), out[i] = 0;                           \
            if (op % 2) {                                                                                              \
                OK(optr_exact_all_reduce(comm, in, out, ELEMENTS, name, (uint32_t)op, NULL));                                \
            } else {                                                                                                   \
                OK(optr_exact_all_reduce(comm, in, out, ELEMENTS, name, (uint32_t)op, &request));                \
                OK(optr_request_wait(&request, OPTR_NO_TIMEOUT));                                                \
            }                                                                                                          \
            for (int i = 0; i < ELEMENTS; i++) {                                                                       \
                long a = 1 + i % 5, b = a + 1, c = a + 2;                                                              \
                long expected[] = {b, a + b + c, a * b * c, a, c, a & b & c, a | b | c, a ^ b ^ c};                    \
                if (fabs((double)out[i] - (double)(type)expected[op]) > 1e-6) /* integers wrap */                                                \
                    FAIL(#name " op %d: element %d is %f, not %ld", op, i, (double)out[i], expected[op]);              \
            }                                                                                                          \
            OK(optr_exact_reduce_scatter(comm, in, ELEMENTS, in, count, name, (uint32_t)op, NULL));                          \
            CHECK(memcmp(in, out + first, count * sizeof *in) == 0);                                                   \
        }                                                                                                              \
        /* -1, or the largest unsigned value. */                                                                             \
        in[0] = rank ? (type)1 : (type)-1;                                                                             \
        OK(optr_exact_all_reduce(comm, in, out, 1, name, OPTR_MAX, NULL));                                                   \
        CHECK(out[0] == ((type)-1 > 0 ? (type)-1 : (type)1));                                                          \
    }

OF_TYPE(float, OPTR_FLOAT32, 1)
OF_TYPE(double, OPTR_FLOAT64, 1)
OF_TYPE(int8_t, OPTR_INT8, 0)
OF_TYPE(uint8_t, OPTR_UINT8, 0)
OF_TYPE(int16_t, OPTR_INT16, 0)
OF_TYPE(uint16_t, OPTR_UINT16, 0)
OF_TYPE(int32_t, OPTR_INT32, 0)
OF_TYPE(uint32_t, OPTR_UINT32, 0)
OF_TYPE(int64_t, OPTR_INT64, 0)
OF_TYPE(uint64_t, OPTR_UINT64, 0)

static int called[RANKS];

static void on_done(optr_status_t status, const char *error, void *context) {
    CHECK(status == OPTR_SUCCESS && !*error);
    __atomic_fetch_add((int *)context, 1, __ATOMIC_SEQ_CST);
}

static void wait_for_calls(int rank, int calls) {
    for (int i = 0; i < 20000 && __atomic_load_n(&called[rank], __ATOMIC_SEQ_CST) < calls; i++) sleep_ms(1);
    CHECK(called[rank] == calls);
}

static void bytes(optr_comm_t comm, int rank) {
    char word[8] = "rank  ", words[RANKS * sizeof word];
    word[5] = (char)('0' + rank);
    OK(optr_exact_all_gather(comm, word, sizeof word, words, NULL));
    for (int i = 0; i < RANKS; i++) CHECK(words[8 * i + 5] == '0' + i && !memcmp(words + 8 * i, "rank ", 5));
    OK(optr_exact_all_gather(comm, NULL, 0, NULL, NULL));
    optr_request_t requests[3];
    double values[2][3] = {{rank, 1, 2}, {rank, 3, 4}};
    OK(optr_exact_broadcast(comm, 2, values[0], 3, OPTR_FLOAT64, &requests[0]));
    OK(optr_exact_broadcast(comm, 1, values[1], 3, OPTR_FLOAT64, &requests[1]));
    OK(optr_barrier(comm, &requests[2]));
    OK(optr_request_on_done(&requests[2], on_done, &called[rank]));
    OK(optr_request_wait(&requests[1], OPTR_NO_TIMEOUT));
    OK(test_until_done(&requests[0]));
    CHECK(values[0][0] == 2 && values[1][0] == 1 && values[1][2] == 4);
    wait_for_calls(rank, 1);
    OK(optr_exact_broadcast(comm, 0, NULL, 0, OPTR_UINT8, NULL));
}

/* Gather, scatter and all-to-all, blocking or with a request. */
static void parts(optr_comm_t comm, int rank) {
    for (int way = 0; way < 2; way++) {
        optr_request_t request = NULL, *place = way ? &request : NULL;
#define DONE()                                                                                                         \
    do {                                                                                                               \
        if (way) OK(test_until_done(&request));                                                                        \
    } while (0)
        int own = 10 + rank, all[RANKS] = {-1, -1, -1}, given[RANKS];
        OK(optr_exact_gather(comm, 1, &own, sizeof own, rank == 1 ? all : NULL, place));
        DONE();
        for (int i = 0; i < RANKS; i++) CHECK(all[i] == (rank == 1 ? 10 + i : -1));
        for (int i = 0; i < RANKS; i++) given[i] = 100 * rank + i;
        OK(optr_exact_scatter(comm, 2, rank == 2 ? given : NULL, &own, sizeof own, place));
        DONE();
        CHECK(own == 200 + rank);
        OK(optr_exact_all_to_all(comm, given, sizeof *given, given, place)); /* in place */
        DONE();
        for (int i = 0; i < RANKS; i++) CHECK(given[i] == 100 * i + rank);
        OK(optr_exact_all_gather(comm, &own, sizeof own, all, place));
        DONE();
        for (int i = 0; i < RANKS; i++) CHECK(all[i] == 200 + i);
        OK(optr_exact_reduce_scatter(comm, given, RANKS, &own, 1, OPTR_INT32, OPTR_MAX, place));
        DONE();
        CHECK(own == 100 * rank + 2);
    }
}

/* Around the ring in both directions, in any order, with every form of waiting. */
static void messages(optr_comm_t comm, int rank) {
    enum { LARGE = 12 << 20 };
    int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS, value = rank, other = -1, third = -1;
    optr_message_t message;
    optr_request_t receive, late, send, large_send;
    char *large = malloc(LARGE), *room = malloc(LARGE);
    CHECK(large && room);
    memset(large, 'a' + rank, LARGE);
    OK(optr_recv(comm, before, 9, room, LARGE, &message, &receive));
    OK(optr_send(comm, next, 9, large, LARGE, &large_send));
    OK(optr_barrier(comm, NULL)); /* meanwhile */
    OK(optr_request_wait(&receive, OPTR_NO_TIMEOUT));
    CHECK(message.bytes == LARGE && message.rank == before && room[0] == 'a' + before && room[LARGE - 1] == 'a' + before);
    OK(optr_request_wait(&large_send, OPTR_NO_TIMEOUT));
    free(large), free(room);
    /* Messages of a tag arrive in order, and tags are independent. */
    for (int i = 0; i < 10; i++) {
        value = 100 * rank + i;
        OK(optr_send(comm, next, (uint32_t)(i % 2), &value, sizeof value, &send));
        OK(optr_request_wait(&send, OPTR_NO_TIMEOUT));
    }
    for (int i = 1; i < 10; i += 2) {
        OK(optr_recv(comm, OPTR_ANY_RANK, 1, &other, sizeof other, &message, NULL));
        CHECK(other == 100 * before + i && message.rank == before && message.bytes == sizeof other);
    }
    for (int i = 0; i < 10; i += 2) {
        OK(optr_recv(comm, before, 0, &other, sizeof other, NULL, NULL));
        CHECK(other == 100 * before + i);
    }
    /* A timeout, a freed request, a callback, and an empty message. */
    OK(optr_recv(comm, before, 4, &other, sizeof other, NULL, &receive));
    FAILS(optr_request_wait(&receive, 1000), OPTR_PENDING, "wait for it again");
    FAILS(optr_request_wait(&receive, 0), OPTR_PENDING, "not done within 0 us");
    CHECK(receive);
    OK(optr_request_free(&receive));
    OK(optr_recv(comm, before, 4, &third, sizeof third, NULL, &late));
    OK(optr_request_on_done(&late, on_done, &called[rank]));
    OK(optr_barrier(comm, NULL));
    OK(optr_send(comm, next, 4, &value, sizeof value, NULL));
    wait_for_calls(rank, 2);
    CHECK(third == 100 * before + 9);
    OK(optr_send(comm, next, 4, NULL, 0, NULL));
    OK(optr_recv(comm, before, 4, NULL, 0, NULL, NULL));
}

static void rank(optr_comm_t comm, int rank) {
    check_float(comm, rank), check_double(comm, rank);
    check_int8_t(comm, rank), check_uint8_t(comm, rank), check_int16_t(comm, rank), check_uint16_t(comm, rank);
    check_int32_t(comm, rank), check_uint32_t(comm, rank), check_int64_t(comm, rank), check_uint64_t(comm, rank);
    /* Bit patterns of the 16-bit floats 1.0 and 2.0. */
    uint16_t half = rank ? 0x3c00 : 0x4000, brain = rank ? 0x3f80 : 0x4000;
    OK(optr_exact_all_reduce(comm, &half, &half, 1, OPTR_FLOAT16, OPTR_SUM, NULL));
    OK(optr_exact_all_reduce(comm, &brain, &brain, 1, OPTR_BFLOAT16, OPTR_SUM, NULL));
    CHECK(half == 0x4400 && brain == 0x4080);
    OK(optr_exact_all_reduce(comm, NULL, NULL, 0, OPTR_INT64, OPTR_SUM, NULL));
    bytes(comm, rank);
    parts(comm, rank);
    messages(comm, rank);
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

/* Without a message the call fails after the timeout, and the communicator stays usable. */
static void nothing(optr_comm_t comm, int rank) {
    static pthread_barrier_t both;
    int value;
    optr_status_t error;
    if (rank == 0) pthread_barrier_init(&both, NULL, 2);
    OK(optr_barrier(comm, NULL));
    FAILS(optr_recv(comm, 1 - rank, 1, &value, sizeof value, NULL, NULL), OPTR_TIMEOUT, "no message with tag 1 arrived from rank");
    OK(optr_comm_async_error(comm, &error));
    CHECK(error == OPTR_SUCCESS);
    pthread_barrier_wait(&both);
    OK(optr_barrier(comm, NULL));
    OK(optr_send(comm, 1 - rank, 1, &rank, sizeof rank, NULL));
    OK(optr_recv(comm, 1 - rank, 1, &value, sizeof value, NULL, NULL));
    CHECK(value == 1 - rank);
    OK(optr_comm_close(comm, NULL));
    OK(optr_comm_destroy(comm));
}

static char large[9 << 20]; /* more than a receiver stores before a receive */

static void on_timeout(optr_status_t status, const char *error, void *context) {
    CHECK(status == OPTR_TIMEOUT && strstr(error, "no message with tag 7 arrived"));
    set_flag(context);
}

/* Waits in pieces, as a program does that also looks at something else. */
static optr_status_t in_pieces(optr_request_t *request) {
    optr_status_t status;
    do status = optr_request_wait(request, 30000);
    while (status == OPTR_PENDING);
    return status;
}

/* Every wait for a rank that makes no call ends by the timeout. */
static void waits(optr_comm_t comm, int rank) {
    static int is_over, is_called;
    int value;
    optr_request_t request;
    OK(optr_barrier(comm, NULL));
    if (rank == 1) {
        wait_for_flag(&is_over);
        OK(optr_comm_destroy(comm));
        return;
    }
    optr_status_t status;
#define ENDS(text) CHECK(status == OPTR_TIMEOUT && strstr(optr_last_error(), text))
    FAILS(optr_send(comm, 1, 7, large, sizeof large, NULL), OPTR_TIMEOUT, "did not receive");
    OK(optr_send(comm, 1, 7, large, sizeof large, &request));
    status = optr_request_wait(&request, OPTR_NO_TIMEOUT);
    ENDS("rank 1 did not receive");
    OK(optr_send(comm, 1, 7, large, sizeof large, &request));
    status = in_pieces(&request);
    ENDS("rank 1 did not receive");
    OK(optr_recv(comm, 1, 7, &value, sizeof value, NULL, &request));
    status = in_pieces(&request);
    ENDS("no message with tag 7 arrived from rank 1");
    OK(optr_recv(comm, OPTR_ANY_RANK, 7, &value, sizeof value, NULL, &request));
    status = optr_request_wait(&request, 60000000);
    ENDS("no message with tag 7 arrived from any rank");
    OK(optr_recv(comm, 1, 7, &value, sizeof value, NULL, &request));
    OK(optr_request_on_done(&request, on_timeout, &is_called));
    wait_for_flag(&is_called);
    OK(optr_barrier(comm, &request));
    status = in_pieces(&request);
    ENDS("rank 1 did not make the same call");
    set_flag(&is_over);
    OK(optr_comm_destroy(comm));
}

int main(void) {
    job_config = patient_config();
    run_ranks(RANKS, rank);
    job_config.timeout_s = 1;
    run_ranks(2, nothing);
    run_ranks(2, waits);
    puts("done");
    return 0;
}
