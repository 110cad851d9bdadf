/* SPDX-License-Identifier: Apache-2.0 */
/* Where each of the binaries begins that the host leaves for the guest program, and how many accelerators it drives. */
#ifndef CNNVP_BINARY_PLACE_H
#define CNNVP_BINARY_PLACE_H

#include <stdint.h>

/* Memory begins at 0x80000000 with the guest program, which may take up to here. */
#define CNNVP_MEMORY_BASE UINT32_C(0x80000000)
#define CNNVP_BINARY_ADDRESS UINT32_C(0x80100000)
#define CNNVP_ACCELERATORS 16u /* at most */

#endif
