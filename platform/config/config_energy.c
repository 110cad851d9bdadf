/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy table of a platform: `energy:` in platform files and --set energy.KEY=VALUE. A table is built in, or is a
 * file that starts from another table. Single entries override it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_internal.h"
#include "energy.h"

#define MOST_DECIMALS 29

/* Reads picojoules from 0 to 10^9: decimal digits with at most one point, no sign, no exponent. Returns 0 if the text
 * is invalid. */
static int read_picojoules(const char *text, double *value)
{
    const size_t digits = strspn(text, "0123456789.");
    const char *point = strchr(text, '.');
    if (!digits || text[digits] || digits > MOST_DECIMALS + 2 || (point != NULL && strchr(point + 1, '.') != NULL) ||
        strcmp(text, ".") == 0)
        return 0;
    *value = strtod(text, NULL);
    return *value <= 1e9;
}

static cnnvp_result set_technology(struct cnnvp_energy_table *table, const char *text, const char *place,
                                   struct cnnvp_error *error)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, text);
    for (uint32_t i = 0; cnnvp_technology_at(i) != NULL; ++i) {
        table->technology = i;
        if (strcmp(cnnvp_technology_at(i)->name, text) == 0)
            return CNNVP_DONE;
        cnnvp_suggest_offer(&suggest, cnnvp_technology_at(i)->name);
    }
    return cnnvp_config_error(error, place, "technology: %s is none%s", cnnvp_config_show(text).text,
                              cnnvp_suggest_text(&suggest, "there are"));
}

static cnnvp_result set_entry(struct cnnvp_energy_table *table, const char *key, const char *key_place,
                              const char *text, const char *place, struct cnnvp_error *error)
{
    static const struct cnnvp_param scaling = {.name = "sram_scaling", .type = CNNVP_PARAM_ENUM, .choices = "off|on"};
    char reason[600];
    double value;
    if (strcmp(key, scaling.name) == 0) {
        uint64_t is_on;
        if (cnnvp_value_parse(&scaling, text, 0, &is_on, reason, sizeof reason) != 0)
            return cnnvp_config_error(error, place, "energy.%s: %s", key, reason);
        table->sram_scaling = is_on != 0;
        return CNNVP_DONE;
    }
    if (strcmp(key, "technology") == 0)
        return set_technology(table, text, place, error);
    const enum cnnvp_energy_entry entry = cnnvp_energy_find(key);
    if (entry == CNNVP_ENERGY_ENTRIES) {
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, key);
        for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i)
            cnnvp_suggest_offer(&suggest, cnnvp_energy_name((enum cnnvp_energy_entry)i));
        cnnvp_suggest_offer(&suggest, "table");
        cnnvp_suggest_offer(&suggest, "sram_scaling");
        cnnvp_suggest_offer(&suggest, "technology");
        return cnnvp_config_error(error, key_place, "energy: the table has no entry %s%s", cnnvp_config_show(key).text,
                                  cnnvp_suggest_text(&suggest, "it has"));
    }
    if (!read_picojoules(text, &value))
        return cnnvp_config_error(
            error, place, "energy.%s: %s is no number of picojoules, such as 0.2 or 150, at most 10^9", key,
            cnnvp_config_show(text).text);
    table->picojoules[entry] = value;
    if (entry == CNNVP_ENERGY_dram_byte)
        table->own_energies = 0; /* the user wants the energy of a byte, not that of the unit's commands */
    return CNNVP_DONE;
}

static cnnvp_result read_table(struct cnnvp_arena *arena, const char *name, const char *folder, const char *place,
                               unsigned depth, struct cnnvp_energy_table *table, struct cnnvp_error *error);

static cnnvp_result read_entries(const struct cnnvp_yaml_node *entries, struct cnnvp_energy_table *table,
                                 struct cnnvp_error *error)
{
    if (entries->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(
            error, entries->place, "entries: %s where a map is expected, such as {dram_byte: 100}",
            cnnvp_yaml_kind_name(entries));
    for (const struct cnnvp_yaml_node *at = entries->children; at != NULL; at = at->next) {
        if (at->kind != CNNVP_YAML_SCALAR || strcmp(at->key, "sram_scaling") == 0)
            return cnnvp_config_error(error, at->place, "entries.%s: a number of picojoules is expected", at->key);
        CNNVP_TRY(set_entry(table, at->key, at->key_place, at->text, at->place, error));
    }
    return CNNVP_DONE;
}

/* A table without a base must have each entry, so that none silently becomes 0 or another table's. */
static cnnvp_result check_complete(const struct cnnvp_yaml_node *root, const struct cnnvp_yaml_node *entries,
                                   struct cnnvp_error *error)
{
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i) {
        const char *name = cnnvp_energy_name((enum cnnvp_energy_entry)i);
        const struct cnnvp_yaml_node *at = entries != NULL ? entries->children : NULL;
        while (at != NULL && strcmp(at->key, name) != 0)
            at = at->next;
        if (at == NULL)
            return cnnvp_config_error(
                error, entries != NULL ? entries->place : root->place,
                "entries: %s is missing; `base: horowitz` or another table has what is left out", name);
    }
    return CNNVP_DONE;
}

static cnnvp_result read_file(struct cnnvp_arena *arena, const char *file, unsigned depth,
                              struct cnnvp_energy_table *table, struct cnnvp_error *error)
{
    static const char *const keys[] = {"table", "base", "sram_scaling", "entries"};
    const struct cnnvp_yaml_node *known[4];
    struct cnnvp_yaml_node *root = NULL;
    CNNVP_TRY(cnnvp_yaml_read(arena, file, "table, base, entries", &root, error));
    CNNVP_TRY(cnnvp_yaml_members(root, keys, 4, "an energy table has", known, error));
    for (size_t i = 0; i < 3; ++i)
        if (known[i] != NULL && (known[i]->kind != CNNVP_YAML_SCALAR || !*known[i]->text))
            return cnnvp_config_error(error, known[i]->place, "%s: a single word is expected", keys[i]);
    if (known[1] != NULL)
        CNNVP_TRY(read_table(arena, known[1]->text, cnnvp_config_folder(arena, file), known[1]->place, depth + 1, table,
                             error));
    if (known[2] != NULL)
        CNNVP_TRY(set_entry(table, "sram_scaling", known[2]->key_place, known[2]->text, known[2]->place, error));
    if (known[3] != NULL)
        CNNVP_TRY(read_entries(known[3], table, error));
    if (known[1] == NULL)
        CNNVP_TRY(check_complete(root, known[3], error));
    (void)snprintf(table->name, sizeof table->name, "%s", known[0] != NULL ? known[0]->text : file);
    return CNNVP_DONE;
}

/* Reads a built-in table, or a file relative to `folder`; NULL: to the current folder. */
static cnnvp_result read_table(struct cnnvp_arena *arena, const char *name, const char *folder, const char *place,
                               unsigned depth, struct cnnvp_energy_table *table, struct cnnvp_error *error)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, name);
    for (size_t i = 0; cnnvp_energy_builtin(i, table); ++i) {
        if (strcmp(table->name, name) == 0)
            return CNNVP_DONE;
        const char *built_in = cnnvp_arena_text(arena, table->name);
        CNNVP_TRY_MEMORY(built_in != NULL, error);
        cnnvp_suggest_offer(&suggest, built_in);
    }
    cnnvp_energy_default(table);
    if (strchr(name, '.') == NULL && strchr(name, '/') == NULL)
        return cnnvp_config_error(
            error, place, "energy: there is no table %s%s; a file has a name with a point or a slash",
            cnnvp_config_show(name).text, cnnvp_suggest_text(&suggest, "there are"));
    if (depth > CNNVP_CONFIG_BASES)
        return cnnvp_config_error(
            error, place, "energy: a chain of more than %d tables, or a table that is its own base",
            CNNVP_CONFIG_BASES);
    const char *file = folder != NULL && name[0] != '/' && strcmp(folder, ".") != 0
                           ? cnnvp_arena_printf(arena, "%s/%s", folder, name)
                           : cnnvp_arena_text(arena, name);
    CNNVP_TRY_MEMORY(file != NULL, error);
    if (access(file, R_OK) != 0)
        return cnnvp_config_error(error, place, "energy: the table %s cannot be read: %s", file, strerror(errno));
    return read_file(arena, file, depth, table, error);
}

cnnvp_result cnnvp_box_energy(struct cnnvp_box *box, const struct cnnvp_draft_unit *draft, struct cnnvp_error *error)
{
    struct cnnvp_energy_table *table = cnnvp_arena_alloc(&box->arena, sizeof *table);
    CNNVP_TRY_MEMORY(table != NULL, error);
    cnnvp_energy_default(table);
    const struct cnnvp_setting *name = cnnvp_draft_setting(draft, "table", 0);
    if (name != NULL)
        CNNVP_TRY(read_table(&box->arena, name->text, name->folder, name->place, 0, table, error));
    for (const struct cnnvp_setting *at = draft->settings; at != NULL; at = at->next)
        if (strcmp(at->key, "table") != 0)
            CNNVP_TRY(set_entry(table, at->key, at->key_place, at->text, at->place, error));
    box->resolved.energy = table;
    return CNNVP_DONE;
}

/* Compares bit by bit, so that -0 differs from 0 and the printed table reads back unchanged. */
static int same_number(double a, double b)
{
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    return bits_a == bits_b;
}

static int same_entries(const struct cnnvp_energy_table *a, const struct cnnvp_energy_table *b)
{
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i)
        if (!same_number(a->picojoules[i], b->picojoules[i]))
            return 0;
    return a->sram_scaling == b->sram_scaling && a->own_energies == b->own_energies;
}

/* Prints the fewest decimals that read back as the same number. There is no exponent, which would be refused. */
static void print_entry(FILE *stream, const char *name, double value)
{
    char text[64];
    int decimals = 0;
    do
        (void)snprintf(text, sizeof text, "%.*f", decimals, value);
    while (!same_number(strtod(text, NULL), value) && decimals++ < MOST_DECIMALS);
    (void)fprintf(stream, "  %s: %s\n", name, text);
}

void cnnvp_energy_print(FILE *stream, const struct cnnvp_energy_table *table)
{
    struct cnnvp_energy_table base, built_in;
    cnnvp_energy_default(&base);
    int named = 0;
    for (size_t i = 0; cnnvp_energy_builtin(i, &built_in); ++i)
        if (strcmp(built_in.name, table->name) == 0) {
            base = built_in;
            named = 1;
        }
    if (table->technology != 0)
        (void)fprintf(stream, "technology: %s\n", cnnvp_technology_of(table)->name);
    if (named && same_entries(&base, table) && cnnvp_energy_builtin(0, &built_in) &&
        strcmp(built_in.name, table->name) == 0)
        return; /* the default needs no text */
    (void)fprintf(stream, "energy:\n  table: %s\n", base.name);
    if (base.sram_scaling != table->sram_scaling)
        (void)fprintf(stream, "  sram_scaling: %s\n", table->sram_scaling ? "on" : "off");
    /* dram_byte, even with the table's number, replaces the energies of the memory's commands */
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i)
        if (!same_number(base.picojoules[i], table->picojoules[i]) ||
            (i == CNNVP_ENERGY_dram_byte && base.own_energies && !table->own_energies))
            print_entry(stream, cnnvp_energy_name((enum cnnvp_energy_entry)i), table->picojoules[i]);
}
