/* SPDX-License-Identifier: Apache-2.0 */
/* Records each SRAM line that the addresses of a clock touch, once, and how many lines the busiest SRAM has. See
 * nfu_beat.h. */
#include "nfu_beat.h"

#include <stdlib.h>

struct cnnvp_nfu_line {
    uint64_t sram; /* number among the SRAMs of all banks */
    uint64_t row;
    uint64_t number; /* line number in the row */
};

void cnnvp_nfu_beat_free(struct cnnvp_nfu_beat *beat)
{
    free(beat->lines);
    *beat = (struct cnnvp_nfu_beat){0};
}

static void note(struct cnnvp_nfu_beat *beat, uint64_t bank, uint64_t row, uint64_t column, uint64_t number)
{
    const uint64_t sram = bank * beat->shape.column_step + column % beat->shape.column_step;
    uint64_t of_sram = 1;
    for (uint64_t i = beat->line_count; i-- > 0;) {
        const struct cnnvp_nfu_line *line = &beat->lines[i];
        if (line->sram == sram && line->row == row && line->number == number)
            return;
        of_sram += line->sram == sram;
    }
    if (beat->line_count == beat->line_space) {
        const uint64_t space = 2u * beat->line_space + 64u;
        struct cnnvp_nfu_line *lines = realloc(beat->lines, space * sizeof *lines);
        if (lines == NULL) {
            beat->failed = true;
            return;
        }
        beat->lines = lines;
        beat->line_space = space;
    }
    beat->lines[beat->line_count++] = (struct cnnvp_nfu_line){sram, row, number};
    if (of_sram > beat->busiest)
        beat->busiest = of_sram;
}

void cnnvp_nfu_beat_map(struct cnnvp_nfu_beat *beat, uint64_t row, uint64_t column)
{
    const struct cnnvp_buffer_shape *shape = &beat->shape;
    ++beat->words;
    if (shape->banks != 0)
        note(beat, row % shape->banks, row, column, column / shape->column_step / shape->line_words);
}

void cnnvp_nfu_beat_word(struct cnnvp_nfu_beat *beat, uint64_t address)
{
    const struct cnnvp_buffer_shape *shape = &beat->shape;
    ++beat->words;
    if (shape->banks != 0) {
        const uint64_t number = address / shape->column_step / shape->line_words;
        note(beat, number % shape->banks, 0, address, number);
    }
}

void cnnvp_nfu_beat_made(struct cnnvp_nfu_beat *beat)
{
    ++beat->words;
}

void cnnvp_nfu_beat_end(struct cnnvp_nfu_beat *beat, uint64_t clocks)
{
    uint64_t taken = beat->busiest;
    if (beat->shape.width_words != 0) {
        const uint64_t crossing = (beat->words + beat->shape.width_words - 1u) / beat->shape.width_words;
        taken = crossing > taken ? crossing : taken;
    }
    beat->late += taken > clocks ? taken - clocks : 0;
    beat->words = 0;
    beat->busiest = 0;
    beat->line_count = 0;
}
