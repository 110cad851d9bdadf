/* SPDX-License-Identifier: Apache-2.0 */
/* What arrays for FX16 make of whatever a guest can write into a command. */
#include "array_rig.h"
#include "nfu_case.h"

#include "reference/reference.h"
#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_nfu;
extern const struct cnnvp_unit cnnvp_unit_window;
extern const struct cnnvp_unit cnnvp_unit_pooling;
extern const struct cnnvp_unit cnnvp_unit_fully_connected;

/* Any bits at all in a command: refused or carried out, never a crash or an overflow (run under sanitizers), and where
 * a unit has two depths both agree. */
static void check_garbage(const struct cnnvp_unit *unit, uint32_t depths)
{
    uint64_t totals[2][4];
    for (uint64_t detail = 0; detail < depths; ++detail) {
        uint64_t random = 15;
        struct array_rig rig;
        array_rig_begin(&rig, unit, 1000, 0);
        if (depths > 1u)
            fake_set(rig.array, "detail", detail);
        fake_set(rig.array, "acc_bits", 64);
        if (unit != &cnnvp_unit_pooling)
            fake_set(rig.array, "write_out", 2);
        fake_set(rig.input, "size", 2048);
        fake_set(rig.weight, "size", 2048);
        fake_set(rig.output, "size", 4096);
        array_rig_start(&rig);
        for (uint32_t i = 0; i < 20000u; ++i) {
            struct cnnvp_command command = nfu_case_garbage(&random);
            rig.array->span_count = 0;
            (void)array_rig_send(&rig, &command, NULL);
        }
        totals[detail][0] = fake_count(rig.array, "commands");
        totals[detail][1] = fake_count(rig.array, "busy_cycles");
        totals[detail][2] = fake_count(rig.array, "input_words");
        totals[detail][3] = fake_count(rig.array, "saturations");
        array_rig_end(&rig);
    }
    assert_memory_equal(totals[0], totals[depths - 1u], sizeof totals[0]);
    assert_in_range(totals[0][0], 1000, 19000);
}

static void test_garbage(void **state)
{
    (void)state;
    check_garbage(&cnnvp_unit_nfu, 2);
    check_garbage(&cnnvp_unit_window, 1);
    check_garbage(&cnnvp_unit_pooling, 1);
    check_garbage(&cnnvp_unit_fully_connected, 1);
}

/* Words that are scaled are those of the reference, on each unit that has products; one whose write-out does not scale
 * refuses the command. */
static void check_scaled(const struct cnnvp_unit *unit, uint64_t detail, uint32_t first, uint32_t second)
{
    uint64_t random = 6;
    uint32_t done = 0, inner = 0;
    while (done < 200u) {
        struct array_rig rig;
        struct nfu_case c;
        nfu_case_random(&c, &random);
        nfu_case_scale(&c, &random);
        if ((c.opcode != first && c.opcode != second) || (c.status & 3u) != 0 || c.results > 2000u ||
            c.weight_words > 10000u || c.input_words > 8000u) {
            nfu_case_free(&c);
            continue;
        }
        array_rig_begin(&rig, unit, 1000, 0);
        if (detail != 0)
            fake_set(rig.array, "detail", detail);
        fake_set(rig.array, "write_out", done % 10u == 9u ? 1u : 2u);
        array_rig_start(&rig);
        struct cnnvp_command command = nfu_case_command(&c);
        const int dense = c.opcode == OP_MATMUL;
        command.descriptor[dense ? (int)M_BIAS_ADDR : (int)BIAS_ADDR] = 24576;
        command.descriptor[dense ? (int)M_ACC_ADDR : (int)ACC_ADDR] = 8192;
        command.descriptor[dense ? (int)M_FORMAT : (int)FORMAT] = 1u << 16;
        array_rig_poke(rig.input, 0, 0, c.input, c.input_words);
        array_rig_poke(rig.weight, 0, 0, c.weights, c.weight_words);
        array_rig_poke(rig.weight, 0, 24576, c.bias, c.bias_words);
        nfu_case_expect(&c, 48);
        if (done++ % 10u == 9u) {
            array_rig_check_refused(&rig, command, CNNVP_E_NOSUP, "it is not scale");
        } else {
            (void)array_rig_do(&rig, command);
            const int16_t *got = array_rig_peek(rig.output, 0, 0, c.results * 2u);
            const uint64_t each = dense ? 1u : (uint64_t)c.out_h * c.out_w;
            for (uint64_t i = 0; i < c.results; ++i) {
                assert_int_equal(got[i], cnnvp_reference_scale(c.sums[i], c.bias + i / each * 4u, 0, 1, 0));
                inner += got[i] != 0 && got[i] != INT16_MAX && got[i] != INT16_MIN;
            }
            assert_int_equal(fake_count(rig.array, "scaled_words"), c.results);
        }
        nfu_case_free(&c);
        array_rig_end(&rig);
    }
    assert_true(inner > 1000u);
}

static void test_scaled(void **state)
{
    (void)state;
    check_scaled(&cnnvp_unit_nfu, 0, OP_CONV, OP_MATMUL);
    check_scaled(&cnnvp_unit_nfu, 1, OP_CONV, OP_MATMUL);
    check_scaled(&cnnvp_unit_window, 0, OP_CONV, OP_CONV);
    check_scaled(&cnnvp_unit_fully_connected, 0, OP_MATMUL, OP_MATMUL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_garbage), cmocka_unit_test(test_scaled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
