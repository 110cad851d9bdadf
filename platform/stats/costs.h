/* SPDX-License-Identifier: Apache-2.0 */
/* What instances cost: area, static power and the energy of a count, from what their units say that they are made of
 * (`costs` in cnnvp_model.h), the platform's technology (technology.def) and its energy table (energy.h). */
#ifndef CNNVP_PLATFORM_COSTS_H
#define CNNVP_PLATFORM_COSTS_H

#include "config.h"
#include "energy.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_instance_costs {
    int known;       /* the unit says what it is made of, or what it costs */
    int says_energy; /* of some of its statistics */
    uint64_t multipliers;
    int has_area; /* with parts in the platform's technology; else it is off chip */
    struct cnnvp_range area_um2;
    struct cnnvp_range milliwatts;   /* static: leakage, clock, standby */
    struct cnnvp_range sram;         /* what multiplies an SRAM's entries; typical 0: the unit has none */
    struct cnnvp_range sram_wire_pj; /* and what a bit takes on its way */
    struct cnnvp_range *own;         /* of each statistic; high < 0: the unit does not say. NULL: of none */
};

/* BAD_INPUT: what the unit says is impossible; FAILED: there is no memory. *costs is to be given to cnnvp_costs_fini
 * even so. */
CNNVP_MUST_USE cnnvp_result cnnvp_costs_init(const struct cnnvp_resolved *resolved,
                                             const struct cnnvp_instance *instance, struct cnnvp_instance_costs *costs,
                                             struct cnnvp_error *error);
void cnnvp_costs_fini(struct cnnvp_instance_costs *costs);

/* Picojoules of one count of a statistic; 0 where it costs nothing. */
struct cnnvp_range cnnvp_costs_energy(const struct cnnvp_energy_table *table, const struct cnnvp_instance *instance,
                                      const struct cnnvp_instance_costs *costs, uint32_t stat);
/* 1 where it is an energy of time: of a state in which the statistic counts picoseconds. */
static inline int cnnvp_costs_is_time(const struct cnnvp_instance *instance, uint32_t stat)
{
    return strcmp(instance->unit->stats[stat].unit, "ps") == 0;
}
/* 1 where it may cost something. */
int cnnvp_costs_counts(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs, uint32_t stat);

/* 1: its unit says nothing of what its counts or its time cost. */
int cnnvp_costs_unknown(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs);

struct cnnvp_link_end {
    const struct cnnvp_instance *instance;
    const struct cnnvp_instance_costs *costs;
};

/* Picojoules of a byte that crosses a link on a chip of this area, by its distance. 0 for what begins at the bus, whose
 * way is in the link that leads there, or at a unit of unknown costs, and for what leads off chip, which is in the
 * memory's. */
struct cnnvp_range cnnvp_costs_link(const struct cnnvp_energy_table *table, const struct cnnvp_link_end *from,
                                    const struct cnnvp_link_end *to, double chip_um2);

/* What an instance adds to that area: the core none, so that links do not depend on what software it holds. */
double cnnvp_costs_floor(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs);

/* A unit that takes programs: its own traffic at a memory is not the accelerator's. */
int cnnvp_unit_is_core(const struct cnnvp_unit *unit);
/* Whether a unit has a port of this kind; NULL has none. */
int cnnvp_unit_has_port(const struct cnnvp_unit *unit, enum cnnvp_port_kind kind);

#ifdef __cplusplus
}
#endif

#endif
