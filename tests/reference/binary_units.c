/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_units.h"

#include "binary/network_binary.h"

static void *at(uint8_t *memory, uint32_t address)
{
    return memory + (address - CNNVP_MEMORY_BASE);
}

static uint32_t move(struct cnnvp_binary_layer *layers, uint32_t count, uint32_t windows)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const int conv = layers[i].plan.op == CNNVP_OP_CONV && (windows & TEST_BINARY_CONVOLUTIONS) != 0;
        const int pool = layers[i].plan.op == CNNVP_OP_POOL && (windows & TEST_BINARY_POOLS) != 0;
        const uint32_t unit = conv || pool ? CNNVP_UNIT_VECTOR : CNNVP_UNIT_ARRAY;
        if (layers[i].plan.unit != unit && (windows & TEST_BINARY_SAME_SUMS) == 0)
            layers[i].plan.sum_bytes = unit == CNNVP_UNIT_VECTOR ? 8 : 6; /* 64-bit or 48-bit sums */
        layers[i].plan.unit = unit;
        moved += conv || pool;
    }
    return moved;
}

uint32_t test_binary_to_vector(uint8_t *memory, uint32_t windows)
{
    const struct cnnvp_binary *binary = at(memory, CNNVP_BINARY_ADDRESS);
    struct cnnvp_binary_layer *layers = at(memory, binary->layers);
    const struct cnnvp_binary_group *groups = at(memory, binary->groups);
    for (uint32_t i = 0; i < binary->layer_count; ++i)
        if (layers[i].plan.depth_first && groups[layers[i].plan.group - 1u].first_layer == i)
            (void)move(at(memory, groups[layers[i].plan.group - 1u].members),
                       groups[layers[i].plan.group - 1u].layer_count, windows);
    return move(layers, binary->layer_count, windows);
}
