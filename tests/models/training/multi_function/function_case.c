/* SPDX-License-Identifier: Apache-2.0 */
#include "function_case.h"
#include "random.h"

float *floats_at(struct machine *m, uint32_t half, uint32_t address)
{
    return machine_at(m, M_INTERMEDIATE, half, address);
}

void fill(struct machine *m, uint64_t seed)
{
    float *x = floats_at(m, 0, 0);
    for (int i = 0; i < ALL; ++i)
        x[i] = (float)((int32_t)next_bits(&seed) % 1000) / 64.0f;
}

struct machine_tpost post(void)
{
    return (struct machine_tpost){
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x3000,
        .format = 1,
        .tensor_image_stride = CHANNELS * PLANE};
}
