/* SPDX-License-Identifier: Apache-2.0 */
/* What arrays for FX16 make of whatever a guest can write into a command. */
#include "array_rig.h"
#include "nfu_case.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_garbage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
