/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are refused. */
#include "random.h"
#include "train_rig.h"

/* One register, or the command itself, changed so that it must be refused with nothing done. */
struct malformed {
    uint32_t opcode;
    uint32_t reg;
    uint32_t value;
    int expected;
};

enum { OPCODE = 100, STATUS, COUNT };

static const struct malformed faults[] = {
    {T_FORWARD, OPCODE, 0x80, CNNVP_E_INVAL},
    {T_FORWARD, OPCODE, 0xa6, CNNVP_E_INVAL},
    {T_FORWARD, STATUS, 4, CNNVP_E_INVAL},
    {T_FORWARD, COUNT, 20, CNNVP_E_INVAL},
    {T_FORWARD, OPCODE, T_GRADIENT, CNNVP_E_INVAL},
    {T_FORWARD, 0, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 1, UINT32_MAX, CNNVP_E_INVAL},
    {T_FORWARD, 2, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 7, UINT32_MAX, CNNVP_E_INVAL},
    {T_FORWARD, 8, 10, CNNVP_E_INVAL},
    {T_FORWARD, 11, 5, CNNVP_E_INVAL},
    {T_FORWARD, 12, HALF_BYTES - 8, CNNVP_E_ADDR},
    {T_FORWARD, 13, HALF_BYTES - 4, CNNVP_E_ADDR},
    {T_FORWARD, 14, 99, CNNVP_E_INVAL},
    {T_FORWARD, 15, 0, CNNVP_E_INVAL},
    {T_FORWARD, 16, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 17, 1u << 16, CNNVP_E_INVAL},
    {T_FORWARD, 18, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 19, 1u << 16, CNNVP_E_INVAL},
    {T_FORWARD, 20, HALF_BYTES, CNNVP_E_ADDR},
    {T_GRADIENT, 17, 5, CNNVP_E_INVAL},
    {T_GRADIENT, 19, 1, CNNVP_E_INVAL},
    {T_GRADIENT, 21, 1u << 16, CNNVP_E_INVAL},
    {T_GRADIENT, 11, UINT32_MAX, CNNVP_E_INVAL},
    {T_GRADIENT, 8, HALF_BYTES, CNNVP_E_ADDR},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct array_rig b;
        uint64_t random = 14;
        struct train_case c = layer(faults[i].opcode);
        begin(&b, 200, 0);
        array_rig_start(&b);
        train_case_fill(&c, &random, false, false);
        load(&b, &c, 0);
        if (faults[i].reg == OPCODE)
            c.command.opcode = faults[i].value;
        else if (faults[i].reg == STATUS)
            c.command.status = faults[i].value;
        else if (faults[i].reg == COUNT)
            c.command.count = faults[i].value;
        else
            c.command.descriptor[faults[i].reg] = faults[i].value;
        const int status = array_rig_send(&b, &c.command, NULL);
        if (status != faults[i].expected)
            print_error("fault %zu: %d, %s\n", i, status, b.array->message);
        assert_int_equal(status, faults[i].expected);
        assert_int_equal(fake_count(b.array, "rejected"), 1);
        assert_int_equal(fake_count(b.array, "commands"), 0);
        assert_int_equal(fake_count(b.input, "calculation_port_words"), 0);
        assert_int_equal(fake_count(b.weight, "calculation_port_words"), 0);
        assert_true(b.array->warnings == 1);
        assert_memory_equal(half_of(b.output, 0), c.before, c.result_bytes);
        train_case_free(&c);
        array_rig_end(&b);
    }
}

/* Whatever lies in the registers: a status, no crash, no access outside. Small buffers keep accepted commands short. */
static void test_garbage(void **state)
{
    uint64_t random = 15;
    uint32_t accepted = 0;
    (void)state;
    for (uint32_t run = 0; run < 2u; ++run) {
        struct array_rig b;
        begin(&b, 200, 0);
        fake_set(b.array, "layout", run);
        fake_set(b.input, "size", 4096);
        fake_set(b.weight, "size", 4096);
        fake_set(b.output, "size", 8192);
        array_rig_start(&b);
        for (uint32_t i = 0; i < 8000u; ++i) {
            struct train_case c;
            train_case_random(&c, &random, 8);
            for (uint32_t change = between(&random, 0, 3); change > 0; --change) {
                const uint32_t at = between(&random, 0, CNNVP_DESCRIPTOR_MAX - 1u);
                const uint32_t drop = between(&random, 0, 31);
                c.command.descriptor[at] = next_bits(&random) >> drop;
            }
            /* strides of 0 let little memory stand for much work: keep the sum of it bearable */
            if (c.command.descriptor[5] < 64u && c.command.descriptor[2] < 64u)
                accepted += array_rig_send(&b, &c.command, NULL) == CNNVP_OK;
            b.array->span_count = 0;
            train_case_free(&c);
        }
        array_rig_end(&b);
    }
    assert_in_range(accepted, 500, 15200);
}

/* With zones a command's maps are of as many groups, each of three zones. */
static void test_zones(void **state)
{
    static const struct {
        uint32_t opcode, reg, value;
        const char *reason;
    } zones[] = {
        {T_FORWARD, 3, 301, "three zones apart"},  {T_FORWARD, 6, 2, "a channel of the images"},
        {T_GRADIENT, 2, 100, "three zones apart"}, {T_GRADIENT, 10, 100, "three zones apart"},
        {T_GRADIENT, 5, 2, "an image's channels"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; ++i) {
        const struct cnnvp_train_shape shape = {
            .arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = 8, .zones = true};
        uint64_t random = 16;
        struct train_case c = layer(zones[i].opcode);
        struct cnnvp_train_tile tile;
        const char *reason = "";
        train_case_fill(&c, &random, false, false);
        const bool gradient = zones[i].opcode == T_GRADIENT;
        uint32_t *const words = c.command.descriptor;
        words[gradient ? 5 : 6] = 1;
        words[gradient ? 2 : 3] = 300;
        words[10] = gradient ? 300 : words[10];
        assert_int_equal(cnnvp_train_decode(&shape, &c.command, &tile, &reason), CNNVP_OK);
        words[zones[i].reg] = zones[i].value;
        assert_int_equal(cnnvp_train_decode(&shape, &c.command, &tile, &reason), CNNVP_E_INVAL);
        assert_non_null(strstr(reason, zones[i].reason));
        train_case_free(&c);
    }
}

static void test_misuse(void **state)
{
    struct array_rig b;
    struct cnnvp_command command = {0};
    (void)state;
    begin(&b, 200, 0);
    array_rig_start(&b);
    struct cnnvp_access access = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_ACCESS);
    access.op = CNNVP_COMMAND;
    access.size = 4;
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_INVAL);
    access.size = sizeof command;
    access.data = NULL;
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_INVAL);
    array_rig_end(&b);
    begin(&b, 200, 0);
    fake_set(b.array, "rows", 2);
    fake_set(b.array, "fc_rows", 1);
    assert_int_equal(fake_start(b.array), CNNVP_E_INVAL);
    assert_int_equal(b.array->config_errors, 1);
    array_rig_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
