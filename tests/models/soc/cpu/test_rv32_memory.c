/* SPDX-License-Identifier: Apache-2.0 */
/* Memory maps, and tohost. */
#include "rv32_case.h"

static void test_tohost(void **state)
{
    const uint32_t code[] = {
        lui(T0, RAM + 0x1000), addi(A0, ZERO, 7), sw(ZERO, T0, 0x100), sw(A0, T0, 0x104), sw(A0, T0, 0x100), NOP};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, 0x1000), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1102), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1100), 0);
    assert_int_equal(rv32_go(m, 100, 5), CNNVP_RV32_EXIT);
    assert_int_equal(cnnvp_rv32_exit_status(m->core), 3);
    rv32_end(m);
}

static void test_map_rules(void **state)
{
    struct machine *m = rv32_begin(NULL, 0);
    uint8_t *more = calloc(1, 4096);
    (void)state;
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 0, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 100, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1010, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff100, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, RAM + 4096, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, RAM - 256, 512, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 4096, NULL), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff000, 4096, more), 0);
    for (uint32_t i = 2; i < CNNVP_RV32_MAX_REGIONS; ++i)
        assert_int_equal(cnnvp_rv32_map_ram(m->core, i << 16, 256, more), 0);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x900000, 256, more), -1);
    cnnvp_rv32_unmap_ram(m->core, 0x40000);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x900000, 256, more), 0);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x40000, 256, more), -1);
    rv32_end(m);
    free(more);
}

/* Code in one region works on data in another, to and fro, up to the last byte of the address space. */
static void test_two_regions(void **state)
{
    const uint32_t code[] = {lui(T0, 0xfffff000), lui(T1, RAM + 0x2000), addi(A0, A0, 5), sw(A0, T0, 0x0),
                             sw(A0, T1, 0),       lw(A1, T0, 0),         sw(A1, T1, 4),   lw(A2, T1, 4),
                             sw(A2, ZERO, 0xffc), lw(A1, ZERO, 0xffc),   jump(-32)};
    struct machine *m = rv32_begin(code, COUNT(code));
    uint8_t *more = calloc(1, 4096);
    (void)state;
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff000, 4096, more), 0);
    assert_int_equal(rv32_go(m, 2 + 9 * 10, 2 + 9 * 10), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A1), 50);
    assert_int_equal(more[0], 50);
    assert_int_equal(more[4092], 50);
    assert_int_equal(m->accesses, 0);
    rv32_end(m);
    free(more);
}

/* Data that move to other memory while an instruction is fetched. */
struct mover {
    struct cnnvp_rv32 *core;
    uint32_t code[32];
    uint8_t data[2][256]; /* before and after */
    int has_moved;
};

enum { DATA = 0x40000, PIECE = 32 };

static void move_data(struct mover *mover)
{
    if (mover->has_moved)
        return;
    mover->has_moved = 1;
    cnnvp_rv32_unmap_ram(mover->core, DATA);
    assert_int_equal(cnnvp_rv32_map_ram(mover->core, DATA, 256, mover->data[1]), 0);
}

static int fetch_piece(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    assert_int_equal(access, CNNVP_RV32_FETCH);
    (void)size;
    if (address - RAM >= PIECE)
        move_data(context);
    return 0;
}

static int fetch_half(void *context, uint32_t address, uint16_t *half)
{
    struct mover *mover = context;
    if (address - RAM >= PIECE)
        move_data(mover);
    *half = (uint16_t)(mover->code[(address - RAM) / 4] >> (address & 2u) * 8u);
    return 0;
}

static void test_moved_data(void **state)
{
    static const uint32_t none[2] = {CNNVP_RV32_NO_CODE, CNNVP_RV32_NO_CODE};
    (void)state;
    for (int mapped = 0; mapped < 2; ++mapped) { /* the code is in RAM that is not fast, or outside RAM */
        struct mover mover = {.code = {lui(T0, DATA), lw(A0, T0, 0), NOP, NOP, NOP, NOP, NOP, NOP, lw(A1, T0, 0)},
                              .data = {{1}, {2}}};
        uint8_t ram[256];
        const struct cnnvp_rv32_config config = {
            .bus = {.context = &mover,
                    .memory = mapped ? fetch_piece : NULL,
                    .there = {.code = none},
                    .fetch = mapped ? NULL : fetch_half},
            .fetch_bytes = PIECE};
        const struct cnnvp_rv32_range fast = {DATA, 256};
        uint64_t executed;
        memset(ram, 0, sizeof ram);
        memcpy(ram, mover.code, sizeof mover.code);
        mover.core = malloc(cnnvp_rv32_size());
        assert_non_null(mover.core);
        assert_int_equal(cnnvp_rv32_init(mover.core, &config), 0);
        assert_int_equal(cnnvp_rv32_map_ram(mover.core, DATA, 256, mover.data[0]), 0);
        if (mapped)
            assert_int_equal(cnnvp_rv32_map_ram(mover.core, RAM, 256, ram), 0);
        if (mapped)
            assert_int_equal(cnnvp_rv32_set_fast(mover.core, &fast, 1), 0);
        cnnvp_rv32_reset(mover.core, RAM);
        assert_int_equal(cnnvp_rv32_run(mover.core, 9, &executed), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(mover.core, A0), 1);
        assert_int_equal(cnnvp_rv32_reg(mover.core, A1), 2);
        cnnvp_rv32_fini(mover.core);
        free(mover.core);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tohost),
        cmocka_unit_test(test_map_rules),
        cmocka_unit_test(test_two_regions),
        cmocka_unit_test(test_moved_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
