/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <stddef.h>

static int same_words(const void *left, const void *right, size_t bytes)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    for (size_t i = 0; i < bytes / sizeof(uint32_t); ++i)
        if (a[i] != b[i])
            return 0;
    return 1;
}

/* Epilogues are compared by what they will push, but for the address that moves on with the image. */
static int same_epilogue(struct cnnvp_epilogue left, struct cnnvp_epilogue right)
{
    const struct cnnvp_image_layer *a = left.layer;
    const struct cnnvp_image_layer *b = right.layer;
    left.layer = right.layer = NULL;
    left.memory_address = right.memory_address = 0;
    return a == b && same_words(&left, &right, sizeof(left));
}

static int same_state(const struct cnnvp_guest_state *a, const struct cnnvp_guest_state *b)
{
    if (a->waiting_count != b->waiting_count || a->tag != b->tag || a->chain_weights != b->chain_weights ||
        !same_words(a->weight, b->weight, sizeof(a->weight)))
        return 0;
    for (uint32_t i = 0; i < a->waiting_count; ++i)
        if (!same_epilogue(a->waiting[i], b->waiting[i]))
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
    struct cnnvp_replay *replay = &guest->replay;
    get_state(guest, &replay->before);
    for (uint32_t i = 0; i < 256u; ++i)
        replay->registers[i] = guest->element.value[i];
    replay->recording.count = replay->recording.patch_count = replay->recording.overflow = 0;
    guest->element.recording = &replay->recording;
}

int cnnvp_replay_end(struct cnnvp_guest *guest)
{
    struct cnnvp_replay *replay = &guest->replay;
    const struct cnnvp_recording *recording = &replay->recording;
    struct cnnvp_guest_state after;
    get_state(guest, &after);
    guest->element.recording = NULL;
    if (recording->overflow || guest->element.failed != 0 || !same_state(&after, &replay->before))
        return 0;
    /* Registers that depend on the image are pushed before each use, whatever they hold. */
    for (uint32_t i = 0; i < recording->patch_count; ++i) {
        const uint32_t number = recording->words[recording->patches[i].word].high >> 8 & 0xffu;
        replay->registers[number] = guest->element.value[number];
    }
    return same_words(guest->element.value, replay->registers, sizeof(replay->registers));
}

void cnnvp_replay_image(struct cnnvp_guest *guest)
{
    struct cnnvp_recording *recording = &guest->replay.recording;
    for (uint32_t i = 0; i < recording->patch_count; ++i)
        recording->words[recording->patches[i].word].low += recording->patches[i].stride;
    cnnvp_element_push(&guest->element, recording->words, recording->count);
    ++guest->replay.images;
}

void cnnvp_replay_finish(struct cnnvp_guest *guest)
{
    for (uint32_t i = 0; i < guest->waiting_count; ++i)
        guest->waiting[i].memory_address += guest->replay.images * guest->waiting[i].layer->out.image_stride;
    guest->replay.images = 0;
}
