/* SPDX-License-Identifier: Apache-2.0 */
/* Board support for Embench: reports the cycles between start and stop trigger. */
#include "support.h"

#include "kit.h"

static uint64_t begin;

void initialise_board(void)
{
}

void __attribute__((noinline)) start_trigger(void)
{
    begin = cnnvp_kit_cycles();
}

void __attribute__((noinline)) stop_trigger(void)
{
    cnnvp_kit_report("cycles", (int64_t)(cnnvp_kit_cycles() - begin));
}
