/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every opcode of the table that a unit executes, on the presets' units: it executes. And every field of their
 * descriptors: a value out of its bounds is refused by its name. (Those of the instruction element:
 * models/control/instruction/opcodes.)
 */
#include "test.h"

#include "cnnvp.h"
#include "cnnvp_bfp.h"
#include "cnnvp_command.h"
#include "isa/isa.h"
#include "instructions.h"

static struct cnnvp_error problem;

static const char *const presets[] = {"nfu", "window", "trainer"};

/* Each form, and its registers, each followed by its fields. */
static const struct field {
    enum isa_form form;
    const char *reg, *name, *when;
    int64_t minimum, maximum;
    uint32_t lsb, width, multiple;
} fields[] = {
#define CNNVP_BITS(name_, lsb_, width_, minimum_, maximum_, multiple_, when_) \
    {.name = #name_,                                                          \
     .when = #when_,                                                          \
     .minimum = (minimum_),                                                   \
     .maximum = (maximum_),                                                   \
     .lsb = (lsb_),                                                           \
     .width = (width_),                                                       \
     .multiple = (multiple_)},
#define REGISTER(name_, help, fields_) {.reg = #name_}, fields_
#define FORM(form_, name_) {.form = ISA_FORM_##form_}, CNNVP_DESCRIPTOR_##form_(REGISTER)
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static size_t first_of(enum isa_form form)
{
    size_t at = 0;
    while (fields[at].form != form)
        ++at;
    return at + 1u;
}

static void put(uint32_t *word, const struct field *field, int64_t value)
{
    const uint32_t mask = UINT32_MAX >> (32u - field->width) << field->lsb;
    *word = (*word & ~mask) | ((uint32_t)value << field->lsb & mask);
}

/* The smallest legal numbers. */
static void describe(struct cnnvp_command *command, enum isa_form form)
{
    command->count = 0;
    if (form == ISA_FORM_NONE)
        return;
    for (size_t at = first_of(form); at < FIELDS && fields[at].form == ISA_FORM_NONE; ++at)
        if (fields[at].reg != NULL)
            command->descriptor[command->count++] = 0;
        else
            put(&command->descriptor[command->count - 1u], &fields[at],
                fields[at].minimum > 0 ? fields[at].minimum : 0);
    if (form == ISA_FORM_TRANSFER) {
        const struct machine_transfer transfer = {
            .memory_addr = 0x80000000u, .row_bytes = 64, .rows = 1, .planes = 1, .feature_words = 1};
        memcpy(command->descriptor, &transfer, sizeof transfer);
    }
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

static const char *instance_of(const cnnvp_units *units, enum isa_unit unit)
{
    if (unit == ISA_UNIT_none)
        return NULL;
    const char *instance = cnnvp_units_at(units, "instruction", cnnvp_isa_executors[unit].name);
    return instance != NULL ? instance
                            : cnnvp_units_at(units, "instruction", cnnvp_isa_executors[cnnvp_isa_stand_in(unit)].name);
}

static void on_presets(void (*look)(cnnvp_units *units, const char *instance, uint32_t code))
{
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; ++p) {
        cnnvp_config *config;
        cnnvp_units *units;
        assert_int_equal(cnnvp_config_new(presets[p], &config, &problem), CNNVP_DONE);
        assert_int_equal(cnnvp_config_resolve(config, &problem), CNNVP_DONE);
        assert_int_equal(cnnvp_units_new(config, &units, &problem), CNNVP_DONE);
        for (uint32_t code = 0; code < 256u; ++code) {
            const struct isa_opcode *opcode = cnnvp_isa_opcode(code);
            const char *instance = opcode != NULL ? instance_of(units, opcode->unit) : NULL;
            if (instance != NULL)
                look(units, instance, code);
        }
        cnnvp_units_free(units);
        cnnvp_config_free(config);
    }
}

static int executed[256];

static void look_at_opcode(cnnvp_units *units, const char *instance, uint32_t code)
{
    struct cnnvp_command command = {.opcode = 0xff};
    char said[256];
    describe(&command, cnnvp_isa_opcode(code)->form);
    ask(units, instance, &command, said);
    assert_string_not_equal(said, "OK");
    command.opcode = code;
    if (command.opcode == OP_move) { /* from the weight buffer's first words */
        command.status = ST_move_source;
        command.descriptor[0] = 0;
    }
    if (command.opcode == OP_tclear)
        command.status = ST_tclear_buffer; /* whose entries have any size */
    ask(units, instance, &command, said);
    executed[code] |= strcmp(said, "OK") == 0;
}

static void test_every_opcode(void **state)
{
    (void)state;
    on_presets(look_at_opcode);
    for (uint32_t code = 0; code < 256u; ++code) {
        const struct isa_opcode *opcode = cnnvp_isa_opcode(code);
        if (opcode != NULL && opcode->unit != ISA_UNIT_none && !executed[code])
            fail_msg("%s (0x%02x): declared, but no unit executes it", opcode->mnemonic, (unsigned)code);
    }
}

enum { BELOW, ABOVE, BETWEEN, WRONGS };
static int refused[FIELDS][WRONGS];

/* A value that the field can hold and must not. */
static int wrong_value(const struct field *field, int wrong, int64_t *value)
{
    const int64_t least = field->minimum < 0 ? -(INT64_C(1) << (field->width - 1u)) : 0;
    *value = wrong == BELOW   ? field->minimum - 1
             : wrong == ABOVE ? field->maximum + 1
                              : field->minimum + field->multiple / 2u;
    return wrong == BETWEEN ? field->multiple > 1u : *value >= least && *value < least + (INT64_C(1) << field->width);
}

/* 1 if the command with the value is refused for it. */
static int is_refused(cnnvp_units *units, const char *instance, const struct cnnvp_command *good, const char *reg,
                      uint32_t at, const struct field *field, int64_t value)
{
    struct cnnvp_command command = *good;
    char said[256], why[64];
    put(&command.descriptor[at], field, value);
    ask(units, instance, &command, said);
    snprintf(why, sizeof why, "%s%s%s is %lld: it must be", reg, field->width < 32u ? "." : "",
             field->width < 32u ? field->name : "", (long long)value);
    return strstr(said, why) != NULL;
}

/* Bounds that hold for all commands are looked for in those of the first status that is accepted, others in all of
 * them. */
static void look_at_fields(cnnvp_units *units, const char *instance, uint32_t code)
{
    const struct isa_opcode *opcode = cnnvp_isa_opcode(code);
    int first = 1;
    for (uint32_t status = 0; status < 256u && opcode->form != ISA_FORM_NONE; ++status) {
        struct cnnvp_command good = {.opcode = code, .status = status};
        char said[256];
        const char *reg = NULL;
        uint32_t at = UINT32_MAX;
        describe(&good, opcode->form);
        ask(units, instance, &good, said);
        if ((status & ~opcode->status_mask) != 0 || strcmp(said, "OK") != 0)
            continue;
        for (size_t f = first_of(opcode->form); f < FIELDS && fields[f].form == ISA_FORM_NONE; ++f) {
            if (fields[f].reg != NULL) {
                reg = fields[f].reg;
                ++at;
                continue;
            }
            for (int wrong = 0; wrong < WRONGS; ++wrong) {
                const int always = strcmp(fields[f].when, "ALWAYS") == 0;
                int64_t value;
                if (!wrong_value(&fields[f], wrong, &value) || (always ? !first : refused[f][wrong]))
                    continue;
                const int now = is_refused(units, instance, &good, reg, at, &fields[f], value);
                refused[f][wrong] |= now;
                if (always && !now)
                    fail_msg("%s: %s.%s may be %lld", opcode->mnemonic, reg, fields[f].name, (long long)value);
            }
        }
        first = 0;
    }
}

static void test_every_field(void **state)
{
    int64_t value;
    const char *reg = NULL;
    (void)state;
    on_presets(look_at_fields);
    for (size_t f = 0; f < FIELDS; ++f) {
        reg = fields[f].reg != NULL ? fields[f].reg : reg;
        for (int wrong = 0; fields[f].name != NULL && wrong < WRONGS; ++wrong)
            if (wrong_value(&fields[f], wrong, &value) && !refused[f][wrong])
                fail_msg("%s.%s may be %lld", reg, fields[f].name, (long long)value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_opcode), cmocka_unit_test(test_every_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
