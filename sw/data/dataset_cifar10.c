/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the binary version of CIFAR-10: records of a label and three planes (red, green, blue) of 32 x 32 bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"

enum { CHANNELS = 3, SIDE = 32, IMAGE = CHANNELS * SIDE * SIDE, RECORD = 1 + IMAGE, CLASSES = 10 };
/* Records per read. */
enum { BATCH = 64 };

static cnnvp_result grow(struct cnnvp_dataset *dataset, uint64_t *room, struct cnnvp_error *error)
{
    if (dataset->images + BATCH <= *room)
        return CNNVP_DONE;
    const uint64_t larger = *room * 2 + BATCH;
    uint8_t *pixels = realloc(dataset->pixels, larger * IMAGE);
    if (pixels != NULL)
        dataset->pixels = pixels;
    uint8_t *labels = pixels != NULL ? realloc(dataset->labels, larger) : NULL;
    CNNVP_TRY_MEMORY(labels != NULL, error);
    dataset->labels = labels;
    *room = larger;
    return CNNVP_DONE;
}

static cnnvp_result take_record(const struct cnnvp_data_file *file, const uint8_t *record, uint64_t number,
                                struct cnnvp_dataset *dataset)
{
    if (record[0] >= CLASSES)
        return cnnvp_config_error(file->error, NULL,
                                  "%s: record %" PRIu64 " has label %u; CIFAR-10 has 0 to %d (is it the "
                                  "binary version, %d bytes a record?)",
                                  file->name, number, record[0], CLASSES - 1, RECORD);
    dataset->labels[dataset->images] = record[0];
    memcpy(dataset->pixels + dataset->images * IMAGE, record + 1, IMAGE);
    ++dataset->images;
    return CNNVP_DONE;
}

static cnnvp_result read_file(struct cnnvp_data_file *file, uint64_t limit, struct cnnvp_dataset *dataset,
                              uint64_t *room)
{
    CNNVP_FREED uint8_t *records = malloc((size_t)BATCH * RECORD);
    CNNVP_TRY_MEMORY(records != NULL, file->error);
    size_t got = (size_t)BATCH * RECORD;
    uint64_t number = 0;
    while (got == (size_t)BATCH * RECORD && (limit == 0 || dataset->images < limit)) {
        CNNVP_TRY(cnnvp_data_some(file, records, (size_t)BATCH * RECORD, &got));
        if (dataset->images + BATCH > CNNVP_DATASET_BYTES_MAX / IMAGE)
            return cnnvp_config_error(
                file->error, NULL, "%s: more than 1 GiB of images; use fewer (--limit)", file->name);
        CNNVP_TRY(grow(dataset, room, file->error));
        for (size_t at = 0; at + RECORD <= got && (limit == 0 || dataset->images < limit); at += RECORD)
            CNNVP_TRY(take_record(file, records + at, number++, dataset));
        if (got % RECORD != 0 && (limit == 0 || dataset->images < limit))
            return cnnvp_config_error(file->error, NULL, "%s: cut off in record %" PRIu64 "; CIFAR-10's have %d bytes",
                                      file->name, number, RECORD);
    }
    return number != 0 ? CNNVP_DONE
                       : cnnvp_config_error(file->error, NULL,
                                            "%s: the file is empty; CIFAR-10's binary version is needed", file->name);
}

cnnvp_result cnnvp_data_cifar10(char *files, uint64_t limit, struct cnnvp_dataset *dataset, struct cnnvp_error *error)
{
    uint64_t room = 0;
    dataset->channels = CHANNELS;
    dataset->height = dataset->width = SIDE;
    for (char *next = files; next != NULL && (limit == 0 || dataset->images < limit);) {
        char *name = next;
        next = strchr(name, ',');
        if (next != NULL)
            *next++ = '\0';
        CNNVP_SCOPED(cnnvp_data_close) struct cnnvp_data_file file = {.stream = NULL};
        CNNVP_TRY(cnnvp_data_open(name, &file, error));
        CNNVP_TRY(read_file(&file, limit, dataset, &room));
    }
    return cnnvp_data_sources(dataset, files, files, error);
}
