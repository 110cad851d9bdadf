/* SPDX-License-Identifier: Apache-2.0 */
/* What of an ONNX file the hash in the statistics is of, and which files with external data are read. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "onnx.h"
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

static void put(const char *file, const void *bytes, size_t size)
{
    FILE *stream = fopen(file, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

/* x + w - y in the file, with the weight in that file beside it. */
static void put_network(const char *file, const char *data)
{
    struct builder b;
    size_t size;
    builder_init(&b, 13);
    builder_parse(&b, "float[N, 6] x float[1] w = {4} y = Add(x, w)");
    builder_outside(&b, b.graph.initializer[0], data);
    builder_output(&b, "y");
    uint8_t *bytes = builder_pack(&b, &size);
    put(file, bytes, size);
    free(bytes);
    builder_free(&b);
}

/* Data of tensors come from a regular file in the network's folder, wherever a link leads: `text` is NULL where they
 * do. Tried from that folder and by a path. */
static void network_reads(const char *folder, const char *data, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "../%.80s/net.onnx", strrchr(folder, '/') + 1);
    put_network("net.onnx", data);
    for (int i = 0; i < 2; ++i) {
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        (void)alarm(20); /* what waits for a pipe's writer would wait for ever */
        const cnnvp_result result = cnnvp_onnx_import_sized(i == 0 ? "net.onnx" : path, NULL, 0, &graph, &error);
        (void)alarm(0);
        if (result == CNNVP_DONE)
            cnnvp_graph_clear(&graph);
        assert_int_equal(result, text == NULL ? CNNVP_DONE : CNNVP_BAD_INPUT);
        if (text != NULL && strstr(error.text, text) == NULL)
            fail_msg("\"%s\" is not in: %s", text, error.text);
    }
}

static void data_are_in_the_folder(void **state)
{
    static const float weight = 4.0f;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n";
    char folder[] = "/tmp/cnnvp_onnx_XXXXXX";
    char outside[] = "/tmp/cnnvp_onnx_outside_XXXXXX";
    (void)state;
    char before[256];
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(outside));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(outside), 0);
    put("data", &weight, sizeof weight);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("below", 0700), 0);
    put("below/data", &weight, sizeof weight);
    put("pointer", pointer, strlen(pointer));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("below/data", "inner"), 0);
    assert_int_equal(symlink("pipe", "inner_pipe"), 0);
    assert_int_equal(symlink("/dev/zero", "device"), 0);
    assert_int_equal(symlink(outside, "out"), 0);
    network_reads(folder, "below/data", NULL);
    network_reads(folder, "./below/data", NULL);
    network_reads(folder, "inner", NULL);
    network_reads(folder, "pipe", "pipe: not a regular file; a file with the data of tensors is needed");
    network_reads(folder, "inner_pipe", "pipe: not a regular file; a file with the data of tensors is needed");
    network_reads(folder, "below", "below: not a regular file; a file with the data of tensors is needed");
    network_reads(folder, "device", "device: a link to \"/dev/zero\"; a file in the network's folder is needed");
    network_reads(folder, "out/data", "out/data: a link to \"/tmp/cnnvp_onnx_outside_");
    network_reads(folder, "none", "none: No such file or directory");
    network_reads(folder, "pointer", "pointer: a Git LFS pointer: git lfs pull");

    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_onnx_import_sized("pointer", NULL, 0, &graph, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "pointer: a Git LFS pointer: git lfs pull");
    assert_int_equal(chdir(before), 0);
    static const char *const names[] = {
        "below/data", "pointer", "pipe", "inner", "inner_pipe", "device", "out", "net.onnx"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    char path[128];
    (void)snprintf(path, sizeof path, "%s/below", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    (void)snprintf(path, sizeof path, "%s/data", outside);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(outside), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_hash_leaves_out_large_data), cmocka_unit_test(data_are_in_the_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
