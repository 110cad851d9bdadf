/* SPDX-License-Identifier: Apache-2.0 */
/* What of an ONNX file the hash in the statistics is of. */
#include <unistd.h>

#include "test.h"

#include "onnx_builder.h"
#include "onnx_read.h"

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    struct cnnvp_onnx onnx;
    struct cnnvp_error error = {""};
    char name[64];
    builder_write(bytes, size, name);
    if (cnnvp_onnx_open(name, &onnx, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    const uint64_t hash = onnx.hash;
    cnnvp_onnx_close(&onnx);
    (void)unlink(name);
    return hash;
}

/* Hash with one byte changed, from the end of what `needle` marks in the file. */
static uint64_t hash_changed(const uint8_t *bytes, size_t size, const float *needle, size_t floats)
{
    uint8_t *changed = malloc(size);
    assert_non_null(changed);
    memcpy(changed, bytes, size);
    size_t at = 0;
    while (memcmp(changed + at, needle, floats * sizeof *needle) != 0)
        assert_true(++at + floats * sizeof *needle <= size);
    changed[at + floats * sizeof *needle - 1u] ^= 1u;
    const uint64_t hash = hash_of(changed, size);
    free(changed);
    return hash;
}

/* Values of small tensors count, those of large ones do not: only how many there are. */
static void file_hash_leaves_out_large_data(void **state)
{
    (void)state;
    static const int64_t input[4] = {-1, 8, 4, 4}, weight[4] = {40, 8, 2, 2}, wider[4] = {41, 8, 2, 2};
    static float weights[41 * 8 * 2 * 2], bias[41];
    uint8_t *bytes[2];
    size_t sizes[2];
    for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i)
        weights[i] = 1.0f + (float)i;
    for (size_t i = 0; i < 41; ++i)
        bias[i] = 5000.0f + (float)i;
    for (size_t i = 0; i < 2; ++i) {
        struct builder builder;
        builder_init(&builder, 13);
        builder_input(&builder, "x", 4, input);
        (void)builder_floats(&builder, "w", 4, i ? wider : weight, weights);
        (void)builder_floats(&builder, "b", 1, i ? wider : weight, bias);
        (void)builder_node(&builder, "Conv", "y", "x", "w", "b", NULL);
        builder_output(&builder, "y");
        bytes[i] = builder_pack(&builder, &sizes[i]);
        builder_free(&builder);
    }
    const uint64_t hash = hash_of(bytes[0], sizes[0]);
    assert_int_equal(hash, hash_changed(bytes[0], sizes[0], weights, 1));
    assert_int_equal(hash, hash_changed(bytes[0], sizes[0], weights, 40 * 8 * 2 * 2));
    assert_int_not_equal(hash, hash_changed(bytes[0], sizes[0], bias, 1));
    assert_int_not_equal(hash, hash_changed(bytes[0], sizes[0], bias, 40));
    assert_int_not_equal(hash, hash_of(bytes[1], sizes[1]));
    free(bytes[0]);
    free(bytes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(file_hash_leaves_out_large_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
