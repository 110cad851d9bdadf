/* SPDX-License-Identifier: Apache-2.0 */
/* What the fully connected unit refuses. */
#include "array_rig.h"
#include "instructions.h"

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_fully_connected;

enum { INPUTS = 37, OUTPUTS = 45 };

static const struct machine_matmul layer = {.inputs = INPUTS, .outputs = OUTPUTS};

static void test_refused(void **state)
{
    struct array_rig rig;
    struct machine_matmul changed = layer;
    (void)state;
    array_rig_begin(&rig, &cnnvp_unit_fully_connected, 1000, 0);
    array_rig_start(&rig);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, layer), CNNVP_E_INVAL, "takes matmul alone");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_matmul, 0x10, layer), CNNVP_E_INVAL, "status bits");
    changed.weight_addr = 32768 - 2 * INPUTS * OUTPUTS + 2; /* the last word is beyond the half */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_matmul, 0, changed), CNNVP_E_ADDR, "leaves a buffer half");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
