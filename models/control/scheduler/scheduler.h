/* SPDX-License-Identifier: Apache-2.0 */
/* The depth-first scheduler in hardware (S004 [0054]): kind `scheduler`. */
#ifndef CNNVP_SCHEDULER_H
#define CNNVP_SCHEDULER_H

#include "cnnvp_model.h"

extern const struct cnnvp_unit cnnvp_unit_scheduler;

#endif
