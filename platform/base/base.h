/* SPDX-License-Identifier: Apache-2.0 */
/* What reading files that people write needs everywhere: memory that is freed at once, messages with places, and
 * suggestions. */
#ifndef CNNVP_BASE_H
#define CNNVP_BASE_H

#include <stdio.h>

#include "cnnvp.h"
#include "try.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory that is freed at once ---- */

struct cnnvp_arena {
    struct cnnvp_arena_chunk *chunk;
    int failed; /* 1: it gave NULL at least once */
};

/* Zeroed; NULL: out of memory. 0 bytes give a valid pointer. */
void *cnnvp_arena_alloc(struct cnnvp_arena *arena, size_t size);
void *cnnvp_arena_array(struct cnnvp_arena *arena, size_t count, size_t size);
char *cnnvp_arena_copy(struct cnnvp_arena *arena, const char *text, size_t size);
char *cnnvp_arena_text(struct cnnvp_arena *arena, const char *text);
char *cnnvp_arena_printf(struct cnnvp_arena *arena, const char *format, ...) CNNVP_PRINTF(2, 3);
void cnnvp_arena_free(struct cnnvp_arena *arena);

/* Folder of a path, "." where it names none. */
char *cnnvp_config_folder(struct cnnvp_arena *arena, const char *path);

/* Large memory that was not touched yet is going to be, all of it: its pages may come by the 2 MiB. Where the system
 * has no such pages nothing happens. */
void cnnvp_huge_pages(void *memory, size_t bytes);

/* A list from malloc, NULL where it has no members, that grows by one: it is larger whenever `count` is a power of two.
 * The list, which may have moved; NULL: out of memory, and it is as it was. */
void *cnnvp_grow(void *list, size_t count, size_t size);

/* The name of a file without its folders. */
const char *cnnvp_base_name(const char *path);

/* ---- texts ---- */

/* The value of a hexadecimal digit; -1: it is none. */
static inline int cnnvp_hex_digit(int c)
{
    const int letter = c | 0x20;
    if (c >= '0' && c <= '9')
        return c - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Printed into memory. */

struct cnnvp_printed {
    char *text;
    size_t size;
    FILE *stream; /* NULL: out of memory */
};
FILE *cnnvp_print_begin(struct cnnvp_printed *printed);
/* Closes the stream. The text is to be given back with free(); NULL: out of memory. */
char *cnnvp_print_end(struct cnnvp_printed *printed);
/* The same of a single line. */
char *cnnvp_text_printf(const char *format, ...) CNNVP_PRINTF(1, 2);

/* ---- messages ---- */

/* Writes "place: message" (only the message if place is NULL or ""), returns CNNVP_BAD_INPUT. */
cnnvp_result cnnvp_config_error(struct cnnvp_error *error, const char *place, const char *format, ...)
    CNNVP_PRINTF(3, 4);
/* Says that memory ran out, returns CNNVP_FAILED. */
cnnvp_result cnnvp_config_no_memory(struct cnnvp_error *error);

/* Takes a client's struct that begins with its size, into one of this library's. Members that the client's does not
 * have are 0; members that this library's does not have must be 0, else BAD_INPUT. `name`, of the struct, for the
 * message. */
cnnvp_result cnnvp_client_struct(void *own, size_t size, const void *theirs, const char *name,
                                 struct cnnvp_error *error);

/* A text for a message: in double quotes, control characters escaped, cut after some 60 bytes. */
struct cnnvp_shown {
    char text[80];
};
struct cnnvp_shown cnnvp_config_show(const char *text);

/* Of all names offered, the one nearest to `wanted`, and a list of all: for "did you mean". */
struct cnnvp_suggest {
    const char *wanted;
    const char *best;
    size_t best_distance;
    char list[600];
    size_t list_length;
    int list_full;
    char text[800];
};
void cnnvp_suggest_begin(struct cnnvp_suggest *suggest, const char *wanted);
void cnnvp_suggest_offer(struct cnnvp_suggest *suggest, const char *name);
/* `; did you mean "best"?`, or `; <list_word> a, b, c`, or "". The text lies in `suggest`. */
const char *cnnvp_suggest_text(struct cnnvp_suggest *suggest, const char *list_word);

/* ---- what is installed with the program ---- */

/* Files that people call by a bare word: FOLDER of share/cnnvp has WORD SUFFIX. */
struct cnnvp_installed {
    const char *folder;
    const char *suffix;
    const char *variable; /* of the environment, which may name a folder that comes first; or NULL */
};
/* Letters, digits, _ and - alone. */
int cnnvp_is_bare_name(const char *name);
/* The path of the file, NULL: there is none. */
char *cnnvp_installed_find(struct cnnvp_arena *arena, const struct cnnvp_installed *files, const char *name);
/* Offers all names that there are; they live as long as the arena. */
void cnnvp_installed_offer(struct cnnvp_arena *arena, const struct cnnvp_installed *files,
                           struct cnnvp_suggest *suggest);
/* The index-th place where `name` of share/cnnvp may be: of this library's copy (cnnvp_installed_file), where it
 * was to be installed, where the build left it. Whether it exists is not looked at; "" is none. -1: there are no more.
 */
int cnnvp_share_path(unsigned index, const char *name, char *path, size_t room);

#ifdef __cplusplus
}
#endif

#endif
