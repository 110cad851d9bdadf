/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime for cores that are not the platform's: moves inputs and outputs around an inference run. */
#include "cnnvp_runtime.h"
#include "depth.h"
#include "inference.h"

#include <stddef.h>

/* Reads a word of 1 << word_shift bytes, which is aligned, by a 32-bit access. */
static int16_t get_word(const struct cnnvp_machine *machine, uint32_t address, uint32_t word_shift)
{
    const uint32_t word = cnnvp_device_read(machine, address & ~3u) >> (address & 3u) * 8u;
    return word_shift != 0 ? (int16_t)word : (int8_t)word;
}

static int16_t narrowed(int16_t word)
{
    return word > INT8_MAX ? INT8_MAX : word < INT8_MIN ? INT8_MIN : word;
}

static void put_word(const struct cnnvp_machine *machine, uint32_t address, uint32_t word_shift, int16_t word)
{
    const uint32_t at = address & ~3u, shift = (address & 3u) * 8u;
    const uint32_t mask = word_shift != 0 ? UINT32_C(0xffff) : UINT32_C(0xff);
    const uint32_t other = cnnvp_device_read(machine, at) & ~(mask << shift);
    const uint32_t bits = (uint32_t)(word_shift != 0 ? word : narrowed(word)) & mask;
    cnnvp_device_write(machine, at, other | bits << shift);
}

/* Copies dense words from `from` to the tensor, or from the tensor to `to`. */
static void move(const struct cnnvp_runtime_binary *binary, const struct cnnvp_binary_results *tensor,
                 const int16_t *from, int16_t *to)
{
    const struct cnnvp_guest *guest = &binary->guest;
    for (uint32_t image = 0; image < guest->binary->images; ++image)
        for (uint32_t c = 0; c < tensor->channels; ++c)
            for (uint32_t y = 0; y < tensor->height && !binary->stopped; ++y) {
                uint32_t at = tensor->address + image * tensor->image_stride +
                              ((c * tensor->channel_stride + y * tensor->row_stride) << tensor->word_shift);
                for (uint32_t x = 0; x < tensor->width; ++x, at += 1u << tensor->word_shift) {
                    if (from != NULL)
                        put_word(guest->machine, at, tensor->word_shift, *from++);
                    else
                        *to++ = get_word(guest->machine, at, tensor->word_shift);
                }
            }
}

void cnnvp_runtime_interrupt(struct cnnvp_runtime_binary *binary)
{
    cnnvp_element_interrupt(&binary->guest.element);
    if (binary->guest.scheduler_irq != 0)
        cnnvp_scheduler_interrupt(&binary->guest);
}

void cnnvp_runtime_stop(struct cnnvp_runtime_binary *binary)
{
    binary->stopped = 1;
    binary->guest.element.failed = CNNVP_ELEMENT_STOPPED;
}

int cnnvp_runtime_run(struct cnnvp_runtime_binary *binary, const int16_t *input, int16_t *output,
                      void (*done)(struct cnnvp_runtime_binary *binary, int code))
{
    struct cnnvp_guest *guest = &binary->guest;
    binary->stopped = 0;
    const struct cnnvp_binary_results *results = cnnvp_memory(&binary->machine, binary->address);
    if (results == NULL)
        return CNNVP_RUNTIME_NO_BINARY;
    const struct cnnvp_binary *network = &results->binary;
    if (network->magic != CNNVP_BINARY_MAGIC || network->version != CNNVP_BINARY_VERSION)
        return CNNVP_RUNTIME_NO_BINARY;
    if (network->scheduler != 0 && binary->collected == NULL)
        return CNNVP_RUNTIME_NO_ROOM;
    *guest = (struct cnnvp_guest){.machine = &binary->machine, .collected = binary->collected};
    const uint32_t element = cnnvp_inference_take(guest, network);
    const struct cnnvp_binary_results in = {
        *network,
        network->input.address,
        network->input.row_stride,
        network->input.channel_stride,
        network->input.image_stride,
        network->input.channels,
        network->input.height,
        network->input.width,
        network->input.word_shift};
    if (input != NULL)
        move(binary, &in, input, NULL);
    cnnvp_inference_open(guest, &binary->machine, element);
    if (binary->stopped)
        guest->element.failed = CNNVP_ELEMENT_STOPPED; /* opening the element has cleared the flag */
    const int code = cnnvp_inference_run(guest);
    if (code == CNNVP_RUNTIME_DONE && output != NULL)
        move(binary, results, NULL, output);
    if (done != NULL)
        done(binary, code);
    return code;
}
