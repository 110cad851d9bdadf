/* SPDX-License-Identifier: Apache-2.0 */
/* What random platforms are made of. */
#ifndef TEST_SOAK_PLATFORM_H
#define TEST_SOAK_PLATFORM_H

#include "soak.h"

/* Puts text behind the options. */
void soak_append(struct soak_platform *platform, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
