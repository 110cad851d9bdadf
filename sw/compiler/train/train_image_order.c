/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a training takes its images: random, that of the data set, or that of a file. */
#include "train_image_order.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_data.h"
#include "cnnvp_integer.h"
#include "input_file.h"

enum { DIGITS = 11 }; /* most characters of a number and its separator */

#define BLANKS " \t\n\v\f\r"

static cnnvp_result refuse_number(const char *file, const char *text, const char *at, uint64_t images,
                                  struct cnnvp_error *error)
{
    unsigned line = 1;
    for (const char *before = text; before < at; ++before)
        line += *before == '\n';
    return cnnvp_compiler_error(error, "%s:%u: \"%.*s\" is no number of an image, 0 to %llu", file, line,
                                (int)cnnvp_minimum(strcspn(at, BLANKS), 20), at, (unsigned long long)images - 1u);
}

static cnnvp_result read_file(const char *file, uint64_t images, uint64_t epochs, struct cnnvp_train_image_order *order,
                              struct cnnvp_error *error)
{
    CNNVP_FREED char *text = NULL;
    const uint64_t most = images * epochs;
    CNNVP_TRY(cnnvp_input_text(file, most * DIGITS + 4096u, &text, NULL, error));
    const char *at = text + strspn(text, BLANKS);
    uint64_t count = 0;
    order->numbers = malloc(cnnvp_minimum(most, strlen(text)) * sizeof *order->numbers);
    CNNVP_TRY_MEMORY(order->numbers != NULL, error);
    while (*at != '\0' && count < most) {
        char *end;
        errno = 0;
        const unsigned long value = strtoul(at, &end, 10);
        const size_t blanks = strspn(end, BLANKS);
        if (!isdigit((unsigned char)*at) || (*end != '\0' && blanks == 0) || errno != 0 || value >= images)
            return refuse_number(file, text, at, images, error);
        order->numbers[count++] = (uint32_t)value;
        at = end + blanks;
    }
    if (*at != '\0' || (count != images && count != most))
        return cnnvp_compiler_error(
            error, "%s: it needs the numbers of %llu images for each epoch, or %llu for all; there are %s%llu", file,
            (unsigned long long)images, (unsigned long long)most, *at != '\0' ? "more than " : "",
            (unsigned long long)count);
    order->epochs = count / images;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_image_order_read(const char *shuffle, uint64_t seed, uint64_t images, uint64_t epochs,
                                          struct cnnvp_train_image_order *order, struct cnnvp_error *error)
{
    *order = (struct cnnvp_train_image_order){
        .images = images, .seed = seed, .in_order = shuffle != NULL && strcmp(shuffle, "off") == 0};
    if (shuffle == NULL || strcmp(shuffle, "on") == 0 || order->in_order)
        return CNNVP_DONE;
    return read_file(shuffle, images, epochs, order, error);
}

void cnnvp_train_image_order_clear(struct cnnvp_train_image_order *order)
{
    free(order->numbers);
    order->numbers = NULL;
}

void cnnvp_train_image_order_of(const struct cnnvp_train_image_order *order, uint64_t epoch, uint32_t *numbers)
{
    const uint32_t images = (uint32_t)order->images;
    if (order->numbers != NULL)
        memcpy(numbers, order->numbers + epoch % order->epochs * images, images * sizeof *numbers);
    else if (!order->in_order)
        cnnvp_dataset_order(order->seed, epoch, images, numbers);
    else
        for (uint32_t i = 0; i < images; ++i)
            numbers[i] = i;
}
