/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler text; what assembles is disassembled to text of the same words, unless .word made something else of
 * them. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp_asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cnnvp_error error = {""};
    uint64_t *words = NULL, *again = NULL;
    size_t count = 0, count_again = 0;
    char *text = malloc(size + 1u), *listing = NULL;
    fuzz_require(text != NULL, "memory");
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    const int has_data = strstr(text, ".word") != NULL;
    const cnnvp_result result = cnnvp_assemble("fuzz.s", text, NULL, &words, &count, &error);
    free(text);
    if (result != CNNVP_DONE) {
        fuzz_require(error.text[0] != '\0' && words == NULL, "a message");
        return 0;
    }
    uint8_t *bytes = malloc(count * 8u + 1u);
    fuzz_require(bytes != NULL, "memory");
    for (size_t i = 0; i < count * 8u; ++i)
        bytes[i] = (uint8_t)(words[i / 8u] >> (i % 8u * 8u));
    if (cnnvp_disassemble("fuzz.bin", bytes, count * 8u, NULL, &listing, &error) == CNNVP_DONE) {
        fuzz_require(cnnvp_assemble("listing.s", listing, NULL, &again, &count_again, &error) == CNNVP_DONE,
                     "it assembles");
        fuzz_require(count == count_again && (!count || memcmp(words, again, count * 8u) == 0), "the same words");
    } else {
        fuzz_require(has_data, "assembled instructions are disassembled");
    }
    free(words);
    free(again);
    free(bytes);
    free(listing);
    return 0;
}
