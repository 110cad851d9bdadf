/* SPDX-License-Identifier: Apache-2.0 */
/* Basics for reading user files: memory that is freed at once, messages with places, and suggestions. */
#pragma once

#include <stdio.h>

#include "cnnvp.h"
#include "try.h"

/* ---- memory that is freed at once ---- */

struct cnnvp_arena {
    struct cnnvp_arena_chunk *chunk;
    int failed; /* 1: an allocation has failed */
};

/* Returns zeroed memory; NULL: out of memory. 0 bytes give a valid pointer. */
void *cnnvp_arena_alloc(struct cnnvp_arena *arena, size_t size);
void *cnnvp_arena_array(struct cnnvp_arena *arena, size_t count, size_t size);
char *cnnvp_arena_copy(struct cnnvp_arena *arena, const char *text, size_t size);
char *cnnvp_arena_text(struct cnnvp_arena *arena, const char *text);
char *cnnvp_arena_printf(struct cnnvp_arena *arena, const char *format, ...) CNNVP_PRINTF(2, 3);
void cnnvp_arena_free(struct cnnvp_arena *arena);

/* The folder part of a path; "." if it has none. */
char *cnnvp_config_folder(struct cnnvp_arena *arena, const char *path);

/* Advises the system to use 2 MiB pages for large memory that will be used completely but was not touched yet. Does
 * nothing if the system has no such pages. */
void cnnvp_huge_pages(void *memory, size_t bytes);

/* Grows a list from malloc (NULL if empty) by one element; it reallocates whenever `count` is a power of two. Returns
 * the list, which may have moved. NULL: out of memory, and the list is unchanged. */
void *cnnvp_grow(void *list, size_t count, size_t size);

/* File name without its folders. */
const char *cnnvp_base_name(const char *path);
/* Length of a name before its ending; 0: it has another one, or nothing before it. */
size_t cnnvp_before_ending(const char *name, const char *ending);

/* Monotonic time in seconds. */
double cnnvp_clock(void);

/* ---- texts ---- */

/* Value of a hexadecimal digit; -1: not a digit. */
static inline int cnnvp_hex_digit(int c)
{
    const int letter = c | 0x20;
    if (c >= '0' && c <= '9')
        return c - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* The number with a comma between thousands. */
const char *cnnvp_grouped(char text[32], int64_t value);

/* Printing into memory. */

struct cnnvp_printed {
    char *text;
    size_t size;
    FILE *stream; /* NULL: out of memory */
};
FILE *cnnvp_print_begin(struct cnnvp_printed *printed);
/* Closes the stream and returns the text, which the caller frees with free(). NULL: out of memory. */
char *cnnvp_print_end(struct cnnvp_printed *printed);
/* The same in one call. */
char *cnnvp_text_printf(const char *format, ...) CNNVP_PRINTF(1, 2);

/* ---- messages ---- */

/* Writes "place: message" (only the message if place is NULL or "") and returns CNNVP_BAD_INPUT. */
cnnvp_result cnnvp_config_error(struct cnnvp_error *error, const char *place, const char *format, ...)
    CNNVP_PRINTF(3, 4);
/* Writes a message that memory ran out and returns CNNVP_FAILED. */
cnnvp_result cnnvp_config_no_memory(struct cnnvp_error *error);
/* Returns from the function that memory ran out unless `condition` holds. */
#define CNNVP_TRY_MEMORY(condition, error) CNNVP_TRY((condition) ? CNNVP_DONE : cnnvp_config_no_memory(error))

/* Copies a client's struct, which begins with its size, into one of this library. Members that the client's struct
 * lacks become 0. Members that the library does not know must be 0, else BAD_INPUT. `name` is the struct's name for the
 * message. */
cnnvp_result cnnvp_client_struct(void *own, size_t size, const void *theirs, const char *name,
                                 struct cnnvp_error *error);

/* A text for messages: in double quotes, with control characters escaped, cut after about 60 bytes. */
struct cnnvp_shown {
    char text[80];
};
struct cnnvp_shown cnnvp_config_show(const char *text);

/* Finds the offered name nearest to `wanted`, and lists all names, for "did you mean". */
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
/* Returns `; did you mean "best"?`, or `; <list_word> a, b, c`, or "". The text is stored in `suggest`. */
const char *cnnvp_suggest_text(struct cnnvp_suggest *suggest, const char *list_word);

/* ---- what is installed with the program ---- */

/* Files that users name by a bare word: share/cnnvp/FOLDER/WORD SUFFIX. */
struct cnnvp_installed {
    const char *folder;
    const char *suffix;
    const char *variable; /* environment variable that may name a folder to search first; or NULL */
};
/* True if the name has only letters, digits, _ and -. */
int cnnvp_is_bare_name(const char *name);
/* The path of the file; NULL if there is none. */
char *cnnvp_installed_find(struct cnnvp_arena *arena, const struct cnnvp_installed *files, const char *name);
/* Offers all available names; they live as long as the arena. */
void cnnvp_installed_offer(struct cnnvp_arena *arena, const struct cnnvp_installed *files,
                           struct cnnvp_suggest *suggest);
/* The file of the code at `address`: a library's path, or the kernel's name of the program. With address 0, the first
 * loaded file whose name begins with `start`. 0: there is none. */
int cnnvp_loaded_file(uintptr_t address, const char *start, char *file, size_t room);
/* The index-th candidate path of share/cnnvp/`name`: in this library's copy (cnnvp_installed_file), in the configured
 * installation folder, in the build folder. Does not check whether it exists; "" is not a path. Returns -1 after the
 * last. */
int cnnvp_share_path(unsigned index, const char *name, char *path, size_t room);
