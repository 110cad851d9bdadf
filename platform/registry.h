/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of units: the built-in ones, and model libraries that a platform file names. Plain C, usable without SystemC.
 */
#pragma once

#include "cnnvp.h"

/*
 * Finds the unit of a `model:` value: a built-in kind ("uart") or "library:kind" ("./libmine.so:mine"). A relative
 * library path starts at `relative_to`, the folder of the platform file (NULL or "": the current folder). A library
 * name without a slash that is not found there is left to the dynamic linker's search path. Libraries stay loaded until
 * the process ends. Refuses another ABI major, a table that is too small, and an inconsistent table. On failure returns
 * BAD_INPUT with a message of one line.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_registry_find(const char *model, const char *relative_to,
                                                const struct cnnvp_unit **unit, struct cnnvp_error *error);

/* Checks a unit's table: versions, names, ports, parameters, registers, statistics. The message begins with `where`. */
CNNVP_MUST_USE cnnvp_result cnnvp_registry_check(const struct cnnvp_unit *unit, const char *where,
                                                 struct cnnvp_error *error);
