/* SPDX-License-Identifier: Apache-2.0 */
/* The training loop: runs steps until the end, an error or a signal. */
#include "base.h"
#include "train.h"

#include <inttypes.h>
#include <string.h>

static struct train_point point_of(const struct cnnvp_train_record *record)
{
    return (struct train_point){
        .step = record->step + 1,
        .epoch = record->epoch,
        .images = record->images,
        .correct = record->correct,
        .loss = record->loss,
        .time_ps = record->time_ps};
}

static cnnvp_result take_step(struct train *train, const struct cnnvp_train_record *record)
{
    const struct cnnvp_options *options = &train->options->all;
    const struct train_point point = point_of(record);
    const int epoch_end = point.step == train->info.steps || point.step % train->info.steps_per_epoch == 0;
    CNNVP_TRY(train_history_add(&train->history, &point));
    train->history.nonfinite += record->nonfinite;
    train_show_progress(train, 0);
    if (epoch_end && train->evaluation == NULL)
        train_show_epoch(train, NULL);
    if (options->checkpoint != NULL &&
        (options->checkpoint_every ? point.step % options->checkpoint_every == 0 : epoch_end)) {
        CNNVP_TRY(train_write_log(train)); /* first: a resumed log may have extra rows, but must not miss any */
        return train_checkpoint_write(train);
    }
    return CNNVP_DONE;
}

/* Runs until the next event. After a signal within a step, it completes the step first if there is a checkpoint to
 * write. */
static cnnvp_result next_event(struct train *train, struct cnnvp_train_record *record)
{
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    cli_error.text[0] = '\0';
    cnnvp_result result = cnnvp_trainer_step(train->trainer, train->platform, record, &end, &cli_error);
    while (result == CNNVP_FAILED && end.end == CNNVP_END_INTERRUPTED && train->options->all.checkpoint != NULL)
        result = cnnvp_trainer_step(train->trainer, train->platform, record, &end, &cli_error);
    if (result == CNNVP_DONE)
        return result;
    if (cli_error.text[0] && strcmp(cli_error.text, end.reason) != 0)
        return cli_report(result);
    cli_report_end(&end);
    return result;
}

static cnnvp_result stop(struct train *train)
{
    const struct train_history *history = &train->history;
    const uint64_t step = history->step_count ? history->steps[history->step_count - 1].step : train->first_step;
    if (train->options->all.checkpoint == NULL) {
        cli_message("interrupted after step %" PRIu64 "; with --checkpoint, training could continue", step);
        return CNNVP_FAILED;
    }
    if (train_checkpoint_write(train) == CNNVP_DONE)
        cli_message("interrupted after step %" PRIu64 "; --resume %s continues from there", step,
                    train->options->all.checkpoint);
    return CNNVP_FAILED;
}

cnnvp_result train_loop(struct train *train, int *complete)
{
    struct cnnvp_train_record record = {.event = CNNVP_TRAIN_STEP};
    cnnvp_result result = CNNVP_DONE;
    *complete = 0;
    cli_progress_begin(&train->progress, train->options->all.quiet);
    train->shown = cnnvp_clock();
    train_show_header(train);
    for (;;) {
        result = next_event(train, &record);
        if (train->history.step_count == 0)
            train->first_step = record.step;
        if (result != CNNVP_DONE)
            break;
        if (record.event == CNNVP_TRAIN_END) {
            *complete = 1;
            break;
        }
        if (record.event == CNNVP_TRAIN_EVALUATION) {
            const struct train_point point = point_of(&record);
            train_show_epoch(train, &point);
        } else {
            result = take_step(train, &record);
        }
        if (result == CNNVP_DONE && cli_was_interrupted())
            result = stop(train);
        if (result != CNNVP_DONE)
            break;
    }
    train_show_epoch(train, NULL); /* the steps of an epoch that has not ended */
    train_show_progress(train, 1);
    if (result == CNNVP_DONE && train->options->all.checkpoint != NULL)
        result = train_checkpoint_write(train);
    return result;
}
