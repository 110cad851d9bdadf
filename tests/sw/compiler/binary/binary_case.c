/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_case.h"

#include <stdlib.h>
#include <unistd.h>

void binary_case_begin(struct builder *builder, int64_t channels, int64_t height, int64_t width)
{
    const int64_t dims[4] = {-1, channels, height, width};
    builder_init(builder, 13);
    builder_input(builder, "x", 4, dims);
    builder_output(builder, "y");
}

cnnvp_result binary_case_build(struct builder *builder, const struct fake_config *config, int on_chip,
                               cnnvp_network **network, struct cnnvp_error *error)
{
    char name[64];
    size_t size;
    uint8_t *bytes = builder_pack(builder, &size);
    builder_write(bytes, size, name);
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .on_chip = on_chip, .seed = 3, .images = 2};
    const cnnvp_result result = fake_network_new(name, config, &options, network, error);
    (void)unlink(name);
    free(bytes);
    return result;
}
