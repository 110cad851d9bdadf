/* SPDX-License-Identifier: Apache-2.0 */
/* What random platforms are made of. */
#ifndef TEST_SOAK_PLATFORM_H
#define TEST_SOAK_PLATFORM_H

#include "soak.h"

/* Puts text after the options. */
void soak_append(struct soak_platform *platform, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A parameter's value. */
void soak_set(struct soak_platform *platform, const char *parameter, uint32_t value);
/* One of some names. */
void soak_choose(struct soak_platform *platform, uint64_t *random, const char *parameter, const char *const *names,
                 uint32_t count);

/* The off-chip memory, and DMA. */
void soak_draw_memory(struct soak_platform *platform, uint64_t *random);
/* Core, instruction element, clocks. */
void soak_draw_control(struct soak_platform *platform, uint64_t *random);

#endif
