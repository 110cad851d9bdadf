/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed and memory of whole commands, printed as figures and ratios of one run; never a pass or a fail by time.
 * usage: bench CNNVP NETWORK INPUT EMPTY-ELF [REPEATS]
 * Each command runs REPEATS times (default 7) in turn; the least wall time counts, for a machine that is shared.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 24, CASES = 16 };

struct bench_case {
    const char *name;
    const char *words[WORDS]; /* after the program's name */
    double best_ms;
    long peak_kib;
};

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* Runs once; -1 on failure. */
static int run_once(const char *program, struct bench_case *bench)
{
    const char *words[WORDS + 2] = {program};
    for (int i = 0; i < WORDS && bench->words[i] != NULL; ++i)
        words[i + 1] = bench->words[i];
    const double begin = now_ms();
    const pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        const int quiet = open("/dev/null", O_WRONLY);
        if (quiet >= 0)
            (void)dup2(quiet, STDOUT_FILENO);
        execv(program, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench: %s failed with status 0x%x\n", bench->name, (unsigned)status);
        return -1;
    }
    const double spent = now_ms() - begin;
    if (bench->best_ms <= 0.0 || spent < bench->best_ms)
        bench->best_ms = spent;
    if (usage.ru_maxrss > bench->peak_kib)
        bench->peak_kib = usage.ru_maxrss;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: bench CNNVP NETWORK INPUT EMPTY-ELF [REPEATS]\n");
        return 2;
    }
    const char *network = argv[2];
    const char *input = argv[3];
    const int repeats = argc > 5 ? (int)strtol(argv[5], NULL, 10) : 7;
    struct bench_case cases[] = {
        {"start-up: an empty program", {"exec", argv[4], "-q"}, 0, 0},
        {"LeNet-5, 4 images, timing only", {"run", network, "-i", input, "--timing-only", "-q"}, 0, 0},
        {"LeNet-5, 4 images", {"run", network, "-i", input, "-q"}, 0, 0},
        {"LeNet-5, 4 images, ideal memory", {"run", network, "-i", input, "-q", "-s", "cpu.memory=ideal"}, 0, 0},
        {"LeNet-5, 4 images, caches", {"run", network, "-i", input, "-q", "-s", "cpu.memory=cache"}, 0, 0},
        {"LeNet-5, 4 images, Perfetto trace",
         {"run", network, "-i", input, "-q", "--trace", "/tmp/cnnvp_bench.pftrace"},
         0,
         0},
        {"LeNet-5, 4 images, VCD trace", {"run", network, "-i", input, "-q", "--trace", "/tmp/cnnvp_bench.vcd"}, 0, 0},
        {"LeNet-5, 4 images, cycle-stepped", {"run", network, "-i", input, "-q", "-s", "pe_array.detail=cycle"}, 0, 0},
    };
    const size_t count = sizeof(cases) / sizeof(cases[0]);
    for (int i = 0; i < repeats; ++i)
        for (size_t c = 0; c < count; ++c)
            if (run_once(argv[1], &cases[c]) != 0)
                return 1;
    (void)unlink("/tmp/cnnvp_bench.pftrace");
    (void)unlink("/tmp/cnnvp_bench.vcd");
    printf("%-36s %10s %14s %12s %10s\n", "command", "ms", "beyond start", "against full", "MiB");
    for (size_t c = 0; c < count; ++c)
        printf("%-36s %10.1f %14.1f %12.2f %10.1f\n", cases[c].name, cases[c].best_ms,
               cases[c].best_ms - cases[0].best_ms, cases[c].best_ms / cases[2].best_ms,
               (double)cases[c].peak_kib / 1024.0);
    return 0;
}
