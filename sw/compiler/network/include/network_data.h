/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong to a network or a plan. */
#pragma once

#include <stdint.h>

/* A hash of the files beside an ONNX file that have data of its tensors; 0: there is none. */
uint64_t cnnvp_network_data_hash(const char *file);

struct cnnvp_arena;
/* The file of the order of blocks that a plan names; NULL: it names none. */
const char *cnnvp_network_order_file(struct cnnvp_arena *arena, const char *plan);
