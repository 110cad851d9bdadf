/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which commands have a reference, calls it, locates the results and names them. */
#include "isa/isa.h"
#include "reference_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t status_value(const struct cnnvp_command *command, const struct isa_status *status)
{
    return command->status >> status->lsb & ((1u << status->width) - 1u);
}

uint32_t reference_status(const struct cnnvp_command *command, const char *name, uint32_t missing)
{
    for (const struct isa_status *status = cnnvp_isa_statuses; status->name != NULL; ++status)
        if (status->opcode == command->opcode && strcmp(status->name, name) == 0)
            return status_value(command, status);
    return missing;
}

uint32_t reference_register(const struct cnnvp_command *command, const char *name, uint32_t missing)
{
    const struct isa_form_text form = cnnvp_isa_form(cnnvp_isa_opcode(command->opcode));
    for (uint32_t i = 0; i < form.count; ++i)
        if (strcmp(form.registers[i].name, name) == 0)
            return command->descriptor[i];
    return missing;
}

uint32_t reference_update(const struct cnnvp_command *command)
{
    const int pool = command->opcode == CNNVP_OPCODE_pool || command->opcode == CNNVP_OPCODE_vpool;
    return pool && reference_status(command, "sum", 0) == 0
               ? (uint32_t)CNNVP_UPDATE_INITIALISE
               : reference_status(command, "update", CNNVP_UPDATE_INITIALISE);
}

uint8_t *reference_half(const struct cnnvp_reference_buffer *buffer, uint32_t half, reference_wide offset,
                        reference_wide bytes)
{
    uint8_t *data = buffer->halves[half];
    return data != NULL && offset >= 0 && offset + bytes <= (reference_wide)buffer->half_bytes ? data + offset : NULL;
}

static uint32_t half_of(const struct cnnvp_command *command, uint32_t buffer)
{
    return buffer <= CNNVP_REFERENCE_OUTPUT ? command->halves >> buffer & 1u : 0;
}

uint8_t *reference_at(struct cnnvp_reference *reference, const struct cnnvp_command *command, uint32_t buffer,
                      reference_wide offset, reference_wide bytes)
{
    return reference_half(&reference->buffers[buffer], half_of(command, buffer), offset, bytes);
}

static int is_window(uint32_t opcode)
{
    return opcode == CNNVP_OPCODE_conv || opcode == CNNVP_OPCODE_pool || opcode == CNNVP_OPCODE_step ||
           opcode == CNNVP_OPCODE_vconv || opcode == CNNVP_OPCODE_vpool;
}

static int is_of_lanes(uint32_t opcode)
{
    return opcode >= CNNVP_OPCODE_vmac && opcode <= CNNVP_OPCODE_vsoftmax;
}

static int is_training(uint32_t opcode)
{
    return opcode >= CNNVP_OPCODE_tforward && opcode <= CNNVP_OPCODE_touter;
}

static int is_of_module(uint32_t opcode)
{
    return opcode >= CNNVP_OPCODE_tstat && opcode <= CNNVP_OPCODE_tclear;
}

/* True if all buffers of the multi-function module exist. */
static int has_module(const struct cnnvp_reference *reference)
{
    uint32_t buffer = CNNVP_REFERENCE_MAX_MIN;
    while (buffer < CNNVP_REFERENCE_BUFFERS && reference->buffers[buffer].half_bytes != 0)
        ++buffer;
    return buffer == CNNVP_REFERENCE_BUFFERS;
}

static int has_form(const struct cnnvp_command *command, size_t bytes)
{
    return command->count == bytes / sizeof command->descriptor[0];
}

int cnnvp_reference_covers(const struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    if (is_of_lanes(command->opcode))
        return has_form(command, sizeof(struct cnnvp_vector)) &&
               (reference->lanes != 0 ||
                (command->opcode != CNNVP_OPCODE_vout && reference_status(command, "accumulate", 0) == 0));
    if (is_training(command->opcode))
        return reference->mantissa_bits != 0;
    if (is_of_module(command->opcode))
        return has_module(reference) &&
               reference_status(command, "buffer", 0) < CNNVP_REFERENCE_BUFFERS - CNNVP_REFERENCE_MAX_MIN;
    return (is_window(command->opcode) && has_form(command, sizeof(struct cnnvp_window))) ||
           (command->opcode == CNNVP_OPCODE_matmul && has_form(command, sizeof(struct cnnvp_matmul)));
}

const char *cnnvp_reference_run(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    if (is_training(command->opcode))
        return reference_training(reference, command);
    if (is_of_module(command->opcode))
        return reference_module(reference, command);
    return is_of_lanes(command->opcode) ? reference_lanes(reference, command) : reference_array(reference, command);
}

/* ---- where results lie ---- */

/* Bytes of a partial sum: for a PE array, the 16-bit words that acc_bits needs; for lanes, 64 bits. */
uint32_t reference_sum_bytes(const struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    const int lanes = command->opcode == CNNVP_OPCODE_vconv || command->opcode == CNNVP_OPCODE_vpool;
    return lanes                       ? 8
           : reference->acc_bits <= 16 ? 2
           : reference->acc_bits <= 32 ? 4
           : reference->acc_bits <= 48 ? 6
                                       : 8;
}

static void window_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                           struct cnnvp_reference_results *results)
{
    const struct cnnvp_window *d = (const void *)command->descriptor;
    const int pool = command->opcode == CNNVP_OPCODE_pool || command->opcode == CNNVP_OPCODE_vpool;
    const int each = pool || command->opcode == CNNVP_OPCODE_step || reference_status(command, "depthwise", 0) != 0;
    const int partial = reference_status(command, pool ? "sum" : "partial", 0) != 0;
    results->kind = CNNVP_REFERENCE_OF_WINDOWS;
    results->columns = d->out_w;
    results->outer = each ? d->in_channels : d->out_channels;
    results->inner = (uint64_t)d->out_h * d->out_w;
    results->sums = partial;
    results->bytes = partial ? reference_sum_bytes(reference, command) : (d->format >> 31 & 1u) != 0 ? 1 : 2;
    results->base = partial ? d->acc_addr : d->out_addr;
    results->stride = partial ? (int64_t)results->inner : d->out_channel_stride;
    results->working = d->acc_addr;
}

static void matmul_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                           struct cnnvp_reference_results *results)
{
    const struct cnnvp_matmul *d = (const void *)command->descriptor;
    const int partial = reference_status(command, "partial", 0) != 0;
    results->kind = CNNVP_REFERENCE_OF_OUTPUTS;
    results->outer = 1;
    results->inner = d->outputs;
    results->sums = partial;
    results->bytes = partial ? reference_sum_bytes(reference, command) : (d->format >> 31 & 1u) != 0 ? 1 : 2;
    results->base = partial ? d->acc_addr : d->out_addr;
    results->working = d->acc_addr;
}

static void vector_results(const struct cnnvp_command *command, struct cnnvp_reference_results *results)
{
    const struct cnnvp_vector *d = (const void *)command->descriptor;
    const int one = command->opcode == CNNVP_OPCODE_vmean || command->opcode == CNNVP_OPCODE_vvar;
    results->kind = CNNVP_REFERENCE_OF_VECTOR;
    if (reference_status(command, "store", 1) == 0)
        return;
    results->outer = command->opcode == CNNVP_OPCODE_vout ? 1 : d->repeat;
    results->inner = one ? 1 : d->count;
    results->bytes = (d->format >> 31 & 1u) != 0 ? 1 : 2;
    results->base = d->out_addr;
    results->stride = (int32_t)d->out_repeat;
}

int cnnvp_reference_locate(const struct cnnvp_reference *reference, const struct cnnvp_command *command, uint32_t index,
                           struct cnnvp_reference_results *results)
{
    *results = (struct cnnvp_reference_results){
        .groups = 1, .buffer = CNNVP_REFERENCE_OUTPUT, .half = half_of(command, CNNVP_REFERENCE_OUTPUT)};
    if (is_training(command->opcode))
        return reference_training_results(reference, command, index, results);
    if (is_of_module(command->opcode))
        return reference_module_results(reference, command, index, results);
    if (is_window(command->opcode))
        window_results(reference, command, results);
    else if (command->opcode == CNNVP_OPCODE_matmul)
        matmul_results(reference, command, results);
    else
        vector_results(command, results);
    if (reference_update(command) != CNNVP_UPDATE_INITIALISE)
        results->working_end =
            results->working + reference_sum_bytes(reference, command) * results->outer * results->inner;
    return index == 0;
}

/* ---- text ---- */

void cnnvp_reference_name(const struct cnnvp_reference_results *results, uint64_t g, uint64_t o, uint64_t i, char *text,
                          size_t size)
{
    const uint64_t row = results->columns != 0 ? i / results->columns : 0;
    const uint64_t column = results->columns != 0 ? i % results->columns : 0;
    const int64_t from = (int64_t)g * results->group_stride + (int64_t)o * results->stride;
    const int length =
        results->what[0] != '\0'
            ? snprintf(text, size, results->kind == CNNVP_REFERENCE_OF_LIST ? "%s " : "%s of ", results->what)
            : 0;
    text += length, size -= (size_t)length;
    switch (results->kind) {
    case CNNVP_REFERENCE_OF_WINDOWS:
        (void)snprintf(text, size, "channel %" PRIu64 ", row %" PRIu64 ", column %" PRIu64, o, row, column);
        break;
    case CNNVP_REFERENCE_OF_IMAGES:
        (void)snprintf(text, size, "image %" PRIu64 ", channel %" PRIu64 ", row %" PRIu64 ", column %" PRIu64, g, o,
                       row, column);
        break;
    case CNNVP_REFERENCE_OF_GRADIENT:
        (void)snprintf(text, size, "output channel %" PRIu64 ", input channel %" PRIu64 ", tap %" PRIu64, o, row,
                       column);
        break;
    case CNNVP_REFERENCE_OF_VECTOR:
        (void)snprintf(text, size, "repetition %" PRIu64 ", element %" PRIu64, o, i);
        break;
    case CNNVP_REFERENCE_OF_BYTES:
        (void)snprintf(text, size, "image %" PRIu64 ", channel %" PRIu64 ", byte %" PRIu64, g, o, i);
        break;
    case CNNVP_REFERENCE_OF_VALUES:
        (void)snprintf(text, size, "channel %" PRIu64 ", value %" PRIu64, o, i);
        break;
    case CNNVP_REFERENCE_OF_ENTRIES:
        (void)snprintf(text, size, "entry %" PRId64, (results->base + results->bytes * from) / results->columns);
        break;
    case CNNVP_REFERENCE_OF_LIST:
        (void)snprintf(text, size, "%" PRIu64, i);
        break;
    default:
        (void)snprintf(text, size, "output %" PRIu64, i);
        break;
    }
}

void cnnvp_reference_instruction(const struct cnnvp_command *command, char *text, size_t size)
{
    const struct isa_opcode *opcode = cnnvp_isa_opcode(command->opcode);
    int length = snprintf(text, size, "%s", opcode != NULL ? opcode->mnemonic : "?");
    for (const struct isa_status *status = cnnvp_isa_statuses; status->name != NULL; ++status) {
        const uint32_t value = status_value(command, status);
        if (status->opcode != command->opcode || value == 0 || length < 0 || (size_t)length >= size)
            continue;
        length += status->width > 1
                      ? snprintf(text + length, size - (size_t)length, ".%s=%u", status->name, (unsigned)value)
                      : snprintf(text + length, size - (size_t)length, ".%s", status->name);
    }
    if (length > 0 && (size_t)length < size)
        (void)snprintf(text + length, size - (size_t)length, " i%u w%u o%u", (unsigned)command->halves & 1u,
                       (unsigned)command->halves >> 1 & 1u, (unsigned)command->halves >> 2 & 1u);
}
