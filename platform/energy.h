/* SPDX-License-Identifier: Apache-2.0 */
/* Energy tables: picojoules of one count. Built in: the columns of energy.def; others from files (config_energy.c). */
#ifndef CNNVP_PLATFORM_ENERGY_H
#define CNNVP_PLATFORM_ENERGY_H

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cnnvp_energy_entry {
#define CNNVP_ENERGY(name, horowitz, eyeriss, sram, help) CNNVP_ENERGY_##name,
#include "energy.def"
    CNNVP_ENERGY_ENTRIES
};

struct cnnvp_energy_table {
    char name[64];
    int sram_scaling; /* 1: entries of buffers are for 8 KiB and grow with the square root of the size */
    double picojoules[CNNVP_ENERGY_ENTRIES];
};

void cnnvp_energy_default(struct cnnvp_energy_table *table);
/* The index-th built-in table; 0 behind the last. */
int cnnvp_energy_builtin(size_t index, struct cnnvp_energy_table *table);

/* Index of an entry, CNNVP_ENERGY_ENTRIES if there is none of that name. */
enum cnnvp_energy_entry cnnvp_energy_find(const char *name);
const char *cnnvp_energy_name(enum cnnvp_energy_entry entry);

/* Names of all entries, for messages. */
const char *cnnvp_energy_names(void);

/* Picojoules of one count for an instance, scaled by its size where the entry says so. */
double cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                       const struct cnnvp_instance *instance);

#ifdef __cplusplus
}
#endif

#endif
