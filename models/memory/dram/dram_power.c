/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy of the part's commands and power of its states, from its currents (CNNVP_DRAM_RAIL in dram.def) by the usual
 * equations (Micron TN-41-01; K. Chandrasekar et al., DRAMPower):
 *
 *   ACT and PRE   V * (IDD0 * (tRAS + tRP) - IDD3N * tRAS - IDD2N * tRP)
 *   RD, WR        V * (IDD4 - IDD3N) * tBL, and the pins
 *   REF           V * (IDD5 - IDD3N) * tRFC
 *   standby       V * IDD3N with a row open, V * IDD2N otherwise
 *   power-down    V * IDD3P with a row open, V * IDD2P otherwise; self-refresh V * IDD6
 *
 * for all devices of a rank. Rows usually stay open, so the nominal standby uses IDD3N. If CKE always stays high,
 * standby is reported as power, otherwise as the energy of the time in each state.
 */
#include "dram_power.h"

#include "dram_state.h"

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

#define UNCERTAIN 1.3 /* factor by which sources differ */

static const struct rail {
    uint32_t preset;
    double volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, idd2p, idd3p, idd6, read_io, write_io;
} rails[] = {
#define CNNVP_DRAM_RAIL(...) {__VA_ARGS__},
#include "memory/dram/dram.def"
};

/* Parts without published currents. */
static const struct published {
    uint32_t preset;
    double activate, read, write, refresh, open, closed, idd2p, idd3p, idd6, low, high;
} published[] = {
#define CNNVP_DRAM_PUBLISHED(...) {__VA_ARGS__},
#include "memory/dram/dram.def"
};

/* pJ of commands (RD and WR: of a burst), mW of a rank in each state, and the range as factors. */
struct energies {
    double activate, refresh, read, read_io, write, write_io, open, closed, lower[DRAM_LOWS], low, high;
};

/* V * mA * ns = pJ. */
static void add_rail(const struct rail *rail, const uint32_t *t, double ns, double share, struct energies *sum)
{
    const double ras = (double)t[DRAM_T_ras] * ns, rp = (double)t[DRAM_T_rp] * ns;
    const double bl = (double)t[DRAM_T_bl] * ns, rfc = (double)t[DRAM_T_rfc] * ns;
    const double watts = rail->volts * rail->devices * share; /* mW for each mA of a device */
    sum->activate += watts * (rail->idd0 * (ras + rp) - rail->idd3n * ras - rail->idd2n * rp);
    sum->refresh += watts * (rail->idd5 - rail->idd3n) * rfc;
    sum->read += watts * (rail->idd4r - rail->idd3n) * bl;
    sum->write += watts * (rail->idd4w - rail->idd3n) * bl;
    sum->read_io += rail->read_io;
    sum->write_io += rail->write_io;
    sum->open += watts * rail->idd3n;
    sum->closed += watts * rail->idd2n;
    sum->lower[DRAM_ACTIVE_POWER_DOWN] += watts * rail->idd3p;
    sum->lower[DRAM_PRECHARGE_POWER_DOWN] += watts * rail->idd2p;
    sum->lower[DRAM_SELF_REFRESH] += watts * rail->idd6;
}

static void say(const struct cnnvp_costs *costs, const struct energies *of, uint32_t stat, double core, double pins)
{
    const struct cnnvp_range range = {core * of->low, core + pins, (core + pins) * of->high};
    costs->energy(costs->context, stat, &range);
}

/* 1 mW is 0.001 pJ/ps. */
static void say_states(const struct dram_options *options, const struct cnnvp_costs *costs, const struct energies *of)
{
    const double all = options->power_down == DRAM_POWER_DOWN_off ? (double)cnnvp_dram_ranks(options) : 1e-3;
    const struct cnnvp_range standby = {of->closed * of->low * all, of->open * all, of->open * of->high * all};
    if (options->power_down == DRAM_POWER_DOWN_off) {
        costs->power(costs->context, &standby);
        return;
    }
    costs->energy(costs->context, STAT_standby_ps, &standby);
    for (uint32_t i = 0; i < DRAM_LOWS; ++i)
        say(costs, of, STAT_active_power_down_ps + i, of->lower[i] * all, 0);
}

void cnnvp_dram_power(const struct dram_options *options, const struct cnnvp_costs *costs)
{
    uint32_t t[DRAM_TIMINGS];
    const double ns = (double)cnnvp_dram_clocks(options, t) / 1000.0;
    const double share = 1.0 / (double)cnnvp_dram_narrower(options); /* share of the devices that a narrower bus has */
    struct energies of = {.low = 1, .high = UNCERTAIN};
    for (size_t i = 0; i < sizeof rails / sizeof rails[0]; ++i)
        if (rails[i].preset == options->preset)
            add_rail(&rails[i], t, ns, share, &of);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; ++i) {
        const struct published *part = &published[i];
        if (part->preset == options->preset)
            of = (struct energies){
                part->activate * share,
                part->refresh * share,
                part->read,
                0,
                part->write,
                0,
                part->open * share,
                part->closed * share,
                {part->idd3p * share, part->idd2p * share, part->idd6 * share},
                part->low,
                part->high};
    }
    say(costs, &of, STAT_activates, of.activate, 0);
    say(costs, &of, STAT_bus_read_bytes, of.read / DRAM_BURST_BYTES, of.read_io / DRAM_BURST_BYTES);
    say(costs, &of, STAT_bus_write_bytes, of.write / DRAM_BURST_BYTES, of.write_io / DRAM_BURST_BYTES);
    say(costs, &of, STAT_refreshes, of.refresh, 0);
    say_states(options, costs, &of);
}
