/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent reference for inference in 16-bit and 8-bit fixed point. It runs a network binary by plain loops over
 * whole layers, written from the definition of the format (network_binary.h as data, the comments of cnnvp_command.h,
 * lanes.h, opcodes.def), without code of models/ and sw/. It deliberately knows no tiles, slices or buffers.
 *
 * Rounding: truncate and nearest. Stochastic rounding depends on how a layer is divided into instructions and is
 * refused.
 */
#ifndef TEST_FX16_REFERENCE_H
#define TEST_FX16_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* The core's memory from address 0x80000000 on, as cnnvp_network_load leaves it. */
struct test_fx16_memory {
    uint8_t *bytes;
    size_t size;
    /* Depth first: each convolution with stride 1 that keeps its map's size is padded with zeros at the borders of its
     * block. The block has this side, or the map's if that is smaller. 0: ordinary convolution. */
    uint32_t block;
};

/*
 * Runs all images in place: afterwards the memory holds every tensor as the platform must have it after its run
 * (tensors between layers: of the last image). acc_bits: width of the PE array's sums. Returns 0, or sets *wrong to the
 * reason of a failure.
 */
int test_fx16_run(const struct test_fx16_memory *memory, uint32_t acc_bits, const char **wrong);

#endif
