/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core is told before it starts: an access with op CNNVP_COMMAND on its target port `control`, `data` a
 * struct cnnvp_cpu_program, size its size. Made by the platform's program loader, before the core's process starts.
 */
#ifndef CNNVP_PROGRAM_H
#define CNNVP_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_cpu_program {
    uint32_t entry;        /* first instruction */
    uint32_t tohost;       /* address of the `tohost` word, 0 where the program has none */
    uint32_t argc;         /* words of the command line, the program's name first */
    uint32_t follow_calls; /* 1: the counter `functions` shows calls and returns */
    char *const *argv;     /* valid until the simulation ends */
};

#ifdef __cplusplus
}
#endif

#endif
