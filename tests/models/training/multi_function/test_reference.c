/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the multi-function module with any registers and status bits that it takes, against models/reference:
 * every byte of its buffers afterwards. What it refuses has changed nothing. */
#include "function_case.h"

#include "isa/isa.h"
#include "random.h"
#include "reference/reference.h"

/* Places in a half, and of entries. */
enum {
    IN = 0,
    SCALES = 0x2000,
    BLOCK = 0x2400,
    LABELS = 0x2800,
    OUT = 0x3000,
    X = 0x5000,
    MASK = 0x6000,
    POSITIONS = 0x7000,
    WEIGHTS = 0x8000,
    VELOCITIES = 0x9000,
    PARKED = 0xa000,
    SPACE = 0xc000,
    HELD_SPACE = 0x2000,
    ENTRIES = HELD_SPACE / sizeof(struct cnnvp_norm),
    CASES = 250 /* of each instruction */
};

struct judge {
    struct machine machine;
    uint64_t state;
    uint32_t images, channels, width, height;
    bool coarse;
    uint8_t *live[CNNVP_REFERENCE_BUFFERS][2];
    uint8_t before[CNNVP_REFERENCE_BUFFERS][2][SPACE], copy[CNNVP_REFERENCE_BUFFERS][2][SPACE];
    struct cnnvp_reference reference;
    uint64_t compared;
};

static uint32_t bytes_of(uint32_t buffer)
{
    return buffer == CNNVP_REFERENCE_OUTPUT ? SPACE : HELD_SPACE;
}

static uint32_t halves_of(uint32_t buffer)
{
    return buffer == CNNVP_REFERENCE_OUTPUT ? 2 : 1;
}

/* ---- what is in the buffers before ---- */

/* Of a case that is coarse few values, so that many are equal. */
static float tame_float(struct judge *j)
{
    return j->coarse ? (float)((int)below(&j->state, 9) - 4) / 2 : next_float(&j->state) * 4;
}

static float rare_float(struct judge *j)
{
    static const float rare[] = {0.0f, -0.0f, 1.0f, -1.0f, 0x1p-149f, 0x1.8p-130f, 3e38f, -INFINITY, INFINITY, NAN};
    return rare[below(&j->state, 10)];
}

static float any_float(struct judge *j)
{
    if (below(&j->state, 40) == 0)
        return rare_float(j);
    return j->coarse ? tame_float(j) : ldexpf(next_float(&j->state), (int)below(&j->state, 13) - 8);
}

static void put(uint8_t *at, float value)
{
    memcpy(at, &value, sizeof value);
}

static void fill_output(struct judge *j, uint8_t *half, int sums)
{
    for (uint32_t at = 0; at < SPACE; at += 4) {
        const uint32_t word = next_bits(&j->state) >> below(&j->state, 31);
        memcpy(half + at, &word, sizeof word);
        if (at >= OUT ? at < MASK || at >= WEIGHTS : !sums && at < SCALES)
            put(half + at, at < SCALES ? any_float(j) : tame_float(j));
    }
    for (uint32_t at = SCALES; at < BLOCK; at += 2) {
        const int16_t scale =
            (int16_t)(below(&j->state, 50) == 0 ? between(&j->state, 0, 400) : between(&j->state, 0, 30));
        const int16_t lower = (int16_t)(scale - 30);
        memcpy(half + at, &lower, sizeof lower);
    }
    for (uint32_t at = BLOCK; at < LABELS; ++at)
        half[at] = (uint8_t)(between(&j->state, 0, 12) - 8);
    for (uint32_t at = LABELS; at < OUT; at += 4) {
        const uint32_t label = below(&j->state, j->channels);
        memcpy(half + at, &label, sizeof label);
    }
}

static void fill_entries(struct judge *j)
{
    for (uint32_t i = 0; i < HELD_SPACE / sizeof(struct cnnvp_extremes); ++i) {
        const float a = tame_float(j), b = tame_float(j);
        struct cnnvp_extremes one = {fminf(a, b), fmaxf(a, b), below(&j->state, 100), below(&j->state, 100)};
        if (below(&j->state, 3) == 0)
            one = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
        memcpy(j->live[CNNVP_REFERENCE_MAX_MIN][0] + i * sizeof one, &one, sizeof one);
    }
    for (uint32_t i = 0; i < HELD_SPACE / sizeof(struct cnnvp_sums); ++i) {
        const uint32_t count = below(&j->state, 3) == 0 ? below(&j->state, 4) : between(&j->state, 2, 5000);
        const struct cnnvp_sums one = {
            .sum = (double)tame_float(j) * count,
            .squares = below(&j->state, 9) == 0 ? INFINITY : fabs((double)tame_float(j)) * count,
            .count = count,
            .nonfinite = below(&j->state, 3)};
        memcpy(j->live[CNNVP_REFERENCE_SUM][0] + i * sizeof one, &one, sizeof one);
    }
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        uint8_t *at = j->live[CNNVP_REFERENCE_NORM][0] + i * sizeof(struct cnnvp_norm);
        struct cnnvp_norm one;
        for (uint32_t k = 0; k < sizeof one; k += 4)
            put(at + k, tame_float(j));
        memcpy(&one, at, sizeof one);
        one.mean = (double)tame_float(j), one.sigma = 0.01 + fabs((double)tame_float(j));
        one.dgamma = (double)tame_float(j), one.dbeta = (double)tame_float(j);
        one.running_sigma = 0.5f + fabsf(one.running_sigma);
        if (below(&j->state, 4) == 0)
            one.extreme = NAN, one.dy_at_min = rare_float(j), one.dy_at_max = rare_float(j);
        one.count = below(&j->state, 4000), one.reserved = 0;
        memcpy(at, &one, sizeof one);
    }
    for (uint32_t buffer = CNNVP_REFERENCE_RELU; buffer <= CNNVP_REFERENCE_CLASSES; ++buffer)
        for (uint32_t at = 0; at < HELD_SPACE; ++at)
            j->live[buffer][0][at] = (uint8_t)next_bits(&j->state);
}

/* ---- commands ---- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t strides(struct judge *j)
{
    static const uint32_t some[] = {0, 1, 1u << 16, 5 | 1u << 16, 1 | 3u << 16};
    return some[below(&j->state, 5)];
}

/* Register values by name, the others are small numbers. */
static uint32_t value_of(struct judge *j, const char *name)
{
    const uint32_t plane = j->width * j->height, row = j->channels * plane, slack = below(&j->state, 3);
    const struct {
        const char *name;
        uint32_t value;
    } known[] = {
        {"in_addr", IN},
        {"address", IN + 4 * slack},
        {"in_image_stride", row + slack},
        {"in_stride", plane + slack},
        {"images", j->images},
        {"channels", j->channels},
        {"classes", j->channels},
        {"values", plane},
        {"size", j->width | j->height << 16},
        {"scale_addr", below(&j->state, 4) == 0 ? CNNVP_TILE_HELD | 0x1000 : SCALES},
        {"scale_strides", strides(j)},
        {"format", below(&j->state, 5) | (below(&j->state, 3) == 0 ? 0 : between(&j->state, 2, 24)) << 8},
        {"out_addr", below(&j->state, 4) == 0 ? IN : OUT},
        {"out_image_stride", row + slack},
        {"out_stride", plane + slack},
        {"entry", below(&j->state, 30)},
        {"norm_entry", below(&j->state, 60)},
        {"entry_strides", strides(j)},
        {"block_strides", strides(j)},
        {"map", plane + slack},
        {"epsilon", bits_of(1e-5f)},
        {"running", bits_of(below(&j->state, 3) == 0 ? 0.0f : 0.1f)},
        {"block", BLOCK},
        {"exp_addr", BLOCK + slack},
        {"mask_addr", MASK},
        {"mask_image_stride", 256},
        {"id_addr", POSITIONS},
        {"id_image_stride", 512},
        {"pool", between(&j->state, 1, 3) | between(&j->state, 1, 3) << 8 | between(&j->state, 1, 3) << 16 |
                     between(&j->state, 1, 3) << 24},
        {"seed", next_bits(&j->state)},
        {"first", below(&j->state, 300)},
        {"tensor_image_stride", row + slack},
        {"park_addr", PARKED},
        {"x_addr", X},
        {"x_image_stride", row + slack},
        {"label_addr", LABELS},
        {"factor", bits_of(0.125f)},
        {"value_addr", WEIGHTS},
        {"velocity_addr", VELOCITIES},
        {"value_stride", plane + slack},
        {"rate", bits_of(0.02f)},
        {"momentum", bits_of(0.9f)},
        {"offset", 16 * below(&j->state, 20)},
        {"bytes", 16 * between(&j->state, 1, 20)},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(name, known[i].name) == 0)
            return known[i].value;
    return slack;
}

static uint32_t make(struct judge *j, uint32_t opcode, struct cnnvp_command *command)
{
    const struct isa_opcode *op = cnnvp_isa_opcode(opcode);
    const struct isa_form_text form = cnnvp_isa_form(op);
    j->coarse = below(&j->state, 3) == 0;
    j->images = between(&j->state, 1, 3);
    j->channels = between(&j->state, 1, 4);
    j->width = between(&j->state, 1, 9);
    j->height = between(&j->state, 1, 8);
    *command = (struct cnnvp_command){
        .opcode = opcode,
        .status = next_bits(&j->state) & op->status_mask,
        .halves = next_bits(&j->state) & CNNVP_HALF_OUTPUT,
        .count = form.count};
    for (uint32_t i = 0; i < form.count; ++i)
        command->descriptor[i] = value_of(j, form.registers[i].name);
    const bool measured =
        (opcode == OP_tpost && (command->status & ST_tpost_measure) != 0) ||
        (opcode == OP_tpostback && (command->status & (ST_tpostback_measure | ST_tpostback_reduce)) != 0);
    for (uint32_t i = 0; i < form.count; ++i) /* an entry beyond those of batch norm's inputs */
        if (measured && strcmp(form.registers[i].name, "block") == 0)
            command->descriptor[i] = 80 + below(&j->state, 20);
    return form.count * (uint32_t)sizeof(uint32_t);
}

/* ---- comparison ---- */

static void keep(struct judge *j, uint8_t (*to)[2][SPACE])
{
    for (uint32_t b = CNNVP_REFERENCE_OUTPUT; b < CNNVP_REFERENCE_BUFFERS; ++b)
        for (uint32_t half = 0; half < halves_of(b); ++half)
            memcpy(to[b][half], j->live[b][half], bytes_of(b));
}

static void lend(struct judge *j)
{
    for (uint32_t b = CNNVP_REFERENCE_OUTPUT; b < CNNVP_REFERENCE_BUFFERS; ++b) {
        j->reference.buffers[b] = (struct cnnvp_reference_buffer){{j->copy[b][0]}, bytes_of(b)};
        j->reference.made[b] = (struct cnnvp_reference_buffer){{j->live[b][0]}, bytes_of(b)};
        if (halves_of(b) == 2)
            j->reference.buffers[b].halves[1] = j->copy[b][1], j->reference.made[b].halves[1] = j->live[b][1];
    }
}

/* A byte that differs is a result, and named. */
static void fail_at(struct judge *j, const struct cnnvp_command *command, uint32_t buffer, uint32_t half, uint32_t at)
{
    char instruction[128];
    cnnvp_reference_instruction(command, instruction, sizeof instruction);
    print_error("%s: byte 0x%x of half %u of buffer %u is 0x%02x, expected 0x%02x; was 0x%02x\n", instruction, at, half,
                buffer, j->live[buffer][half][at], j->copy[buffer][half][at], j->before[buffer][half][at]);
    fail();
}

static void compare(struct judge *j, const struct cnnvp_command *command)
{
    for (uint32_t b = CNNVP_REFERENCE_OUTPUT; b < CNNVP_REFERENCE_BUFFERS; ++b)
        for (uint32_t half = 0; half < halves_of(b); ++half)
            for (uint32_t at = 0; at < bytes_of(b); ++at)
                if (j->live[b][half][at] != j->copy[b][half][at])
                    fail_at(j, command, b, half, at);
}

/* What has changed lies where results are said to be. */
static void check_places(struct judge *j, const struct cnnvp_command *command)
{
    struct cnnvp_reference_results results;
    for (uint32_t index = 0; cnnvp_reference_locate(&j->reference, command, index, &results); ++index)
        for (uint64_t g = 0; g < results.groups; ++g)
            for (uint64_t o = 0; o < results.outer; ++o)
                for (uint64_t i = 0; i < results.inner; ++i) {
                    const int64_t value = (int64_t)g * results.group_stride + (int64_t)o * results.stride + (int64_t)i;
                    const int64_t at = results.base + results.bytes * value;
                    memcpy(&j->copy[results.buffer][results.half][at], &j->before[results.buffer][results.half][at],
                           results.bytes);
                }
    for (uint32_t b = CNNVP_REFERENCE_OUTPUT; b < CNNVP_REFERENCE_BUFFERS; ++b)
        for (uint32_t half = 0; half < halves_of(b); ++half)
            for (uint32_t at = 0; at < bytes_of(b); ++at)
                if (j->copy[b][half][at] != j->before[b][half][at])
                    fail_at(j, command, b, half, at);
}

static void run_case(struct judge *j, uint32_t opcode)
{
    struct cnnvp_command command;
    const uint32_t bytes = make(j, opcode, &command);
    const int sums = opcode == OP_tdecode || opcode == OP_tload || (command.status & 1) == 0; /* not .fp32 */
    fill_output(j, j->live[CNNVP_REFERENCE_OUTPUT][0], sums);
    fill_output(j, j->live[CNNVP_REFERENCE_OUTPUT][1], sums);
    fill_entries(j);
    keep(j, j->before);
    const int status = machine_try(&j->machine, opcode, command.status, command.halves, command.descriptor, bytes);
    memcpy(j->copy, j->before, sizeof j->copy);
    if (status == CNNVP_OK) {
        ++j->compared;
        assert_true(cnnvp_reference_covers(&j->reference, &command));
        assert_null(cnnvp_reference_run(&j->reference, &command));
    }
    compare(j, &command);
    if (status == CNNVP_OK)
        check_places(j, &command);
}

static void check_all(bool staged)
{
    static const enum machine_instance buffers[CNNVP_REFERENCE_BUFFERS] = {
        M_INPUT, M_WEIGHT, M_INTERMEDIATE, M_MAX_MIN, M_SUMS, M_NORMS, M_MASK, M_IDS, M_OUTPUT};
    const struct machine_options options = {.bits = 8, .staged = staged};
    struct judge *j = calloc(1, sizeof *j);
    assert_non_null(j);
    machine_begin(&j->machine, &options);
    j->reference.staged = staged;
    for (uint32_t b = CNNVP_REFERENCE_OUTPUT; b < CNNVP_REFERENCE_BUFFERS; ++b)
        for (uint32_t half = 0; half < halves_of(b); ++half)
            j->live[b][half] = machine_at(&j->machine, buffers[b], half, 0);
    lend(j);
    for (uint32_t opcode = OP_tstat; opcode <= OP_tclear; ++opcode) {
        j->compared = 0;
        for (uint32_t i = 0; i < CASES; ++i) {
            j->state = ((uint64_t)opcode << 32 | i) * 2 + staged;
            run_case(j, opcode);
        }
        assert_true(j->compared > CASES / 8);
    }
    machine_end(&j->machine);
    free(j);
}

static void test_all(void **state)
{
    (void)state;
    check_all(false);
}

static void test_positions_staged(void **state)
{
    (void)state;
    check_all(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_positions_staged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
