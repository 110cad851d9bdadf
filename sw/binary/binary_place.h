/* SPDX-License-Identifier: Apache-2.0 */
/* Memory addresses that the host and the guest program agree on, and the most accelerators that a guest program
 * drives. */
#ifndef CNNVP_BINARY_PLACE_H
#define CNNVP_BINARY_PLACE_H

#include <stdint.h>

/* Memory begins with the guest program, which may take up to CNNVP_BINARY_ADDRESS. The binary (network, training or
 * words) lies there. */
#define CNNVP_MEMORY_BASE UINT32_C(0x80000000)
#define CNNVP_BINARY_ADDRESS UINT32_C(0x80100000)
#define CNNVP_ACCELERATORS 16u /* at most */

#endif
