/* SPDX-License-Identifier: Apache-2.0 */
/* Arena memory, texts of messages, suggestions for misspelt names, and the place of the installation. */
#define _GNU_SOURCE /* madvise, dl_iterate_phdr, vasprintf */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

enum { CHUNK_BYTES = 16 * 1024, ALIGNMENT = 16 };

/* Smaller memory may not contain a whole huge page. */
#define HUGE_BYTES ((size_t)4 << 20)

struct cnnvp_arena_chunk {
    struct cnnvp_arena_chunk *next;
    size_t used;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char data[];
};

void cnnvp_huge_pages(void *memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t skipped = (page - (uintptr_t)memory % page) % page;
    if (bytes >= HUGE_BYTES)
        (void)madvise((uint8_t *)memory + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);
}

static void *fail(struct cnnvp_arena *arena)
{
    arena->failed = 1;
    return NULL;
}

void *cnnvp_arena_alloc(struct cnnvp_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return fail(arena);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct cnnvp_arena_chunk *chunk = arena->chunk;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        size_t bytes = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + bytes);
        if (chunk == NULL)
            return fail(arena);
        cnnvp_huge_pages(chunk, sizeof *chunk + bytes);
        chunk->size = bytes;
        chunk->next = arena->chunk;
        arena->chunk = chunk;
    }
    void *memory = chunk->data + chunk->used;
    chunk->used += size;
    return memory;
}

void *cnnvp_arena_array(struct cnnvp_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return fail(arena);
    return cnnvp_arena_alloc(arena, count * size);
}

char *cnnvp_arena_copy(struct cnnvp_arena *arena, const char *text, size_t size)
{
    char *copy = cnnvp_arena_alloc(arena, size + 1);
    if (copy != NULL && size)
        memcpy(copy, text, size);
    return copy;
}

char *cnnvp_arena_text(struct cnnvp_arena *arena, const char *text)
{
    return cnnvp_arena_copy(arena, text, strlen(text));
}

char *cnnvp_arena_printf(struct cnnvp_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : cnnvp_arena_alloc(arena, (size_t)length + 1);
    if (text == NULL)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void cnnvp_arena_free(struct cnnvp_arena *arena)
{
    while (arena->chunk != NULL) {
        struct cnnvp_arena_chunk *next = arena->chunk->next;
        free(arena->chunk);
        arena->chunk = next;
    }
}

/* newlocale("C") returns glibc's built-in locale and allocates nothing. */
void *cnnvp_locale_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void cnnvp_locale_leave(void *const *outer)
{
    (void)uselocale(*outer);
}

void cnnvp_release(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

void *cnnvp_grow(void *list, size_t count, size_t size)
{
    const size_t least = 16;
    if (list != NULL && (count < least || (count & (count - 1)) != 0))
        return list;
    const size_t room = count < least ? least : 2 * count;
    return room <= SIZE_MAX / size ? realloc(list, room * size) : NULL;
}

const char *cnnvp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

size_t cnnvp_before_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0 ? length - end : 0;
}

double cnnvp_clock(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *cnnvp_grouped(char text[32], int64_t value)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    char *to = text;
    for (int i = 0; i < length; ++i) {
        *to++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
            *to++ = ',';
    }
    *to = '\0';
    return text;
}

FILE *cnnvp_print_begin(struct cnnvp_printed *printed)
{
    printed->text = NULL;
    printed->stream = open_memstream(&printed->text, &printed->size);
    return printed->stream;
}

char *cnnvp_print_end(struct cnnvp_printed *printed)
{
    int failed = printed->stream == NULL || ferror(printed->stream);
    if (printed->stream != NULL)
        failed |= fclose(printed->stream) != 0;
    if (!failed)
        return printed->text;
    free(printed->text);
    return NULL;
}

char *cnnvp_text_printf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    return length < 0 ? NULL : text;
}

char *cnnvp_config_folder(struct cnnvp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return cnnvp_arena_copy(arena, ".", 1);
    return cnnvp_arena_copy(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

cnnvp_result cnnvp_config_error(struct cnnvp_error *error, const char *place, const char *format, ...)
{
    int used = 0;
    if (error == NULL)
        return CNNVP_BAD_INPUT;
    if (place != NULL && *place)
        used = snprintf(error->text, sizeof error->text, "%s: ", place);
    if (used >= 0 && (size_t)used < sizeof error->text) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, args);
        va_end(args);
    }
    return CNNVP_BAD_INPUT;
}

cnnvp_result cnnvp_config_no_memory(struct cnnvp_error *error)
{
    if (error != NULL)
        (void)snprintf(error->text, sizeof error->text, "out of memory");
    return CNNVP_FAILED;
}

struct cnnvp_shown cnnvp_config_show(const char *text)
{
    /* A text without character boundaries is cut anywhere. An escape, the dots, the quote and the final 0 still fit. */
    enum { CUT = sizeof((struct cnnvp_shown *)0)->text - 9 };
    struct cnnvp_shown shown;
    size_t out = 0;
    shown.text[out++] = '"';
    for (const unsigned char *at = (const unsigned char *)text; *at; ++at) {
        /* Cut only before a character, and leave room for the dots and the closing quote. */
        if ((out >= 60 && (*at & 0xc0u) != 0x80u) || out >= CUT) {
            memcpy(shown.text + out, "...", 3);
            out += 3;
            break;
        }
        if (*at < 0x20 || *at == 0x7f) {
            static const char hex[] = "0123456789abcdef";
            const char escape[4] = {'\\', 'x', hex[*at >> 4], hex[*at & 15]};
            memcpy(shown.text + out, escape, sizeof escape);
            out += sizeof escape;
        } else {
            shown.text[out++] = (char)*at;
        }
    }
    shown.text[out++] = '"';
    shown.text[out] = '\0';
    return shown;
}

/* Number of changes (insert, delete, replace, swap of neighbours) that turn one name into the other, ignoring case.
 * Names longer than the table count as infinitely far apart. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t rows[3][LONGEST + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; ++j)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; ++i) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; ++j) {
            size_t best = above[j - 1] + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && rows[(i - 2) % 3][j - 2] + 1 < best)
                best = rows[(i - 2) % 3][j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

void cnnvp_suggest_begin(struct cnnvp_suggest *suggest, const char *wanted)
{
    memset(suggest, 0, sizeof *suggest);
    suggest->wanted = wanted;
    suggest->best_distance = SIZE_MAX;
}

/* Number of times that a word of `length` bytes occurs in a text whose words are separated by . _ or - */
static size_t count_word(const char *text, const char *word, size_t length)
{
    size_t count = 0;
    for (const char *at = text; *(at += strspn(at, "._-"));) {
        const size_t other = strcspn(at, "._-");
        count += other == length && memcmp(at, word, length) == 0;
        at += other;
    }
    return count;
}

/* 1: the names consist of the same words in different order, as total.area_um2 and area.total_um2. */
static int same_words(const char *a, const char *b)
{
    if (strlen(a) != strlen(b) || strpbrk(a, "._-") == NULL)
        return 0;
    for (const char *at = a; *(at += strspn(at, "._-"));) {
        const size_t length = strcspn(at, "._-");
        if (count_word(a, at, length) != count_word(b, at, length))
            return 0;
        at += length;
    }
    return 1;
}

void cnnvp_suggest_offer(struct cnnvp_suggest *suggest, const char *name)
{
    size_t distance = same_words(suggest->wanted, name) ? 1 : edit_distance(suggest->wanted, name);
    if (distance < suggest->best_distance) {
        suggest->best_distance = distance;
        suggest->best = name;
    }
    size_t left = sizeof suggest->list - suggest->list_length;
    int length = snprintf(NULL, 0, "%s%s", suggest->list_length ? ", " : "", name);
    if (suggest->list_full || length < 0 || (size_t)length + sizeof ", ..." > left) {
        if (!suggest->list_full)
            memcpy(suggest->list + suggest->list_length, ", ...", sizeof ", ...");
        suggest->list_full = 1;
        return;
    }
    (void)snprintf(suggest->list + suggest->list_length, left, "%s%s", suggest->list_length ? ", " : "", name);
    suggest->list_length += (size_t)length;
}

/* The best name is close enough to suggest. */
static int is_meant(const struct cnnvp_suggest *suggest)
{
    size_t length = strlen(suggest->wanted);
    return suggest->best != NULL && suggest->best_distance <= (length < 6 ? 2 : length / 3) &&
           suggest->best_distance < strlen(suggest->best);
}

const char *cnnvp_version(void)
{
    return CNNVP_VERSION;
}

cnnvp_result cnnvp_client_struct(void *own, size_t size, const void *theirs, const char *name,
                                 struct cnnvp_error *error)
{
    const uint32_t given = *(const uint32_t *)theirs;
    if (given <= sizeof given)
        return cnnvp_config_error(error, NULL, "struct %s: its struct_size is %u, not its size", name, given);
    for (size_t i = size; i < given; ++i)
        if (((const unsigned char *)theirs)[i] != 0)
            return cnnvp_config_error(error, NULL,
                                      "struct %s has %u bytes, of which this library, " CNNVP_VERSION
                                      ", knows %zu: what follows, byte %zu, is set",
                                      name, given, size, i);
    memset(own, 0, size);
    memcpy(own, theirs, given < size ? given : size);
    return CNNVP_DONE;
}

/* ---- files of code ---- */

#define PROGRAM_FILE "/proc/self/exe" /* also where another file has replaced it */

struct loaded {
    uintptr_t address;
    const char *start;
    char *file;
    size_t room;
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct loaded *loaded = context;
    (void)size;
    int found =
        loaded->address == 0 && strncmp(cnnvp_base_name(info->dlpi_name), loaded->start, strlen(loaded->start)) == 0;
    for (int i = 0; loaded->address != 0 && i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        found |= part->p_type == PT_LOAD && loaded->address - info->dlpi_addr - part->p_vaddr < part->p_memsz;
    }
    if (found)
        (void)snprintf(loaded->file, loaded->room, "%s", *info->dlpi_name ? info->dlpi_name : PROGRAM_FILE);
    return found;
}

int cnnvp_loaded_file(uintptr_t address, const char *start, char *file, size_t room)
{
    struct loaded loaded = {address, start, file, room};
    return dl_iterate_phdr(look, &loaded) != 0;
}

int cnnvp_installed_file(const char *name, char *path, size_t room)
{
    static const int depths[] = {1, CNNVP_LIBRARY_DEPTH};
    char loaded[PATH_MAX], file[PATH_MAX];
    if (!cnnvp_loaded_file((uintptr_t)look, NULL, loaded, sizeof loaded) || realpath(loaded, file) == NULL)
        return -1;
    const int is_library = strcmp(loaded, PROGRAM_FILE) != 0;
    /* Cuts off the file name, then the folders below the installation prefix. */
    for (int up = 0; up < 1 + depths[is_library]; ++up) {
        char *slash = strrchr(file, '/');
        if (slash == NULL)
            return -1;
        *slash = '\0';
    }
    const int size = snprintf(path, room, "%s/share/cnnvp/%s", file, name);
    return size > 0 && (size_t)size < room ? 0 : -1;
}

const char *cnnvp_did_you_mean(const char *wanted, const char *const *names)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, wanted);
    for (size_t i = 0; names[i]; ++i)
        cnnvp_suggest_offer(&suggest, names[i]);
    return is_meant(&suggest) ? suggest.best : NULL;
}

const char *cnnvp_suggest_text(struct cnnvp_suggest *suggest, const char *list_word)
{
    if (is_meant(suggest))
        (void)snprintf(suggest->text, sizeof suggest->text, "; did you mean \"%s\"?", suggest->best);
    else if (suggest->list_length)
        (void)snprintf(suggest->text, sizeof suggest->text, "; %s %s", list_word, suggest->list);
    return suggest->text;
}
