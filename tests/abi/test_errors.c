/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of c_api that can fail says the same with and without a struct cnnvp_error. */

#include "test.h"

/* The header's own function of this name, so that the library's can be called. */
#define cnnvp_platform_options_of options_now
#include "cnnvp_asm.h"
#include "cnnvp_explore.h"
#include "cnnvp_memory.h"
#include "cnnvp_train.h"

/* Calls it twice; the second time there must be a text. */
#define REFUSED(call, error)                     \
    do {                                         \
        assert_int_equal(call, CNNVP_BAD_INPUT); \
        error = &text;                           \
        text.text[0] = '\0';                     \
        assert_int_equal(call, CNNVP_BAD_INPUT); \
        assert_true(text.text[0] != '\0');       \
        error = NULL;                            \
    } while (0)

static struct cnnvp_error text;

static cnnvp_config *resolved(void)
{
    cnnvp_config *config = NULL;
    assert_int_equal(cnnvp_config_new("nfu", &config, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, NULL), CNNVP_DONE);
    return config;
}

static void configurations(void **state)
{
    struct cnnvp_error *error = NULL;
    const struct cnnvp_unit *unit;
    cnnvp_config *config = NULL;
    (void)state;
    REFUSED(cnnvp_unit_find("nothing", &unit, error), error);
    REFUSED(cnnvp_unit_find("./nothing.so:thing", &unit, error), error);
    REFUSED(cnnvp_config_new("nothing", &config, error), error);
    REFUSED(cnnvp_config_new("nothing.yaml", &config, error), error);
    assert_int_equal(cnnvp_config_new("nfu", &config, NULL), CNNVP_DONE);
    REFUSED(cnnvp_config_set(config, "rows", error), error);
    assert_int_equal(cnnvp_config_set(config, "pe_array.rows=0", NULL), CNNVP_DONE);
    REFUSED(cnnvp_config_resolve(config, error), error);
    cnnvp_config_free(config);
}

static void platforms(void **state)
{
    struct cnnvp_error *error = NULL;
    cnnvp_config *config = resolved();
    cnnvp_platform *platform = NULL;
    struct cnnvp_memory_result replayed;
    const struct cnnvp_platform_options small = {.struct_size = 1};
    struct cnnvp_platform_options options = {.struct_size = sizeof options, .trace = "trace.nothing"};
    struct cnnvp_memory_options memory = {.struct_size = sizeof memory, .outstanding = 1};
    struct cnnvp_memory_streams streams;
    size_t parts;
    (void)state;
    REFUSED(cnnvp_platform_new(config, &small, &platform, error), error);
    REFUSED(cnnvp_platform_new(config, &options, &platform, error), error);
    options.trace = "nowhere/trace.vcd";
    REFUSED(cnnvp_platform_new(config, &options, &platform, error), error);
    options.trace = NULL;
    options.memory_trace = "nowhere/bursts";
    REFUSED(cnnvp_platform_new(config, &options, &platform, error), error);
    options.memory_trace = options.profile = "one.file";
    REFUSED(cnnvp_platform_new(config, &options, &platform, error), error);
    cnnvp_platform *first;
    options.memory_trace = options.profile = NULL;
    options.trace = "test_errors.vcd";
    assert_int_equal(cnnvp_platform_new(config, &options, &first, NULL), CNNVP_DONE);
    options.trace = NULL;
    options.profile = "./test_errors.vcd";
    REFUSED(cnnvp_platform_new(config, &options, &platform, error), error);
    assert_string_equal(text.text, "./test_errors.vcd: another platform of this process has yet to write this file");
    cnnvp_platform_free(first);
    assert_int_equal(cnnvp_platform_new(config, &options, &platform, NULL), CNNVP_DONE);
    cnnvp_platform_free(platform);
    REFUSED(cnnvp_memory_replay(config, "nothing.txt", &memory, &replayed, NULL, error), error);
    memory.struct_size = 1;
    REFUSED(cnnvp_memory_replay(config, "nothing.txt", &memory, &replayed, NULL, error), error);
    REFUSED(cnnvp_memory_stream(config, 0, &streams, 1, &parts, error), error);
    assert_int_equal(cnnvp_platform_new(config, NULL, &platform, NULL), CNNVP_DONE);
    REFUSED(cnnvp_platform_load_elf(platform, "nothing.elf", 0, NULL, error), error);
    cnnvp_platform_free(platform);
    cnnvp_config_free(config);
}

/* Functions that need a resolved configuration say so, whatever else they check. */
static void unresolved(void **state)
{
    struct cnnvp_error *error = NULL;
    cnnvp_config *config = NULL;
    cnnvp_dataset *none = (cnnvp_dataset *)&config; /* not read */
    const struct cnnvp_network_options network = {.struct_size = sizeof network, .images = 1};
    const struct cnnvp_trainer_options training = {
        .struct_size = sizeof training, .batch = 4, .rate = 1, .epochs = 1, .dataset = none};
    const struct cnnvp_memory_options memory = {.struct_size = sizeof memory, .outstanding = 1};
    struct cnnvp_memory_result replayed;
    struct cnnvp_memory_streams streams;
    cnnvp_network *made;
    cnnvp_trainer *trainer;
    size_t parts;
    (void)state;
    assert_int_equal(cnnvp_config_new("trainer", &config, NULL), CNNVP_DONE);
#define UNRESOLVED(call)                                                           \
    do {                                                                           \
        REFUSED(call, error);                                                      \
        assert_string_equal(text.text, "the configuration has not been resolved"); \
    } while (0)
    UNRESOLVED(cnnvp_network_check(config, error));
    UNRESOLVED(cnnvp_network_new("lenet5", config, &network, &made, error));
    UNRESOLVED(cnnvp_trainer_new("digits", config, &training, &trainer, error));
    UNRESOLVED(cnnvp_memory_replay(config, "nothing.txt", &memory, &replayed, NULL, error));
    UNRESOLVED(cnnvp_memory_stream(config, 1, &streams, 1, &parts, error));
    cnnvp_config_free(config);
}

/* As the header of library 1.5 had it. */
struct options_then {
    unsigned char bytes[offsetof(struct cnnvp_platform_options, log_context) + sizeof(void *)];
};
struct options_then options_then(const cnnvp_options *options) __asm__("cnnvp_platform_options_of");

/* A struct that ends earlier, where the client's memory has something else, and one that has more. */
static void other_versions(void **state)
{
    struct {
        struct cnnvp_platform_options known;
        uint64_t more;
    } options;
    cnnvp_config *config = resolved();
    cnnvp_platform *platform = NULL;
    (void)state;
    memset(&options, 0xff, sizeof options);
    memset(&options, 0, offsetof(struct cnnvp_platform_options, trace));
    options.known.struct_size = offsetof(struct cnnvp_platform_options, trace);
    assert_int_equal(cnnvp_platform_new(config, &options.known, &platform, &text), CNNVP_DONE);
    cnnvp_platform_free(platform);
    memset(&options, 0, sizeof options);
    options.known.struct_size = sizeof options;
    assert_int_equal(cnnvp_platform_new(config, &options.known, &platform, &text), CNNVP_DONE);
    cnnvp_platform_free(platform);
    options.more = UINT64_C(1) << 56;
    assert_int_equal(cnnvp_platform_new(config, &options.known, &platform, &text), CNNVP_BAD_INPUT);
    assert_null(platform);
    assert_non_null(strstr(text.text, "cnnvp_platform_options has "));
    /* The others', of which a member that the client does not have would be taken otherwise. */
    const struct cnnvp_network_options network = {
        .struct_size = offsetof(struct cnnvp_network_options, calibration), .images = 1, .plan = "none.yaml"};
    cnnvp_network *made = NULL;
    assert_int_equal(cnnvp_network_new("lenet5", config, &network, &made, &text), CNNVP_DONE);
    cnnvp_network_free(made);
    const struct cnnvp_work_info work = {
        .struct_size = offsetof(struct cnnvp_work_info, layers), .command = "exec", .layer_count = 1};
    assert_int_equal(cnnvp_platform_new(config, NULL, &platform, &text), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_describe_work(platform, &work), CNNVP_DONE);
    cnnvp_platform_free(platform);
    cnnvp_config_free(config);
    /* The other way: what a client does not have is not written; programs of before 1.6 got all of it by value. */
    cnnvp_options *run = cnnvp_options_new("run");
    assert_int_equal(cnnvp_options_set(run, "max-time", "3ns", &text), CNNVP_DONE);
    assert_int_equal(cnnvp_options_set(run, "verbose", "true", &text), CNNVP_DONE);
    memset(&options, 0xff, sizeof options);
    options.known.struct_size = offsetof(struct cnnvp_platform_options, max_time_ps);
    cnnvp_platform_options_get(run, &options.known);
    assert_int_equal(options.known.struct_size, offsetof(struct cnnvp_platform_options, max_time_ps));
    assert_int_equal(options.known.verbosity, 1);
    assert_int_equal(options.known.max_time_ps, UINT64_MAX);
    options.known.struct_size = sizeof options;
    cnnvp_platform_options_get(run, &options.known);
    assert_int_equal(options.known.max_time_ps, 3000);
    assert_int_equal(options.more, 0);
    const struct options_then then = options_then(run);
    memcpy(&options.known, &then, sizeof then);
    assert_int_equal(options.known.struct_size, sizeof then);
    assert_int_equal(options.known.max_time_ps, 3000);
    cnnvp_options_free(run);
}

static void networks(void **state)
{
    struct cnnvp_error *error = NULL;
    cnnvp_config *config = resolved();
    cnnvp_network *network = NULL;
    cnnvp_dataset *dataset = NULL;
    cnnvp_trainer *trainer = NULL;
    struct cnnvp_array array;
    uint64_t *words = NULL;
    size_t count = 0;
    char *listing = NULL;
    struct cnnvp_network_options options = {.struct_size = sizeof options, .images = 1};
    const struct cnnvp_trainer_options training = {.struct_size = sizeof training, .batch = 4, .rate = 1, .epochs = 1};
    (void)state;
    REFUSED(cnnvp_npy_read("nothing.npy", &array, error), error);
    REFUSED(cnnvp_network_new("nothing.onnx", config, &options, &network, error), error);
    /* Two arrays for one input, of which one would be left out, and arrays of no known type or rank. */
    static float pixels[32 * 32];
    struct cnnvp_array images = {.rank = 4, .shape = {1, 1, 32, 32}, .data = pixels};
    const struct cnnvp_named_array twice[] = {{.array = &images}, {.array = &images}};
    options.inputs = twice;
    options.input_count = 2;
    REFUSED(cnnvp_network_new("lenet5", config, &options, &network, error), error);
    assert_string_equal(text.text, "--input: input \"input\" has images already; input is a second array");
    options.input = &images;
    options.input_count = 1;
    REFUSED(cnnvp_network_new("lenet5", config, &options, &network, error), error);
    options.input_count = 0;
    images.type = CNNVP_ARRAY_I16 + 1;
    REFUSED(cnnvp_network_new("lenet5", config, &options, &network, error), error);
    images.type = CNNVP_ARRAY_F32;
    images.rank = 9;
    REFUSED(cnnvp_network_new("lenet5", config, &options, &network, error), error);
    images.rank = 4;
    assert_int_equal(cnnvp_network_new("lenet5", config, &options, &network, NULL), CNNVP_DONE);
    cnnvp_network_free(network);
    options.struct_size = 1;
    REFUSED(cnnvp_network_new("nothing.onnx", config, &options, &network, error), error);
    REFUSED(cnnvp_dataset_new("nothing", 0, &dataset, error), error);
    REFUSED(cnnvp_dataset_new("idx:nothing,nothing", 0, &dataset, error), error);
    REFUSED(cnnvp_trainer_new("nothing.onnx", config, &training, &trainer, error), error);
    REFUSED(cnnvp_assemble("text", "nothing", NULL, &words, &count, error), error);
    REFUSED(cnnvp_disassemble("bytes", (const uint8_t *)"abc", 3, NULL, &listing, error), error);
    cnnvp_config_free(config);
}

static void exploration(void **state)
{
    struct cnnvp_error *error = NULL;
    cnnvp_sweep *sweep = NULL;
    char *table = NULL;
    (void)state;
    REFUSED(cnnvp_sweep_new("nothing.yaml", &sweep, error), error);
    REFUSED(cnnvp_sweep_task("nothing", error), error);
    REFUSED(cnnvp_layers_csv("{}", "nowhere/layers.csv", error), error);
    REFUSED(cnnvp_stats_diff("nothing.json", "nothing.json", 0, 0, NULL, &table, NULL, error), error);
    REFUSED(cnnvp_report("nothing.sqlite", "page.html", NULL, NULL, error), error);
    REFUSED(cnnvp_report_runs((const char *const[]){"nothing", "nor_this"}, 2, "page.html", error), error);
    REFUSED(cnnvp_report_runs(NULL, 0, "page.html", error), error);
    FILE *spec = fopen("one_point.yaml", "w");
    assert_non_null(spec);
    assert_true(fputs("network: lenet5\nparameters: {pe_array.rows: [8]}\nobjectives: [total.time_ps]\n", spec) > 0);
    assert_int_equal(fclose(spec), 0);
    struct cnnvp_sweep_options options = {.struct_size = sizeof options, .results = "one_point.sqlite"};
    options.executor = CNNVP_SWEEP_SLURM + 1;
    assert_int_equal(cnnvp_sweep_new("one_point.yaml", &sweep, NULL), CNNVP_DONE);
    REFUSED(cnnvp_sweep_run(sweep, &options, NULL, error), error);
    cnnvp_sweep_free(sweep);
    assert_int_equal(remove("one_point.yaml"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations), cmocka_unit_test(platforms), cmocka_unit_test(unresolved),
        cmocka_unit_test(other_versions), cmocka_unit_test(networks),  cmocka_unit_test(exploration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
