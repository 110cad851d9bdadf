/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the profile of the core's program. */
#include "base.h"
#include "cli.h"

enum { ROWS = 12, NAME_WIDTH = 24 };

static void print_row(FILE *stream, const struct cnnvp_profile_function *row, uint64_t all)
{
    char cycles[32], instructions[32], stalls[32], sleep[32], calls[32];
    const double share = all > 0 ? 100.0 * (double)row->cycles / (double)all : 0.0;
    (void)fprintf(
        stream, "%-*.*s %13s %6.1f%% %13s %13s %13s %11s\n", NAME_WIDTH, NAME_WIDTH, row->name,
        cnnvp_grouped(cycles, (int64_t)row->cycles), share, cnnvp_grouped(instructions, (int64_t)row->instructions),
        cnnvp_grouped(stalls, (int64_t)row->stall_cycles), cnnvp_grouped(sleep, (int64_t)row->sleep_cycles),
        cnnvp_grouped(calls, (int64_t)row->calls));
}

/* The sum over the functions that are not shown. */
static struct cnnvp_profile_function rest_of(const struct cnnvp_profile_function *rows, size_t shown,
                                             const struct cnnvp_profile_function *all)
{
    struct cnnvp_profile_function rest = *all;
    for (size_t i = 0; i < shown; ++i) {
        rest.cycles -= rows[i].cycles;
        rest.instructions -= rows[i].instructions;
        rest.stall_cycles -= rows[i].stall_cycles;
        rest.sleep_cycles -= rows[i].sleep_cycles;
        rest.calls -= rows[i].calls;
    }
    return rest;
}

void cli_print_profile(cnnvp_platform *platform, FILE *stream)
{
    struct cnnvp_profile_function rows[ROWS], all;
    const size_t count = cnnvp_platform_profile(platform, rows, ROWS, &all);
    const size_t shown = count > ROWS ? ROWS : count;
    if (count == 0)
        return;
    (void)fprintf(stream, "\n%s%-*s %13s %7s %13s %13s %13s %11s%s\n", cli_style(CLI_BOLD), NAME_WIDTH,
                  "core's function", "own cycles", "share", "instructions", "stalls", "asleep", "calls",
                  cli_style(CLI_PLAIN));
    for (size_t i = 0; i < shown; ++i)
        print_row(stream, &rows[i], all.cycles);
    if (count > shown) {
        char name[40];
        struct cnnvp_profile_function rest = rest_of(rows, shown, &all);
        (void)snprintf(name, sizeof name, "%zu others", count - shown);
        rest.name = name;
        print_row(stream, &rest, all.cycles);
    }
    print_row(stream, &all, all.cycles);
    (void)fputc('\n', stream);
}
