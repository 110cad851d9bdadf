/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <unistd.h>

#include "test.h"

#include "cnnvp_command.h"

struct session_setup session_setup(const char *network, uint32_t channels, uint32_t side, uint32_t classes)
{
    return (struct session_setup){
        .network = network,
        .channels = channels,
        .height = side,
        .width = side,
        .classes = classes,
        .images = 8,
        .options = {.struct_size = sizeof(struct cnnvp_trainer_options),
                    .rounding = CNNVP_ROUND_STOCHASTIC,
                    .batch = 4,
                    .rate = 0.05f,
                    .momentum = 0.9f,
                    .seed = 1,
                    .epochs = 1},
    };
}

/* ---- data sets that are made up: every class has a pattern, and noise on it ---- */

static void put_big(FILE *file, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        (void)fputc((int)(value >> shift & 0xffu), file);
}

static uint32_t label_of(const struct session_setup *setup, uint64_t seed, uint32_t image)
{
    return (uint32_t)(cnnvp_round_random(seed, image) % setup->classes);
}

static int write_images(const struct session_setup *setup, uint64_t seed, uint32_t images, const char *name)
{
    FILE *file = fopen(name, "wb");
    if (file == NULL)
        return 0;
    put_big(file, 0x00000804u);
    put_big(file, images);
    put_big(file, setup->channels);
    put_big(file, setup->height);
    put_big(file, setup->width);
    const uint64_t words = (uint64_t)setup->channels * setup->height * setup->width;
    for (uint32_t i = 0; i < images; ++i)
        for (uint64_t w = 0; w < words; ++w) {
            const uint64_t pattern = cnnvp_round_random(1000u + label_of(setup, seed, i), w) >> 57;
            const uint64_t noise = cnnvp_round_random(seed + 7u + i, w) >> 58;
            (void)fputc(w == 0 ? 255 : (int)(pattern + noise), file); /* one exponent for all data sets */
        }
    return fclose(file) == 0;
}

static int write_labels(const struct session_setup *setup, uint64_t seed, uint32_t images, const char *name)
{
    FILE *file = fopen(name, "wb");
    if (file == NULL)
        return 0;
    put_big(file, 0x00000801u);
    put_big(file, images);
    for (uint32_t i = 0; i < images; ++i)
        (void)fputc((int)label_of(setup, seed, i), file);
    return fclose(file) == 0;
}

static cnnvp_result make_dataset(const struct session_setup *setup, uint64_t seed, uint32_t images,
                                 cnnvp_dataset **dataset, struct cnnvp_error *error)
{
    char names[2][64];
    char text[160];
    (void)snprintf(names[0], sizeof names[0], "trainer-images-%ld", (long)getpid());
    (void)snprintf(names[1], sizeof names[1], "trainer-labels-%ld", (long)getpid());
    (void)snprintf(text, sizeof text, "idx:%s,%s", names[0], names[1]);
    assert_true(write_images(setup, seed, images, names[0]));
    assert_true(write_labels(setup, seed, images, names[1]));
    const cnnvp_result result = cnnvp_dataset_new(text, 0, dataset, error);
    (void)remove(names[0]);
    (void)remove(names[1]);
    return result;
}

/* ---- run ---- */

static cnnvp_result prepare(const struct session_setup *setup, struct session *session)
{
    struct cnnvp_trainer_options options = setup->options;
    cnnvp_result result = cnnvp_config_new("trainer", &session->config, &session->error);
    for (size_t i = 0; i < SESSION_SETS && result == CNNVP_DONE && setup->sets[i] != NULL; ++i)
        result = cnnvp_config_set(session->config, setup->sets[i], &session->error);
    if (result == CNNVP_DONE && setup->native)
        result = cnnvp_config_set(session->config, TEST_NATIVE_CPU, &session->error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(session->config, &session->error);
    if (result == CNNVP_DONE)
        result = make_dataset(setup, 1, setup->images, &session->dataset, &session->error);
    if (result == CNNVP_DONE && setup->evaluation != 0)
        result = make_dataset(setup, 2, setup->evaluation, &session->evaluation, &session->error);
    if (result != CNNVP_DONE)
        return result;
    options.dataset = session->dataset;
    options.evaluation = session->evaluation;
    result = cnnvp_trainer_new(setup->network, session->config, &options, &session->trainer, &session->error);
    if (result == CNNVP_DONE && setup->state != NULL)
        result = cnnvp_trainer_set_state(session->trainer, setup->state, setup->state_size, &session->error);
    return result;
}

cnnvp_result session_open(const struct session_setup *setup, struct session *session)
{
    *session = (struct session){.config = NULL};
    cnnvp_result result = prepare(setup, session);
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options,
        .timing_only = setup->options.timing_only,
        .console = cnnvp_trainer_console,
        .console_context = session->trainer,
    };
    if (result == CNNVP_DONE)
        result = cnnvp_platform_new(session->config, &options, &session->platform, &session->error);
    return result == CNNVP_DONE ? cnnvp_trainer_load(session->trainer, session->platform, &session->error) : result;
}

cnnvp_result session_step(struct session *session)
{
    struct cnnvp_run_result ended;
    struct cnnvp_train_record *record = &session->records[session->record_count];
    assert_true(session->record_count < SESSION_STEPS);
    const cnnvp_result result =
        cnnvp_trainer_step(session->trainer, session->platform, record, &ended, &session->error);
    if (result == CNNVP_DONE && record->event != CNNVP_TRAIN_END)
        ++session->record_count;
    return result;
}

cnnvp_result session_run(const struct session_setup *setup, struct session *session)
{
    cnnvp_result result = session_open(setup, session);
    uint64_t steps = 0;
    while (result == CNNVP_DONE) {
        const size_t before = session->record_count;
        result = session_step(session);
        if (result != CNNVP_DONE || session->record_count == before)
            break;
        steps += session->records[before].event == CNNVP_TRAIN_STEP;
        if (setup->stop_after != 0 && steps == setup->stop_after)
            break;
    }
    return result == CNNVP_DONE ? cnnvp_platform_stats(session->platform, &session->stats) : result;
}

void session_close(struct session *session)
{
    cnnvp_platform_free(session->platform);
    cnnvp_trainer_free(session->trainer);
    cnnvp_dataset_free(session->dataset);
    cnnvp_dataset_free(session->evaluation);
    cnnvp_config_free(session->config);
    free(session->stats);
    *session = (struct session){.config = NULL};
}

struct cnnvp_array session_tensor(struct session *session, size_t layer, enum cnnvp_train_tensor tensor)
{
    struct cnnvp_array values;
    if (cnnvp_trainer_tensor(session->trainer, session->platform, layer, tensor, &values, &session->error) !=
        CNNVP_DONE)
        fail_msg("%s", session->error.text);
    return values;
}
