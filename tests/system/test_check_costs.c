/* SPDX-License-Identifier: Apache-2.0 */
/* A platform that compares what each command takes with what its unit says: programs that issue commands of one unit
 * while another is under way, at clocks whose cycle is no whole number of picoseconds. */

#include "test.h"

#include <jansson.h>

#include "cnnvp_asm.h"
#include "cnnvp_costs.h"

#define PROGRAM UINT64_C(0x80010000)

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

/* Copies of different buffers queue in the DMA; the vector unit's are one after the other. */
static const char program[] =
    ".base t, r80, fill\n"
    ".base v, r56, vadd\n"
    "    set t.row_bytes, 2000\n"
    "    set t.rows, 3\n"
    "    set t.buffer_row_stride, 2000\n"
    "    set t.memory_row_stride, 2000\n"
    "    set t.planes, 1\n"
    "    set v.count, 100\n"
    "    set v.repeat, 1\n"
    "    set v.a_stride, 1\n"
    "    set r1, 5\n"
    "    loop r1, end\n"
    "    fill.buffer=0 t, 5\n"
    "    fill.buffer=1 t, 6\n"
    "    fill.buffer=2 t, 7\n"
    "    move.buffer=2.source=0 t\n"
    "    fill.buffer=1 t, 8\n"
    "    vadd.a=0.b=3.store v\n"
    "    vadd.a=0.b=3.store v\n"
    "end:\n"
    "    halt\n";

static double number(const json_t *object, const char *first, const char *second)
{
    return json_number_value(json_object_get(json_object_get(object, first), second));
}

static void assert_near(double value, double expected, const char *what)
{
    if (value < expected - 0.1 || value > expected + 0.1) /* each count is cut to whole femtojoules */
        fail_msg("%s: %f pJ by the configuration, %f by the statistics", what, value, expected);
}

static const char *text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* Of the links that an instance drives; of the core's the statistics have no bytes. */
static double links_of(const cnnvp_config *config, const json_t *stats, const char *instance)
{
    double sum = 0, picojoules;
    size_t index;
    json_t *link;
    json_array_foreach(json_object_get(stats, "links"), index, link)
    {
        const double said = json_number_value(json_object_get(link, "energy_pj"));
        const double bytes = json_number_value(json_object_get(link, "read_bytes")) +
                             json_number_value(json_object_get(link, "write_bytes"));
        if (strcmp(text(link, "from"), instance) != 0)
            continue;
        done(cnnvp_config_link_energy(config, instance, text(link, "to"), &picojoules, &problem));
        if (strcmp(instance, "cpu") != 0)
            assert_near(picojoules * bytes, said, text(link, "to"));
        if (strcmp(text(link, "to"), "dram") == 0) /* its pins are the memory's own energy */
            assert_true(said <= 0);
        else
            assert_true(said > 0 || bytes <= 0);
        sum += said;
    }
    return sum;
}

/* What a configuration says that counts and time take is what the statistics add up. */
static void check_energy(const cnnvp_config *config, const char *json)
{
    json_t *stats = json_loads(json, 0, NULL);
    const json_t *energy = json_object_get(stats, "energy");
    json_t *unit, *count;
    const char *instance, *name;
    double milliwatts, dynamic = 0;
    json_object_foreach(json_object_get(stats, "units"), instance, unit)
    {
        double sum = links_of(config, stats, instance);
        json_object_foreach(unit, name, count)
        {
            double picojoules;
            if (json_is_integer(count) &&
                cnnvp_config_energy(config, instance, name, &picojoules, &problem) == CNNVP_DONE)
                sum += picojoules * (double)json_integer_value(count);
        }
        assert_near(sum, number(json_object_get(energy, "by_unit"), instance, "dynamic_pj"), instance);
        dynamic += sum;
    }
    assert_true(dynamic > 0);
    done(cnnvp_config_static_power(config, &milliwatts, &problem));
    assert_true(milliwatts > 0);
    assert_near(milliwatts * number(stats, "total", "time_ps") / 1000,
                json_number_value(json_object_get(energy, "static_pj")), "static");
    assert_int_equal(cnnvp_config_energy(config, "dram", "no_such", &milliwatts, &problem), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_energy(config, "no_such", "reads", &milliwatts, &problem), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_link_energy(config, "dma", "no_such", &milliwatts, &problem), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_link_energy(config, "no_such", "dram", &milliwatts, &problem), CNNVP_BAD_INPUT);
    json_decref(stats);
}

static void run(const char *const *settings)
{
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options, .verbosity = -1, .check_costs = 1, .max_time_ps = UINT64_C(1000000000000)};
    cnnvp_config *config;
    cnnvp_platform *platform;
    struct cnnvp_run_result end;
    uint64_t *words;
    size_t count;
    char *json;
    done(cnnvp_assemble("program", program, NULL, &words, &count, &problem));
    done(cnnvp_config_new("nfu", &config, &problem));
    for (; *settings != NULL; ++settings)
        done(cnnvp_config_set(config, *settings, &problem));
    done(cnnvp_config_resolve(config, &problem));
    done(cnnvp_platform_new(config, &options, &platform, &problem));
    done(cnnvp_platform_load_elf(platform, TEST_FETCH, 0, NULL, &problem));
    const uint32_t size = (uint32_t)count;
    assert_int_equal(cnnvp_platform_write(platform, PROGRAM, words, count * sizeof *words), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_write(platform, PROGRAM - 4, &size, sizeof size), CNNVP_DONE);
    free(words);
    const cnnvp_result result = cnnvp_platform_run(platform, &end);
    if (result != CNNVP_DONE || end.end != CNNVP_END_EXIT || end.exit_code != 0)
        fail_msg("end %d, code %d: %s", (int)end.end, end.exit_code, end.reason);
    assert_int_equal(cnnvp_platform_stats(platform, &json), CNNVP_DONE);
    assert_non_null(strstr(json, "\"fills\": 20"));
    assert_non_null(strstr(json, "\"moves\": 5"));
    check_energy(config, json);
    free(json);
    cnnvp_platform_free(platform);
    cnnvp_config_free(config);
}

static void commands_that_queue_are_not_wrong(void **state)
{
    static const char *const settings[][3] = {
        {NULL},
        {"pe_array.clock_mhz=333", NULL},
        {"output_buffer.width_words=3", NULL},
        {"pe_array.clock_mhz=700", "input_buffer.width_words=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i)
        run(settings[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_that_queue_are_not_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
