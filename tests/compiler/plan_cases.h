/* SPDX-License-Identifier: Apache-2.0 */
/* Random layers and platforms for tests of the planner. */
#ifndef PLAN_CASES_H
#define PLAN_CASES_H

#include "image.h"
#include "onnx_builder.h"
#include "plan_time.h"

/* From low to high, both included. */
uint32_t cases_between(struct builder *random, uint32_t low, uint32_t high);
/* Any operation of a network image, without a place in memory. */
struct cnnvp_image_layer cases_layer(struct builder *random);
/* Rows, columns and pe_array.fc=single-neuron; pairs of channels and lanes. */
struct cnnvp_engine cases_nfu(uint32_t rows, uint32_t cols, uint32_t single_neuron);
struct cnnvp_engine cases_window(uint32_t input_para, uint32_t output_para, uint32_t fc_para);
/* Either engine, halves of 16 KiB to 512 KiB, the presets' memory. */
struct cnnvp_plan_limits cases_limits(struct builder *random);

/* Plans the layer as the only one of its network. */
cnnvp_result cases_plan(struct cnnvp_image_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                        struct cnnvp_error *error);
/* Asserts that the layer's tiles fit into the halves. */
void cases_check_fits(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits);

#endif
