/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembler: writes one line per word, with the word's byte offset as a comment, and labels at the targets of
 * branches and loops. The text assembles to the same words. A word that is no instruction is an error that names its
 * offset.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_asm.h"
#include "base.h"
#include "isa/isa.h"
#include "lexer.h"

struct output {
    FILE *stream;
    const struct isa_extension *extension;
};

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned byte = 8; byte-- > 0;)
        word = word << 8 | bytes[byte];
    return word;
}

/* Describes what is wrong with a word; NULL: it is valid. */
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

/* Finds the target of a jump, branch or loop; returns 0 if there is none within the program or right after it. */
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

static void put_statuses(const struct output *output, uint64_t word)
{
    const struct cnnvp_word_parts parts = cnnvp_word_read(word);
    for (const struct isa_status *status = cnnvp_isa_status(output->extension, parts.opcode); status != NULL;
         status = cnnvp_isa_next_status(status)) {
        const uint32_t value = parts.status >> status->lsb & ((1u << status->width) - 1u);
        if (!value)
            continue;
        if (status->width > 1u)
            (void)fprintf(output->stream, ".%s=%u", status->name, value);
        else
            (void)fprintf(output->stream, ".%s", status->name);
    }
}

static void put_operands(const struct output *output, uint64_t word, size_t index, size_t count)
{
    const struct cnnvp_word_parts parts = cnnvp_word_read(word);
    const struct isa_opcode *op = cnnvp_isa_find(output->extension, parts.opcode);
    const unsigned registers = cnnvp_asm_registers(op->format);
    const int is_signed =
        op->format == ISA_FORMAT_RRI || op->format == ISA_FORMAT_BRANCH || strcmp(op->mnemonic, "jump") == 0;
    const char *comma = registers != 0 ? "," : "";
    size_t target = 0;
    for (unsigned i = 0; i < registers; ++i)
        (void)fprintf(output->stream, "%s r%u", i != 0 ? "," : "", (unsigned)(word >> (CNNVP_WORD_A - 8u * i)) & 0xffu);
    if (op->format == ISA_FORMAT_TILE)
        (void)fprintf(output->stream, ", i%u w%u o%u", parts.b & 1u, parts.b >> 1 & 1u, parts.b >> 2 & 1u);
    if (!(cnnvp_isa_operand_masks[op->format] & 1u) || (op->format == ISA_FORMAT_TILE && parts.immediate == 0))
        return;
    if (target_of(output->extension, word, index, count, &target))
        (void)fprintf(output->stream, "%s L%zu", comma, target);
    else if (is_signed)
        (void)fprintf(output->stream, "%s %" PRId32, comma, (int32_t)parts.immediate);
    else
        (void)fprintf(output->stream, registers != 0 ? ", 0x%" PRIx32 : " %" PRIu32, parts.immediate);
}

static void put_line(const struct output *output, uint64_t word, size_t index, size_t count)
{
    const long start = ftell(output->stream);
    (void)fprintf(output->stream, "    %s", cnnvp_isa_find(output->extension, cnnvp_word_read(word).opcode)->mnemonic);
    put_statuses(output, word);
    put_operands(output, word, index, count);
    const long written = ftell(output->stream) - start;
    (void)fprintf(output->stream, "%*s; 0x%04zx\n", written < 48 ? (int)(48 - written) : 1, "", index * 8u);
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
    struct cnnvp_printed printed;
    if (extension == NULL)
        return cnnvp_config_error(error, file, "%s", why);
    CNNVP_TRY(check(file, bytes, size, extension, error));
    CNNVP_FREED uint8_t *is_target = calloc(count + 1u, 1);
    for (size_t i = 0; is_target != NULL && i < count; ++i) {
        size_t target = 0;
        if (target_of(extension, word_at(bytes + i * 8u), i, count, &target))
            is_target[target] = 1;
    }
    const struct output output = {is_target != NULL ? cnnvp_print_begin(&printed) : NULL, extension};
    CNNVP_TRY_MEMORY(output.stream != NULL, error);
    for (size_t i = 0; i <= count; ++i) {
        if (is_target[i])
            (void)fprintf(output.stream, "L%zu:\n", i);
        if (i < count)
            put_line(&output, word_at(bytes + i * 8u), i, count);
    }
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}
