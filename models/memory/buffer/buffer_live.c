/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranges of a half hold live values, and how many of these are feature values (`storage` in stats.json): a list
 * of disjoint ranges, in order of writing.
 */
#include "buffer_internal.h"

static int overlaps(const struct buffer_range *range, uint64_t begin, uint64_t end)
{
    return range->begin < end && begin < range->end;
}

static void remove_range(struct buffer_live *live, uint32_t index)
{
    for (uint32_t r = index + 1u; r < live->count; ++r)
        live->ranges[r - 1u] = live->ranges[r];
    --live->count;
}

void buffer_live_drop(struct buffer_live *live, uint64_t begin, uint64_t end)
{
    for (uint32_t r = live->count; r-- > 0;)
        if (overlaps(&live->ranges[r], begin, end))
            remove_range(live, r);
}

static void append(struct buffer_live *live, const struct buffer_range *range)
{
    if (live->count == BUFFER_RANGES) {
        /* Makes room: the two newest ranges become one that spans both. */
        struct buffer_range *last = &live->ranges[BUFFER_RANGES - 2u];
        const struct buffer_range *newest = last + 1;
        last->begin = last->begin < newest->begin ? last->begin : newest->begin;
        last->end = last->end > newest->end ? last->end : newest->end;
        last->feature_words += newest->feature_words;
        last->copies &= newest->copies;
        last->reader = newest->reader;
        --live->count;
    }
    live->ranges[live->count++] = *range;
}

void buffer_live_load(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                      uint32_t word_bytes, uint32_t copies)
{
    const struct buffer_range loaded = {begin, end, feature_words, BUFFER_NO_READER, word_bytes, copies, 0};
    if (feature_words == 0)
        for (uint32_t r = 0; r < live->count; ++r)
            if (live->ranges[r].feature_words != 0 && overlaps(&live->ranges[r], begin, end))
                return; /* a border next to live values */
    buffer_live_drop(live, begin, end);
    append(live, &loaded);
}

void buffer_live_mark(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                      uint32_t word_bytes)
{
    const struct buffer_range marked = {begin, end, feature_words, BUFFER_NO_READER, word_bytes, 0, 0};
    buffer_live_drop(live, begin, end);
    if (feature_words != 0)
        append(live, &marked);
}

int buffer_live_read(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t reader)
{
    int changed = 0;
    for (uint32_t r = 0; r < live->count; ++r) {
        struct buffer_range *range = &live->ranges[r];
        if (!range->copies || range->reader == reader || !overlaps(range, begin, end))
            continue;
        range->reader = reader;
        changed = 1;
    }
    return changed;
}

int buffer_live_counts(const struct buffer_range *range, uint64_t reader)
{
    return !range->copies || range->reader == reader;
}

/* Merges `old` into `result`, which overlaps it. */
static void join(struct buffer_range *result, const struct buffer_range *old)
{
    if (old->word_bytes != result->word_bytes || old->sums != result->sums ||
        (old->begin >= result->begin && old->end <= result->end))
        return; /* `old` is replaced */
    if (result->begin >= old->begin && result->end <= old->end) {
        /* rewritten in place: the values around it are still there */
        const uint64_t words = old->feature_words > result->feature_words ? old->feature_words : result->feature_words;
        *result = *old;
        result->feature_words = words;
        return;
    }
    result->begin = old->begin < result->begin ? old->begin : result->begin;
    result->end = old->end > result->end ? old->end : result->end;
    const uint64_t room = (result->end - result->begin) / result->word_bytes;
    const uint64_t words = old->feature_words + result->feature_words;
    result->feature_words = words < room ? words : room;
}

static void add_result(struct buffer_live *live, struct buffer_range result)
{
    const uint64_t begin = result.begin, end = result.end;
    for (uint32_t r = live->count; r-- > 0;)
        if (overlaps(&live->ranges[r], begin, end)) {
            join(&result, &live->ranges[r]);
            remove_range(live, r);
        }
    /* rows written one after the other are one range */
    if (live->count != 0) {
        struct buffer_range *newest = &live->ranges[live->count - 1u];
        if (newest->end == result.begin && newest->word_bytes == result.word_bytes && newest->sums == result.sums &&
            !newest->copies) {
            newest->end = result.end;
            newest->feature_words += result.feature_words;
            return;
        }
    }
    append(live, &result);
}

void buffer_live_result(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                        uint32_t word_bytes)
{
    add_result(live, (struct buffer_range){begin, end, feature_words, BUFFER_NO_READER, word_bytes, 0, 0});
}

void buffer_live_sums(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t sums, uint32_t sum_bytes)
{
    add_result(live, (struct buffer_range){begin, end, sums, BUFFER_NO_READER, sum_bytes, 0, 1});
}

void buffer_live_leave(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words)
{
    uint64_t leaving = feature_words;
    for (uint32_t r = live->count; r-- > 0;) {
        struct buffer_range *range = &live->ranges[r];
        const int inside = range->begin >= begin && range->end <= end;
        if (range->sums) {
            remove_range(live, r);
        } else if (overlaps(range, begin, end)) {
            /* A range that extends beyond [begin, end) keeps the values that have not left. */
            const uint64_t gone = leaving < range->feature_words ? leaving : range->feature_words;
            leaving -= gone;
            range->feature_words -= gone;
            if (inside || feature_words == 0 || range->feature_words == 0)
                remove_range(live, r);
        }
    }
}
