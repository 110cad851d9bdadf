/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that units bring: what is wrong with a table is said, and nothing of it is taken. */
#include <limits.h>
#include <stdlib.h>

#include "test.h"

#include "isa/isa.h"

static const struct cnnvp_instruction_register regs[] = {{"first", "help"}, {"second", "help"}, {"first", "help"}};
static const struct cnnvp_instruction_register nameless[] = {{"First", "help"}};
static const struct cnnvp_instruction_status fields[] = {
    {"one", 0, 4, "help"}, {"two", 4, 4, "help"}, {"two", 4, 1, "help"}, {"one", 4, 4, "help"}};
static const struct cnnvp_instruction_status outside[] = {{"wide", 7, 2, "help"}};
static const struct cnnvp_instruction_status none[] = {{"none", 0, 0, "help"}};
static const struct cnnvp_instruction_status far[] = {{"far", UINT32_MAX, 1, "help"}};
static const struct cnnvp_instruction_status silent[] = {{"silent", 0, 1, NULL}};

static const struct cnnvp_instruction_register keyword[] = {{"default", "help"}};

static const struct cnnvp_instruction good = {"good", 0xc0, 7, fields, 2, regs, 2, "help"};

static void test_good(void **state)
{
    char why[200] = "";
    const struct cnnvp_instruction *const list[] = {&good, NULL};
    struct isa_extension *extension = cnnvp_isa_extension(list, why, sizeof why);
    (void)state;
    assert_non_null(extension);
    const struct isa_opcode *op = cnnvp_isa_find(extension, 0xc0);
    assert_non_null(op);
    assert_int_equal(op->status_mask, 0xff);
    assert_int_equal(op->descriptor_count, 2);
    assert_string_equal(cnnvp_isa_form(op).registers[1].name, "second");
    const struct isa_status *status = cnnvp_isa_status(extension, 0xc0);
    assert_string_equal(status->name, "one");
    assert_string_equal(cnnvp_isa_next_status(status)->name, "two");
    assert_null(cnnvp_isa_next_status(cnnvp_isa_next_status(status)));
    assert_null(cnnvp_isa_find(extension, 0xc1));
    assert_null(cnnvp_isa_find(NULL, 0xc0));
    free(extension);
}

static void test_wrong(void **state)
{
    static const struct {
        struct cnnvp_instruction instruction;
        const char *message;
    } cases[] = {
        {{NULL, 0xc1, 0, NULL, 0, NULL, 0, "help"}, "instruction 0xc1 has no help, or no name"},
        {{"Upper", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "no name"},
        {{"", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "no name"},
        {{"9lives", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "no name"},
        {{"a_name_that_is_longer_than_thirty_two", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "no name"},
        {{"own", 0xc1, 0, NULL, 0, NULL, 0, NULL}, "no help"},
        {{"own", 0xbf, 0, NULL, 0, NULL, 0, "help"}, "opcode 0xbf is not one of 0xc0 to 0xff"},
        {{"own", 0x100, 0, NULL, 0, NULL, 0, "help"}, "opcode 0x100 is not one of"},
        {{"own", UINT_MAX, 0, NULL, 0, NULL, 0, "help"}, "is not one of"},
        {{"own", 0xc1, 8, NULL, 0, NULL, 0, "help"}, "buffers 0x8 are more"},
        {{"own", 0xc0, 0, NULL, 0, NULL, 0, "help"}, "an instruction of another unit"},
        {{"good", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "an instruction of another unit"},
        {{"conv", 0xc1, 0, NULL, 0, NULL, 0, "help"}, "the built-in one has this opcode or name"},
        {{"own", 0xc1, 0, NULL, 1, NULL, 0, "help"}, "its statuses are missing"},
        {{"own", 0xc1, 0, fields, 9, NULL, 0, "help"}, "or are more than 8"},
        {{"own", 0xc1, 0, fields, 3, NULL, 0, "help"}, "status two shares a bit"},
        {{"own", 0xc1, 0, &fields[2], 2, NULL, 0, "help"}, "status one shares a bit"},
        {{"own", 0xc1, 0, outside, 1, NULL, 0, "help"}, "status wide lies outside"},
        {{"own", 0xc1, 0, none, 1, NULL, 0, "help"}, "status none lies outside"},
        {{"own", 0xc1, 0, far, 1, NULL, 0, "help"}, "status far lies outside"},
        {{"own", 0xc1, 0, silent, 1, NULL, 0, "help"}, "status 0 has no help"},
        {{"own", 0xc1, 0, NULL, 0, NULL, 1, "help"}, "the registers of its descriptor are missing"},
        {{"own", 0xc1, 0, NULL, 0, regs, 25, "help"}, "or are more than 24"},
        {{"own", 0xc1, 0, NULL, 0, regs, 3, "help"}, "two registers are named first"},
        {{"own", 0xc1, 0, NULL, 0, nameless, 1, "help"}, "register 0 has no help, or no name"},
        {{"own", 0xc1, 0, NULL, 0, keyword, 1, "help"}, "register default: a keyword of C"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char why[200] = "";
        struct isa_extension *extension = calloc(1, sizeof *extension);
        assert_non_null(extension);
        assert_int_equal(cnnvp_isa_extend(extension, &good, ISA_UNIT_custom_0, why, sizeof why), 0);
        assert_int_equal(cnnvp_isa_extend(extension, &cases[i].instruction, ISA_UNIT_custom_0, why, sizeof why), -1);
        if (strstr(why, cases[i].message) == NULL)
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, why, cases[i].message);
        assert_null(cnnvp_isa_find(extension, 0xc1));
        assert_int_equal(extension->status_count, 2);
        free(extension);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
