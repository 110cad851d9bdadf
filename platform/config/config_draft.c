/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From files to a draft: follows `base` to its end, then lets each file override the earlier ones key by key (ports
 * below `connect` one by one). An instance, a reserved key or a port that is null is removed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_internal.h"

static const char *const reserved_keys[] = {"model", "at", "irq", "connect", "clock", "idle", "speedup", NULL};

/* A file being read, and the file that names it as its base. */
struct file_frame {
    const struct file_frame *outer;
    const char *file;
    dev_t device;
    ino_t inode;
    unsigned depth;
};

int cnnvp_config_reserved(const char *key)
{
    for (size_t i = 0; reserved_keys[i]; ++i)
        if (strcmp(key, reserved_keys[i]) == 0)
            return 1;
    return 0;
}

const char *const *cnnvp_config_reserved_keys(void)
{
    return reserved_keys;
}

const struct cnnvp_draft_unit *cnnvp_draft_find(const struct cnnvp_draft *draft, const char *name)
{
    for (const struct cnnvp_draft_unit *unit = draft->units; unit != NULL; unit = unit->next)
        if (strcmp(unit->name, name) == 0)
            return unit;
    return NULL;
}

const struct cnnvp_setting *cnnvp_draft_setting(const struct cnnvp_draft_unit *unit, const char *key, int connect)
{
    for (const struct cnnvp_setting *setting = unit->settings; setting != NULL; setting = setting->next)
        if (setting->connect == connect && strcmp(setting->key, key) == 0)
            return setting;
    return NULL;
}

static const struct cnnvp_installed presets = {"presets", ".yaml", "CNNVP_PRESETS"};

/* Finds the file of a name. Relative paths begin at `folder`; `place` is where the name is written. Both are NULL for
 * the command line. */
static cnnvp_result find_file(struct cnnvp_arena *arena, const char *name, const char *folder, const char *place,
                              char **file, struct cnnvp_error *error)
{
    if (!*name)
        return cnnvp_config_error(error, place, "the name of a preset or of a platform file is expected, not \"\"");
    *file = cnnvp_installed_find(arena, &presets, name);
    if (*file != NULL)
        return CNNVP_DONE;
    if (folder != NULL && name[0] != '/' && strcmp(folder, ".") != 0)
        *file = cnnvp_arena_printf(arena, "%s/%s", folder, name);
    else
        *file = cnnvp_arena_text(arena, name);
    CNNVP_TRY_MEMORY(*file != NULL, error);
    if (**file && access(*file, R_OK) == 0)
        return CNNVP_DONE;
    if (!cnnvp_is_bare_name(name))
        return cnnvp_config_error(error, place != NULL ? place : name, "%s%scannot be read: %s",
                                  place != NULL ? *file : "", place != NULL ? " " : "", strerror(errno));
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, name);
    cnnvp_installed_offer(arena, &presets, &suggest);
    return cnnvp_config_error(
        error, place, "there is no preset %s here%s", cnnvp_config_show(name).text,
        suggest.list_length ? cnnvp_suggest_text(&suggest, "there are")
                            : " and no other either; name their folder in the environment variable "
                              "CNNVP_PRESETS");
}

/* Most of a platform, and of an instance; far above any real one. */
enum { INSTANCES = 1024, SETTINGS = 2048 };

/* ---- one instance ---- */

cnnvp_result cnnvp_draft_put(struct cnnvp_arena *arena, struct cnnvp_draft_unit *unit,
                             const struct cnnvp_setting *given, struct cnnvp_error *error)
{
    struct cnnvp_setting **at = &unit->settings;
    while (*at != NULL && !((*at)->connect == given->connect && strcmp((*at)->key, given->key) == 0))
        at = &(*at)->next;
    if (*at != NULL) {
        struct cnnvp_setting *next = (*at)->next;
        **at = *given;
        (*at)->next = next;
        return CNNVP_DONE;
    }
    if (++unit->setting_count > SETTINGS)
        return cnnvp_config_error(error, given->place, "%s has more than %d settings", unit->name, SETTINGS);
    *at = cnnvp_arena_alloc(arena, sizeof **at);
    CNNVP_TRY_MEMORY(*at != NULL, error);
    **at = *given;
    (*at)->next = NULL;
    return CNNVP_DONE;
}

static cnnvp_result read_setting(struct cnnvp_draft *draft, struct cnnvp_draft_unit *unit,
                                 const struct cnnvp_yaml_node *node, const struct cnnvp_setting *common,
                                 struct cnnvp_error *error)
{
    int null = cnnvp_yaml_is_null(node);
    int removable = common->connect || (cnnvp_config_reserved(node->key) && strcmp(node->key, "model") != 0);
    if (node->kind != CNNVP_YAML_SCALAR || (null && !removable))
        return cnnvp_config_error(
            error, node->place, "%s%s.%s: %s where a single value is expected", unit->name,
            common->connect ? ".connect" : "", cnnvp_config_show(node->key).text, cnnvp_yaml_kind_name(node));
    struct cnnvp_setting setting = *common;
    setting.key = node->key;
    setting.text = null ? NULL : node->text;
    setting.place = node->place;
    setting.key_place = node->key_place;
    setting.quoted = node->quoted;
    return cnnvp_draft_put(&draft->arena, unit, &setting, error);
}

static cnnvp_result read_connect(struct cnnvp_draft *draft, struct cnnvp_draft_unit *unit,
                                 const struct cnnvp_yaml_node *map, const struct cnnvp_setting *common,
                                 struct cnnvp_error *error)
{
    if (map->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(
            error, map->place, "%s.connect: %s where a map of ports is expected, such as {mem: dram}", unit->name,
            cnnvp_yaml_kind_name(map));
    struct cnnvp_setting inner = *common;
    inner.connect = 1;
    for (const struct cnnvp_yaml_node *port = map->children; port != NULL; port = port->next)
        CNNVP_TRY(read_setting(draft, unit, port, &inner, error));
    return CNNVP_DONE;
}

static int is_instance_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= CNNVP_CONFIG_NAME_BYTES && !(name[0] >= '0' && name[0] <= '9') &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length;
}

static cnnvp_result remove_unit(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *node,
                                struct cnnvp_error *error)
{
    struct cnnvp_draft_unit **at = &draft->units;
    while (*at != NULL && strcmp((*at)->name, node->key) != 0)
        at = &(*at)->next;
    if (*at == NULL)
        return cnnvp_config_error(
            error, node->place, "%s: the base has no instance of this name that null could take away",
            cnnvp_config_show(node->key).text);
    struct cnnvp_draft_unit *removed = *at;
    *at = removed->next;
    removed->place = node->place;
    removed->next = draft->removed;
    draft->removed = removed;
    --draft->unit_count;
    return CNNVP_DONE;
}

static cnnvp_result find_or_add(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *node,
                                struct cnnvp_draft_unit **unit, struct cnnvp_error *error)
{
    if (!is_instance_name(node->key))
        return cnnvp_config_error(
            error, node->key_place, "%s is not a name for an instance: letters, digits and _, up to %d, no digit first",
            cnnvp_config_show(node->key).text, CNNVP_CONFIG_NAME_BYTES);
    if (strcmp(node->key, "energy") == 0)
        return cnnvp_config_error(error, node->key_place, "energy is the energy table, no name for an instance");
    struct cnnvp_draft_unit **at = &draft->units;
    while (*at != NULL && strcmp((*at)->name, node->key) != 0)
        at = &(*at)->next;
    for (const struct cnnvp_draft_unit *other = draft->units; *at == NULL && other != NULL; other = other->next)
        if (strcasecmp(other->name, node->key) == 0)
            return cnnvp_config_error(error, node->key_place,
                                      "%s differs from %s only in small and capital letters, which headers for "
                                      "programs do not tell apart",
                                      node->key, other->name);
    if (*at == NULL) {
        if (++draft->unit_count > INSTANCES)
            return cnnvp_config_error(error, node->key_place, "more than %d instances", INSTANCES);
        *at = cnnvp_arena_alloc(&draft->arena, sizeof **at);
        CNNVP_TRY_MEMORY(*at != NULL, error);
        (*at)->name = node->key;
        (*at)->place = node->key_place;
    }
    *unit = *at;
    return CNNVP_DONE;
}

static cnnvp_result read_unit(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *node,
                              const struct cnnvp_setting *common, struct cnnvp_error *error)
{
    if (cnnvp_yaml_is_null(node))
        return remove_unit(draft, node, error);
    if (node->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(
            error, node->place, "%s: %s where a map is expected, such as {model: uart, at: 0x10000000}",
            cnnvp_config_show(node->key).text, cnnvp_yaml_kind_name(node));
    struct cnnvp_draft_unit *unit = NULL;
    CNNVP_TRY(find_or_add(draft, node, &unit, error));
    for (const struct cnnvp_yaml_node *child = node->children; child != NULL; child = child->next) {
        int drop = strcmp(child->key, "connect") == 0;
        if (drop && cnnvp_yaml_is_null(child))
            CNNVP_TRY(cnnvp_config_error(error, child->place,
                                         "%s.connect: null takes away one port at a time, "
                                         "such as connect: {mem: null}",
                                         unit->name));
        else if (drop)
            CNNVP_TRY(read_connect(draft, unit, child, common, error));
        else
            CNNVP_TRY(read_setting(draft, unit, child, common, error));
    }
    return CNNVP_DONE;
}

/* ---- one file ---- */

/* Keys of a file, in the order in which they are processed. */
enum { KEY_PLATFORM, KEY_BASE, KEY_MEMORY, KEY_TECHNOLOGY, KEY_ENERGY, KEY_UNITS, KEYS };

static cnnvp_result read_keys(const struct cnnvp_yaml_node *root, const struct cnnvp_yaml_node *found[KEYS],
                              struct cnnvp_error *error)
{
    static const char *const keys[KEYS] = {"platform", "base", "memory", "technology", "energy", "units"};
    CNNVP_TRY(cnnvp_yaml_members(root, keys, KEYS, "a platform file has", found, error));
    for (size_t i = 0; i < KEYS; ++i) {
        const struct cnnvp_yaml_node *child = found[i];
        if (child == NULL || (i == KEY_ENERGY && child->kind == CNNVP_YAML_MAP))
            continue;
        if (i == KEY_UNITS && child->kind != CNNVP_YAML_MAP)
            return cnnvp_config_error(
                error, child->place, "units: %s where a map of instances is expected", cnnvp_yaml_kind_name(child));
        if (i != KEY_UNITS && (child->kind != CNNVP_YAML_SCALAR || cnnvp_yaml_is_null(child) || !*child->text))
            return cnnvp_config_error(error, child->place, "%s: %s where a name is expected", child->key,
                                      child->kind == CNNVP_YAML_SCALAR ? "nothing" : cnnvp_yaml_kind_name(child));
    }
    return CNNVP_DONE;
}

/* Sets `key` of a unit from a scalar of the file. */
static cnnvp_result put_scalar(struct cnnvp_draft *draft, struct cnnvp_draft_unit *unit, const char *key,
                               const struct cnnvp_yaml_node *node, const struct cnnvp_setting *common,
                               struct cnnvp_error *error)
{
    struct cnnvp_setting setting = *common;
    setting.key = key;
    setting.text = node->text;
    setting.place = node->place;
    setting.key_place = node->key_place;
    return cnnvp_draft_put(&draft->arena, unit, &setting, error);
}

/* `energy: TABLE`, or a map of `table` and entries. */
static cnnvp_result read_energy(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *energy,
                                const struct cnnvp_setting *common, struct cnnvp_error *error)
{
    if (energy->kind == CNNVP_YAML_SCALAR)
        return put_scalar(draft, &draft->energy, "table", energy, common, error);
    for (const struct cnnvp_yaml_node *child = energy->children; child != NULL; child = child->next)
        CNNVP_TRY(read_setting(draft, &draft->energy, child, common, error));
    return CNNVP_DONE;
}

/* `memory: external` is short for changing the model of the instance dram. */
static cnnvp_result read_memory(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *memory,
                                const struct cnnvp_setting *common, struct cnnvp_error *error)
{
    if (strcmp(memory->text, "external") != 0 && strcmp(memory->text, "dram") != 0)
        return cnnvp_config_error(
            error, memory->place, "memory: %s is neither dram, the platform's own model, nor external",
            cnnvp_config_show(memory->text).text);
    struct cnnvp_draft_unit *unit = draft->units;
    while (unit != NULL && strcmp(unit->name, "dram") != 0)
        unit = unit->next;
    if (unit == NULL)
        return cnnvp_config_error(error, memory->place, "memory: there is no instance dram whose model this could say");
    unit->place = memory->place;
    return put_scalar(draft, unit, "model", memory, common, error);
}

static cnnvp_result read_with_bases(struct cnnvp_draft *draft, const char *file, const char *place,
                                    const struct file_frame *outer, unsigned *level, struct cnnvp_error *error);

static cnnvp_result read_base(struct cnnvp_draft *draft, const struct cnnvp_yaml_node *base, const char *folder,
                              const struct file_frame *frame, unsigned *level, struct cnnvp_error *error)
{
    char *file = NULL;
    if (frame->outer == NULL)
        draft->base = base->text;
    CNNVP_TRY(find_file(&draft->arena, base->text, folder, base->place, &file, error));
    CNNVP_TRY(read_with_bases(draft, file, base->place, frame, level, error));
    ++*level;
    return CNNVP_DONE;
}

/* Reads the base first, then the file itself. `level` grows by one for each base. */
static cnnvp_result read_with_bases(struct cnnvp_draft *draft, const char *file, const char *place,
                                    const struct file_frame *outer, unsigned *level, struct cnnvp_error *error)
{
    struct stat status;
    struct file_frame frame = {.outer = outer, .file = file, .depth = outer != NULL ? outer->depth + 1 : 0};
    if (stat(file, &status) != 0)
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    frame.device = status.st_dev;
    frame.inode = status.st_ino;
    for (const struct file_frame *at = outer; at != NULL; at = at->outer)
        if (at->device == frame.device && at->inode == frame.inode)
            return cnnvp_config_error(error, place, "base: %s is its own base, directly or through others", file);
    if (frame.depth > CNNVP_CONFIG_BASES)
        return cnnvp_config_error(error, place, "base: a chain of more than %d files", CNNVP_CONFIG_BASES);

    const struct cnnvp_yaml_node *found[KEYS];
    struct cnnvp_yaml_node *root = NULL;
    struct cnnvp_setting common = {.folder = cnnvp_config_folder(&draft->arena, file)};
    CNNVP_TRY_MEMORY(common.folder != NULL, error);
    CNNVP_TRY(cnnvp_yaml_read(&draft->arena, file, "platform, base, units", &root, error));
    CNNVP_TRY(read_keys(root, found, error));
    if (found[KEY_BASE] != NULL)
        CNNVP_TRY(read_base(draft, found[KEY_BASE], common.folder, &frame, level, error));
    common.level = *level;
    if (found[KEY_PLATFORM] != NULL)
        draft->name = found[KEY_PLATFORM]->text;
    const struct cnnvp_yaml_node *units = found[KEY_UNITS];
    for (const struct cnnvp_yaml_node *unit = units != NULL ? units->children : NULL; unit != NULL; unit = unit->next)
        CNNVP_TRY(read_unit(draft, unit, &common, error));
    if (found[KEY_MEMORY] != NULL)
        CNNVP_TRY(read_memory(draft, found[KEY_MEMORY], &common, error));
    if (found[KEY_TECHNOLOGY] != NULL)
        CNNVP_TRY(put_scalar(draft, &draft->energy, "technology", found[KEY_TECHNOLOGY], &common, error));
    return found[KEY_ENERGY] != NULL ? read_energy(draft, found[KEY_ENERGY], &common, error) : CNNVP_DONE;
}

cnnvp_result cnnvp_draft_new(const char *file_or_preset, struct cnnvp_draft **draft, struct cnnvp_error *error)
{
    struct cnnvp_draft *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    made->references = 1;
    char *file = NULL;
    cnnvp_result result = find_file(&made->arena, file_or_preset, NULL, NULL, &file, error);
    if (result == CNNVP_DONE) {
        made->file = file;
        made->name = "";
        made->energy.name = "energy";
        made->energy.place = file;
        result = read_with_bases(made, file, NULL, NULL, &made->level, error);
    }
    if (result == CNNVP_DONE && made->unit_count == 0)
        result = cnnvp_config_error(error, file, "has no units; a platform file has `base:` or `units:`");
    if (result != CNNVP_DONE) {
        cnnvp_draft_release(made);
        return result;
    }
    *draft = made;
    return CNNVP_DONE;
}

void cnnvp_draft_release(struct cnnvp_draft *draft)
{
    if (draft == NULL || --draft->references)
        return;
    cnnvp_arena_free(&draft->arena);
    free(draft);
}
