/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a YAML file into a tree with the position of every key and value. Supports what platform files need: one
 * document, maps, lists and scalars. Anchors, aliases, merge keys and tags are refused with their position; `base:` is
 * the way to share settings. libfyaml does the scanning. Its events are used instead of its documents, because an event
 * also has the position of a map, and because depth can be limited while reading.
 */
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#include "input_file.h"
#include "yaml.h"

struct reader {
    struct cnnvp_arena *arena;
    struct fy_diag *diag;
    struct fy_parser *parser;
    const char *file;
    struct cnnvp_error *error;
    size_t documents;
    struct cnnvp_yaml_node *root;
    size_t depth;
    struct cnnvp_yaml_node *open[CNNVP_YAML_DEPTH];
    const char *key[CNNVP_YAML_DEPTH]; /* for an open map: the key whose value comes next; NULL: a key comes next */
    const char *key_place[CNNVP_YAML_DEPTH];
};

cnnvp_result cnnvp_yaml_members(const struct cnnvp_yaml_node *map, const char *const *keys, size_t count,
                                const char *lead, const struct cnnvp_yaml_node **found, struct cnnvp_error *error)
{
    for (size_t i = 0; i < count; ++i)
        found[i] = NULL;
    for (const struct cnnvp_yaml_node *child = map->children; child != NULL; child = child->next) {
        struct cnnvp_suggest suggest;
        size_t key = 0;
        cnnvp_suggest_begin(&suggest, child->key);
        for (; key < count && strcmp(keys[key], child->key) != 0; ++key)
            cnnvp_suggest_offer(&suggest, keys[key]);
        if (key == count)
            return cnnvp_config_error(error, child->key_place, "unknown key %s%s", cnnvp_config_show(child->key).text,
                                      cnnvp_suggest_text(&suggest, lead));
        found[key] = child;
    }
    return CNNVP_DONE;
}

int cnnvp_yaml_is_null(const struct cnnvp_yaml_node *node)
{
    if (node->kind != CNNVP_YAML_SCALAR || node->quoted)
        return 0;
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strcmp(node->text, words[i]) == 0)
            return 1;
    return 0;
}

void cnnvp_yaml_print_quoted(FILE *stream, const char *text)
{
    (void)fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at; ++at) {
        if (*at == '"' || *at == '\\')
            (void)fprintf(stream, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            (void)fprintf(stream, "\\x%02x", *at);
        else
            (void)fputc(*at, stream);
    }
    (void)fputc('"', stream);
}

const char *cnnvp_yaml_kind_name(const struct cnnvp_yaml_node *node)
{
    if (cnnvp_yaml_is_null(node))
        return "nothing";
    return node->kind == CNNVP_YAML_SCALAR ? "a single value" : node->kind == CNNVP_YAML_MAP ? "a map" : "a list";
}

static char *place_at(struct reader *reader, int line, int column)
{
    return cnnvp_arena_printf(reader->arena, "%s:%d:%d", reader->file, line, column);
}

static char *place_of(struct reader *reader, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    enum fy_node_style style = event->type == FYET_SCALAR ? fy_event_get_node_style(event) : FYNS_ANY;
    /* libfyaml's mark of a quoted scalar lies after the quote. */
    int quote = style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED;
    return mark != NULL ? place_at(reader, mark->line + 1, mark->column + 1 - quote) : place_at(reader, 1, 1);
}

/* Length of the UTF-8 character at `at` in bytes (Unicode 15, table 3-7); 0 if it is invalid. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80)
        return 1;
    size_t length = at[0] >= 0xc2 && at[0] <= 0xdf   ? 2
                    : (at[0] & 0xf0) == 0xe0         ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; ++i)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    int bad = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
              (at[0] == 0xf4 && at[1] > 0x8f);
    return bad ? 0 : length;
}

static cnnvp_result check_characters(struct reader *reader, const char *text, size_t size)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < size;) {
        const unsigned char *at = (const unsigned char *)text + i;
        size_t length = utf8_length(at, size - i);
        if (length == 0)
            return cnnvp_config_error(reader->error, place_at(reader, line, column), "byte 0x%02x is not UTF-8", at[0]);
        if ((at[0] < 0x20 && at[0] != '\n' && at[0] != '\r' && at[0] != '\t') || at[0] == 0x7f)
            return cnnvp_config_error(
                reader->error, place_at(reader, line, column), "control character 0x%02x in a text file", at[0]);
        line += at[0] == '\n';
        column = at[0] == '\n' ? 1 : column + 1;
        i += length;
    }
    return CNNVP_DONE;
}

/* Linear search; the number of entries of a map is bounded. */
static cnnvp_result take_key(struct reader *reader, const char *text, const char *place)
{
    struct cnnvp_yaml_node *map = reader->open[reader->depth - 1];
    if (strcmp(text, "<<") == 0)
        return cnnvp_config_error(reader->error, place,
                                  "merge keys (<<) are not used in platform files; "
                                  "`base:` starts from another file");
    for (const struct cnnvp_yaml_node *child = map->children; child != NULL; child = child->next)
        if (strcmp(child->key, text) == 0)
            return cnnvp_config_error(reader->error, place, "key %s is there twice; first at %s",
                                      cnnvp_config_show(text).text, child->key_place);
    reader->key[reader->depth - 1] = text;
    reader->key_place[reader->depth - 1] = place;
    return CNNVP_DONE;
}

static cnnvp_result add_node(struct reader *reader, struct cnnvp_yaml_node *node)
{
    if (reader->depth == 0) {
        reader->root = node;
        return CNNVP_DONE;
    }
    struct cnnvp_yaml_node *parent = reader->open[reader->depth - 1];
    if (++parent->child_count > CNNVP_YAML_ENTRIES && parent->kind == CNNVP_YAML_MAP)
        return cnnvp_config_error(reader->error, node->place, "more than %d entries", CNNVP_YAML_ENTRIES);
    node->key = reader->key[reader->depth - 1];
    node->key_place = reader->key_place[reader->depth - 1];
    reader->key[reader->depth - 1] = NULL;
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->children = node;
    parent->last = node;
    return CNNVP_DONE;
}

static int key_is_due(const struct reader *reader)
{
    return reader->depth && reader->open[reader->depth - 1]->kind == CNNVP_YAML_MAP &&
           reader->key[reader->depth - 1] == NULL;
}

static cnnvp_result take_scalar(struct reader *reader, struct fy_event *event, const char *place)
{
    size_t length = 0;
    struct fy_token *token = event->scalar.value;
    const char *value = token != NULL ? fy_token_get_text(token, &length) : NULL;
    char *text = cnnvp_arena_copy(reader->arena, value != NULL ? value : "", value != NULL ? length : 0);
    CNNVP_TRY_MEMORY(text != NULL && place != NULL, reader->error);
    if (strlen(text) != (value != NULL ? length : 0))
        return cnnvp_config_error(reader->error, place, "a zero byte in a text");
    if (key_is_due(reader))
        return take_key(reader, text, place);
    struct cnnvp_yaml_node *node = cnnvp_arena_alloc(reader->arena, sizeof *node);
    CNNVP_TRY_MEMORY(node != NULL, reader->error);
    node->kind = CNNVP_YAML_SCALAR;
    node->text = text;
    /* A missing value has no position of its own, so it gets the key's. */
    node->place = token != NULL || !reader->depth || reader->key[reader->depth - 1] == NULL
                      ? place
                      : reader->key_place[reader->depth - 1];
    node->quoted = token != NULL && fy_event_get_node_style(event) != FYNS_PLAIN;
    return add_node(reader, node);
}

static cnnvp_result take_start(struct reader *reader, enum cnnvp_yaml_kind kind, const char *place)
{
    if (key_is_due(reader))
        return cnnvp_config_error(reader->error, place, "a key must be a single word");
    if (reader->depth == CNNVP_YAML_DEPTH)
        return cnnvp_config_error(reader->error, place, "nested more than %d deep", CNNVP_YAML_DEPTH);
    struct cnnvp_yaml_node *node = cnnvp_arena_alloc(reader->arena, sizeof *node);
    CNNVP_TRY_MEMORY(node != NULL && place != NULL, reader->error);
    node->kind = kind;
    node->text = "";
    node->place = place;
    CNNVP_TRY(add_node(reader, node));
    reader->key[reader->depth] = NULL;
    reader->open[reader->depth++] = node;
    return CNNVP_DONE;
}

static int has_decoration(struct fy_event *event)
{
    switch (event->type) {
    case FYET_SCALAR:
        return event->scalar.anchor != NULL || event->scalar.tag != NULL;
    case FYET_MAPPING_START:
        return event->mapping_start.anchor != NULL || event->mapping_start.tag != NULL;
    case FYET_SEQUENCE_START:
        return event->sequence_start.anchor != NULL || event->sequence_start.tag != NULL;
    default:
        return event->type == FYET_ALIAS;
    }
}

static cnnvp_result take_event(struct reader *reader, struct fy_event *event)
{
    const char *place = place_of(reader, event);
    if (has_decoration(event))
        return cnnvp_config_error(reader->error, place,
                                  "anchors, aliases and tags (& * !) are not used in platform files; `base:` starts "
                                  "from another file, and a text that begins with such a character goes in quotes");
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++reader->documents > 1)
            return cnnvp_config_error(reader->error, place, "a second document (---); a platform file has one");
        return CNNVP_DONE;
    case FYET_SCALAR:
        return take_scalar(reader, event, place);
    case FYET_MAPPING_START:
        return take_start(reader, CNNVP_YAML_MAP, place);
    case FYET_SEQUENCE_START:
        return take_start(reader, CNNVP_YAML_LIST, place);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        --reader->depth;
        return CNNVP_DONE;
    default:
        return CNNVP_DONE;
    }
}

/* The first error that libfyaml collected. */
static cnnvp_result parser_error(struct reader *reader)
{
    void *iterator = NULL;
    const struct fy_diag_error *found = fy_diag_errors_iterate(reader->diag, &iterator);
    if (found == NULL)
        return cnnvp_config_error(reader->error, reader->file, "is not YAML");
    const char *message = found->msg != NULL ? found->msg : "not YAML";
    if (found->line > 0)
        return cnnvp_config_error(reader->error, place_at(reader, found->line, found->column), "%s", message);
    return cnnvp_config_error(reader->error, reader->file, "%s", message);
}

/* libfyaml prints errors unless it has an output function. They are collected instead, and reported by parser_error. */
static void discard(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

static cnnvp_result open_parser(struct reader *reader, const char *text, size_t size)
{
    struct fy_diag_cfg diag_options;
    fy_diag_cfg_default(&diag_options);
    diag_options.fp = NULL;
    diag_options.output_fn = discard;
    reader->diag = fy_diag_create(&diag_options);
    CNNVP_TRY_MEMORY(reader->diag != NULL, reader->error);
    fy_diag_set_collect_errors(reader->diag, true);
    const struct fy_parse_cfg options = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG, .diag = reader->diag};
    reader->parser = fy_parser_create(&options);
    CNNVP_TRY_MEMORY(reader->parser != NULL && fy_parser_set_string(reader->parser, text, size) == 0, reader->error);
    return CNNVP_DONE;
}

static cnnvp_result read_events(struct reader *reader)
{
    cnnvp_result result = CNNVP_DONE;
    int ended = 0;
    while (result == CNNVP_DONE && !ended) {
        struct fy_event *event = fy_parser_parse(reader->parser);
        if (event == NULL)
            return fy_parser_get_stream_error(reader->parser) ? parser_error(reader) : CNNVP_DONE;
        ended = event->type == FYET_STREAM_END;
        result = take_event(reader, event);
        fy_parser_event_free(reader->parser, event);
    }
    return result;
}

static void close_parser(struct reader *reader)
{
    if (reader->parser != NULL)
        fy_parser_destroy(reader->parser);
    if (reader->diag != NULL)
        fy_diag_destroy(reader->diag);
}

cnnvp_result cnnvp_yaml_read(struct cnnvp_arena *arena, const char *file, const char *keys,
                             struct cnnvp_yaml_node **root, struct cnnvp_error *error)
{
    CNNVP_FREED char *text = NULL;
    CNNVP_SCOPED(close_parser) struct reader reader = {.arena = arena, .file = file, .error = error};
    size_t size = 0;
    CNNVP_TRY(cnnvp_input_text(file, CNNVP_YAML_FILE_BYTES, &text, &size, error));
    CNNVP_TRY(check_characters(&reader, text, size));
    CNNVP_TRY(open_parser(&reader, text, size));
    if (size)
        CNNVP_TRY(read_events(&reader));
    if (reader.root == NULL || cnnvp_yaml_is_null(reader.root))
        return cnnvp_config_error(error, file, "is empty; it has keys such as %s", keys);
    if (reader.root->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(error, reader.root->place, "%s where a map is expected, with keys such as %s",
                                  cnnvp_yaml_kind_name(reader.root), keys);
    *root = reader.root;
    return CNNVP_DONE;
}
