/* SPDX-License-Identifier: Apache-2.0 */
/* Energies of commands against numbers worked out by hand from the currents of a device. */
#include "dram_options.h"
#include "memory/dram/dram_power.h"

#include "test.h"

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

struct said {
    struct cnnvp_range energies[STAT_COUNT];
    struct cnnvp_range power;
};

/* Of a burst, where a byte is said. */
static void on_energy(void *context, uint32_t stat, const struct cnnvp_range *picojoules)
{
    struct said *said = context;
    const double bytes = stat == STAT_bus_read_bytes || stat == STAT_bus_write_bytes ? DRAM_BURST_BYTES : 1;
    said->energies[stat] =
        (struct cnnvp_range){picojoules->low * bytes, picojoules->typical * bytes, picojoules->high * bytes};
}

static void on_power(void *context, const struct cnnvp_range *milliwatts)
{
    struct said *said = context;
    said->power = *milliwatts;
}

static void ask(const struct dram_options *options, struct said *said)
{
    const struct cnnvp_costs costs = {
        .struct_size = sizeof costs, .context = said, .energy = on_energy, .power = on_power};
    memset(said, 0, sizeof *said);
    cnnvp_dram_power(options, &costs);
}

enum { HBM2 = 4 };

static void assert_near(double value, double expected)
{
    if (value < expected - 0.06 || value > expected + 0.06)
        fail_msg("%.2f, not %.2f", value, expected);
}

/* In the order of the parts: ACT and PRE, RD and WR without pins, REF, standby with and without an open row (mW). */
static void test_parts(void **state)
{
    static const struct {
        uint32_t preset;
        double activate, read, write, refresh, open, closed;
    } parts[] = {
        {0, 10651.5, 3996.0, 3996.0, 733320, 550.8, 388.8},
        {1, 9.6 * 419 * 0.833, 9.6 * 92 * 4 * 0.833, 9.6 * 80 * 4 * 0.833, 9.6 * 207 * 433 * 0.833, 412.8, 326.4},
        {2, 4200.0, 2784.0, 2352.0, 9.6 * 198 * 576 * 0.625, 499.2, 355.2},
        {3, 2409.375, 2695.0, 1980.0, (1.8 * 7.75 + 1.1 * 60) * 2 * 288 * 0.625, 74.1, 66.6},
        {4, 828.0, 804.0, 1068.0, 1.2 * 195 * 350, 66.0, 48.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        struct dram_options options;
        struct said said;
        cnnvp_dram_options_init(&options);
        options.preset = parts[i].preset;
        ask(&options, &said);
        assert_near(said.energies[STAT_activates].typical, parts[i].activate);
        assert_near(said.energies[STAT_bus_read_bytes].low, parts[i].read);
        assert_near(said.energies[STAT_bus_write_bytes].low, parts[i].write);
        assert_near(said.energies[STAT_refreshes].typical, parts[i].refresh);
        assert_near(said.power.typical, parts[i].open);
        assert_near(said.power.low, parts[i].closed);
        assert_true(said.energies[STAT_bus_read_bytes].typical > said.energies[STAT_bus_read_bytes].low);
    }
}

/* Half the devices take half of what a whole rank takes; a burst takes what it took, in twice the time. Parts without
 * currents have a range of their own. */
static void test_width(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 8; ++preset) {
        static const uint32_t halves[] = {32, 32, 32, 16, 64, 16, 16, 32};
        struct dram_options options;
        struct said whole, half;
        cnnvp_dram_options_init(&options);
        options.preset = preset;
        ask(&options, &whole);
        options.width_bits = halves[preset];
        ask(&options, &half);
        assert_near(half.energies[STAT_activates].typical, whole.energies[STAT_activates].typical / 2);
        assert_near(half.energies[STAT_refreshes].typical, whole.energies[STAT_refreshes].typical / 2);
        assert_near(half.energies[STAT_bus_read_bytes].typical, whole.energies[STAT_bus_read_bytes].typical);
        assert_near(half.power.typical, whole.power.typical / 2);
        assert_true(whole.energies[STAT_bus_read_bytes].low < whole.energies[STAT_bus_read_bytes].typical);
        assert_true(whole.energies[STAT_bus_write_bytes].high > whole.energies[STAT_bus_write_bytes].typical);
        assert_true(whole.power.low < whole.power.typical && whole.power.high > whole.power.typical);
    }
}

/* A pseudo channel's commands open and refresh half of what those of both do; together they stand by as before. */
static void test_pseudo_channels(void **state)
{
    static const uint32_t presets[] = {4, 7};
    (void)state;
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; ++i) {
        struct dram_options options;
        struct said both, each;
        cnnvp_dram_options_init(&options);
        options.preset = presets[i];
        ask(&options, &both);
        options.pseudo_channels = 2;
        ask(&options, &each);
        assert_near(each.energies[STAT_activates].typical, both.energies[STAT_activates].typical / 2);
        assert_near(each.energies[STAT_refreshes].typical, both.energies[STAT_refreshes].typical / 2);
        assert_near(each.energies[STAT_bus_read_bytes].typical, both.energies[STAT_bus_read_bytes].typical);
        assert_near(each.power.typical, both.power.typical);
    }
}

/* ---- public models on traces of commands ---- */

static const struct reference {
    uint32_t preset;
    const char *traffic;
    double activates, reads, writes, refreshes, ns;
    double activate_nj, read_nj, write_nj, refresh_nj, standby_nj;
} references[] = {
#define DRAM_ENERGY(preset, traffic, act, rd, wr, ref, ns, act_nj, rd_nj, wr_nj, ref_nj, standby_nj) \
    {preset, traffic, act, rd, wr, ref, ns, act_nj, rd_nj, wr_nj, ref_nj, standby_nj},
#include "dram_energy.def"
};

static void check_share(const struct reference *reference, const char *what, double nj, double expected, double percent)
{
    if (nj < expected * (1 - percent / 100) || nj > expected * (1 + percent / 100))
        fail_msg("preset %u, %s: %s takes %.1f nJ, not %.1f", (unsigned)reference->preset, reference->traffic, what, nj,
                 expected);
}

/* Without pins, which they leave out; all rows open, as here. A command's energy and all together within 4 %. The part
 * of theirs has the tRFC of 4 Gb a channel, hbm2 that of its 8 Gb: by the preset REF takes 350 / 260 of theirs. */
static void test_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; ++i) {
        const struct reference *reference = &references[i];
        struct dram_options options;
        struct said said;
        cnnvp_dram_options_init(&options);
        options.preset = reference->preset;
        if (reference->preset == HBM2) {
            ask(&options, &said);
            assert_near(said.energies[STAT_refreshes].typical, 1.2 * 195 * 350);
            options.timings[DRAM_T_rfc] = 260;
        }
        ask(&options, &said);
        const double activate = reference->activates * said.energies[STAT_activates].typical / 1e3;
        const double read = reference->reads * said.energies[STAT_bus_read_bytes].low / 1e3;
        const double write = reference->writes * said.energies[STAT_bus_write_bytes].low / 1e3;
        const double refresh = reference->refreshes * said.energies[STAT_refreshes].typical / 1e3;
        const double standby = said.power.typical * reference->ns / 1e3;
        check_share(reference, "ACT", activate, reference->activate_nj, 4);
        check_share(reference, "RD", read, reference->read_nj, 4);
        check_share(reference, "WR", write, reference->write_nj, 4);
        check_share(reference, "REF", refresh, reference->refresh_nj, 4);
        check_share(reference, "standby", standby, reference->standby_nj, 4);
        check_share(reference, "all of it", activate + read + write + refresh + standby,
                    reference->activate_nj + reference->read_nj + reference->write_nj + reference->refresh_nj +
                        reference->standby_nj,
                    4);
    }
}

/* Each rank of each channel stands by. */
static void test_ranks(void **state)
{
    struct dram_options options;
    struct said one, eight;
    (void)state;
    cnnvp_dram_options_init(&options);
    ask(&options, &one);
    options.channels = 4;
    options.ranks = 2;
    ask(&options, &eight);
    assert_near(eight.power.typical, 8 * one.power.typical);
    assert_near(eight.energies[STAT_activates].typical, one.energies[STAT_activates].typical);
}

/* mW of a rank: standby, power-down with a row open and with none, self-refresh; no power but that of the states. Less
 * than standby, but for ddr5's self-refresh, whose currents say otherwise. */
static void test_states(void **state)
{
    static const struct {
        uint32_t preset;
        double mw[4];
    } parts[] = {{0, {550.8, 388.8, 259.2, 259.2}}, {1, {412.8, 355.2, 240, 288}}, {2, {499.2, 412.8, 240, 288}},
                 {3, {74.1, 24.12, 10.92, 2.18}},   {4, {66, 48, 33.6, 37.2}},     {5, {263.6, 259.2, 232.8, 263.6}},
                 {6, {67.5, 22, 9.95, 1.99}},       {7, {33, 24, 16.8, 18.6}}};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        struct dram_options options;
        struct said said;
        cnnvp_dram_options_init(&options);
        options.preset = parts[i].preset;
        options.ranks = 2;
        options.power_down = DRAM_POWER_DOWN_power_down;
        ask(&options, &said);
        assert_true(said.power.high == 0);
        for (uint32_t j = 0; j < 4; ++j) {
            const struct cnnvp_range *range = &said.energies[STAT_standby_ps + j];
            assert_near(range->typical * 1000, parts[i].mw[j]);
            assert_true(range->low <= range->typical && range->typical < range->high);
        }
    }
}

/* An overridden timing counts: twice the time in refresh, twice the energy. */
static void test_timing(void **state)
{
    struct dram_options options;
    struct said one, two;
    (void)state;
    cnnvp_dram_options_init(&options);
    ask(&options, &one);
    options.timings[DRAM_T_rfc] = 2 * 433;
    ask(&options, &two);
    assert_near(two.energies[STAT_refreshes].typical, 2 * one.energies[STAT_refreshes].typical);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_width), cmocka_unit_test(test_pseudo_channels),
        cmocka_unit_test(test_references), cmocka_unit_test(test_ranks), cmocka_unit_test(test_timing),
        cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
