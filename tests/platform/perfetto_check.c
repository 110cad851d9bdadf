/* SPDX-License-Identifier: Apache-2.0 */
#include "perfetto_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE 4096u
#define TEXT_BYTES 600u
#define ABOUT_BYTES 2048u

struct field {
    uint64_t number;
    unsigned wire; /* 0 number, 1 fixed64, 2 bytes */
    uint64_t value;
    const unsigned char *data; /* wire 2: `value` bytes */
};

struct message {
    const unsigned char *at;
    const unsigned char *end;
};

struct track {
    int known;
    uint64_t parent;
    char *name;
    int is_counter;
    char *unit;
    int open; /* a slice is */
    int has_time;
    uint64_t time;
};

struct reader {
    const unsigned char *start;
    const unsigned char *packet;
    struct track tracks[TABLE];
    char *names[TABLE];
    char *annotation_names[TABLE];
    int cleared; /* the sequence's state has been */
    perfetto_event_fn event;
    void *context;
    struct perfetto_result *result;
    int failed;
};

static int fail(struct reader *r, const char *reason)
{
    if (!r->failed)
        snprintf(r->result->error, sizeof r->result->error, "byte %zu: %s", (size_t)(r->packet - r->start), reason);
    r->failed = 1;
    return 0;
}

static int get_number(struct message *m, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && m->at < m->end; shift += 7) {
        unsigned char byte = *m->at++;

        if (shift == 63 && byte > 1)
            return 0;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return 1;
    }
    return 0;
}

/* 1 a field, 0 the end or an error. */
static int get_field(struct reader *r, struct message *m, struct field *field)
{
    uint64_t tag;

    if (m->at == m->end || r->failed)
        return 0;
    memset(field, 0, sizeof *field);
    if (!get_number(m, &tag))
        return fail(r, "field is cut");
    field->number = tag >> 3;
    field->wire = (unsigned)(tag & 7);
    if (field->wire == 0)
        return get_number(m, &field->value) || fail(r, "number is cut");
    if (field->wire == 1) {
        if (m->end - m->at < 8)
            return fail(r, "fixed number is cut");
        for (unsigned i = 0; i < 8; ++i)
            field->value |= (uint64_t)*m->at++ << (8 * i);
        return 1;
    }
    if (field->wire != 2)
        return fail(r, "unknown wire type");
    if (!get_number(m, &field->value) || field->value > (uint64_t)(m->end - m->at))
        return fail(r, "message is cut");
    field->data = m->at;
    m->at += field->value;
    return 1;
}

static struct message inner(const struct field *field)
{
    return (struct message){field->data, field->data + field->value};
}

static void get_text(const struct field *field, char text[TEXT_BYTES])
{
    size_t size = field->value < TEXT_BYTES ? (size_t)field->value : TEXT_BYTES - 1;

    memcpy(text, field->data, size);
    text[size] = '\0';
}

/* ---- names and tracks ---- */

static void read_interned(struct reader *r, struct message m)
{
    struct field entry;

    while (get_field(r, &m, &entry)) {
        char **table = entry.number == 2 ? r->names : entry.number == 3 ? r->annotation_names : NULL;
        struct message e = inner(&entry);
        struct field field;
        uint64_t iid = 0;
        char text[TEXT_BYTES] = "";

        if (table == NULL || entry.wire != 2) {
            (void)fail(r, "unknown kind of interned data");
            return;
        }
        while (get_field(r, &e, &field)) {
            if (field.number == 1)
                iid = field.value;
            else if (field.number == 2)
                get_text(&field, text);
        }
        if (iid == 0 || iid >= TABLE || table[iid] != NULL) {
            (void)fail(r, "interning number is 0, too large or used twice");
            return;
        }
        table[iid] = strdup(text);
    }
}

static void read_descriptor(struct reader *r, struct message m)
{
    struct track track = {.known = 1};
    struct field field;
    uint64_t uuid = 0;
    char name[TEXT_BYTES] = "";
    char unit[TEXT_BYTES] = "";

    while (get_field(r, &m, &field)) {
        if (field.number == 1) {
            uuid = field.value;
        } else if (field.number == 2) {
            get_text(&field, name);
        } else if (field.number == 5) {
            track.parent = field.value;
        } else if (field.number == 8) {
            struct message c = inner(&field);
            struct field part;

            track.is_counter = 1;
            while (get_field(r, &c, &part))
                if (part.number == 6)
                    get_text(&part, unit);
        } else {
            (void)fail(r, "unknown field of a track");
        }
    }
    if (uuid == 0 || uuid >= TABLE || r->tracks[uuid].known)
        (void)fail(r, "track number is 0, too large or used twice");
    else if (track.parent && (track.parent >= TABLE || !r->tracks[track.parent].known))
        (void)fail(r, "parent track has not been described");
    if (r->failed)
        return;
    track.name = strdup(name);
    track.unit = strdup(unit);
    r->tracks[uuid] = track;
    ++r->result->tracks;
}

/* ---- events ---- */

static void read_annotation(struct reader *r, struct message m, struct perfetto_event *event, char layer[TEXT_BYTES],
                            char about[ABOUT_BYTES])
{
    struct field field;
    const char *name = "";
    uint64_t number = 0;
    int is_text = 0;
    char text[TEXT_BYTES] = "";
    const size_t length = strlen(about);

    while (get_field(r, &m, &field)) {
        if (field.number == 1 && field.value < TABLE && r->annotation_names[field.value] != NULL) {
            name = r->annotation_names[field.value];
        } else if (field.number == 3) {
            number = field.value;
        } else if (field.number == 6 && field.wire == 2) {
            get_text(&field, text);
            is_text = 1;
        } else {
            (void)fail(r, "unknown annotation");
        }
    }
    if (strcmp(name, "begin_ps") == 0 && !is_text)
        event->begin_ps = number;
    else if (strcmp(name, "end_ps") == 0 && !is_text)
        event->end_ps = number;
    else if (strcmp(name, "layer") == 0 && is_text)
        memcpy(layer, text, sizeof text);
    else if (is_text)
        (void)snprintf(about + length, ABOUT_BYTES - length, " %s=%s", name, text);
    else
        (void)snprintf(about + length, ABOUT_BYTES - length, " %s=%" PRIu64, name, number);
    if (name[0] == '\0')
        (void)fail(r, "annotation without a name");
}

static void follow_track(struct reader *r, struct track *track, const struct perfetto_event *event)
{
    if (track->has_time && event->time_ns < track->time)
        (void)fail(r, "time runs backwards on a track");
    track->has_time = 1;
    track->time = event->time_ns;
    if ((event->type == 4) != track->is_counter)
        (void)fail(r, "kind of event does not fit the track");
    if (event->type == 1) {
        if (track->open && strcmp(track->name, "functions") != 0)
            (void)fail(r, "slice begins inside another");
        ++track->open;
    } else if (event->type == 2) {
        if (!track->open)
            (void)fail(r, "slice ends that has not begun");
        track->open -= track->open > 0;
    } else if (event->type != 4) {
        (void)fail(r, "unknown type of event");
    }
}

static void read_event(struct reader *r, struct message m, uint64_t time, int has_state)
{
    struct perfetto_event event = {.time_ns = time, .name = "", .parent = ""};
    struct field field;
    uint64_t uuid = 0;
    char layer[TEXT_BYTES] = "", about[ABOUT_BYTES] = "";

    while (get_field(r, &m, &field)) {
        if (field.number == 9) {
            event.type = (int)field.value;
        } else if (field.number == 11) {
            uuid = field.value;
        } else if (field.number == 10) {
            if (field.value >= TABLE || r->names[field.value] == NULL || !has_state)
                (void)fail(
                    r, has_state ? "name has not been interned" : "name, and the packet does not say it needs state");
            else
                event.name = r->names[field.value];
        } else if (field.number == 30) {
            event.value = (int64_t)field.value;
        } else if (field.number == 47 && field.wire == 1) {
            event.flow = field.value;
        } else if (field.number == 4 && field.wire == 2) {
            read_annotation(r, inner(&field), &event, layer, about);
        } else {
            (void)fail(r, "unknown field of an event");
        }
    }
    if (uuid >= TABLE || !r->tracks[uuid].known) {
        (void)fail(r, "track has not been described");
        return;
    }

    struct track *track = &r->tracks[uuid];

    follow_track(r, track, &event);
    event.track = track->name;
    event.is_counter = track->is_counter;
    event.unit = track->unit;
    event.layer = layer;
    event.about = about;
    if (track->parent)
        event.parent = r->tracks[track->parent].name;
    ++r->result->events;
    if (r->event != NULL && !r->failed)
        r->event(r->context, &event);
}

static void read_packet(struct reader *r, struct message m)
{
    struct field field, body = {0};
    uint64_t time = 0;
    int has_time = 0;
    uint64_t sequence = 0;
    uint64_t flags = 0;

    while (get_field(r, &m, &field)) {
        if (field.number == 8) {
            time = field.value;
            has_time = 1;
        } else if (field.number == 10) {
            sequence = field.value;
        } else if (field.number == 13) {
            flags = field.value;
        } else if (field.wire == 2 && !body.number) {
            body = field;
        } else {
            (void)fail(r, "unknown field of a packet");
        }
    }
    if (sequence == 0)
        (void)fail(r, "packet without a sequence");
    r->cleared |= (flags & 1) != 0;
    if (!r->cleared)
        (void)fail(r, "the sequence's state has not been cleared first");
    if (body.number == 12)
        read_interned(r, inner(&body));
    else if (body.number == 60)
        read_descriptor(r, inner(&body));
    else if (body.number == 11 && has_time)
        read_event(r, inner(&body), time, (flags & 2) != 0);
    else
        (void)fail(r, "unknown packet, or an event without time");
}

int perfetto_check(const void *data, size_t size, perfetto_event_fn event, void *context,
                   struct perfetto_result *result)
{
    struct reader *r = calloc(1, sizeof *r);
    struct message m = {data, (const unsigned char *)data + size};
    struct field field;
    int ok;

    memset(result, 0, sizeof *result);
    if (r == NULL)
        return 0;
    r->start = data;
    r->packet = data;
    r->event = event;
    r->context = context;
    r->result = result;
    while (get_field(r, &m, &field)) {
        if (field.number != 1 || field.wire != 2)
            (void)fail(r, "not a packet");
        else
            read_packet(r, inner(&field));
        r->packet = m.at;
        ++result->packets;
    }
    for (size_t i = 0; i < TABLE; ++i) {
        if (r->tracks[i].open)
            (void)fail(r, "slice does not end");
        free(r->tracks[i].name);
        free(r->tracks[i].unit);
        free(r->names[i]);
        free(r->annotation_names[i]);
    }
    ok = !r->failed;
    free(r);
    return ok;
}
