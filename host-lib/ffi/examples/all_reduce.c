/* Averages a gradient over the ranks of a job, as a trainer does in every step. A launcher starts a
 * process for each rank:
 *
 *     cc all_reduce.c $(pkg-config --cflags --libs optireduce) -o all_reduce
 *     mpirun -n 4 ./all_reduce          or: torchrun --nproc-per-node 4 --no-python ./all_reduce
 */
#include <optireduce.h>
#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS 100000
#define STEPS 5

/* Ends the process if a call failed. The other ranks continue without it. */
static void check(optr_status_t status) {
    if (status == OPTR_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", optr_status_name(status), optr_last_error());
    exit(1);
}

int main(void) {
    /* Zero selects the defaults. Settings must be the same on all ranks. */
    optr_config_t config = optr_config_init();
    config.bound_max_ms = 2000; /* stage deadline until it is measured: 2 s */

    optr_comm_t comm;
    int rank, ranks;
    check(optr_comm_init(&comm, &config));
    check(optr_comm_rank(comm, &rank));
    check(optr_comm_world_size(comm, &ranks));

    /* All ranks start with the weights of rank 0. */
    float *weights = calloc(ELEMENTS, sizeof *weights), *correction = calloc(ELEMENTS, sizeof *correction);
    if (!weights || !correction) return 1;
    for (int i = 0; rank == 0 && i < ELEMENTS; i++) weights[i] = 1;
    check(optr_exact_broadcast(comm, 0, weights, ELEMENTS, OPTR_FLOAT32, NULL));

    /* A bucket is declared once. Memory of the library is sent and received without a copy. */
    optr_bucket_t bucket;
    void *memory[2];
    check(optr_bucket_create(comm, ELEMENTS, NULL, &bucket, NULL));
    for (int i = 0; i < 2; i++) check(optr_alloc(comm, ELEMENTS * sizeof(float), &memory[i]));
    float *gradient = memory[0], *mean = memory[1];

    optr_peer_report_t *peers = calloc((size_t)ranks, sizeof *peers);
    optr_report_t report = optr_report_init();
    report.peers = peers;
    report.peer_capacity = peers ? (uint32_t)ranks : 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < ELEMENTS; i++) gradient[i] = (float)(rank + step); /* the backward pass */
        check(optr_bucket_all_reduce(bucket, gradient, mean, ELEMENTS, &report, NULL));
        for (int i = 0; i < ELEMENTS; i++) weights[i] -= 0.1f * mean[i]; /* the optimizer */
        for (uint32_t peer = 0; peer < report.peer_capacity; peer++)
            if (peers[peer].is_late) fprintf(stderr, "rank %u was late: %.1f %% came\n", peer, 100 * peers[peer].received_fraction[0]);
    }

    /* Apply repairs that no result includes yet, then check that all ranks made the same calls. */
    int has_correction, is_settled;
    check(optr_bucket_settle(bucket, OPTR_NO_TIMEOUT, correction, ELEMENTS, &has_correction, &is_settled, NULL));
    for (int i = 0; has_correction && i < ELEMENTS; i++) weights[i] -= 0.1f * correction[i];
    check(optr_comm_close(comm, NULL));
    check(optr_comm_destroy(comm)); /* also destroys bucket and memory */
    printf("rank %d of %d: the weights are %.4f; the last mean took %.3f ms\n", rank, ranks, weights[ELEMENTS - 1],
           (double)(report.stages[0].time_ns + report.stages[1].time_ns) / 1e6);
    free(weights), free(correction), free(peers);
    return 0;
}
