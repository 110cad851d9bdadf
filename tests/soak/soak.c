/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soak [--more] [--seed S] [--from N] [--count N] [--seconds T] [--state FILE]: runs random pairs of a network and a
 * platform with `cnnvp run` and checks the invariants. Seed and number determine a pair. --more: other pairs, with
 * trainings, quantised networks and a third-party memory. --state: continues after the last pair recorded in FILE, and
 * keeps FILE up to date. A pair that fails is reported with the commands that reproduce it, its network is kept, and
 * the exit status is 1. Ctrl-C ends the run after the current pair.
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soak.h"

struct options {
    uint64_t count;
    time_t seconds; /* 0: no limit */
    const char *state;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static void keep_state(const struct soak *soak, const char *state)
{
    char temporary[1024];
    const struct soak_counts *counts = &soak->counts;
    if (state == NULL)
        return;
    (void)snprintf(temporary, sizeof temporary, "%s.tmp", state);
    FILE *stream = fopen(temporary, "w");
    if (stream == NULL)
        return;
    (void)fprintf(stream, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", soak->seed, counts->pair,
                  counts->checked, counts->refused, counts->failed);
    if (fclose(stream) == 0)
        (void)rename(temporary, state);
}

static void take_state(struct soak *soak, const char *state)
{
    struct soak_counts kept = soak->counts;
    uint64_t seed = 0;
    FILE *stream = state != NULL ? fopen(state, "r") : NULL;
    if (stream == NULL)
        return;
    /* NOLINTNEXTLINE(cert-err34-c): written by keep_state; ignored unless it holds five numbers */
    if (fscanf(stream, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &seed, &kept.pair, &kept.checked,
               &kept.refused, &kept.failed) == 5 &&
        seed == soak->seed)
        soak->counts = kept;
    (void)fclose(stream);
}

static int is_over(const struct soak *soak, const struct options *options, uint64_t end, time_t begin)
{
    return stopped || soak->counts.pair >= end || (options->seconds != 0 && time(NULL) - begin >= options->seconds);
}

static void soak_all(struct soak *soak, const struct options *options)
{
    const time_t begin = time(NULL);
    const uint64_t from = soak->counts.pair;
    const uint64_t end = options->count > UINT64_MAX - from ? UINT64_MAX : from + options->count;
    while (!is_over(soak, options, end, begin)) {
        soak_check_pair(soak);
        ++soak->counts.pair;
        keep_state(soak, options->state);
    }
    const struct soak_counts *counts = &soak->counts;
    printf("seed %" PRIu64 ": %" PRIu64 " pairs checked, %" PRIu64 " refused, %" PRIu64 " failed, in %lld s\n",
           soak->seed, counts->checked, counts->refused, counts->failed, (long long)(time(NULL) - begin));
}

static int parse(int argc, char **argv, struct soak *soak, struct options *options)
{
    static const struct option names[] = {
        {"seed", 1, NULL, 's'},  {"from", 1, NULL, 'f'}, {"count", 1, NULL, 'n'}, {"seconds", 1, NULL, 't'},
        {"state", 1, NULL, 'r'}, {"more", 0, NULL, 'm'}, {NULL, 0, NULL, 0}};
    for (int option = 0; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 's')
            soak->seed = strtoull(optarg, NULL, 0);
        else if (option == 'f')
            soak->counts.pair = strtoull(optarg, NULL, 0);
        else if (option == 'n')
            options->count = strtoull(optarg, NULL, 0);
        else if (option == 't')
            options->seconds = (time_t)strtoll(optarg, NULL, 0);
        else if (option == 'r')
            options->state = optarg;
        else if (option == 'm')
            soak->more = 1;
        else
            return -1;
    }
    if (options->state == NULL || options->state[0] == '/')
        return 0;
    (void)fprintf(stderr, "soak: --state needs the absolute name of a file\n");
    return -1;
}

static void remove_folder(const struct soak *soak)
{
    static const char *const files[] = {"net.onnx",      "stats.json", "err",    "trace.vcd", "trace.fst",
                                        "trace.pftrace", "images",     "labels", "state",     "half"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
        (void)unlink(files[i]);
    if (soak->counts.failed == 0 && chdir("/") == 0)
        (void)rmdir(soak->folder);
}

int main(int argc, char **argv)
{
    struct soak soak = {.folder = "/tmp/cnnvp_soak_XXXXXX", .seed = 1};
    struct options options = {.count = UINT64_MAX};
    if (parse(argc, argv, &soak, &options) != 0)
        return 2;
    take_state(&soak, options.state);
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    if (mkdtemp(soak.folder) == NULL || chdir(soak.folder) != 0)
        return 2;
    soak_all(&soak, &options);
    remove_folder(&soak);
    /* Most pairs must have run: a refused pair checks nothing. */
    return soak.counts.failed != 0 || soak.counts.checked < 2 * soak.counts.refused ? 1 : 0;
}
