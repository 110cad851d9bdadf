/* SPDX-License-Identifier: Apache-2.0 */
/* ELF reader, see elf_file.h. Member offsets are those of Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr and Elf32_Sym. */
#include "elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADER_SIZE = 52,
    PROGRAM_HEADER_SIZE = 32,
    SECTION_HEADER_SIZE = 40,
    SYMBOL_SIZE = 16,
    CLASS_32 = 1,
    CLASS_64 = 2,
    DATA_LITTLE = 1,
    TYPE_EXECUTABLE = 2,
    MACHINE_RISCV = 243,
    FLAG_FLOAT_ABI = 0x6, /* EF_RISCV_FLOAT_ABI: arguments in floating-point registers */
    FLAG_RVE = 0x8,
    PT_LOAD_TYPE = 1,
    SHT_SYMTAB_TYPE = 2,
    SECTION_IS_CODE = 4,
    SYMBOL_OBJECT = 1,
    SYMBOL_FUNCTION = 2
};

/* Nothing larger fits a 32-bit core's memory. */
static const long max_file_size = 1L << 30;

struct cnnvp_elf {
    uint8_t *data;
    size_t size;
    uint32_t entry;
    struct cnnvp_elf_segment *segments;
    size_t segment_count;
    const uint8_t *symbols;
    size_t symbol_count;
    const char *names;
    size_t names_size;
};

static cnnvp_result refuse(struct cnnvp_error *error, const char *name, const char *format, ...) CNNVP_PRINTF(3, 4);

static cnnvp_result refuse(struct cnnvp_error *error, const char *name, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (error != NULL)
        (void)snprintf(error->text, sizeof error->text, "%s: %s", name, text);
    return CNNVP_BAD_INPUT;
}

static uint32_t half_at(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t word_at(const uint8_t *at)
{
    return half_at(at) | half_at(at + 2) << 16;
}

/* Whether `count` entries of `entry` bytes at `offset` lie in the file. */
static int lies_in(const struct cnnvp_elf *elf, uint64_t offset, uint64_t count, uint64_t entry)
{
    return offset <= elf->size && count * entry <= elf->size - offset;
}

static cnnvp_result check_header(const struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    const uint8_t *header = elf->data;

    if (elf->size < 4 || memcmp(header, "\177ELF", 4) != 0)
        return refuse(error, name, "is not an ELF file");
    if (elf->size < HEADER_SIZE)
        return refuse(error, name, "is cut off: it has %zu bytes, an ELF header alone has %d", elf->size, HEADER_SIZE);
    if (header[4] == CLASS_64 && half_at(header + 18) == MACHINE_RISCV)
        return refuse(error, name, "is for RV64, the core is RV32; compile with -march=rv32imac -mabi=ilp32");
    if (header[4] != CLASS_32 || header[5] != DATA_LITTLE || half_at(header + 18) != MACHINE_RISCV)
        return refuse(error, name,
                      "is for another machine; a 32-bit little-endian RISC-V program is needed "
                      "(class %u, data %u, machine %" PRIu32 ")",
                      header[4], header[5], half_at(header + 18));
    if (half_at(header + 16) != TYPE_EXECUTABLE)
        return refuse(error, name, "is not an executable (ELF type %" PRIu32 "); link it, without -pie or -r",
                      half_at(header + 16));
    if (word_at(header + 36) & (FLAG_FLOAT_ABI | FLAG_RVE))
        return refuse(error, name, "has the %s; compile with -march=rv32imac -mabi=ilp32",
                      word_at(header + 36) & FLAG_RVE ? "ABI of RV32E" : "hard-float ABI, the core no such registers");
    return CNNVP_DONE;
}

static cnnvp_result read_segment(struct cnnvp_elf *elf, const uint8_t *header, uint32_t index, const char *name,
                                 struct cnnvp_error *error)
{
    struct cnnvp_elf_segment *segment = &elf->segments[elf->segment_count];
    const uint32_t offset = word_at(header + 4);

    segment->address = word_at(header + 12);
    segment->file_size = word_at(header + 16);
    segment->memory_size = word_at(header + 20);
    if (!lies_in(elf, offset, segment->file_size, 1))
        return refuse(error, name, "is cut off: segment %" PRIu32 " ends at byte %" PRIu64 ", the file at %zu", index,
                      (uint64_t)offset + segment->file_size, elf->size);
    if (segment->file_size > segment->memory_size)
        return refuse(error, name, "segment %" PRIu32 " has more bytes in the file than in memory", index);
    if ((uint64_t)segment->address + segment->memory_size > UINT64_C(1) << 32)
        return refuse(error, name, "segment %" PRIu32 " at 0x%08" PRIx32 " leaves the 32-bit address space", index,
                      segment->address);
    segment->data = elf->data + offset;
    if (segment->memory_size > 0)
        ++elf->segment_count;
    return CNNVP_DONE;
}

static cnnvp_result read_segments(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    const uint32_t offset = word_at(elf->data + 28);
    const uint32_t entry_size = half_at(elf->data + 42);
    const uint32_t count = half_at(elf->data + 44);
    int entry_is_loaded = 0;

    if (count == 0)
        return refuse(error, name, "has no segments to load");
    if (entry_size < PROGRAM_HEADER_SIZE)
        return refuse(error, name, "has program headers of %" PRIu32 " bytes, %d are needed", entry_size,
                      PROGRAM_HEADER_SIZE);
    if (!lies_in(elf, offset, count, entry_size))
        return refuse(error, name, "is cut off: its program headers are outside the file");
    elf->segments = calloc(count, sizeof *elf->segments);
    if (elf->segments == NULL)
        return refuse(error, name, "there is not enough memory");
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t *header = elf->data + offset + (size_t)i * entry_size;
        cnnvp_result result;

        if (word_at(header) != PT_LOAD_TYPE)
            continue;
        result = read_segment(elf, header, i, name, error);
        if (result != CNNVP_DONE)
            return result;
        entry_is_loaded |= elf->entry - word_at(header + 8) < word_at(header + 20);
    }
    if (elf->segment_count == 0)
        return refuse(error, name, "has no segments to load");
    if (!entry_is_loaded)
        return refuse(error, name, "its entry 0x%08" PRIx32 " is in no segment", elf->entry);
    return CNNVP_DONE;
}

static cnnvp_result read_symbols(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    const uint32_t offset = word_at(elf->data + 32);
    const uint32_t entry_size = half_at(elf->data + 46);
    const uint32_t count = half_at(elf->data + 48);
    const uint8_t *sections = elf->data + offset;

    if (count == 0)
        return CNNVP_DONE; /* stripped */
    if (entry_size < SECTION_HEADER_SIZE || !lies_in(elf, offset, count, entry_size))
        return refuse(error, name, "is cut off: its section headers are outside the file");
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t *section = sections + (size_t)i * entry_size;
        const uint32_t names = word_at(section + 24);
        const uint8_t *strings = sections + (size_t)names * entry_size;

        if (word_at(section + 4) != SHT_SYMTAB_TYPE)
            continue;
        if (names >= count || !lies_in(elf, word_at(section + 16), word_at(section + 20), 1) ||
            !lies_in(elf, word_at(strings + 16), word_at(strings + 20), 1))
            return refuse(error, name, "is cut off: its symbol table is outside the file");
        elf->symbols = elf->data + word_at(section + 16);
        elf->symbol_count = word_at(section + 20) / SYMBOL_SIZE;
        elf->names = (const char *)elf->data + word_at(strings + 16);
        elf->names_size = word_at(strings + 20);
    }
    return CNNVP_DONE;
}

static cnnvp_result parse(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    cnnvp_result result = check_header(elf, name, error);

    if (result != CNNVP_DONE)
        return result;
    elf->entry = word_at(elf->data + 24);
    result = read_segments(elf, name, error);
    return result == CNNVP_DONE ? read_symbols(elf, name, error) : result;
}

/* Takes over `data`, also on failure. */
static cnnvp_result take(const char *name, uint8_t *data, size_t size, struct cnnvp_elf **elf,
                         struct cnnvp_error *error)
{
    struct cnnvp_elf *made = calloc(1, sizeof *made);
    cnnvp_result result;

    *elf = NULL;
    if (made == NULL) {
        free(data);
        return refuse(error, name, "there is not enough memory");
    }
    made->data = data;
    made->size = size;
    result = parse(made, name, error);
    if (result == CNNVP_DONE)
        *elf = made;
    else
        cnnvp_elf_free(made);
    return result;
}

cnnvp_result cnnvp_elf_parse(const char *name, const void *data, size_t size, struct cnnvp_elf **elf,
                             struct cnnvp_error *error)
{
    uint8_t *copy = malloc(size ? size : 1);

    *elf = NULL;
    if (copy == NULL)
        return refuse(error, name, "there is not enough memory");
    if (size)
        memcpy(copy, data, size);
    return take(name, copy, size, elf, error);
}

static cnnvp_result read_open(FILE *stream, const char *file, struct cnnvp_elf **elf, struct cnnvp_error *error)
{
    struct stat status;
    long size;
    uint8_t *data;

    if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode))
        return refuse(error, file, "cannot be read: it is not a regular file");
    if (fseek(stream, 0, SEEK_END) != 0 || (size = ftell(stream)) < 0 || fseek(stream, 0, SEEK_SET) != 0)
        return refuse(error, file, "cannot be read: %s", strerror(errno));
    if (size > max_file_size)
        return refuse(error, file, "has %ld bytes; no program of a 32-bit core is that large", size);
    data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL)
        return refuse(error, file, "there is not enough memory");
    if (fread(data, 1, (size_t)size, stream) != (size_t)size) {
        free(data);
        return refuse(error, file, "cannot be read: %s", ferror(stream) ? strerror(errno) : "it has become shorter");
    }
    return take(file, data, (size_t)size, elf, error);
}

cnnvp_result cnnvp_elf_read(const char *file, struct cnnvp_elf **elf, struct cnnvp_error *error)
{
    FILE *stream = fopen(file, "rb");
    cnnvp_result result;

    *elf = NULL;
    if (stream == NULL)
        return refuse(error, file, "%s", strerror(errno));
    result = read_open(stream, file, elf, error);
    (void)fclose(stream);
    return result;
}

void cnnvp_elf_free(struct cnnvp_elf *elf)
{
    if (elf == NULL)
        return;
    free(elf->segments);
    free(elf->data);
    free(elf);
}

const void *cnnvp_elf_data(const struct cnnvp_elf *elf, size_t *size)
{
    *size = elf->size;
    return elf->data;
}

uint32_t cnnvp_elf_entry(const struct cnnvp_elf *elf)
{
    return elf->entry;
}

size_t cnnvp_elf_segment_count(const struct cnnvp_elf *elf)
{
    return elf->segment_count;
}

struct cnnvp_elf_segment cnnvp_elf_segment_at(const struct cnnvp_elf *elf, size_t index)
{
    return elf->segments[index];
}

int cnnvp_elf_symbol(const struct cnnvp_elf *elf, const char *name, uint32_t *value)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < elf->symbol_count; ++i) {
        const uint8_t *symbol = elf->symbols + i * SYMBOL_SIZE;
        const uint32_t at = word_at(symbol);

        /* Section 0 means undefined. */
        if (half_at(symbol + 14) == 0 || at >= elf->names_size || elf->names_size - at <= length)
            continue;
        if (memcmp(elf->names + at, name, length + 1) == 0) {
            *value = word_at(symbol + 4);
            return 1;
        }
    }
    return 0;
}

size_t cnnvp_elf_symbol_count(const struct cnnvp_elf *elf)
{
    return elf->symbol_count;
}

/* 1 if section `index` holds instructions. */
static int is_code(const struct cnnvp_elf *elf, uint32_t index)
{
    const uint32_t offset = word_at(elf->data + 32);
    const uint32_t entry_size = half_at(elf->data + 46);

    if (index == 0 || index >= half_at(elf->data + 48))
        return 0;
    return (word_at(elf->data + offset + (size_t)index * entry_size + 8) & SECTION_IS_CODE) != 0;
}

int cnnvp_elf_function(const struct cnnvp_elf *elf, size_t index, const char **name, uint32_t *address)
{
    const uint8_t *symbol = elf->symbols + index * SYMBOL_SIZE;
    const uint32_t at = word_at(symbol);
    const unsigned type = symbol[12] & 15u;

    if (type > SYMBOL_FUNCTION || type == SYMBOL_OBJECT || !is_code(elf, half_at(symbol + 14)) || at >= elf->names_size)
        return 0;
    *name = elf->names + at;
    *address = word_at(symbol + 4);
    /* $x marks where code begins, .L are the compiler's own labels. */
    return **name != '\0' && **name != '$' && **name != '.' && memchr(*name, '\0', elf->names_size - at) != NULL;
}

int cnnvp_elf_object(const struct cnnvp_elf *elf, size_t index, uint32_t *address, uint32_t *size)
{
    const uint8_t *symbol = elf->symbols + index * SYMBOL_SIZE;

    *address = word_at(symbol + 4);
    *size = word_at(symbol + 8);
    return (symbol[12] & 15u) == SYMBOL_OBJECT && half_at(symbol + 14) != 0;
}
