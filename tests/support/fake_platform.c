/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* for unit/storage.h */
#include "fake_platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_costs.h"
#include "platform_ready.h"
#include "unit/storage.h"

#define BASE UINT64_C(0x80000000)

struct fake_config fake_nfu(void)
{
    return (struct fake_config){
        .rows = 8,
        .cols = 8,
        .input_bytes = 65536,
        .weight_bytes = 131072,
        .output_bytes = 65536,
        .pingpong = 1,
        .acc_bits = 48,
        .memory_bytes = 64u << 20,
        .fc_mapping = "broadcast"};
}

struct fake_config fake_window(void)
{
    struct fake_config config = fake_nfu();
    config.rows = 0;
    config.cols = 0;
    config.input_para = 8;
    config.output_para = 8;
    config.fc_para = 16;
    config.output_bytes = 262144;
    return config;
}

static void must(cnnvp_result result, const struct cnnvp_error *error)
{
    if (result == CNNVP_DONE)
        return;
    fprintf(stderr, "fake_platform: %s\n", error->text);
    abort();
}

static void set(cnnvp_config *config, const char *name, uint64_t value)
{
    struct cnnvp_error error = {""};
    char assignment[96];
    snprintf(assignment, sizeof assignment, "%s=%llu", name, (unsigned long long)value);
    must(cnnvp_config_set(config, assignment, &error), &error);
}

cnnvp_config *fake_config_new(const struct fake_config *config)
{
    struct cnnvp_error error = {""};
    cnnvp_config *made = NULL;
    const int window = config->input_para != 0;
    must(cnnvp_config_new(window ? "window" : "nfu", &made, &error), &error);
    if (window) {
        set(made, "pe_array.input_para", config->input_para);
        set(made, "pe_array.output_para", config->output_para);
        set(made, "fully_connected.fc_para", config->fc_para);
    } else {
        char mapping[64];
        set(made, "pe_array.rows", config->rows);
        set(made, "pe_array.cols", config->cols);
        snprintf(mapping, sizeof mapping, "pe_array.fc_mapping=%s", config->fc_mapping);
        must(cnnvp_config_set(made, mapping, &error), &error);
    }
    set(made, "pe_array.acc_bits", config->acc_bits);
    set(made, "input_buffer.size", config->input_bytes);
    set(made, "weight_buffer.size", config->weight_bytes);
    set(made, "output_buffer.size", config->output_bytes);
    if (!config->pingpong)
        for (size_t i = 0; i < 3; ++i)
            must(cnnvp_config_set(made,
                                  i == 0   ? "input_buffer.pingpong=off"
                                  : i == 1 ? "weight_buffer.pingpong=off"
                                           : "output_buffer.pingpong=off",
                                  &error),
                 &error);
    set(made, "dram.size", config->memory_bytes);
    if (config->wide) {
        set(made, "input_buffer.banks", 2 * config->rows);
        set(made, "input_buffer.line_words", config->cols);
        set(made, "input_buffer.column_step", 2);
        set(made, "input_buffer.width_words", config->rows * config->cols);
        set(made, "output_buffer.banks", 2 * config->rows);
        set(made, "output_buffer.line_words", config->cols);
        set(made, "output_buffer.width_words", config->rows * config->cols);
    }
    if (config->scales)
        must(cnnvp_config_set(made, "pe_array.write_out=scale", &error), &error);
    if (config->both)
        must(cnnvp_config_set(made, "pe_array.precision=both", &error), &error);
    for (size_t i = 0; config->both && window && i < 2; ++i)
        must(cnnvp_config_set(made, i == 0 ? "pooling.precision=both" : "fully_connected.precision=both", &error),
             &error);
    must(cnnvp_config_resolve(made, &error), &error);
    return made;
}

cnnvp_result fake_network_new(const char *onnx_file, const struct fake_config *config,
                              const struct cnnvp_network_options *options, cnnvp_network **network,
                              struct cnnvp_error *error)
{
    cnnvp_config *made = fake_config_new(config);
    const cnnvp_result result = cnnvp_network_new(onnx_file, made, options, network, error);
    cnnvp_config_free(made);
    return result;
}

cnnvp_platform *fake_platform_new(size_t size)
{
    cnnvp_platform *platform = calloc(1, sizeof *platform);
    platform->memory = cnnvp_storage_make(size);
    platform->size = size;
    return platform;
}

void fake_platform_free(cnnvp_platform *platform)
{
    cnnvp_storage_free(platform->memory, platform->size);
    free(platform);
}

cnnvp_result cnnvp_platform_hold(cnnvp_platform *platform, uint64_t address, uint64_t size)
{
    (void)platform;
    (void)address;
    (void)size;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_platform_ready(const cnnvp_platform *platform, int timing_only, struct cnnvp_error *error)
{
    (void)platform;
    (void)timing_only;
    (void)error;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step, uint64_t address,
                                      uint64_t size)
{
    (void)user;
    (void)step;
    return cnnvp_platform_hold(platform, address, size);
}

cnnvp_result cnnvp_platform_load_elf(cnnvp_platform *platform, const char *file, int argc, char *const *args,
                                     struct cnnvp_error *error)
{
    (void)file;
    (void)argc;
    (void)args;
    (void)error;
    platform->elf_loaded = 1;
    return CNNVP_DONE;
}

static cnnvp_result find(const cnnvp_platform *platform, uint64_t address, size_t size, void **data)
{
    if (address < BASE || address - BASE > platform->size || size > platform->size - (address - BASE))
        return CNNVP_BAD_INPUT;
    *data = platform->memory + (address - BASE);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_platform_map(cnnvp_platform *platform, uint64_t address, size_t size, void **data)
{
    return platform->indirect ? CNNVP_BAD_INPUT : find(platform, address, size, data);
}

cnnvp_result cnnvp_platform_read(cnnvp_platform *platform, uint64_t address, void *data, size_t size)
{
    void *from;
    const cnnvp_result result = find(platform, address, size, &from);
    if (result == CNNVP_DONE)
        memcpy(data, from, size);
    return result;
}

cnnvp_result cnnvp_platform_write(cnnvp_platform *platform, uint64_t address, const void *data, size_t size)
{
    void *to;
    const cnnvp_result result = find(platform, address, size, &to);
    if (result == CNNVP_DONE)
        memcpy(to, data, size);
    return result;
}

cnnvp_result cnnvp_platform_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work)
{
    size_t used = 0;
    for (size_t i = 0; i < work->layer_count && used < sizeof platform->layers; ++i)
        used += (size_t)snprintf(platform->layers + used, sizeof platform->layers - used, "%s %s %llu\n",
                                 work->layers[i].name, work->layers[i].op, (unsigned long long)work->layers[i].macs);
    platform->pes = work->pes;
    platform->hash = work->network_hash;
    platform->images = work->images;
    return CNNVP_DONE;
}

/* This platform runs nothing, so the compiler cannot try tiles on it. */
cnnvp_result cnnvp_platform_new(const cnnvp_config *config, const struct cnnvp_platform_options *options,
                                cnnvp_platform **platform, struct cnnvp_error *error)
{
    (void)config, (void)options;
    *platform = NULL;
    snprintf(error->text, sizeof error->text, "the fake platform runs nothing");
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_platform_run(cnnvp_platform *platform, struct cnnvp_run_result *result)
{
    (void)platform, (void)result;
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_platform_run_watched(cnnvp_platform *platform,
                                        void (*watch)(void *context, const struct cnnvp_progress *now), void *context,
                                        struct cnnvp_run_result *result)
{
    (void)watch, (void)context;
    return cnnvp_platform_run(platform, result);
}

cnnvp_result cnnvp_config_energy(const cnnvp_config *config, const char *instance, const char *stat, double *picojoules,
                                 struct cnnvp_error *error)
{
    (void)config, (void)instance, (void)stat, (void)error;
    *picojoules = 1;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_config_link_energy(const cnnvp_config *config, const char *from, const char *to, double *picojoules,
                                      struct cnnvp_error *error)
{
    (void)config, (void)from, (void)to, (void)error;
    *picojoules = 1;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_config_static_power(const cnnvp_config *config, double *milliwatts, struct cnnvp_error *error)
{
    (void)config, (void)error;
    *milliwatts = 1;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_platform_layer(cnnvp_platform *platform, size_t layer, struct cnnvp_layer_result *result)
{
    (void)platform, (void)layer, (void)result;
    return CNNVP_BAD_INPUT;
}

void cnnvp_platform_free(cnnvp_platform *platform)
{
    (void)platform;
}
