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

struct reader {
    const char *file, *at;
    uint64_t line;
};

static void skip_blanks(struct reader *reader)
{
    for (; isspace((unsigned char)*reader->at); ++reader->at)
        reader->line += *reader->at == '\n';
}

static cnnvp_result read_number(struct reader *reader, uint64_t images, uint32_t *number, struct cnnvp_error *error)
{
    char *end;
    errno = 0;
    const unsigned long value = strtoul(reader->at, &end, 10);
    if (!isdigit((unsigned char)*reader->at) || (*end != '\0' && !isspace((unsigned char)*end)) || errno != 0 ||
        value >= images)
        return cnnvp_compiler_error(
            error, "%s:%llu: \"%.*s\" is no number of an image, 0 to %llu", reader->file,
            (unsigned long long)reader->line, (int)cnnvp_minimum(strcspn(reader->at, " \t\n\v\f\r"), 20), reader->at,
            (unsigned long long)images - 1u);
    reader->at = end;
    *number = (uint32_t)value;
    return CNNVP_DONE;
}

static cnnvp_result read_file(const char *file, uint64_t images, uint64_t epochs, struct cnnvp_train_image_order *order,
                              struct cnnvp_error *error)
{
    CNNVP_FREED char *text = NULL;
    const uint64_t most = images * epochs;
    CNNVP_TRY(cnnvp_input_text(file, most * DIGITS + 4096u, &text, NULL, error));
    struct reader reader = {file, text, 1};
    uint64_t count = 0;
    order->numbers = malloc(cnnvp_minimum(most, strlen(text)) * sizeof *order->numbers);
    if (order->numbers == NULL)
        return cnnvp_compiler_no_memory(error);
    for (skip_blanks(&reader); *reader.at != '\0' && count < most; skip_blanks(&reader))
        CNNVP_TRY(read_number(&reader, images, &order->numbers[count++], error));
    if (*reader.at != '\0' || (count != images && count != most))
        return cnnvp_compiler_error(
            error, "%s: it needs the numbers of %llu images for each epoch, or %llu for all; there are %s%llu", file,
            (unsigned long long)images, (unsigned long long)most, *reader.at != '\0' ? "more than " : "",
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
