/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the guest program and loads it into a platform, for a network or for an assembled program, which the guest
 * makes the instruction element read. */
#include "guest_file.h"

#include "binary/words_binary.h"
#include "cnnvp_asm.h"
#include "compiler.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME "cnnvp_guest.elf"

cnnvp_result cnnvp_guest_file(const char *chosen, char *path, size_t room, struct cnnvp_error *error)
{
    const char *by = chosen != NULL ? "" : ", named by CNNVP_GUEST,";
    if (chosen == NULL)
        chosen = getenv("CNNVP_GUEST");
    if (chosen != NULL && (*by == '\0' || *chosen != '\0')) {
        const int size = snprintf(path, room, "%s", chosen);
        if (size > 0 && (size_t)size < room && access(path, R_OK) == 0)
            return CNNVP_DONE;
        return cnnvp_compiler_error(error, "the guest program %s%s cannot be read", chosen, by);
    }
    for (unsigned i = 0; cnnvp_share_path(i, NAME, path, room) == 0; ++i)
        if (access(path, R_OK) == 0)
            return CNNVP_DONE;
    return cnnvp_compiler_error(error, "the guest program " NAME " was not found in ../share/cnnvp beside the "
                                       "program; name it in the environment variable CNNVP_GUEST");
}

cnnvp_result cnnvp_guest_load(const char *chosen, cnnvp_platform *platform, struct cnnvp_error *error)
{
    char file[4096];
    CNNVP_TRY(cnnvp_guest_file(chosen, file, sizeof file, error));
    return cnnvp_platform_load_elf(platform, file, 0, NULL, error);
}

cnnvp_result cnnvp_load_words(cnnvp_platform *platform, const cnnvp_config *config, const uint8_t *bytes, size_t size,
                              struct cnnvp_error *error)
{
    char guest[4096];
    struct cnnvp_target target = {0};
    if (size % 8u != 0)
        return cnnvp_compiler_error(error, "%zu bytes are no whole number of instructions, which have 8 bytes", size);
    CNNVP_TRY(cnnvp_target_map(config, &target, error));
    CNNVP_TRY(cnnvp_guest_file(NULL, guest, sizeof guest, error));
    CNNVP_TRY(cnnvp_platform_load_elf(platform, guest, 0, NULL, error));
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
