/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each file of the folders given through LLVMFuzzerTestOneInput once: the corpus as an ordinary test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define FILE_BYTES_MAX (1u << 20)

static int replay_file(const char *name)
{
    FILE *stream = fopen(name, "rb");
    uint8_t *data = malloc(FILE_BYTES_MAX);
    if (stream == NULL || data == NULL) {
        fprintf(stderr, "%s: cannot be read\n", name);
        exit(1);
    }
    const size_t size = fread(data, 1, FILE_BYTES_MAX, stream);
    (void)fclose(stream);
    /* exactly as long as the file, so that a sanitizer sees reads past its end */
    uint8_t *exact = malloc(size ? size : 1u);
    if (exact == NULL)
        exit(1);
    memcpy(exact, data, size);
    free(data);
    const int result = LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return result;
}

static unsigned replay_folder(const char *folder)
{
    struct dirent **entries;
    unsigned files = 0;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        char name[4096];
        if (entries[i]->d_name[0] != '.') {
            (void)snprintf(name, sizeof name, "%s/%s", folder, entries[i]->d_name);
            fprintf(stderr, "%s\n", name);
            (void)replay_file(name);
            ++files;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return files;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i)
        if (replay_folder(argv[i]) == 0) {
            fprintf(stderr, "%s: no files\n", argv[i]);
            return 1;
        }
    return argc > 1 ? 0 : 1;
}
