/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how the outputs compare with labels and with the float model. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>

void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream)
{
    const double images = (double)accuracy->images;
    (void)fprintf(stream,
                  "%-20s  %.2f %% (%" PRIu64 " of %" PRIu64 "), float model %.2f %% (%" PRIu64 " of %" PRIu64 ")\n",
                  "top-1 accuracy", 100.0 * (double)accuracy->correct / images, accuracy->correct, accuracy->images,
                  100.0 * (double)accuracy->reference_correct / images, accuracy->reference_correct, accuracy->images);
}

void accuracy_print_difference(const char *name, const struct cnnvp_difference *difference, FILE *stream)
{
    (void)fprintf(stream, "%-20s  %s%s", "from the float model", name != NULL ? name : "", name != NULL ? ": " : "");
    if (!isfinite(difference->signal) || !isfinite(difference->noise))
        (void)fprintf(stream, "its values are not all finite");
    else if (!(difference->noise > 0))
        (void)fprintf(stream, "not at all, SQNR without limit");
    else if (!(difference->signal > 0))
        (void)fprintf(stream, "its values are all 0, these are up to %.3g", difference->largest);
    else
        (void)fprintf(stream, "SQNR %.1f dB, at most %.3f %% of the maximum", cnnvp_sqnr(difference),
                      100.0 * difference->largest / difference->magnitude);
    if (difference->images)
        (void)fprintf(stream, "; same top-1 in %" PRIu64 " of %" PRIu64 " images", difference->agreeing,
                      difference->images);
    (void)fputc('\n', stream);
}

void accuracy_warn(const char *name, const struct cnnvp_difference *difference)
{
    static const char hint[] = "--dump FOLDER says which tensors lose it";
    if (!isfinite(difference->signal) || !isfinite(difference->noise))
        cli_message("warning: output \"%s\": the float model's values are not all finite", name);
    else if (difference->noise > 0 && !(difference->signal > 0))
        cli_message("warning: output \"%s\": the float model's values are all 0, these are up to %.3g; %s", name,
                    difference->largest, hint);
    else if (difference->noise > 0 && cnnvp_sqnr(difference) < ACCURACY_DECIBELS)
        cli_message("warning: output \"%s\": SQNR %.1f dB against the float model, below %d dB; %s", name,
                    cnnvp_sqnr(difference), ACCURACY_DECIBELS, hint);
}
