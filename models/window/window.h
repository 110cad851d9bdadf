/* SPDX-License-Identifier: Apache-2.0 */
/* The window engine of S000: unit kind `window`, instance pe_array. */
#ifndef CNNVP_WINDOW_H
#define CNNVP_WINDOW_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_window;

#ifdef __cplusplus
}
#endif

#endif
