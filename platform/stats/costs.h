/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of instances: area, static power and energy per count. They follow from the parts that units report (`costs` in
 * cnnvp_model.h), the platform's technology (technology.def) and its energy table (energy.h). */
#pragma once

#include "config.h"
#include "energy.h"

#include <string.h>

struct cnnvp_instance_costs {
    int known;       /* the unit reports its parts or its costs */
    int says_energy; /* the unit reports the energy of some of its statistics */
    uint64_t multipliers;
    int has_area; /* 1: has parts in the platform's technology; 0: off chip */
    struct cnnvp_range area_um2;
    struct cnnvp_range milliwatts;   /* static: leakage, clock, standby */
    struct cnnvp_range sram;         /* factor of the entries for SRAM accesses; typical 0: the unit has no SRAM */
    struct cnnvp_range sram_wire_pj; /* energy of the wires from the SRAM, for each bit */
    struct cnnvp_range *own;         /* energy of each statistic; high < 0: not reported by the unit. NULL: none
                                      * reported */
};

/* BAD_INPUT: the unit reports impossible costs; FAILED: out of memory. Call cnnvp_costs_fini in any case. */
CNNVP_MUST_USE cnnvp_result cnnvp_costs_init(const struct cnnvp_resolved *resolved,
                                             const struct cnnvp_instance *instance, struct cnnvp_instance_costs *costs,
                                             struct cnnvp_error *error);
void cnnvp_costs_fini(struct cnnvp_instance_costs *costs);

/* Picojoules per count of a statistic; 0 if it costs nothing. */
struct cnnvp_range cnnvp_costs_energy(const struct cnnvp_energy_table *table, const struct cnnvp_instance *instance,
                                      const struct cnnvp_instance_costs *costs, uint32_t stat);
/* 1 if the statistic counts picoseconds in a state, so that its energy is a power. */
static inline int cnnvp_costs_is_time(const struct cnnvp_instance *instance, uint32_t stat)
{
    return strcmp(instance->unit->stats[stat].unit, "ps") == 0;
}
/* 1 if the statistic may cost energy. */
int cnnvp_costs_counts(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs, uint32_t stat);

/* 1: the unit reports nothing about the cost of its counts or of time. */
int cnnvp_costs_unknown(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs);

struct cnnvp_link_end {
    const struct cnnvp_instance *instance;
    const struct cnnvp_instance_costs *costs;
};

/* Picojoules per byte that crosses a link on a chip of this area; grows with the distance. 0 in three cases: links from
 * the bus, whose wires belong to the link to the bus; links from a unit of unknown costs; and links off chip, whose
 * energy the memory reports. */
struct cnnvp_range cnnvp_costs_link(const struct cnnvp_energy_table *table, const struct cnnvp_link_end *from,
                                    const struct cnnvp_link_end *to, double chip_um2);

/* The instance's part of the chip area for links. 0 for the core, so that links do not depend on the software in it. */
double cnnvp_costs_floor(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs);

/* True for a unit that runs programs: its own memory traffic does not belong to the accelerator. */
int cnnvp_unit_is_core(const struct cnnvp_unit *unit);
/* True if a unit has a port of this kind. `unit` may be NULL. */
int cnnvp_unit_has_port(const struct cnnvp_unit *unit, enum cnnvp_port_kind kind);
