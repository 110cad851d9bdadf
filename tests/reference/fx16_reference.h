/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent reference for inference in fixed point of 16 and of 8 bits: runs a network binary by plain loops over
 * whole layers, written from the definitions of the format (network_binary.h as data, the comments of cnnvp_command.h,
 * lanes.h, opcodes.def), without any of the code of models/ and sw/. Tiles, slices and buffers do not exist here: that
 * is the point.
 *
 * Rounding: truncate and nearest. Stochastic rounding depends on how a layer is cut into instructions and is refused.
 */
#ifndef TEST_FX16_REFERENCE_H
#define TEST_FX16_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* The core's memory from address 0x80000000 on: what cnnvp_network_load left there. */
struct test_fx16_memory {
    uint8_t *bytes;
    size_t size;
    /* Depth first: every convolution of stride 1 that keeps its map's size sees zeros beyond its block, whose sides are
     * this or the map's if that is smaller. 0: ordinary convolution. */
    uint32_t block;
};

/*
 * Runs all images in place: afterwards the memory holds every tensor as the platform must have it after its run
 * (tensors between layers: of the last image). acc_bits: width of the PE array's sums. 0: done; otherwise *wrong says
 * why not.
 */
int test_fx16_run(const struct test_fx16_memory *memory, uint32_t acc_bits, const char **wrong);

#endif
