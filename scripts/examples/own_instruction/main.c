/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the core: loads packed words, unpacks them with the new instruction, and checks the result. */
#include <stdio.h>

#include "kit.h"
#include "platform.h"

enum { WORDS = 1000, INPUT_BUFFER = 0, OUTPUT_BUFFER = 2 };
enum { LOAD = 16, STORE = 32, UNPACK = 48 }; /* registers of the instruction element that hold the descriptors */

static int16_t plain[WORDS], result[WORDS] __attribute__((aligned(64)));
static uint16_t packed[2 * WORDS] __attribute__((aligned(64)));

/* Makes the words, three of four of which are 0, and packs them. Returns the number of pairs. */
static uint32_t pack(void)
{
    uint32_t pairs = 0, zeros = 0;
    for (int i = 0; i < WORDS; ++i) {
        plain[i] = (int16_t)(i * 7 % 4 == 0 ? i - 500 : 0);
        if (plain[i] == 0) {
            ++zeros;
            continue;
        }
        packed[2 * pairs] = (uint16_t)zeros;
        packed[2 * pairs++ + 1] = (uint16_t)plain[i];
        zeros = 0;
    }
    return pairs;
}

static struct cnnvp_transfer row(const void *memory, uint32_t bytes)
{
    return (struct cnnvp_transfer){
        .memory_addr = cnnvp_kit_address(memory),
        .row_bytes = bytes,
        .rows = 1,
        .planes = 1,
        .feature_words = bytes / 2};
}

int main(void)
{
    struct cnnvp_element *element = cnnvp_kit_element();
    const uint32_t pairs = pack();
    const struct cnnvp_transfer load = row(packed, pairs * 4), store = row(result, sizeof result);
    const struct cnnvp_custom_unpack unpack = {.pairs = pairs, .count = WORDS};
    CNNVP_KIT_PUSH(element, request, INPUT_BUFFER << CNNVP_STATUS_request_buffer, 0, LOAD, &load);
    CNNVP_KIT_PUSH(element, receive, INPUT_BUFFER << CNNVP_STATUS_receive_buffer, 0, LOAD, &load);
    cnnvp_kit_layer(&(struct cnnvp_kit_layer){.tag = 1, .name = "unpack", .op = "unpack"});
    CNNVP_KIT_PUSH(element, unpack, 0, 0, UNPACK, &unpack);
    CNNVP_KIT_PUSH(element, store, OUTPUT_BUFFER << CNNVP_STATUS_store_buffer, 0, STORE, &store);
    if (cnnvp_kit_finish() != 0)
        return 1;
    for (int i = 0; i < WORDS; ++i)
        if (result[i] != plain[i]) {
            printf("word %d: %d, not %d\n", i, result[i], plain[i]);
            return 1;
        }
    printf("%lu pairs, %d words as expected\n", (unsigned long)pairs, WORDS);
    return 0;
}
