/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units that are asked what commands take (cnnvp_units) against the same units at work: random commands, most of them
 * legal, on random platforms.
 */

#include "test.h"

#include "isa/isa.h"
#include "units_rig.h"
#include "random.h"

static uint32_t one_in(uint64_t *random, uint32_t count)
{
    return between(random, 1, count) == 1;
}

/* ---- commands ---- */

static const struct instruction {
    const char *name;
    uint32_t opcode;
    enum isa_form form;
    uint32_t status_mask;
    enum isa_unit unit;
} instructions[] = {
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help) \
    {#mnemonic, code, ISA_FORM_##descriptor, mask, ISA_UNIT_##unit},
#include "isa/opcodes.def"
};
enum { INSTRUCTIONS = sizeof instructions / sizeof instructions[0] };

static const char *instance_of(const struct units_rig *rig, const struct instruction *instruction)
{
    return units_rig_executor(rig, cnnvp_isa_executors[instruction->unit].name,
                              cnnvp_isa_executors[cnnvp_isa_stand_in(instruction->unit)].name);
}

static void put(struct cnnvp_command *command, const void *descriptor, size_t bytes)
{
    command->count = (uint32_t)(bytes / sizeof(uint32_t));
    memcpy(command->descriptor, descriptor, bytes);
}

static uint32_t random_format(uint64_t *random)
{
    return between(random, 0, 15) | between(random, 0, 4) << 8 | between(random, 0, 2) << 16;
}

static void put_window(uint64_t *random, struct cnnvp_command *command)
{
    struct cnnvp_window window = {.in_channels = between(random, 1, 6),
                                  .out_channels = between(random, 1, 20),
                                  .out_h = between(random, 1, 20),
                                  .out_w = between(random, 1, 20)};
    const uint32_t kx = between(random, 1, 5), ky = between(random, 1, 5);
    const uint32_t sx = between(random, 1, 2), sy = between(random, 1, 2);
    const uint32_t dx = between(random, 1, 2), dy = between(random, 1, 2);
    const uint32_t rows = (window.out_h - 1u) * sy + (ky - 1u) * dy + 1u;
    const uint32_t cols = (window.out_w - 1u) * sx + (kx - 1u) * dx + 1u;
    window.in_addr = 2u * between(random, 0, 50);
    window.in_row_stride = cols + between(random, 0, 3);
    window.in_channel_stride = rows * window.in_row_stride + between(random, 0, 3);
    window.kernel = cnnvp_pack(kx, ky);
    window.stride = cnnvp_pack(sx, sy);
    window.dilation = cnnvp_pack(dx, dy);
    window.bias_addr = 2u * between(random, 0, 50);
    window.weight_addr = window.bias_addr + 2u * between(random, 0, 50);
    window.acc_addr = 16384;
    window.out_channel_stride = window.out_h * window.out_w;
    window.format = random_format(random);
    window.valid_rows = cnnvp_pack(between(random, 0, 1), rows);
    window.valid_cols = cnnvp_pack(between(random, 0, 1), cols);
    put(command, &window, sizeof window);
}

static void put_matmul(uint64_t *random, struct cnnvp_command *command)
{
    const struct cnnvp_matmul matmul = {
        .in_addr = 2u * between(random, 0, 50),
        .inputs = between(random, 1, 200),
        .outputs = between(random, 1, 60),
        .weight_addr = 2u * between(random, 0, 50),
        .acc_addr = 4096,
        .format = random_format(random)};
    put(command, &matmul, sizeof matmul);
}

static void put_vector(uint64_t *random, struct cnnvp_command *command)
{
    const uint32_t count = between(random, 1, one_in(random, 4) ? 4 : 60);
    struct cnnvp_vector vector = {
        .a_addr = 8u * between(random, 0, 50),
        .b_addr = 2u * between(random, 0, 50),
        .c_addr = 2u * between(random, 0, 50),
        .out_addr = 8192u + 2u * between(random, 0, 50),
        .count = count,
        .repeat = between(random, 1, 12),
        .a_stride = between(random, 0, 2),
        .a_repeat = one_in(random, 2) ? count : between(random, 0, 80),
        .b_stride = between(random, 0, 1),
        .b_repeat = one_in(random, 2) ? count : between(random, 0, 80),
        .c_repeat = between(random, 0, 3),
        .out_repeat = one_in(random, 2) ? count : between(random, count, 80),
        .immediate = between(random, 1, 1000),
        .format = random_format(random)};
    if (command->opcode == CNNVP_OPCODE_vsoftmax) /* its shift is -15 .. 0 */
        vector.format = (vector.format & ~0xffu) | ((0u - between(random, 0, 15)) & 0xffu);
    put(command, &vector, sizeof vector);
}

static struct cnnvp_transfer random_transfer(uint64_t *random)
{
    struct cnnvp_transfer transfer = {
        .row_bytes = 2u * between(random, 1, 100), .rows = between(random, 1, 10), .planes = between(random, 1, 4)};
    transfer.buffer_addr = 2u * between(random, 0, 50);
    transfer.buffer_row_stride = transfer.row_bytes;
    transfer.buffer_plane_stride = transfer.rows * transfer.row_bytes;
    transfer.memory_row_stride = transfer.row_bytes + 2u * between(random, 0, 20);
    transfer.memory_plane_stride = transfer.rows * transfer.memory_row_stride;
    return transfer;
}

static void put_transfer(uint64_t *random, const struct instruction *instruction, struct cnnvp_command *command)
{
    struct cnnvp_transfer transfer = random_transfer(random);
    if (strcmp(instruction->name, "move") != 0)
        transfer.memory_addr = 0x80000000u + 2u * between(random, 0, 10000);
    put(command, &transfer, sizeof transfer);
}

static struct cnnvp_command random_command(uint64_t *random, const struct instruction *instruction)
{
    struct cnnvp_command command = {
        .opcode = instruction->opcode,
        .status = between(random, 0, 255) & instruction->status_mask,
        .halves = between(random, 0, 7),
        .immediate = between(random, 0, 65535),
        .tag = between(random, 0, 3)};
    switch (instruction->form) {
    case ISA_FORM_WINDOW:
        put_window(random, &command);
        break;
    case ISA_FORM_MATMUL:
        put_matmul(random, &command);
        break;
    case ISA_FORM_VECTOR:
        put_vector(random, &command);
        break;
    case ISA_FORM_TRANSFER:
        put_transfer(random, instruction, &command);
        break;
    default:
        for (command.count = 0; command.count < CNNVP_DESCRIPTOR_MAX; ++command.count)
            command.descriptor[command.count] = between(random, 0, 20);
        break;
    }
    if (one_in(random, 20)) /* anything may stand in a register */
        command.descriptor[between(random, 0, command.count - 1u)] =
            one_in(random, 2) ? 0 : (next_bits(random) >> 1) << between(random, 0, 24);
    return command;
}

/* ---- platforms ---- */

/* Any array, or an NFU of which both depths are wanted; buffers with narrow ports, some clock. */
enum depths { ANY, FAST, STEPPED };

static cnnvp_config *random_platform(uint64_t *random, enum depths depths)
{
    static const char *const buffers[] = {"input_buffer", "weight_buffer", "output_buffer"};
    static const uint32_t clocks[] = {1000, 333, 700, 1600};
    enum { SETTINGS = 40, LENGTH = 64 };
    char texts[SETTINGS][LENGTH];
    const char *settings[SETTINGS + 1] = {NULL};
    size_t count = 0;
    static const char *const presets[] = {"nfu", "window", "systolic"};
    static const char *const dataflows[] = {"ws", "os", "is"}, *const folds[] = {"single", "double", "pipelined"};
    const uint32_t preset = depths == ANY ? between(random, 0, 2) : 0;
#define SET(...) ((void)snprintf(texts[count], LENGTH, __VA_ARGS__), settings[count] = texts[count], ++count)
    for (size_t b = 0; b < 3; ++b) {
        SET("%s.width_words=%u", buffers[b], one_in(random, 2) ? between(random, 1, 8) : 64u);
        SET("%s.size=%uKiB", buffers[b], 16u << between(random, 0, 4));
        SET("%s.pingpong=%s", buffers[b], one_in(random, 4) ? "off" : "on");
    }
    SET("pe_array.clock_mhz=%u", clocks[between(random, 0, 3)]);
    SET("dma.port_bytes=%u", 2u * between(random, 1, 32));
    SET("vector.lanes=%u", between(random, 1, 16));
    SET("vector.units=%u", between(random, 1, 4));
    SET("input_buffer.banks=%u", between(random, 1, 30));
    SET("output_buffer.banks=%u", between(random, 1, 30));
    if (preset == 1) {
        SET("pe_array.input_para=%u", between(random, 1, 9));
        SET("pe_array.output_para=%u", between(random, 1, 9));
        SET("pooling.input_para=%u", between(random, 1, 9));
        SET("fully_connected.fc_para=%u", between(random, 1, 20));
        SET("activation.fc_para=%u", between(random, 1, 20));
        SET("mean.input_para=%u", between(random, 1, 9));
    } else {
        SET("pe_array.rows=%u", between(random, 1, 12));
        SET("pe_array.cols=%u", between(random, 1, 12));
    }
    if (preset == 0)
        SET("pe_array.kernel_piece=%u", one_in(random, 2) ? 3u : 0u);
    if (preset == 2) {
        SET("pe_array.dataflow=%s", dataflows[between(random, 0, 2)]);
        SET("pe_array.folds=%s", folds[between(random, 0, 2)]);
        SET("pe_array.accumulator_size=%u", between(random, 200, 5000));
        SET("pe_array.accumulator_banks=%u", between(random, 1, 2));
    }
    if (depths == STEPPED)
        SET("pe_array.detail=cycle");
#undef SET
    return units_configure(presets[preset], settings);
}

/* ---- commands that are answered at once ---- */

static void assert_same(const struct instruction *instruction, const struct cnnvp_cost *one,
                        const struct cnnvp_cost *other)
{
    if (one->status != other->status || one->ps != other->ps)
        fail_msg("%s: asked twice, %s and %llu ps, then %s and %llu ps", instruction->name,
                 cnnvp_status_text(one->status), (unsigned long long)one->ps, cnnvp_status_text(other->status),
                 (unsigned long long)other->ps);
}

/* Asks, sends, and asks again. Returns 1 if the command is accepted. */
static int check_command(struct units_rig *rig, const struct instruction *instruction,
                         const struct cnnvp_command *command)
{
    const char *instance = instance_of(rig, instruction);
    const uint64_t mhz = rig->sim.clock_mhz;
    char reason[512];
    cnnvp_time delay;
    const struct cnnvp_cost asked = units_ask(rig, instance, command);
    snprintf(reason, sizeof reason, "%s", asked.reason);
    const int status = units_send(rig, instance, command, &delay);
    if (status != asked.status)
        fail_msg("%s: asked, it answers %s (%s), sent %s (%s)", instruction->name, cnnvp_status_text(asked.status),
                 reason, cnnvp_status_text(status), units_rig_host(rig, instance)->message);
    if (status != CNNVP_OK) {
        assert_string_not_equal(reason, "");
        assert_string_equal(reason, units_rig_host(rig, instance)->message);
        assert_int_equal(asked.ps, 0);
    } else {
        const uint64_t taken = cnnvp_delay_cycles(mhz, rig->sim.now, delay);
        if (cnnvp_delay_cycles(mhz, 0, asked.ps) != taken)
            fail_msg("%s: asked, it takes %llu cycles, sent %llu", instruction->name,
                     (unsigned long long)cnnvp_delay_cycles(mhz, 0, asked.ps), (unsigned long long)taken);
        assert_string_equal(reason, "");
        units_rig_to_edge(rig, units_rig_edge(rig) + taken);
    }
    const struct cnnvp_cost again = units_ask(rig, instance, command);
    assert_same(instruction, &asked, &again);
    return status == CNNVP_OK;
}

/* Of requests, receives and stores see below; a live takes a cycle, whatever it says. */
static int is_answered_at_once(const struct instruction *instruction)
{
    return instruction->unit != ISA_UNIT_none && strcmp(instruction->name, "request") != 0 &&
           strcmp(instruction->name, "receive") != 0 && strcmp(instruction->name, "store") != 0;
}

/* A table's length stands in its data. */
static int depends_on_data(const struct instruction *instruction)
{
    return strcmp(instruction->name, "vact") == 0;
}

static void what_is_asked_is_what_is_taken(void **state)
{
    uint64_t random = 71;
    unsigned accepted[INSTRUCTIONS] = {0};
    unsigned refused = 0;
    (void)state;
    for (unsigned platform = 0; platform < 60; ++platform) {
        struct units_rig rig;
        const int timing_only = platform % 4 != 0;
        units_rig_open(&rig, random_platform(&random, ANY), timing_only);
        for (unsigned n = 0; n < 500; ++n) {
            const size_t i = below(&random, INSTRUCTIONS);
            if (!is_answered_at_once(&instructions[i]) || (!timing_only && depends_on_data(&instructions[i])))
                continue;
            struct cnnvp_command command = random_command(&random, &instructions[i]);
            command.sequence = n + 1u;
            const int ok = check_command(&rig, &instructions[i], &command);
            accepted[i] += (unsigned)ok;
            refused += !ok;
        }
        units_rig_close(&rig);
    }
    for (size_t i = 0; i < INSTRUCTIONS; ++i)
        if (is_answered_at_once(&instructions[i]) && instructions[i].form != ISA_FORM_NONE &&
            instructions[i].form <= ISA_FORM_TRANSFER && accepted[i] < 20)
            fail_msg("%s: %u were accepted", instructions[i].name, accepted[i]);
    assert_true(refused > 500);
}

/* Whatever has been asked between: the same answers in any order. */
static void asking_changes_nothing(void **state)
{
    enum { COMMANDS = 200 };
    uint64_t random = 72;
    (void)state;
    for (unsigned platform = 0; platform < 8; ++platform) {
        struct units_rig rig;
        struct cnnvp_command commands[COMMANDS];
        const struct instruction *which[COMMANDS];
        struct cnnvp_cost first[COMMANDS];
        units_rig_open(&rig, random_platform(&random, ANY), 1);
        for (unsigned n = 0; n < COMMANDS; ++n) {
            do
                which[n] = &instructions[below(&random, INSTRUCTIONS)];
            while (which[n]->unit == ISA_UNIT_none);
            commands[n] = random_command(&random, which[n]);
            first[n] = units_ask(&rig, instance_of(&rig, which[n]), &commands[n]);
        }
        for (unsigned n = 0; n < 5u * COMMANDS; ++n) {
            const size_t i = below(&random, COMMANDS);
            const struct cnnvp_cost again = units_ask(&rig, instance_of(&rig, which[i]), &commands[i]);
            assert_same(which[i], &first[i], &again);
        }
        units_rig_close(&rig);
    }
}

/* A command stepped through the NFU takes what the closed forms say, the ports of buffers included. */
static void depths_agree(void **state)
{
    uint64_t random = 73;
    (void)state;
    for (unsigned platform = 0; platform < 40; ++platform) {
        struct units_rig rigs[2];
        uint64_t again = random;
        unsigned accepted = 0;
        units_rig_open(&rigs[0], random_platform(&again, FAST), 1);
        units_rig_open(&rigs[1], random_platform(&random, STEPPED), 1);
        for (unsigned n = 0; n < 600; ++n) {
            const struct instruction *instruction = &instructions[below(&random, INSTRUCTIONS)];
            if (!is_answered_at_once(instruction))
                continue;
            const struct cnnvp_command command = random_command(&random, instruction);
            const struct cnnvp_cost fast = units_ask(&rigs[0], instance_of(&rigs[0], instruction), &command);
            const struct cnnvp_cost stepped = units_ask(&rigs[1], instance_of(&rigs[1], instruction), &command);
            if (fast.status != stepped.status || fast.ps != stepped.ps)
                fail_msg("%s: closed forms say %llu ps, stepped it takes %llu", instruction->name,
                         (unsigned long long)fast.ps, (unsigned long long)stepped.ps);
            accepted += fast.status == CNNVP_OK;
        }
        assert_true(accepted > 10);
        units_rig_close(&rigs[0]);
        units_rig_close(&rigs[1]);
    }
}

/* A narrow port lengthens a command: the buffer's delay is in the array's answer. */
static void buffers_are_asked(void **state)
{
    static const char *const narrow[] = {
        "input_buffer.width_words=1", "weight_buffer.width_words=1", "output_buffer.width_words=1"};
    const struct cnnvp_matmul matmul = {.inputs = 64, .outputs = 64};
    struct cnnvp_command command = {.opcode = CNNVP_OPCODE_matmul};
    struct units_rig rig;
    uint64_t ps[4];
    (void)state;
    put(&command, &matmul, sizeof matmul);
    for (size_t i = 0; i < 4; ++i) {
        const char *const settings[] = {i < 3 ? narrow[i] : NULL, NULL};
        units_rig_open(&rig, units_configure("window", settings), 1);
        ps[i] = units_ask(&rig, "fully_connected", &command).ps;
        units_rig_close(&rig);
    }
    assert_true(ps[3] > 0);
    assert_true(ps[1] >= 64u * 64u * 1000u); /* all weights, one a cycle of 1 ns */
    assert_true(ps[1] > ps[3] && ps[0] >= ps[3] && ps[2] >= ps[3]);
}

/* ---- wrong questions ---- */

static void wrong_questions_are_named(void **state)
{
    struct units_rig rig;
    struct cnnvp_command command = {.opcode = CNNVP_OPCODE_conv};
    struct cnnvp_tiling tiling;
    struct cnnvp_cost cost;
    struct cnnvp_error error = {""};
    (void)state;
    units_rig_open(&rig, units_configure("nfu", NULL), 1);
    assert_int_equal(cnnvp_units_command(rig.units, "nobody", &command, &cost, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "no instance nobody"));
    assert_int_equal(cnnvp_units_command(rig.units, "input_buffer", &command, &cost, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "no instance input_buffer with a port for commands"));
    assert_int_equal(cnnvp_units_command(rig.units, "cpu", &command, &cost, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_units_tiling(rig.units, "dma", &command, &tiling, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "dma: model dma says nothing of tiles"));
    assert_int_equal(cnnvp_units_command(rig.units, "nobody", &command, &cost, NULL), CNNVP_BAD_INPUT);
    assert_int_equal(units_ask(&rig, "pe_array", &command).status, CNNVP_E_INVAL); /* no descriptor */
    units_rig_close(&rig);
    cnnvp_units_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_is_what_is_taken),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(depths_agree),
        cmocka_unit_test(buffers_are_asked),
        cmocka_unit_test(wrong_questions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
