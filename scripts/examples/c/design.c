/* SPDX-License-Identifier: Apache-2.0 */
/* Runs LeNet-5 on a design from plain C: in steps of simulated time. Then prints the classes and some statistics. */
#include <cnnvp_explore.h>
#include <stdio.h>
#include <stdlib.h>

static struct cnnvp_error error;

static void fail(void)
{
    (void)fprintf(stderr, "design: %s\n", error.text);
    exit(EXIT_FAILURE);
}

static void show_log(void *context, int level, const char *line)
{
    (void)fprintf(context, "log %d: %s\n", level, line);
}

int main(int argc, char **argv)
{
    cnnvp_options *options = cnnvp_options_new("run");
    cnnvp_config *config;
    cnnvp_network *network;
    cnnvp_platform *platform;
    if (options == NULL || cnnvp_options_set(options, "images", "4", &error) != CNNVP_DONE ||
        cnnvp_options_check(options, &error) != CNNVP_DONE)
        fail();

    /* The preset nfu with settings from the command line, such as pe_array.rows=16. */
    if (cnnvp_config_new("nfu", &config, &error) != CNNVP_DONE)
        fail();
    for (int i = 1; i < argc; ++i)
        if (cnnvp_config_set(config, argv[i], &error) != CNNVP_DONE)
            fail();
    if (cnnvp_config_resolve(config, &error) != CNNVP_DONE)
        fail();

    const struct cnnvp_network_options compile = cnnvp_network_options_of(options);
    struct cnnvp_platform_options how = cnnvp_platform_options_of(options);
    how.log = show_log;
    how.log_context = stdout;
    if (cnnvp_network_new("lenet5", config, &compile, &network, &error) != CNNVP_DONE ||
        cnnvp_platform_new(config, &how, &platform, &error) != CNNVP_DONE ||
        cnnvp_network_load(network, platform, &error) != CNNVP_DONE)
        fail();

    /* Steps of 20 us. A run in one piece gives the same results. */
    struct cnnvp_run_result end = {.end = CNNVP_END_MAX_TIME};
    cnnvp_result result = CNNVP_FAILED;
    while (end.end == CNNVP_END_MAX_TIME) {
        cnnvp_platform_set_max_time(platform, end.time_ps + UINT64_C(20000000));
        result = cnnvp_platform_run(platform, &end);
        (void)printf("%.2f us\n", (double)end.time_ps / 1e6);
    }
    if (result != CNNVP_DONE) {
        (void)fprintf(stderr, "design: %s %s\n", cnnvp_end_text(end.end), end.reason);
        return EXIT_FAILURE;
    }

    struct cnnvp_array output;
    if (cnnvp_network_output(network, platform, 0, &output, &error) != CNNVP_DONE)
        fail();
    for (size_t i = 0; i < output.shape[0]; ++i)
        (void)printf("image %zu: class %zu\n", i,
                     cnnvp_top_class((const float *)output.data + i * output.shape[1], output.shape[1]));
    cnnvp_array_clear(&output);

    static const char *const numbers[] = {"total.accel_cycles", "layers.C3.cycles", "energy.total_pj"};
    char *stats = NULL;
    if (cnnvp_platform_stats(platform, &stats) != CNNVP_DONE)
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        double value;
        if (cnnvp_stats_value(stats, numbers[i], &value, &error) != CNNVP_DONE)
            fail();
        (void)printf("%s: %.0f\n", numbers[i], value);
    }
    free(stats);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
    cnnvp_options_free(options);
    return EXIT_SUCCESS;
}
