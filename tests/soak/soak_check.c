/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of models/documents.md on one pair. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"
#include "soak_run.h"

#define LOSS_MAX 1e6
#define WITH_VCD "--trace trace.vcd"

/* A further run of a pair, and what must be equal to the first run. */
struct variant {
    const char *what;
    const char *options;
    uint32_t larger; /* factor on the sizes of the buffers */
    enum { SAME_STATS, SAME_STATS_WITHOUT_VALUES, SAME_WORK, OTHER_TILES, SAME_RESULTS } compared;
    enum { ITS_MEMORY, OWN_MEMORY, BAD_MEMORY } memory;
};

static const struct variant first = {"", "", 1, SAME_STATS, ITS_MEMORY};

/* "": the platform's own memory. */
static const char *memory_of(const struct soak *soak, const struct variant *variant)
{
    const struct soak_platform *platform = &soak->platform;
    return variant->memory == OWN_MEMORY ? "" : variant->memory == BAD_MEMORY ? platform->fault : platform->memory;
}

/* The command line, which is also printed for reproduction. */
static void command_text(const struct soak *soak, const struct variant *variant, char *text, size_t room)
{
    const struct soak_platform *platform = &soak->platform;
    char outputs[512] = "-o out.onnx";
    const int others = platform->memory[0] != '\0' && variant->memory != OWN_MEMORY;
    const int learns = platform->trains && strstr(variant->options, "--timing-only") == NULL &&
                       strstr(variant->options, "--checkpoint") == NULL;
    size_t at = 0;
    uint32_t sizes[3];
    for (size_t i = 0; i < 3; ++i)
        sizes[i] =
            variant->larger * (platform->unified ? platform->buffers[0] + platform->buffers[1] + platform->buffers[2]
                                                 : platform->buffers[i]);
    for (size_t i = 0; !platform->trains && i < platform->outputs; ++i)
        at += (size_t)snprintf(outputs + at, sizeof outputs - at, " -o out%zu.npy", i);
    (void)snprintf(text, room,
                   "%s net.onnx --seed %" PRIu64 " -q --stats stats.json %s%s %s%s -s %s.size=%u -s %s.size=%u "
                   "-s %s.size=%u %s",
                   platform->trains ? "train" : "run", soak->counts.pair, outputs, learns ? " --checkpoint state" : "",
                   platform->options, others ? platform->memory_options : "", platform->names[0], sizes[0],
                   platform->names[1], sizes[1], platform->names[2], sizes[2], variant->options);
}

static void start(const struct soak *soak, const struct variant *variant, struct soak_run *run)
{
    char text[4096];
    command_text(soak, variant, text, sizeof text);
    soak_run(text, memory_of(soak, variant), run);
}

static void complain(const struct soak *soak, const struct variant *variant, const char *what, const char *detail)
{
    char text[4096];
    command_text(soak, variant, text, sizeof text);
    printf("pair %" PRIu64 " of seed %" PRIu64 ": %s%s%s\n", soak->counts.pair, soak->seed, what, *detail ? ": " : "",
           detail);
    printf("  in %s, where net.onnx stays as failed-%" PRIu64 ".onnx: " SOAK_MEMORY "=%s %s %s\n", soak->folder,
           soak->counts.pair, memory_of(soak, variant), SOAK_PROGRAM, text);
    (void)fflush(stdout);
}

/* ---- comparisons ---- */

static json_int_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

static json_int_t sum(const json_t *rows, const char *member)
{
    json_int_t total = 0;
    for (size_t i = 0; i < json_array_size(rows); ++i)
        total += number(json_array_get(rows, i), member);
    return total;
}

/* 1: equal except the description of the platform. Without `values`, b has no statistics of values. */
static int same_stats(const json_t *a, const json_t *b, int values)
{
    static const char *const of_values[] = {"values", "training"};
    json_t *x = json_copy((json_t *)(uintptr_t)a);
    json_t *y = json_copy((json_t *)(uintptr_t)b);
    json_object_del(x, "platform");
    json_object_del(y, "platform");
    for (size_t i = 0; !values && i < sizeof of_values / sizeof of_values[0]; ++i)
        json_object_del(x, of_values[i]);
    const int same = json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

static int same_output(const struct soak_run *a, const struct soak_run *b)
{
    return a->output != NULL && b->output != NULL && a->output_size == b->output_size &&
           memcmp(a->output, b->output, a->output_size) == 0;
}

/* Compares the accelerator's compute cycles and traffic, not its time. NULL: equal, else the first member that
 * differs. */
static const char *same_work(const json_t *a, const json_t *b)
{
    static const char *const members[] = {
        "compute_cycles", "macs", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes"};
    const json_t *x = json_object_get(a, "layers");
    const json_t *y = json_object_get(b, "layers");
    if (json_array_size(x) != json_array_size(y))
        return "layers";
    for (size_t i = 0; i < json_array_size(x); ++i)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            if (number(json_array_get(x, i), members[m]) != number(json_array_get(y, i), members[m]))
                return members[m];
    return NULL;
}

/* 1: the same layers form chains. Buffer sizes decide that, and depth first pads chains block by block, so the output
 * may differ. */
static int same_chains(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"first", "last", "issued_by"};
    const json_t *x = json_object_get(json_object_get(a, "schedule"), "chains");
    const json_t *y = json_object_get(json_object_get(b, "schedule"), "chains");
    if (json_array_size(x) != json_array_size(y))
        return 0;
    for (size_t i = 0; i < json_array_size(x); ++i)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            if (!json_equal(json_object_get(json_array_get(x, i), members[m]),
                            json_object_get(json_array_get(y, i), members[m])))
                return 0;
    return 1;
}

/* 1: another unit has computed a product with narrow sums of another width, which may overflow differently. */
static int other_sums(const struct soak_platform *platform, const json_t *a, const json_t *b)
{
    const char *bits = strstr(platform->options, "pe_array.acc_bits=");
    json_t *units = json_object_get(a, "units");
    int differ = 0;
    for (void *at = json_object_iter(units); at != NULL; at = json_object_iter_next(units, at))
        differ |= number(json_object_iter_value(at), "macs") !=
                  number(json_object_get(json_object_get(b, "units"), json_object_iter_key(at)), "macs");
    return differ && bits != NULL && strtol(bits + strlen("pe_array.acc_bits="), NULL, 10) < 40;
}

static int is_share(const json_t *object, const char *member)
{
    const double share = json_number_value(json_object_get(object, member));
    return share >= 0 && share <= 1;
}

static const char *shares(const json_t *stats)
{
    const json_t *summary = json_object_get(stats, "summary");
    const json_t *layers = json_object_get(stats, "layers");
    json_t *bounds = json_object_get(summary, "bound_shares");
    for (size_t i = 0; i < json_array_size(layers); ++i)
        if (!is_share(json_array_get(layers, i), "utilization") ||
            !is_share(json_array_get(layers, i), "compute_utilization"))
            return "a layer's utilization is no share";
    for (void *at = json_object_iter(bounds); at != NULL; at = json_object_iter_next(bounds, at))
        if (!is_share(bounds, json_object_iter_key(at)))
            return "what bounds is no share";
    if (!is_share(summary, "peak_share"))
        return "peak_share is no share";
    return is_share(summary, "bandwidth_share") ? NULL : "bandwidth_share is no share";
}

/* Checks that no bytes are below the lower bounds. */
static const char *least_bytes(const json_t *stats)
{
    const json_t *summary = json_object_get(stats, "summary");
    const json_t *memory = json_object_get(stats, "memory");
    const json_t *layers = json_object_get(stats, "layers");
    const json_t *tensors = json_object_get(stats, "tensors");
    const json_int_t moved = number(memory, "read_bytes") + number(memory, "write_bytes");
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        if (number(layer, "least_dram_bytes") > number(layer, "dram_read_bytes") + number(layer, "dram_write_bytes"))
            return "a layer moves less than it must";
    }
    for (size_t i = 0; i < json_array_size(tensors); ++i) {
        const json_t *tensor = json_array_get(tensors, i);
        if (number(tensor, "least_read_bytes") > number(tensor, "read_bytes") ||
            number(tensor, "least_write_bytes") > number(tensor, "write_bytes"))
            return "a tensor moves less than it must";
    }
    return number(summary, "least_dram_bytes") > moved || number(summary, "layers_least_dram_bytes") > moved
               ? "the network moves less than it must"
               : NULL;
}

/* Compares statistics of the units with the totals. */
static const char *sums_of_units(const json_t *stats)
{
    json_t *units = json_object_get(stats, "units");
    json_int_t macs = 0;
    for (void *at = json_object_iter(units); at != NULL; at = json_object_iter_next(units, at))
        macs += number(json_object_iter_value(at), "macs") + number(json_object_iter_value(at), "int8_macs");
    if (macs != number(json_object_get(stats, "total"), "macs"))
        return "MACs in all are not those of the units";
    return json_number_value(json_object_get(json_object_get(stats, "energy"), "no_layer_pj")) >= 0
               ? NULL
               : "layers have more energy than there is";
}

/* Checks that each cycle and byte is counted for exactly one layer. */
static const char *accounts(const json_t *stats)
{
    const json_t *layers = json_object_get(stats, "layers");
    const json_t *total = json_object_get(stats, "total");
    const json_t *memory = json_object_get(stats, "memory");
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        json_t *stalls = json_object_get(layer, "stall_cycles");
        json_int_t cycles = number(layer, "compute_cycles");
        for (void *at = json_object_iter(stalls); at != NULL; at = json_object_iter_next(stalls, at))
            cycles += json_integer_value(json_object_iter_value(at));
        if (cycles != number(layer, "cycles"))
            return "a layer's cycles are not its compute and stall cycles";
    }
    if (number(total, "accel_cycles") != sum(layers, "cycles") + number(total, "idle_cycles"))
        return "accelerator cycles are not those of the layers and idle ones";
    if (sum(layers, "dram_read_bytes") != number(memory, "read_bytes") ||
        sum(layers, "dram_write_bytes") != number(memory, "write_bytes"))
        return "bytes of the layers are not those of the memory";
    if (sum(layers, "macs") != number(total, "macs"))
        return "MACs of the layers are not those in all";
    const char *wrong = shares(stats);
    wrong = wrong != NULL ? wrong : least_bytes(stats);
    return wrong != NULL ? wrong : sums_of_units(stats);
}

/* 1: values are so large that sums saturate, so that the order of sums matters. */
static int went_astray(const json_t *stats)
{
    const json_t *training = json_object_get(stats, "training");
    const json_t *losses = json_object_get(training, "loss");
    if (json_integer_value(json_object_get(training, "nonfinite")) != 0 || json_number_value(losses) > LOSS_MAX)
        return 1;
    for (size_t i = 0; i < json_array_size(training); ++i)
        if (json_number_value(json_array_get(json_array_get(training, i), 2)) > LOSS_MAX)
            return 1;
    return 0;
}

/* ---- checks of a pair ---- */

/* Variants of every pair. */
static const struct variant always[] = {
    {"--timing-only", "--timing-only", 1, SAME_STATS_WITHOUT_VALUES, ITS_MEMORY},
    {"larger buffers", "", 4, OTHER_TILES, ITS_MEMORY},
};
static const struct variant stepped = {"detail=cycle", "-s pe_array.detail=cycle", 1, SAME_STATS, ITS_MEMORY};
static const struct variant own_memory = {"the platform's own memory", "", 1, OTHER_TILES, OWN_MEMORY};

/* Each pair runs one of these variants, in turn. */
static const struct variant turns[] = {
    {"the same again", "", 1, SAME_STATS, ITS_MEMORY},
    {"cpu.timing", "-s cpu.timing=off", 1, SAME_WORK, ITS_MEMORY},
    {"cpu.quantum", "-s cpu.quantum=97", 1, SAME_STATS, ITS_MEMORY},
    {"a trace", WITH_VCD, 1, SAME_STATS, ITS_MEMORY},
    {"a trace in FST", "--trace trace.fst", 1, SAME_STATS, ITS_MEMORY},
    {"a trace for Perfetto", "--trace trace.pftrace", 1, SAME_STATS, ITS_MEMORY},
};

/* 1: the platform's array has parameter `detail` (NFU). */
static int can_be_stepped(const json_t *stats)
{
    const json_t *units = json_object_get(json_object_get(stats, "platform"), "units");
    return json_object_get(json_object_get(units, "pe_array"), "detail") != NULL;
}

/* The property that a further run violates; "": none. */
static const char *compare(const struct soak *soak, const struct variant *variant, const struct soak_run *base,
                           const struct soak_run *other)
{
    const struct soak_platform *platform = &soak->platform;
    const int timing = variant->compared == SAME_STATS_WITHOUT_VALUES;
    /* 1: results may depend on tiles: stochastic rounding in inference draws by a result's position in its tile, and
     * trainings may have diverged. */
    const int tiles_count =
        platform->trains ? went_astray(base->stats) : strstr(platform->options, "stochastic") != NULL;
    if (other->status != 0 || other->stats == NULL)
        return other->message[0] != '\0' ? other->message : "it failed";
    const int other_tiles =
        variant->compared == OTHER_TILES && (tiles_count || other_sums(platform, base->stats, other->stats));
    const int other_chains = variant->compared == OTHER_TILES && !same_chains(base->stats, other->stats);
    if (!other_chains && (timing ? other->output != NULL : !other_tiles && !same_output(base, other)))
        return "the output differs";
    if (variant->compared <= SAME_STATS_WITHOUT_VALUES)
        return same_stats(base->stats, other->stats, !timing) ? "" : "the statistics differ";
    const char *wrong = variant->compared == SAME_WORK ? same_work(base->stats, other->stats) : accounts(other->stats);
    return wrong != NULL ? wrong : "";
}

static int check_variant(struct soak *soak, const struct variant *variant, const struct soak_run *base)
{
    struct soak_run other;
    start(soak, variant, &other);
    const char *wrong = compare(soak, variant, base, &other);
    if (*wrong == '\0' && strcmp(variant->options, WITH_VCD) == 0)
        wrong = soak_trace_integrals("trace.vcd", other.stats);
    const int fine = *wrong == '\0';
    if (!fine)
        complain(soak, variant, variant->what, wrong);
    soak_run_clear(&other);
    return fine;
}

/* A training that is interrupted after a step and resumed gives the same result. */
static int check_resumed(struct soak *soak, const struct soak_run *base)
{
    struct soak_run half;
    char options[64];
    (void)snprintf(options, sizeof options, "--steps %u --checkpoint half", soak->platform.halfway);
    const struct variant before = {"the first steps", options, 1, SAME_RESULTS, ITS_MEMORY};
    const struct variant behind = {"resumed", "--resume half --checkpoint state", 1, SAME_RESULTS, ITS_MEMORY};
    start(soak, &before, &half);
    const int fine = half.status == 0;
    if (!fine)
        complain(soak, &before, before.what, half.message);
    soak_run_clear(&half);
    return fine & check_variant(soak, &behind, base);
}

/* Errors of the memory end in a message, unless wrong data are never read. A second run must end the same way. */
static int check_fault(struct soak *soak)
{
    struct soak_run runs[2];
    const char *wrong = "";
    const struct variant bad = {"errors of the memory", "", 1, SAME_RESULTS, BAD_MEMORY};
    for (size_t i = 0; i < 2; ++i)
        start(soak, &bad, &runs[i]);
    if (runs[0].status != 0 && (runs[0].status > 2 || strlen(runs[0].message) <= strlen("cnnvp: ")))
        wrong = "neither done nor failed with a message";
    else if (runs[0].status != runs[1].status || strcmp(runs[0].message, runs[1].message) != 0)
        wrong = "the same again ends otherwise";
    if (*wrong != '\0')
        complain(soak, &bad, wrong, runs[0].message);
    for (size_t i = 0; i < 2; ++i)
        soak_run_clear(&runs[i]);
    return *wrong == '\0';
}

/* 1: the memory has neither direct memory nor debug transport. Loading then takes time, and --timing-only loads
 * less. */
static int loads_in_time(const struct soak_platform *platform)
{
    const char *memory = platform->memory;
    const int direct = strchr(memory, 'd') != NULL && strstr(platform->memory_options, "dram.dmi=on") != NULL;
    return strncmp(memory, "lt:", 3) == 0 && strchr(memory, 'g') == NULL && !direct &&
           strstr(platform->memory_options, "storage=platform") == NULL;
}

static int check_all(struct soak *soak, const struct soak_run *base)
{
    const struct soak_platform *platform = &soak->platform;
    const char *wrong = accounts(base->stats);
    int fine = wrong == NULL;
    if (!fine)
        complain(soak, &first, "accounting", wrong);
    for (size_t i = loads_in_time(platform) ? 1 : 0; i < sizeof always / sizeof always[0]; ++i)
        fine &= check_variant(soak, &always[i], base);
    if (can_be_stepped(base->stats))
        fine &= check_variant(soak, &stepped, base);
    fine &= check_variant(soak, &turns[soak->counts.pair % (sizeof turns / sizeof turns[0])], base);
    if (platform->halfway != 0)
        fine &= check_resumed(soak, base);
    if (platform->memory[0] != '\0')
        fine &= check_variant(soak, &own_memory, base) & check_fault(soak);
    return fine;
}

/* Creates the pair's platform, and its network as net.onnx. Returns 0 on success. */
static int make_pair(struct soak *soak, uint64_t seed)
{
    struct soak_platform *platform = &soak->platform;
    if (!soak->more) {
        soak_platform(seed, platform);
        return soak_write_network(seed, platform, "net.onnx");
    }
    soak_more_platform(seed, platform);
    return soak_write_more(seed, platform, "net.onnx");
}

/* 1: the network does not fit in the buffers, or the training has diverged so that no network can be written. */
static int is_refused(const struct soak_run *run)
{
    const int astray = run->status == 1 && strstr(run->message, "no network can be written") != NULL;
    return (run->status == 2 || astray) && strncmp(run->message, "cnnvp: ", 7) == 0 && run->output == NULL;
}

/* Keeps the network of the current pair, which has failed. */
static void keep_pair(struct soak *soak)
{
    static const char *const files[][2] = {{"net.onnx", ".onnx"}, {"images", ".images"}, {"labels", ".labels"}};
    for (size_t i = 0; i < (soak->platform.trains ? 3 : 1); ++i) {
        char kept[64];
        (void)snprintf(kept, sizeof kept, "failed-%" PRIu64 "%s", soak->counts.pair, files[i][1]);
        (void)rename(files[i][0], kept);
    }
    ++soak->counts.failed;
}

void soak_check_pair(struct soak *soak)
{
    struct soak_run base;
    struct soak_counts *counts = &soak->counts;
    int fine = make_pair(soak, soak->seed * UINT64_C(1000000007) + counts->pair) == 0;
    start(soak, &first, &base);
    if (fine && is_refused(&base)) {
        ++counts->refused;
    } else if (!fine || base.status != 0 || base.stats == NULL) {
        complain(soak, &first, "it failed", base.message);
        fine = 0;
    } else {
        fine = check_all(soak, &base);
        ++counts->checked;
    }
    soak_run_clear(&base);
    if (!fine)
        keep_pair(soak);
}
