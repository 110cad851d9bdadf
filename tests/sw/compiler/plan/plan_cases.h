/* SPDX-License-Identifier: Apache-2.0 */
/* Random layers and platforms for tests of the planner. */
#ifndef PLAN_CASES_H
#define PLAN_CASES_H

#include "fake_platform.h"
#include "binary.h"
#include "onnx_builder.h"
#include "cost_query.h"

/* From low to high, both included. */
uint32_t cases_between(struct builder *random, uint32_t low, uint32_t high);
/* Any operation of a network binary, without a place in memory. */
struct cnnvp_layer cases_layer(struct builder *random);

/* A platform to plan for; cleared with cnnvp_target_clear. */
struct cnnvp_target cases_target(const struct fake_config *config);
/* Either array, buffers of 16 KiB to 1 MiB, with or without ping-pong. */
struct fake_config cases_config(struct builder *random);

/* Plans the layer by its best bound. */
cnnvp_result cases_plan(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                        struct cnnvp_error *error);
/* On this unit, as a plan says it. */
cnnvp_result cases_plan_on(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                           uint32_t unit, struct cnnvp_error *error);
/* How the layer's unit wants its tiles cut. */
struct cnnvp_tiling cases_tiling(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits);
/* Asserts that the layer's tiles fit into the halves. */
void cases_check_fits(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits);

#endif
