/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_case.h"

#include <unistd.h>

struct cnnvp_symbols *profile_symbols;
struct cnnvp_profile *profile;
const struct cnnvp_profiler *profiler;
static struct cnnvp_core_cost all;

int profile_case_set_up(void **state)
{
    struct cnnvp_error error = {""};
    struct cnnvp_elf *elf = NULL;

    (void)state;
    if (cnnvp_elf_read(TWO_FUNCTIONS, &elf, &error) != CNNVP_DONE ||
        cnnvp_profile_new(PROFILE_FILE, &profile, &error) != CNNVP_DONE) {
        print_error("%s\n", error.text);
        return -1;
    }
    profile_symbols = cnnvp_symbols_new(elf, 1);
    cnnvp_elf_free(elf);
    profiler = cnnvp_profile_profiler(profile, "two_functions", profile_symbols);
    all = (struct cnnvp_core_cost){0};
    return profile_symbols != NULL ? 0 : -1;
}

int profile_case_tear_down(void **state)
{
    (void)state;
    cnnvp_profile_free(profile);
    cnnvp_symbols_free(profile_symbols);
    (void)unlink(PROFILE_FILE);
    return 0;
}

void profile_execute(uint32_t address, uint64_t cycles)
{
    const struct cnnvp_core_cost cost = {.instructions = 1, .cycles = cycles, .stalls = cycles - 1};
    const uint32_t offset = address % CNNVP_PROFILE_PAGE;
    struct cnnvp_core_cost *costs = profiler->page(profiler->context, address - offset);

    assert_non_null(costs);
    cnnvp_profile_add(&costs[offset / 2], &cost);
    cnnvp_profile_add(&all, &cost);
}

void profile_call(uint32_t from, uint32_t to)
{
    profiler->call(profiler->context, from, to, &all);
}

void profile_leave(void)
{
    profiler->leave(profiler->context, &all);
}

void profile_run(void)
{
    profile_call(0, TEXT);
    profile_execute(TEXT, 3);
    for (uint32_t i = 0; i < 2; ++i) {
        profile_execute(TEXT + 4 + 4 * i, 1);
        profile_call(TEXT + 4 + 4 * i, TWICE);
        profile_execute(TWICE, 4 + 2 * i);
        profile_execute(TWICE + 4, 1);
        profile_leave();
    }
    profile_execute(TEXT + 12, 2);
    profile_leave();
}
