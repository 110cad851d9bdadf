/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction words into the instruction element with made-up units (tests/models/control/instruction/rig.h). Byte 0:
 * bit 0 strict order, bit 1 a program in memory, bits 3:2 capacity of the units, bits 5:4 depth of the sequence; then
 * words of 8 bytes.
 */
#include "fuzz.h"

#include "rig.h"

#define CYCLES 3000u
#define WORDS 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9)
        return 0;
    const uint32_t count = (size - 1u) / 8u > WORDS ? WORDS : (uint32_t)((size - 1u) / 8u);
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "order", data[0] & 1u);
    fake_set(rig->element, "sequence_depth", 1u + (data[0] >> 4 & 3u) * 3u);
    rig->capacity = 1u + (data[0] >> 2 & 3u);
    rig_start(rig);
    if (data[0] & 2u) {
        for (uint32_t i = 0; i < count * 8u; ++i)
            rig->sim.memory[i] = data[1u + i];
        (void)fake_write(rig->element, "FETCH_ADDR", RIG_MEMORY);
        (void)fake_write(rig->element, "FETCH_WORDS", count);
    } else {
        for (uint32_t i = 0; i < count; ++i) {
            uint64_t word = 0;
            for (uint32_t byte = 0; byte < 8; ++byte)
                word |= (uint64_t)data[1u + i * 8u + byte] << (byte * 8u);
            rig_push(rig, word);
            if (i % 8u == 7u)
                rig_to(rig, rig_cycle(rig) + 2u);
        }
    }
    for (uint32_t i = 1; i <= 4; ++i) {
        rig_to(rig, CYCLES * i / 4u);
        for (uint32_t offset = 0; offset < 0x54u; offset += 4u) {
            uint32_t value = 0;
            struct cnnvp_access access = {.op = CNNVP_READ, .address = offset, .data = &value, .size = 4};
            (void)rig->element->unit->access(rig->element->self, 0, &access);
        }
    }
    (void)fake_write(rig->element, "CTRL", 3);
    rig_to(rig, CYCLES + 100u);
    rig_free(rig);
    return 0;
}
