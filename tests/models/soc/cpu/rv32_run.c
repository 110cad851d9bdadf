/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a bare-metal ELF on the machine of the tests: rv32_run [-q QUANTUM] [-n SLOTS] [-t] [-d] [-m] ELF
 * Ends by tohost or by the device's exit register. Exit status: the guest's, 125 if it did not end by itself.
 * -t writes pc and x1 .. x31 before each instruction, -d once at the end, for the comparison with QEMU.
 * -m: instructions, time and MIPS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rv32_machine.h"

static void trace(const struct machine *m)
{
    printf("%08x", cnnvp_rv32_pc(m->core));
    for (unsigned i = 1; i < 32; ++i)
        printf(" %08x", cnnvp_rv32_reg(m->core, i));
    putchar('\n');
}

static void explain(const struct machine *m, enum cnnvp_rv32_reason reason)
{
    struct cnnvp_rv32_trap traps[CNNVP_RV32_TRAP_LOG];
    size_t count = cnnvp_rv32_trap_log(m->core, traps);
    (void)fprintf(stderr, "ended by reason %d at pc %08x, gp %u\n", (int)reason, cnnvp_rv32_pc(m->core),
                  cnnvp_rv32_reg(m->core, 3));
    for (size_t i = 0; i < count; ++i)
        (void)fprintf(stderr, "  trap at slot %llu: pc %08x cause %08x tval %08x\n", (unsigned long long)traps[i].slot,
                      traps[i].pc, traps[i].cause, traps[i].tval);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const struct machine *m, double time)
{
    struct cnnvp_rv32_stats s;
    cnnvp_rv32_get_stats(m->core, &s);
    printf("%llu instructions (%.1f %% loads, %.1f %% stores) in %.3f s: %.0f MIPS\n", (unsigned long long)s.retired,
           100.0 * (double)s.loads / (double)s.slots, 100.0 * (double)s.stores / (double)s.slots, time,
           (double)s.slots / time * 1e-6);
}

int main(int argc, char **argv)
{
    struct machine m;
    uint64_t quantum = 10000, slots = 100000000;
    uint32_t entry, tohost;
    int tracing = 0, dumping = 0, measuring = 0, option;
    enum cnnvp_rv32_reason reason = CNNVP_RV32_BUDGET;
    while ((option = getopt(argc, argv, "q:n:tdm")) != -1) {
        switch (option) {
        case 'q':
            quantum = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            slots = strtoull(optarg, NULL, 0);
            break;
        case 't':
            tracing = 1;
            break;
        case 'd':
            dumping = 1;
            break;
        case 'm':
            measuring = 1;
            break;
        default:
            return 2;
        }
    }
    if (optind + 1 != argc || machine_init(&m) != 0 || machine_load_elf(&m, argv[optind], &entry, &tohost) != 0)
        return 2;
    cnnvp_rv32_reset(m.core, entry);
    if (tohost != 0 && cnnvp_rv32_watch_tohost(m.core, tohost) != 0)
        return 2;
    double begin = seconds();
    if (!tracing)
        reason = machine_run(&m, slots, quantum);
    for (uint64_t i = 0; tracing && i < slots && reason != CNNVP_RV32_EXIT; ++i) {
        trace(&m);
        reason = machine_run(&m, 1, 1);
    }
    if (measuring)
        measure(&m, seconds() - begin);
    if (dumping)
        trace(&m);
    int status = reason == CNNVP_RV32_EXIT ? (int)cnnvp_rv32_exit_status(m.core) : 125;
    if (status != 0)
        explain(&m, reason);
    machine_fini(&m);
    return status;
}
