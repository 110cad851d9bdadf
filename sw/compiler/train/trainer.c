/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp_trainer_* of cnnvp_train.h: makes a training from a network and data sets, and runs it step by step. */
#include "trainer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cnnvp_bfp.h"
#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "cnnvp_network.h"
#include "network.h"
#include "onnx.h"
#include "platform_ready.h"

#define DEFAULT_BN_MOMENTUM 0.1f
/* Most steps and images. They are 32-bit numbers for the guest, and the largest one stands for no step. */
#define MOST UINT64_C(0xfffffffe)

/* ---- new ---- */

static cnnvp_result check_options(const struct cnnvp_trainer_options *options, struct cnnvp_error *error)
{
    if ((unsigned)options->rounding > CNNVP_ROUND_FLOOR || (unsigned)options->bn > CNNVP_TRAIN_BN_STANDARD ||
        (unsigned)options->order > CNNVP_TRAIN_ORDER_CHANNEL || (unsigned)options->block > CNNVP_TRAIN_BLOCK_CHANNEL ||
        (unsigned)options->errors > CNNVP_TRAIN_ERRORS_CARRIED || (unsigned)options->spill > CNNVP_TRAIN_SPILL_LATE)
        return cnnvp_compiler_error(
            error, "rounding, batch norm, order, block, errors or spill has no value of its enum");
    if (options->batch == 0 || options->batch > 65535u)
        return cnnvp_compiler_error(error, "a batch of %u images: 1 to 65535 are possible", options->batch);
    if (!(options->rate > 0.0f) || !isfinite(options->rate))
        return cnnvp_compiler_error(
            error, "learning rate %g: a finite number above 0 is needed", (double)options->rate);
    if (!(options->momentum >= 0.0f && options->momentum < 1.0f))
        return cnnvp_compiler_error(error, "momentum %g: 0 or more and below 1 is needed", (double)options->momentum);
    if (!(options->bn_momentum >= 0.0f && options->bn_momentum <= 1.0f))
        return cnnvp_compiler_error(
            error, "batch norm's momentum %g: 0 to 1 is possible", (double)options->bn_momentum);
    if (options->epochs == 0)
        return cnnvp_compiler_error(error, "0 epochs: 1 or more are needed");
    if (options->dataset == NULL)
        return cnnvp_compiler_error(error, "a data set is needed");
    return CNNVP_DONE;
}

static cnnvp_result check_dataset(const struct cnnvp_trainer *trainer, const cnnvp_dataset *dataset, const char *what,
                                  uint64_t *images, struct cnnvp_error *error)
{
    const struct cnnvp_train_net *net = &trainer->net;
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    *images = info.images;
    if (info.images == 0 || info.images > MOST)
        return cnnvp_compiler_error(error, "the %s has %llu images", what, (unsigned long long)info.images);
    if ((uint64_t)info.channels * info.height * info.width != (uint64_t)net->channels * net->height * net->width ||
        (net->height != 1 && (info.channels != net->channels || info.height != net->height)))
        return cnnvp_compiler_error(
            error, "%s: the %s has images of %u x %u x %u; the network takes %u x %u x %u", trainer->file, what,
            info.channels, info.height, info.width, net->channels, net->height, net->width);
    if (info.classes > net->classes)
        return cnnvp_compiler_error(error, "%s: the %s has labels up to %u; the network has %u classes", trainer->file,
                                    what, info.classes - 1u, net->classes);
    return CNNVP_DONE;
}

static int carries(const struct cnnvp_trainer_options *options)
{
    return options->errors == CNNVP_TRAIN_ERRORS_CARRIED ||
           (options->errors == CNNVP_TRAIN_ERRORS_DEFAULT && options->rounding == CNNVP_ROUND_NEAREST);
}

static uint64_t hash_of(const struct cnnvp_trainer *trainer)
{
    const struct cnnvp_trainer_options *options = &trainer->options;
    uint64_t words[12] = {
        options->rounding,
        options->bn,
        options->block,
        options->narrow != 0,
        options->batch,
        options->seed,
        trainer->target.mantissa_bits,
        cnnvp_dataset_hash(options->dataset),
        trainer->net.count};
    words[9] = cnnvp_float_bits(options->bn_momentum);
    words[10] = (uint64_t)carries(options);
    words[11] = (uint64_t)trainer->order.in_order;
    if (trainer->order.numbers != NULL)
        words[11] = XXH3_64bits(
            trainer->order.numbers, trainer->order.epochs * trainer->images * sizeof *trainer->order.numbers);
    uint64_t hash = XXH3_64bits(words, sizeof words);
    for (size_t i = 0; i < trainer->net.count; ++i) {
        const struct cnnvp_train_node *node = &trainer->net.nodes[i];
        const uint32_t shape[] = {
            node->ci,
            node->hi,
            node->wi,
            node->co,
            node->ho,
            node->wo,
            node->ph,
            node->pw,
            node->kx,
            node->ky,
            node->sx,
            node->sy,
            node->px,
            node->py,
            (uint32_t)node->relu,
            (uint32_t)node->pool,
            (uint32_t)node->has_bias,
            node->norm != CNNVP_TRAIN_NO_LAYER};
        hash = XXH3_64bits_withSeed(shape, sizeof shape, hash);
    }
    return hash;
}

static struct cnnvp_train_build_options build_options_of(const struct cnnvp_trainer *trainer)
{
    static const enum cnnvp_train_binary_block blocks[] = {
        CNNVP_TRAIN_BY_TENSOR, CNNVP_TRAIN_BY_IMAGE, CNNVP_TRAIN_BY_CHANNEL};
    const struct cnnvp_trainer_options *options = &trainer->options;
    const uint64_t batch = options->batch < trainer->images ? options->batch : trainer->images;
    return (struct cnnvp_train_build_options){
        .plan = {.block = blocks[options->block],
                 .images = (uint32_t)batch,
                 .learns = 1,
                 .narrow = options->narrow != 0,
                 .by_channel = options->order == CNNVP_TRAIN_ORDER_CHANNEL},
        .flags = (options->order == CNNVP_TRAIN_ORDER_CHANNEL ? CNNVP_TRAIN_CHANNEL_ORDER : 0u) |
                 (options->bn == CNNVP_TRAIN_BN_STANDARD ? CNNVP_TRAIN_STANDARD_BN : 0u) |
                 (options->narrow ? CNNVP_TRAIN_NARROW : 0u) |
                 (options->spill == CNNVP_TRAIN_SPILL_LATE ? CNNVP_TRAIN_PARK : 0u),
        .rounding = (uint32_t)options->rounding,
        .error_rounding = carries(options) ? (uint32_t)CNNVP_BFP_ROUNDING_CARRIED : (uint32_t)options->rounding,
        .seed = options->seed,
        .rate = options->rate,
        .momentum = options->momentum,
        .bn_momentum = options->bn_momentum,
        .images = trainer->images,
        .evaluation = trainer->evaluation,
        .labels = 1,
        .epochs = options->epochs,
    };
}

static cnnvp_result check_spill(const struct cnnvp_trainer *trainer, struct cnnvp_error *error)
{
    int norms = 0;
    for (size_t i = 0; i < trainer->net.count; ++i)
        norms |= trainer->net.nodes[i].norm != CNNVP_TRAIN_NO_LAYER;
    if (trainer->options.spill != CNNVP_TRAIN_SPILL_LATE)
        return CNNVP_DONE;
    if (!norms)
        return cnnvp_compiler_error(
            error, "%s: there is no batch norm whose inputs could be parked; use --spill early", trainer->file);
    if (trainer->target.output_halves == 1u)
        return cnnvp_compiler_error(
            error, "batch norm's inputs are parked in the idle half of the intermediate buffer, "
                   "which has one half alone; use -s intermediate_buffer.pingpong=on or "
                   "--spill early");
    return CNNVP_DONE;
}

/* A bias that the file has as a single value would come out of training as one a channel, for which it has no place. */
static cnnvp_result check_biases(const struct cnnvp_trainer *trainer, struct cnnvp_error *error)
{
    for (size_t i = 0; i < trainer->net.count; ++i) {
        const struct cnnvp_train_node *node = &trainer->net.nodes[i];
        const struct cnnvp_graph_layer *layer = &trainer->graph.layers[node->layer];
        if (node->has_bias && node->norm == CNNVP_TRAIN_NO_LAYER && layer->origins[CNNVP_GRAPH_BIAS].node == 0)
            return cnnvp_compiler_error(
                error, "%s: node \"%s\" (%s): its bias is one value for all channels; to learn it needs %u",
                trainer->file, layer->name, layer->op_type, node->co);
    }
    return CNNVP_DONE;
}

/* Leaves out the epochs after the last step, whose order of images needs memory, too. */
static void limit_epochs(struct cnnvp_trainer *trainer)
{
    struct cnnvp_trainer_options *options = &trainer->options;
    const uint64_t steps = cnnvp_divide_up(trainer->images, options->batch);
    if (options->steps != 0)
        options->epochs = cnnvp_minimum(options->epochs, cnnvp_divide_up(options->steps, steps));
}

static cnnvp_result make(struct cnnvp_trainer *trainer, const cnnvp_config *config, struct cnnvp_error *error)
{
    const struct cnnvp_trainer_options *options = &trainer->options;
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(options->dataset, &info);
    const struct cnnvp_array images = {
        .rank = 4, .shape = {(size_t)info.images, info.channels, info.height, info.width}};
    const struct cnnvp_onnx_sizes sizes = {
        .shapes = options->shapes, .shape_count = options->shape_count, .images = &images};
    const struct cnnvp_train_import_options import = {
        options->random_weights, options->seed, options->timing_only, &sizes};
    CNNVP_TRY(cnnvp_train_target_read(config, &trainer->target, error));
    CNNVP_TRY(cnnvp_target_wiring(config, CNNVP_TARGET_TRAINING, error));
    CNNVP_TRY(cnnvp_target_driven(config, CNNVP_TARGET_TRAINING, error));
    CNNVP_TRY(cnnvp_onnx_import_training(trainer->file, &import, &trainer->graph, error));
    CNNVP_TRY(cnnvp_train_net_make(&trainer->graph, &trainer->net, error));
    CNNVP_TRY(check_biases(trainer, error));
    CNNVP_TRY(check_dataset(trainer, options->dataset, "data set", &trainer->images, error));
    if (options->evaluation != NULL)
        CNNVP_TRY(check_dataset(trainer, options->evaluation, "evaluation's data set", &trainer->evaluation, error));
    CNNVP_TRY(check_spill(trainer, error));
    CNNVP_TRY(cnnvp_train_image_order_read(
        options->shuffle, options->seed, trainer->images, options->epochs, &trainer->order, error));
    limit_epochs(trainer);
    if (options->epochs > MOST / trainer->images)
        return cnnvp_compiler_error(error, "%llu epochs of %llu images are more than 2^32 images",
                                    (unsigned long long)options->epochs, (unsigned long long)trainer->images);
    trainer->hash = hash_of(trainer);
    const struct cnnvp_train_build_options build = build_options_of(trainer);
    CNNVP_TRY(cnnvp_train_build(&trainer->graph, &trainer->net, &trainer->target, &build, &trainer->build, error));
    if (options->steps != 0 && options->steps < trainer->build.header.steps)
        trainer->build.header.steps = (uint32_t)options->steps;
    return CNNVP_DONE;
}

CNNVP_DROP(cnnvp_trainer)

cnnvp_result cnnvp_trainer_new(const char *onnx_file, const cnnvp_config *config,
                               const struct cnnvp_trainer_options *theirs, cnnvp_trainer **trainer,
                               struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    *trainer = NULL;
    char file[PATH_MAX];
    struct cnnvp_trainer_options own;
    const struct cnnvp_trainer_options *options = &own;
    CNNVP_TRY(cnnvp_client_struct(&own, sizeof own, theirs, "cnnvp_trainer_options", error));
    CNNVP_TRY(check_options(options, error));
    CNNVP_TRY(cnnvp_target_resolved(config, error));
    CNNVP_TRY(cnnvp_network_find(onnx_file, file, sizeof file, error));
    CNNVP_SCOPED(cnnvp_trainer_drop) cnnvp_trainer *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL && (made->file = strdup(file)) != NULL, error);
    made->options = *options;
    made->source =
        (struct cnnvp_train_source){&made->graph, &made->net, &made->target, &made->build, options->narrow != 0};
    if (!(options->bn_momentum > 0.0f))
        made->options.bn_momentum = DEFAULT_BN_MOMENTUM;
    CNNVP_TRY(make(made, config, error));
    CNNVP_TRY(cnnvp_trainer_echo(options, &made->graph.arena, &made->echo, error));
    *trainer = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_trainer_free(cnnvp_trainer *trainer)
{
    if (trainer == NULL)
        return;
    cnnvp_train_build_clear(&trainer->build);
    cnnvp_train_target_clear(&trainer->target);
    cnnvp_graph_clear(&trainer->graph);
    cnnvp_train_image_order_clear(&trainer->order);
    free(trainer->state);
    free(trainer->file);
    free(trainer);
}

void cnnvp_trainer_info(const cnnvp_trainer *trainer, struct cnnvp_trainer_info *info)
{
    *info = (struct cnnvp_trainer_info){
        .steps_per_epoch = trainer->build.header.steps_per_epoch,
        .steps = trainer->build.header.steps,
        .memory_bytes = trainer->build.end - trainer->target.map.memory_base,
    };
    for (size_t i = 0; i < trainer->net.count; ++i) {
        const struct cnnvp_train_node *node = &trainer->net.nodes[i];
        const uint64_t macs = cnnvp_train_net_macs(node);
        info->macs_forward += macs;
        info->macs_backward += i != 0 ? macs : 0;
        info->macs_gradient += macs;
        info->parameters += cnnvp_train_net_weights(node);
        info->parameters += trainer->build.layers[i].bias ? node->co : 0;
        info->parameters += trainer->build.layers[i].norm ? UINT64_C(2) * node->co : 0;
    }
}

/* ---- load ---- */

struct bytes_reader {
    const cnnvp_dataset *dataset;
    uint64_t words;
};

static void read_bytes(void *context, uint64_t index, float *values)
{
    const struct bytes_reader *reader = context;
    const uint8_t *bytes = cnnvp_dataset_image(reader->dataset, index);
    for (uint64_t i = 0; i < reader->words; ++i)
        values[i] = (float)bytes[i] / 255.0f;
}

static cnnvp_result put_dataset(const struct cnnvp_trainer *trainer, const cnnvp_dataset *dataset, uint64_t count,
                                const struct cnnvp_train_images *images, cnnvp_platform *platform,
                                struct cnnvp_error *error)
{
    const struct cnnvp_train_net *net = &trainer->net;
    const uint64_t plane = (uint64_t)net->height * net->width;
    struct bytes_reader bytes = {dataset, net->channels * plane};
    const struct cnnvp_train_reader reader = {&bytes, read_bytes, count, net->channels, plane};
    CNNVP_TRY(
        cnnvp_train_put_images(&trainer->source, images, trainer->build.layers[0].block, &reader, platform, error));
    CNNVP_STAGED staged = {0};
    CNNVP_TRY(cnnvp_stage(platform, images->labels, count * sizeof(uint32_t), "labels", &staged, error));
    uint32_t *labels = staged.data;
    for (uint64_t i = 0; i < count; ++i)
        labels[i] = cnnvp_dataset_label(dataset, i);
    return cnnvp_unstage(&staged, error);
}

static cnnvp_result put_order(const struct cnnvp_trainer *trainer, cnnvp_platform *platform, struct cnnvp_error *error)
{
    const uint64_t count = trainer->images;
    CNNVP_STAGED staged = {0};
    CNNVP_TRY(cnnvp_stage(platform, trainer->build.header.order, count * trainer->options.epochs * sizeof(uint32_t),
                          "the order of images", &staged, error));
    uint32_t *order = staged.data;
    for (uint64_t epoch = 0; epoch < trainer->options.epochs; ++epoch)
        cnnvp_train_image_order_of(&trainer->order, epoch, order + epoch * count);
    return cnnvp_unstage(&staged, error);
}

/* ---- state ---- */

struct state_header {
    uint64_t magic;
    uint64_t hash;
    uint64_t next_step;
    uint64_t bytes; /* bytes after the header */
};

#define STATE_MAGIC UINT64_C(0x3154534e54564e43) /* "CNVTNST1" */

/* Copies a state region by region. */
struct cursor {
    cnnvp_platform *platform;
    uint8_t *data; /* NULL: only count bytes */
    size_t at;
    int loads;
};

static cnnvp_result move_region(void *context, uint32_t address, size_t bytes)
{
    struct cursor *cursor = context;
    cnnvp_result result = CNNVP_DONE;
    if (cursor->data != NULL && cursor->loads)
        result = cnnvp_platform_write(cursor->platform, address, cursor->data + cursor->at, bytes);
    else if (cursor->data != NULL)
        result = cnnvp_platform_read(cursor->platform, address, cursor->data + cursor->at, bytes);
    cursor->at += bytes;
    return result;
}

static size_t state_bytes(const struct cnnvp_trainer *trainer)
{
    struct cursor cursor = {0};
    const cnnvp_result counted = cnnvp_train_each_region(&trainer->source, move_region, &cursor);
    return counted == CNNVP_DONE ? cursor.at : 0;
}

cnnvp_result cnnvp_trainer_check_loaded(const struct cnnvp_trainer *trainer, struct cnnvp_error *error)
{
    return trainer->loaded ? CNNVP_DONE
                           : cnnvp_compiler_error(error, "nothing has been learned: cnnvp_trainer_load comes first");
}

cnnvp_result cnnvp_trainer_get_state(const cnnvp_trainer *trainer, cnnvp_platform *platform, void **state, size_t *size,
                                     struct cnnvp_error *error)
{
    const size_t bytes = state_bytes(trainer);
    const struct state_header header = {STATE_MAGIC, trainer->hash, trainer->next_step, bytes};
    *state = NULL;
    *size = 0;
    if (trainer->options.timing_only)
        return cnnvp_compiler_error(error, "a timing-only training has no state");
    CNNVP_TRY(cnnvp_trainer_check_loaded(trainer, error));
    uint8_t *data = malloc(sizeof header + bytes);
    CNNVP_TRY_MEMORY(data != NULL, error);
    memcpy(data, &header, sizeof header);
    struct cursor cursor = {.platform = platform, .data = data + sizeof header};
    if (cnnvp_train_each_region(&trainer->source, move_region, &cursor) != CNNVP_DONE) {
        free(data);
        return cnnvp_compiler_error(error, "the state of the training cannot be read from the platform's memory");
    }
    *state = data;
    *size = sizeof header + bytes;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_trainer_set_state(cnnvp_trainer *trainer, const void *state, size_t size, struct cnnvp_error *error)
{
    struct state_header header;
    if (trainer->options.timing_only)
        return cnnvp_compiler_error(error, "a timing-only training cannot continue from a state");
    if (size < sizeof header)
        return cnnvp_compiler_error(error, "the state has %zu bytes; its header alone has %zu", size, sizeof header);
    memcpy(&header, state, sizeof header);
    if (header.magic != STATE_MAGIC)
        return cnnvp_compiler_error(error, "this is not the state of a training");
    if (header.hash != trainer->hash || header.bytes != state_bytes(trainer))
        return cnnvp_compiler_error(error, "the state belongs to another training: network, data set, batch, rounding, "
                                           "batch norm, blocks, mantissas, order of images and seed must be the same");
    if (size - sizeof header != header.bytes)
        return cnnvp_compiler_error(
            error, "the state has %zu bytes; %zu are needed", size, sizeof header + (size_t)header.bytes);
    if (header.next_step > trainer->build.header.steps)
        return cnnvp_compiler_error(error, "the state was taken after %llu steps; this training ends after %u",
                                    (unsigned long long)header.next_step, trainer->build.header.steps);
    uint8_t *copy = malloc(size);
    CNNVP_TRY_MEMORY(copy != NULL, error);
    memcpy(copy, state, size);
    free(trainer->state);
    trainer->state = copy;
    trainer->build.header.first_step = (uint32_t)header.next_step;
    return CNNVP_DONE;
}

static cnnvp_result put_state(const struct cnnvp_trainer *trainer, cnnvp_platform *platform, struct cnnvp_error *error)
{
    struct cursor cursor = {.platform = platform, .data = trainer->state + sizeof(struct state_header), .loads = 1};
    if (cnnvp_train_each_region(&trainer->source, move_region, &cursor) != CNNVP_DONE)
        return cnnvp_compiler_error(error, "the platform has no memory for the state");
    return CNNVP_DONE;
}

/* ---- statistics ---- */

static cnnvp_result describe(const struct cnnvp_trainer *trainer, cnnvp_platform *platform, struct cnnvp_error *error)
{
    const struct cnnvp_work_info work = {
        .struct_size = sizeof work,
        .command = "train",
        .network = cnnvp_base_name(trainer->file),
        .seed = trainer->options.seed,
        .images = trainer->trained_images,
        .options = trainer->echo.options,
        .option_count = trainer->echo.count,
    };
    return cnnvp_train_describe(&trainer->source, work, trainer->evaluated_images, platform, error);
}

cnnvp_result cnnvp_trainer_load(cnnvp_trainer *trainer, cnnvp_platform *platform, struct cnnvp_error *error)
{
    const struct cnnvp_train_binary *header = &trainer->build.header;
    CNNVP_TRY(cnnvp_platform_ready(platform, trainer->options.timing_only, error));
    CNNVP_TRY(cnnvp_train_build_hold(&trainer->build, platform, error));
    CNNVP_TRY(cnnvp_guest_load(trainer->options.guest, platform, error));
    CNNVP_TRY(cnnvp_train_build_load(&trainer->build, platform, error));
    CNNVP_TRY(put_order(trainer, platform, error));
    if (!trainer->options.timing_only) {
        CNNVP_TRY(trainer->state != NULL ? put_state(trainer, platform, error)
                                         : cnnvp_train_put_weights(&trainer->source, platform, error));
        CNNVP_TRY(put_dataset(trainer, trainer->options.dataset, trainer->images, &header->training, platform, error));
        if (trainer->evaluation != 0)
            CNNVP_TRY(put_dataset(trainer, trainer->options.evaluation, trainer->evaluation, &header->evaluation,
                                  platform, error));
    }
    trainer->next_step = header->first_step;
    trainer->evaluates = trainer->marked = 0;
    trainer->trained_images = trainer->evaluated_images = 0;
    trainer->loaded = 1;
    return describe(trainer, platform, error);
}

/* ---- steps ---- */

void cnnvp_trainer_console(void *context, const void *data, size_t size)
{
    struct cnnvp_trainer *trainer = context;
    const char *text = data;
    for (size_t i = 0; i < size; ++i) {
        if (text[i] == CNNVP_TRAIN_MARK) {
            trainer->marked = 1;
            cnnvp_platform_interrupt();
        } else {
            (void)fputc(text[i], stdout);
        }
    }
}

/* Adds up the records of record->images images from `address` on. */
static cnnvp_result sum_up(const struct cnnvp_trainer *trainer, cnnvp_platform *platform, uint32_t address,
                           struct cnnvp_train_record *record, struct cnnvp_error *error)
{
    const size_t bytes = cnnvp_train_record_bytes(trainer->net.classes);
    double loss = 0.0;
    for (uint64_t i = 0; i < record->images; ++i) {
        struct cnnvp_train_result result;
        float image_loss;
        if (cnnvp_platform_read(platform, address + i * bytes, &result, sizeof result) != CNNVP_DONE)
            return cnnvp_compiler_error(error, "the results of the step cannot be read at 0x%x", (unsigned)address);
        memcpy(&image_loss, &result.loss, sizeof image_loss);
        loss += (double)image_loss;
        record->correct += result.correct;
        record->nonfinite += result.nonfinite;
    }
    record->loss = loss / (double)record->images;
    return CNNVP_DONE;
}

/* Fills in the record of what has been completed, and notes what comes next. */
static cnnvp_result take_mark(struct cnnvp_trainer *trainer, cnnvp_platform *platform,
                              struct cnnvp_train_record *record, struct cnnvp_error *error)
{
    const struct cnnvp_train_binary *header = &trainer->build.header;
    const uint64_t batch = header->batch;
    uint32_t results;
    trainer->marked = 0;
    if (trainer->evaluates) {
        record->event = CNNVP_TRAIN_EVALUATION;
        record->step = trainer->next_step - 1u;
        record->images = trainer->evaluation;
        trainer->evaluated_images += record->images;
        trainer->evaluates = 0;
        results = header->evaluation.results;
    } else {
        const uint64_t done = trainer->next_step % header->steps_per_epoch * batch;
        record->event = CNNVP_TRAIN_STEP;
        record->step = trainer->next_step++;
        record->images = trainer->images - done < batch ? trainer->images - done : batch;
        trainer->trained_images += record->images;
        trainer->evaluates = trainer->evaluation != 0 && trainer->next_step % header->steps_per_epoch == 0;
        results = header->training.results;
    }
    record->epoch = record->step / header->steps_per_epoch;
    if (!trainer->options.timing_only)
        CNNVP_TRY(sum_up(trainer, platform, results, record, error));
    return describe(trainer, platform, error);
}

cnnvp_result cnnvp_trainer_step(cnnvp_trainer *trainer, cnnvp_platform *platform, struct cnnvp_train_record *record,
                                struct cnnvp_run_result *result, struct cnnvp_error *error)
{
    *record = (struct cnnvp_train_record){.event = CNNVP_TRAIN_END, .step = trainer->next_step};
    const cnnvp_result status = cnnvp_platform_run(platform, result);
    record->time_ps = result->time_ps;
    if (trainer->marked && (status == CNNVP_DONE || result->end == CNNVP_END_INTERRUPTED))
        return take_mark(trainer, platform, record, error);
    if (status != CNNVP_DONE)
        (void)cnnvp_compiler_error(error, "%s", result->reason);
    return status;
}

/* ---- results ---- */

/* What is exported: the graph, whose own numbers are those that training begins with, with numbers from memory. */
struct learned {
    const struct cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct cnnvp_arena arena; /* the layers and their numbers */
    struct cnnvp_graph_layer *layers;
    struct cnnvp_error *error;
};

/* Copies a tensor of a layer from memory. */
static cnnvp_result take(struct learned *learned, size_t layer, enum cnnvp_train_tensor tensor, float **to)
{
    CNNVP_SCOPED(cnnvp_array_clear) struct cnnvp_array values = {.data = NULL};
    CNNVP_TRY(cnnvp_trainer_tensor(learned->trainer, learned->platform, layer, tensor, &values, learned->error));
    const size_t count = cnnvp_array_count(&values);
    *to = cnnvp_arena_array(&learned->arena, count, sizeof **to);
    CNNVP_TRY_MEMORY(*to != NULL, learned->error);
    memcpy(*to, values.data, count * sizeof **to);
    return CNNVP_DONE;
}

static cnnvp_result take_norm(struct learned *learned, size_t i)
{
    const struct cnnvp_train_node *node = &learned->trainer->net.nodes[i];
    struct cnnvp_graph_layer *norm = &learned->layers[node->norm];
    const float *bias = node->has_bias ? learned->layers[node->layer].bias : NULL;
    CNNVP_TRY(take(learned, i, CNNVP_TRAIN_GAMMA, &norm->weights));
    CNNVP_TRY(take(learned, i, CNNVP_TRAIN_BETA, &norm->bias));
    CNNVP_TRY(take(learned, i, CNNVP_TRAIN_MEAN, &norm->mean));
    CNNVP_TRY(take(learned, i, CNNVP_TRAIN_SIGMA, &norm->variance));
    for (uint32_t c = 0; c < node->co; ++c) {
        const double sigma = (double)norm->variance[c];
        const double variance = sigma * sigma - (double)norm->epsilon;
        norm->mean[c] = (float)((double)norm->mean[c] + (bias != NULL ? (double)bias[c] : 0.0));
        norm->variance[c] = variance > 0.0 ? (float)variance : 0.0f;
    }
    return CNNVP_DONE;
}

static cnnvp_result export(struct learned *learned, const char *file)
{
    const struct cnnvp_trainer *trainer = learned->trainer;
    struct cnnvp_graph graph = trainer->graph;
    learned->layers = cnnvp_arena_array(&learned->arena, graph.layer_count, sizeof *learned->layers);
    CNNVP_TRY_MEMORY(learned->layers != NULL, learned->error);
    memcpy(learned->layers, graph.layers, graph.layer_count * sizeof *learned->layers);
    graph.layers = learned->layers;
    for (size_t i = 0; i < trainer->net.count; ++i) {
        struct cnnvp_graph_layer *layer = &learned->layers[trainer->net.nodes[i].layer];
        CNNVP_TRY(take(learned, i, CNNVP_TRAIN_WEIGHT, &layer->weights));
        if (trainer->build.layers[i].bias)
            CNNVP_TRY(take(learned, i, CNNVP_TRAIN_BIAS, &layer->bias));
        if (trainer->build.layers[i].norm)
            CNNVP_TRY(take_norm(learned, i));
    }
    return cnnvp_onnx_export(trainer->file, file, &graph, learned->error);
}

cnnvp_result cnnvp_trainer_export(cnnvp_trainer *trainer, cnnvp_platform *platform, const char *file,
                                  struct cnnvp_error *error)
{
    struct learned learned = {.trainer = trainer, .platform = platform, .error = error};
    if (trainer->options.timing_only)
        return cnnvp_compiler_error(error, "a timing-only training has learned nothing that could be written");
    CNNVP_TRY(cnnvp_trainer_check_loaded(trainer, error));
    const cnnvp_result result = export(&learned, file);
    cnnvp_arena_free(&learned.arena);
    return result;
}

size_t cnnvp_trainer_layers(const cnnvp_trainer *trainer)
{
    return trainer->net.count;
}

const char *cnnvp_trainer_layer_name(const cnnvp_trainer *trainer, size_t layer)
{
    return layer < trainer->net.count ? trainer->graph.layers[trainer->net.nodes[layer].layer].name : NULL;
}
