/* SPDX-License-Identifier: Apache-2.0 */
/* A program of raw instruction words for the instruction element. The host leaves it at CNNVP_BINARY_ADDRESS for the
 * guest program: this header, then the words at offset CNNVP_WORDS_OFFSET. All members are 32-bit little-endian. */
#ifndef CNNVP_WORDS_BINARY_H
#define CNNVP_WORDS_BINARY_H

#include "binary_place.h"

#define CNNVP_WORDS_BINARY_MAGIC UINT32_C(0x57564e43) /* "CNVW" */
#define CNNVP_WORDS_BINARY_VERSION UINT32_C(1)
#define CNNVP_WORDS_OFFSET 64u

struct cnnvp_words_binary {
    uint32_t magic;
    uint32_t version;
    uint32_t element;     /* address of the instruction element's registers */
    uint32_t plic;        /* address of the interrupt controller */
    uint32_t element_irq; /* line of the element at the interrupt controller */
    uint32_t count;       /* words of the program, 8 bytes each */
};

#endif
