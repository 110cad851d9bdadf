/* SPDX-License-Identifier: Apache-2.0 */
/* Files for the importer. */
#ifndef CNNVP_TESTS_IMPORT_CASE_H
#define CNNVP_TESTS_IMPORT_CASE_H

#include <math.h>
#include <unistd.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t map4[4] = {-1, 2, 6, 6};
static const int64_t flat2[2] = {-1, 6};

#endif
