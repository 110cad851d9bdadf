/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp models: lists the kinds of units, or one kind's parameters, ports, registers and statistics. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "base.h"
#include "cnnvp_explore.h"
#include "config.h"

/* Only `isa` accepts a second word, a platform. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    const struct cli_options *options = state->input;
    if (key == ARGP_KEY_ARG && options->word_count == 1 && strcmp(options->file, "isa") != 0)
        cli_usage(state, "one kind is expected, not also %s", arg);
    return cli_parse_words(key, arg, state);
}

static void list_unit(const struct cnnvp_unit *unit)
{
    (void)printf("%-16s  %-10s  %s\n", unit->kind, unit->version, unit->summary);
}

/* LIBRARY.so: lists its units. All units are checked before the first one is printed. */
static cnnvp_result list_library(const char *library)
{
    const struct cnnvp_unit *unit = NULL;
    for (int listing = 0; listing < 2; ++listing)
        for (size_t i = 0; i == 0 || unit != NULL; ++i) {
            if (cnnvp_library_unit(library, i, &unit, &cli_error) != CNNVP_DONE)
                return cli_report(CNNVP_BAD_INPUT);
            if (listing && i == 0)
                (void)printf("%-16s  %-10s  %s\n", "kind", "version", "summary");
            if (listing && unit != NULL)
                list_unit(unit);
        }
    return CNNVP_DONE;
}

static int names_library(const char *text)
{
    return strchr(text, ':') == NULL && (strchr(text, '/') != NULL || cnnvp_before_ending(text, ".so") != 0);
}

static void list_kinds(void)
{
    (void)printf("%-16s  %-10s  %s\n", "kind", "version", "summary");
    (void)printf("%-16s  %-10s  %s\n", "bus", CNNVP_VERSION,
                 "address decoder between the core and the units; part of the platform");
    const struct cnnvp_unit *unit;
    for (size_t i = 0; (unit = cnnvp_unit_at(i)) != NULL; ++i)
        list_unit(unit);
}

/* Formats a value as in a platform file, as 32KiB. */
static void format_value(char *buffer, size_t size, const struct cnnvp_param *param, uint64_t value)
{
    static const char *const suffixes[] = {"", "KiB", "MiB", "GiB"};
    size_t suffix = 0;
    if (param->type == CNNVP_PARAM_SIZE)
        for (; suffix < 3 && value && value % 1024 == 0; ++suffix)
            value /= 1024;
    (void)snprintf(buffer, size, param->type == CNNVP_PARAM_ADDR ? "0x%" PRIx64 "%s" : "%" PRIu64 "%s", value,
                   suffixes[suffix]);
}

static void print_range(FILE *stream, const struct cnnvp_param *param)
{
    char low[32], high[32];
    if (param->type == CNNVP_PARAM_ENUM) {
        for (const char *at = param->choices; *at != '\0'; ++at)
            (void)fputs(*at == '|' ? ", " : (char[]){*at, '\0'}, stream);
    } else if (param->type == CNNVP_PARAM_TEXT) {
        (void)fputc('-', stream);
    } else {
        format_value(low, sizeof low, param, param->min);
        format_value(high, sizeof high, param, param->max);
        (void)fprintf(stream, "%s to %s", low, high);
        if (param->type != CNNVP_PARAM_SIZE && param->unit != NULL && *param->unit != '\0')
            (void)fprintf(stream, " %s", param->unit);
    }
}

/* A condition, after the parameter's help. */
static void describe_condition(FILE *stream, const struct cnnvp_condition *condition)
{
    if (condition->where == NULL)
        (void)fputs("; no time, energy or result depends on it", stream);
    else if (condition->choice != NULL)
        (void)fprintf(stream, "; %s differs from the default only where %s", condition->choice, condition->where);
    else
        (void)fprintf(stream, "; used only where %s", condition->where);
}

static void describe_param(FILE *stream, const struct cnnvp_unit *unit, uint32_t index)
{
    const struct cnnvp_param *param = &unit->params[index];
    const struct cnnvp_condition *condition;
    static const char *const types[] = {"number", "size", "choice", "text", "address"};
    (void)fprintf(stream, "  %-20s  %-8s  ", param->name, types[param->type]);
    print_range(stream, param);
    (void)fprintf(stream, "  default %s\n%24s%s", *param->default_value ? param->default_value : "\"\"", "",
                  param->help);
    for (size_t i = 0; (condition = cnnvp_unit_condition(unit, index, i)) != NULL; ++i)
        describe_condition(stream, condition);
    (void)fputc('\n', stream);
}

static void describe_port(FILE *stream, const struct cnnvp_unit *unit, const struct cnnvp_port *port)
{
    static const char *const kinds[] = {
        "target", "initiator", "memory target", "memory initiator", "interrupt output", "interrupt input"};
    static const char *const crosses[] = {
        "", " (plain)", " (commands)", " (completions)", " (words)", " (tiles)", " (programs)"};
    char more[48] = "";
    size_t crossing = (port->flags & CNNVP_PORT_CROSSES) / CNNVP_PORT_PLAIN;
    int target = port->kind == CNNVP_PORT_TARGET || port->kind == CNNVP_PORT_MEM_TARGET;
    if (port->kind == CNNVP_PORT_IRQ_IN)
        (void)snprintf(more, sizeof more, "%" PRIu32 " lines", port->lines);
    else if (target && port->window)
        (void)snprintf(more, sizeof more, "%" PRIu64 " bytes", port->window);
    else if (target)
        (void)snprintf(more, sizeof more, "`size` bytes");
    else if (port->flags & CNNVP_PORT_OPTIONAL)
        (void)snprintf(more, sizeof more, "optional");
    (void)fprintf(stream, "  %-18s  %-18s  %-16s  %s%s%s\n", port->name, kinds[port->kind], *more ? more : "-",
                  port->help != NULL ? port->help : "",
                  crossing < sizeof crosses / sizeof *crosses ? crosses[crossing] : "",
                  unit->register_count && &unit->ports[unit->register_port] == port ? " (registers)" : "");
}

static void describe_registers(FILE *stream, const struct cnnvp_unit *unit)
{
    static const char *const kinds[] = {
        [CNNVP_REG_RO] = "ro",
        [CNNVP_REG_RW] = "rw",
        [CNNVP_REG_WO] = "wo",
        [CNNVP_REG_W1C] = "w1c",
        [CNNVP_REG_RWE] = "rwe"};
    (void)fprintf(stream, "\nregisters\n  %-8s  %-18s  %-6s  %-10s  %s\n", "offset", "name", "access", "reset", "help");
    for (size_t i = 0; i < unit->register_count; ++i) {
        const struct cnnvp_register *reg = &unit->registers[i];
        (void)fprintf(stream, "  0x%04" PRIx32 "    %-18s  %-6s  0x%08" PRIx32 "  %s\n", reg->offset, reg->name,
                      kinds[reg->access], reg->reset, reg->help != NULL ? reg->help : "");
        for (size_t j = 0; j < unit->field_count; ++j) {
            const struct cnnvp_field *field = &unit->fields[j];
            char bits[24];
            if (strcmp(field->reg, reg->name) != 0)
                continue;
            if (field->width == 1)
                (void)snprintf(bits, sizeof bits, "[%" PRIu32 "]", field->lsb);
            else
                (void)snprintf(bits, sizeof bits, "[%" PRIu32 ":%" PRIu32 "]", field->lsb + field->width - 1,
                               field->lsb);
            (void)fprintf(stream, "  %8s    .%-17s  %-6s  %-10s  %s\n", bits, field->name, "", "",
                          field->help != NULL ? field->help : "");
        }
    }
}

static void describe_stat(FILE *stream, const struct cnnvp_stat *stat)
{
    (void)fprintf(stream, "  %-26s  %-14s  %s", stat->name, stat->unit, stat->help);
    if (stat->layer != NULL)
        (void)fprintf(stream, "; in layers[]: %s", stat->layer);
    if (stat->energy != NULL)
        (void)fprintf(stream, "; energy: %s", stat->energy);
    (void)fputc('\n', stream);
}

static void describe(FILE *stream, const struct cnnvp_unit *unit)
{
    (void)fprintf(stream, "%s %s: %s\n", unit->kind, unit->version, unit->summary);
    if (unit->param_count)
        (void)fprintf(stream, "\nparameters\n");
    for (uint32_t i = 0; i < unit->param_count; ++i)
        describe_param(stream, unit, i);
    if (strcmp(unit->kind, "dram") == 0)
        cli_print_parts(stream);
    if (unit->port_count)
        (void)fprintf(stream, "\nports\n  %-18s  %-18s  %-16s  %s\n", "name", "kind", "size", "help");
    for (size_t i = 0; i < unit->port_count; ++i)
        describe_port(stream, unit, &unit->ports[i]);
    if (unit->register_count)
        describe_registers(stream, unit);
    if (unit->instruction_count)
        (void)fprintf(stream, "\ninstructions (`cnnvp models isa PLATFORM` explains them)\n");
    for (size_t i = 0; i < unit->instruction_count; ++i)
        (void)fprintf(stream, "  0x%02" PRIx32 "  %-20s  %s\n", unit->instructions[i].opcode,
                      unit->instructions[i].mnemonic, unit->instructions[i].help);
    if (unit->stat_count)
        (void)fprintf(stream, "\nstatistics\n");
    for (size_t i = 0; i < unit->stat_count; ++i)
        describe_stat(stream, &unit->stats[i]);
    if (unit->track_count)
        (void)fprintf(stream, "\ntrace tracks\n");
    for (size_t i = 0; i < unit->track_count; ++i)
        (void)fprintf(stream, "  %s\n", unit->tracks[i]);
    if (unit->counter_count)
        (void)fprintf(stream, "\ntrace counters\n");
    for (size_t i = 0; i < unit->counter_count; ++i)
        (void)fprintf(stream, "  %-26s  %s\n", unit->counters[i].name,
                      unit->counters[i].unit != NULL ? unit->counters[i].unit : "-");
}

/* Describes the instruction set, with the instructions that a platform's units add unless `platform` is NULL. */
static cnnvp_result isa_text(const char *platform, char **text)
{
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    if (platform != NULL) {
        CNNVP_TRY(cli_report(cnnvp_config_new(platform, &config, &cli_error)));
        CNNVP_TRY(cli_report(cnnvp_config_resolve(config, &cli_error)));
    }
    return cnnvp_isa_text(config, text);
}

/* Prints the reference text with this name; returns 0 if there is none. */
static int print_text(const char *name, const char *platform, cnnvp_result *result)
{
    CNNVP_FREED char *text = NULL;
    if (strcmp(name, "energy") == 0)
        *result = cnnvp_energy_text(&text);
    else if (strcmp(name, "isa") == 0)
        *result = isa_text(platform, &text);
    else if (strcmp(name, "area") == 0)
        *result = cnnvp_area_text(&text);
    else if (strcmp(name, "stats") == 0)
        *result = cnnvp_stats_text(&text);
    else if (strcmp(name, "onnx") == 0)
        *result = cnnvp_operators_text(&text);
    else if (strcmp(name, "values") == 0)
        *result = (text = cnnvp_values_text()) ? CNNVP_DONE : CNNVP_FAILED;
    else
        return 0;
    if (text != NULL)
        cli_print_folded(text, stdout);
    return 1;
}

static cnnvp_result models(struct cli_options *options)
{
    const char *kind = options->file;
    const struct cnnvp_unit *unit = NULL;
    struct cnnvp_printed printed;
    cnnvp_result result = CNNVP_DONE;
    if (kind == NULL) {
        list_kinds();
        return CNNVP_DONE;
    }
    if (print_text(kind, options->words[1], &result))
        return result;
    if (names_library(kind))
        return list_library(kind);
    if (strcmp(kind, "bus") == 0) {
        (void)printf(
            "bus %s: address decoder between the core and the units; part of the platform\n\nIt has no parameters. "
            "Instances with `at:` are on it.\n",
            CNNVP_VERSION);
        return CNNVP_DONE;
    }
    CNNVP_TRY(cli_report(cnnvp_unit_find(kind, &unit, &cli_error)));
    if (cnnvp_print_begin(&printed) != NULL)
        describe(printed.stream, unit);
    CNNVP_FREED char *text = cnnvp_print_end(&printed);
    if (text == NULL)
        return cli_no_memory();
    cli_print_folded(text, stdout);
    return CNNVP_DONE;
}

const struct cli_command cli_models = {
    .name = "models",
    .summary = "list the kinds of units, or one kind's tables",
    .args_doc = "[KIND|./LIBRARY.so|./LIBRARY.so:KIND|energy|area|onnx|stats|values]\nisa [PLATFORM]",
    .doc = "Lists the kinds of units, or a library's, or one kind's parameters, ports, registers and statistics; "
           "`isa`: the instruction set, of a platform with what its units bring; `energy`: the "
           "energy tables; `area`: what parts of units take; `onnx`: the operators that networks may have; "
           "`stats`: the members of the statistics; "
           "`values`: what training and labels add to them.",
    .what = "kind",
    .most = 2,
    .parse = parse,
    .run = models};
