/* SPDX-License-Identifier: Apache-2.0 */
/* Energy tables: picojoules per count, and the technology that they are scaled to. Built-in tables are the columns of
 * energy.def; others come from files (config_energy.c). */
#pragma once

#include "config.h"

enum cnnvp_energy_entry {
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, range, help) CNNVP_ENERGY_##name,
#include "energy.def"
    CNNVP_ENERGY_ENTRIES
};

/* Factors for logic relative to 45 nm, and um2 per SRAM bit. */
struct cnnvp_technology {
    const char *name;
    const char *help;
    double energy;
    double area;
    double leakage;
    struct cnnvp_range sram_um2;
};

struct cnnvp_energy_table {
    char name[64];
    int sram_scaling; /* 1: entries of buffers are for 8 KiB and scale with the square root of the size */
    int own_energies; /* 1: energies that units report replace entries */
    uint32_t technology;
    double picojoules[CNNVP_ENERGY_ENTRIES];
};

void cnnvp_energy_default(struct cnnvp_energy_table *table);
/* The index-th built-in table; 0 after the last. */
int cnnvp_energy_builtin(size_t index, struct cnnvp_energy_table *table);

/* Index of an entry; CNNVP_ENERGY_ENTRIES if no entry has this name. */
enum cnnvp_energy_entry cnnvp_energy_find(const char *name);
const char *cnnvp_energy_name(enum cnnvp_energy_entry entry);

/* Names of all entries, for messages. */
const char *cnnvp_energy_names(void);

struct cnnvp_instance_costs; /* costs.h */

/* Picojoules per count for an instance, scaled to the technology, and by the buffer size if the entry says so. */
struct cnnvp_range cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                                   const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs);

/* The index-th technology, NULL after the last. The first is the default. */
const struct cnnvp_technology *cnnvp_technology_at(size_t index);
/* The technology of a table; NULL: of the default table. */
const struct cnnvp_technology *cnnvp_technology_of(const struct cnnvp_energy_table *table);
