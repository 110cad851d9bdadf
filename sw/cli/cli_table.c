/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables on the terminal. They are made from the text of stats.json, so that both agree. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "cli.h"

static int64_t whole(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL && value[0] != '\0' ? value : "-";
}

/* ---- formats of numbers ---- */

static const char *bytes_text(char text[32], int64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)bytes / 1000.0;
    size_t unit = 0;
    if (bytes < 1000) {
        (void)snprintf(text, 32, "%" PRId64 " B", bytes);
        return text;
    }
    for (; unit + 1 < sizeof units / sizeof *units && value >= 999.95; ++unit)
        value /= 1000.0;
    (void)snprintf(text, 32, "%.1f %s", value, units[unit]);
    return text;
}

const char *cli_pico_text(char text[32], int digits, double value, const char *unit)
{
    static const char *const prefixes[] = {"p", "n", "u", "m", ""};
    size_t prefix = 0;
    for (; prefix + 1 < sizeof prefixes / sizeof *prefixes && value >= 1000.0; ++prefix)
        value /= 1000.0;
    (void)snprintf(text, 32, "%.*g %s%s", digits, value, prefixes[prefix], unit);
    return text;
}

const char *cli_time_text(char text[32], double ps)
{
    return cli_pico_text(text, 6, ps, "s");
}

/* ---- names ---- */

/* 1: not the first byte of a character in UTF-8. */
static int continues(char byte)
{
    return ((unsigned char)byte & 0xC0u) == 0x80u;
}

static size_t columns_of(const char *name)
{
    size_t columns = 0;
    for (; *name != '\0'; ++name)
        columns += !continues(*name);
    return columns;
}

/* Prints a name in so many columns. A longer one is cut after a whole character, and control characters become '?'. */
static void print_name(FILE *stream, const char *name, size_t width)
{
    size_t columns = 0;
    for (; *name != '\0' && (columns < width || continues(*name)); ++name) {
        const unsigned char byte = (unsigned char)*name;
        (void)fputc(byte < 0x20 || byte == 0x7F ? '?' : byte, stream);
        columns += !continues(*name);
    }
    (void)fprintf(stream, "%*s", (int)(width - columns), "");
}

/* ---- layers ---- */

#define FAR 0.15      /* a layer is reported if it exceeds its bounds by this share, */
#define FAR_PART 0.05 /* and by this share of all cycles */

enum { COLUMNS = 100, NAME_WIDTH = 21, BOUNDS = 4, NAMED = 4 /* most layers listed for another unit */ };

/* The member with the largest number that is not yet in `shown`, the first one of equal numbers. NULL: the others are
 * 0. */
static const char *next_stall(const json_t *stalls, const char *const *shown, size_t count, double *most)
{
    const char *cause, *largest = NULL;
    json_t *value;
    *most = 0;
    json_object_foreach((json_t *)(uintptr_t)stalls, cause, value)
    {
        int done = 0;
        for (size_t i = 0; i < count; ++i)
            done |= strcmp(shown[i], cause) == 0;
        if (done || json_number_value(value) <= *most)
            continue;
        *most = json_number_value(value);
        largest = cause;
    }
    return largest;
}

#define CAUSES 16

/* Lists the causes of at least 0.5 % of the layer's cycles, largest first, as far as they fit: "weight 12%, bias 3%".
 * Each listed cause is added to `met`. */
static void describe_stalls(const json_t *layer, char *buffer, size_t size, json_t *met)
{
    const json_t *stalls = json_object_get(layer, "stall_cycles");
    const double cycles = number(layer, "cycles");
    const char *shown[CAUSES];
    size_t length = 0;
    (void)snprintf(buffer, size, "-");
    for (size_t count = 0; count < CAUSES; ++count) {
        char piece[64];
        double most;
        const char *cause = next_stall(stalls, shown, count, &most);
        if (cause == NULL || most < cycles * 0.005)
            break;
        const int written =
            snprintf(piece, sizeof piece, "%s%s %.0f%%", count ? ", " : "", cause, 100.0 * most / cycles);
        if (written <= 0 || length + (size_t)written >= size)
            break;
        memcpy(buffer + length, piece, (size_t)written + 1);
        length += (size_t)written;
        shown[count] = cause;
        (void)json_object_set_new(met, cause, json_true());
    }
}

/* Explains the causes that the table names. */
static void print_legend(const json_t *met, FILE *stream)
{
    const char *cause;
    json_t *value;
    (void)fprintf(stream, "\n%s", cli_style(CLI_DIM));
    json_object_foreach((json_t *)(uintptr_t)met, cause, value)
    {
        const char *help = cnnvp_stall_help(cause);
        if (help != NULL)
            (void)fprintf(stream, "  %-12s  %s\n", cause, help);
    }
    (void)fprintf(stream, "%s", cli_style(CLI_PLAIN));
}

static size_t name_width(const json_t *layers)
{
    size_t width = 5, index;
    json_t *layer;
    json_array_foreach((json_t *)(uintptr_t)layers, index, layer)
    {
        const size_t length = columns_of(text(layer, "name"));
        width = length > width ? length : width;
    }
    return width > NAME_WIDTH ? NAME_WIDTH : width;
}

/* 1: some layers belong to another phase than inference. */
static int has_phases(const json_t *layers)
{
    size_t index;
    json_t *layer;
    json_array_foreach((json_t *)(uintptr_t)layers, index,
                       layer) if (strcmp(text(layer, "phase"), "forward") != 0) return 1;
    return 0;
}

static void print_layers(const json_t *root, int verbose, FILE *stream)
{
    (void)verbose;
    const json_t *layers = json_object_get(root, "layers");
    const size_t width = name_width(layers);
    const int phases = has_phases(layers);
    const size_t room = COLUMNS - width - (phases ? 74 : 65);
    json_t *met = json_object();
    (void)fprintf(stream, "%s%-*s  %-10s %s%13s %8s %7s %9s %9s  %s%s\n", cli_style(CLI_BOLD), (int)width, "layer",
                  "op", phases ? "phase    " : "", "cycles", "compute", "PE util", "DRAM read", "written",
                  "largest stalls", cli_style(CLI_PLAIN));
    size_t index;
    json_t *layer;
    json_array_foreach((json_t *)(uintptr_t)layers, index, layer)
    {
        char stalls[COLUMNS + 1], cycles[32], read[32], written[32];
        const double all = number(layer, "cycles");
        describe_stalls(layer, stalls, room + 1, met);
        print_name(stream, text(layer, "name"), width);
        (void)fprintf(stream, "  %-10s %-*s%13s %7.1f%% %6.1f%% %9s %9s  %s\n", text(layer, "op"), phases ? 9 : 0,
                      phases ? text(layer, "phase") : "", cnnvp_grouped(cycles, whole(layer, "cycles")),
                      all > 0 ? 100.0 * number(layer, "compute_cycles") / all : 0.0,
                      100.0 * number(layer, "utilization"), bytes_text(read, whole(layer, "dram_read_bytes")),
                      bytes_text(written, whole(layer, "dram_write_bytes")), stalls);
    }
    print_legend(met, stream);
    (void)fputc('\n', stream);
    json_decref(met);
}

static void print_count(FILE *stream, const char *label, const json_t *total, const char *key)
{
    char value[32];
    if (json_object_get(total, key) != NULL)
        (void)fprintf(stream, "%-20s  %s\n", label, cnnvp_grouped(value, whole(total, key)));
}

/* The share of MACs with 8-bit words, if there are any. */
static void print_narrow(json_t *units, FILE *stream)
{
    const char *name;
    json_t *unit;
    double narrow = 0, others = 0;
    json_object_foreach(units, name, unit)
    {
        narrow += number(unit, "int8_macs");
        others += number(unit, "macs");
    }
    if (narrow > 0)
        (void)fprintf(stream, "%-20s  %.4g %% of the MACs\n", "words of 8 bits", 100 * narrow / (narrow + others));
}

static void print_groups(const json_t *schedule, FILE *stream)
{
    size_t index;
    json_t *group;
    const json_t *groups = json_object_get(schedule, "groups");
    const json_t *on_chip = json_object_get(schedule, "on_chip");
    json_array_foreach(groups, index, group)(void) fprintf(
        stream,
        "%-20s  %s to %s, %" PRId64 " x %" PRId64 " tiles of %" PRId64 " x %" PRId64 ", halo %s, %" PRId64
        " of %" PRId64 " weight bytes stay on chip\n",
        "fused", text(group, "first"), text(group, "last"), whole(group, "tile_rows"), whole(group, "tile_columns"),
        whole(group, "tile_h"), whole(group, "tile_w"), text(group, "halo"), whole(group, "resident_weight_bytes"),
        whole(group, "weight_bytes"));
    if (json_array_size(groups) == 0)
        (void)fprintf(stream, "%-20s  nothing\n", "fused");
    if (json_array_size(on_chip) != 0)
        (void)fprintf(stream, "%-20s  %zu tensor%s\n", "stay on chip", json_array_size(on_chip),
                      json_array_size(on_chip) == 1 ? "" : "s");
}

/* Prints which layers ran block by block, and the difference that block padding makes to the result. */
static void print_chains(const json_t *root, const json_t *schedule, FILE *stream)
{
    const json_t *padding = json_object_get(json_object_get(root, "values"), "block_padding");
    size_t index;
    json_t *chain;
    const json_t *chains = json_object_get(schedule, "chains");
    if (json_array_size(chains) == 0)
        (void)fprintf(stream, "%-20s  no layer: maps of one block each, for which the chip has no room; see --block\n",
                      "depth first");
    json_array_foreach(chains, index, chain)(void) fprintf(
        stream,
        "%-20s  %s to %s, %" PRId64 " blocks of side %" PRId64 " at most, %" PRId64 " of %" PRId64
        " weight bytes stay on chip, issued by %s: %s\n",
        "depth first", text(chain, "first"), text(chain, "last"), whole(chain, "blocks"), whole(schedule, "block"),
        whole(chain, "resident_weight_bytes"), whole(chain, "weight_bytes"), text(chain, "issued_by"),
        text(chain, "issue_reason"));
    if (padding != NULL && number(padding, "max_magnitude") > 0)
        (void)fprintf(stream, "%-20s  %.3f %% of the largest magnitude off ordinary convolution, at most\n",
                      "block padding", 100.0 * number(padding, "max_difference") / number(padding, "max_magnitude"));
}

static void print_schedule(const json_t *root, FILE *stream)
{
    const json_t *schedule = json_object_get(root, "schedule");
    if (json_object_get(schedule, "groups") != NULL)
        print_groups(schedule, stream);
    else if (schedule != NULL)
        print_chains(root, schedule, stream);
}

#define SQUARE_MM 1e6 /* um2 */

/* Lists the units that have no energy entry. */
static void print_unknown(const json_t *names, FILE *stream)
{
    size_t index;
    json_t *name;
    if (json_array_size(names) == 0)
        return;
    (void)fprintf(stream, "%-20s", "no energy entry for");
    json_array_foreach(names, index, name)(void)
        fprintf(stream, "%s %s", index == 0 ? " " : ",", json_string_value(name));
    (void)fputc('\n', stream);
}

/* The name of the instance that is the core; NULL if there is none. */
static const char *core_of(const json_t *root)
{
    const char *name;
    json_t *instance;
    json_object_foreach(json_object_get(json_object_get(root, "platform"), "units"), name,
                        instance) if (strcmp(text(instance, "model"), "cpu") == 0) return name;
    return NULL;
}

/* Prints how the core spent its time. */
static void print_core(const json_t *root, FILE *stream)
{
    const json_t *core = json_object_get(json_object_get(root, "units"), core_of(root));
    const double cycles = number(core, "cycles");
    const double memory = number(core, "memory_stall_cycles");
    const double asleep = number(core, "wfi_cycles");
    char size[32];
    if (cycles <= 0 || json_object_get(core, "memory_stall_cycles") == NULL)
        return;
    (void)fprintf(stream, "%-20s  %.1f %% of its time at work, %.1f waiting for memory, %.1f asleep", "core",
                  100.0 * (cycles - memory - asleep) / cycles, 100.0 * memory / cycles, 100.0 * asleep / cycles);
    if (whole(core, "tcm_bytes") != 0)
        (void)fprintf(stream, "; TCM: %s", bytes_text(size, whole(core, "tcm_bytes")));
    (void)fputc('\n', stream);
}

/* Prints a line for each accelerator if there are several. */
static void print_accelerators(const json_t *root, FILE *stream)
{
    size_t index;
    json_t *accelerator;
    json_array_foreach(json_object_get(root, "accelerators"), index, accelerator)
    {
        const double cycles = number(accelerator, "cycles");
        const double share = cycles > 0 ? 100.0 / cycles : 0;
        char whole_cycles[32], bytes[32];
        (void)fprintf(stream, "%-20s  %s, %.1f %% of them computing, %.1f idle; %s read\n", text(accelerator, "name"),
                      cnnvp_grouped(whole_cycles, whole(accelerator, "cycles")),
                      share * number(accelerator, "compute_cycles"), share * number(accelerator, "idle_cycles"),
                      bytes_text(bytes, whole(accelerator, "dram_read_bytes")));
    }
}

/* Prints the off-chip traffic, and compares it with the minimum. */
static void print_off_chip(const json_t *root, FILE *stream)
{
    const json_t *summary = json_object_get(root, "summary");
    const int64_t moved = whole(json_object_get(root, "memory"), "burst_bytes");
    const int64_t layers = whole(summary, "layers_least_dram_bytes");
    const int64_t least = whole(summary, "least_dram_bytes");
    char bytes[3][32];
    if (least > 0 && layers > 0)
        (void)fprintf(stream, "%-20s  %s in bursts; minimum %s (%.3g times), layers one by one %s\n", "off chip",
                      bytes_text(bytes[0], moved), bytes_text(bytes[1], least), number(summary, "dram_excess"),
                      bytes_text(bytes[2], layers));
}

/* Prints the instances that would gain the most time if they were twice as fast. */
static void print_gains(const json_t *root, FILE *stream)
{
    const json_t *gains = json_object_get(json_object_get(root, "summary"), "gain_if_twice_as_fast");
    const double time = number(json_object_get(root, "total"), "time_ps");
    const char *shown[BOUNDS];
    if (gains == NULL || strcmp(text(root, "command"), "run") != 0)
        return;
    for (size_t count = 0; count < BOUNDS; ++count) {
        double gain;
        shown[count] = next_stall(gains, shown, count, &gain);
        if (count == 0)
            (void)fprintf(stream, "%-20s  twice as fast, %s would bring about %.1f %%", "to go faster",
                          shown[0] != NULL ? shown[0] : "nothing", 100.0 * gain / time);
        else if (shown[count] != NULL && gain >= 0.001 * time)
            (void)fprintf(stream, ", %s %.1f", shown[count], 100.0 * gain / time);
        if (shown[count] == NULL || gain < 0.001 * time)
            break;
    }
    (void)fputs("; --advise tries what may help\n", stream);
}

/* Prints the layer that exceeds its bound (of its MACs or least bytes) by the most cycles, and the causes. */
static void print_farthest(const json_t *root, FILE *stream)
{
    size_t index;
    json_t *layer, *met = json_object();
    const json_t *farthest = NULL;
    double most = FAR_PART * number(json_object_get(root, "total"), "accel_cycles");
    json_array_foreach(json_object_get(root, "layers"), index, layer)
    {
        const double least = number(layer, "least_cycles"), more = number(layer, "cycles") - least;
        if (least <= 0 || more < FAR * least || more < most)
            continue;
        farthest = layer;
        most = more;
    }
    if (farthest != NULL) {
        const double cycles = number(farthest, "cycles"), bytes = number(farthest, "least_dram_bytes");
        const double busy = cycles * number(farthest, "utilization"), idle = number(farthest, "compute_cycles") - busy;
        char stalls[COLUMNS + 1];
        describe_stalls(farthest, stalls, sizeof stalls, met);
        const char *phase = text(farthest, "phase");
        const int is_forward = strcmp(phase, "forward") == 0;
        (void)fprintf(stream, "%-20s  %s%s%s takes %.3g times what its MACs or least bytes would: ",
                      "far from its bounds", text(farthest, "name"), is_forward ? "" : " ", is_forward ? "" : phase,
                      cycles / number(farthest, "least_cycles"));
        const int idles = idle >= cycles * 0.005, waits = strcmp(stalls, "-") != 0;
        if (idles)
            (void)fprintf(stream, "idle PEs %.1f %%", 100.0 * idle / cycles);
        if (waits)
            (void)fprintf(stream, "%s%s", idles ? ", " : "", stalls);
        if (bytes > 0)
            (void)fprintf(stream, "%s%.2f times its least bytes in bursts", idles || waits ? "; " : "",
                          number(farthest, "dram_burst_bytes") / bytes);
        (void)fputc('\n', stream);
    }
    json_decref(met);
}

/* Prints the layers for which the plan should have named another unit. */
static void print_better_units(const json_t *root, FILE *stream)
{
    size_t index, count = 0;
    json_t *layer;
    json_array_foreach(json_object_get(root, "layers"), index, layer)
    {
        const char *unit = json_string_value(json_object_get(layer, "better_unit"));
        if (unit != NULL && count++ < NAMED)
            (void)fprintf(stream, count == 1 ? "%-20s  %s on %s" : "%.0s, %s on %s", "better by its price",
                          text(layer, "name"), unit);
    }
    if (count > NAMED)
        (void)fprintf(stream, " and %zu more", count - NAMED);
    if (count != 0)
        (void)fputc('\n', stream);
}

/* A published small core: Ibex with its three-cycle multiplier, and divisions and jumps as in its documentation
 * (models/README.md), at half the clock. */
static const struct small_class {
    const char *instructions, *cycles; /* statistic of their count; parameter with this core's cycles */
    double ibex;
} small_core[] = {{"loads", "load_cycles", 2},
                  {"stores", "store_cycles", 2},
                  {"multiplies", "multiply_cycles", 3},
                  {"divides", "divide_cycles", 37},
                  {"jumps", "jump_cycles", 3}};
#define SMALL_CLOCK 2.0

/* Estimates the run's time with such a core. It is at least the core's whole work, and at least the same critical path
 * with the core's part made longer in proportion. */
static void print_small_core(const json_t *root, FILE *stream)
{
    const char *core = core_of(root);
    const json_t *cpu = json_object_get(json_object_get(root, "units"), core);
    const json_t *parameters = json_object_get(json_object_get(json_object_get(root, "platform"), "units"), core);
    const double waited = number(json_object_get(json_object_get(root, "summary"), "critical_path"), core);
    const double time = number(json_object_get(root, "total"), "time_ps");
    const double stalls = number(cpu, "stall_cycles") + number(cpu, "memory_stall_cycles");
    const double work = number(cpu, "cycles") - number(cpu, "wfi_cycles");
    double small = SMALL_CLOCK * (work - stalls) + stalls;
    char shown[32];
    if (waited <= 0 || work <= 0)
        return;
    for (size_t i = 0; i < sizeof small_core / sizeof small_core[0]; ++i)
        small += SMALL_CLOCK * number(cpu, small_core[i].instructions) *
                 (small_core[i].ibex - number(parameters, small_core[i].cycles));
    const double mhz = number(parameters, "clock_mhz") * fmax(1, number(parameters, "speedup"));
    const double least = fmax(time + (small / work - 1) * waited, small * 1e6 / mhz);
    if (least >= 1.01 * time)
        (void)fprintf(stream, "%-20s  Ibex's cycles at half this core's clock: about %s, %.0f %% more by this plan\n",
                      "a small core", cli_time_text(shown, least), 100.0 * (least / time - 1));
}

/* The critical path with a further accelerator's units added to those of the first, which are alike. NULL: out of
 * memory. */
static json_t *joined_path(const json_t *summary)
{
    const json_t *alike = json_object_get(summary, "alike");
    json_t *joined = json_object(), *part;
    const char *name;
    json_object_foreach(json_object_get(summary, "critical_path"), name, part)
    {
        const char *like = json_string_value(json_object_get(alike, name)), *first = like != NULL ? like : name;
        (void)json_object_set_new(joined, first, json_real(number(joined, first) + json_number_value(part)));
    }
    return joined;
}

static void print_summary(const json_t *root, FILE *stream)
{
    const json_t *summary = json_object_get(root, "summary");
    const json_t *costs = json_object_get(root, "energy");
    const json_t *area = json_object_get(root, "area");
    const int by_image = number(summary, "energy_per_image_pj") > 0;
    const double energy = by_image ? number(summary, "energy_per_image_pj") : number(costs, "total_pj");
    if (number(json_object_get(root, "total"), "accel_cycles") <= 0)
        return;
    (void)fprintf(stream, "%-20s  %.1f %% of what the PEs could multiply\n", "share of peak",
                  100.0 * number(summary, "peak_share"));
    if (number(summary, "bandwidth_share") > 0)
        (void)fprintf(stream, "%-20s  %.1f %% of what the memory's buses could carry\n", "share of bandwidth",
                      100.0 * number(summary, "bandwidth_share"));
    print_off_chip(root, stream);
    char joules[32];
    if (energy > 0)
        (void)fprintf(
            stream, "%-20s  %s %s, %.0f %% static, %.3g TOPS/W; sources give %.2g to %.2g times\n", "energy",
            cli_pico_text(joules, 4, energy, "J"), by_image ? "an image" : "in total",
            100.0 * number(costs, "static_pj") / number(costs, "total_pj"), number(summary, "tops_per_watt"),
            number(costs, "low_pj") / number(costs, "total_pj"), number(costs, "high_pj") / number(costs, "total_pj"));
    if (number(area, "total_um2") > 0)
        (void)fprintf(stream, "%-20s  %.3g mm2 at %s; sources give %.3g to %.3g%s\n", "area",
                      number(area, "total_um2") / SQUARE_MM, text(area, "technology"),
                      number(area, "low_um2") / SQUARE_MM, number(area, "high_um2") / SQUARE_MM,
                      json_array_size(json_object_get(area, "unknown")) != 0 ? "; not of all units" : "");
    print_unknown(json_object_get(costs, "unknown"), stream);
    (void)fprintf(stream, "%-20s  %s%s%s: ", "bound by", cli_style(CLI_BOLD), text(summary, "bound_by"),
                  cli_style(CLI_PLAIN));
    json_t *path = joined_path(summary);
    const double whole_time = number(json_object_get(root, "total"), "time_ps");
    const char *shown[BOUNDS];
    for (size_t count = 0; count < BOUNDS; ++count) { /* as many as fit on a line */
        double share;
        shown[count] = next_stall(path, shown, count, &share);
        share /= whole_time;
        if (shown[count] == NULL || share < 0.0005)
            break;
        if (count == 0)
            (void)fprintf(stream, "%.1f %% of the time waited for it", 100.0 * share);
        else
            (void)fprintf(stream, "%s%s %.1f", count == 1 ? "; " : ", ", shown[count], 100.0 * share);
    }
    (void)fputc('\n', stream);
    json_decref(path);
    print_gains(root, stream);
    print_farthest(root, stream);
    print_better_units(root, stream);
    print_small_core(root, stream);
    print_core(root, stream);
}

/* Lists the units that are simulated cycle by cycle, if any. */
static void print_detail(const json_t *root, FILE *stream)
{
    const char *separator = "cycle by cycle        ";
    const char *end = "";
    const char *name;
    json_t *unit;
    json_object_foreach(json_object_get(json_object_get(root, "platform"), "units"), name, unit)
    {
        if (strcmp(text(unit, "detail"), "cycle") != 0)
            continue;
        (void)fprintf(stream, "%s%s", separator, name);
        separator = ", ";
        end = "\n";
    }
    (void)fputs(end, stream);
}

/* Prints the numbers of instructions, and the words that instruction elements have read from memory, if any. */
static void print_instructions(const json_t *root, FILE *stream)
{
    const json_t *total = json_object_get(root, "total");
    const char *name;
    json_t *unit;
    int64_t read = 0;
    char first[32], second[32], third[32];
    json_object_foreach(json_object_get(root, "units"), name, unit) read += whole(unit, "fetched_words");
    (void)fprintf(stream, "%-20s  %s of the accelerator, %s of the core%s%s%s\n", "instructions",
                  cnnvp_grouped(first, whole(total, "accel_instructions")),
                  cnnvp_grouped(second, whole(total, "guest_instructions")), read != 0 ? "; " : "",
                  read != 0 ? cnnvp_grouped(third, read) : "", read != 0 ? " words read from a list in memory" : "");
}

/* ---- overfetch: bytes of bursts that no access asked for ---- */

enum { LINES = 10, PERCENT = 5 /* of all burst bytes; less is not reported */ };

static int64_t in_vain(const json_t *row)
{
    return whole(row, "burst_bytes") - whole(row, "bytes");
}

static const char *name_or(const json_t *row, const char *key, const char *missing)
{
    const char *name = text(row, key);
    return strcmp(name, "-") == 0 ? missing : name;
}

static void print_first(const json_t *row, FILE *stream)
{
    char bytes[32];
    (void)fprintf(stream, "; %s of it by %s: %ss rows of %" PRId64 " bytes of %s, aligned to %" PRId64,
                  bytes_text(bytes, in_vain(row)), name_or(row, "layer", "no layer"), name_or(row, "access", "move"),
                  whole(row, "row_bytes"), name_or(row, "tensor", "no tensor"), whole(row, "alignment"));
}

static void print_overfetches(const json_t *rows, FILE *stream)
{
    size_t index;
    json_t *row;
    (void)fprintf(stream, "  %s%-20s  %-20s  %-6s %10s %8s %12s %10s%s\n", cli_style(CLI_BOLD), "layer", "tensor",
                  "access", "row bytes", "aligned", "rows", "in vain", cli_style(CLI_PLAIN));
    json_array_foreach((json_t *)(uintptr_t)rows, index, row)
    {
        char count[32], bytes[32];
        if (index >= LINES)
            break;
        (void)fputs("  ", stream);
        print_name(stream, text(row, "layer"), 20);
        (void)fputs("  ", stream);
        print_name(stream, text(row, "tensor"), 20);
        (void)fprintf(stream, "  %-6s %10" PRId64 " %8" PRId64 " %12s %10s\n", text(row, "access"),
                      whole(row, "row_bytes"), whole(row, "alignment"), cnnvp_grouped(count, whole(row, "rows")),
                      bytes_text(bytes, in_vain(row)));
    }
}

/* Prints the overfetch and the access with the largest part of it; with `verbose`, a table of accesses. */
static void print_overfetch(const json_t *root, int verbose, FILE *stream)
{
    const json_t *memory = json_object_get(root, "memory"), *rows = json_object_get(memory, "overfetch");
    const int64_t bursts = whole(memory, "burst_bytes");
    const int64_t sum = bursts - whole(memory, "read_bytes") - whole(memory, "write_bytes");
    char bytes[32];
    if (json_array_size(rows) == 0 || sum * 100 < bursts * PERCENT)
        return;
    (void)fprintf(stream, "%-20s  %s", "fetched in vain", bytes_text(bytes, sum));
    if (!verbose)
        print_first(json_array_get(rows, 0), stream);
    (void)fputc('\n', stream);
    if (verbose)
        print_overfetches(rows, stream);
}

static void print_totals(const json_t *root, int verbose, FILE *stream)
{
    const json_t *total = json_object_get(root, "total");
    const json_t *memory = json_object_get(root, "memory");
    print_schedule(root, stream);
    char time[32];
    (void)fprintf(stream, "%-20s  %s\n", "simulated time", cli_time_text(time, number(total, "time_ps")));
    if (whole(total, "images") > 0)
        (void)fprintf(stream, "%-20s  %" PRId64 ", %.6g a second\n", "images", whole(total, "images"),
                      number(total, "images_per_s"));
    char first[32], second[32], third[32];
    (void)fprintf(stream, "%-20s  %s, %s of them for no layer\n", "accelerator cycles",
                  cnnvp_grouped(first, whole(total, "accel_cycles")),
                  cnnvp_grouped(second, whole(total, "idle_cycles")));
    print_accelerators(root, stream);
    print_count(stream, "MACs", total, "macs");
    print_narrow(json_object_get(root, "units"), stream);
    (void)fprintf(stream, "%-20s  %s read, %s written, %s in whole bursts\n", "DRAM",
                  bytes_text(first, whole(memory, "read_bytes")), bytes_text(second, whole(memory, "write_bytes")),
                  bytes_text(third, whole(memory, "burst_bytes")));
    print_overfetch(root, verbose, stream);
    (void)fprintf(stream, "%-20s  at most %s on chip at once\n", "feature words",
                  cnnvp_grouped(first, whole(json_object_get(root, "storage"), "peak_feature_words")));
    print_instructions(root, stream);
    print_summary(root, stream);
    print_detail(root, stream);
    (void)fprintf(stream, "%-20s  %.3f s\n", "host time", number(root, "wall_seconds"));
}

/* ---- layers or totals from the text of stats.json ---- */

static cnnvp_result print_of(const char *json, void (*print)(const json_t *root, int verbose, FILE *stream),
                             int verbose, FILE *stream)
{
    json_error_t error;
    struct cnnvp_printed lines;
    json_t *root = json_loads(json, 0, &error);
    if (root == NULL)
        cli_message("the statistics cannot be read: %s", error.text);
    if (cnnvp_print_begin(&lines) != NULL && root != NULL)
        print(root, verbose, lines.stream);
    CNNVP_FREED char *text = cnnvp_print_end(&lines);
    if (text != NULL && root != NULL)
        cli_print_folded(text, stream);
    const int bad = text == NULL || root == NULL;
    json_decref(root);
    return bad ? CNNVP_FAILED : CNNVP_DONE;
}

cnnvp_result cli_print_layers(const char *json, FILE *stream)
{
    return print_of(json, print_layers, 0, stream);
}

cnnvp_result cli_print_totals(const char *json, int verbose, FILE *stream)
{
    return print_of(json, print_totals, verbose, stream);
}

void cli_print_centred(size_t height, size_t width, size_t network_height, size_t network_width, FILE *stream)
{
    if (height != network_height || width != network_width)
        (void)fprintf(stream, "%-20s  %zu x %zu, centred among zeros in the network's %zu x %zu\n", "images", height,
                      width, network_height, network_width);
}
