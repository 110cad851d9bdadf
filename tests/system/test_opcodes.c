/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every opcode of the table that a unit executes, on the presets' units: it executes, or is refused for another reason
 * than one that does not exist. (Those of the instruction element: models/instruction/opcodes.)
 */
#include "test.h"

#include "cnnvp.h"
#include "cnnvp_command.h"
#include "instructions.h"

static struct cnnvp_error problem;

static const char *const presets[] = {"nfu", "window", "trainer"};

static const struct {
    const char *port, *stand_in;
} executors[] = {
    {"", ""},
#define CNNVP_EXECUTOR(unit, stand_in, help) {#unit, #stand_in},
#include "instruction/opcodes.def"
};

enum executor {
    EXECUTOR_none,
#define CNNVP_EXECUTOR(unit, stand_in, help) EXECUTOR_##unit,
#include "instruction/opcodes.def"
};

enum form {
    FORM_NONE,
#define FORM(form, name) FORM_##form,
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
};

/* Small, legal numbers. */
static void describe(struct cnnvp_command *command, enum form form)
{
    const uint32_t ones = 1u | 1u << 16;
    const struct machine_window window = {
        .in_row_stride = 1,
        .in_channel_stride = 1,
        .in_channels = 1,
        .out_channels = 1,
        .out_h = 1,
        .out_w = 1,
        .kernel = ones,
        .stride = ones,
        .dilation = ones,
        .out_channel_stride = 1,
        .valid_rows = 1u << 16,
        .valid_cols = 1u << 16};
    const struct machine_matmul matmul = {.inputs = 1, .outputs = 1};
    const struct machine_vector vector = {.count = 1, .repeat = 1, .a_stride = 1};
    const struct machine_transfer transfer = {
        .memory_addr = 0x80000000u, .row_bytes = 64, .rows = 1, .planes = 1, .feature_words = 1};
    static const size_t sizes[] = {[FORM_NONE] = 0,
#define FORM(form, name) [FORM_##form] = sizeof(struct machine_##name),
                                   CNNVP_DESCRIPTORS(FORM)
#undef FORM
    };
    const void *const bytes =
        form == FORM_WINDOW     ? (const void *)&window
        : form == FORM_MATMUL   ? (const void *)&matmul
        : form == FORM_VECTOR   ? (const void *)&vector
        : form == FORM_TRANSFER ? (const void *)&transfer
                                : NULL;
    command->count = (uint32_t)(sizes[form] / 4u);
    for (uint32_t i = 0; i < command->count; ++i)
        command->descriptor[i] = 1;
    if (bytes != NULL)
        memcpy(command->descriptor, bytes, sizes[form]);
}

/* What was said, less the number of the instruction and the opcode. */
static void ask(cnnvp_units *units, const char *instance, const struct cnnvp_command *command, char said[256])
{
    struct cnnvp_cost cost;
    if (cnnvp_units_command(units, instance, command, &cost, &problem) != CNNVP_DONE)
        fail_msg("%s", problem.text);
    const char *text = cost.status == CNNVP_OK  ? "OK"
                       : cost.reason[0] != '\0' ? cost.reason
                                                : cnnvp_status_text(cost.status);
    const char *after = strstr(text, "0x");
    snprintf(said, 256, "%.200s", after != NULL && strlen(after) > 4 ? after + 4 : text);
}

static const char *instance_of(const cnnvp_units *units, enum executor executor)
{
    const char *instance = cnnvp_units_at(units, "instruction", executors[executor].port);
    return instance != NULL ? instance : cnnvp_units_at(units, "instruction", executors[executor].stand_in);
}

static void test_every_opcode(void **state)
{
    static const struct {
        const char *mnemonic;
        uint32_t code;
        enum executor executor;
        enum form form;
    } opcodes[] = {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    {#mnemonic, (code), EXECUTOR_##unit, FORM_##descriptor},
#include "instruction/opcodes.def"
    };
    enum { COUNT = sizeof opcodes / sizeof opcodes[0], PRESETS = sizeof presets / sizeof presets[0] };
    int executed[COUNT] = {0};
    int answered[COUNT] = {0};
    (void)state;
    for (size_t p = 0; p < PRESETS; ++p) {
        cnnvp_config *config;
        cnnvp_units *units;
        assert_int_equal(cnnvp_config_new(presets[p], &config, &problem), CNNVP_DONE);
        assert_int_equal(cnnvp_config_resolve(config, &problem), CNNVP_DONE);
        assert_int_equal(cnnvp_units_new(config, &units, &problem), CNNVP_DONE);
        for (size_t i = 0; i < COUNT; ++i) {
            const char *instance =
                opcodes[i].executor != EXECUTOR_none ? instance_of(units, opcodes[i].executor) : NULL;
            if (instance == NULL)
                continue;
            struct cnnvp_command command = {.opcode = 0xff};
            char none[256];
            char said[256];
            describe(&command, opcodes[i].form);
            ask(units, instance, &command, none);
            assert_string_not_equal(none, "OK");
            command.opcode = opcodes[i].code;
            if (opcodes[i].code == OP_move) { /* from the weight buffer's first words */
                command.status = ST_move_source;
                command.descriptor[0] = 0;
            }
            ask(units, instance, &command, said);
            executed[i] |= strcmp(said, "OK") == 0;
            answered[i] |= strcmp(said, none) != 0;
        }
        cnnvp_units_free(units);
        cnnvp_config_free(config);
    }
    for (size_t i = 0; i < COUNT; ++i) {
        const int training = opcodes[i].form > FORM_TRANSFER; /* their numbers go together, see models/multi_function */
        if (opcodes[i].executor != EXECUTOR_none && !(training ? answered[i] : executed[i]))
            fail_msg("%s (0x%02x): declared, but no unit executes it", opcodes[i].mnemonic, (unsigned)opcodes[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_opcode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
