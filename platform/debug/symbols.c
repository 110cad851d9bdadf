/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base.h"

struct function {
    uint32_t address;
    uint32_t order; /* of several at one address, the last one is used */
    char *name;
};

struct line {
    uint32_t address;
    uint32_t order; /* likewise; 0: end of a sequence, after which nothing is known */
    uint32_t file;  /* index in `files` */
    uint32_t number;
};

struct cnnvp_symbols {
    struct cnnvp_arena arena; /* memory of the names */
    struct function *functions;
    size_t function_count;
    struct line *lines;
    size_t line_count;
    char **files;
    size_t file_count;
};

void cnnvp_symbols_free(struct cnnvp_symbols *symbols)
{
    if (symbols == NULL)
        return;
    cnnvp_arena_free(&symbols->arena);
    free(symbols->functions);
    free(symbols->lines);
    free((void *)symbols->files);
    free(symbols);
}

static int by_place(uint32_t a, uint32_t a_order, uint32_t b, uint32_t b_order)
{
    if (a != b)
        return a < b ? -1 : 1;
    return a_order < b_order ? -1 : a_order > b_order;
}

/* ---- functions ---- */

static int by_function(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return by_place(x->address, x->order, y->address, y->order);
}

static int read_functions(struct cnnvp_symbols *symbols, const struct cnnvp_elf *elf)
{
    const size_t count = elf->symbol_count;
    symbols->functions = calloc(count + 1u, sizeof *symbols->functions);
    if (symbols->functions == NULL)
        return -1;
    for (size_t i = 0; i < count; ++i) {
        struct function *function = &symbols->functions[symbols->function_count];
        const char *name;
        if (!cnnvp_elf_function(elf, i, &name, &function->address))
            continue;
        function->order = (uint32_t)i;
        function->name = cnnvp_arena_text(&symbols->arena, name);
        if (function->name == NULL)
            return -1;
        ++symbols->function_count;
    }
    qsort(symbols->functions, symbols->function_count, sizeof *symbols->functions, by_function);
    return 0;
}

size_t cnnvp_symbols_before(const void *elements, size_t count, size_t size, uint32_t address)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2u;
        uint32_t at;
        memcpy(&at, (const char *)elements + middle * size, sizeof at);
        if (at <= address)
            low = middle + 1u;
        else
            count = middle;
    }
    return low;
}

const char *cnnvp_symbols_function(const struct cnnvp_symbols *symbols, uint32_t address, uint32_t *begin)
{
    const size_t n =
        cnnvp_symbols_before(symbols->functions, symbols->function_count, sizeof *symbols->functions, address);
    if (n == 0)
        return NULL;
    *begin = symbols->functions[n - 1u].address;
    return symbols->functions[n - 1u].name;
}

/* ---- lines ---- */

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return by_place(x->address, x->order, y->address, y->order);
}

/* Number of a file by its name; SIZE_MAX: out of memory. A linear search is enough for few files that repeat often. */
static size_t file_of(struct cnnvp_symbols *symbols, const char *name)
{
    for (size_t i = symbols->file_count; i-- > 0;)
        if (strcmp(symbols->files[i], name) == 0)
            return i;
    char **larger = cnnvp_grow((void *)symbols->files, symbols->file_count, sizeof *larger);
    if (larger == NULL)
        return SIZE_MAX;
    symbols->files = larger;
    larger[symbols->file_count] = cnnvp_arena_text(&symbols->arena, name);
    return larger[symbols->file_count] != NULL ? symbols->file_count++ : SIZE_MAX;
}

static int add_line(struct cnnvp_symbols *symbols, const struct line *line)
{
    struct line *lines = cnnvp_grow(symbols->lines, symbols->line_count, sizeof *lines);
    if (lines == NULL)
        return -1;
    symbols->lines = lines;
    symbols->lines[symbols->line_count++] = *line;
    return 0;
}

/* Reads the lines of a compilation unit and skips damaged ones. */
static int read_unit(struct cnnvp_symbols *symbols, Dwarf_Lines *lines, size_t count)
{
    const char *last = NULL;
    size_t file = 0;
    for (size_t i = 0; i < count; ++i) {
        Dwarf_Line *entry = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        bool ends = false;
        const char *name = dwarf_linesrc(entry, NULL, NULL);
        if (name == NULL || dwarf_lineaddr(entry, &address) != 0 || dwarf_lineno(entry, &number) != 0 ||
            dwarf_lineendsequence(entry, &ends) != 0 || address > UINT32_MAX || number < 0)
            continue;
        if (name != last)
            file = file_of(symbols, name);
        last = name;
        const struct line line = {
            (uint32_t)address, ends ? 0 : (uint32_t)symbols->line_count + 1u, (uint32_t)file, (uint32_t)number};
        if (file == SIZE_MAX || add_line(symbols, &line) != 0)
            return -1;
    }
    return 0;
}

/* Programs without debugging information have no lines. */
static int read_lines(struct cnnvp_symbols *symbols, const struct cnnvp_elf *elf)
{
    size_t count;
    (void)elf_version(EV_CURRENT);
    Elf *image = elf_memory((char *)elf->data, elf->size); /* only read */
    Dwarf *dwarf = image != NULL ? dwarf_begin_elf(image, DWARF_C_READ, NULL) : NULL;
    Dwarf_Off offset = 0, next;
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *lines;
    int result = 0;
    while (dwarf != NULL && result == 0 &&
           dwarf_next_lines(dwarf, offset, &next, &unit, &files, NULL, &lines, &count) == 0) {
        result = read_unit(symbols, lines, count);
        offset = next;
    }
    (void)dwarf_end(dwarf);
    (void)elf_end(image);
    if (symbols->line_count != 0)
        qsort(symbols->lines, symbols->line_count, sizeof *symbols->lines, by_line);
    return result;
}

uint32_t cnnvp_symbols_line(const struct cnnvp_symbols *symbols, uint32_t address, const char **file)
{
    const size_t n = cnnvp_symbols_before(symbols->lines, symbols->line_count, sizeof *symbols->lines, address);
    const struct line *line = n > 0 ? &symbols->lines[n - 1u] : NULL;
    const int known = line != NULL && line->order != 0 && line->number != 0;
    *file = known ? symbols->files[line->file] : NULL;
    return known ? line->number : 0;
}

struct cnnvp_symbols *cnnvp_symbols_new(const struct cnnvp_elf *elf, int with_lines)
{
    struct cnnvp_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return NULL;
    if (read_functions(symbols, elf) == 0 && (!with_lines || read_lines(symbols, elf) == 0))
        return symbols;
    cnnvp_symbols_free(symbols);
    return NULL;
}
