/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of channels that become blocks of maps: which sizes are possible. */

#include "test.h"

#include "onnx_case.h"

static void blocks_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t five[5] = {-1, 2, 3, 4, 5};
    onnx_case_node_refused("DepthToSpace", "blocksize", 0, "blocksize is 0; 1 to 32767 is possible");
    onnx_case_node_refused("DepthToSpace", "blocksize", 32768, "blocksize is 32768; 1 to 32767 is possible");
    onnx_case_node_refused(
        "DepthToSpace", "blocksize", 32767, "4 channels are not divided by the square of the blocksize");
    onnx_case_node_refused("SpaceToDepth", "blocksize", 4, "maps of 6 x 6 are not divided by the blocksize, 4");
    onnx_case_begin(&b, "x", 5, five);
    (void)builder_node(&b, "Tanh", "g", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "DepthToSpace", "y", "g", NULL, NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (DepthToSpace): input \"g\" has 5 dimensions; 4 are needed, (N, C, H, W)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
