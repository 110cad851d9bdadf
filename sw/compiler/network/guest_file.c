/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_file.h"

#include "compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "cnnvp_guest.elf"

static int is_readable(char *path, size_t room, const char *folder)
{
    const int size = snprintf(path, room, "%s/cnnvp/" NAME, folder);
    return size > 0 && (size_t)size < room && access(path, R_OK) == 0;
}

cnnvp_result cnnvp_guest_file(const char *chosen, char *path, size_t room, struct cnnvp_error *error)
{
    /* Where an installation has it, then the build: for programs that link the library from elsewhere. */
    static const char *const fixed[] = {CNNVP_DATA_FOLDERS};
    const char *by = chosen != NULL ? "" : ", named by CNNVP_GUEST,";
    if (chosen == NULL)
        chosen = getenv("CNNVP_GUEST");
    if (chosen != NULL && chosen[0] != '\0') {
        const int size = snprintf(path, room, "%s", chosen);
        if (size > 0 && (size_t)size < room && access(path, R_OK) == 0)
            return CNNVP_DONE;
        return cnnvp_compiler_error(error, "the guest program %s%s cannot be read", chosen, by);
    }
    if (cnnvp_installed_file(NAME, path, room) == 0 && access(path, R_OK) == 0)
        return CNNVP_DONE;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; ++i)
        if (is_readable(path, room, fixed[i]))
            return CNNVP_DONE;
    return cnnvp_compiler_error(error, "the guest program cnnvp_guest.elf was not found in ../share/cnnvp beside the "
                                       "program; name it in the environment variable CNNVP_GUEST");
}
