/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of random platforms. */
#ifndef TEST_SOAK_PLATFORM_H
#define TEST_SOAK_PLATFORM_H

#include "soak.h"

/* Appends text to the options. */
void soak_append(struct soak_platform *platform, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets a parameter. */
void soak_set(struct soak_platform *platform, const char *parameter, uint32_t value);
/* Sets a parameter to one of the names. */
void soak_choose(struct soak_platform *platform, uint64_t *random, const char *parameter, const char *const *names,
                 uint32_t count);

/* Draws the off-chip memory and the DMA. */
void soak_draw_memory(struct soak_platform *platform, uint64_t *random);
/* Draws core, instruction element and clocks. */
void soak_draw_control(struct soak_platform *platform, uint64_t *random);

#endif
