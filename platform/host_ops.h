/* SPDX-License-Identifier: Apache-2.0 */
/* struct cnnvp_host_ops on top of unit_host. */
#pragma once

#include "cnnvp_model.h"

namespace cnnvp {

const cnnvp_host_ops *host_ops_table();

} // namespace cnnvp
