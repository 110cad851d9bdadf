/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NFU as a unit between real buffers, on a host without SystemC: commands, time, statistics, spans, links, and what
 * a guest can write into a descriptor.
 */
#include "array_rig.h"
#include "units.h"
#include "nfu_case.h"

#include "test.h"

static void begin(struct array_rig *rig, uint64_t mhz, int timing_only)
{
    array_rig_begin(rig, &cnnvp_unit_nfu, mhz, timing_only);
}

static void load(struct array_rig *rig, const struct nfu_case *c, struct cnnvp_command *command)
{
    array_rig_poke(rig->input, 1, 64, c->input, c->input_words);
    array_rig_poke(rig->weight, 1, 128, c->weights, c->weight_words);
    array_rig_poke(rig->weight, 1, 2, c->bias, c->bias_words);
    *command = nfu_case_command(c);
    command->status |= CLIP;
    command->descriptor[LIMITS] = 0x03e8f448u; /* -3000 to 1000 */
    command->halves = CNNVP_HALF_INPUT | CNNVP_HALF_WEIGHT | CNNVP_HALF_OUTPUT;
    command->tag = 3;
    command->sequence = 41;
    command->descriptor[IN_ADDR] = 64;
    command->descriptor[WEIGHT_ADDR] = 128;
    command->descriptor[BIAS_ADDR] = 2;
    command->descriptor[OUT_ADDR] = 256;
    command->descriptor[OUT_STRIDE] = 128;
}

static void check_c3_results(struct array_rig *rig, const struct nfu_case *c)
{
    uint64_t clipped = 0, limited = 0;
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t *word = array_rig_peek(rig->output, 1, 256u + (o * 128u + i) * 2u, 2);
            const int rounded = cnnvp_round_fx16(c->sums[o * 100u + i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped);
            assert_int_equal(*word, rounded < -3000 ? -3000 : rounded > 1000 ? 1000 : rounded);
            limited += *word != rounded;
        }
    assert_true(limited > 0 && limited < 1600);
    assert_int_equal(fake_count(rig->array, "limited_words"), 1600);
    assert_int_equal(fake_count(rig->array, "saturations"), clipped);
    assert_true(clipped > 0);
}

/* The whole path of one command, in both depths and at a clock whose edges are not whole picoseconds apart. */
static void check_c3(uint64_t detail, uint64_t mhz, int timing_only)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11;
    struct nfu_case c = nfu_case_lenet_c3();
    cnnvp_time delay = 0;
    begin(&rig, mhz, timing_only);
    fake_set(rig.array, "detail", detail);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    if (timing_only) {
        command = nfu_case_command(&c);
        command.tag = 3;
        command.sequence = 41;
        command.descriptor[OUT_STRIDE] = 128;
    } else {
        load(&rig, &c, &command);
    }
    fake_run(&rig.sim, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(array_rig_send(&rig, &command, &delay), CNNVP_OK);
    if (!timing_only)
        check_c3_results(&rig, &c);

    const uint64_t compute = 96u * 4u * 25u;
    const uint64_t words = 96u * (100u + 4u * 5u * 10u * 2u + 4u * 10u * 2u);
    const uint64_t busy = compute + 64u + 3u + 1u;
    assert_int_equal(fake_count(rig.array, "commands"), 1);
    assert_int_equal(fake_count(rig.array, "compute_cycles"), compute);
    assert_int_equal(fake_count(rig.array, "bias_cycles"), 64);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), 3);
    assert_int_equal(fake_count(rig.array, "writeout_cycles"), 1);
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), 0);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), busy);
    assert_int_equal(fake_count(rig.array, "input_words"), words);
    assert_int_equal(fake_count(rig.array, "weight_words"), compute + 64u);
    assert_int_equal(fake_count(rig.array, "output_words"), 1600);
    assert_int_equal(fake_count(rig.array, "macs"), 240000);
    assert_int_equal(fake_count(rig.input, "read_sequential_words"), words);
    assert_int_equal(fake_count(rig.weight, "read_sequential_words"), compute + 64u);
    assert_int_equal(fake_count(rig.output, "write_words"), 1600);
    assert_int_equal(delay, cnnvp_edge_time(mhz, 1001 + busy) - cnnvp_edge_time(mhz, 1001));
    assert_int_equal(rig.array->span_count, 1);
    assert_string_equal(rig.array->spans[0].name, "conv");
    assert_int_equal(rig.array->spans[0].tag, 3);
    assert_int_equal(rig.array->spans[0].flow, 41);
    assert_int_equal(rig.array->spans[0].begin, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(rig.array->spans[0].end, cnnvp_edge_time(mhz, 1001 + busy));
    assert_int_equal(rig.array->warnings, 0);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* Without limits in the write-out the command is refused, and nothing has been done. */
static void test_without_limits(void **state)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11;
    struct nfu_case c = nfu_case_lenet_c3();
    (void)state;
    begin(&rig, 1000, 0);
    fake_set(rig.array, "write_out", 0);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c, &command);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_E_NOSUP);
    assert_non_null(strstr(rig.array->message, "write_out is round"));
    assert_int_equal(fake_count(rig.array, "commands"), 0);
    assert_int_equal(fake_count(rig.output, "write_words"), 0);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

enum { TABLE_AT = 20000, TABLE_SEGMENTS = 2, TABLE_ROOM = 256 };

/* Two lines that meet at 100: x / 2, and 50 + 2 (x - 100), with 4 bits more. */
static const int16_t bent[] = {-924, 10, TABLE_SEGMENTS, 0, 8, 0, 32, -2400};

static void set_table(struct nfu_case *c, struct array_rig *rig, struct cnnvp_command *command)
{
    load(rig, c, command);
    array_rig_poke(rig->weight, 1, TABLE_AT, bent, sizeof bent / sizeof bent[0]);
    command->descriptor[FORMAT] |= 1u << CNNVP_TABLED_LSB;
    command->descriptor[VALID_ROWS] = TABLE_AT;
    command->descriptor[VALID_COLS] = TABLE_ROOM | 4u << 16;
}

/* Words within the limits go through the table, which the command loads before: 516 words, 64 in a clock. */
static void check_table(uint64_t detail)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11, clipped = 0, bends = 0;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 1000, 0);
    fake_set(rig.array, "detail", detail);
    fake_set(rig.array, "write_out", 3);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    set_table(&c, &rig, &command);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t *word = array_rig_peek(rig.output, 1, 256u + (o * 128u + i) * 2u, 2);
            int x = cnnvp_round_fx16(c.sums[o * 100u + i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped);
            x = x < -3000 ? -3000 : x > 1000 ? 1000 : x;
            const int half = x / 2 - (x < 0 && x % 2 != 0);
            assert_int_equal(*word, x >= 100 ? 2 * x - 150 : x % 2 == 0 ? half : half + (half % 2 != 0));
            bends += x >= 100;
        }
    assert_true(bends > 0 && bends < 1600);
    assert_int_equal(fake_count(rig.array, "tabled_words"), 1600);
    assert_int_equal(fake_count(rig.array, "table_words"), 2 * 1600 + 64 * 516);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), 3 + 3 + 9);
    assert_int_equal(fake_count(rig.array, "weight_words"), 9600 + 64 + 516);
    assert_int_equal(fake_count(rig.array, "bias_words"), 64 + 516);
    assert_int_equal(fake_count(rig.array, "weight_port_cycles"), 0);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), 9600 + 64 + 1 + 3 + 3 + 9);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void check_refused_table(uint64_t write_out, uint32_t room, int16_t segments, int status, const char *reason)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 1000, 0);
    fake_set(rig.array, "write_out", write_out);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    set_table(&c, &rig, &command);
    array_rig_poke(rig.weight, 1, TABLE_AT + 4, &segments, 1);
    command.descriptor[VALID_COLS] = room;
    assert_int_equal(array_rig_send(&rig, &command, NULL), status);
    assert_non_null(strstr(rig.array->message, reason));
    assert_int_equal(fake_count(rig.array, "commands"), 0);
    assert_int_equal(fake_count(rig.output, "write_words"), 0);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* In a scratchpad, a command's words have all of its cycles to cross the port. A convolution of 1x1, 4 maps of 16x16 to
 * 16, is 64 tiles of 8x8 positions: 256 clocks with 64 inputs and a weight each, then a tile's write-out of a clock, of
 * partial sums 3 clocks. At 64 words in a clock, only the weights make it longer. */
static void test_scratchpad(void **state)
{
    static const char *const ports[] = {"input", "weight", "output"};
    (void)state;
    for (uint32_t partial = 0; partial < 2; ++partial) {
        struct fake_sim sim;
        fake_sim_init(&sim, 1000, 0, 0);
        struct cnnvp_host *nfu = fake_add(&sim, &cnnvp_unit_nfu), *memory = fake_add(&sim, &cnnvp_unit_scratchpad);
        fake_set(nfu, "pipeline", 1);
        fake_set(memory, "size", 256u << 10);
        fake_set(memory, "banks", 64);
        for (unsigned b = 0; b < 3; ++b)
            fake_connect(nfu, ports[b], memory, ports[b]);
        assert_int_equal(fake_start(memory), CNNVP_OK);
        assert_int_equal(fake_start(nfu), CNNVP_OK);
        assert_int_equal(fake_write(memory, "WEIGHT_BASE", 32u << 10), CNNVP_OK);
        assert_int_equal(fake_write(memory, "OUTPUT_BASE", 64u << 10), CNNVP_OK);
        struct nfu_case c = nfu_case_window(OP_CONV, 4, 16, 16, 16, 1, 1, 1, 1);
        c.status = partial ? 4u : 0;
        c.in_row_stride = 16;
        c.in_channel_stride = 256;
        struct cnnvp_command command = nfu_case_command(&c);
        struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &command, .size = sizeof command};
        assert_int_equal(fake_access(nfu, "command", &access), CNNVP_OK);
        assert_int_equal(access.delay / 1000u, 256u + (partial ? 192u : 64u) + 256u / 64u);
        fake_sim_free(&sim);
    }
}

/* The 516 words of a table, from 2 banks of 3 SRAMs, a line of 4 words each: 24 in a clock, or 20 at a narrow port. */
static void check_table_clocks(uint64_t width, uint64_t clocks)
{
    struct array_rig rig;
    struct cnnvp_command command;
    struct nfu_case c = nfu_case_lenet_c3();
    uint64_t random = 11;
    begin(&rig, 1000, 0);
    fake_set(rig.array, "write_out", 3);
    fake_set(rig.weight, "banks", 2);
    fake_set(rig.weight, "line_words", 4);
    fake_set(rig.weight, "column_step", 3);
    fake_set(rig.weight, "width_words", width);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    set_table(&c, &rig, &command);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), 3 + 3 + clocks);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_table(void **state)
{
    (void)state;
    check_table_clocks(64, 22);
    check_table_clocks(20, 26);
    check_table(0);
    check_table(1);
    check_refused_table(2, TABLE_ROOM, TABLE_SEGMENTS, CNNVP_E_NOSUP, "neither table nor all");
    check_refused_table(3, 1, TABLE_SEGMENTS, CNNVP_E_INVAL, "more segments than the command");
    check_refused_table(3, TABLE_ROOM, 0, CNNVP_E_INVAL, "header is malformed");
    check_refused_table(3, 0, TABLE_SEGMENTS, CNNVP_E_INVAL, "1 to 256 segments");
}

/* Asks for an addition of the word and the one at its place, or the other way round: (a + 2 b) / 4 for `shift` 1,
 * (2 a + b) / 4 for -1. */
static void set_addition(struct nfu_case *c, struct array_rig *rig, struct cnnvp_command *command, uint32_t swapped,
                         int32_t shift)
{
    load(rig, c, command);
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t word = (int16_t)(97u * (100u * o + i));
            array_rig_poke(rig->output, 1, 256u + (o * 128u + i) * 2u, &word, 1);
        }
    command->descriptor[FORMAT] |= 1u << CNNVP_ADDED_LSB;
    command->descriptor[SEED] =
        2u | ((uint32_t)shift & 0xffu) << 8 | CNNVP_ROUNDING_FLOOR << 16 | swapped << CNNVP_SWAPPED_LSB;
}

/* The old words of a set of results take a clock more; two stages more fill once. The last write-out is not hidden. */
static void check_addition(uint64_t detail, uint32_t swapped, int32_t shift)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11, clipped = 0;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 1000, 0);
    fake_set(rig.array, "detail", detail);
    fake_set(rig.array, "write_out", 4);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    set_addition(&c, &rig, &command, swapped, shift);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t *word = array_rig_peek(rig.output, 1, 256u + (o * 128u + i) * 2u, 2);
            const int there = (int16_t)(97u * (100u * o + i));
            const int x = cnnvp_round_fx16(c.sums[o * 100u + i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped);
            const int twice = (shift < 0) != (swapped != 0) ? x : there;
            const int sum = x + there + twice;
            const int quarter = (sum - (((sum % 4) + 4) % 4)) / 4;
            assert_int_equal(*word, quarter < -3000 ? -3000 : quarter > 1000 ? 1000 : quarter);
        }
    assert_int_equal(fake_count(rig.array, "added_words"), 1600);
    assert_int_equal(fake_count(rig.array, "limited_words"), 1600);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), 3 + 2);
    assert_int_equal(fake_count(rig.array, "writeout_cycles"), 2);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), 9600 + 64 + 3 + 2 + 2);
    assert_int_equal(fake_count(rig.array, "output_words"), 1600);
    assert_int_equal(fake_count(rig.output, "partial_read_words"), 1600);
    assert_int_equal(fake_count(rig.output, "write_words"), 1600);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* Without the stage the command is refused, and nothing has been done. */
static void test_addition(void **state)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11;
    struct nfu_case c = nfu_case_lenet_c3();
    (void)state;
    for (uint32_t i = 0; i < 8u; ++i)
        check_addition(i & 1u, i >> 1 & 1u, i < 4u ? 1 : -1);
    begin(&rig, 1000, 0);
    fake_set(rig.array, "write_out", 3);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    set_addition(&c, &rig, &command, 0, 1);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_E_NOSUP);
    assert_non_null(strstr(rig.array->message, "neither add nor all"));
    assert_int_equal(fake_count(rig.array, "commands"), 0);
    assert_int_equal(fake_count(rig.output, "write_words"), 0);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* The sum goes through the table within the limits. Constants that scale operands are loaded with the table. */
static void check_all(uint64_t detail, uint32_t scaled)
{
    static const float steps[3] = {1, 2, 4};
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 11, clipped = 0;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 1000, 0);
    fake_set(rig.array, "detail", detail);
    fake_set(rig.array, "write_out", 5);
    fake_set(rig.array, "precision", 2);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    set_addition(&c, &rig, &command, 0, 1);
    array_rig_poke(rig.weight, 1, TABLE_AT, bent, sizeof bent / sizeof bent[0]);
    command.descriptor[FORMAT] |= 1u << CNNVP_TABLED_LSB;
    command.descriptor[VALID_ROWS] = TABLE_AT;
    command.descriptor[VALID_COLS] = TABLE_ROOM | 4u << 16;
    if (scaled) {
        array_rig_poke(rig.weight, 1, command.descriptor[BIAS_ADDR] + 16u * 2u, (const int16_t *)(const void *)steps,
                       6);
        command.descriptor[SEED] = CNNVP_ROUNDING_NEAREST << 16 | 1u << CNNVP_SCALED_LSB;
    }
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t *word = array_rig_peek(rig.output, 1, 256u + (o * 128u + i) * 2u, 2);
            int there = (int16_t)(97u * (100u * o + i));
            int x = cnnvp_round_fx16(c.sums[o * 100u + i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped);
            if (scaled) { /* operands of nine bits */
                x = x < -256 ? -256 : x > 255 ? 255 : x;
                there = there < -256 ? -256 : there > 255 ? 255 : there;
            }
            const int sum = x + 2 * there, rest = ((sum % 4) + 4) % 4;
            int y = (sum - rest) / 4;
            y += scaled && (rest == 3 || (rest == 2 && y % 2 != 0));
            y = y < -3000 ? -3000 : y > 1000 ? 1000 : y;
            const int half = y / 2 - (y < 0 && y % 2 != 0);
            assert_int_equal(*word, y >= 100 ? 2 * y - 150 : y % 2 == 0 ? half : half + (half % 2 != 0));
        }
    assert_int_equal(fake_count(rig.array, "tabled_words"), 1600);
    assert_int_equal(fake_count(rig.array, "added_words"), 1600);
    assert_int_equal(fake_count(rig.array, "scaled_words"), scaled ? 3200 : 0);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), 3 + 2 + 3 + 9 + (scaled ? 6 : 0));
    assert_int_equal(fake_count(rig.array, "bias_words"), 64 + 516 + (scaled ? 8 : 0));
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4u; ++i)
        check_all(i & 1u, i >> 1);
}

static void test_command(void **state)
{
    (void)state;
    check_c3(0, 1000, 0);
    check_c3(1, 1000, 0);
    check_c3(0, 333, 0);
    check_c3(1, 333, 0);
    check_c3(0, 1000, 1);
    check_c3(1, 1000, 1);
}

/* A narrow input buffer lengthens the command by what its port says, whichever edge of a clock it begins at whose edges
 * are not whole picoseconds apart. */
static void check_port_stall(uint64_t edge)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 12;
    struct nfu_case c = nfu_case_lenet_c3();
    cnnvp_time delay = 0;
    begin(&rig, 700, 0);
    fake_set(rig.input, "width_words", 2);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c, &command);
    fake_run(&rig.sim, cnnvp_edge_time(700, edge));
    assert_int_equal(array_rig_send(&rig, &command, &delay), CNNVP_OK);
    /* 10x10 results are tiles of 8x8, 2x8, 8x2 and 2x2, each with a load, 20 moves right and 4 moves down: words / 2
     * cycles each, which they are a whole number of. */
    const uint64_t compute = 9600u;
    const uint64_t words = 96u * 580u;
    const uint64_t busy = words / 2u + 64u + 3u + 1u;
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), words / 2u - compute);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), busy);
    assert_int_equal(delay, cnnvp_edge_time(700, edge + busy) - cnnvp_edge_time(700, edge));
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_port_stall(void **state)
{
    (void)state;
    for (uint64_t edge = 0; edge < 7; ++edge)
        check_port_stall(edge);
}

/*
 * Cycles by which the input buffer is late in a convolution from `in` to `out` maps, by what S002 has in a cycle: a
 * tile of 8x8 PEs loads 8 words of 8 rows, moves right with a word of 8 rows, moves down with 8 words of a row.
 */
struct banks_case {
    uint32_t in, out, side, k;
    uint32_t banks, width;
    uint32_t cycles; /* of the taps, the port's among them */
};

static const struct banks_case banks_cases[] = {
    {3, 8, 32, 3, 16, 64, 3456}, {3, 8, 32, 3, 8, 64, 3456},  {3, 8, 32, 3, 4, 64, 6144},   {3, 8, 32, 3, 2, 64, 11520},
    {3, 8, 32, 3, 1, 64, 22272}, {3, 8, 32, 3, 16, 32, 3840}, {3, 8, 32, 3, 16, 16, 4608},  {8, 8, 24, 5, 1, 64, 99072},
    {8, 8, 24, 5, 2, 64, 50688}, {8, 8, 24, 5, 4, 64, 26496}, {8, 8, 24, 5, 16, 64, 14400},
};

/* Cycles of a convolution or pool (out 0) with this stride and these buffers: {0} for those of the presets. */
static uint64_t taps_of(uint32_t opcode, uint32_t in, uint32_t out, uint32_t side, uint32_t k, uint32_t stride,
                        const uint64_t settings[4], uint64_t detail)
{
    static const char *const names[] = {"banks", "width_words", "line_words", "column_step"};
    struct array_rig rig;
    struct nfu_case c = nfu_case_window(opcode, in, out, side, side, k, k, stride, stride);
    struct cnnvp_command command = nfu_case_command(&c);
    begin(&rig, 1000, 1);
    fake_set(rig.array, "detail", detail);
    fake_set(rig.input, "size", 1u << 20);
    for (unsigned i = 0; i < 4u; ++i)
        if (settings[i] != 0)
            fake_set(rig.input, names[i], settings[i]);
    array_rig_start(&rig);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    const uint64_t cycles = fake_count(rig.array, "compute_cycles") + fake_count(rig.array, "input_port_cycles");
    assert_int_equal(fake_count(rig.array, "output_port_cycles"), 0);
    assert_int_equal(fake_count(rig.array, "weight_port_cycles"), 0);
    array_rig_end(&rig);
    return cycles;
}

static void test_banks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof banks_cases / sizeof banks_cases[0]; ++i)
        for (uint64_t detail = 0; detail < 2; ++detail) {
            const struct banks_case *c = &banks_cases[i];
            const uint64_t settings[] = {c->banks, c->width, 0, 0};
            assert_int_equal(taps_of(OP_CONV, c->in, c->out, c->side, c->k, 1, settings, detail), c->cycles);
        }
}

/* Eight words of a row that are two apart are in two lines. Either lines of 16 words or two SRAMs a bank cure it; the
 * latter gives eight words side by side, four of each SRAM, in one clock as well. */
static void test_strides(void **state)
{
    static const uint64_t preset[4] = {0}, wide[] = {0, 0, 16, 0}, two[] = {0, 0, 0, 2}, four[] = {0, 0, 0, 4};
    (void)state;
    for (uint64_t detail = 0; detail < 2; ++detail) {
        assert_int_equal(taps_of(OP_POOL, 4, 4, 8, 2, 2, preset, detail), 32);
        assert_int_equal(taps_of(OP_POOL, 4, 4, 8, 2, 2, wide, detail), 16);
        assert_int_equal(taps_of(OP_POOL, 4, 4, 8, 2, 2, two, detail), 16);
        /* of rows four apart two are in a bank */
        assert_int_equal(taps_of(OP_POOL, 4, 4, 8, 4, 4, two, detail), 64 * 4);
        assert_int_equal(taps_of(OP_POOL, 4, 4, 8, 4, 4, four, detail), 64 * 2);
        assert_int_equal(taps_of(OP_CONV, 1, 1, 8, 7, 2, preset, detail), 63);
        assert_int_equal(taps_of(OP_CONV, 1, 1, 8, 7, 2, two, detail), 49);
        assert_int_equal(taps_of(OP_CONV, 1, 1, 8, 3, 1, two, detail), 9);
    }
}

/* Only the rows of PEs that are active are read: of ten rows, 32 PEs high, all ten side by side. */
static void check_rows(uint64_t rows, uint64_t banks, uint64_t late, uint64_t detail)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 13;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 1000, 0);
    fake_set(rig.array, "detail", detail);
    fake_set(rig.array, "rows", rows);
    fake_set(rig.input, "width_words", 128);
    fake_set(rig.input, "banks", banks);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c, &command);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), late);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_rows(void **state)
{
    (void)state;
    for (uint64_t detail = 0; detail < 2; ++detail) {
        check_rows(5, 5, 0, detail);
        check_rows(32, 10, 0, detail);
        check_rows(32, 9, 96u * 2u * 21u, detail); /* loads and moves right of two tiles */
        check_rows(32, 5, 96u * 2u * 21u, detail);
    }
}

/* A weight port of one word: 10x10 results are four PE tiles, each with 9 weights in 9 cycles and a scale record, whose
 * four words come in one cycle of the array, for each of 2 maps. */
static void test_records(void **state)
{
    (void)state;
    for (uint64_t detail = 0; detail < 2; ++detail) {
        struct array_rig rig;
        struct nfu_case c = nfu_case_window(OP_CONV, 1, 2, 10, 10, 3, 3, 1, 1);
        struct cnnvp_command command = nfu_case_command(&c);
        command.status = SCALE;
        begin(&rig, 1000, 1);
        fake_set(rig.array, "detail", detail);
        fake_set(rig.array, "write_out", 2);
        fake_set(rig.weight, "width_words", 1);
        array_rig_start(&rig);
        assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
        assert_int_equal(fake_count(rig.array, "weight_port_cycles"), 4u * 2u * (9u + 4u) - 4u * 2u * (9u + 1u));
        array_rig_end(&rig);
    }
}

/* Partial sums over two commands, the second with bias and write-out, equal one command over all channels. */
static void test_partial(void **state)
{
    struct array_rig rig;
    struct cnnvp_command command;
    uint64_t random = 13;
    struct nfu_case c = {.opcode = OP_MATMUL, .in_channels = 100, .out_channels = 90, .format = 14u | 3u << 8};
    uint64_t clipped = 0;
    (void)state;
    begin(&rig, 1000, 0);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    c.status = 8u;
    nfu_case_expect(&c, 48);
    array_rig_poke(rig.input, 0, 0, c.input, c.input_words);
    array_rig_poke(rig.weight, 0, 0, c.weights, c.weight_words);
    array_rig_poke(rig.weight, 0, 20000, c.bias, c.bias_words);
    c.status = 4u; /* initialise, partial */
    c.in_channels = 60;
    command = nfu_case_command(&c);
    command.descriptor[M_ACC_ADDR] = 4096;
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(rig.array, "writeout_cycles"), 2u * 3u);
    assert_int_equal(fake_count(rig.array, "output_words"), 270);
    c.status = 1u | 8u; /* accumulate, bias */
    c.in_channels = 40;
    command = nfu_case_command(&c);
    command.descriptor[M_IN_ADDR] = 120;
    command.descriptor[M_WEIGHT_ADDR] = 60u * 90u * 2u;
    command.descriptor[M_BIAS_ADDR] = 20000;
    command.descriptor[M_OUT_ADDR] = 512;
    command.descriptor[M_ACC_ADDR] = 4096;
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(rig.array, "writeout_cycles"), 2u * 3u + 2u * 4u);
    for (uint32_t i = 0; i < 90u; ++i) {
        const int16_t *word = array_rig_peek(rig.output, 0, 512u + i * 2u, 2);
        assert_int_equal(*word, cnnvp_round_fx16(c.sums[i], 14, CNNVP_ROUNDING_TRUNCATE, 0, &clipped));
    }
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* One register, or the command itself, changed so that it must be refused. */
struct malformed {
    uint32_t opcode;
    uint32_t status;
    uint32_t reg;
    uint32_t value;
    int expected;
};

static const struct malformed window_faults[] = {
    {OP_CONV, 0, IN_ADDR, 0x7ffffffeu, CNNVP_E_ADDR},
    {OP_CONV, 0, ROW_STRIDE, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, 13, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, 0x100000, CNNVP_E_ADDR},
    {OP_CONV, 0, CHANNEL_STRIDE, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, CHANNEL_STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_CHANNELS, 4000, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_CHANNELS, 1000, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_H, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_W, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, KERNEL, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, DILATION, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, WEIGHT_ADDR, 0x10000, CNNVP_E_ADDR},
    {OP_CONV, 8, BIAS_ADDR, 5, CNNVP_E_INVAL},
    {OP_CONV, 8, BIAS_ADDR, 0x7ffffffeu, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_ADDR, 0x7ff0, CNNVP_E_ADDR},
    {OP_CONV, 1, ACC_ADDR, 5, CNNVP_E_INVAL},
    {OP_CONV, 1, ACC_ADDR, 0x7ff8, CNNVP_E_ADDR},
    {OP_CONV, 4, ACC_ADDR, 0xfffffff8u, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_STRIDE, 99, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_STRIDE, UINT32_MAX, CNNVP_E_ADDR},
    {OP_CONV, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_CONV, 0x48, SEED, 0, CNNVP_E_INVAL},
    {OP_CONV, 0x44, SEED, 0, CNNVP_E_INVAL},
    {OP_CONV, 0x40, BIAS_ADDR, 5, CNNVP_E_INVAL},
    {OP_POOL, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_POOL, 0x08, SEED, 0, CNNVP_E_INVAL},
    {OP_POOL, 0, VALID_ROWS, 5u | 4u << 16, CNNVP_E_INVAL},
    {OP_POOL, 0, VALID_COLS, 5u | 4u << 16, CNNVP_E_INVAL},
    {OP_POOL, 0, IN_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_STEP, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_STEP, 0x60, SEED, 0, CNNVP_E_INVAL},
    {OP_STEP, 0x100, SEED, 0, CNNVP_E_INVAL},
    {0x84, 0, SEED, 0, CNNVP_E_INVAL},
    {0, 0, SEED, 0, CNNVP_E_INVAL},
    {UINT32_MAX, UINT32_MAX, SEED, 0, CNNVP_E_INVAL},
};

static const struct malformed matmul_faults[] = {
    {OP_MATMUL, 0, M_IN_ADDR, 0x7ffffffeu, CNNVP_E_ADDR}, {OP_MATMUL, 0, M_INPUTS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_INPUTS, 40000, CNNVP_E_ADDR},        {OP_MATMUL, 0, M_OUTPUTS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_OUTPUTS, 40000, CNNVP_E_ADDR},       {OP_MATMUL, 0, M_WEIGHT_ADDR, 0xfff0, CNNVP_E_ADDR},
    {OP_MATMUL, 8, M_BIAS_ADDR, 1, CNNVP_E_INVAL},        {OP_MATMUL, 4, M_ACC_ADDR, 1, CNNVP_E_INVAL},
    {OP_MATMUL, 3, M_FORMAT, 0, CNNVP_E_INVAL},           {OP_MATMUL, 0x10, M_FORMAT, 0, CNNVP_E_INVAL},
};

static void check_refused(struct array_rig *rig, struct cnnvp_command *command, int expected, uint64_t *rejected)
{
    const uint32_t warnings = rig->array->warnings;
    cnnvp_time delay = 1;
    const int status = array_rig_send(rig, command, &delay);
    if (status != expected)
        print_error("opcode %02x status %02x: answered %d, expected %d, after \"%s\"\n", command->opcode,
                    command->status, status, expected, rig->array->message);
    assert_int_equal(status, expected);
    assert_int_equal(delay, 0);
    assert_int_equal(rig->array->warnings, warnings + 1u);
    assert_int_equal(fake_count(rig->array, "rejected"), ++*rejected);
    assert_int_equal(fake_count(rig->array, "commands"), 0);
    assert_int_equal(fake_count(rig->output, "write_words"), 0);
}

static void test_malformed(void **state)
{
    struct array_rig rig;
    uint64_t random = 14;
    struct nfu_case window = nfu_case_lenet_c3();
    struct nfu_case matmul = {.opcode = OP_MATMUL, .in_channels = 64, .out_channels = 10};
    uint64_t rejected = 0;
    (void)state;
    begin(&rig, 1000, 0);
    array_rig_start(&rig);
    nfu_case_data(&window, &random);
    nfu_case_data(&matmul, &random);
    for (size_t i = 0; i < sizeof window_faults / sizeof window_faults[0]; ++i) {
        const struct malformed *fault = &window_faults[i];
        struct cnnvp_command command = nfu_case_command(&window);
        command.opcode = fault->opcode;
        command.status = fault->status;
        command.descriptor[fault->reg] = fault->value;
        check_refused(&rig, &command, fault->expected, &rejected);
    }
    for (size_t i = 0; i < sizeof matmul_faults / sizeof matmul_faults[0]; ++i) {
        const struct malformed *fault = &matmul_faults[i];
        struct cnnvp_command command = nfu_case_command(&matmul);
        command.status = fault->status;
        command.descriptor[fault->reg] = fault->value;
        check_refused(&rig, &command, fault->expected, &rejected);
    }
    struct cnnvp_command command = nfu_case_command(&matmul);
    command.count = 8;
    check_refused(&rig, &command, CNNVP_E_INVAL, &rejected);
    command = nfu_case_command(&window);
    command.count = 9;
    check_refused(&rig, &command, CNNVP_E_INVAL, &rejected);
    nfu_case_free(&window);
    nfu_case_free(&matmul);
    array_rig_end(&rig);
}

/* Sizes that are possible one by one but together take years. */
static void test_endless(void **state)
{
    struct array_rig rig;
    const struct nfu_case c = nfu_case_window(OP_CONV, 1024, 1, 100, 100, 1000, 1000, 1, 1);
    uint64_t rejected = 0;
    (void)state;
    begin(&rig, 1000, 0);
    fake_set(rig.array, "rows", 1);
    fake_set(rig.array, "cols", 1);
    array_rig_start(&rig);
    struct cnnvp_command command = nfu_case_command(&c);
    check_refused(&rig, &command, CNNVP_E_INVAL, &rejected);
    assert_non_null(strstr(rig.array->message, "2^40 cycles"));
    array_rig_end(&rig);
}

static void test_port_misuse(void **state)
{
    struct array_rig rig;
    struct cnnvp_command command = {0};
    (void)state;
    begin(&rig, 1000, 0);
    array_rig_start(&rig);
    struct cnnvp_access access = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    assert_int_equal(fake_access(rig.array, "command", &access), CNNVP_E_ACCESS);
    access.op = CNNVP_COMMAND;
    access.size = 4;
    assert_int_equal(fake_access(rig.array, "command", &access), CNNVP_E_INVAL);
    access.size = sizeof command;
    access.data = NULL;
    assert_int_equal(fake_access(rig.array, "command", &access), CNNVP_E_INVAL);
    array_rig_end(&rig);
}

/* Reads as 1: the bias layer of S000, whose weights then are the biases. */
static void test_ones(void **state)
{
    struct array_rig rig;
    const int16_t weights[] = {100, -200, 300};
    struct nfu_case c = nfu_case_window(OP_CONV, 1, 3, 4, 4, 1, 1, 1, 1);
    c.status = 0x10u;
    (void)state;
    begin(&rig, 1000, 0);
    array_rig_start(&rig);
    array_rig_poke(rig.weight, 0, 0, weights, 3);
    struct cnnvp_command command = nfu_case_command(&c);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    const int16_t *out = array_rig_peek(rig.output, 0, 0, 96);
    for (uint32_t i = 0; i < 48u; ++i)
        assert_int_equal(out[i], weights[i / 16u]);
    assert_int_equal(fake_count(rig.input, "read_ones_words"), 48);
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),    cmocka_unit_test(test_table),      cmocka_unit_test(test_addition),
        cmocka_unit_test(test_all),        cmocka_unit_test(test_scratchpad), cmocka_unit_test(test_without_limits),
        cmocka_unit_test(test_port_stall), cmocka_unit_test(test_rows),       cmocka_unit_test(test_banks),
        cmocka_unit_test(test_strides),    cmocka_unit_test(test_records),    cmocka_unit_test(test_partial),
        cmocka_unit_test(test_ones),       cmocka_unit_test(test_malformed),  cmocka_unit_test(test_port_misuse),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
