/* SPDX-License-Identifier: Apache-2.0 */
/* Units of one instruction: how many lanes they have, and what they refuse. */
#include "array_rig.h"
#include "instructions.h"

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_activation, cnnvp_unit_mean, cnnvp_unit_normalise, cnnvp_unit_variance;

enum { CHANNELS = 5, COUNT = 50, HALF = 32768, TABLE_AT = 96, LEAVES = 512, EMPTY = 1024 };

/* Five channels of 50 on two units of eight lanes. A command that is not 0 here has that in place of what is good. */
static void check(const struct cnnvp_unit *unit, uint32_t opcode, uint32_t status, const struct machine_vector *change,
                  int64_t result, const char *refusal)
{
    static const int16_t table[] = {0, 11, 1, 4}, too_many[] = {0, 11, 32767, 4};
    const struct array_rig_lanes lanes = {2, 8, 0};
    const int one = unit == &cnnvp_unit_mean || unit == &cnnvp_unit_variance; /* number a channel */
    const struct machine_vector vector = {
        .b_addr = change->b_addr != 0 ? change->b_addr : TABLE_AT,
        .c_addr = change->c_addr,
        .out_addr = change->out_addr,
        .count = COUNT,
        .repeat = CHANNELS,
        .a_stride = 1,
        .a_repeat = COUNT,
        .b_repeat = 1,
        .c_repeat = 1,
        .out_repeat = one ? 1 : COUNT,
        .immediate = change->immediate,
        .format = change->format};
    const struct cnnvp_command command = ARRAY_RIG_COMMAND(opcode, status, vector);
    struct array_rig rig;
    array_rig_start_lanes(&rig, unit, &lanes);
    array_rig_poke(rig.weight, 0, TABLE_AT, table, 4);
    array_rig_poke(rig.weight, 0, LEAVES, too_many, 4);
    if (refusal != NULL)
        array_rig_check_refused(&rig, command, (int)result, refusal);
    else
        assert_int_equal(array_rig_do(&rig, command), result);
    array_rig_end(&rig);
}

static const struct cnnvp_unit *const activation = &cnnvp_unit_activation, *const mean = &cnnvp_unit_mean,
                                      *const normalise = &cnnvp_unit_normalise, *const variance = &cnnvp_unit_variance;

/* Beats of lanes, for three turns of two channels where the unit has channels; folds of eight lanes, divisions; four
 * stages. */
static void cycles(void **state)
{
    static const struct machine_vector good = {.b_addr = TABLE_AT};
    (void)state;
    check(activation, OP_vact, ST_vact_b, &good, 16 + 4, NULL);
    check(mean, OP_vmean, 0, &good, 3 * (7 + 3 + 9) + 4, NULL);
    check(variance, OP_vvar, ST_vvar_b, &good, 3 * (7 + 3 + 2 * 9) + 4, NULL);
    check(normalise, OP_vnorm, ST_vnorm_b | ST_vnorm_store, &good, 3 * 7 + 4, NULL);
}

static void refused(void **state)
{
    const uint32_t norm = ST_vnorm_b | ST_vnorm_store;
    const struct {
        const struct cnnvp_unit *unit;
        uint32_t opcode, status;
        struct machine_vector change;
        int result;
        const char *why;
    } cases[] = {
        {activation, OP_vnorm, 0, {0}, CNNVP_E_INVAL, "takes vact alone"},
        {activation, OP_vact, 2 * ST_vact_b, {0}, CNNVP_E_INVAL, "0 input, 1 weight"},
        {activation, OP_vact, ST_vact_b, {.b_addr = EMPTY}, CNNVP_E_INVAL, "header is malformed"},
        {activation, OP_vact, ST_vact_b, {.b_addr = LEAVES}, CNNVP_E_ADDR, "the table leaves the half"},
        {mean, OP_vvar, 0, {0}, CNNVP_E_INVAL, "takes vmean alone"},
        {mean, OP_vmean, 0, {.out_addr = HALF - 8}, CNNVP_E_ADDR, "outside its half"}, /* the fifth mean */
        {variance, OP_vmean, ST_vvar_b, {0}, CNNVP_E_INVAL, "takes vvar alone"},
        {variance, OP_vvar, 3 * ST_vvar_b, {0}, CNNVP_E_INVAL, "b of this instruction is a buffer"},
        {variance, OP_vvar, ST_vvar_b, {.immediate = UINT32_MAX}, CNNVP_E_INVAL, "epsilon is not negative"},
        {variance, OP_vvar, ST_vvar_b, {.format = 16 << 8}, CNNVP_E_INVAL, "0 .. 15 fraction bits more"},
        {normalise, OP_vact, ST_vact_b, {0}, CNNVP_E_INVAL, "takes vnorm alone"},
        {normalise, OP_vnorm, ST_vnorm_b, {0}, CNNVP_E_INVAL, "vnorm.store"},
        {normalise, OP_vnorm, 3 * ST_vnorm_b | ST_vnorm_store, {0}, CNNVP_E_INVAL, "b of this instruction is a buffer"},
        {normalise, OP_vnorm, norm, {.c_addr = HALF - 8}, CNNVP_E_ADDR, "outside its half"}, /* the fifth offset */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check(cases[i].unit, cases[i].opcode, cases[i].status, &cases[i].change, cases[i].result, cases[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cycles), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
