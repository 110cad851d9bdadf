/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char name[64];
    if (file < 0) {
        file = memfd_create("fuzz", 0);
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    }
    fuzz_require(file >= 0 && ftruncate(file, 0) == 0 && (size == 0 || pwrite(file, data, size, 0) == (ssize_t)size),
                 "a file in memory");
    return name;
}

void fuzz_require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Leaks inside of libraries: libfyaml's scanner on some broken texts (1 KiB), the pool of SystemC's timed events. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml\nleak:sc_event_timed::allocate\n";
}
