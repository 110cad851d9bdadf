/* SPDX-License-Identifier: Apache-2.0 */
/* A progress line on standard error for whatever takes more than two seconds. It appears only on a terminal, and is
 * cleared before other output. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "cli.h"

#define SHOW_FIRST 2.0 /* seconds */
#define SHOW_AGAIN 0.2
enum { BAR = 30 };

const char *cli_duration_text(char text[32], double seconds)
{
    const uint64_t whole = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 0;
    if (whole >= 3600)
        (void)snprintf(text, 32, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, whole / 3600, whole / 60 % 60, whole % 60);
    else
        (void)snprintf(text, 32, "%" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
    return text;
}

void cli_progress_begin(struct cli_progress *progress, int quiet)
{
    *progress = (struct cli_progress){.on = !quiet && isatty(STDERR_FILENO), .began = cnnvp_clock()};
}

void cli_progress_show(struct cli_progress *progress, double share, const char *text)
{
    const double now = progress->on ? cnnvp_clock() : 0;
    char bar[BAR + 1], left[32] = "-";
    if (!progress->on || now - progress->began < SHOW_FIRST || now - progress->shown < SHOW_AGAIN)
        return;
    progress->share = share > progress->share ? share : progress->share;
    const size_t filled = progress->share < 1 ? (size_t)(progress->share * BAR) : BAR;
    memset(bar, '#', filled);
    memset(bar + filled, '.', BAR - filled);
    bar[BAR] = '\0';
    if (progress->share > 0)
        (void)cli_duration_text(left, (now - progress->began) * (1 - progress->share) / progress->share);
    (void)fprintf(stderr, "\r[%s] %3.0f %%  %s  ETA %s\033[K", bar, 100 * progress->share, text, left);
    (void)fflush(stderr);
    progress->shown = now;
}

void cli_progress_clear(struct cli_progress *progress)
{
    if (progress->on && progress->shown > 0)
        (void)fputs("\r\033[K", stderr);
    progress->shown = 0;
}

void cli_progress_end(struct cli_progress *progress)
{
    cli_progress_clear(progress);
    progress->on = 0;
}

/* ---- a platform's run ---- */

static void watch(void *context, const struct cnnvp_progress *now)
{
    char text[64], time[32];
    (void)snprintf(text, sizeof text, "simulated %s", cli_time_text(time, (double)now->time_ps));
    cli_progress_show(context, now->share, text);
}

cnnvp_result cli_platform_run(const struct cli_options *options, cnnvp_platform *platform, struct cnnvp_run_result *end)
{
    struct cli_progress progress;
    cli_progress_begin(&progress, options->all.quiet);
    if (!progress.on || options->all.gdb != NULL || options->all.verbose)
        return cnnvp_platform_run(platform, end);
    const cnnvp_result result = cnnvp_platform_run_watched(platform, watch, &progress, end);
    cli_progress_end(&progress);
    return result;
}
