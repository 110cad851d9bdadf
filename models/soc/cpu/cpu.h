/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit `cpu`: the RV32IMAC core of rv32.h on the model ABI. How it is used:
 *
 * - Port `bus`: memory and devices. Memory that gives direct access (dmi) is used directly and untimed; everything else
 *   is one access at the exact time of its instruction, after everything that is pending in that instant.
 * - Port `irq`: lines 0 software, 1 timer, 2 external.
 * - Port `control`: takes a struct cnnvp_cpu_program (cnnvp_program.h) as CNNVP_COMMAND. Without one the core stays
 * idle.
 * - The run ends by `tohost` (1: status 0, otherwise word >> 1), by semihosting exit, or with status 1 where the guest
 *   can never go on: a trap handler that cannot run, sleep or a jump to itself with all interrupts off.
 */
#ifndef CNNVP_CPU_H
#define CNNVP_CPU_H

#include "cnnvp_model.h"

extern const struct cnnvp_unit cnnvp_unit_cpu;

#endif
