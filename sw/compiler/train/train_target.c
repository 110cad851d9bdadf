/* SPDX-License-Identifier: Apache-2.0 */
#include "train_plan.h"

#include <string.h>

#define PS_A_US 1000000u
#define DEFAULT_MHZ 1000u

int cnnvp_train_target_is(const cnnvp_config *config)
{
    static const char *const needed[] = {
        "pe_array.arrays", "pe_array.cols", "pe_array.rows", "pe_array.mantissa_bits", "intermediate_buffer.size"};
    uint64_t value;
    const char *text;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i)
        if (cnnvp_config_get(config, needed[i], &value, &text) != CNNVP_DONE)
            return 0;
    return 1;
}

static uint32_t number(const cnnvp_config *config, const char *name)
{
    uint64_t value;
    const char *text;
    return cnnvp_config_get(config, name, &value, &text) == CNNVP_DONE ? (uint32_t)value : 0;
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
    const char *text;
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i)
        if (cnnvp_config_get(config, buffers[i].name, buffers[i].bytes, &text) != CNNVP_DONE)
            return cnnvp_compiler_error(
                error, "the platform has no parameter %s, which training needs", buffers[i].name);
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
    target->value_bytes = target->mantissa_bits > 8 ? 4 : 1;
    target->core_ps = PS_A_US / (number(config, "cpu.clock_mhz") != 0 ? number(config, "cpu.clock_mhz") : DEFAULT_MHZ);
    target->stages_positions = number(config, "encode.positions") != 0;
    target->error_rows = number(config, "pe_array.gradient") != 0;
    cnnvp_result result =
        cnnvp_target_buffer(config, "input_buffer", &target->input_half, &target->input_halves, error);
    if (result == CNNVP_DONE)
        result = cnnvp_target_buffer(config, "weight_buffer", &target->weight_half, &target->weight_halves, error);
    if (result == CNNVP_DONE)
        result =
            cnnvp_target_buffer(config, "intermediate_buffer", &target->output_half, &target->output_halves, error);
    if (result == CNNVP_DONE)
        result = read_module(config, target, error);
    if (result == CNNVP_DONE)
        result = cnnvp_target_map(config, &target->map, error);
    return result == CNNVP_DONE ? cnnvp_units_new(config, &target->units, error) : result;
}

void cnnvp_train_target_clear(struct cnnvp_train_target *target)
{
    cnnvp_units_free(target->units);
    target->units = NULL;
}
