/* SPDX-License-Identifier: Apache-2.0 */
/* bench_recorder EVENTS FILE: times of counting, of recording and of conversion to FILE (.pftrace, .vcd). */
#include "machine.h"
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void feed(cnnvp_recorder *recorder, uint64_t events)
{
    static const char *const names[] = {"load", "conv", "pool", "store"};
    uint64_t time = 0;

    /* As runs do: for each instruction an issue and a work span, an occupancy and a transfer. */
    for (uint64_t i = 0; i < events; i += 4) {
        uint32_t tag = (uint32_t)(i / 4096 % 20 + 1);

        cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", tag, i, time, time + 2000);
        cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, names[i / 4 % 4], tag, i, time + 2000, time + 65000);
        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, time + 2000, i % 4099);
        transfer(recorder, 0, time + 3000, 4096, i % 512);
        time += 66000;
    }
}

int main(int argc, char **argv)
{
    uint64_t events = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    cnnvp_recorder *recorder;
    struct cnnvp_error error;
    struct stat status;
    double begin;
    double recorded;
    double finished;

    if (!events) {
        fprintf(stderr, "usage: bench_recorder EVENTS FILE\n");
        return 2;
    }
    if (cnnvp_recorder_new(machine(), argv[2], 0, &recorder, &error) != CNNVP_DONE) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    begin = seconds();
    for (uint64_t i = 0; i < events; ++i)
        cnnvp_stats_count(&recorder->stats, ARRAY, (uint32_t)(i & 7), (uint32_t)(i >> 12 & 15), i);
    printf("count: %.1f ns\n", (seconds() - begin) * 1e9 / (double)events);
    begin = seconds();
    feed(recorder, events);
    recorded = seconds();
    if (cnnvp_recorder_finish(recorder, events * 16500, &error) != CNNVP_DONE) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    finished = seconds();
    if (stat(argv[2], &status) != 0)
        return 1;
    printf("record: %.1f ns an event\n", (recorded - begin) * 1e9 / (double)events);
    printf("convert: %.1f ns an event\n", (finished - recorded) * 1e9 / (double)events);
    printf("together: %.2f M events/s\n", (double)events / (finished - begin) * 1e-6);
    printf("file: %.1f bytes an event\n", (double)status.st_size / (double)events);
    cnnvp_recorder_free(recorder);
    return 0;
}
