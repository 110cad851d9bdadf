/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training on the platform against the reference trainer, step by step and (with 8 bits of mantissa) bit by bit: sums,
 * weights, gammas, betas, running statistics, velocities; losses and evaluations, whatever shares an exponent, however
 * errors round, and with weights of 8 bits alone. Steps of six images (a full pass and a short one) and of two at the
 * end of an epoch. Every TEST_EVERY-th case alone.
 */
#include <inttypes.h>
#include <math.h>

#include "test.h"

#include "cnnvp_data.h"
#include "problem.h"

enum { BATCH = 6, IMAGES = 14, EVALUATED = 7, EPOCHS = 2, SETS = 4 };

static uint64_t random_of(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* As documented in sw/binary/train_binary.h: the low word. */
static uint64_t seed_of(uint64_t seed, uint64_t step, uint32_t layer, enum train_what what)
{
    return (uint32_t)random_of(random_of(seed, step), (uint64_t)layer * 4 + (uint64_t)what);
}

struct session {
    cnnvp_config *config;
    cnnvp_dataset *dataset, *evaluation;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct train_net net;
    double tolerance; /* of values, against the tensor's largest; 0: bit by bit */
    uint8_t images[256 * PROBLEM_CHANNELS * PROBLEM_SIDE * PROBLEM_SIDE];
    uint8_t labels[256];
    uint8_t brightest[PROBLEM_CHANNELS];
};

static struct cnnvp_error problem_text;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem_text.text);
}

static void open_session(struct session *session, const struct problem *problem, struct cnnvp_trainer_options options,
                         int native, const char *const sets[SETS])
{
    const struct cnnvp_platform_options platform_options = {.struct_size = sizeof platform_options, .verbosity = -1};
    struct cnnvp_platform_options with_console = platform_options;
    done(cnnvp_config_new("trainer", &session->config, &problem_text));
    if (native)
        done(cnnvp_config_set(session->config, TEST_NATIVE_CPU, &problem_text));
    for (size_t i = 0; i < SETS && sets[i] != NULL; ++i)
        done(cnnvp_config_set(session->config, sets[i], &problem_text));
    done(cnnvp_config_resolve(session->config, &problem_text));
    done(cnnvp_dataset_new(problem->dataset, 0, &session->dataset, &problem_text));
    done(cnnvp_dataset_new(problem->evaluation, 0, &session->evaluation, &problem_text));
    done(cnnvp_dataset_fit_network(session->dataset, problem->network, NULL, 0, &problem_text));
    done(cnnvp_dataset_fit_network(session->evaluation, problem->network, NULL, 0, &problem_text));
    options.struct_size = sizeof options;
    options.dataset = session->dataset;
    options.evaluation = session->evaluation;
    done(cnnvp_trainer_new(problem->network, session->config, &options, &session->trainer, &problem_text));
    with_console.console = cnnvp_trainer_console;
    with_console.console_context = session->trainer;
    done(cnnvp_platform_new(session->config, &with_console, &session->platform, &problem_text));
    done(cnnvp_trainer_load(session->trainer, session->platform, &problem_text));
}

static void close_session(struct session *session)
{
    cnnvp_platform_free(session->platform);
    cnnvp_trainer_free(session->trainer);
    cnnvp_dataset_free(session->dataset);
    cnnvp_dataset_free(session->evaluation);
    cnnvp_config_free(session->config);
    train_net_free(&session->net);
    free(session);
}

static struct cnnvp_train_record next(struct session *session)
{
    struct cnnvp_train_record record;
    struct cnnvp_run_result result;
    if (cnnvp_trainer_step(session->trainer, session->platform, &record, &result, &problem_text) != CNNVP_DONE)
        fail_msg("%s %s", problem_text.text, result.reason);
    return record;
}

/* `want` has as many values as the platform's tensor. */
static void same(struct session *session, uint32_t layer, enum cnnvp_train_tensor tensor, const char *what,
                 const double *want, uint64_t n, uint64_t step)
{
    struct cnnvp_array have;
    uint64_t count = 1;
    done(cnnvp_trainer_tensor(session->trainer, session->platform, layer, tensor, &have, &problem_text));
    for (size_t i = 0; i < have.rank; ++i)
        count *= have.shape[i];
    assert_true(count >= n);
    const float *values = have.data;
    double most = 0;
    for (uint64_t i = 0; i < n; ++i)
        most = fabs(want[i]) > most ? fabs(want[i]) : most;
    for (uint64_t i = 0; i < n; ++i)
        if (!(fabs((double)values[i] - (double)(float)want[i]) <= session->tolerance * most))
            fail_msg("step %" PRIu64 ", layer %" PRIu32 ": %s %" PRIu64 " is %.9g, the reference has %.9g", step, layer,
                     what, i, (double)values[i], want[i]);
    cnnvp_array_clear(&have);
}

static void compare(struct session *session, uint32_t images, uint64_t step)
{
    for (uint32_t l = 0; l < PROBLEM_LAYERS; ++l) {
        const struct train_layer *layer = &session->net.layers[l];
        const uint64_t weights = train_weight_count(layer);
        if (!layer->bias)
            same(session, l, CNNVP_TRAIN_SUMS, "sum", layer->sums,
                 (uint64_t)images * layer->outputs * train_plane(layer), step);
        same(session, l, CNNVP_TRAIN_ERROR, "error", layer->errors,
             (uint64_t)images * layer->outputs * train_plane(layer), step);
        same(session, l, CNNVP_TRAIN_WEIGHT_VELOCITY, "velocity", layer->weight_velocity, weights, step);
        same(session, l, CNNVP_TRAIN_WEIGHT, "weight", layer->weights, weights, step);
        if (layer->bias)
            same(session, l, CNNVP_TRAIN_BIAS, "bias", layer->biases, layer->outputs, step);
        if (!layer->norm)
            continue;
        same(session, l, CNNVP_TRAIN_GAMMA, "gamma", layer->gamma, layer->outputs, step);
        same(session, l, CNNVP_TRAIN_BETA, "beta", layer->beta, layer->outputs, step);
        same(session, l, CNNVP_TRAIN_MEAN, "mean", layer->mean, layer->outputs, step);
        same(session, l, CNNVP_TRAIN_SIGMA, "sigma", layer->sigma, layer->outputs, step);
    }
}

static void gather(struct session *session, const cnnvp_dataset *from, const uint32_t *order, uint32_t count)
{
    const size_t size = PROBLEM_CHANNELS * PROBLEM_SIDE * PROBLEM_SIDE;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t index = order != NULL ? order[i] : i;
        memcpy(session->images + i * size, cnnvp_dataset_image(from, index), size);
        session->labels[i] = (uint8_t)cnnvp_dataset_label(from, index);
    }
}

static void look_for_brightest(struct session *session, const cnnvp_dataset *dataset, uint32_t images)
{
    memset(session->brightest, 0, sizeof session->brightest);
    for (uint32_t i = 0; i < images; ++i)
        for (size_t k = 0; k < PROBLEM_CHANNELS * PROBLEM_SIDE * PROBLEM_SIDE; ++k) {
            const uint8_t value = cnnvp_dataset_image(dataset, i)[k];
            uint8_t *const most = &session->brightest[k / (PROBLEM_SIDE * PROBLEM_SIDE)];
            *most = value > *most ? value : *most;
        }
    session->net.brightest = session->brightest;
}

static void check_step(struct session *session, uint64_t epoch, uint32_t first, uint64_t step, uint64_t seed)
{
    uint32_t order[IMAGES];
    const uint32_t count = IMAGES - first < BATCH ? IMAGES - first : BATCH;
    const struct cnnvp_train_record record = next(session);
    cnnvp_dataset_order(seed, epoch, IMAGES, order);
    gather(session, session->dataset, order + first, count);
    look_for_brightest(session, session->dataset, IMAGES);
    const struct train_result want = train_net_step(&session->net, session->images, session->labels, count);
    assert_int_equal(record.event, CNNVP_TRAIN_STEP);
    assert_int_equal(record.step, step);
    assert_int_equal(record.epoch, epoch);
    assert_int_equal(record.images, count);
    assert_int_equal(record.nonfinite, 0);
    compare(session, count, step);
    assert_int_equal(record.correct, want.correct);
    assert_true(fabs(record.loss - want.loss) < 1e-6 * (1 + want.loss));
}

static void check_evaluation(struct session *session, uint64_t step)
{
    const struct cnnvp_train_record record = next(session);
    gather(session, session->evaluation, NULL, EVALUATED);
    look_for_brightest(session, session->evaluation, EVALUATED);
    const struct train_result want = train_net_evaluate(&session->net, session->images, session->labels, EVALUATED);
    assert_int_equal(record.event, CNNVP_TRAIN_EVALUATION);
    assert_int_equal(record.step, step);
    assert_int_equal(record.images, EVALUATED);
    assert_int_equal(record.correct, want.correct);
    assert_true(fabs(record.loss - want.loss) < 1e-6 * (1 + want.loss));
}

/* One case: what the platform is set to, and whether batch norm's sigma is from the range. */
struct training_case {
    enum problem_kind kind;
    enum cnnvp_train_bn bn;
    enum cnnvp_rounding rounding;
    uint32_t bits;
    enum cnnvp_train_order order;
    enum cnnvp_train_block block;
    enum cnnvp_train_errors errors;
    enum cnnvp_train_spill spill;
    int narrow;
    int native;
    double tolerance;
    const char *sets[SETS];
};

static void check(const struct training_case *c, uint64_t seed)
{
    static const enum train_rounding roundings[] = {TRAIN_TRUNCATE, TRAIN_NEAREST, TRAIN_STOCHASTIC, TRAIN_FLOOR};
    const struct train_options reference = {
        .bits = c->bits,
        .rounding = roundings[c->rounding],
        .range = c->bn == CNNVP_TRAIN_BN_RANGE,
        .rate = (double)0.05f,
        .momentum = (double)0.9f,
        .bn_momentum = (double)0.1f,
        .seed = seed,
        .seed_of = seed_of,
        .block = (enum train_block)c->block,
        .no_master = c->narrow,
        .carried = c->errors == CNNVP_TRAIN_ERRORS_CARRIED ||
                   (c->errors == CNNVP_TRAIN_ERRORS_DEFAULT && c->rounding == CNNVP_ROUND_NEAREST)};
    const struct cnnvp_trainer_options options = {
        .rounding = c->rounding,
        .bn = c->bn,
        .order = c->order,
        .batch = BATCH,
        .rate = 0.05f,
        .momentum = 0.9f,
        .seed = seed,
        .epochs = EPOCHS,
        .block = c->block,
        .errors = c->errors,
        .spill = c->spill,
        .narrow = c->narrow};
    static unsigned cases;
    if (cases++ % TEST_EVERY != 0)
        return;
    struct problem problem;
    struct session *session = calloc(1, sizeof *session);
    uint64_t step = 0;
    assert_non_null(session);
    session->tolerance = c->tolerance;
    problem_new(&problem, c->kind, seed, IMAGES, EVALUATED);
    open_session(session, &problem, options, c->native, c->sets);
    problem_reference(&problem, seed, BATCH, &reference, &session->net);
    for (uint64_t epoch = 0; epoch < EPOCHS; ++epoch) {
        for (uint32_t first = 0; first < IMAGES; first += BATCH)
            check_step(session, epoch, first, step++, seed);
        check_evaluation(session, step - 1);
    }
    assert_int_equal(next(session).event, CNNVP_TRAIN_END);
    close_session(session);
    problem_free(&problem);
}

static void platform_trains_as_the_reference(void **state)
{
    (void)state;
    for (int kind = 0; kind < PROBLEM_KINDS; ++kind)
        for (int bn = 0; bn < (kind == PROBLEM_NORMED ? 2 : 1); ++bn)
            for (int rounding = 0; rounding < 4; ++rounding)
                check(&(const struct training_case){.kind = (enum problem_kind)kind,
                                                    .bn = (enum cnnvp_train_bn)bn,
                                                    .rounding = (enum cnnvp_rounding)rounding,
                                                    .bits = 8,
                                                    .native = 1},
                      UINT64_C(3) + (uint64_t)rounding);
}

static void exponents_of_images_and_channels(void **state)
{
    (void)state;
    for (int block = CNNVP_TRAIN_BLOCK_IMAGE; block <= CNNVP_TRAIN_BLOCK_CHANNEL; ++block)
        for (int kind = 0; kind < PROBLEM_KINDS; ++kind)
            for (int bn = 0; bn < (kind == PROBLEM_NORMED ? 2 : 1); ++bn)
                for (int rounding = 0; rounding < 3; ++rounding)
                    check(&(const struct training_case){.kind = (enum problem_kind)kind,
                                                        .bn = (enum cnnvp_train_bn)bn,
                                                        .rounding = (enum cnnvp_rounding)rounding,
                                                        .bits = 8,
                                                        .block = (enum cnnvp_train_block)block,
                                                        .native = 1},
                          UINT64_C(21) + (uint64_t)rounding);
}

static void weights_of_8_bits_alone(void **state)
{
    (void)state;
    for (int block = CNNVP_TRAIN_BLOCK_TENSOR; block <= CNNVP_TRAIN_BLOCK_CHANNEL; ++block)
        for (int kind = 0; kind < PROBLEM_KINDS; ++kind)
            for (int rounding = 1; rounding < 3; ++rounding)
                check(&(const struct training_case){.kind = (enum problem_kind)kind,
                                                    .narrow = 1,
                                                    .rounding = (enum cnnvp_rounding)rounding,
                                                    .bits = 8,
                                                    .block = (enum cnnvp_train_block)block,
                                                    .native = 1},
                      UINT64_C(31) + (uint64_t)rounding);
}

/* With every rounding of the rest; with 8 bits, fewer, and more. */
static void errors_plain_and_carried(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        const char *set;
    } widths[] = {{8, "pe_array.mantissa_bits=8"}, {5, "pe_array.mantissa_bits=5"}, {11, "pe_array.mantissa_bits=11"}};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; ++w)
        for (int errors = CNNVP_TRAIN_ERRORS_PLAIN; errors <= CNNVP_TRAIN_ERRORS_CARRIED; ++errors)
            for (int rounding = 0; rounding < 4; ++rounding)
                check(&(const struct training_case){.errors = (enum cnnvp_train_errors)errors,
                                                    .bits = widths[w].bits,
                                                    .rounding = (enum cnnvp_rounding)rounding,
                                                    .native = 1,
                                                    .sets = {widths[w].set}},
                      UINT64_C(41) + (uint64_t)rounding);
}

static void core_and_orders_change_nothing(void **state)
{
    (void)state;
    check(&(const struct training_case){.rounding = CNNVP_ROUND_STOCHASTIC, .bits = 8, .native = 0}, 11);
    check(
        &(const struct training_case){
            .rounding = CNNVP_ROUND_STOCHASTIC, .bits = 8, .native = 1, .order = CNNVP_TRAIN_ORDER_CHANNEL},
        11);
    check(&(const struct training_case){.rounding = CNNVP_ROUND_STOCHASTIC,
                                        .bits = 8,
                                        .native = 1,
                                        .sets = {"pe_array.arrays=2", "pe_array.cols=8"}},
          11);
}

/* S001's order: batch norm's inputs parked, after a tile's results; positions through the ReLU buffer. */
static void parking_and_staging_change_nothing(void **state)
{
    (void)state;
    for (int bn = 0; bn < 2; ++bn)
        for (int block = 0; block < 3; ++block)
            check(&(const struct training_case){.bn = (enum cnnvp_train_bn)bn,
                                                .rounding = CNNVP_ROUND_STOCHASTIC,
                                                .bits = 8,
                                                .block = (enum cnnvp_train_block)block,
                                                .spill = CNNVP_TRAIN_SPILL_LATE,
                                                .native = block != 0,
                                                .sets = {"encode.positions=staged", "relu_buffer.size=768"}},
                  UINT64_C(11) + (uint64_t)bn);
}

/* Maps in groups and zones of their own (Part B 1-8), their batch norm inputs parked in such, too. */
static void zones_change_nothing(void **state)
{
    (void)state;
    for (int block = 0; block < 3; ++block)
        for (int kind = 0; kind < PROBLEM_KINDS; ++kind)
            for (int bn = 0; bn < (kind == PROBLEM_NORMED ? 2 : 1); ++bn)
                check(
                    &(const struct training_case){
                        .kind = (enum problem_kind)kind,
                        .bn = (enum cnnvp_train_bn)bn,
                        .rounding = CNNVP_ROUND_STOCHASTIC,
                        .bits = block == 1 ? 11 : 8,
                        .block = (enum cnnvp_train_block)block,
                        .spill = kind == PROBLEM_NORMED ? CNNVP_TRAIN_SPILL_LATE : CNNVP_TRAIN_SPILL_EARLY,
                        .native = 1,
                        .sets = {"pe_array.layout=zones",
                                 block == 1 ? "pe_array.mantissa_bits=11" : "pe_array.mantissa_bits=8"}},
                    UINT64_C(51) + (uint64_t)bn);
    check(&(const struct training_case){.rounding = CNNVP_ROUND_STOCHASTIC,
                                        .bits = 8,
                                        .order = CNNVP_TRAIN_ORDER_CHANNEL,
                                        .sets = {"pe_array.layout=zones"}},
          11);
}

/* S001 as written: the four options of models/documents.md together. */
static void as_written_changes_nothing(void **state)
{
    (void)state;
    for (int bn = 0; bn < 2; ++bn)
        check(&(const struct training_case){.bn = (enum cnnvp_train_bn)bn,
                                            .rounding = CNNVP_ROUND_STOCHASTIC,
                                            .bits = 8,
                                            .order = CNNVP_TRAIN_ORDER_CHANNEL,
                                            .spill = CNNVP_TRAIN_SPILL_LATE,
                                            .native = 1,
                                            .sets = {"pe_array.layout=zones", "encode.positions=staged"}},
              61);
}

/* Sums of wide mantissas have more bits than the binary32 that slices of them meet in. */
static void wide_mantissas_train(void **state)
{
    (void)state;
    for (int bn = 0; bn < 2; ++bn)
        check(&(const struct training_case){.bn = (enum cnnvp_train_bn)bn,
                                            .rounding = CNNVP_ROUND_NEAREST,
                                            .bits = 24,
                                            .native = 1,
                                            .tolerance = 4e-6,
                                            .sets = {"pe_array.mantissa_bits=24"}},
              5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platform_trains_as_the_reference),
        cmocka_unit_test(exponents_of_images_and_channels),
        cmocka_unit_test(weights_of_8_bits_alone),
        cmocka_unit_test(errors_plain_and_carried),
        cmocka_unit_test(core_and_orders_change_nothing),
        cmocka_unit_test(parking_and_staging_change_nothing),
        cmocka_unit_test(zones_change_nothing),
        cmocka_unit_test(as_written_changes_nothing),
        cmocka_unit_test(wide_mantissas_train),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
