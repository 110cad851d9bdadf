/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the training engine's parameters from a configuration. */
#include "train_plan.h"

#include <string.h>

#include "cnnvp_bfp.h"

#define PS_A_US 1000000u
#define DEFAULT_MHZ 1000u

int cnnvp_train_target_is(const cnnvp_config *config)
{
    static const char *const needed[] = {
        "pe_array.arrays", "pe_array.cols", "pe_array.rows", "pe_array.mantissa_bits", "intermediate_buffer.size"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i)
        if (cnnvp_config_get(config, needed[i], NULL, NULL) != CNNVP_DONE)
            return 0;
    return 1;
}

static uint32_t number(const cnnvp_config *config, const char *name)
{
    uint64_t value;
    return cnnvp_config_get(config, name, &value, NULL) == CNNVP_DONE ? (uint32_t)value : 0;
}

static cnnvp_result read_module(const cnnvp_config *config, struct cnnvp_train_target *target,
                                struct cnnvp_error *error)
{
    const struct {
        const char *name;
        uint64_t *bytes;
    } buffers[] = {
        {"max_min_buffer.size", &target->max_min},
        {"sum_buffer.size", &target->sum},
        {"batch_norm_buffer.size", &target->batch_norm},
        {"relu_buffer.size", &target->relu},
        {"id_buffer.size", &target->id},
        {"output_data_buffer.size", &target->output_data},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i)
        if (cnnvp_config_get(config, buffers[i].name, buffers[i].bytes, NULL) != CNNVP_DONE)
            return cnnvp_compiler_error(
                error, "the platform has no parameter %s, which training needs", buffers[i].name);
    return CNNVP_DONE;
}

/* Part B 1-8: three zones per group, for the largest square maps that leave a row for exponents. */
static struct cnnvp_train_zones map_zones(uint64_t half, uint32_t groups, uint32_t value_bytes)
{
    const uint32_t zone = (uint32_t)(half / groups / 3u / value_bytes);
    uint32_t side = 0;
    while ((uint64_t)(side + 1u) * ((side + 1u) / 3u + 1u) <= zone)
        ++side;
    return (struct cnnvp_train_zones){
        .group = 3u * zone * value_bytes,
        .zone = zone * value_bytes,
        .row = side,
        .exponents = (side % 3u * zone + side / 3u * side) * value_bytes};
}

static cnnvp_result read_zones(const cnnvp_config *config, struct cnnvp_train_target *target, struct cnnvp_error *error)
{
    if (number(config, "pe_array.layout") == 0)
        return CNNVP_DONE;
    if (target->cols < CNNVP_TRAIN_BACK_ZONES)
        return cnnvp_compiler_error(error,
                                    "pe_array.layout: zones has as many zones in a group as pe_array.cols, of which a "
                                    "map takes %u: use %u or more, not %u",
                                    CNNVP_TRAIN_BACK_ZONES, CNNVP_TRAIN_BACK_ZONES, target->cols);
    const uint32_t zone = (uint32_t)(target->output_half / target->arrays / target->cols) & ~7u;
    target->zones[0] = map_zones(target->input_half, target->arrays, target->value_bytes);
    target->zones[1] = map_zones(target->weight_half, target->cols, target->value_bytes);
    target->zones[2] = (struct cnnvp_train_zones){.group = zone * target->cols, .zone = zone};
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_target_read(const cnnvp_config *config, struct cnnvp_train_target *target,
                                     struct cnnvp_error *error)
{
    memset(target, 0, sizeof *target);
    if (!cnnvp_train_target_is(config))
        return cnnvp_compiler_error(error, "training needs the training engine: use -p trainer, or a platform based on "
                                           "it");
    target->arrays = number(config, "pe_array.arrays");
    target->cols = number(config, "pe_array.cols");
    target->rows = number(config, "pe_array.rows");
    target->fc_kernels = target->cols * (number(config, "pe_array.fc_rows") != 0 ? target->rows : 1u);
    target->mantissa_bits = number(config, "pe_array.mantissa_bits");
    target->value_bytes = cnnvp_bfp_bytes(target->mantissa_bits);
    target->core_ps = PS_A_US / (number(config, "cpu.clock_mhz") != 0 ? number(config, "cpu.clock_mhz") : DEFAULT_MHZ);
    target->stages_positions = number(config, "encode.positions") != 0;
    target->error_rows = number(config, "pe_array.gradient") != 0;
    CNNVP_TRY(cnnvp_target_buffer(config, "input_buffer", &target->input_half, &target->input_halves, error));
    CNNVP_TRY(cnnvp_target_buffer(config, "weight_buffer", &target->weight_half, &target->weight_halves, error));
    CNNVP_TRY(cnnvp_target_buffer(config, "intermediate_buffer", &target->output_half, &target->output_halves, error));
    CNNVP_TRY(read_zones(config, target, error));
    CNNVP_TRY(read_module(config, target, error));
    CNNVP_TRY(cnnvp_target_map(config, &target->map, error));
    return cnnvp_units_new(config, &target->units, error);
}

void cnnvp_train_target_describe(const struct cnnvp_train_target *target, struct cnnvp_train_binary *header)
{
    header->input_halves = target->input_halves;
    header->weight_halves = target->weight_halves;
    header->output_halves = target->output_halves;
    memcpy(header->zones, target->zones, sizeof header->zones);
    header->weight_half = (uint32_t)target->weight_half;
    header->output_half = (uint32_t)target->output_half;
    header->arrays = target->arrays;
    header->mantissa_bits = target->mantissa_bits;
    header->value_bytes = target->value_bytes;
}

void cnnvp_train_target_clear(struct cnnvp_train_target *target)
{
    cnnvp_units_free(target->units);
    target->units = NULL;
}
