/* SPDX-License-Identifier: Apache-2.0 */
/* Units by kind: built in, and of the libraries that tests/abi makes. */
#include "test.h"

#include "cnnvp.h"
#include "registry.h"

static const struct cnnvp_unit *find(const char *model, const char *relative_to)
{
    const struct cnnvp_unit *unit;
    struct cnnvp_error error;

    if (cnnvp_registry_find(model, relative_to, &unit, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return unit;
}

static void units_of_a_library_are_found(void **state)
{
    const struct cnnvp_unit *echo = find("./abi_good.so:echo", LIBRARIES);

    (void)state;
    assert_string_equal(echo->kind, "echo");
    assert_ptr_equal(find("abi_good.so:echo", LIBRARIES), echo);
    assert_ptr_equal(find(LIBRARIES "/abi_good.so:echo", "elsewhere"), echo);
    assert_ptr_equal(find("../abi/abi_good.so:echo", LIBRARIES), echo);
}

static void units_of_a_library_are_listed(void **state)
{
    const struct cnnvp_unit *unit;
    struct cnnvp_error error = {""};

    (void)state;
    assert_int_equal(cnnvp_library_unit(LIBRARIES "/abi_good.so", 1, &unit, &error), CNNVP_DONE);
    assert_string_equal(unit->kind, "echo");
    assert_int_equal(cnnvp_library_unit(LIBRARIES "/abi_good.so", 2, &unit, &error), CNNVP_DONE);
    assert_null(unit);
    assert_int_equal(cnnvp_library_unit(LIBRARIES "/abi_major.so", 0, &unit, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "/abi_major.so: built for model ABI 2.3"));
    assert_null(unit);
    assert_int_equal(cnnvp_library_unit(LIBRARIES "/abi_major.so", 0, &unit, NULL), CNNVP_BAD_INPUT);
}

static void wrong_libraries_are_refused(void **state)
{
    static const struct {
        const char *model;
        const char *message;
    } cases[] = {
        {"./abi_major.so:ping", "built for model ABI 2.3, this program has 3.7: compile it again"},
        {"./abi_small.so:ping", "bytes, model ABI 3.0 has"},
        {"./abi_instruction.so:ping", "it has instructions but no target port with CNNVP_PORT_COMMANDS"},
        {"./abi_kind.so:ping", "its kind, version or summary is missing"},
        {"./abi_empty_name.so:ping", "port 0 has no name"},
        {"./abi_no_symbol.so:ping", "does not export cnnvp_model_query"},
        {"./abi_port_table.so:ping", "a table is missing or has more than 4096 entries"},
        {"./abi_register_outside.so:ping", "register SCALE is stored outside the instance"},
        {"./abi_no_default.so:ping", "parameter 1 has no name, default value or help"},
        {"./abi_good.so:pong", "has no unit of kind pong; it has: ping, echo"},
        {"./abi_good.so:", "not of the form library:kind"},
        {":ping", "not of the form library:kind"},
        {"./CTestTestfile.cmake:ping", "cannot load the library"},
        {"./no_such_library.so:ping", "no_such_library.so"},
        {"no_such_kind", "there is no unit of kind no_such_kind"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const struct cnnvp_unit *unit;
        struct cnnvp_error error;

        assert_int_equal(cnnvp_registry_find(cases[i].model, LIBRARIES, &unit, &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i].message) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].model, error.text, cases[i].message);
    }
}

static void must_refuse(const struct cnnvp_unit *unit, const char *expected)
{
    struct cnnvp_error error = {""};

    assert_int_equal(cnnvp_registry_check(unit, "mine", &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, expected);
}

/* Tables whose names collide, or lead nowhere. */
static void wrong_tables_are_refused(void **state)
{
    static const char *const reserved[] = {"model", "at", "irq", "connect", "clock", "idle", "speedup"};
    struct cnnvp_unit unit = *find("./abi_good.so:ping", LIBRARIES);
    const struct cnnvp_unit good = unit;
    const char *const reg = good.registers[0].name;
    struct cnnvp_param param = good.params[0];
    struct cnnvp_register registers[] = {good.registers[0], good.registers[0]};
    const struct cnnvp_stat twice[] = {good.stats[0], good.stats[0]};
    const struct cnnvp_field fields[] = {{NULL, "X", 0, 1, ""}, {reg, NULL, 0, 1, ""}, {"NONE", "X", 0, 1, ""},
                                         {reg, "X", 32, 1, ""}, {reg, "X", 0, 0, ""},  {reg, "X", 1, 32, ""}};
    char outside[64];
    const char *const said[] = {
        "mine: field 0 has no name or register",
        "mine: field 0 has no name or register",
        "mine: field X is of the unknown register NONE",
        outside,
        outside,
        outside};

    (void)state;
    registers[1].offset += 4;
    unit.params = &param;
    unit.param_count = 1;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; ++i) {
        char message[128];

        param.name = reserved[i];
        (void)snprintf(message, sizeof message,
                       "mine: a parameter is named %s, a key that every instance of a platform has", reserved[i]);
        must_refuse(&unit, message);
    }
    param = (struct cnnvp_param){"clock_mhz", CNNVP_PARAM_UINT, "MHz", "1", 0, 1000, NULL, "the clock"};
    must_refuse(&unit, "mine: parameter clock_mhz, the unit's clock, is a UINT of 1 to 1000000");
    param.min = 1;
    param.max = 1000001;
    must_refuse(&unit, "mine: parameter clock_mhz, the unit's clock, is a UINT of 1 to 1000000");
    unit = good;
    unit.stats = twice;
    unit.stat_count = 2;
    (void)snprintf(outside, sizeof outside, "mine: two statistics are named %s", twice[0].name);
    must_refuse(&unit, outside);
    unit = good;
    unit.registers = registers;
    unit.register_count = 2;
    (void)snprintf(outside, sizeof outside, "mine: two registers are named %s", reg);
    must_refuse(&unit, outside);
    unit = good;
    unit.field_count = 1;
    (void)snprintf(outside, sizeof outside, "mine: field X has bits outside the 32 of register %s", reg);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        unit.fields = &fields[i];
        must_refuse(&unit, said[i]);
    }
}

/* The parameters of ping are address, count and sum; it has no choices, so `mode` stands beside them. */
static void wrong_conditions_are_refused(void **state)
{
    static const struct cnnvp_condition wrong[] = {
        {"depth", NULL, "sum=0"},  {NULL, NULL, "sum=0"},    {"count", NULL, "depth=0"}, {"count", NULL, "count=0"},
        {"count", NULL, "sum"},    {"count", NULL, "sum!0"}, {"count", NULL, "sum=on"},  {"count", NULL, "mode=a|c"},
        {"count", "3", "mode=a"},  {"mode", "c", "sum=0"},   {"mode", "a", NULL},        {"count", NULL, "sum="},
        {"count", NULL, "sum=0|"}, {"count", NULL, ""},      {"count", NULL, "=0"},
    };
    static const struct cnnvp_condition right[] = {
        {"count", NULL, "sum=0"}, {"count", NULL, "mode!=a|b"}, {"mode", "b", "sum!=0x10"}, {"mode", NULL, NULL}};
    struct cnnvp_unit unit = *find("./abi_good.so:ping", LIBRARIES);
    struct cnnvp_param params[4];
    struct cnnvp_error error;

    (void)state;
    assert_int_equal(unit.param_count, 3);
    memcpy(params, unit.params, 3 * sizeof *params);
    params[3] = (struct cnnvp_param){"mode", CNNVP_PARAM_ENUM, "", "a", 0, 0, "a|b", "a mode"};
    unit.params = params;
    unit.param_count = 4;
    unit.conditions = right;
    unit.condition_count = sizeof right / sizeof *right;
    assert_int_equal(cnnvp_registry_check(&unit, "mine", &error), CNNVP_DONE);
    unit.condition_count = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        char message[256];

        unit.conditions = &wrong[i];
        (void)snprintf(message, sizeof message,
                       "mine: the condition \"%s\" of parameter %s is not NAME=VALUE or NAME!=VALUE of another "
                       "parameter, or is of an unknown parameter or choice",
                       wrong[i].where != NULL ? wrong[i].where : "", wrong[i].param != NULL ? wrong[i].param : "");
        must_refuse(&unit, message);
    }
    unit.conditions = NULL;
    must_refuse(&unit, "mine: a table is missing or has more than 4096 entries");
    /* A unit of 3.0 to 3.6 ends before the conditions. */
    unit.abi_minor = 6;
    unit.struct_size = offsetof(struct cnnvp_unit, conditions);
    assert_int_equal(cnnvp_registry_check(&unit, "mine", &error), CNNVP_DONE);
}

static void built_in_units_are_found(void **state)
{
    struct cnnvp_error error;
    size_t count = 0;
    int has_uart = 0;

    (void)state;
    for (const struct cnnvp_unit *unit; (unit = cnnvp_unit_at(count)) != NULL; ++count) {
        const struct cnnvp_unit *found;

        if (cnnvp_registry_check(unit, unit->kind, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        assert_int_equal(cnnvp_registry_find(unit->kind, NULL, &found, &error), CNNVP_DONE);
        assert_ptr_equal(found, unit);
        has_uart |= strcmp(unit->kind, "uart") == 0;
    }
    assert_true(has_uart);
    assert_null(cnnvp_unit_at(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_a_library_are_found), cmocka_unit_test(units_of_a_library_are_listed),
        cmocka_unit_test(wrong_libraries_are_refused),  cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(wrong_conditions_are_refused), cmocka_unit_test(built_in_units_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
