/* SPDX-License-Identifier: Apache-2.0 */
/* An assembled program in memory, for the guest program that has the instruction element read it. */
#include "binary/words_binary.h"
#include "cnnvp_asm.h"
#include "compiler.h"
#include "guest_file.h"
#include "plan.h"

cnnvp_result cnnvp_load_words(cnnvp_platform *platform, const cnnvp_config *config, const uint8_t *bytes, size_t size,
                              struct cnnvp_error *error)
{
    char guest[4096];
    struct cnnvp_target target = {0};
    cnnvp_result result = cnnvp_target_map(config, &target, error);
    if (result == CNNVP_DONE)
        result = cnnvp_guest_file(NULL, guest, sizeof guest, error);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_load_elf(platform, guest, 0, NULL, error);
    if (result != CNNVP_DONE)
        return result;
    const struct cnnvp_words_binary binary = {
        .magic = CNNVP_WORDS_BINARY_MAGIC,
        .version = CNNVP_WORDS_BINARY_VERSION,
        .element = target.accelerators[0].element,
        .plic = target.plic,
        .element_irq = target.accelerators[0].element_irq,
        .count = (uint32_t)(size / 8u)};
    if (cnnvp_platform_write(platform, CNNVP_BINARY_ADDRESS, &binary, sizeof binary) != CNNVP_DONE ||
        (size > 0 &&
         cnnvp_platform_write(platform, CNNVP_BINARY_ADDRESS + CNNVP_WORDS_OFFSET, bytes, size) != CNNVP_DONE))
        return cnnvp_compiler_error(error, "%zu bytes of instructions at 0x%x do not fit the platform's memory", size,
                                    (unsigned)(CNNVP_BINARY_ADDRESS + CNNVP_WORDS_OFFSET));
    return CNNVP_DONE;
}
