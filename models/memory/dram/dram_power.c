/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the part's commands and its standby take, from its currents (CNNVP_DRAM_RAIL in dram.def) by the usual equations
 * (Micron TN-41-01; K. Chandrasekar et al., DRAMPower):
 *
 *   ACT and PRE   V * (IDD0 * (tRAS + tRP) - IDD3N * tRAS - IDD2N * tRP)
 *   RD, WR        V * (IDD4 - IDD3N) * tBL, and the pins
 *   REF           V * (IDD5 - IDD3N) * tRFC
 *   standby       V * IDD3N, where no row is open V * IDD2N
 *
 * of all devices of a rank. Rows stay open, so IDD3N is what is usual. Modelled: no power-down, no self-refresh.
 */
#include "dram_power.h"

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

#define UNCERTAIN 1.3 /* sources differ by so much */

static const struct rail {
    uint32_t preset;
    double volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, read_io, write_io;
} rails[] = {
#define CNNVP_DRAM_RAIL(preset, volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, read_io, write_io) \
    {preset, volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, read_io, write_io},
#include "memory/dram/dram.def"
};

/* Of parts without currents. */
static const struct published {
    uint32_t preset;
    double activate, read, write, refresh, open, closed, low, high;
} published[] = {
#define CNNVP_DRAM_PUBLISHED(preset, activate, read, write, refresh, open, closed, low, high) \
    {preset, activate, read, write, refresh, open, closed, low, high},
#include "memory/dram/dram.def"
};

static void say_published(const struct dram_options *options, const struct cnnvp_costs *costs,
                          const struct published *part, double share)
{
    const struct {
        uint32_t stat;
        double pj;
    } said[] = {{STAT_activates, part->activate * share},
                {STAT_bus_read_bytes, part->read / DRAM_BURST_BYTES},
                {STAT_bus_write_bytes, part->write / DRAM_BURST_BYTES},
                {STAT_refreshes, part->refresh * share}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; ++i) {
        const struct cnnvp_range range = {said[i].pj * part->low, said[i].pj, said[i].pj * part->high};
        costs->energy(costs->context, said[i].stat, &range);
    }
    const double all = (double)options->channels * (double)options->pseudo_channels * (double)options->ranks * share;
    const struct cnnvp_range standby = {
        part->closed * all * part->low, part->open * all, part->open * all * part->high};
    costs->power(costs->context, &standby);
}

/* V * mA * clocks * ns are pJ. */
static void say(const struct cnnvp_costs *costs, uint32_t stat, double core, double pins)
{
    const struct cnnvp_range range = {core, core + pins, (core + pins) * UNCERTAIN};
    costs->energy(costs->context, stat, &range);
}

void cnnvp_dram_power(const struct dram_options *options, const struct cnnvp_costs *costs)
{
    uint32_t t[DRAM_TIMINGS];
    const double ns = (double)cnnvp_dram_clocks(options, t) / 1000.0;
    const double share = 1.0 / (double)cnnvp_dram_narrower(options); /* of the devices */
    for (size_t i = 0; i < sizeof published / sizeof published[0]; ++i)
        if (published[i].preset == options->preset) {
            say_published(options, costs, &published[i], share);
            return;
        }
    const double ras = (double)t[DRAM_T_ras] * ns, rp = (double)t[DRAM_T_rp] * ns;
    const double bl = (double)t[DRAM_T_bl] * ns, rfc = (double)t[DRAM_T_rfc] * ns;
    double activate = 0, read = 0, write = 0, refresh = 0, open = 0, closed = 0, read_io = 0, write_io = 0;
    for (size_t i = 0; i < sizeof rails / sizeof rails[0]; ++i) {
        const struct rail *rail = &rails[i];
        if (rail->preset != options->preset)
            continue;
        const double watts = rail->volts * rail->devices * share; /* of a mA in all devices */
        activate += watts * (rail->idd0 * (ras + rp) - rail->idd3n * ras - rail->idd2n * rp);
        read += watts * (rail->idd4r - rail->idd3n) * bl;
        write += watts * (rail->idd4w - rail->idd3n) * bl;
        refresh += watts * (rail->idd5 - rail->idd3n) * rfc;
        open += watts * rail->idd3n;
        closed += watts * rail->idd2n;
        read_io += rail->read_io;
        write_io += rail->write_io;
    }
    say(costs, STAT_activates, activate, 0);
    say(costs, STAT_bus_read_bytes, read / DRAM_BURST_BYTES, read_io / DRAM_BURST_BYTES);
    say(costs, STAT_bus_write_bytes, write / DRAM_BURST_BYTES, write_io / DRAM_BURST_BYTES);
    say(costs, STAT_refreshes, refresh, 0);
    const double all = (double)options->channels * (double)options->pseudo_channels * (double)options->ranks;
    const struct cnnvp_range standby = {closed * all, open * all, open * all * UNCERTAIN};
    costs->power(costs->context, &standby);
}
