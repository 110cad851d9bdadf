/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict reader of value change dumps (IEEE 1364-2005, clause 18), for tests. Refuses what common viewers let pass:
 * times that do not grow, values of undeclared identifiers or too many bits, identifiers or names declared twice, open
 * scopes, signals without a first value, changes that change nothing, text after the end.
 */
#ifndef CNNVP_TESTS_VCD_CHECK_H
#define CNNVP_TESTS_VCD_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* A value of a signal, the first one included. `path`: scopes and name joined by dots. `value`: digits without leading
 * zeros, at least one. */
typedef void (*vcd_change_fn)(void *context, uint64_t time, const char *path, const char *value);

struct vcd_result {
    size_t signals;
    size_t changes; /* without the first values */
    uint64_t end_time;
    char error[256]; /* "line N: ..." */
};

/* 1: a valid dump. `change` may be NULL. */
int vcd_check(const char *text, size_t size, vcd_change_fn change, void *context, struct vcd_result *result);

#endif
