/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of decoded code: more than there is room for, changed from outside, fetched outside RAM. */
#include "rv32_case.h"

/* Code that another initiator writes: cnnvp_rv32_invalidate or the guest's fence.i. */
static void test_code_from_outside(void **state)
{
    const uint32_t code[] = {addi(A0, ZERO, 1), jump(-4)};
    const uint32_t two = addi(A0, ZERO, 2);
    const uint32_t three = addi(A0, ZERO, 3);
    const uint32_t fence = FENCE_I;
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 100), CNNVP_RV32_BUDGET);
    machine_poke(m, RAM, &two, 1);
    cnnvp_rv32_invalidate(m->core, 0, UINT32_MAX);
    assert_int_equal(rv32_go(m, 100, 100), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 2);
    machine_poke(m, RAM + 0x100, &fence, 1);
    machine_poke(m, RAM, &three, 1);
    cnnvp_rv32_set_pc(m->core, RAM + 0x100);
    assert_int_equal(rv32_go(m, 1, 1), CNNVP_RV32_BUDGET);
    cnnvp_rv32_set_pc(m->core, RAM);
    assert_int_equal(rv32_go(m, 100, 100), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3);
    rv32_end(m);
}

/* More code than the cache of blocks holds: 40000 blocks, several times round. */
static void test_cache_overflow(void **state)
{
    enum { BLOCKS = 40000 };
    struct machine *m = rv32_begin(NULL, 0);
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        const uint32_t block[] = {addi(A0, A0, 1), jump(i + 1 < BLOCKS ? 4 : -(int)(8 * i + 4))};
        machine_poke(m, RAM + 8 * i, block, 2);
    }
    assert_int_equal(rv32_go(m, 6 * BLOCKS, 6 * BLOCKS), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3 * BLOCKS);
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM);
    rv32_end(m);
}

static int fetch_rom(void *context, uint32_t address, uint16_t *half)
{
    const uint32_t *rom = context;
    if (address < 0x2000 || address >= 0x2010)
        return -1;
    *half = (uint16_t)(rom[(address - 0x2000) / 4] >> 8 * (address & 2u));
    return 0;
}

/* Code outside RAM, instruction by instruction through the bus. */
static void test_fetch_callback(void **state)
{
    uint32_t rom[] = {addi(A0, ZERO, 3), 0x0505u | 0x0505u << 16 /* c.addi a0, 1, twice */, jump(4), addi(A0, A0, 7)};
    struct cnnvp_rv32_config config = {.bus = {.context = rom, .fetch = fetch_rom}, .cycles = {.jump = 3}};
    struct cnnvp_rv32 *core = malloc(cnnvp_rv32_size());
    uint64_t executed;
    uint32_t value;
    (void)state;
    assert_int_equal(cnnvp_rv32_init(core, &config), 0);
    cnnvp_rv32_reset(core, 0x2000);
    assert_int_equal(cnnvp_rv32_run(core, 4, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(executed, 6); /* the jump begins within the limit and ends after it */
    assert_int_equal(cnnvp_rv32_run(core, 1, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(core, A0), 12);
    assert_int_equal(cnnvp_rv32_run(core, 100, &executed), CNNVP_RV32_DOUBLE_FAULT);
    assert_int_equal(cnnvp_rv32_csr(core, MEPC, &value), 0);
    assert_int_equal(cnnvp_rv32_csr(core, MCYCLE, &value), 0);
    assert_int_equal(value, 3 + 3 + 1 + 2);
    /* no load and no store callback: data accesses outside RAM fault */
    rom[0] = lw(A0, ZERO, 16);
    cnnvp_rv32_reset(core, 0x2000);
    assert_int_equal(cnnvp_rv32_run(core, 1, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_csr(core, MCAUSE, &value), 0);
    assert_int_equal(value, CNNVP_RV32_LOAD_FAULT);
    cnnvp_rv32_fini(core);
    free(core);
}

/* An instruction whose halves lie in two pieces of memory: the second comes by the bus, or is another region. */
static void test_two_pieces(void **state)
{
    static uint8_t first[CNNVP_RV32_GRANULE], second[CNNVP_RV32_GRANULE];
    const uint32_t begin = 0x2000 - CNNVP_RV32_GRANULE, add = addi(A0, A0, 7);
    uint32_t rom[4] = {add >> 16 | 0x0505u << 16, jump(-8)}; /* c.addi a0, 1 */
    const uint16_t low[] = {0x0505u, (uint16_t)add};
    struct cnnvp_rv32_config config = {.bus = {.context = rom, .fetch = fetch_rom}};
    (void)state;
    memcpy(first + sizeof first - sizeof low, low, sizeof low);
    memcpy(second, rom, sizeof rom);
    for (int mapped = 0; mapped < 2; ++mapped) {
        struct cnnvp_rv32 *core = malloc(cnnvp_rv32_size());
        uint64_t executed;
        assert_int_equal(cnnvp_rv32_init(core, &config), 0);
        assert_int_equal(cnnvp_rv32_map_ram(core, begin, sizeof first, first), 0);
        if (mapped)
            assert_int_equal(cnnvp_rv32_map_ram(core, 0x2000, sizeof second, second), 0);
        cnnvp_rv32_reset(core, 0x1ffc);
        assert_int_equal(cnnvp_rv32_run(core, 8, &executed), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(core, A0), 18);
        assert_int_equal(cnnvp_rv32_pc(core), 0x1ffc);
        cnnvp_rv32_fini(core);
        free(core);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_from_outside),
        cmocka_unit_test(test_cache_overflow),
        cmocka_unit_test(test_fetch_callback),
        cmocka_unit_test(test_two_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
