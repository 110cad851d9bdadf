/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates of the output buffer (S000 A1 L16: initialise, accumulate, maximise) and the write-out of FX16 results.
 * Host-free. cnnvp_round_fx16 and cnnvp_wrap of cnnvp_command.h define the arithmetic.
 */
#include "buffer_internal.h"
#include "cnnvp_words.h"

#include <string.h>

#include "inference/write_out/write_out.h"

/* Sums handled at a time: 2 KiB on the stack, in the first-level cache. */
#define CHUNK 256u

static int ranges_overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
    return a < b_end && b < a_end;
}

static int finds_sums(const struct cnnvp_update *update)
{
    return update->mode != CNNVP_UPDATE_INITIALISE && !update->of_words;
}

static int uses_sums(const struct cnnvp_update *update)
{
    return update->partial || finds_sums(update) || update->passes > 1u;
}

/* 1 if writing word i never overwrites a partial sum j > i, so that one pass in order is correct. */
static int in_order_is_safe(const struct cnnvp_update *update, uint64_t out_end, uint64_t acc_end)
{
    if ((update->of_words || update->added) && uses_sums(update)) /* partial sums must not overwrite words */
        return !ranges_overlap(update->out_address, out_end, update->acc_address, acc_end);
    if (!(finds_sums(update) || update->passes > 1u) ||
        !ranges_overlap(update->out_address, out_end, update->acc_address, acc_end))
        return 1;
    /* Word (p, w) ends at out + bytes * (p * stride + w + 1); the next sum begins at acc + slot * (p * plane_words + w
     * + 1). The difference falls with w and is linear in p: the first word of the first and of the last plane decide.
     */
    for (uint64_t end = 0; end < 2; ++end) {
        const uint64_t plane = end == 0 ? 0 : update->planes - 1u;
        if (update->out_address + update->word_bytes * (plane * update->plane_stride + 1u) >
            update->acc_address + cnnvp_sum_bytes(update->acc_bits) * (plane * update->plane_words + 1u))
            return 0;
    }
    return 1;
}

static int is_addition(const struct cnnvp_update *update)
{
    const struct cnnvp_addition *addition = &update->addition;
    struct cnnvp_operand_scales scales;
    if (addition->scaled && (addition->b_shift != 0 || addition->rounding != CNNVP_ROUNDING_NEAREST ||
                             (update->operands == NULL && update->sums != NULL) ||
                             (update->operands != NULL && !cnnvp_read_operand_scales(update->operands, &scales))))
        return 0;
    return addition->shift >= -48 && addition->shift <= 63 && addition->b_shift >= -63 && addition->b_shift <= 63 &&
           addition->rounding <= CNNVP_ROUNDING_FLOOR && addition->rounding != CNNVP_ROUNDING_STOCHASTIC;
}

int buffer_update_check(const struct cnnvp_update *update, uint64_t half_bytes)
{
    if (update->planes == 0 || update->plane_words == 0 || update->mode > CNNVP_UPDATE_MAXIMISE ||
        update->acc_bits < 16u || update->acc_bits > 64u || update->rounding > CNNVP_ROUNDING_FLOOR ||
        update->shift < -48 || update->shift > 63 || update->word_bytes - 1u > 1u ||
        (update->clip && update->low > update->high) ||
        (update->scales != NULL && (update->scale_sums == 0 || update->partial)) || update->table_shift < -48 ||
        update->table_shift > 63 ||
        (update->added && (update->partial || update->of_words || (update->table != NULL && update->word_bytes == 1u) ||
                           !is_addition(update))))
        return CNNVP_E_INVAL;
    if (update->of_words && (update->of_words != 1u || update->mode != CNNVP_UPDATE_MAXIMISE || update->partial))
        return CNNVP_E_INVAL;
    /* The half has at most 2^28 bytes: with each factor checked first, no product below overflows. */
    if (update->planes > half_bytes || update->plane_words > half_bytes)
        return CNNVP_E_ADDR;
    const uint64_t sums = update->planes * update->plane_words;
    const uint64_t acc_end = update->acc_address + sums * cnnvp_sum_bytes(update->acc_bits);
    if (uses_sums(update) && acc_end > half_bytes)
        return CNNVP_E_ADDR;
    if (uses_sums(update) && update->acc_address % BUFFER_SUM_ALIGNMENT != 0)
        return CNNVP_E_ACCESS;
    if (update->partial)
        return CNNVP_OK;
    if (update->planes > 1u && update->plane_stride < update->plane_words)
        return CNNVP_E_INVAL;
    if (update->planes > 1u && update->plane_stride > half_bytes)
        return CNNVP_E_ADDR;
    const uint64_t out_words = (update->planes - 1u) * update->plane_stride + update->plane_words;
    const uint64_t out_end = update->out_address + update->word_bytes * out_words;
    if (out_end > half_bytes)
        return CNNVP_E_ADDR;
    if (update->out_address % update->word_bytes != 0)
        return CNNVP_E_ACCESS;
    return in_order_is_safe(update, out_end, acc_end) ? CNNVP_OK : CNNVP_E_INVAL;
}

/* sums[i] = wrapped combination of the arriving sums and those kept at `kept` (unaligned bytes). */
static void combine(const int64_t *arriving, const uint8_t *kept, uint64_t count, uint32_t mode, uint32_t acc_bits,
                    int64_t *sums)
{
    const uint32_t slot = cnnvp_sum_bytes(acc_bits);
    if (mode == CNNVP_UPDATE_INITIALISE) {
        memcpy(sums, arriving, count * sizeof *sums);
    } else {
        for (uint64_t i = 0; i < count; ++i)
            sums[i] = cnnvp_sum_at(kept + i * slot, slot);
        if (mode == CNNVP_UPDATE_ACCUMULATE)
            for (uint64_t i = 0; i < count; ++i)
                sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)arriving[i]);
        else
            for (uint64_t i = 0; i < count; ++i)
                sums[i] = sums[i] > arriving[i] ? sums[i] : arriving[i];
    }
    if (acc_bits < 64u) {
        const uint64_t sign = UINT64_C(1) << (acc_bits - 1u);
        const uint64_t mask = (sign << 1) - 1u;
        for (uint64_t i = 0; i < count; ++i)
            sums[i] = (int64_t)((((uint64_t)sums[i] & mask) ^ sign) - sign);
    }
}

/* words[i] = max{words[i], word i of `kept` (bytes)}. */
static void maximise_words(int16_t *words, const uint8_t *kept, uint64_t count, uint32_t word_bytes)
{
    for (uint64_t i = 0; i < count; ++i) {
        const int16_t word = cnnvp_word_at(kept + i * word_bytes, word_bytes);
        words[i] = words[i] > word ? words[i] : word;
    }
}

void buffer_update_apply(struct cnnvp_update *update, uint8_t *half)
{
    int64_t sums[CHUNK];
    int16_t words[CHUNK], before[CHUNK];
    const int keeps_sums = uses_sums(update);
    const uint32_t slot = cnnvp_sum_bytes(update->acc_bits);
    const struct cnnvp_write_out stage = {
        .shift = update->shift,
        .rounding = update->rounding,
        .seed = update->seed,
        .clips = update->clip != 0,
        .low = update->low,
        .high = update->high,
        .word_bytes = update->word_bytes,
        .zero = (int16_t)update->zero,
        .scales = update->scales,
        .scale_sums = update->scale_sums,
        .table = update->table,
        .table_shift = update->table_shift,
        .added = update->added ? before : NULL,
        .addition = update->addition,
        .operands = update->operands};
    const uint32_t mode = update->of_words ? CNNVP_UPDATE_INITIALISE : update->mode;
    update->saturated = 0;
    for (uint64_t plane = 0; plane < update->planes; ++plane)
        for (uint64_t word = 0; word < update->plane_words; word += CHUNK) {
            const uint64_t left = update->plane_words - word;
            const uint64_t count = left < CHUNK ? left : CHUNK;
            const uint64_t index = plane * update->plane_words + word;
            uint8_t *const kept = keeps_sums ? half + update->acc_address + index * slot : half;
            combine(update->sums + index, kept, count, mode, update->acc_bits, sums);
            if (update->partial) {
                for (uint64_t i = 0; i < count; ++i)
                    cnnvp_put_sum(kept + i * slot, sums[i], slot);
                continue;
            }
            uint8_t *const out =
                half + update->out_address + update->word_bytes * (plane * update->plane_stride + word);
            if (update->added)
                cnnvp_get_words(out, count, update->word_bytes, before);
            update->saturated += cnnvp_write_out(&stage, sums, count, index, words);
            if (update->of_words)
                maximise_words(words, out, count, update->word_bytes);
            cnnvp_put_words(out, words, count, update->word_bytes);
        }
}
