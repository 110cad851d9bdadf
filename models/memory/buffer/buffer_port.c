/* SPDX-License-Identifier: Apache-2.0 */
/* Time that the port and the banks of a half take: struct cnnvp_buffer_shape and cnnvp_buffer_clocks
 * (cnnvp_buffer.h). */
#include <string.h>

#include "buffer_internal.h"
#include "cnnvp_integer.h"

/* With more SRAMs, lines of words that are far apart are not counted one by one. */
enum { MAX_SRAMS = 1024 };

static uint64_t at_least_one(uint64_t value)
{
    return cnnvp_maximum(value, 1u);
}

/*
 * The most lines that one SRAM has to give for `columns` words of a row, from column `first` on, `step` columns apart.
 * With n SRAMs in a bank, every n / gcd(n, step)-th word is in the same SRAM; these words are step / gcd(n, step) apart
 * there.
 */
static uint64_t row_lines(const struct cnnvp_buffer_shape *shape, uint64_t first, uint64_t columns, uint64_t step)
{
    const uint64_t srams = shape->column_step;
    const uint64_t common = cnnvp_common_divisor(srams, step);
    const uint64_t apart = step / common;
    const uint64_t used = cnnvp_minimum(srams / common, columns);
    uint64_t most = 0;
    for (uint64_t i = 0; i < used; ++i) {
        const uint64_t words = (columns - i - 1u) / (srams / common) + 1u;
        const uint64_t from = (first + i * step) / srams;
        const uint64_t lines = apart >= shape->line_words
                                   ? words
                                   : (from + (words - 1u) * apart) / shape->line_words - from / shape->line_words + 1u;
        most = cnnvp_maximum(most, lines);
    }
    return most;
}

/* How many of `count` places have index `n` modulo `period`. Places `period` apart start at the same column within a
 * line. */
static uint64_t repeats(uint64_t n, uint64_t count, uint64_t period)
{
    return count / period + (n < count % period);
}

uint64_t buffer_port_cycles(const struct cnnvp_buffer_shape *shape, uint64_t words)
{
    return cnnvp_divide_up(words, shape->width_words);
}

/* The most lines that one SRAM has to give for `columns` words that are no rows of a map, from word `first` on, `step`
 * apart. Their lines go round the banks. */
static uint64_t run_lines(const struct cnnvp_buffer_shape *shape, uint64_t banks, uint64_t first, uint64_t columns,
                          uint64_t step)
{
    const uint64_t srams = shape->column_step;
    const uint64_t line = shape->line_words * srams; /* of all SRAMs of a bank together */
    uint32_t lines[MAX_SRAMS], most = 0;
    if (step % line == 0)
        return cnnvp_divide_up(columns, banks / cnnvp_common_divisor(banks, step / line));
    if (step / cnnvp_common_divisor(step, srams) < shape->line_words || banks * srams > MAX_SRAMS)
        return cnnvp_divide_up(row_lines(shape, first, columns, step), banks);
    memset(lines, 0, banks * srams * sizeof lines[0]);
    for (uint64_t i = 0; i < columns; ++i) { /* each word of an SRAM is in a line of its own */
        const uint64_t at = first + i * step;
        most = cnnvp_maximum32(most, ++lines[at / line % banks * srams + at % srams]);
    }
    return most;
}

uint64_t buffer_port_late(const struct cnnvp_buffer_shape *shape, const struct cnnvp_buffer_clocks *clocks,
                          uint32_t word_bytes, int generated)
{
    if (clocks->late != 0)
        return clocks->times * clocks->late;
    /* lines and columns count words of word_bytes; a word larger than a line takes several lines */
    const uint64_t line_bytes = 2u * shape->line_words;
    const struct cnnvp_buffer_shape words = {
        .banks = shape->banks,
        .line_words = at_least_one(line_bytes / word_bytes),
        .column_step = shape->column_step,
    };
    const uint64_t lines_of_word = cnnvp_divide_up(word_bytes, line_bytes);
    const uint64_t cycles = at_least_one(clocks->cycles);
    const uint64_t columns = at_least_one(clocks->columns);
    const uint64_t rows = at_least_one(clocks->rows);
    const uint64_t maps = at_least_one(clocks->maps);
    const uint64_t banks = at_least_one(shape->banks / maps); /* for each map */
    const uint64_t sharing = lines_of_word * cnnvp_divide_up(maps, shape->banks);
    const uint64_t apart = banks / cnnvp_common_divisor(banks, at_least_one(clocks->row_step));
    const uint64_t side = cnnvp_divide_up(rows, apart) * sharing; /* most rows in one bank */
    const uint64_t all = clocks->words != 0 ? clocks->words : maps * rows * columns;
    const uint64_t crossing = cnnvp_divide_up(all * word_bytes, 2u * shape->width_words);
    const uint64_t places = at_least_one(clocks->places);
    const uint64_t taps = at_least_one(clocks->taps);
    if (generated || (columns == 1u && cnnvp_maximum(crossing, side) <= cycles))
        return clocks->times * places * taps * (crossing > cycles ? crossing - cycles : 0);
    /* Start columns that differ by whole lines of all SRAMs of a bank take the same number of lines. */
    const uint64_t whole = words.line_words * words.column_step;
    const uint64_t place_period = whole / cnnvp_common_divisor(whole, clocks->pitch);
    const uint64_t tap_period = whole / cnnvp_common_divisor(whole, clocks->tap_pitch);
    const uint64_t step = at_least_one(clocks->column_step);
    uint64_t late = 0;
    for (uint64_t p = 0; p < cnnvp_minimum(places, place_period); ++p)
        for (uint64_t t = 0; t < cnnvp_minimum(taps, tap_period); ++t) {
            const uint64_t first = (clocks->column + p * clocks->pitch + t * clocks->tap_pitch) % whole;
            const uint64_t served = clocks->rows == 0 ? run_lines(&words, banks, first, columns, step) * sharing
                                                      : row_lines(&words, first, columns, step) * side;
            const uint64_t taken = cnnvp_maximum(crossing, served);
            late +=
                (taken > cycles ? taken - cycles : 0) * repeats(p, places, place_period) * repeats(t, taps, tap_period);
        }
    return clocks->times * late;
}
