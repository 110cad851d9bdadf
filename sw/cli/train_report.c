/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a training run: progress line, a table row for each epoch, the loss as a curve, the log. */
#include "train.h"

#include "base.h"
#include "output_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds between progress lines if there is no terminal. */
#define SHOW_FILE 10.0
/* The progress line shows the mean over this many steps. */
#define SHOWN_STEPS 16u
enum { CURVE_COLUMNS = 64, CURVE_ROWS = 12 };

cnnvp_result train_history_add(struct train_history *history, const struct train_point *point)
{
    struct train_point *steps = cnnvp_grow(history->steps, history->step_count, sizeof *steps);
    if (steps == NULL)
        return cli_no_memory();
    history->steps = steps;
    steps[history->step_count++] = *point;
    return CNNVP_DONE;
}

/* Mean loss and accuracy of steps [first, end). */
static void summarise(const struct train_history *history, size_t first, size_t end, double *loss, double *accuracy)
{
    double images = 0, correct = 0, sum = 0;
    for (size_t i = first; i < end; ++i) {
        images += (double)history->steps[i].images;
        correct += (double)history->steps[i].correct;
        sum += history->steps[i].loss * (double)history->steps[i].images;
    }
    *loss = images > 0 ? sum / images : 0;
    *accuracy = images > 0 ? correct / images : 0;
}

/* "0.1234", or "1.234e+21" if training diverges. */
static const char *loss_text(double loss, char text[32])
{
    (void)snprintf(text, 32, loss < 1e5 ? "%.4f" : "%.3e", loss);
    return text;
}

/* Prints progress where there is no terminal: a line every SHOW_FILE seconds and one at the end. */
static void print_progress(struct train *train, const char *text, double share, int last)
{
    const double now = cnnvp_clock();
    char left[32];
    if (!last && now - train->shown < SHOW_FILE)
        return;
    train->shown = now;
    (void)fprintf(stderr, "%s  ETA %s\n", text,
                  cli_duration_text(left, (now - train->progress.began) * (1 - share) / share));
    (void)fflush(stderr);
}

void train_show_progress(struct train *train, int last)
{
    const struct train_history *history = &train->history;
    if (train->options->all.quiet || history->step_count == 0)
        return;
    const struct train_point *point = &history->steps[history->step_count - 1];
    const size_t first = history->step_count > SHOWN_STEPS ? history->step_count - SHOWN_STEPS : 0;
    const double share = (double)(point->step - train->first_step) / (double)(train->info.steps - train->first_step);
    double loss, accuracy;
    char time[32], mean[32], values[80] = "", text[200];
    summarise(history, first, history->step_count, &loss, &accuracy);
    if (!train->options->all.timing_only)
        (void)snprintf(values, sizeof values, "  loss %s  accuracy %.1f%%", loss_text(loss, mean), 100.0 * accuracy);
    (void)snprintf(text, sizeof text, "step %" PRIu64 "/%" PRIu64 "%s  simulated %s", point->step, train->info.steps,
                   values, cli_pico_text(time, 4, (double)point->time_ps, "s"));
    if (!train->progress.on)
        print_progress(train, text, share, last);
    else if (last)
        cli_progress_end(&train->progress);
    else
        cli_progress_show(&train->progress, share, text);
}

void train_show_header(const struct train *train)
{
    if (train->options->all.quiet)
        return;
    if (train->options->all.timing_only)
        (void)printf("%6s %9s %16s\n", "epoch", "steps", "simulated time");
    else
        (void)printf("%6s %9s %10s %10s %11s %14s %16s\n", "epoch", "steps", "loss", "accuracy", "eval loss",
                     "eval accuracy", "simulated time");
    (void)fflush(stdout);
}

void train_show_epoch(struct train *train, const struct train_point *evaluation)
{
    const struct train_history *history = &train->history;
    const size_t first = train->epoch_begin;
    double loss, accuracy;
    train->epoch_begin = history->step_count;
    if (first == history->step_count)
        return;
    summarise(history, first, history->step_count, &loss, &accuracy);
    train->epoch_loss = loss;
    train->epoch_accuracy = accuracy;
    if (evaluation != NULL)
        train->evaluated = *evaluation;
    if (train->options->all.quiet)
        return;
    const struct train_point *last = &history->steps[history->step_count - 1];
    char time[32], mean[32], eval_loss[32] = "-", eval_accuracy[32] = "-";
    if (evaluation != NULL) {
        (void)loss_text(evaluation->loss, eval_loss);
        (void)snprintf(eval_accuracy, sizeof eval_accuracy, "%.2f%%",
                       100.0 * (double)evaluation->correct / (double)evaluation->images);
    }
    (void)cli_pico_text(time, 4, (double)(evaluation != NULL ? evaluation->time_ps : last->time_ps), "s");
    cli_progress_clear(&train->progress);
    if (train->options->all.timing_only)
        (void)printf("%6" PRIu64 " %9" PRIu64 " %16s\n", last->epoch + 1, last->step, time);
    else
        (void)printf("%6" PRIu64 " %9" PRIu64 " %10s %9.2f%% %11s %14s %16s\n", last->epoch + 1, last->step,
                     loss_text(loss, mean), 100.0 * accuracy, eval_loss, eval_accuracy, time);
    (void)fflush(stdout);
}

/* Averages the loss over the steps of each column of the curve; returns the number of columns. */
static size_t thin(const struct train_history *history, double means[CURVE_COLUMNS])
{
    const size_t columns = history->step_count < CURVE_COLUMNS ? history->step_count : CURVE_COLUMNS;
    for (size_t column = 0; column < columns; ++column) {
        double accuracy;
        summarise(history, history->step_count * column / columns, history->step_count * (column + 1) / columns,
                  &means[column], &accuracy);
    }
    return columns;
}

void train_show_curve(const struct train_history *history, FILE *stream)
{
    double means[CURVE_COLUMNS];
    const size_t columns = thin(history, means);
    double top = 0;
    for (size_t i = 0; i < columns; ++i)
        top = isfinite(means[i]) && means[i] > top ? means[i] : top;
    if (columns < 2 || top <= 0)
        return;
    (void)fputc('\n', stream);
    for (int row = CURVE_ROWS - 1; row >= 0; --row) {
        char line[CURVE_COLUMNS + 1];
        for (size_t i = 0; i < columns; ++i) {
            const double height = isfinite(means[i]) ? means[i] / top * (CURVE_ROWS - 1) : CURVE_ROWS;
            line[i] = (int)(height + 0.5) == row ? '*' : ' ';
        }
        line[columns] = '\0';
        char label[32] = "";
        if (row % 4 == 3 || row == 0)
            (void)snprintf(label, sizeof label, top < 1e4 ? "%.3f" : "%.1e", top * row / (CURVE_ROWS - 1));
        (void)fprintf(stream, "%8s |%s\n", label, line);
    }
    (void)fprintf(stream, "%8s +", "loss");
    for (size_t i = 0; i < columns; ++i)
        (void)fputc('-', stream);
    (void)fprintf(stream, "\n%10s%-*" PRIu64 "%" PRIu64 "\n\n", "step ", (int)columns, history->steps[0].step,
                  history->steps[history->step_count - 1].step);
}

/* Infinity and NaN become null, since JSON has no such numbers. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *train_statistics(const struct train *train)
{
    const struct train_history *history = &train->history;
    const json_int_t steps =
        (json_int_t)(history->step_count ? history->steps[history->step_count - 1].step : train->first_step);
    json_t *object = json_pack("{s:I, s:I, s:o, s:o}", "steps", steps, "nonfinite", (json_int_t)history->nonfinite,
                               "loss", number(train->epoch_loss), "accuracy", number(train->epoch_accuracy));
    if (object != NULL && train->evaluated.images &&
        (json_object_set_new(object, "eval_loss", number(train->evaluated.loss)) != 0 ||
         json_object_set_new(object, "eval_accuracy",
                             json_real((double)train->evaluated.correct / (double)train->evaluated.images)) != 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

#define LOG_HEAD "step,loss,accuracy\n"

cnnvp_result train_read_log(struct train *train)
{
    const char *file = train->options->all.log;
    size_t size = 0;
    if (file == NULL || train->options->all.resume == NULL || access(file, F_OK) != 0)
        return CNNVP_DONE;
    const cnnvp_result result = cli_read_file(file, (size_t)1 << 30, &train->earlier_log, &size);
    if (result == CNNVP_DONE && size != 0 && strncmp(train->earlier_log, LOG_HEAD, strlen(LOG_HEAD)) != 0)
        return cli_bad(
            "--log: %s is no log of a training, which --resume would continue; its first line should be %.*s", file,
            (int)strlen(LOG_HEAD) - 1, LOG_HEAD);
    return result;
}

/* Copies the rows of the earlier log up to the step from which training has resumed. */
static void copy_earlier_rows(const struct train *train, cnnvp_output *output)
{
    const char *row = train->earlier_log != NULL ? strchr(train->earlier_log, '\n') : NULL;
    while (row != NULL && *++row != '\0' &&
           (train->history.step_count == 0 || strtoull(row, NULL, 10) <= train->first_step)) {
        const size_t length = strcspn(row, "\n");
        cnnvp_output_write(output, row, length);
        cnnvp_output_write(output, "\n", 1);
        row = row[length] != '\0' ? row + length : NULL;
    }
}

cnnvp_result train_write_log(const struct train *train)
{
    cnnvp_output *output = NULL;
    const struct train_history *history = &train->history;
    if (train->options->all.log == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(cli_report(cnnvp_output_new(train->options->all.log, &output, &cli_error)));
    cnnvp_output_printf(output, LOG_HEAD);
    copy_earlier_rows(train, output);
    for (size_t i = 0; i < history->step_count; ++i)
        cnnvp_output_printf(output, "%" PRIu64 ",%.9g,%.9g\n", history->steps[i].step, history->steps[i].loss,
                            (double)history->steps[i].correct / (double)history->steps[i].images);
    return cli_report(cnnvp_output_finish(output, &cli_error));
}
