/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's invariants on one pair. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "soak.h"
#include "soak_run.h"

/* The command for people to repeat, too. */
static void command_text(const struct soak *soak, uint32_t larger, const char *more, char *text, size_t room)
{
    (void)snprintf(text, room,
                   "run net.onnx --seed %" PRIu64 " -q --stats stats.json -o out.npy %s -s input_buffer.size=%u "
                   "-s weight_buffer.size=%u -s %s.size=%u %s",
                   soak->counts->pair, soak->platform.options, soak->platform.buffers[0] * larger,
                   soak->platform.buffers[1] * larger, soak->platform.output, soak->platform.buffers[2] * larger, more);
}

static void start(const struct soak *soak, uint32_t larger, const char *more, struct soak_run *run)
{
    enum { MOST = 256 };
    char text[4096];
    char *words[MOST] = {(char[]){"cnnvp"}};
    size_t count = 1;
    command_text(soak, larger, more, text, sizeof text);
    char *rest = text;
    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < MOST - 1; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (soak->program != NULL)
        soak_run_program(soak->program, words, run);
    else
        soak_run_library(words, run);
}

static void complain(const struct soak *soak, uint32_t larger, const char *more, const char *what, const char *detail)
{
    char text[4096];
    command_text(soak, larger, more, text, sizeof text);
    printf("pair %" PRIu64 " of seed %" PRIu64 ": %s%s%s\n", soak->counts->pair, soak->seed, what,
           *detail ? ": " : "", detail);
    printf("  in %s, where net.onnx stays as failed-%" PRIu64 ".onnx: cnnvp %s\n", soak->folder, soak->counts->pair,
           text);
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

/* Equal but for what a parameter or an option says of itself. */
static int same_stats(const json_t *a, const json_t *b, int values)
{
    json_t *x = json_copy((json_t *)(uintptr_t)a);
    json_t *y = json_copy((json_t *)(uintptr_t)b);
    json_object_del(x, "platform");
    json_object_del(y, "platform");
    if (!values) {
        json_object_del(x, "values");
        json_object_del(y, "values");
    }
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

/* The accelerator's compute cycles and traffic, not its time. */
static const char *same_work(const json_t *a, const json_t *b, int traffic)
{
    static const char *const members[] = {"compute_cycles", "macs", "input_words", "weight_words", "output_words",
                                          "dram_read_bytes", "dram_write_bytes"};
    const json_t *x = json_object_get(a, "layers");
    const json_t *y = json_object_get(b, "layers");
    if (json_array_size(x) != json_array_size(y))
        return "layers";
    for (size_t i = 0; i < json_array_size(x); ++i)
        for (size_t m = 0; m < (traffic ? sizeof members / sizeof members[0] : 2); ++m)
            if (number(json_array_get(x, i), members[m]) != number(json_array_get(y, i), members[m]))
                return members[m];
    return NULL;
}

/* Depth first, buffers decide which layers form chains, and so what is padded block by block. */
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

/* Each cycle and byte belongs to exactly one layer. */
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
    return NULL;
}

/* ---- a pair ---- */

struct variant {
    const char *what;
    const char *options;
    uint32_t larger; /* buffers so many times as large */
    enum { SAME_STATS, SAME_STATS_WITHOUT_VALUES, SAME_WORK, SAME_COMPUTE } compared;
};

/* Of each pair, but of the last six one after the other. */
static const struct variant variants[] = {
    {"--timing-only", "--timing-only", 1, SAME_STATS_WITHOUT_VALUES},
    {"pe_array.detail=cycle", "-s pe_array.detail=cycle", 1, SAME_STATS},
    {"larger buffers", "", 4, SAME_COMPUTE},
    {"the same again", "", 1, SAME_STATS},
    {"--cpu host", "--cpu host", 1, SAME_WORK},
    {"cpu.quantum", "-s cpu.quantum=97", 1, SAME_STATS},
    {"a trace", "--trace trace.vcd", 1, SAME_STATS},
    {"a trace in FST", "--trace trace.fst", 1, SAME_STATS},
    {"a trace for Perfetto", "--trace trace.pftrace", 1, SAME_STATS},
};
#define TURNS 6u

/* "", or by how much larger buffers made it slower. Plans are chosen by estimates, so some part of it is let pass. */
static const char *is_slower(const struct soak *soak, const json_t *base, const json_t *larger, char *text, size_t room)
{
    struct soak_counts *counts = soak->counts;
    const json_int_t before = number(json_object_get(base, "total"), "accel_cycles");
    const json_int_t now = number(json_object_get(larger, "total"), "accel_cycles");
    counts->slower += now > before ? 1 : 0;
    if (now <= before + before * soak->slower / 100)
        return "";
    (void)snprintf(text, room, "%" JSON_INTEGER_FORMAT " cycles, not %" JSON_INTEGER_FORMAT, now, before);
    return text;
}

static int check_variant(struct soak *soak, const struct variant *variant, const struct soak_run *base)
{
    struct soak_run other;
    const char *wrong = "";
    start(soak, variant->larger, variant->options, &other);
    const int timing = variant->compared == SAME_STATS_WITHOUT_VALUES;
    /* Stochastic rounding draws by a result's place in its tile. */
    const int other_tiles = variant->compared == SAME_COMPUTE && strstr(soak->platform.options, "stochastic") != NULL;
    const int other_work = variant->compared == SAME_COMPUTE && !same_chains(base->stats, other.stats);
    if (other.status != 0 || other.stats == NULL)
        wrong = other.message[0] != '\0' ? other.message : "it failed";
    else if (other_work)
        wrong = accounts(other.stats);
    else if (timing ? other.output != NULL : !other_tiles && !same_output(base, &other))
        wrong = "the output differs";
    else if (variant->compared <= SAME_STATS_WITHOUT_VALUES)
        wrong = same_stats(base->stats, other.stats, !timing) ? "" : "the statistics differ";
    else
        wrong = same_work(base->stats, other.stats, variant->compared == SAME_WORK);
    if (wrong == NULL)
        wrong = "";
    char slower[96];
    if (*wrong == '\0' && variant->compared == SAME_COMPUTE && !other_work)
        wrong = is_slower(soak, base->stats, other.stats, slower, sizeof slower);
    const int fine = *wrong == '\0';
    if (!fine)
        complain(soak, variant->larger, variant->options, variant->what, wrong);
    soak_run_clear(&other);
    return fine;
}

void soak_check_pair(struct soak *soak)
{
    struct soak_run base;
    struct soak_counts *counts = soak->counts;
    const uint64_t seed = soak->seed * UINT64_C(1000000007) + counts->pair;
    if (soak->wide)
        soak_wide_platform(seed, &soak->platform);
    else
        soak_platform(seed, &soak->platform);
    int fine = (soak->wide ? soak_write_wide(seed, soak->platform.kind, "net.onnx")
                           : soak_write_network(seed, "net.onnx")) == 0;
    start(soak, 1, "", &base);
    if (fine && base.status == 2 && strncmp(base.message, "cnnvp: ", 7) == 0 && base.output == NULL) {
        ++counts->refused; /* a network that the buffers cannot hold */
    } else if (!fine || base.status != 0 || base.stats == NULL) {
        complain(soak, 1, "", "it failed", base.message);
        fine = 0;
    } else {
        const char *wrong = accounts(base.stats);
        if (wrong != NULL)
            complain(soak, 1, "", "accounting", wrong);
        fine = wrong == NULL;
        const size_t always = sizeof variants / sizeof variants[0] - TURNS;
        for (size_t i = 0; i < always; ++i)
            fine &= check_variant(soak, &variants[i], &base);
        fine &= check_variant(soak, &variants[always + counts->pair % TURNS], &base);
        ++counts->checked;
    }
    soak_run_clear(&base);
    if (!fine)
        soak_keep_pair(soak);
}

void soak_keep_pair(struct soak *soak)
{
    char kept[64];
    (void)snprintf(kept, sizeof kept, "failed-%" PRIu64 ".onnx", soak->counts->pair);
    (void)rename("net.onnx", kept);
    ++soak->counts->failed;
}
