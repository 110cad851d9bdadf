/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in units, as listed in models/CMakeLists.txt. */
#include "cnnvp.h"

#include "units.h"

const struct cnnvp_unit *cnnvp_unit_at(size_t index)
{
    static const struct cnnvp_unit *const units[] = {
#define CNNVP_BUILTIN(kind) &cnnvp_unit_##kind,
#include "builtin_kinds.def"
#undef CNNVP_BUILTIN
        NULL,
    };
    const size_t count = sizeof units / sizeof units[0] - 1;

    return index < count ? units[index] : NULL;
}
