/* SPDX-License-Identifier: Apache-2.0 */
/* Lists which tables of a binary the guest software reads in each step of its work. */
#pragma once

#include "binary.h"

/* Is called for each table, or part of one: its place, and the step in which an accelerator's software reads it. */
typedef cnnvp_result (*cnnvp_binary_table_fn)(void *context, uint32_t accelerator, uint32_t step, uint64_t address,
                                              uint64_t bytes);
/* The first function lists what is read in all steps, with accelerator and step 0. The second one lists the tables of
 * each step, accelerator by accelerator. Both stop when the callback does not return DONE, and return its result. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_list_held(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table,
                                                   void *context);
CNNVP_MUST_USE cnnvp_result cnnvp_binary_list_steps(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table,
                                                    void *context);
