/* SPDX-License-Identifier: Apache-2.0 */
/* A platform's YAML; where it is right, its text is read back to the same text. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp.h"

static char *text_of(const uint8_t *data, size_t size)
{
    struct cnnvp_error error = {""};
    cnnvp_config *config = NULL;
    char *yaml = NULL, *map = NULL;
    cnnvp_result result = cnnvp_config_new(fuzz_file(data, size), &config, &error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(config, &error);
    fuzz_require((result == CNNVP_DONE) == (error.text[0] == '\0'), "a message with each error only");
    if (result == CNNVP_DONE)
        fuzz_require(cnnvp_config_text(config, &yaml, &map) == CNNVP_DONE, "the text of a right configuration");
    cnnvp_config_free(config);
    free(map);
    return yaml;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (memmem(data, size, ".so", 3) != NULL) /* would load libraries of the host */
        return 0;
    char *first = text_of(data, size);
    if (first == NULL)
        return 0;
    char *second = text_of((const uint8_t *)first, strlen(first));
    fuzz_require(second != NULL && strcmp(first, second) == 0, "the text of a configuration is the same configuration");
    free(first);
    free(second);
    return 0;
}
