/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables of a binary the guest software reads when. */
#ifndef CNNVP_COMPILER_BINARY_TABLES_H
#define CNNVP_COMPILER_BINARY_TABLES_H

#include "binary.h"

/* Says of a table of the binary where it lies, and in which step of its work which accelerator's software reads it. */
typedef cnnvp_result (*cnnvp_binary_table_fn)(void *context, uint32_t accelerator, uint32_t step, uint64_t address,
                                              uint64_t bytes);
/* What is read in all steps, accelerator and step 0; and the tables of each step, accelerator by
 * accelerator, step by step. What the function answers, if that is not DONE. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_list_held(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table,
                                                   void *context);
CNNVP_MUST_USE cnnvp_result cnnvp_binary_list_steps(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table,
                                                    void *context);

#endif
