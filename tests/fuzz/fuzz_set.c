/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments as -s takes them, one a line, on the nfu preset. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cnnvp_error error = {""};
    cnnvp_config *config = NULL;
    if (memmem(data, size, ".so", 3) != NULL)
        return 0;
    fuzz_require(cnnvp_config_new("nfu", &config, &error) == CNNVP_DONE, "the preset");
    while (size) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end != NULL ? (size_t)(end - data) : size;
        char *line = malloc(length + 1u);
        fuzz_require(line != NULL, "memory");
        memcpy(line, data, length);
        line[length] = '\0';
        if (cnnvp_config_set(config, line, &error) != CNNVP_DONE)
            fuzz_require(error.text[0] != '\0', "a message");
        free(line);
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
    char *yaml = NULL, *map = NULL;
    if (cnnvp_config_resolve(config, &error) == CNNVP_DONE)
        fuzz_require(cnnvp_config_text(config, &yaml, &map) == CNNVP_DONE, "the text of a right configuration");
    free(yaml);
    free(map);
    cnnvp_config_free(config);
    return 0;
}
