/* SPDX-License-Identifier: Apache-2.0 */
#include "stats_case.h"

const struct cnnvp_layer_info stats_layers[] = {
    {"C1", "conv", "forward", 1000, 0, 70}, {"S2", "pool", "forward", 0, 8, 20}, {"C1", "conv", "backward", 500, 0, 0}};

const struct cnnvp_work_info stats_work = {
    .struct_size = sizeof stats_work,
    .command = "run",
    .network = "net.onnx",
    .network_hash = 0xABCDEF,
    .seed = 7,
    .images = 4,
    .pes = 64,
    .layers = stats_layers,
    .layer_count = STATS_LAYERS,
    .least_dram_bytes = 50};

cnnvp_recorder *stats_make_for(const struct cnnvp_resolved *platform, int timing_only)
{
    struct cnnvp_error error;
    cnnvp_recorder *recorder = NULL;

    assert_int_equal(cnnvp_recorder_new(platform, NULL, timing_only, &recorder, &error), CNNVP_DONE);
    return recorder;
}

cnnvp_recorder *stats_make(int timing_only)
{
    return stats_make_for(machine(), timing_only);
}

char *stats_text_of(const cnnvp_recorder *recorder, uint64_t end_ps)
{
    char *text = NULL;

    assert_int_equal(cnnvp_stats_json(&recorder->stats, end_ps, 0.25, &text), CNNVP_DONE);
    return text;
}

json_t *stats_json(const cnnvp_recorder *recorder, uint64_t end_ps)
{
    char *text = stats_text_of(recorder, end_ps);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    assert_non_null(root);
    free(text);
    return root;
}

json_t *stats_member(json_t *root, const char *path)
{
    char copy[128];
    char *rest = copy;

    strcpy(copy, path);
    while (root != NULL && rest != NULL) {
        char *dot = strchr(rest, '.');

        if (dot != NULL)
            *dot++ = '\0';
        root = json_object_get(root, rest);
        rest = dot;
    }
    return root;
}

uint64_t stats_count(json_t *root, const char *path)
{
    json_t *value = stats_member(root, path);

    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

double stats_real(json_t *root, const char *path)
{
    json_t *value = stats_member(root, path);

    assert_true(json_is_real(value));
    return json_real_value(value);
}

const char *stats_text(json_t *root, const char *path)
{
    json_t *value = stats_member(root, path);

    assert_true(json_is_string(value));
    return json_string_value(value);
}

void assert_close(double value, double expected, double tolerance)
{
    double difference = value > expected ? value - expected : expected - value;

    assert_true(difference <= tolerance);
}

void assert_members(json_t *object, const char *expected)
{
    char names[1024] = "";
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        strcat(names, names[0] ? " " : "");
        strcat(names, name);
    }
    assert_string_equal(names, expected);
}

void stats_move(cnnvp_recorder *recorder, enum cnnvp_op op, uint64_t address, uint64_t size, uint64_t bursts)
{
    const struct cnnvp_request request = {.op = op, .address = address, .size = size, .count = 1, .tag = 1};
    cnnvp_recorder_moved(recorder, &request, bursts * 64);
}
