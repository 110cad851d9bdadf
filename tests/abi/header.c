/* SPDX-License-Identifier: Apache-2.0 */
/* All public headers in a C compiler that allows no extension, one of them twice. */
#include "cnnvp.h"
#include "cnnvp_asm.h"
#include "cnnvp_command.h"
#include "cnnvp_data.h"
#include "cnnvp_explore.h"
#include "cnnvp_memory.h"
#include "cnnvp_model.h"
#include "cnnvp_network.h"
#include "cnnvp_tile.h"
#include "cnnvp_train.h"
#include "cnnvp_model.h"

cnnvp_time cnnvp_abi_header_edge(void);

cnnvp_time cnnvp_abi_header_edge(void)
{
    const struct cnnvp_access access = {0};

    return cnnvp_edge_time(1000, cnnvp_edge_at_or_after(1000, access.delay));
}
