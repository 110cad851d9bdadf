/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x80000000)

struct cnnvp_config fake_nfu(void)
{
    return (struct cnnvp_config){.rows = 8,
                                 .cols = 8,
                                 .input_bytes = 65536,
                                 .weight_bytes = 131072,
                                 .output_bytes = 65536,
                                 .pingpong = 1,
                                 .acc_bits = 48,
                                 .memory_bytes = 64u << 20,
                                 .fc_mapping = "broadcast"};
}

struct cnnvp_config fake_window(void)
{
    struct cnnvp_config config = fake_nfu();
    config.rows = 0;
    config.cols = 0;
    config.input_para = 8;
    config.output_para = 8;
    config.fc_para = 16;
    config.output_bytes = 262144;
    return config;
}

cnnvp_result cnnvp_config_get(const cnnvp_config *config, const char *name, uint64_t *value, const char **text)
{
    const struct {
        const char *name;
        uint64_t value;
    } parameters[] = {
        {"pe_array.rows", config->rows},
        {"pe_array.cols", config->cols},
        {"pe_array.input_para", config->input_para},
        {"pe_array.output_para", config->output_para},
        {"pe_array.fc_para", config->fc_para},
        {"pe_array.acc_bits", config->acc_bits},
        {"pe_array.fc_mapping", 0},
        {"input_buffer.size", config->input_bytes},
        {"weight_buffer.size", config->weight_bytes},
        {"output_buffer.size", config->output_bytes},
        {"input_buffer.pingpong", config->pingpong},
        {"weight_buffer.pingpong", config->pingpong},
        {"output_buffer.pingpong", config->pingpong},
        {"instruction.irq", 1},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; ++i) {
        if (strcmp(parameters[i].name, name) != 0)
            continue;
        if (strncmp(name, "pe_array.", 9) == 0 && parameters[i].value == 0 && strcmp(name, "pe_array.fc_mapping") != 0)
            return CNNVP_BAD_INPUT;
        if (value != NULL)
            *value = parameters[i].value;
        if (text != NULL)
            *text = strcmp(name, "pe_array.fc_mapping") == 0 ? config->fc_mapping : "";
        return CNNVP_DONE;
    }
    return CNNVP_BAD_INPUT;
}

/* It has no connections. */
cnnvp_result cnnvp_config_place(const cnnvp_config *config, const char *name, const char **place, const char **target)
{
    (void)config, (void)name, (void)place, (void)target;
    return CNNVP_BAD_INPUT;
}

cnnvp_result cnnvp_config_window(const cnnvp_config *config, const char *instance, uint64_t *base, uint64_t *size)
{
    *size = 0x1000;
    if (strcmp(instance, "dram") == 0) {
        *base = BASE;
        *size = config->memory_bytes;
        return CNNVP_DONE;
    }
    *base = strcmp(instance, "instruction") == 0 ? 0x10010000 : 0x0c000000;
    return strcmp(instance, "instruction") == 0 || strcmp(instance, "plic") == 0 ? CNNVP_DONE : CNNVP_BAD_INPUT;
}

cnnvp_platform *fake_platform_new(size_t size)
{
    cnnvp_platform *platform = calloc(1, sizeof *platform);
    platform->memory = calloc(1, size);
    platform->size = size;
    return platform;
}

void fake_platform_free(cnnvp_platform *platform)
{
    free(platform->memory);
    free(platform);
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
