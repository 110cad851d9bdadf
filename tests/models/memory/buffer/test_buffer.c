/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer on a host of the tests. Expected values come from arithmetic of this file's own. */
#include "buffer_case.h"
#include "random.h"

#include "cnnvp_integer.h"

static void test_halves_are_apart(void **state)
{
    struct fixture f;
    uint16_t words[4] = {1, 2, 3, 4};
    uint16_t back[4] = {0};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, HALF - 8u, 8, words, 0), CNNVP_OK);
    words[0] = 9;
    assert_int_equal(go(&f, CNNVP_WRITE, 1, HALF - 8u, 8, words, 0), CNNVP_OK);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 8u, 8, back, 0), CNNVP_OK);
    assert_int_equal(back[0], 1);
    assert_int_equal(back[3], 4);
    assert_int_equal(go(&f, CNNVP_READ, 1, HALF - 8u, 8, back, CNNVP_READ_ROTATING), CNNVP_OK);
    assert_int_equal(back[0], 9);
    assert_int_equal(fake_count(f.host, "write_words"), 8);
    assert_int_equal(fake_count(f.host, "read_sequential_words"), 4);
    assert_int_equal(fake_count(f.host, "read_rotating_words"), 4);
    assert_int_equal(fake_count(f.host, "read_bytes"), 16);
    assert_int_equal(fake_count(f.host, "written_bytes"), 16);
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 16);
    fake_reset(f.host);
    assert_int_equal(go(&f, CNNVP_READ, 1, HALF - 8u, 8, back, 0), CNNVP_OK);
    assert_int_equal(back[0] | back[3], 0);
    fake_sim_free(&f.sim);
}

static void test_ones(void **state)
{
    struct fixture f;
    uint16_t back[3] = {0};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_READ, 0, 100, 6, back, CNNVP_READ_ONES), CNNVP_OK);
    assert_int_equal(back[0] + back[1] + back[2], 3);
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .address = cnnvp_buffer_address(1, 0), .size = HALF, .mode = CNNVP_READ_ONES};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    for (uint32_t i = 0; i < HALF / 2u; ++i)
        assert_int_equal(((const int16_t *)access.data)[i], 1);
    assert_int_equal(fake_count(f.host, "read_ones_words"), 3 + HALF / 2u);
    assert_int_equal(fake_count(f.host, "read_bytes"), 0);
    /* words of 8 bits are 1, too, and those of 16 after them */
    access.word_bytes = 1;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    for (uint32_t i = 0; i < HALF; ++i)
        assert_int_equal(((const uint8_t *)access.data)[i], 1);
    assert_int_equal(go(&f, CNNVP_READ, 0, 100, 6, back, CNNVP_READ_ONES), CNNVP_OK);
    assert_int_equal(back[0] + back[1] + back[2], 3);
    fake_sim_free(&f.sim);
}

static void test_bad_accesses(void **state)
{
    struct fixture f;
    uint8_t bytes[16] = {0};
    struct cnnvp_access access = {.op = CNNVP_BORROW_READ, .size = 2};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 8u, 10, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF + 2u, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_WRITE, 1, 0x7ffffffeu, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_BORROW_WRITE, 1, 4, UINT64_MAX - 1u, NULL, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, 1, 2, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 3, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 0, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 2, bytes, 3), CNNVP_E_INVAL);
    assert_int_equal(go(&f, 17, 0, 0, 2, bytes, 0), CNNVP_E_INVAL);
    access.address = UINT64_C(1) << 32;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ADDR);
    assert_int_equal(fake_count(f.host, "refused"), 10);
    assert_int_equal(f.host->warnings, 10);
    assert_int_equal(fake_count(f.host, "read_bytes"), 0);
    fake_sim_free(&f.sim);

    open_buffer(&f, 0, 0);
    assert_int_equal(go(&f, CNNVP_READ, 1, 0, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 2u, 2, bytes, 0), CNNVP_OK);
    fake_sim_free(&f.sim);

    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "size", 1000);
    assert_int_equal(fake_start(f.host), CNNVP_E_INVAL);
    assert_int_equal(f.host->config_errors, 1);
    fake_sim_free(&f.sim);
}

/* extra = max(0, ceil(words / width) - cycles), in cycles; nothing where the initiator gives no cycles. */
static void test_port_limit(void **state)
{
    static const struct {
        uint64_t words, cycles, width, extra;
    } cases[] = {{640, 10, 64, 0}, {641, 10, 64, 1}, {1000, 10, 8, 115}, {1000, 0, 8, 0}, {64, 3, 64, 0}, {1, 1, 1, 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct fixture f;
        fake_sim_init(&f.sim, 300, 0, 0); /* 3333.3 ps a cycle: edges at 0, 3333, 6666, 10000 ps */
        f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
        fake_set(f.host, "width_words", cases[c].width);
        assert_int_equal(fake_start(f.host), CNNVP_OK);
        f.sim.now = 3333;
        struct cnnvp_access access = {
            .op = CNNVP_BORROW_READ,
            .size = 2048,
            .words = cases[c].words,
            .cycles = cases[c].cycles,
            .delay = 6667}; /* to the edge at 10000 */
        assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
        assert_int_equal(access.delay, (3u + cases[c].extra) * 1000000u / 300u - 3333u);
        assert_int_equal(fake_count(f.host, "port_conflict_cycles"), cases[c].extra);
        fake_sim_free(&f.sim);
    }
}

/* An access of one class of clocks, as the buffer's port and banks serve it: cycles that it is late. */
static uint64_t late_of(const struct cnnvp_buffer_shape *shape, const struct cnnvp_buffer_clocks *clocks,
                        uint32_t word_bytes, uint32_t mode)
{
    struct fixture f;
    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "banks", shape->banks);
    fake_set(f.host, "width_words", shape->width_words);
    fake_set(f.host, "line_words", shape->line_words);
    fake_set(f.host, "column_step", shape->column_step);
    assert_int_equal(fake_start(f.host), CNNVP_OK);
    struct cnnvp_buffer_shape said = {0};
    struct cnnvp_access asks = {
        .op = CNNVP_COMMAND, .flags = CNNVP_DEBUG, .mode = CNNVP_BUFFER_ASKS, .data = &said, .size = sizeof said};
    assert_int_equal(fake_access(f.host, "port", &asks), CNNVP_OK);
    assert_memory_equal(&said, shape, offsetof(struct cnnvp_buffer_shape, clock_mhz));
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ,
        .size = 180,
        .words = 1,
        .cycles = 1,
        .mode = mode,
        .word_bytes = word_bytes,
        .clock_count = 1,
        .clocks = clocks};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay % 1000u, 0);
    assert_int_equal(fake_count(f.host, "port_conflict_cycles"), access.delay / 1000u);
    fake_sim_free(&f.sim);
    return access.delay / 1000u;
}

/* Rows r and r + banks are in one bank; words that are read as ones are in none. */
static void test_few_banks(void **state)
{
    const struct cnnvp_buffer_shape one = {.width_words = 9, .banks = 1, .line_words = 8, .column_step = 1};
    struct cnnvp_buffer_clocks window = {.times = 10, .rows = 3, .columns = 3};
    (void)state;
    assert_int_equal(late_of(&one, &window, 2, CNNVP_READ_ROTATING), 20);
    window.column = 6; /* over the end of a line */
    assert_int_equal(late_of(&one, &window, 2, CNNVP_READ_ROTATING), 50);
    window.cycles = 4;
    assert_int_equal(late_of(&one, &window, 2, CNNVP_READ_ROTATING), 20);
    assert_int_equal(late_of(&one, &window, 2, CNNVP_READ_ONES), 0);
    window.columns = 40; /* 120 words of 9 a clock */
    assert_int_equal(late_of(&one, &window, 2, CNNVP_READ_ONES), 10 * (14 - 4));
}

/* Three rows of each of two maps, three banks a map. */
static void test_dilated_rows(void **state)
{
    static const uint32_t turns[] = {0, 1, 1, 3, 1, 1, 3};
    const struct cnnvp_buffer_shape six = {.width_words = 18, .banks = 6, .line_words = 8, .column_step = 1};
    (void)state;
    for (uint32_t step = 1; step < 7u; ++step) {
        const struct cnnvp_buffer_clocks rows = {.times = 5, .maps = 2, .rows = 3, .row_step = step};
        assert_int_equal(late_of(&six, &rows, 2, CNNVP_READ_ROTATING), 5u * (turns[step] - 1u));
    }
}

/* ---- classes of clocks, address by address ---- */

enum { MOST_WORDS = 4096 };

/* Lines of the SRAM that has the most of them; words are noted one by one. */
struct lines {
    struct {
        uint64_t sram, line;
    } noted[MOST_WORDS];
    uint32_t count;
    uint64_t most;
};

static void note(struct lines *lines, uint64_t sram, uint64_t line)
{
    uint64_t of_sram = 1;
    for (uint32_t i = 0; i < lines->count; ++i) {
        if (lines->noted[i].sram == sram && lines->noted[i].line == line)
            return;
        of_sram += lines->noted[i].sram == sram;
    }
    assert_true(lines->count < MOST_WORDS);
    lines->noted[lines->count].sram = sram;
    lines->noted[lines->count++].line = line;
    lines->most = of_sram > lines->most ? of_sram : lines->most;
}

/* Column `column` of row `row` of a map, or word `column` that is in no row; of words larger than a line each has lines
 * of its own, in one bank. */
static void note_word(struct lines *lines, const struct cnnvp_buffer_shape *shape,
                      const struct cnnvp_buffer_clocks *clocks, uint64_t map, uint64_t row, uint64_t column,
                      uint64_t word_bytes)
{
    const uint64_t each = clocks->maps <= shape->banks ? shape->banks / clocks->maps : 1u;
    const uint64_t sram = column % shape->column_step, place = column / shape->column_step;
    const uint64_t line_bytes = 2u * shape->line_words;
    const uint64_t in_line = word_bytes < line_bytes ? line_bytes / word_bytes : 1u;
    const uint64_t bank = (map * each + (clocks->rows != 0 ? row : place / in_line) % each) % shape->banks;
    for (uint64_t part = 0; part * line_bytes < word_bytes; ++part)
        note(lines, bank * shape->column_step + sram, (map << 40) + (row << 20) + (place / in_line << 4) + part);
}

static uint64_t late_by_address(const struct cnnvp_buffer_shape *shape, const struct cnnvp_buffer_clocks *clocks,
                                uint64_t word_bytes)
{
    static struct lines lines;
    const uint64_t rows = cnnvp_maximum(clocks->rows, 1u);
    const uint64_t words = clocks->words != 0 ? clocks->words : clocks->maps * rows * clocks->columns;
    const uint64_t crossing = (words * word_bytes + 2u * shape->width_words - 1u) / (2u * shape->width_words);
    uint64_t late = 0;
    for (uint64_t p = 0; p < clocks->places; ++p)
        for (uint64_t t = 0; t < clocks->taps; ++t) {
            const uint64_t first = clocks->column + p * clocks->pitch + t * clocks->tap_pitch;
            lines.count = 0;
            lines.most = 0;
            for (uint64_t map = 0; map < clocks->maps; ++map)
                for (uint64_t row = 0; row < rows; ++row)
                    for (uint64_t i = 0; i < clocks->columns; ++i)
                        note_word(&lines, shape, clocks, map, row * clocks->row_step, first + i * clocks->column_step,
                                  word_bytes);
            const uint64_t taken = cnnvp_maximum(crossing, lines.most);
            late += taken > clocks->cycles ? taken - clocks->cycles : 0;
        }
    return clocks->times * late;
}

static void test_classes(void **state)
{
    static const uint32_t sizes[] = {2, 2, 1, 4, 8}, lengths[] = {8, 4, 16, 1, 2};
    uint64_t seed = 31, late = 0;
    (void)state;
    for (uint32_t n = 0; n < 4000u; ++n) {
        const struct cnnvp_buffer_shape shape = {
            .width_words = between(&seed, 1, 60),
            .banks = between(&seed, 1, 20),
            .line_words = lengths[between(&seed, 0, 4)],
            .column_step = between(&seed, 0, 1) ? 1u : between(&seed, 1, 4)};
        struct cnnvp_buffer_clocks clocks = {
            .times = between(&seed, 1, 9),
            .column = between(&seed, 0, 40),
            .cycles = between(&seed, 1, 4),
            .maps = between(&seed, 0, 1) ? 1u : between(&seed, 1, 6),
            .rows = between(&seed, 0, 6),
            .row_step = between(&seed, 1, 4),
            .columns = between(&seed, 1, 20),
            .column_step = between(&seed, 0, 1) ? 1u : between(&seed, 1, 12),
            .places = between(&seed, 1, 40),
            .pitch = between(&seed, 0, 20),
            .taps = between(&seed, 1, 4),
            .tap_pitch = between(&seed, 0, 3),
            .words = between(&seed, 0, 3) ? 0 : between(&seed, 1, 40)};
        uint32_t word_bytes = sizes[between(&seed, 0, 4)];
        if (clocks.rows == 0 && between(&seed, 0, 1)) /* words in as many lines of all SRAMs of a bank */
            clocks.column_step =
                between(&seed, 1, 4) * cnnvp_maximum32((uint32_t)shape.line_words * 2u / word_bytes, 1u) *
                (uint32_t)shape.column_step;
        const uint64_t expected = late_by_address(&shape, &clocks, word_bytes);
        const uint64_t counted = late_of(&shape, &clocks, word_bytes, CNNVP_READ_SEQUENTIAL);
        if (expected != counted)
            fail_msg("case %u: %llu late, not %llu: width %llu, %llu banks, line %llu, step %llu; %u maps, %u rows of "
                     "step %u, %u columns of step %u from %llu, %u bytes",
                     n, (unsigned long long)counted, (unsigned long long)expected,
                     (unsigned long long)shape.width_words, (unsigned long long)shape.banks,
                     (unsigned long long)shape.line_words, (unsigned long long)shape.column_step, clocks.maps,
                     clocks.rows, clocks.row_step, clocks.columns, clocks.column_step,
                     (unsigned long long)clocks.column, word_bytes);
        late += expected != 0;
    }
    assert_in_range(late, 2000, 4000);
}

/* Members that are 0 count as 1, and what the initiator has counted itself as it is. */
static void test_defaults(void **state)
{
    const struct cnnvp_buffer_shape shape = {.width_words = 4, .banks = 2, .line_words = 8, .column_step = 1};
    const struct cnnvp_buffer_clocks word = {.times = 9}, five = {.times = 9, .columns = 5};
    const struct cnnvp_buffer_clocks own = {.times = 9, .columns = 50, .cycles = 3, .late = 2};
    (void)state;
    assert_int_equal(late_of(&shape, &word, 2, 0), 0);
    assert_int_equal(late_of(&shape, &five, 2, 0), 9);
    assert_int_equal(late_of(&shape, &own, 2, 0), 18);
}

/* Reads of calculation units wait for the latency, once; reads as ones, writes, and the DMA, do not. */
static void test_latency(void **state)
{
    struct fixture f;
    (void)state;
    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "latency", 3);
    assert_int_equal(fake_start(f.host), CNNVP_OK);
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .size = 180, .cycles = 10, .mode = cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL)};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 3000);
    access.delay = 0;
    access.mode = cnnvp_buffer_read_mode(CNNVP_READ_ONES);
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    access.mode = cnnvp_buffer_dma_mode(0);
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    access.op = CNNVP_BORROW_WRITE;
    access.mode = cnnvp_buffer_write_mode(0);
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    fake_sim_free(&f.sim);
}

/* An engine that sends every pass here: all but the last of five are kept and read back, over a port of 64 words. */
static void test_passes(void **state)
{
    static const int64_t sums[8] = {16, 32, 48, 64, 80, 96, 112, 128};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(sums, 2, 4);
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .data = &u, .size = sizeof u, .words = 8 * (4 * 3 + 1), .cycles = 3};
    u.acc_address = 64;
    u.passes = 5;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(borrow(&f, 0, 0, 16)[7], 8);
    assert_int_equal(fake_count(f.host, "write_words"), 8);
    assert_int_equal(fake_count(f.host, "partial_write_words"), 4 * 24);
    assert_int_equal(fake_count(f.host, "partial_read_words"), 4 * 24);
    assert_int_equal(fake_count(f.host, "written_bytes"), 2 * (4 * 24 + 8));
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 8 * (2 * 4 * 3 + 1));
    assert_int_equal(fake_count(f.host, "port_conflict_cycles"), 1); /* 200 words, 64 a cycle */
    u.acc_address = 69;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ACCESS);
    u.acc_address = HALF - 46u;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ADDR);
    fake_sim_free(&f.sim);
}

/* Without data every count and time is the same, and nothing is pointed to. */
static void test_timing_only(void **state)
{
    static const int64_t sums[64] = {0};
    struct fixture f[2];
    (void)state;
    for (int t = 0; t < 2; ++t) {
        open_buffer(&f[t], t, 1);
        struct cnnvp_access access = {.op = CNNVP_BORROW_READ, .size = 512, .words = 77, .cycles = 1};
        assert_int_equal(fake_access(f[t].host, "port", &access), CNNVP_OK);
        assert_int_equal(access.delay, 1000);
        assert_true((access.data == NULL) == (t == 1));
        access.mode = CNNVP_READ_ONES;
        assert_int_equal(fake_access(f[t].host, "port", &access), CNNVP_OK);
        assert_true((access.data == NULL) == (t == 1));
        struct cnnvp_update u = plain_update(t ? NULL : sums, 4, 16);
        u.partial = 1;
        assert_int_equal(update(&f[t], &u), CNNVP_OK);
        u.partial = 0;
        u.mode = CNNVP_UPDATE_MAXIMISE;
        assert_int_equal(update(&f[t], &u), CNNVP_OK);
    }
    assert_memory_equal(f[0].host->counts, f[1].host->counts, sizeof f[0].host->counts);
    assert_memory_equal(f[0].host->counter_value, f[1].host->counter_value, sizeof f[0].host->counter_value);
    fake_sim_free(&f[0].sim);
    fake_sim_free(&f[1].sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_are_apart), cmocka_unit_test(test_ones),
        cmocka_unit_test(test_bad_accesses),     cmocka_unit_test(test_port_limit),
        cmocka_unit_test(test_few_banks),        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_latency),          cmocka_unit_test(test_dilated_rows),
        cmocka_unit_test(test_classes),          cmocka_unit_test(test_passes),
        cmocka_unit_test(test_timing_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
