/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PE module of S001's training engine: unit kind `train_array`, instance pe_array.
 *
 * Its links carry mantissas and sums: an access's `words` are mantissas of 1 byte (4 with wide mantissas) on `input`
 * and `weight`, sums of 4 bytes (8) on `output`, `word_bytes` says which. Addresses and sizes of accesses are even.
 */
#ifndef CNNVP_TRAIN_ARRAY_H
#define CNNVP_TRAIN_ARRAY_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_train_array;

#ifdef __cplusplus
}
#endif

#endif
