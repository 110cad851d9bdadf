/* SPDX-License-Identifier: Apache-2.0 */
#include "image_units.h"

#include "image/network_image.h"

static void *at(uint8_t *memory, uint32_t address)
{
    return memory + (address - CNNVP_MEMORY_BASE);
}

static uint32_t move(struct cnnvp_image_layer *layers, uint32_t count, uint32_t windows)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const int conv = layers[i].op == CNNVP_OP_CONV && (windows & TEST_IMAGE_CONVOLUTIONS) != 0;
        const int pool = layers[i].op == CNNVP_OP_POOL && (windows & TEST_IMAGE_POOLS) != 0;
        layers[i].unit = conv || pool ? CNNVP_UNIT_VECTOR : CNNVP_UNIT_ARRAY;
        moved += conv || pool;
    }
    return moved;
}

uint32_t test_image_to_vector(uint8_t *memory, uint32_t windows)
{
    const struct cnnvp_image *image = at(memory, CNNVP_IMAGE_ADDRESS);
    struct cnnvp_image_layer *layers = at(memory, image->layers);
    const struct cnnvp_image_chain *chains = at(memory, image->chains);
    for (uint32_t i = 0; i < image->layer_count; ++i)
        if (layers[i].chain != 0 && chains[layers[i].chain - 1u].first_layer == i)
            (void)move(at(memory, chains[layers[i].chain - 1u].layers), chains[layers[i].chain - 1u].layer_count,
                       windows);
    return move(layers, image->layer_count, windows);
}
