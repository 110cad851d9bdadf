/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong to a network. */
#pragma once

#include <stdint.h>

/* A hash of the files beside an ONNX file that have data of its tensors; 0: there is none. */
uint64_t cnnvp_network_data_hash(const char *file);
