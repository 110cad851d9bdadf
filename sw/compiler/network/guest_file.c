/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_file.h"

#include "compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "cnnvp/cnnvp_guest.elf"

static int is_readable(char *path, size_t room, const char *folder)
{
    const int size = snprintf(path, room, "%s/%s", folder, NAME);
    return size > 0 && (size_t)size < room && access(path, R_OK) == 0;
}

static int beside_program(char *path, size_t room)
{
    char program[2048];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return 0;
    program[length] = '\0';
    /* folder of the program, then its parent */
    for (int up = 0; up < 2; ++up) {
        char *slash = strrchr(program, '/');
        if (slash == NULL)
            return 0;
        *slash = '\0';
    }
    char folder[sizeof program + 8];
    (void)snprintf(folder, sizeof folder, "%s/share", program);
    return is_readable(path, room, folder);
}

cnnvp_result cnnvp_guest_file(char *path, size_t room, struct cnnvp_error *error)
{
    /* Where an installation has it, then the build: for programs that link the library from elsewhere. */
    static const char *const fixed[] = {CNNVP_DATA_FOLDERS};
    const char *chosen = getenv("CNNVP_GUEST");
    if (chosen != NULL && chosen[0] != '\0') {
        const int size = snprintf(path, room, "%s", chosen);
        if (size > 0 && (size_t)size < room && access(path, R_OK) == 0)
            return CNNVP_DONE;
        return cnnvp_compiler_error(error, "the guest program %s, named by CNNVP_GUEST, cannot be read", chosen);
    }
    if (beside_program(path, room))
        return CNNVP_DONE;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; ++i)
        if (is_readable(path, room, fixed[i]))
            return CNNVP_DONE;
    return cnnvp_compiler_error(error, "the guest program cnnvp_guest.elf was not found in ../share/cnnvp beside the "
                                       "program; name it in the environment variable CNNVP_GUEST");
}
