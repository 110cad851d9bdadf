/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto trace: protocol buffer messages of perfetto/trace/trace.proto, encoded by hand.
 *
 * Each instance has a track. Below it are the unit's tracks, counters and interrupts, and the instance's share of the
 * critical path. Below "links" is a bandwidth counter for each link. Layers and phases have tracks of their own. Events
 * are written track by track, in order of time on each track; Perfetto sorts them, so no merge is needed.
 *
 * A span is a slice with debug annotations: the layer's name and phase, and the exact times. For an instruction, also
 * the buffer halves in use and the descriptor's registers by name. For a transfer from or to memory, also the number of
 * bytes, the tensor, and the offset and channel of the first byte. If images are processed one by one, also the image.
 * A flow id connects the slices of one instruction. Each accelerator numbers its instructions from 1.
 *
 * Perfetto counts nanoseconds, even with custom clocks (ClockSnapshot.Clock.unit_multiplier_ns is an integer). Times
 * are rounded down, which keeps order and nesting; `begin_ps` and `end_ps` have the exact values.
 */
#include "trace_cursor.h"

#include "cnnvp_integer.h"
#include "isa/isa.h"
#include "varint.h"

#include <stdio.h>
#include <string.h>

/* Field numbers. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60
};
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum { NAME_IID = 1, NAME_TEXT = 2 };
enum {
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW_IDS = 47
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_COUNTER = 4 };
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_STRING = 6 };
enum { DESCRIPTOR_UUID = 1, DESCRIPTOR_NAME = 2, DESCRIPTOR_PARENT = 5, DESCRIPTOR_COUNTER = 8 };
enum { COUNTER_UNIT_NAME = 6 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* Interning numbers of the debug annotations' names. */
enum {
    IID_LAYER = 1,
    IID_PHASE,
    IID_BEGIN_PS,
    IID_END_PS,
    IID_HALVES,
    IID_TENSOR = IID_HALVES + 3,
    IID_TENSOR_KIND,
    IID_TENSOR_OFFSET,
    IID_IMAGE,
    IID_CHANNEL,
    IID_OUT_CHANNEL,
    IID_BYTES,
    IID_REGISTERS /* registers of one descriptor form after the other, then of the custom opcodes */
};
static const char *const annotation_names[IID_REGISTERS] = {
    [IID_LAYER] = "layer",
    [IID_PHASE] = "phase",
    [IID_BEGIN_PS] = "begin_ps",
    [IID_END_PS] = "end_ps",
    [IID_HALVES] = "input_buffer_half",
    [IID_HALVES + 1] = "weight_buffer_half",
    [IID_HALVES + 2] = "output_buffer_half",
    [IID_TENSOR] = "tensor",
    [IID_TENSOR_KIND] = "tensor_kind",
    [IID_TENSOR_OFFSET] = "tensor_offset",
    [IID_IMAGE] = "image",
    [IID_CHANNEL] = "channel",
    [IID_OUT_CHANNEL] = "out_channel",
    [IID_BYTES] = "bytes"};

#define SEQUENCE 1u
/* Longer names are cut. */
#define NAME_BYTES 500u
#define MESSAGE_BYTES 2048
#define PREFIX_BYTES 16u
/* Bytes of events that are collected before the output is asked for more room. */
#define ROOM_BYTES 65536
#define PICOSECONDS_PER_NANOSECOND 1000u

static unsigned char *put_number_tag(unsigned char *p, unsigned field)
{
    return cnnvp_varint_put(p, (uint64_t)field << 3);
}

static unsigned char *put_number(unsigned char *p, unsigned field, uint64_t value)
{
    return cnnvp_varint_put(put_number_tag(p, field), value);
}

/* Tag of a message or text, whose length follows. */
static unsigned char *put_tag(unsigned char *p, unsigned field)
{
    return cnnvp_varint_put(p, (uint64_t)field << 3 | 2);
}

static unsigned char *put_bytes(unsigned char *p, unsigned field, const void *data, size_t size)
{
    p = cnnvp_varint_put(put_tag(p, field), size);
    /* cppcheck-suppress uninitvar ; the caller has filled what it gives the size of */
    memcpy(p, data, size);
    return p + size;
}

static unsigned char *put_text(unsigned char *p, unsigned field, const char *text)
{
    return put_bytes(p, field, text, strnlen(text, NAME_BYTES));
}

static unsigned char *put_fixed(unsigned char *p, unsigned field, uint64_t value)
{
    p = cnnvp_varint_put(p, (uint64_t)field << 3 | 1);
    for (unsigned i = 0; i < 8; ++i)
        *p++ = (unsigned char)(value >> (8 * i));
    return p;
}

/* Writes a packet without a time. */
static void write_packet(cnnvp_output *output, unsigned flags, unsigned field, const unsigned char *message,
                         size_t size)
{
    unsigned char head[32];
    unsigned char *h = head;
    unsigned char *room = cnnvp_output_room(output, MESSAGE_BYTES + sizeof head);
    unsigned char *p = room;

    h = put_number(h, PACKET_SEQUENCE, SEQUENCE);
    h = put_number(h, PACKET_SEQUENCE_FLAGS, flags);
    h = cnnvp_varint_put(put_tag(h, field), size);
    p = cnnvp_varint_put(put_tag(p, TRACE_PACKET), (size_t)(h - head) + size);
    memcpy(p, head, (size_t)(h - head));
    p += h - head;
    memcpy(p, message, size);
    p += size;
    cnnvp_output_filled(output, (size_t)(p - room));
}

/* ---- names ---- */

static void write_name(cnnvp_output *output, unsigned flags, unsigned field, uint64_t iid, const char *text)
{
    unsigned char entry[NAME_BYTES + 32];
    unsigned char message[MESSAGE_BYTES];
    unsigned char *p = put_text(put_number(entry, NAME_IID, iid), NAME_TEXT, text);
    unsigned char *m = put_bytes(message, field, entry, (size_t)(p - entry));

    write_packet(output, flags, PACKET_INTERNED_DATA, message, (size_t)(m - message));
}

/* Interning number of the first register of an instruction's descriptor. */
static unsigned registers_iid(const struct isa_opcode *op, uint32_t opcode)
{
    const unsigned form = op->custom != NULL ? ISA_FORM_COUNT + opcode - CNNVP_CUSTOM_OPCODE_FIRST : op->form;
    return IID_REGISTERS + form * CNNVP_DESCRIPTOR_MAX;
}

static void write_registers(const struct isa_extension *extension, cnnvp_output *output)
{
    int written[ISA_FORM_COUNT + ISA_CUSTOM_COUNT] = {0};

    for (uint32_t code = 0; code <= CNNVP_CUSTOM_OPCODE_LAST; ++code) {
        const struct isa_opcode *op = cnnvp_isa_find(extension, code);
        const unsigned first = op != NULL ? registers_iid(op, code) : 0;
        if (op == NULL || written[(first - IID_REGISTERS) / CNNVP_DESCRIPTOR_MAX]++)
            continue;
        const struct isa_form_text form = cnnvp_isa_form(op);
        for (uint32_t i = 0; i < form.count; ++i)
            write_name(output, FLAG_NEEDS_STATE, INTERNED_ANNOTATION_NAMES, first + i, form.registers[i].name);
    }
}

static void write_names(const struct cnnvp_trace *trace, cnnvp_output *output)
{
    for (unsigned i = IID_LAYER; i < IID_REGISTERS; ++i)
        write_name(output, i == IID_LAYER ? FLAG_STATE_CLEARED : FLAG_NEEDS_STATE, INTERNED_ANNOTATION_NAMES, i,
                   annotation_names[i]);
    write_registers(trace->extension, output);
    for (uint32_t i = 0; i < trace->name_count; ++i)
        write_name(output, FLAG_NEEDS_STATE, INTERNED_EVENT_NAMES, (uint64_t)i + 1, trace->names[i]);
}

/* ---- tracks ---- */

/* uuid 0 belongs to Perfetto; then come the instances, "links" and the streams. */
static uint64_t instance_uuid(uint32_t instance)
{
    return (uint64_t)instance + 1;
}

static uint64_t links_uuid(const struct cnnvp_trace *trace)
{
    return (uint64_t)trace->platform->instance_count + 1;
}

static uint64_t stream_uuid(const struct cnnvp_trace *trace, uint32_t stream)
{
    return links_uuid(trace) + 1 + stream;
}

/* `unit`: of a counter's values; NULL: the track is not a counter. */
static void write_track(cnnvp_output *output, uint64_t uuid, uint64_t parent, const char *name, const char *unit)
{
    unsigned char message[MESSAGE_BYTES];
    unsigned char counter[NAME_BYTES + 16];
    unsigned char *p = put_text(put_number(message, DESCRIPTOR_UUID, uuid), DESCRIPTOR_NAME, name);
    unsigned char *c = counter;

    if (parent)
        p = put_number(p, DESCRIPTOR_PARENT, parent);
    if (unit != NULL && unit[0])
        c = put_text(c, COUNTER_UNIT_NAME, unit);
    if (unit != NULL)
        p = put_bytes(p, DESCRIPTOR_COUNTER, counter, (size_t)(c - counter));
    write_packet(output, FLAG_NEEDS_STATE, PACKET_TRACK_DESCRIPTOR, message, (size_t)(p - message));
}

/* Unit of a stream's values; NULL: the stream has no values. */
static const char *unit_of(const struct cnnvp_trace *trace, const struct cnnvp_stream *stream)
{
    const struct cnnvp_unit *unit = trace->platform->instances[stream->instance].unit;

    switch (stream->kind) {
    case CNNVP_STREAM_COUNTER:
        return unit->counters[stream->index].unit != NULL ? unit->counters[stream->index].unit : "";
    case CNNVP_STREAM_LEVEL:
        return "";
    case CNNVP_STREAM_PATH:
        return "millionths";
    case CNNVP_STREAM_LINK:
        return "bytes/s";
    default:
        return NULL;
    }
}

static void write_stream_track(const struct cnnvp_trace *trace, cnnvp_output *output, uint32_t number)
{
    const struct cnnvp_stream *stream = &trace->streams[number];
    const char *name = cnnvp_stream_name(trace, stream);
    uint64_t parent = stream->kind == CNNVP_STREAM_WHOLE ? 0 : instance_uuid(stream->instance);
    char link[NAME_BYTES + 1];

    if (stream->kind == CNNVP_STREAM_LINK) {
        parent = links_uuid(trace);
        snprintf(link, sizeof link, "%.240s to %.240s", trace->platform->instances[stream->instance].name, name);
        name = link;
    }
    write_track(output, stream_uuid(trace, number), parent, name, unit_of(trace, stream));
}

static void write_tracks(const struct cnnvp_trace *trace, cnnvp_output *output)
{
    uint32_t last = UINT32_MAX;

    for (uint32_t i = 0; i < trace->fixed_streams; ++i) {
        const uint32_t instance = trace->streams[i].instance;

        if (cnnvp_trace_leaves_out(&trace->streams[i]))
            continue;
        if (instance != last && trace->streams[i].kind != CNNVP_STREAM_WHOLE)
            write_track(output, instance_uuid(instance), 0, trace->platform->instances[instance].name, NULL);
        last = instance;
        write_stream_track(trace, output, i);
    }
    if (trace->stream_count > trace->fixed_streams)
        write_track(output, links_uuid(trace), 0, "links", NULL);
    for (uint32_t i = trace->fixed_streams; i < trace->stream_count; ++i)
        write_stream_track(trace, output, i);
}

/* ---- events ---- */

/* Writes the length of the message from `start` to `end` into the byte before it. A longer length moves the message. */
static unsigned char *close_message(unsigned char *start, unsigned char *end)
{
    size_t size = (size_t)(end - start);
    size_t more;

    if (size < 0x80) {
        start[-1] = (unsigned char)size;
        return end;
    }
    more = cnnvp_varint_size(size) - 1;
    memmove(start + more, start, size);
    (void)cnnvp_varint_put(start - 1, size);
    return end + more;
}

static unsigned char *put_annotation_number(unsigned char *p, unsigned name, uint64_t value)
{
    unsigned char *start = put_tag(p, EVENT_ANNOTATIONS) + 1;

    p = put_number(put_number(start, ANNOTATION_NAME_IID, name), ANNOTATION_UINT, value);
    return close_message(start, p);
}

static unsigned char *put_annotation_text(unsigned char *p, unsigned name, const char *text)
{
    unsigned char *start = put_tag(p, EVENT_ANNOTATIONS) + 1;

    p = put_text(put_number(start, ANNOTATION_NAME_IID, name), ANNOTATION_STRING, text);
    return close_message(start, p);
}

/* Annotates the tensor, offset, channel and image of a transfer's first byte in memory. `interleaved`: number of
 * interleaved channels. */
static unsigned char *put_place(unsigned char *p, const struct cnnvp_place_info *place, uint64_t offset,
                                uint64_t interleaved)
{
    p = put_annotation_text(p, IID_TENSOR, place->tensor);
    p = put_annotation_text(p, IID_TENSOR_KIND, place->kind);
    p = put_annotation_number(p, IID_TENSOR_OFFSET, place->offset + offset);
    p = put_annotation_number(p, IID_CHANNEL, cnnvp_trace_channel(place, offset, interleaved));
    return place->image_stride != 0 ? put_annotation_number(p, IID_IMAGE, offset / place->image_stride) : p;
}

/* Annotates the instruction of the span. */
static unsigned char *put_about(const struct cnnvp_trace *trace, struct cnnvp_trace_buffers *buffers, unsigned char *p,
                                const struct cnnvp_event *event)
{
    const struct cnnvp_command *about = event->about;
    const struct isa_opcode *op = cnnvp_isa_find(trace->extension, about->opcode);
    const struct cnnvp_word_parts parts = {.opcode = about->opcode, .status = about->status, .halves = about->halves};
    const struct cnnvp_place_info *place = NULL;
    struct cnnvp_transfer transfer;
    uint32_t resources, causes;
    uint64_t image, channel;

    if (op == NULL || about->count != op->descriptor_count)
        return p;
    cnnvp_isa_usage(op, &parts, &resources, &causes);
    for (unsigned i = 0; i < 3; ++i)
        if (((resources | resources >> ISA_READ_SHIFT) & (3u * ISA_USE_INPUT) << 2u * i) != 0)
            p = put_annotation_number(p, IID_HALVES + i, about->halves >> i & 1u);
    for (uint32_t i = 0; i < about->count; ++i)
        p = put_annotation_number(p, registers_iid(op, about->opcode) + i, about->descriptor[i]);
    if (cnnvp_trace_moves(about, &transfer)) {
        p = put_annotation_number(p, IID_BYTES, (uint64_t)transfer.row_bytes * transfer.rows * transfer.planes);
        place = trace->place_at(trace->layer_context, transfer.memory_addr);
    }
    if (place != NULL)
        p = put_place(p, place, transfer.memory_addr - place->address, cnnvp_maximum32(about->immediate, 1));
    for (unsigned i = 0; i < 2; ++i)
        if (cnnvp_trace_operand(buffers, event, i, &channel))
            p = put_annotation_number(p, i == 0 ? IID_CHANNEL : IID_OUT_CHANNEL, channel);
    /* Weights belong to no image. */
    if ((place == NULL || (place->image_stride == 0 && strcmp(place->kind, "weights") != 0)) &&
        cnnvp_trace_image(trace, event->flow, &image))
        p = put_annotation_number(p, IID_IMAGE, image);
    return p;
}

/* ---- flows ---- */

/* Bits above those of an instruction's number. */
#define ACCELERATOR_SHIFT 48u

/* 1: the instance sends commands to the target. With `target` CNNVP_NO_INSTANCE: to any. */
static int commands(const struct cnnvp_resolved *platform, size_t from, uint32_t target)
{
    const struct cnnvp_instance *instance = &platform->instances[from];
    for (size_t i = 0; i < instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &instance->bindings[i];
        if ((target == CNNVP_NO_INSTANCE || binding->target == target) &&
            binding->target_port == cnnvp_unit_command_port(platform->instances[binding->target].unit))
            return 1;
    }
    return 0;
}

/* What all flow ids of an instance have in common: the number of its accelerator. */
static uint64_t flow_base(const struct cnnvp_resolved *platform, uint32_t instance)
{
    uint64_t before = 0;
    for (size_t i = 0; i < platform->instance_count; ++i) {
        if (!commands(platform, i, CNNVP_NO_INSTANCE))
            continue;
        if (i == instance || commands(platform, i, instance))
            return before << ACCELERATOR_SHIFT;
        ++before;
    }
    return 0;
}

static unsigned char *put_begin(const struct cnnvp_trace *trace, struct cnnvp_trace_buffers *buffers, unsigned char *p,
                                const struct cnnvp_event *event, uint64_t flows)
{
    char buffer[32];

    p = put_number(p, EVENT_NAME_IID, (uint64_t)event->name + 1);
    if (trace->streams[event->stream].kind == CNNVP_STREAM_CALLS)
        return p;
    if (event->tag) {
        const char *phase = trace->layer_phase(trace->layer_context, event->tag);
        p = put_annotation_text(
            p, IID_LAYER, trace->layer_name(trace->layer_context, event->tag, buffer, sizeof buffer));
        if (phase[0] != '\0')
            p = put_annotation_text(p, IID_PHASE, phase);
    }
    p = put_annotation_number(p, IID_BEGIN_PS, event->time);
    p = put_annotation_number(p, IID_END_PS, event->value);
    if (event->about != NULL)
        p = put_about(trace, buffers, p, event);
    return event->flow ? put_fixed(p, EVENT_FLOW_IDS, flows | event->flow) : p;
}

/* The part that all events of one kind on one stream share, between the time and the event's own values. */
struct prefix {
    unsigned char bytes[PREFIX_BYTES];
    size_t size;
    size_t message; /* start of the event's message, after its length */
    uint64_t flows; /* flow_base of the stream's instance */
};

/* Only names need the sequence's state. */
static struct prefix make_prefix(const struct cnnvp_trace *trace, uint32_t stream, enum cnnvp_event_type event)
{
    static const unsigned types[] = {
        [CNNVP_EVENT_BEGIN] = TYPE_SLICE_BEGIN, [CNNVP_EVENT_END] = TYPE_SLICE_END, [CNNVP_EVENT_VALUE] = TYPE_COUNTER};
    struct prefix made;
    unsigned char *p = put_number(made.bytes, PACKET_SEQUENCE, SEQUENCE);

    if (event == CNNVP_EVENT_BEGIN)
        p = put_number(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
    p = put_tag(p, PACKET_TRACK_EVENT) + 1;
    made.message = (size_t)(p - made.bytes);
    p = put_number(p, EVENT_TYPE, types[event]);
    p = put_number(p, EVENT_TRACK_UUID, stream_uuid(trace, stream));
    if (event == CNNVP_EVENT_VALUE)
        p = put_number_tag(p, EVENT_COUNTER_VALUE);
    made.size = (size_t)(p - made.bytes);
    made.flows = flow_base(trace->platform, trace->streams[stream].instance);
    return made;
}

static unsigned char *put_event(const struct cnnvp_trace *trace, struct cnnvp_trace_buffers *buffers,
                                unsigned char *room, const struct prefix *prefix, const struct cnnvp_event *event)
{
    unsigned char *packet = put_tag(room, TRACE_PACKET) + 1;
    unsigned char *p = put_number(packet, PACKET_TIMESTAMP, event->time / PICOSECONDS_PER_NANOSECOND);
    unsigned char *message = p + prefix->message;

    memcpy(p, prefix->bytes, PREFIX_BYTES);
    p += prefix->size;
    if (event->type == CNNVP_EVENT_BEGIN)
        p = put_begin(trace, buffers, p, event, prefix->flows);
    else if (event->type == CNNVP_EVENT_VALUE)
        p = cnnvp_varint_put(p, event->value);
    return close_message(packet, close_message(message, p));
}

/* Writes all events of a stream, except repeated values of a counter. */
static void write_stream(struct cnnvp_trace *trace, cnnvp_output *output, uint32_t number)
{
    struct prefix prefixes[CNNVP_EVENT_VALUE + 1];
    struct cnnvp_cursor cursor;
    struct cnnvp_trace_buffers *buffers = cnnvp_trace_buffers_new(trace);
    unsigned char *room = cnnvp_output_room(output, ROOM_BYTES), *p = room;
    int has_value = 0;
    uint64_t value = 0;

    for (unsigned i = 0; i <= CNNVP_EVENT_VALUE; ++i)
        prefixes[i] = make_prefix(trace, number, (enum cnnvp_event_type)i);
    cnnvp_cursor_init(&cursor, trace, number);
    while (cnnvp_cursor_advance(&cursor)) {
        const struct cnnvp_event *event = &cursor.event;

        if (event->type == CNNVP_EVENT_VALUE && has_value && event->value == value)
            continue;
        has_value = 1;
        value = event->value;
        p = put_event(trace, buffers, p, &prefixes[event->type], event);
        if (p - room > ROOM_BYTES - MESSAGE_BYTES) {
            cnnvp_output_filled(output, (size_t)(p - room));
            p = room = cnnvp_output_room(output, ROOM_BYTES);
        }
    }
    cnnvp_output_filled(output, (size_t)(p - room));
    cnnvp_cursor_fini(&cursor);
    cnnvp_trace_buffers_free(buffers);
}

static void write_trace(struct cnnvp_trace *trace, cnnvp_output *output)
{
    CNNVP_FREED const struct cnnvp_instruction **custom = cnnvp_resolved_instructions(trace->platform);
    char why[CNNVP_REFUSAL_SIZE];
    CNNVP_FREED struct isa_extension *extension = cnnvp_isa_extension(custom, why, sizeof why);

    trace->extension = extension;
    cnnvp_trace_find_images(trace);
    write_names(trace, output);
    write_tracks(trace, output);
    for (uint32_t i = 0; i < trace->stream_count && !trace->error; ++i)
        write_stream(trace, output, i);
    trace->extension = NULL;
}

const struct cnnvp_trace_format cnnvp_trace_perfetto = {".pftrace", "Perfetto", write_trace};
