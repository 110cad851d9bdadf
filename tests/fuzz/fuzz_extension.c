/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of instructions from any bytes: refused with a message, or each is found, and what has a text assembles to the
 * same word. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp_asm.h"
#include "isa/isa.h"

enum { INSTRUCTIONS = 4, STATUSES = 10, REGISTERS = 26, NAMES = 8 };

struct reader {
    const uint8_t *data;
    size_t size;
};

static uint8_t next(struct reader *reader)
{
    if (reader->size == 0)
        return 0;
    --reader->size;
    return *reader->data++;
}

/* One of few names, so that they meet; some are wrong. */
static const char *name(struct reader *reader)
{
    static const char *const names[NAMES] = {"a", "b_1", "conv", "own", "Own", "", "x-y", NULL};
    const uint8_t byte = next(reader);
    static const char *const letters[26] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                            "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
    return byte < 128 ? letters[byte % 26u] : names[byte % NAMES];
}

static void check(const struct cnnvp_instruction *const *list, uint8_t status, uint8_t base)
{
    char why[200] = "";
    struct isa_extension *extension = cnnvp_isa_extension(list, why, sizeof why);
    fuzz_require((extension == NULL) == (why[0] != '\0'), "a message");
    for (size_t i = 0; extension != NULL && list[i] != NULL; ++i) {
        const struct isa_opcode *op = cnnvp_isa_find(extension, list[i]->opcode);
        fuzz_require(op != NULL && op->custom == list[i], "it is found");
        const uint64_t word =
            (uint64_t)list[i]->opcode << 56 | (uint64_t)(status & op->status_mask) << 48 | (uint64_t)base << 40;
        uint8_t bytes[8];
        for (unsigned b = 0; b < 8; ++b)
            bytes[b] = (uint8_t)(word >> 8 * b);
        struct cnnvp_error error = {""};
        char *text = NULL;
        uint64_t *words = NULL;
        size_t count = 0;
        fuzz_require(cnnvp_disassemble("fuzz.bin", bytes, 8, list, &text, &error) == CNNVP_DONE, "it has a text");
        fuzz_require(cnnvp_assemble("fuzz.s", text, list, &words, &count, &error) == CNNVP_DONE, "it assembles");
        fuzz_require(count == 1 && words[0] == word, "to the same word");
        free(words);
        free(text);
    }
    free(extension);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cnnvp_instruction instructions[INSTRUCTIONS] = {{0}};
    struct cnnvp_instruction_status statuses[INSTRUCTIONS][STATUSES];
    struct cnnvp_instruction_register registers[INSTRUCTIONS][REGISTERS];
    const struct cnnvp_instruction *list[INSTRUCTIONS + 1] = {NULL};
    struct reader reader = {data, size};
    const uint8_t status = next(&reader), base = next(&reader);
    const uint32_t count = next(&reader) % (INSTRUCTIONS + 1u);
    for (uint32_t i = 0; i < count; ++i) {
        struct cnnvp_instruction *own = &instructions[i];
        own->mnemonic = name(&reader);
        own->opcode = next(&reader) | 0x80u;
        own->buffers = next(&reader) & 0xfu;
        own->status_count = next(&reader) % STATUSES;
        own->register_count = next(&reader) % REGISTERS;
        own->help = "help";
        for (size_t s = 0; s < own->status_count; ++s) {
            const char *called = name(&reader);
            const uint8_t place = next(&reader);
            statuses[i][s] = (struct cnnvp_instruction_status){called, place & 0xfu, place >> 4, "help"};
        }
        for (size_t r = 0; r < own->register_count; ++r)
            registers[i][r] = (struct cnnvp_instruction_register){name(&reader), "help"};
        own->statuses = statuses[i];
        own->registers = registers[i];
        list[i] = own;
    }
    check(list, status, base);
    return 0;
}
