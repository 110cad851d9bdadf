/* SPDX-License-Identifier: Apache-2.0 */
/* A data set: the first byte says which file the rest is (images, labels of two images, CIFAR-10). What was read is all
 * there, and fits into its own shape. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cnnvp_data.h"

/* Labels for images, or images for labels: two of one byte. */
static const uint8_t two_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 0};
static const uint8_t two_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 9, 8};

static const char *other_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char name[64];
    if (file < 0) {
        file = memfd_create("other", 0);
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    }
    fuzz_require(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
                 "another file in memory");
    return name;
}

/* Reads every byte. */
static uint64_t sum_of(const cnnvp_dataset *dataset, const struct cnnvp_dataset_info *info)
{
    const uint64_t bytes = (uint64_t)info->channels * info->height * info->width;
    uint64_t sum = cnnvp_dataset_hash(dataset);
    for (uint64_t i = 0; i < info->images; ++i) {
        const uint32_t label = cnnvp_dataset_label(dataset, i);
        const uint8_t *image = cnnvp_dataset_image(dataset, i);
        fuzz_require(label < info->classes, "a label of a class");
        for (uint64_t byte = 0; byte < bytes; ++byte)
            sum = sum * 31u + image[byte];
        sum += label;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char text[256];
    struct cnnvp_error error = {""};
    cnnvp_dataset *dataset = NULL;
    const char *file = fuzz_file(data + 1, size - 1);
    if (data[0] % 3 == 0)
        (void)snprintf(text, sizeof text, "idx:%s,%s", file, other_file(two_labels, sizeof two_labels));
    else if (data[0] % 3 == 1)
        (void)snprintf(text, sizeof text, "idx:%s,%s", other_file(two_images, sizeof two_images), file);
    else
        (void)snprintf(text, sizeof text, "cifar10:%s", file);
    if (cnnvp_dataset_new(text, data[0] / 3, &dataset, &error) != CNNVP_DONE) {
        fuzz_require(dataset == NULL && error.text[0] != '\0', "a message");
        return 0;
    }
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    fuzz_require(info.images > 0 && (data[0] < 3 || info.images <= data[0] / 3), "the limit");
    const uint64_t sum = sum_of(dataset, &info);
    fuzz_require(sum_of(dataset, &info) == sum, "the same when read again");
    fuzz_require(cnnvp_dataset_fit(dataset, info.channels, info.height, info.width, info.classes, &error) == CNNVP_DONE,
                 "a data set fits its own shape");
    cnnvp_dataset_free(dataset);
    return 0;
}
