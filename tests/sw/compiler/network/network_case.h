/* SPDX-License-Identifier: Apache-2.0 */
/* Whole networks from ONNX to an image, run by the independent integer reference. */
#ifndef CNNVP_TESTS_NETWORK_CASE_H
#define CNNVP_TESTS_NETWORK_CASE_H

#include <math.h>
#include <unistd.h>

#include "test.h"

#include "fake_platform.h"
#include "fx16_reference.h"
#include "network.h"

#define MEMORY ((size_t)64 << 20)

struct outcome {
    struct cnnvp_array fixed;     /* FX16 */
    struct cnnvp_array reference; /* our float */
    struct cnnvp_array expected;  /* the framework's float */
    char layers[4096];
};

void network_clear(struct outcome *outcome);

cnnvp_network *network_compile(const char *name, const struct fake_config *config,
                               const struct cnnvp_network_options *chosen);

void network_run(const char *name, const struct fake_config *config, struct outcome *outcome);

size_t elements(const struct cnnvp_array *array);

/* Largest difference, in parts of the largest magnitude of b. */
double difference(const struct cnnvp_array *a, const struct cnnvp_array *b);

#endif
