/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of channels that become blocks of maps: which sizes are possible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

/* What stands in an attribute of one node over `x`. */
static void node_must_fail(const char *op, const char *attribute, int64_t value, const char *text)
{
    struct builder b;
    onnx_case_begin(&b, "x", 4, maps);
    builder_int(&b, builder_node(&b, op, "y", "x", NULL, NULL, NULL), attribute, value);
    onnx_case_refused(&b, text);
}

static void blocks_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t five[5] = {-1, 2, 3, 4, 5};
    node_must_fail("DepthToSpace", "blocksize", 0, "blocksize is 0; 1 to 32767 is possible");
    node_must_fail("DepthToSpace", "blocksize", 32768, "blocksize is 32768; 1 to 32767 is possible");
    node_must_fail("DepthToSpace", "blocksize", 32767, "4 channels are not divided by the square of the blocksize");
    node_must_fail("SpaceToDepth", "blocksize", 4, "maps of 6 x 6 are not divided by the blocksize, 4");
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
