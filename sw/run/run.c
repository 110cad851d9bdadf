/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a network, from options to statistics; see run.h. */
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

void cnnvp_platform_options_get(const struct cnnvp_options *options, struct cnnvp_platform_options *members)
{
    const struct cnnvp_platform_options all = {
        .timing_only = options->timing_only,
        .check_costs = options->check_costs,
        .check_results = options->check_results,
        .strict = options->strict,
        .verbosity = options->quiet         ? -1
                     : options->verbose > 2 ? 2
                                            : options->verbose,
        .trace = options->trace,
        .memory_trace = options->memory_trace,
        .profile = options->profile,
        .gdb = options->gdb,
        .max_time_ps = options->max_time,
    };
    cnnvp_fill_client(members, &all, sizeof all);
}
CNNVP_BY_VALUE(cnnvp_platform_options, log_context)

/* A file whose name contains `=` is a file, not NAME=FILE. */
const char *cnnvp_input_file(const char *input, size_t *name)
{
    const char *equals = input != NULL ? strchr(input, '=') : NULL;
    const int named = equals != NULL && equals != input && access(input, F_OK) != 0;
    *name = named ? (size_t)(equals - input) : 0;
    return named ? equals + 1 : input;
}

/* ---- arrays ---- */

static cnnvp_result check_labels(const struct cnnvp_run *run, struct cnnvp_error *error)
{
    const struct cnnvp_options *options = run->options;
    const cnnvp_result result = cnnvp_labels_check(options->labels, &run->labels, error);
    /* An input of another rank may be one image. The number of images is then known only after the run. */
    const struct cnnvp_array *first = options->input.count != 0 ? run->inputs[0].array : NULL;
    const uint64_t images = options->images ? options->images : first != NULL && first->rank == 4 ? first->shape[0] : 0;
    if (result == CNNVP_DONE && images && images != run->labels.shape[0])
        return cnnvp_config_error(
            error, options->labels, "%zu labels for %" PRIu64 " images", run->labels.shape[0], images);
    return result;
}

static cnnvp_result read_inputs(struct cnnvp_run *run, struct cnnvp_error *error)
{
    const struct cnnvp_option_list *input = &run->options->input;
    run->inputs = calloc(input->count + 1u, sizeof *run->inputs);
    run->arrays = calloc(input->count + 1u, sizeof *run->arrays);
    CNNVP_TRY_MEMORY(run->inputs != NULL && run->arrays != NULL, error);
    for (size_t i = 0; i < input->count; ++i) {
        size_t length;
        run->inputs[i].array = &run->arrays[i];
        run->inputs[i].file = cnnvp_input_file(input->texts[i], &length);
        run->inputs[i].name = length != 0 ? strndup(input->texts[i], length) : NULL;
        if (length != 0 && run->inputs[i].name == NULL)
            return cnnvp_config_no_memory(error);
        CNNVP_TRY(cnnvp_npy_read(run->inputs[i].file, &run->arrays[i], error));
    }
    return CNNVP_DONE;
}

static cnnvp_result read_arrays(struct cnnvp_run *run, struct cnnvp_error *error)
{
    const struct cnnvp_options *options = run->options;
    const struct {
        const char *file;
        struct cnnvp_array *array;
    } arrays[] = {{options->calibration, &run->calibration}, {options->labels, &run->labels}};
    CNNVP_TRY(read_inputs(run, error));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
        if (arrays[i].file != NULL && cnnvp_npy_read(arrays[i].file, arrays[i].array, error) != CNNVP_DONE)
            return CNNVP_BAD_INPUT;
    /* Only the labels of the first images count; the array's memory stays as it is. */
    if (options->images && run->labels.rank > 0 && run->labels.shape[0] > options->images)
        run->labels.shape[0] = (size_t)options->images;
    return options->labels != NULL ? check_labels(run, error) : CNNVP_DONE;
}

/* ---- network and platform ---- */

static cnnvp_result check_names(const struct cnnvp_run *run, struct cnnvp_error *error)
{
    const size_t given = run->options->output.count, count = cnnvp_network_outputs(run->network);
    if (given > count)
        return cnnvp_config_error(
            error, NULL, "--output: there are %zu files for %zu output%s of %s, the first of which is \"%s\"", given,
            count, count == 1 ? "" : "s", run->file, cnnvp_network_output_name(run->network, 0));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_run_plan(struct cnnvp_run *run, const cnnvp_config *config, struct cnnvp_error *error)
{
    const struct cnnvp_options *options = run->options;
    const struct cnnvp_run *from = run->like != NULL ? run->like : run;
    struct cnnvp_network_options all = cnnvp_network_options_of(options);
    CNNVP_TRY(cnnvp_options_check(options, error));
    if (run->like == NULL)
        CNNVP_TRY(read_arrays(run, error));
    all.inputs = from->inputs;
    all.input_count = options->input.count;
    all.calibration = from->calibration.data != NULL ? &from->calibration : NULL;
    all.calibration_name = options->calibration;
    all.stopped = run->stopped;
    all.tuning = run->tuning;
    all.computing = run->computing;
    all.tuning_context = run->context;
    CNNVP_TRY(cnnvp_network_new_again(run->file, config, &all, run->memory, &run->network, error));
    CNNVP_TRY(cnnvp_network_check_layers(run->network, options, error));
    if (options->plan_out != NULL)
        CNNVP_TRY(cnnvp_network_plan(run->network, NULL, error));
    return check_names(run, error);
}

cnnvp_result cnnvp_run_load(struct cnnvp_run *run, const cnnvp_config *config, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_platform_new(config, &run->platform_options, &run->platform, error));
    return cnnvp_network_load(run->network, run->platform, error);
}

/* ---- results ---- */

static cnnvp_result collect_output(struct cnnvp_run *run, size_t number, struct cnnvp_error *error)
{
    struct cnnvp_run_output *to = &run->outputs[number];
    CNNVP_TRY(cnnvp_network_output(run->network, run->platform, number, &to->output, error));
    CNNVP_TRY(cnnvp_network_reference(run->network, number, &to->reference, error));
    if (cnnvp_network_runs_blocks(run->network))
        CNNVP_TRY(cnnvp_network_block_reference(run->network, number, &to->block_reference, error));
    return cnnvp_compare(&to->output, to->block_reference.data != NULL ? &to->block_reference : &to->reference,
                         &to->difference, error);
}

cnnvp_result cnnvp_run_collect(struct cnnvp_run *run, size_t count, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;
    if (run->options->timing_only || count == 0)
        return CNNVP_DONE;
    run->outputs = calloc(count, sizeof *run->outputs);
    CNNVP_TRY_MEMORY(run->outputs != NULL, error);
    for (; run->output_count < count && result == CNNVP_DONE; ++run->output_count)
        result = collect_output(run, run->output_count, error);
    if (result == CNNVP_DONE && run->options->labels != NULL)
        result = cnnvp_accuracy_count(
            &run->outputs[0].output, &run->outputs[0].reference, &run->labels, &run->accuracy, error);
    return result;
}

cnnvp_result cnnvp_statistics_with(cnnvp_platform *platform, int partial, const char *name, json_t *value, char **text)
{
    json_error_t reason;
    const cnnvp_result result = cnnvp_platform_stats(platform, text);
    if (result != CNNVP_DONE || (!partial && value == NULL))
        return result;
    json_t *root = json_loads(*text, JSON_ALLOW_NUL, &reason);
    int failed = root == NULL || (partial && json_object_set_new(root, "partial", json_true()) != 0);
    if (!failed && value != NULL && json_object_get(root, "values") == NULL)
        failed = json_object_set_new(root, "values", json_object()) != 0;
    failed = failed || (value != NULL && json_object_set(json_object_get(root, "values"), name, value) != 0);
    free(*text);
    *text = failed ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    return *text != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

cnnvp_result cnnvp_run_statistics(const struct cnnvp_run *run, int partial, char **text)
{
    json_t *accuracy = run->accuracy.images ? cnnvp_accuracy_json(&run->accuracy) : NULL;
    const cnnvp_result result = cnnvp_statistics_with(run->platform, partial, "accuracy", accuracy, text);
    json_decref(accuracy);
    return result;
}

void cnnvp_run_clear(struct cnnvp_run *run)
{
    for (size_t i = 0; i < run->output_count; ++i) {
        cnnvp_array_clear(&run->outputs[i].output);
        cnnvp_array_clear(&run->outputs[i].reference);
        cnnvp_array_clear(&run->outputs[i].block_reference);
    }
    free(run->outputs);
    cnnvp_platform_free(run->platform);
    cnnvp_network_free(run->network);
    for (size_t i = 0; run->inputs != NULL && run->arrays != NULL && i < run->options->input.count; ++i) {
        free((char *)(uintptr_t)run->inputs[i].name);
        cnnvp_array_clear(&run->arrays[i]);
    }
    free(run->inputs);
    free(run->arrays);
    cnnvp_array_clear(&run->labels);
    cnnvp_array_clear(&run->calibration);
}

const char *cnnvp_end_text(enum cnnvp_end end)
{
    static const char *const ends[] = {
        "the guest ended with an error", "--max-time was reached",
        "the run makes no progress, and the guest has not ended it", "the run cannot continue", "interrupted"};
    return (size_t)end < sizeof ends / sizeof ends[0] ? ends[end] : "no end of a run";
}
