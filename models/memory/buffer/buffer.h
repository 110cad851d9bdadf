/* SPDX-License-Identifier: Apache-2.0 */
/* The on-chip buffer: kind `buffer`. Its protocol: cnnvp_buffer.h. */
#ifndef CNNVP_BUFFER_H
#define CNNVP_BUFFER_H

#include "cnnvp_buffer.h"

extern const struct cnnvp_unit cnnvp_unit_buffer;

#endif
