/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as instruction words; what has a text assembles to the same bytes. */
#include "fuzz.h"

#include <stdlib.h>

#include "cnnvp_asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cnnvp_error error = {""};
    char *text = NULL;
    uint64_t *words = NULL;
    size_t count = 0;
    if (cnnvp_disassemble("fuzz.bin", data, size, NULL, &text, &error) != CNNVP_DONE) {
        fuzz_require(error.text[0] != '\0' && text == NULL, "a message");
        return 0;
    }
    fuzz_require(cnnvp_assemble("fuzz.s", text, NULL, &words, &count, &error) == CNNVP_DONE, "a listing assembles");
    fuzz_require(count * 8u == size, "as many words");
    for (size_t i = 0; i < size; ++i)
        fuzz_require((uint8_t)(words[i / 8u] >> (i % 8u * 8u)) == data[i], "the same words");
    free(text);
    free(words);
    return 0;
}
