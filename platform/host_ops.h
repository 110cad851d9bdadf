/* SPDX-License-Identifier: Apache-2.0 */
/* struct cnnvp_host_ops on top of unit_host. */
#ifndef CNNVP_PLATFORM_HOST_OPS_H
#define CNNVP_PLATFORM_HOST_OPS_H

#include "cnnvp_model.h"

namespace cnnvp {

const cnnvp_host_ops *host_ops_table();

} // namespace cnnvp

#endif
