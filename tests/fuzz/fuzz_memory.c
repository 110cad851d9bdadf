/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of bursts as cnnvp memory takes it. */
#include "fuzz.h"

#include <stdlib.h>

#include "cnnvp_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cnnvp_config *config;
    struct cnnvp_error error = {""};
    if (config == NULL)
        fuzz_require(cnnvp_config_new("nfu", &config, &error) == CNNVP_DONE &&
                         cnnvp_config_resolve(config, &error) == CNNVP_DONE,
                     error.text);
    const struct cnnvp_memory_options options = {.struct_size = sizeof options, .outstanding = 8};
    struct cnnvp_memory_result result;
    char *json = NULL;
    const cnnvp_result status = cnnvp_memory_replay(config, fuzz_file(data, size), &options, &result, &json, &error);
    fuzz_require((status == CNNVP_DONE) == (json != NULL), "statistics or an error");
    fuzz_require((status == CNNVP_DONE) == (error.text[0] == '\0'), "a message with each error only");
    free(json);
    return 0;
}
