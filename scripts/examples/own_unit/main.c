/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the core that uses the adder: gain * (1 + ... + 10), which is 165 with a gain of 3. */
#include <stdio.h>

#include "kit.h"
#include "platform.h"

int main(void)
{
    volatile uint32_t *const adder = (volatile uint32_t *)ADDER_BASE;
    for (uint32_t i = 1; i <= 10; ++i)
        adder[ADDER_ADD_OFFSET / sizeof *adder] = i;
    const uint32_t sum = adder[ADDER_SUM_OFFSET / sizeof *adder];
    printf("sum %lu\n", (unsigned long)sum);
    return sum != 0 && sum % 55u == 0 ? 0 : 2;
}
