/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the guest program's ELF file, and loads it. */
#pragma once

#include "cnnvp.h"

/* Finds the guest program: `chosen` unless NULL, else $CNNVP_GUEST, else in ../share/cnnvp beside the running program's
 * folder, else where it was to be installed, else where the build left it. */
CNNVP_MUST_USE cnnvp_result cnnvp_guest_file(const char *chosen, char *path, size_t room, struct cnnvp_error *error);

/* Loads the guest program. The platform must know the tables that it reads (cnnvp_platform_hold). */
CNNVP_MUST_USE cnnvp_result cnnvp_guest_load(const char *chosen, cnnvp_platform *platform, struct cnnvp_error *error);
