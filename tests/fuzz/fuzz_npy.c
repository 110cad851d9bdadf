/* SPDX-License-Identifier: Apache-2.0 */
/* An array file; what was read is all there. */
#include "fuzz.h"

#include "cnnvp_network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t widths[] = {4, 1, 8, 2};
    struct cnnvp_array array = {0};
    struct cnnvp_error error = {""};
    if (cnnvp_npy_read(fuzz_file(data, size), &array, &error) != CNNVP_DONE) {
        fuzz_require(error.text[0] != '\0', "a message");
        return 0;
    }
    size_t bytes = widths[array.type];
    for (size_t i = 0; i < array.rank; ++i)
        bytes *= array.shape[i];
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < bytes; ++i)
        sum = (uint8_t)(sum + ((const uint8_t *)array.data)[i]);
    cnnvp_array_clear(&array);
    return 0;
}
