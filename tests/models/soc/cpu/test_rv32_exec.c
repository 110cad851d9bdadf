/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random memory as code: nothing crashes, and how a run is cut into pieces changes nothing, self-modifying code, traps
 * and device accesses included. Two cores execute the same bytes, one in pieces of one instruction, which never uses
 * links between blocks. In every second round both have a profiler: each instruction costs the same in both.
 */

#include "test.h"

#include "rv32_machine.h"
#include "random.h"

enum { CODE_BYTES = 0x4000, ROUNDS = 60, EPISODES = 40, EPISODE_SLOTS = 3000 };

/* Words that are instructions more often than chance would have it. */
static uint32_t random_word(uint64_t *state)
{
    static const uint8_t opcodes[] = {
        0x03, 0x03, 0x0f, 0x13, 0x13, 0x17, 0x23, 0x23, 0x2f, 0x33, 0x33, 0x37, 0x63, 0x63, 0x67, 0x6f, 0x73};
    uint32_t word = next_bits(state);
    if (next_bits(state) % 4 == 0)
        return word;
    word = (word & ~0x7fu) | opcodes[next_bits(state) % sizeof opcodes];
    if ((word & 0x7fu) == 0x33 || (word & 0x707fu) == 0x1013 || (word & 0x707fu) == 0x5013)
        word &= 0x03ffffffu; /* mostly valid funct7 */
    if ((word & 0x7fu) == 0x63 || (word & 0x7fu) == 0x6f)
        word &= 0x83ffffffu; /* near */
    return word;
}

static void fill(struct machine *m, uint64_t seed)
{
    uint64_t state = seed;
    for (uint32_t at = 0; at < CODE_BYTES; at += 4) {
        const uint32_t word = random_word(&state);
        machine_poke(m, MACHINE_RAM + at, &word, 1);
    }
    cnnvp_rv32_reset(m->core, MACHINE_RAM);
    cnnvp_rv32_set_csr(m->core, 0x305, MACHINE_RAM + (next_bits(&state) & (CODE_BYTES - 4)));
    cnnvp_rv32_set_csr(m->core, 0x304, 0x888);
}

static void episode(struct machine *m, uint64_t *state)
{
    for (unsigned reg = 1; reg < 32; ++reg) {
        const uint32_t r = next_bits(state);
        const uint32_t kind = next_bits(state) % 8;
        cnnvp_rv32_set_reg(m->core, reg,
                           kind < 5    ? MACHINE_RAM + r % CODE_BYTES
                           : kind == 5 ? MACHINE_DEVICE + r % 64
                                       : r);
    }
    cnnvp_rv32_set_pc(m->core, MACHINE_RAM + next_bits(state) % CODE_BYTES);
}

/* Runs until `slots` are used or it ends by itself. */
static enum cnnvp_rv32_reason advance(struct machine *m, uint64_t slots, uint64_t piece, uint64_t *used)
{
    enum cnnvp_rv32_reason reason = CNNVP_RV32_BUDGET;
    *used = 0;
    while (*used < slots && reason == CNNVP_RV32_BUDGET) {
        uint64_t executed;
        m->limit = slots - *used < piece ? slots - *used : piece;
        reason = cnnvp_rv32_run(m->core, m->limit, &executed);
        m->slots_before_run += executed;
        *used += executed;
        if (m->slots_before_run >= m->timer_at) {
            m->timer_at = UINT64_MAX;
            cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MTIP, 1);
        }
    }
    return reason;
}

static void compare(struct machine *a, struct machine *b)
{
    struct cnnvp_rv32_stats sa, sb;
    for (unsigned reg = 0; reg < 32; ++reg)
        assert_int_equal(cnnvp_rv32_reg(a->core, reg), cnnvp_rv32_reg(b->core, reg));
    assert_int_equal(cnnvp_rv32_pc(a->core), cnnvp_rv32_pc(b->core));
    assert_memory_equal(a->ram, b->ram, MACHINE_RAM_SIZE);
    for (unsigned number = 0; number < 0x1000; ++number) {
        uint32_t va = 0, vb = 0;
        assert_int_equal(cnnvp_rv32_csr(a->core, number, &va), cnnvp_rv32_csr(b->core, number, &vb));
        assert_int_equal(va, vb);
    }
    cnnvp_rv32_get_stats(a->core, &sa);
    cnnvp_rv32_get_stats(b->core, &sb);
    assert_memory_equal(&sa, &sb, sizeof sa);
    assert_int_equal(a->accesses, b->accesses);
}

/* ---- profiles ---- */

enum { COSTS = MACHINE_RAM_SIZE / 2 };

static struct cnnvp_core_cost *page(void *context, uint32_t address)
{
    struct cnnvp_core_cost *costs = context;
    assert_int_equal(address % CNNVP_PROFILE_PAGE, 0);
    return address - MACHINE_RAM < MACHINE_RAM_SIZE ? costs + (address - MACHINE_RAM) / 2 : NULL;
}

static void profile(struct machine *m, struct cnnvp_profiler *profiler)
{
    *profiler = (struct cnnvp_profiler){.context = calloc(COSTS, sizeof(struct cnnvp_core_cost)), .page = page};
    assert_non_null(profiler->context);
    cnnvp_rv32_profile(m->core, profiler);
}

/* Costs are the counts of the core; those outside of memory, where nothing can be executed, are in no page. */
static void check_profile(struct machine *m, const struct cnnvp_profiler *profiler)
{
    const struct cnnvp_core_cost *costs = profiler->context, *all = cnnvp_rv32_cost(m->core);
    struct cnnvp_rv32_stats stats;
    uint64_t instructions = 0;
    for (size_t i = 0; i < COSTS; ++i)
        instructions += costs[i].instructions;
    cnnvp_rv32_get_stats(m->core, &stats);
    assert_int_equal(all->cycles, stats.slots + stats.idle_cycles);
    assert_int_equal(all->instructions, stats.retired);
    assert_int_equal(instructions, stats.retired);
}

static void test_random_code(void **context)
{
    uint64_t retired = 0;
    (void)context;
    for (uint64_t round = 1; round <= ROUNDS; ++round) {
        struct machine a, b;
        uint64_t state_a = round * 77, state_b = state_a;
        assert_int_equal(machine_init(&a), 0);
        assert_int_equal(machine_init(&b), 0);
        a.quiet = b.quiet = 1;
        struct cnnvp_profiler of_a, of_b;
        memset(&of_a, 0, sizeof of_a);
        memset(&of_b, 0, sizeof of_b);
        if (round % 2 == 0) {
            profile(&a, &of_a);
            profile(&b, &of_b);
        }
        fill(&a, round);
        fill(&b, round);
        for (unsigned e = 0; e < EPISODES; ++e) {
            uint64_t used_a, used_b;
            episode(&a, &state_a);
            episode(&b, &state_b);
            assert_int_equal(advance(&a, EPISODE_SLOTS, 1, &used_a), advance(&b, EPISODE_SLOTS, 1000, &used_b));
            assert_int_equal(used_a, used_b);
        }
        compare(&a, &b);
        if (round % 2 == 0) {
            check_profile(&a, &of_a);
            check_profile(&b, &of_b);
            assert_memory_equal(of_a.context, of_b.context, COSTS * sizeof(struct cnnvp_core_cost));
        }
        free(of_a.context);
        free(of_b.context);
        struct cnnvp_rv32_stats stats;
        cnnvp_rv32_get_stats(a.core, &stats);
        retired += stats.retired;
        machine_fini(&a);
        machine_fini(&b);
    }
    print_message("%llu instructions retired\n", (unsigned long long)retired);
    assert_true(retired > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_code)};
    return cmocka_run_group_tests_name("rv32_exec", tests, NULL, NULL);
}
