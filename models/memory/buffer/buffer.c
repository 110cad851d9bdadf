/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On-chip buffer: input, weight and output buffer of the accelerators.
 *
 * Modelled
 * - S000: sequential and rotating reads and reads as 1 (A1 L14, A4 L8; Part B 0-8, 0-9), the output buffer's update
 *   modes initialise, accumulate and maximise (A1 L16). S003's input and output buffer elements (c1), and its on-chip
 *   storage element: partial sums live in the output buffer itself (Part B 3-4).
 * - Two halves (S001 C2 ping-pong). The instruction element's scoreboard decides who may use which half when. Each half
 *   has SRAMs of its own, so DMA and array never wait for each other inside the buffer.
 * - The port, `width_words` 16-bit words a clock, and the banks, whose SRAMs give one line a clock each. Both are
 *   charged for each class of clocks of an access: S000's rotating rows and S001's zones are banks of a map
 *   (cnnvp_buffer.h).
 * - Live feature values for `storage` in the statistics.
 * Not modelled: the bank of a word that is not in a row of a map (words are consecutive in the simulator's memory);
 * that two units which read one half of the weight buffer, weights and a table, wait for each other at its port; ECC,
 * power-down.
 */
#include "buffer_internal.h"
#include "unit/parts.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_DEF "memory/buffer/buffer.def"
#include "unit/unit_enums.inc"

/* Bit 31 of an address selects the half; higher bits are 0. */
#define WINDOW BUFFER_WINDOW
#define HALF_BIT (UINT64_C(1) << 31)
#define STORAGE_ALIGNMENT 64u

/* ---- helpers ---- */

static void count(struct buffer *buffer, uint32_t stat, const struct cnnvp_access *access, uint64_t n)
{
    if (n != 0)
        buffer->ops->count(buffer->host, stat, access->tag, n);
}

static int refuse(struct buffer *buffer, const struct cnnvp_access *access, int status, const char *why)
{
    if (!(access->flags & CNNVP_DEBUG)) {
        count(buffer, STAT_refused, access, 1);
        buffer->ops->log(
            buffer->host, CNNVP_LOG_WARNING, "access at 0x%llx, %llu bytes, refused: %s (a half has %llu bytes)",
            (unsigned long long)access->address, (unsigned long long)access->size, why,
            (unsigned long long)buffer->half_bytes);
    }
    return status;
}

/* First byte of a port's region in a half. */
static uint64_t region_begin(const struct buffer *buffer, uint32_t port)
{
    return port != 0 ? buffer->bases[port - 1u] : 0;
}

static uint64_t region_bytes(const struct buffer *buffer, uint32_t port)
{
    const uint64_t begin = region_begin(buffer, port);
    const uint64_t next = port + 1u < buffer->region_count ? buffer->bases[port] : 0;
    const uint64_t end = next != 0 ? cnnvp_minimum(next, buffer->half_bytes) : buffer->half_bytes;
    return end > begin ? end - begin : 0;
}

/* Clocks by which the port and the banks are late, including the latency of a read. */
static uint64_t lateness(const struct buffer *buffer, const struct cnnvp_access *access, uint64_t words,
                         uint64_t latency)
{
    if (access->cycles == 0 || (access->flags & CNNVP_UNTIMED))
        return 0;
    const uint64_t needed = buffer_port_cycles(&buffer->shape, words);
    if (access->clock_count == 0)
        return latency + (needed > access->cycles ? needed - access->cycles : 0);
    const int generated = access->op != CNNVP_COMMAND && (access->mode & CNNVP_BUFFER_READ_MODE) == CNNVP_READ_ONES &&
                          (access->op == CNNVP_READ || access->op == CNNVP_BORROW_READ);
    const uint32_t word_bytes = access->word_bytes != 0 ? access->word_bytes : 2u;
    uint64_t late = latency;
    for (uint32_t i = 0; i < access->clock_count; ++i)
        late += buffer_port_late(&buffer->shape, &access->clocks[i], word_bytes, generated);
    return late;
}

/* Regions share the port. The accesses of a command together are late by the time that all their words take to cross it
 * beyond the command's cycles, or by what one access is late by itself, if that is more. Each access is charged what it
 * adds. */
static uint64_t share_port(struct buffer *buffer, const struct cnnvp_access *access, uint64_t words, uint64_t late)
{
    struct buffer_command *command = &buffer->command;
    const cnnvp_time now = buffer->ops->now(buffer->host);
    if (command->at != now || command->flow != access->flow)
        *command = (struct buffer_command){.at = now, .flow = access->flow};
    command->cycles = cnnvp_maximum(command->cycles, access->cycles);
    command->words += words;
    const uint64_t crossing = buffer_port_cycles(&buffer->shape, command->words);
    const uint64_t beyond = crossing > command->cycles ? crossing - command->cycles : 0;
    const uint64_t before = command->late;
    command->late = cnnvp_maximum(cnnvp_maximum(before, late), beyond);
    return command->late - before;
}

static void charge_port(struct buffer *buffer, struct cnnvp_access *access, uint64_t words, uint64_t latency)
{
    count(buffer, access->mode & CNNVP_BUFFER_DMA_SIDE ? STAT_dma_port_words : STAT_calculation_port_words, access,
          words);
    uint64_t extra = lateness(buffer, access, words, latency);
    const int is_timed = access->cycles != 0 && !(access->flags & CNNVP_UNTIMED);
    if (buffer->region_count > 1u && is_timed && !(access->mode & CNNVP_BUFFER_DMA_SIDE))
        extra = share_port(buffer, access, words, extra);
    if (extra == 0)
        return;
    count(buffer, STAT_port_conflict_cycles, access, extra);
    /* delay is a whole number of cycles; add `extra` more from the clock edge at now + delay. */
    const cnnvp_time from = buffer->ops->now(buffer->host) + access->delay;
    const uint64_t edge = cnnvp_edge_at_or_after(buffer->clock_mhz, from);
    access->delay += cnnvp_edge_time(buffer->clock_mhz, edge + extra) - from;
}

static void report_live(struct buffer *buffer)
{
    uint64_t occupied = 0;
    uint64_t words = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < buffer->region_count * buffer->halves; ++i) {
        const struct buffer_region *region = &buffer->regions[i / buffer->halves];
        const struct buffer_live *live = &region->live[i % buffer->halves];
        for (uint32_t r = 0; r < live->count; ++r) {
            const struct buffer_range *range = &live->ranges[r];
            occupied += range->end - range->begin;
            if (!buffer_live_counts(range, region->reader))
                continue;
            words += range->feature_words;
            bytes += range->feature_words * range->word_bytes;
        }
    }
    const cnnvp_time now = buffer->ops->now(buffer->host);
    buffer->ops->counter(buffer->host, COUNTER_occupancy, now, occupied);
    buffer->ops->counter(buffer->host, COUNTER_feature_words, now, words);
    buffer->ops->counter(buffer->host, COUNTER_feature_bytes, now, bytes);
}

/* Copies of values in memory are live while the newest instruction reads them. Records the reader, and reports if that
 * changes what is live. */
static void note_reader(struct buffer *buffer, struct buffer_region *region, const struct cnnvp_access *access,
                        uint32_t half, uint64_t offset)
{
    int changed = 0;
    if (region->reader != access->flow)
        for (uint32_t h = 0; h < buffer->halves; ++h)
            for (uint32_t r = 0; r < region->live[h].count; ++r)
                changed |= region->live[h].ranges[r].copies && region->live[h].ranges[r].reader == region->reader;
    region->reader = access->flow;
    changed |= buffer_live_read(&region->live[half], offset, offset + access->size, access->flow);
    if (changed)
        report_live(buffer);
}

static void count_read(struct buffer *buffer, const struct cnnvp_access *access, uint64_t words)
{
    static const uint32_t by_mode[] = {
        [CNNVP_READ_SEQUENTIAL] = STAT_read_sequential_words,
        [CNNVP_READ_ROTATING] = STAT_read_rotating_words,
        [CNNVP_READ_ONES] = STAT_read_ones_words,
    };
    const uint32_t mode = access->mode & CNNVP_BUFFER_READ_MODE;
    if (access->mode & CNNVP_BUFFER_DMA_SIDE)
        count(buffer, STAT_dma_read_words, access, words);
    else
        count(buffer, by_mode[mode], access, words);
    if (mode != CNNVP_READ_ONES)
        count(buffer, STAT_read_bytes, access, 2u * words);
}

static void count_write(struct buffer *buffer, const struct cnnvp_access *access, uint64_t words)
{
    count(buffer, access->mode & CNNVP_BUFFER_DMA_SIDE ? STAT_dma_write_words : STAT_write_words, access, words);
    count(buffer, STAT_written_bytes, access, 2u * words);
}

/* ---- accesses ---- */

static uint8_t *region_storage(const struct buffer *buffer, uint32_t port, uint32_t half)
{
    return buffer->storage + half * buffer->half_bytes + region_begin(buffer, port);
}

/* Checks mode, alignment and range of a tile access. */
static int check_tile(struct buffer *buffer, uint32_t port, const struct cnnvp_access *access, uint32_t *half,
                      uint64_t *offset)
{
    const uint64_t bytes = region_bytes(buffer, port);
    if ((access->mode & CNNVP_BUFFER_READ_MODE) > CNNVP_READ_ONES)
        return refuse(buffer, access, CNNVP_E_INVAL, "no such mode");
    *half = access->address & HALF_BIT ? 1u : 0u;
    *offset = access->address & (HALF_BIT - 1u);
    if (access->address >= WINDOW || *half >= buffer->halves)
        return refuse(buffer, access, CNNVP_E_ADDR, "there is no such half");
    if (*offset > bytes || access->size > bytes - *offset)
        return refuse(buffer, access, CNNVP_E_ADDR,
                      bytes < buffer->half_bytes ? "it leaves the region" : "it leaves the half");
    if (access->size == 0 || (access->word_bytes != 1u && (access->size % 2u != 0 || *offset % 2u != 0)))
        return refuse(buffer, access, CNNVP_E_ACCESS, "words have 2 bytes");
    return CNNVP_OK;
}

/* Number of 16-bit words that the words of an access fill. */
static uint64_t words_of(const struct cnnvp_access *access)
{
    if (access->words == 0)
        return (access->size + 1u) / 2u;
    return access->word_bytes == 0 ? access->words : (access->words * access->word_bytes + 1u) / 2u;
}

static int read_as_ones(struct buffer *buffer, struct cnnvp_access *access)
{
    const uint32_t word_bytes = access->word_bytes != 0 ? access->word_bytes : 2u;
    if (buffer->ones == NULL && !buffer->timing_only) {
        buffer->ones = malloc(buffer->half_bytes);
        if (buffer->ones == NULL)
            return CNNVP_E_NOMEM;
        buffer->ones_bytes = 0;
    }
    if (buffer->ones != NULL && buffer->ones_bytes != word_bytes) {
        for (uint64_t i = 0; i < buffer->half_bytes; ++i)
            buffer->ones[i] = i % word_bytes == 0;
        buffer->ones_bytes = word_bytes;
    }
    if (access->op == CNNVP_BORROW_READ)
        access->data = buffer->ones;
    else if (access->data != NULL && buffer->ones != NULL)
        memcpy(access->data, buffer->ones, access->size);
    return CNNVP_OK;
}

static int tile_access(struct buffer *buffer, uint32_t port, struct cnnvp_access *access)
{
    struct buffer_region *const region = &buffer->regions[port];
    uint32_t half;
    uint64_t offset;
    int status = check_tile(buffer, port, access, &half, &offset);
    if (status != CNNVP_OK)
        return status;
    const int is_read = access->op == CNNVP_READ || access->op == CNNVP_BORROW_READ;
    const uint32_t mode = is_read ? access->mode & CNNVP_BUFFER_READ_MODE : CNNVP_READ_SEQUENTIAL;
    const uint32_t kind = is_read ? CNNVP_BUFFER_VALUES : access->mode & CNNVP_BUFFER_WRITE_KIND;
    const uint64_t feature_words = access->mode >> CNNVP_BUFFER_FEATURE_SHIFT;
    if (kind == CNNVP_BUFFER_MARK) {
        if (access->flags & CNNVP_DEBUG)
            return CNNVP_OK;
        buffer_live_mark(&region->live[half], offset, offset + access->size, feature_words,
                         access->word_bytes == 0 ? 2u : access->word_bytes);
        report_live(buffer);
        return CNNVP_OK;
    }
    uint8_t *const bytes = buffer->timing_only ? NULL : region_storage(buffer, port, half) + offset;
    if (mode == CNNVP_READ_ONES)
        status = read_as_ones(buffer, access);
    else if (access->op == CNNVP_BORROW_READ || access->op == CNNVP_BORROW_WRITE)
        access->data = bytes;
    else if (access->data != NULL && bytes != NULL && access->op == CNNVP_READ)
        memcpy(access->data, bytes, access->size);
    else if (access->data != NULL && bytes != NULL)
        memcpy(bytes, access->data, access->size);
    if (status != CNNVP_OK || (access->flags & CNNVP_DEBUG))
        return status;

    const uint64_t words = words_of(access);
    const uint32_t word_bytes = access->word_bytes == 0 ? 2u : access->word_bytes < 4u ? access->word_bytes : 4u;
    if (is_read) {
        count_read(buffer, access, words);
        if (!(access->mode & CNNVP_BUFFER_DMA_SIDE))
            note_reader(buffer, region, access, half, offset);
    } else {
        count_write(buffer, access, words);
        if (access->mode & CNNVP_BUFFER_DMA_SIDE)
            buffer_live_load(&region->live[half], offset, offset + access->size, feature_words, word_bytes,
                             kind == CNNVP_BUFFER_COPIES);
        else
            buffer_live_result(&region->live[half], offset, offset + access->size, feature_words, word_bytes);
        report_live(buffer);
    }
    if (is_read && (access->mode & CNNVP_BUFFER_DMA_SIDE)) {
        buffer_live_leave(&region->live[half], offset, offset + access->size, feature_words);
        report_live(buffer);
    }
    /* ones do not come from the SRAM */
    const int waits = is_read && !(access->mode & CNNVP_BUFFER_DMA_SIDE) && mode != CNNVP_READ_ONES;
    charge_port(buffer, access, words, waits ? buffer->latency : 0);
    return CNNVP_OK;
}

static void account_update(struct buffer *buffer, struct buffer_region *region, struct cnnvp_access *access,
                           const struct cnnvp_update *update)
{
    static const uint32_t by_mode[] = {
        [CNNVP_UPDATE_INITIALISE] = STAT_updates_initialise,
        [CNNVP_UPDATE_ACCUMULATE] = STAT_updates_accumulate,
        [CNNVP_UPDATE_MAXIMISE] = STAT_updates_maximise,
    };
    const uint64_t sums = update->planes * update->plane_words;
    const uint32_t slot = cnnvp_sum_bytes(update->acc_bits);
    const uint64_t slot_words = sums * slot / 2u;
    const uint64_t result_words = (sums * update->word_bytes + 1u) / 2u;
    struct buffer_live *live = &region->live[update->half];
    const uint64_t acc_end = update->acc_address + sums * slot;
    /* Words of partial sums that were written, and read back, before the last pass. */
    const uint64_t kept_words = update->passes > 1u ? slot_words * (update->passes - 1u) : 0;
    count(buffer, STAT_partial_write_words, access, kept_words);
    count(buffer, STAT_written_bytes, access, 2u * kept_words);
    count(buffer, STAT_partial_read_words, access, kept_words);
    count(buffer, STAT_read_bytes, access, 2u * kept_words);
    count(buffer, by_mode[update->mode], access, sums);
    uint64_t found_words = 0;
    if (update->mode != CNNVP_UPDATE_INITIALISE && !update->of_words) {
        found_words = slot_words;
        buffer_live_drop(live, update->acc_address, acc_end);
    }
    found_words += update->of_words || update->added ? result_words : 0;
    count(buffer, STAT_partial_read_words, access, found_words);
    count(buffer, STAT_read_bytes, access, 2u * found_words);
    if (update->partial) {
        count(buffer, STAT_partial_write_words, access, slot_words);
        count(buffer, STAT_written_bytes, access, 2u * slot_words);
        buffer_live_sums(live, update->acc_address, acc_end, sums, slot);
    } else {
        const uint64_t out_words = (update->planes - 1u) * update->plane_stride + update->plane_words;
        count_write(buffer, access, result_words);
        buffer_live_result(live, update->out_address, update->out_address + update->word_bytes * out_words, sums,
                           update->word_bytes);
    }
    report_live(buffer);
    const uint64_t last_words = update->partial ? slot_words : result_words;
    const uint64_t written_words = access->words != 0 ? words_of(access) : last_words + kept_words;
    charge_port(buffer, access, written_words + kept_words + found_words, 0);
}

static int tell_shape(struct buffer *buffer, struct cnnvp_access *access)
{
    if (access->data == NULL || access->size < offsetof(struct cnnvp_buffer_shape, shared))
        return CNNVP_E_INVAL;
    buffer->shape.clock_mhz = buffer->clock_mhz;
    memcpy(access->data, &buffer->shape, cnnvp_minimum(access->size, sizeof buffer->shape));
    return CNNVP_OK;
}

static int update_access(struct buffer *buffer, uint32_t port, struct cnnvp_access *access)
{
    struct cnnvp_update *said = access->data;
    if (said == NULL || access->size < offsetof(struct cnnvp_update, clip))
        return refuse(buffer, access, CNNVP_E_INVAL, "a command carries a struct cnnvp_update");
    struct cnnvp_update update = {0};
    memcpy(&update, said, cnnvp_minimum(access->size, sizeof update));
    update.word_bytes = update.word_bytes != 0 ? update.word_bytes : 2u;
    if (update.half >= buffer->halves)
        return refuse(buffer, access, CNNVP_E_ADDR, "there is no such half");
    const int status = buffer_update_check(&update, region_bytes(buffer, port));
    if (status != CNNVP_OK)
        return refuse(buffer, access, status,
                      status == CNNVP_E_ADDR     ? "the update leaves the half, or its region"
                      : status == CNNVP_E_ACCESS ? "results are aligned to their bytes, partial sums to 2"
                                                 : "the update is malformed, or results overwrite partial sums");
    said->saturated = 0;
    if (access->flags & CNNVP_DEBUG)
        return CNNVP_OK;
    if (!buffer->timing_only) {
        if (update.sums == NULL)
            return refuse(buffer, access, CNNVP_E_INVAL, "the update has no sums");
        buffer_update_apply(&update, region_storage(buffer, port, update.half));
        said->saturated = update.saturated;
    }
    account_update(buffer, &buffer->regions[port], access, &update);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

int buffer_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct buffer *buffer = self;
    switch (access->op) {
    case CNNVP_READ:
    case CNNVP_WRITE:
    case CNNVP_BORROW_READ:
    case CNNVP_BORROW_WRITE:
        return tile_access(buffer, port, access);
    case CNNVP_COMMAND:
        return (access->flags & CNNVP_DEBUG) && access->mode == CNNVP_BUFFER_ASKS
                   ? tell_shape(buffer, access)
                   : update_access(buffer, port, access);
    default:
        return refuse(buffer, access, CNNVP_E_INVAL, "no such operation");
    }
}

int buffer_init(void *self, const struct cnnvp_init *init)
{
    struct buffer *buffer = self;
    buffer->region_count = cnnvp_maximum32(buffer->region_count, 1u);
    buffer->host = init->host;
    buffer->ops = init->ops;
    const uint64_t size = init->ops->param(init->host, PARAM_size);
    if (size % 16u != 0)
        return init->ops->config_error(
            init->host, PARAM_size, "size must be a multiple of 16 bytes, %llu is not", (unsigned long long)size);
    buffer->halves = init->ops->param(init->host, PARAM_pingpong) ? 2u : 1u;
    buffer->half_bytes = size / buffer->halves;
    buffer->shape = (struct cnnvp_buffer_shape){
        .width_words = init->ops->param(init->host, PARAM_width_words),
        .banks = init->ops->param(init->host, PARAM_banks),
        .line_words = init->ops->param(init->host, PARAM_line_words),
        .column_step = init->ops->param(init->host, PARAM_column_step),
        .shared = buffer->region_count > 1u,
    };
    buffer->latency = init->ops->param(init->host, PARAM_latency);
    buffer->timing_only = init->ops->timing_only(init->host);
    if (!buffer->timing_only) {
        const size_t whole = (size_t)(size + STORAGE_ALIGNMENT - 1u) / STORAGE_ALIGNMENT * STORAGE_ALIGNMENT;
        buffer->storage = aligned_alloc(STORAGE_ALIGNMENT, whole);
        if (buffer->storage == NULL)
            return CNNVP_E_NOMEM;
    }
    return CNNVP_OK;
}

void buffer_fini(void *self)
{
    struct buffer *buffer = self;
    free(buffer->storage);
    free(buffer->ones);
}

/* An SRAM's contents are undefined after reset; the model clears them so that all runs are equal. */
void buffer_reset(void *self)
{
    struct buffer *buffer = self;
    buffer->clock_mhz = buffer->ops->clock_mhz(buffer->host);
    if (buffer->storage != NULL)
        memset(buffer->storage, 0, (size_t)(buffer->half_bytes * buffer->halves));
    memset(buffer->regions, 0, sizeof buffer->regions);
    for (uint32_t i = 0; i < BUFFER_REGIONS; ++i)
        buffer->regions[i].reader = BUFFER_NO_READER - 1u;
    report_live(buffer);
}

void buffer_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t halves = params[PARAM_pingpong] ? 2u : 1u;
    const uint64_t line_bytes = 2u * params[PARAM_line_words];
    const uint64_t possible = cnnvp_maximum(params[PARAM_size] / halves / line_bytes, 1u);
    const uint64_t srams = cnnvp_minimum(params[PARAM_banks] * params[PARAM_column_step], possible);
    cnnvp_say_sram(costs, (uint32_t)(8u * line_bytes), params[PARAM_size] / halves / srams, halves * srams, "banks");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, params[PARAM_width_words], "words at the port");
}

/* Shows the ranges that hold something, oldest first. */
void buffer_show(void *self, const struct cnnvp_show *show)
{
    const struct buffer *buffer = self;
    for (uint32_t i = 0; i < buffer->region_count * buffer->halves; ++i) {
        const struct buffer_live *live = &buffer->regions[i / buffer->halves].live[i % buffer->halves];
        const uint64_t base = region_begin(buffer, i / buffer->halves);
        for (uint32_t r = 0; r < live->count; ++r) {
            const struct buffer_range *range = &live->ranges[r];
            const uint64_t begin = base + range->begin, end = base + range->end;
            show->line(show->context, "half %u: 0x%06llx..0x%06llx %8llu bytes, %llu %s of %u bytes",
                       i % buffer->halves, (unsigned long long)begin, (unsigned long long)end - 1u,
                       (unsigned long long)(end - begin), (unsigned long long)range->feature_words,
                       range->sums     ? "partial sums"
                       : range->copies ? "copies of feature values"
                                       : "feature values",
                       range->word_bytes);
        }
    }
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_buffer = {
    UNIT_TABLES,
    .kind = "buffer",
    .version = "1.0",
    .summary = "on-chip buffer with ping-pong halves, rotating reads and updates of partial sums",
    .instance_size = sizeof(struct buffer),
    .init = buffer_init,
    .fini = buffer_fini,
    .reset = buffer_reset,
    .access = buffer_access,
    .costs = buffer_costs,
    .show = buffer_show,
};
