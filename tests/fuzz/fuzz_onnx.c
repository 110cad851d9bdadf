/* SPDX-License-Identifier: Apache-2.0 */
/* A network file up to its image, on the nfu and the window engine with little memory: with its numbers, timing only,
 * timing only depth first, and timing only for images that settle what sizes are symbols. */
#include "fuzz.h"

#include "fake_platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *file = fuzz_file(data, size);
    float values[3 * 6 * 8] = {0};
    const struct cnnvp_array images = {.type = CNNVP_ARRAY_F32, .rank = 4, .shape = {1, 3, 6, 8}, .data = values};
    for (int i = 0; i < 8; ++i) {
        struct fake_config config = i & 1 ? fake_window() : fake_nfu();
        const struct cnnvp_network_options options = {
            .struct_size = sizeof options,
            .timing_only = i >> 1 != 0,
            .seed = 1,
            .images = 1,
            .block = 4,
            .input = i >> 1 == 3 ? &images : NULL,
            .schedule = i >> 1 == 2 ? CNNVP_SCHEDULE_DEPTH_FIRST : CNNVP_SCHEDULE_LAYER};
        struct cnnvp_error error = {""};
        cnnvp_network *network = NULL;
        config.memory_bytes = 4u << 20;
        const cnnvp_result result = fake_network_new(file, &config, &options, &network, &error);
        fuzz_require((result == CNNVP_DONE) == (network != NULL), "a network or an error");
        fuzz_require((result == CNNVP_DONE) == (error.text[0] == '\0'), "a message with each error only");
        cnnvp_network_free(network);
    }
    return 0;
}
