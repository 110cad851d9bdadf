/* SPDX-License-Identifier: Apache-2.0 */
#include "vcd_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 16u
#define TOKEN_BYTES 4200u
#define PATH_BYTES 512u
#define BUCKETS 4096u

struct signal {
    struct signal *next; /* of the bucket */
    struct signal *older;
    char *id;
    char *path;
    char *value; /* NULL: none yet */
    uint64_t width;
    uint64_t changed_at;
};

struct reader {
    const char *at;
    const char *end;
    unsigned line;
    char token[TOKEN_BYTES];
    char scopes[MAX_DEPTH][128];
    unsigned depth;
    struct signal *buckets[BUCKETS];
    struct signal *signals; /* the youngest first */
    vcd_change_fn change;
    void *context;
    struct vcd_result *result;
    int failed;
};

static int fail(struct reader *r, const char *reason)
{
    if (!r->failed)
        snprintf(r->result->error, sizeof r->result->error, "line %u: '%.60s': %s", r->line, r->token, reason);
    r->failed = 1;
    return 0;
}

/* The next word; 0 at the end. */
static int next(struct reader *r)
{
    size_t length = 0;

    r->token[0] = '\0';
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->line += *r->at++ == '\n';
    while (r->at<r->end && * r->at> ' ' && *r->at < 127 && length + 1 < TOKEN_BYTES)
        r->token[length++] = *r->at++;
    r->token[length] = '\0';
    if (r->at < r->end && length && *r->at != ' ' && *r->at != '\n' && *r->at != '\t' && *r->at != '\r')
        return fail(r, "a byte that is not printable, or a word too long");
    if (r->at < r->end && !length)
        return fail(r, "a byte that is not printable");
    return length > 0;
}

static int is(const struct reader *r, const char *word)
{
    return strcmp(r->token, word) == 0;
}

static int expect_end(struct reader *r)
{
    return (next(r) && is(r, "$end")) || fail(r, "$end expected");
}

static int skip_text(struct reader *r)
{
    while (next(r))
        if (is(r, "$end"))
            return 1;
    return fail(r, "no $end");
}

static int number(struct reader *r, const char *text, uint64_t *value)
{
    *value = 0;
    if (!*text)
        return fail(r, "number expected");
    for (; *text; ++text) {
        uint64_t digit = (uint64_t)(*text - '0');

        if (*text < '0' || *text > '9')
            return fail(r, "not a number");
        if (*value > (UINT64_MAX - digit) / 10)
            return fail(r, "number too large");
        *value = *value * 10 + digit;
    }
    return 1;
}

static struct signal **bucket(struct reader *r, const char *id)
{
    uint32_t hash = 2166136261u;

    for (; *id; ++id)
        hash = (hash ^ (unsigned char)*id) * 16777619u;
    return &r->buckets[hash % BUCKETS];
}

static struct signal *find(struct reader *r, const char *id)
{
    struct signal *signal = *bucket(r, id);

    while (signal != NULL && strcmp(signal->id, id) != 0)
        signal = signal->next;
    return signal;
}

/* ---- declarations ---- */

static int is_name(const char *text)
{
    if (!*text || (*text >= '0' && *text <= '9'))
        return 0;
    for (; *text; ++text)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ||
              *text == '_' || *text == '$'))
            return 0;
    return 1;
}

static int read_timescale(struct reader *r)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "ps", "fs"};
    int known = 0;

    if (!next(r) || !(is(r, "1") || is(r, "10") || is(r, "100")))
        return fail(r, "1, 10 or 100 expected");
    if (!next(r))
        return fail(r, "unit expected");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i)
        known |= is(r, units[i]);
    return known ? expect_end(r) : fail(r, "unknown unit of time");
}

static int read_scope(struct reader *r)
{
    if (!next(r) || !is(r, "module"))
        return fail(r, "module expected");
    if (!next(r) || !is_name(r->token) || strlen(r->token) >= sizeof r->scopes[0])
        return fail(r, "not a name");
    if (r->depth == MAX_DEPTH)
        return fail(r, "too deep");
    strcpy(r->scopes[r->depth++], r->token);
    return expect_end(r);
}

static int add_signal(struct reader *r, uint64_t width, const char *id, const char *path)
{
    struct signal *signal;
    struct signal **head = bucket(r, id);

    for (signal = r->signals; signal != NULL; signal = signal->older)
        if (strcmp(signal->path, path) == 0)
            return fail(r, "name declared twice");
    signal = calloc(1, sizeof *signal);
    if (signal == NULL)
        return fail(r, "out of memory");
    signal->width = width;
    signal->id = strdup(id);
    signal->path = strdup(path);
    signal->next = *head;
    *head = signal;
    signal->older = r->signals;
    r->signals = signal;
    ++r->result->signals;
    return (signal->id != NULL && signal->path != NULL) || fail(r, "out of memory");
}

static int read_var(struct reader *r)
{
    char id[16];
    char path[PATH_BYTES] = "";
    uint64_t width;
    size_t length = 0;

    if (!next(r) || !(is(r, "wire") || is(r, "reg") || is(r, "integer")))
        return fail(r, "wire, reg or integer expected");
    if (!next(r) || !number(r, r->token, &width) || width == 0 || width > 4096)
        return fail(r, "width of 1 to 4096 expected");
    if (!next(r) || strlen(r->token) >= sizeof id)
        return fail(r, "identifier expected");
    strcpy(id, r->token);
    if (find(r, id) != NULL)
        return fail(r, "identifier declared twice");
    if (!next(r) || !is_name(r->token))
        return fail(r, "not a name");
    if (!r->depth)
        return fail(r, "signal outside all scopes");
    for (unsigned i = 0; i < r->depth && length < sizeof path; ++i)
        length += (size_t)snprintf(path + length, sizeof path - length, "%s.", r->scopes[i]);
    if (length + strlen(r->token) >= sizeof path)
        return fail(r, "path too long");
    strcpy(path + length, r->token);
    return add_signal(r, width, id, path) && expect_end(r);
}

static int read_declarations(struct reader *r)
{
    int has_timescale = 0;

    while (next(r)) {
        int ok;

        if (is(r, "$enddefinitions")) {
            if (r->depth)
                return fail(r, "a scope is open");
            return has_timescale ? expect_end(r) : fail(r, "no $timescale");
        }
        if (is(r, "$version") || is(r, "$date") || is(r, "$comment"))
            ok = skip_text(r);
        else if (is(r, "$timescale"))
            ok = has_timescale++ ? fail(r, "a second $timescale") : read_timescale(r);
        else if (is(r, "$scope"))
            ok = read_scope(r);
        else if (is(r, "$upscope"))
            ok = r->depth ? (r->depth--, expect_end(r)) : fail(r, "no scope is open");
        else if (is(r, "$var"))
            ok = read_var(r);
        else
            ok = fail(r, "unknown declaration");
        if (!ok)
            return 0;
    }
    return fail(r, "no $enddefinitions");
}

/* ---- values ---- */

static int is_digits(const char *text)
{
    return *text && strspn(text, "01xz") == strlen(text);
}

/* The present token is a value (a vector's identifier follows). `first`: of $dumpvars. */
static int read_value(struct reader *r, uint64_t time, int first)
{
    char value[TOKEN_BYTES];
    const char *id = r->token;
    const char *digits = value;
    struct signal *signal;
    int is_vector = r->token[0] == 'b';

    if (is_vector) {
        strcpy(value, r->token + 1);
        if (!next(r))
            return fail(r, "identifier expected");
    } else {
        value[0] = r->token[0];
        value[1] = '\0';
        id = r->token + 1;
    }
    if (!is_digits(value))
        return fail(r, "value expected");
    signal = find(r, id);
    if (signal == NULL)
        return fail(r, "identifier has not been declared");
    if (is_vector != (signal->width > 1) || strlen(value) > signal->width)
        return fail(r, "value does not fit the width");
    if (first ? signal->value != NULL : signal->changed_at == time)
        return fail(r, "second value at one time");
    while (digits[0] == '0' && digits[1])
        ++digits;
    if (signal->value != NULL && strcmp(signal->value, digits) == 0)
        return fail(r, "change that changes nothing");
    free(signal->value);
    signal->value = strdup(digits);
    signal->changed_at = time;
    r->result->changes += !first;
    if (r->change != NULL)
        r->change(r->context, time, signal->path, digits);
    return 1;
}

static int read_first_values(struct reader *r, uint64_t time)
{
    if (!next(r) || !is(r, "$dumpvars"))
        return fail(r, "$dumpvars expected");
    while (next(r) && !is(r, "$end"))
        if (!read_value(r, time, 1))
            return 0;
    if (!is(r, "$end"))
        return fail(r, "no $end");
    for (const struct signal *signal = r->signals; signal != NULL; signal = signal->older)
        if (signal->value == NULL)
            return fail(r, "a signal has no first value");
    return 1;
}

static int read_changes(struct reader *r)
{
    uint64_t time = 0;
    int has_changes = 1;

    if (!next(r) || r->token[0] != '#')
        return fail(r, "time expected");
    if (!number(r, r->token + 1, &time) || !read_first_values(r, time))
        return 0;
    while (next(r)) {
        if (r->token[0] == '#') {
            uint64_t before = time;

            if (!number(r, r->token + 1, &time))
                return 0;
            if (time <= before)
                return fail(r, "time does not grow");
            if (!has_changes)
                return fail(r, "nothing changed at the time before");
            has_changes = 0;
        } else {
            has_changes = 1;
            if (!read_value(r, time, 0))
                return 0;
        }
    }
    r->result->end_time = time;
    return !r->failed;
}

int vcd_check(const char *text, size_t size, vcd_change_fn change, void *context, struct vcd_result *result)
{
    struct reader *r = calloc(1, sizeof *r);
    struct signal *older;
    int ok = 0;

    memset(result, 0, sizeof *result);
    if (r == NULL) {
        snprintf(result->error, sizeof result->error, "out of memory");
        return 0;
    }
    r->at = text;
    r->end = text + size;
    r->line = 1;
    r->change = change;
    r->context = context;
    r->result = result;
    if (size && text[size - 1] != '\n')
        (void)fail(r, "the last line is not complete");
    else
        ok = read_declarations(r) && read_changes(r);
    for (struct signal *signal = r->signals; signal != NULL; signal = older) {
        older = signal->older;
        free(signal->id);
        free(signal->path);
        free(signal->value);
        free(signal);
    }
    free(r);
    return ok;
}
