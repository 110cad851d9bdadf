/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a recorder on the made-up platform: what their text says. */
#ifndef CNNVP_TESTS_STATS_CASE_H
#define CNNVP_TESTS_STATS_CASE_H

#include "machine.h"
#include "recorder.h"

#include <jansson.h>

#include "test.h"

#define STATS_LAYERS 3u

extern const struct cnnvp_layer_info stats_layers[STATS_LAYERS];
extern const struct cnnvp_work_info stats_work;
cnnvp_recorder *stats_make_for(const struct cnnvp_resolved *platform, int timing_only);
cnnvp_recorder *stats_make(int timing_only);
char *stats_text_of(const cnnvp_recorder *recorder, uint64_t end_ps);
json_t *stats_json(const cnnvp_recorder *recorder, uint64_t end_ps);
/* A member by path, "units.dram.bursts"; NULL where there is none. */
json_t *stats_member(json_t *root, const char *path);
uint64_t stats_count(json_t *root, const char *path);
double stats_real(json_t *root, const char *path);
const char *stats_text(json_t *root, const char *path);
void assert_close(double value, double expected, double tolerance);
/* The members of an object in their order, joined by spaces. */
void assert_members(json_t *object, const char *expected);
void stats_move(cnnvp_recorder *recorder, enum cnnvp_op op, uint64_t address, uint64_t size, uint64_t bursts);

#endif
