/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_zoo platform FOLDER [CASE]: checks every case of a group of the zoo. The integer reference must be within 1 % of
 * the largest value of PyTorch's float results, and must give the same words with large and with small buffers. `cnnvp
 * run` must give exactly these words with large buffers and, in turn from case to case, with small buffers image by
 * image, in a batch and fused, or on the window engine; some cases also run on the RISC-V core, and with maps on chip
 * if they fit. No tensor may move fewer bytes than its lower bound, and no layer and no network either, both layer by
 * layer and fused. test_zoo platforms FOLDER [CASE]: runs each case on all of these platforms. test_zoo bytes FOLDER
 * [CASE]: compares 8-bit words with the reference on these platforms in turn, and with scaling at write-out.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "fake_platform.h"
#include "fx16_reference.h"
#include "network.h"

#define MEMORY ((size_t)16 << 20)
#define MINIMUM_CASES 15
#define MAXIMUM_CASES 1024
#define MAXIMUM_OUTPUTS 8
#define LIMIT 0.01

#define SMALL_CONFIG                                                                              \
    " -s pe_array.rows=3 -s pe_array.cols=5 -s input_buffer.size=4KiB -s output_buffer.size=6KiB" \
    " -s weight_buffer.size=4KiB"

#define CHIP_CONFIG " -s input_buffer.size=512KiB -s output_buffer.size=512KiB -s weight_buffer.size=512KiB"

/* The outputs of a case. */
struct outputs {
    struct cnnvp_array arrays[MAXIMUM_OUTPUTS];
    size_t count;
};

static char *cases[MAXIMUM_CASES];
static size_t case_count;
static const char *zoo; /* the group's folder */
static const char *wanted;
static int bytes;      /* 1: 8-bit words */
static int everywhere; /* 1: each case runs on all platforms */
static char stats_file[] = "/tmp/cnnvp_zoo_stats_XXXXXX";

static struct fake_config small_config(void)
{
    struct fake_config config = fake_nfu();
    config.both = bytes;
    config.rows = 3;
    config.cols = 5;
    config.input_bytes = 4096;
    config.output_bytes = 6144;
    config.weight_bytes = 4096;
    config.memory_bytes = MEMORY;
    return config;
}

static struct fake_config large_config(void)
{
    struct fake_config config = fake_nfu();
    config.memory_bytes = MEMORY;
    config.both = bytes;
    return config;
}

static struct fake_config window_config(void)
{
    struct fake_config config = fake_window();
    config.memory_bytes = MEMORY;
    config.both = bytes;
    return config;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_cases(void **state)
{
    (void)state;
    DIR *folder = opendir(zoo);
    if (folder == NULL)
        return -1;
    for (struct dirent *entry = readdir(folder); entry != NULL && case_count < MAXIMUM_CASES; entry = readdir(folder)) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".onnx") != 0)
            continue;
        entry->d_name[length - 5] = '\0';
        if (wanted != NULL && strcmp(wanted, entry->d_name) != 0)
            continue;
        cases[case_count] = malloc(length);
        if (cases[case_count] == NULL)
            break;
        memcpy(cases[case_count++], entry->d_name, length - 4);
    }
    (void)closedir(folder);
    qsort(cases, case_count, sizeof cases[0], by_name);
    const size_t found = case_count;
    for (size_t i = case_count = 0; i < found; ++i)
        if (i % TEST_EVERY == 0)
            cases[case_count++] = cases[i];
        else
            free(cases[i]);
    return found >= (wanted != NULL ? 1 : MINIMUM_CASES) ? 0 : -1;
}

static int forget_cases(void **state)
{
    (void)state;
    while (case_count > 0)
        free(cases[--case_count]);
    return 0;
}

static struct cnnvp_array read_array(const char *name, const char *kind)
{
    char path[1024];
    struct cnnvp_array array;
    struct cnnvp_error error;
    (void)snprintf(path, sizeof path, "%s/%s.%s.npy", zoo, name, kind);
    if (cnnvp_npy_read(path, &array, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return array;
}

static size_t elements(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
        count *= array->shape[i];
    return count;
}

static void clear_outputs(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; ++i)
        cnnvp_array_clear(&outputs->arrays[i]);
}

static int take_outputs(const cnnvp_network *network, cnnvp_platform *platform, struct outputs *outputs,
                        struct cnnvp_error *error)
{
    const size_t count = cnnvp_network_outputs(network);
    assert_true(count <= MAXIMUM_OUTPUTS);
    while (outputs->count < count)
        if (cnnvp_network_output(network, platform, outputs->count, &outputs->arrays[outputs->count], error) ==
            CNNVP_DONE)
            ++outputs->count;
        else
            return 0;
    return 1;
}

/* Runs a case on the integer reference. Prints a message and returns 0 on failure. */
static int run_reference(const char *name, const struct fake_config *config, struct outputs *outputs)
{
    char path[1024];
    cnnvp_network *network = NULL;
    struct cnnvp_error error = {""};
    struct cnnvp_array input = read_array(name, "in");
    const char *wrong = NULL;
    (void)snprintf(path, sizeof path, "%s/%s.onnx", zoo, name);
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options,
        .rounding = CNNVP_ROUND_NEAREST,
        .input = &input,
        .precision = bytes ? CNNVP_PRECISION_INT8 : CNNVP_PRECISION_AUTO};
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    memset(platform->memory, 0x5a, MEMORY); /* so that frames and paddings must be cleared */
    int done = fake_network_new(path, config, &options, &network, &error) == CNNVP_DONE &&
               cnnvp_network_load(network, platform, &error) == CNNVP_DONE;
    if (!done)
        print_error("%s: %s\n", name, error.text);
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    if (done && test_fx16_run(&memory, (uint32_t)config->acc_bits, &wrong) != 0) {
        print_error("%s: %s\n", name, wrong);
        done = 0;
    }
    done = done && take_outputs(network, platform, outputs, &error);
    cnnvp_network_free(network);
    fake_platform_free(platform);
    cnnvp_array_clear(&input);
    return done;
}

static int same_shape(const struct cnnvp_array *a, const struct cnnvp_array *b)
{
    int same = a->rank == b->rank;
    for (size_t i = 0; i < a->rank && same; ++i)
        same = a->shape[i] == b->shape[i];
    return same;
}

/* The suffix of the file with the expected values of an output. */
static const char *file_of(size_t output)
{
    static const char *const kinds[MAXIMUM_OUTPUTS] = {"out", "out1", "out2", "out3", "out4", "out5", "out6", "out7"};
    return kinds[output];
}

static int is_close(const char *name, size_t output, const struct cnnvp_array *fixed)
{
    struct cnnvp_array expected = read_array(name, file_of(output));
    double worst = 0.0;
    double largest = 0.0;
    int close = same_shape(fixed, &expected);
    if (!close)
        print_error("%s: output %zu has another shape\n", name, output);
    for (size_t i = 0; i < elements(&expected) && close; ++i) {
        const double y = (double)((const float *)expected.data)[i];
        worst = fmax(worst, fabs((double)((const float *)fixed->data)[i] - y));
        largest = fmax(largest, fabs(y));
    }
    if (close && !(worst <= LIMIT * largest && largest > 0.0)) {
        print_error("%s: output %zu: worst difference %g, largest value %g\n", name, output, worst, largest);
        close = 0;
    }
    cnnvp_array_clear(&expected);
    return close;
}

static int are_close(const char *name, const struct outputs *fixed)
{
    int close = fixed->count > 0;
    for (size_t i = 0; i < fixed->count; ++i)
        close &= is_close(name, i, &fixed->arrays[i]);
    return close;
}

static int are_same(const char *name, const char *what, const struct outputs *a, const struct outputs *b)
{
    int same = a->count == b->count && a->count > 0;
    for (size_t i = 0; i < a->count && same; ++i)
        same = same_shape(&a->arrays[i], &b->arrays[i]) &&
               memcmp(a->arrays[i].data, b->arrays[i].data, elements(&a->arrays[i]) * sizeof(float)) == 0;
    if (!same)
        print_error("%s: %s differs\n", name, what);
    return same;
}

/* Runs `cnnvp run` with further options and reads `count` outputs. Returns the exit status, or -1 if an output cannot
 * be read. */
static int run_status(const char *name, const char *options, size_t count, struct outputs *outputs)
{
    char command[4096];
    char folder[64] = "/tmp/cnnvp_zoo_XXXXXX";
    struct cnnvp_error error;
    assert_non_null(mkdtemp(folder));
    int used = snprintf(command, sizeof command, "'%s' run '%s/%s.onnx' -i '%s/%s.in.npy' -q %s%s%s", TEST_CNNVP, zoo,
                        name, zoo, name, options, bytes ? " --precision int8 -s pe_array.precision=both" : "",
                        bytes && strstr(options, "window") != NULL
                            ? " -s pooling.precision=both -s fully_connected.precision=both"
                            : "");
    for (size_t i = 0; i < count; ++i)
        used += snprintf(command + used, sizeof command - (size_t)used, " -o %s/%zu.npy", folder, i);
    const int ended = system(command);
    const int status = ended != -1 && WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    int done = status == 0;
    for (size_t i = 0; i < count; ++i) {
        char file[96];
        (void)snprintf(file, sizeof file, "%s/%zu.npy", folder, i);
        done = done && cnnvp_npy_read(file, &outputs->arrays[i], &error) == CNNVP_DONE;
        outputs->count += done ? 1 : 0;
        (void)unlink(file);
    }
    (void)rmdir(folder);
    return status == 0 && !done ? -1 : status;
}

/* The same; prints a message and returns 0 on failure. */
static int run_platform(const char *name, const char *options, size_t count, struct outputs *outputs)
{
    const int done = run_status(name, options, count, outputs) == 0;
    if (!done)
        print_error("failed: %s %s\n", name, options);
    return done;
}

static int platform_agrees(const char *name, const struct outputs *reference, const char *options)
{
    struct outputs platform = {.count = 0};
    const int same =
        run_platform(name, options, reference->count, &platform) && are_same(name, options, &platform, reference);
    clear_outputs(&platform);
    return same;
}

/* Platforms besides the one with large buffers. Small buffers must give the same words; the window engine has its own
 * reference. */
static const char *const others[] = {
    "-s " TEST_NATIVE_CPU SMALL_CONFIG,
    "-s " TEST_NATIVE_CPU " --batch 2" SMALL_CONFIG,
    "-s " TEST_NATIVE_CPU " --schedule fused" SMALL_CONFIG,
    "-s " TEST_NATIVE_CPU " -p window",
};
enum { OTHERS = sizeof others / sizeof others[0] };

static int agrees_on_others(const char *name, size_t first, size_t count, const struct outputs *reference)
{
    const struct fake_config window = window_config();
    struct outputs on_window = {.count = 0};
    int same = 1;
    for (size_t i = first; i < first + count; ++i) {
        const char *options = others[i % OTHERS];
        const int is_window = strstr(options, "window") != NULL;
        same &= (!is_window || run_reference(name, &window, &on_window)) &&
                platform_agrees(name, is_window ? &on_window : reference, options);
    }
    clear_outputs(&on_window);
    return same;
}

/* With scaling at write-out: one weight step for each output; `write_out` selects whether lookup tables are applied at
 * write-out, too. */
static int agrees_scaled(const char *name, const char *write_out)
{
    struct outputs reference = {.count = 0};
    struct fake_config config = large_config();
    char options[128];
    config.scales = 1;
    (void)snprintf(options, sizeof options, "-s " TEST_NATIVE_CPU " -s pe_array.write_out=%s", write_out);
    const int same = run_reference(name, &config, &reference) && platform_agrees(name, &reference, options);
    clear_outputs(&reference);
    return same;
}

/* Maps stay on chip between layers, in buffers that hold most of the cases. Zeros around maps must then be made on
 * chip. */
static int agrees_on_chip(const char *name, const struct outputs *reference, size_t *fitted)
{
    struct outputs on_chip = {.count = 0};
    const int status =
        run_status(name, "--on-chip -s " TEST_NATIVE_CPU CHIP_CONFIG " 2>/dev/null", reference->count, &on_chip);
    /* Status 2: refused, since it cannot run on chip. */
    const int same = status == 2 || (status == 0 && are_same(name, "--on-chip", &on_chip, reference));
    *fitted += status != 2 ? 1 : 0;
    clear_outputs(&on_chip);
    return same;
}

/* Tensors that layers read or write only in part: bytes of both images, counted by hand. */
static const struct {
    const char *name, *tensor, *member;
    json_int_t bytes;
} least[] = {
    {"slice_rows", "r.0", "least_read_bytes", 512},     /* 4 channels, 4 rows, 8 of 9 columns */
    {"slice_rows", "input", "least_read_bytes", 512},   /* the same words, of 7 rows */
    {"slice_steps", "input", "least_read_bytes", 480},  /* twice: 3 channels, 4 of 8 rows, 5 of 10 columns */
    {"single_slice", "input", "least_read_bytes", 108}, /* one image: 3 of 8 channels, 6 rows, 3 of 4 columns */
    {"net_alexnet", "/features/features.1/Relu_output_0", "least_write_bytes", 17328}, /* 12 maps, 19 of 20 each way */
    {"net_alexnet", "input", "least_read_bytes", 18252}, /* 3 channels, 39 of 40 rows and columns */
    {"split_rows", "input", "least_read_bytes", 1008},   /* both parts together: all */
    {"conv_stride2", "input", "least_read_bytes", 2704}, /* all: windows overlap */
    {"averagepool_ceil", "input", "least_read_bytes", 2016},
    {"pad_value", "output.1", "least_write_bytes", 1008}, /* the middle of 8 x 14 zeros */
    {"pad_value", "output.1", "least_read_bytes", 1792},
};

static json_int_t number(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Networks with words that no output depends on. Layer by layer, these words are computed nevertheless. */
static const char *const idle_words[] = {
    "concat_dense", "net_alexnet",    "net_planes",         "pad_negative",    "single_slice",         "slice_rows",
    "slice_steps",  "transposed_cut", "transposed_dilated", "transposed_gaps", "transposed_row_framed"};

static int has_idle_words(const char *name)
{
    for (size_t i = 0; i < sizeof idle_words / sizeof idle_words[0]; ++i)
        if (strcmp(idle_words[i], name) == 0)
            return 1;
    return 0;
}

/* Returns 0 and prints a message if a tensor moves fewer bytes than it must, or if words are written that nothing
 * needs. */
static int check_tensor(const char *name, int fused, const json_t *tensor)
{
    const char *which = json_string_value(json_object_get(tensor, "name"));
    const int weights = strcmp(json_string_value(json_object_get(tensor, "kind")), "weights") == 0;
    const json_int_t written = number(tensor, "write_bytes"), must = number(tensor, "least_write_bytes");
    int right = number(tensor, "read_bytes") >= number(tensor, "least_read_bytes") &&
                (fused || has_idle_words(name) ? written >= must : written == must);
    for (size_t i = 0; i < sizeof least / sizeof least[0] && !weights && !fused; ++i)
        if (strcmp(least[i].name, name) == 0 && strcmp(least[i].tensor, which) == 0)
            right &= number(tensor, least[i].member) == least[i].bytes;
    if (!right)
        print_error("%s: the bytes of %s\n", name, which);
    return right;
}

/* Checks that bytes and burst bytes are the same in total for tensors, for the memory, and for its requesters. */
static int check_sums(const char *name, const json_t *stats)
{
    static const char *const members[] = {"read_bytes", "write_bytes", "burst_bytes"};
    const json_t *memory = json_object_get(stats, "memory"), *tensors = json_object_get(stats, "tensors");
    json_t *requesters = json_object_get(json_object_get(json_object_get(stats, "units"), "dram"), "requesters");
    int right = 1;
    for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m) {
        long long of_tensors = 0, of_requesters = 0;
        const char *requester;
        json_t *share;
        for (size_t t = 0; t < json_array_size(tensors); ++t)
            of_tensors += number(json_array_get(tensors, t), members[m]);
        json_object_foreach(requesters, requester, share) of_requesters += number(share, members[m]);
        right &= of_tensors == number(memory, members[m]) && of_requesters == of_tensors;
    }
    if (!right)
        print_error("%s: the tensors' bytes, the requesters' and memory's are different\n", name);
    return right;
}

/* Returns 0 and prints a message if a layer or the network moves fewer bytes than its bound. */
static int check_bounds(const char *name, int fused, const json_t *stats)
{
    const json_t *memory = json_object_get(stats, "memory");
    const json_t *layers = json_object_get(stats, "layers");
    const json_int_t least = number(json_object_get(stats, "summary"), "least_dram_bytes");
    int right = least > 0 && number(memory, "read_bytes") + number(memory, "write_bytes") >= least;
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        const json_int_t bound = number(layer, "least_dram_bytes");
        right &= (fused || bound > 0) && number(layer, "dram_read_bytes") + number(layer, "dram_write_bytes") >= bound;
    }
    if (!right)
        print_error("%s: less off chip than the bounds\n", name);
    return right;
}

/* Checks the traffic of the last run. With `fused`, rows and columns that a pool drops are neither read nor
 * computed. */
static int check_traffic(const char *name, int fused)
{
    json_t *stats = json_load_file(stats_file, 0, NULL);
    const json_t *tensors = json_object_get(stats, "tensors");
    int right = json_array_size(tensors) > 0;
    for (size_t t = 0; t < json_array_size(tensors); ++t)
        right &= check_tensor(name, fused, json_array_get(tensors, t));
    right = right && check_bounds(name, fused, stats) && check_sums(name, stats);
    json_decref(stats);
    return right;
}

/* 8-bit words are not compared with float: formats are powers of two with 7 bits and a sign, so some results are far
 * from it. */
static int check_case(size_t i, size_t *fitted)
{
    const char *name = cases[i];
    const struct fake_config large = large_config(), small = small_config();
    struct outputs a = {.count = 0}, b = {.count = 0};
    char layer[256], fused[256];
    (void)snprintf(layer, sizeof layer, "-s " TEST_NATIVE_CPU " --stats %s", stats_file);
    (void)snprintf(fused, sizeof fused, "--timing-only --schedule fused --stats %s", stats_file);
    int good = run_reference(name, &large, &a) && run_reference(name, &small, &b) &&
               are_same(name, "the result with small buffers", &a, &b) && platform_agrees(name, &a, layer);
    if (bytes)
        good = good && agrees_scaled(name, "scale");
    else
        good = good && are_close(name, &a) && check_traffic(name, 0) && run_platform(name, fused, 0, NULL) &&
               check_traffic(name, 1) && agrees_on_chip(name, &a, fitted) &&
               (strncmp(name, "net_", strlen("net_")) != 0 || agrees_scaled(name, "table")) &&
               ((i % 8 != 0 && wanted == NULL) || platform_agrees(name, &a, ""));
    good = good && agrees_on_others(name, i, everywhere || (wanted != NULL && !bytes) ? OTHERS : 1, &a);
    clear_outputs(&a);
    clear_outputs(&b);
    return good;
}

static void check_cases(void **state)
{
    (void)state;
    size_t failed = 0;
    size_t fitted = 0;
    const int descriptor = mkstemp(stats_file);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    for (size_t i = 0; i < case_count; ++i)
        failed += check_case(i, &fitted) ? 0 : 1;
    (void)unlink(stats_file);
    assert_int_equal(failed, 0);
    assert_true(bytes || wanted != NULL || fitted >= case_count / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_cases)};
    if (argc < 3)
        return 2;
    zoo = argv[2];
    wanted = argc > 3 ? argv[3] : NULL;
    bytes = strcmp(argv[1], "bytes") == 0;
    everywhere = strcmp(argv[1], "platforms") == 0;
    if (!bytes && !everywhere && strcmp(argv[1], "platform") != 0)
        return 2;
    return cmocka_run_group_tests(tests, find_cases, forget_cases);
}
