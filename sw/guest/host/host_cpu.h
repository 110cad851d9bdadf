/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_HOST_CPU_H
#define CNNVP_HOST_CPU_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_host_cpu;

#ifdef __cplusplus
}
#endif

#endif
