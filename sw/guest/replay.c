/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <stddef.h>

#include "pipeline.h"

static int same_words(const void *left, const void *right, size_t bytes)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    for (size_t i = 0; i < bytes / sizeof(uint32_t); ++i)
        if (a[i] != b[i])
            return 0;
    return 1;
}

/* ---- seeds ---- */

/* 0 stays 0: no stochastic rounding. */
static uint32_t next_seed(uint32_t seed, uint32_t images)
{
    return seed == 0 ? 0 : seed + images * CNNVP_IMAGE_SEED;
}

#define CHAIN_SEED(layer)                                                                                              \
    (CNNVP_BASE_CHAIN + ((layer) * sizeof(struct cnnvp_chain_set) + offsetof(struct cnnvp_chain_set, window.seed)) /   \
                            sizeof(uint32_t))

static const uint8_t seed_registers[] = {
    CNNVP_BASE_WINDOW + offsetof(struct cnnvp_window, seed) / sizeof(uint32_t),
    CNNVP_BASE_MATMUL + offsetof(struct cnnvp_matmul, seed) / sizeof(uint32_t),
    CNNVP_BASE_VECTOR + offsetof(struct cnnvp_vector, seed) / sizeof(uint32_t),
    CHAIN_SEED(0), CHAIN_SEED(1), CHAIN_SEED(2),
};
#define SEED_REGISTERS (sizeof(seed_registers) / sizeof(seed_registers[0]))

static int is_seed(uint32_t number)
{
    for (size_t i = 0; i < SEED_REGISTERS; ++i)
        if (number == seed_registers[i])
            return 1;
    return 0;
}

static int sets_seed(const struct cnnvp_word *word)
{
    return word->high >> 24 == (uint32_t)CNNVP_OPCODE_set && is_seed(word->high >> 8 & 0xffu) && word->low != 0;
}

/* ---- the state around an image ---- */

/* Epilogues are compared by what they will push, but for what moves on with the image. */
static int same_epilogue(struct cnnvp_epilogue after, struct cnnvp_epilogue before)
{
    const struct cnnvp_image_layer *a = after.layer;
    const struct cnnvp_image_layer *b = before.layer;
    after.layer = before.layer = NULL;
    after.memory_address = before.memory_address = 0;
    before.seed = next_seed(before.seed, 1);
    return a == b && same_words(&after, &before, sizeof(after));
}

static int same_state(const struct cnnvp_guest_state *after, const struct cnnvp_guest_state *before)
{
    if (after->waiting_count != before->waiting_count || after->tag != before->tag ||
        after->chain_weights != before->chain_weights ||
        !same_words(after->weight, before->weight, sizeof(after->weight)))
        return 0;
    for (uint32_t i = 0; i < after->waiting_count; ++i)
        if (!same_epilogue(after->waiting[i], before->waiting[i]))
            return 0;
    return 1;
}

static void get_state(const struct cnnvp_guest *guest, struct cnnvp_guest_state *state)
{
    state->waiting_count = guest->waiting_count;
    state->chain_weights = guest->chain_weights;
    state->tag = guest->element.tag;
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        state->weight[half] = guest->weight[half];
    for (uint32_t i = 0; i < CNNVP_EPILOGUES; ++i)
        state->waiting[i] = guest->waiting[i];
}

void cnnvp_replay_begin(struct cnnvp_guest *guest)
{
    struct cnnvp_recording *recording = &guest->replay.recording;
    get_state(guest, &guest->replay.before);
    recording->count = recording->patch_count = recording->use_count = 0;
    recording->overflow = recording->has_seeds = 0;
    for (uint32_t i = 0; i < sizeof(recording->used) / sizeof(recording->used[0]); ++i)
        recording->used[i] = 0;
    guest->element.recording = recording;
}

void cnnvp_replay_seed(struct cnnvp_guest *guest, uint32_t seed)
{
    struct cnnvp_recording *recording = guest->element.recording;
    if (recording == NULL)
        return;
    recording->has_seeds = 1;
    if (seed == 0) /* like no seed at all, which others are not in other images */
        recording->overflow = 1;
}

/* ---- from the image that was recorded to the next one ---- */

/* The next image wants the same values one after the other, so its words differ only where a register is used first:
 * there it holds what this image has left. Keeps the uses that this makes needless, or needed. */
static void fit_first_uses(struct cnnvp_recording *recording, const uint32_t *held)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recording->use_count; ++i) {
        const struct cnnvp_first_use *use = &recording->uses[i];
        const uint32_t wanted = is_seed(use->number) ? next_seed(use->wanted, 1) : use->wanted;
        if (use->is_set != (held[use->number] != wanted))
            recording->uses[kept++] = *use;
    }
    recording->use_count = kept;
}

int cnnvp_replay_end(struct cnnvp_guest *guest)
{
    struct cnnvp_recording *recording = &guest->replay.recording;
    struct cnnvp_guest_state after;
    get_state(guest, &after);
    guest->element.recording = NULL;
    if (recording->overflow || guest->element.failed != 0 || !same_state(&after, &guest->replay.before))
        return 0;
    fit_first_uses(recording, guest->element.value);
    return 1;
}

/* ---- replay ---- */

/* Moves the seeds on. 0: one becomes 0. */
static int move_seeds(struct cnnvp_recording *recording)
{
    for (uint32_t i = 0; i < recording->count; ++i) {
        struct cnnvp_word *word = &recording->words[i];
        if (!sets_seed(word))
            continue;
        word->low = next_seed(word->low, 1);
        if (word->low == 0)
            return 0;
    }
    for (uint32_t i = 0; i < recording->use_count; ++i) {
        struct cnnvp_first_use *use = &recording->uses[i];
        if (!is_seed(use->number) || use->wanted == 0)
            continue;
        use->wanted = next_seed(use->wanted, 1);
        if (use->wanted == 0)
            return 0;
    }
    return 1;
}

/* What was recorded, without words that are needless and with those that were not needed. Uses are in the order of
 * words. */
static void push_recorded(struct cnnvp_guest *guest, const struct cnnvp_recording *recording)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < recording->use_count; ++i) {
        const struct cnnvp_first_use *use = &recording->uses[i];
        cnnvp_element_push(&guest->element, recording->words + begin, use->word - begin);
        begin = use->word + use->is_set;
        if (!use->is_set) {
            const struct cnnvp_word set = {(uint32_t)CNNVP_OPCODE_set << 24 | use->number << 8, use->wanted};
            cnnvp_element_push(&guest->element, &set, 1);
        }
    }
    cnnvp_element_push(&guest->element, recording->words + begin, recording->count - begin);
}

int cnnvp_replay_image(struct cnnvp_guest *guest)
{
    struct cnnvp_recording *recording = &guest->replay.recording;
    if (recording->has_seeds && !move_seeds(recording))
        return 0;
    for (uint32_t i = 0; i < recording->patch_count; ++i)
        recording->words[recording->patches[i].word].low += recording->patches[i].stride;
    push_recorded(guest, recording);
    ++guest->replay.images;
    return 1;
}

void cnnvp_replay_finish(struct cnnvp_guest *guest)
{
    const uint32_t images = guest->replay.images;
    for (uint32_t i = 0; i < guest->waiting_count; ++i) {
        struct cnnvp_epilogue *epilogue = &guest->waiting[i];
        epilogue->memory_address += images * epilogue->layer->out.image_stride;
        epilogue->seed = next_seed(epilogue->seed, images);
    }
    for (size_t i = 0; i < SEED_REGISTERS; ++i) {
        uint32_t *value = &guest->element.value[seed_registers[i]];
        *value = next_seed(*value, images);
    }
    guest->replay.images = 0;
}
