/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the core that uses the peripheral: 1 * 1 + ... + 10 * 10 = 385, with one interrupt per square. */
#include <stdio.h>

#include "kit.h"
#include "platform.h"

enum { VALUE, RESULT, READS }; /* registers, 32 bits each */

static volatile uint32_t *const square = (volatile uint32_t *)SQUARE_BASE;
static volatile uint32_t sum, interrupts;

static void take_result(void *context)
{
    (void)context;
    sum += square[RESULT]; /* the read clears the interrupt */
    ++interrupts;
}

int main(void)
{
    cnnvp_kit_handle(SQUARE_IRQ, take_result, NULL);
    for (uint32_t i = 1; i <= 10; ++i) {
        square[VALUE] = i;
        while (interrupts < i)
            ;
    }
    const uint64_t begin = cnnvp_kit_cycles();
    const uint32_t reads = square[READS];
    const uint64_t end = cnnvp_kit_cycles();
    printf("sum %lu, %lu interrupts, %lu reads, the last one in %lu cycles\n", (unsigned long)sum,
           (unsigned long)interrupts, (unsigned long)reads, (unsigned long)(end - begin));
    return sum == 385 ? 0 : 2;
}
