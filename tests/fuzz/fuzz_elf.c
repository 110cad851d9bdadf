/* SPDX-License-Identifier: Apache-2.0 */
/* A guest program's file; every byte of its segments can be read. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cnnvp_error error = {""};
    struct cnnvp_elf *elf = NULL;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    if (cnnvp_elf_take("fuzz", copy, size, &elf, &error) != CNNVP_DONE) {
        fuzz_require(error.text[0] != '\0' && elf == NULL, "a message");
        return 0;
    }
    volatile uint32_t sum = elf->header.e_entry;
    /* segments may share bytes: each is looked at once, but not more than a few times the file in all */
    size_t budget = 4u * size;
    for (size_t i = 0; i < elf->segment_count; ++i) {
        const struct cnnvp_elf_segment segment = elf->segments[i];
        fuzz_require(segment.file_size <= size, "segments in the file");
        if (segment.file_size)
            sum = sum + segment.data[0] + segment.data[segment.file_size - 1u];
        for (uint32_t byte = 0; byte < segment.file_size && budget; ++byte, --budget)
            sum = sum + segment.data[byte];
    }
    uint32_t value = 0;
    (void)cnnvp_elf_symbol(elf, "tohost", &value);
    (void)cnnvp_elf_symbol(elf, "", &value);
    cnnvp_elf_free(elf);
    return 0;
}
