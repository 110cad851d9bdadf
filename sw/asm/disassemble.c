/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembler: one line a word, labels where branches and loops lead, the word's byte offset as a comment. The text
 * assembles to the same words. Words that are no instructions are errors, named by their offset.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_asm.h"
#include "base.h"
#include "isa/isa.h"

struct output {
    char *text;
    size_t length;
    size_t capacity;
    int failed; /* out of memory */
    struct isa_extension *extension;
};

static void put(struct output *output, const char *format, ...) CNNVP_PRINTF(2, 3);

/* At most 255 characters at a time. */
static void put(struct output *output, const char *format, ...)
{
    if (output->failed)
        return;
    if (output->capacity - output->length < 256u) {
        const size_t capacity = output->capacity ? output->capacity * 2u : 4096u;
        char *larger = realloc(output->text, capacity);
        if (larger == NULL) {
            output->failed = 1;
            return;
        }
        output->text = larger;
        output->capacity = capacity;
    }
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(output->text + output->length, 256, format, args);
    va_end(args);
    output->length += length > 0 ? (size_t)length : 0u;
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned byte = 8; byte-- > 0;)
        word = word << 8 | bytes[byte];
    return word;
}

/* What is wrong with a word; NULL if nothing is. */
static const char *fault_of(const struct isa_extension *extension, uint64_t word)
{
    const struct isa_opcode *op = cnnvp_isa_find(extension, cnnvp_word_read(word).opcode);
    if (op == NULL)
        return "there is no such opcode";
    if (cnnvp_word_read(word).status & ~op->status_mask)
        return "status bits outside the opcode's are set";
    if (word & UINT64_C(0xffffffffffff) & ~cnnvp_isa_operand_masks[op->format])
        return "operand bits that the format does not use are set";
    return NULL;
}

/* The word that a jump, branch or loop leads to, if it lies in the program or right after it. */
static int target_of(const struct isa_extension *extension, uint64_t word, size_t index, size_t count, size_t *target)
{
    const struct isa_opcode *op = cnnvp_isa_find(extension, cnnvp_word_read(word).opcode);
    int64_t to;
    if (op->format == ISA_FORMAT_BRANCH || strcmp(op->mnemonic, "jump") == 0)
        to = (int64_t)index + (int32_t)(uint32_t)word;
    else if (strcmp(op->mnemonic, "loop") == 0)
        to = (int64_t)index + 1 + (int64_t)(word & UINT32_MAX);
    else
        return 0;
    if (to < 0 || (uint64_t)to > count)
        return 0;
    *target = (size_t)to;
    return 1;
}

static void put_statuses(struct output *output, uint64_t word)
{
    const struct cnnvp_word_parts parts = cnnvp_word_read(word);
    for (const struct isa_status *status = cnnvp_isa_status(output->extension, parts.opcode); status != NULL;
         status = cnnvp_isa_next_status(status)) {
        const uint32_t value = parts.status >> status->lsb & ((1u << status->width) - 1u);
        if (!value)
            continue;
        if (status->width > 1u)
            put(output, ".%s=%u", status->name, value);
        else
            put(output, ".%s", status->name);
    }
}

static void put_operands(struct output *output, uint64_t word, size_t index, size_t count)
{
    const struct cnnvp_word_parts parts = cnnvp_word_read(word);
    const struct isa_opcode *op = cnnvp_isa_find(output->extension, parts.opcode);
    const unsigned a = parts.a, b = parts.b;
    const uint32_t immediate = parts.immediate;
    size_t target = 0;
    const int has_target = target_of(output->extension, word, index, count, &target);
    switch (op->format) {
    case ISA_FORMAT_TAG:
    case ISA_FORMAT_IMM:
        if (has_target)
            put(output, " L%zu", target);
        else if (strcmp(op->mnemonic, "jump") == 0)
            put(output, " %" PRId32, (int32_t)immediate);
        else
            put(output, " %" PRIu32, immediate);
        break;
    case ISA_FORMAT_RI:
        if (has_target)
            put(output, " r%u, L%zu", a, target);
        else
            put(output, " r%u, 0x%" PRIx32, a, immediate);
        break;
    case ISA_FORMAT_RR:
        put(output, " r%u, r%u", a, b);
        break;
    case ISA_FORMAT_RRI:
        put(output, " r%u, r%u, %" PRId32, a, b, (int32_t)immediate);
        break;
    case ISA_FORMAT_RRR:
        put(output, " r%u, r%u, r%u", a, b, parts.c);
        break;
    case ISA_FORMAT_BRANCH:
        if (has_target)
            put(output, " r%u, r%u, L%zu", a, b, target);
        else
            put(output, " r%u, r%u, %" PRId32, a, b, (int32_t)immediate);
        break;
    case ISA_FORMAT_TILE:
        put(output, " r%u, i%u w%u o%u", a, b & 1u, b >> 1 & 1u, b >> 2 & 1u);
        if (immediate)
            put(output, ", 0x%" PRIx32, immediate);
        break;
    default:
        break;
    }
}

static void put_line(struct output *output, uint64_t word, size_t index, size_t count)
{
    const size_t start = output->length;
    put(output, "    %s", cnnvp_isa_find(output->extension, cnnvp_word_read(word).opcode)->mnemonic);
    put_statuses(output, word);
    put_operands(output, word, index, count);
    const size_t written = output->length - start;
    put(output, "%*s; 0x%04zx\n", written < 48u ? (int)(48u - written) : 1, "", index * 8u);
}

static cnnvp_result check(const char *file, const uint8_t *bytes, size_t size, const struct isa_extension *extension,
                          struct cnnvp_error *error)
{
    for (size_t offset = 0; offset + 8u <= size; offset += 8u) {
        const uint64_t word = word_at(bytes + offset);
        const char *fault = fault_of(extension, word);
        if (fault != NULL)
            return cnnvp_config_error(
                error, file, "offset 0x%zx: 0x%016" PRIx64 " is no instruction: %s", offset, word, fault);
    }
    if (size % 8u == 0)
        return CNNVP_DONE;
    return cnnvp_config_error(error, file, "offset 0x%zx: %zu bytes are left over; instructions are words of 8 bytes",
                              size - size % 8u, size % 8u);
}

cnnvp_result cnnvp_disassemble(const char *file, const uint8_t *bytes, size_t size,
                               const struct cnnvp_instruction *const *custom, char **text, struct cnnvp_error *error)
{
    const size_t count = size / 8u;
    char why[200] = "";
    CNNVP_FREED struct isa_extension *extension = cnnvp_isa_extension(custom, why, sizeof why);
    struct output output = {NULL, 0, 0, 0, extension};
    if (extension == NULL)
        return cnnvp_config_error(error, file, "%s", why);
    CNNVP_TRY(check(file, bytes, size, extension, error));
    CNNVP_FREED uint8_t *is_target = calloc(count + 1u, 1);
    for (size_t i = 0; is_target != NULL && i < count; ++i) {
        size_t target = 0;
        if (target_of(extension, word_at(bytes + i * 8u), i, count, &target))
            is_target[target] = 1;
    }
    put(&output, "%s", ""); /* there is a text even if there are no words */
    for (size_t i = 0; is_target != NULL && i <= count; ++i) {
        if (is_target[i])
            put(&output, "L%zu:\n", i);
        if (i < count)
            put_line(&output, word_at(bytes + i * 8u), i, count);
    }
    if (output.failed || is_target == NULL) {
        free(output.text);
        return cnnvp_config_no_memory(error);
    }
    *text = output.text;
    return CNNVP_DONE;
}
