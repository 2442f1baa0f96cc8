// All-reduce through MPI, measured as by `optireduce run --bench`.
//
// Before every call there is a barrier, then the straggler sleeps, then each rank times its own
// call. A row has percentiles over calls, with the slowest rank of each call. Prints a line of JSON
// for each size.
//
// Usage: mpi SECS STRAGGLER_MS BYTES...
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALLS_A_ROUND = 5, CALLS_MIN = 20, CALLS_MAX = 20000 };

static double cpu_s(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double peak_mb(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1e3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: mpi SECS STRAGGLER_MS BYTES...\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double secs = atof(argv[1]), straggler_ms = atof(argv[2]);
    double *seconds = malloc(sizeof(double) * (CALLS_MAX + CALLS_A_ROUND)), *slowest = malloc(sizeof(double) * (CALLS_MAX + CALLS_A_ROUND));
    for (int a = 3; a < argc; a++) {
        size_t bytes = strtoul(argv[a], NULL, 10), count = bytes / 4;
        float *gradient = malloc(bytes), *sum = malloc(bytes);
        for (size_t i = 0; i < count; i++) gradient[i] = (float)(i % 1000) * 1e-3f - 0.5f + rank;
        MPI_Allreduce(gradient, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        int calls = 0, stop = 0;
        double begin = MPI_Wtime(), cpu = cpu_s();
        while (!stop) {
            for (int i = 0; i < CALLS_A_ROUND; i++) {
                MPI_Barrier(MPI_COMM_WORLD);
                if (straggler_ms > 0 && rank == ranks - 1) usleep((useconds_t)(straggler_ms * 1e3));
                double call = MPI_Wtime();
                MPI_Allreduce(gradient, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                seconds[calls++] = MPI_Wtime() - call;
            }
            double took = MPI_Wtime() - begin;
            stop = (took >= secs && calls >= CALLS_MIN) || calls >= CALLS_MAX || took >= 4 * secs;
            MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        double own_cpu = cpu_s() - cpu, all_cpu, own_mb = peak_mb(), most_mb;
        MPI_Reduce(&own_cpu, &all_cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&own_mb, &most_mb, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(seconds, slowest, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        double expected = -0.5 * ranks + 0.5 * ranks * (ranks - 1);
        if (sum[0] - expected > 1e-3 || expected - sum[0] > 1e-3) {
            fprintf(stderr, "rank %d: the sum is %f, expected %f\n", rank, sum[0], expected);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (rank == 0) {
            qsort(slowest, calls, sizeof(double), by_size);
            printf("{\"size_bytes\":%zu,\"iters\":%d,\"p50_ms\":%f,\"p90_ms\":%f,\"p99_ms\":%f,\"max_ms\":%f,\"cpu_s_per_gb\":%f,\"memory_mb\":%f,\"received_fraction\":1.0}\n",
                   bytes, calls, slowest[calls / 2] * 1e3, slowest[calls * 9 / 10] * 1e3, slowest[calls * 99 / 100] * 1e3,
                   slowest[calls - 1] * 1e3, all_cpu / ((double)calls * bytes) * 1e9, most_mb);
            fflush(stdout);
        }
        free(gradient);
        free(sum);
    }
    MPI_Finalize();
    return 0;
}
