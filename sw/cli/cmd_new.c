/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp new-guest and cnnvp new-unit: make a folder to start from by copying an example and renaming its parts. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "base.h"
#include "isa/isa.h"

enum { FILE_LIMIT = 1 << 20, NAME_LIMIT = 32 };

/* The example to copy. `word` is replaced by the new name in the names and texts of its files. */
struct example {
    const char *folder, *word;
    cnnvp_result (*check)(const char *name); /* NULL: no further check */
};

static cnnvp_result check_name(const char *name)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (!islower((unsigned char)name[0]) || strspn(name, letters) != strlen(name) || strlen(name) > NAME_LIMIT)
        return cli_bad("%s: a name has up to %d small letters, digits and _, a letter first", name, NAME_LIMIT);
    return CNNVP_DONE;
}

/* A unit's name must not be a C keyword, a name of the example or of its headers, the energy table, an existing kind of
 * unit, or an instance of preset nfu. */
static cnnvp_result check_unit_name(const char *name)
{
    static const char *const words[] = {"main", "init", "now", "old", "reg", "self", "energy", "i", "printf"};
    int taken_word = cnnvp_isa_is_keyword(name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        taken_word |= strcmp(name, words[i]) == 0;
    if (taken_word)
        return cli_bad("%s: a word of C or of the example; a unit needs a name of its own", name);
    if (strncmp(name, "cnnvp_", 6) == 0 || cnnvp_before_ending(name, "_t") != 0)
        return cli_bad("%s: names that begin with cnnvp_ or end in _t are those of headers", name);
    const struct cnnvp_unit *unit = NULL;
    struct cnnvp_config_instance instance;
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    int taken = cnnvp_unit_find(name, &unit, &cli_error) == CNNVP_DONE;
    if (cnnvp_config_new("nfu", &config, &cli_error) == CNNVP_DONE &&
        cnnvp_config_resolve(config, &cli_error) == CNNVP_DONE)
        for (size_t i = 0; !taken && cnnvp_config_instance(config, i, &instance) == CNNVP_DONE; ++i)
            taken = strcmp(name, instance.name) == 0;
    return taken ? cli_bad("%s: a unit that is built in has this name; another is needed", name) : CNNVP_DONE;
}

/* 1: `text` begins with `word` in small letters; 2: in capital letters; 0: it does not. */
static int is_word(const char *text, const char *word, size_t length)
{
    if (strncmp(text, word, length) == 0)
        return 1;
    for (size_t i = 0; i < length; ++i)
        if (text[i] != toupper((unsigned char)word[i]))
            return 0;
    return 2;
}

/* Replaces each `word` in a text by `name`, in the same case. Free with free(). */
static char *renamed(const char *text, const char *word, const char *name)
{
    const size_t length = strlen(word), longer = strlen(name);
    char *result = malloc((strlen(text) + 1) * (longer / length + 1) + longer), *to = result;
    while (result != NULL && *text) {
        const int kind = is_word(text, word, length);
        if (!kind) {
            *to++ = *text++;
            continue;
        }
        for (size_t i = 0; i < longer; ++i)
            *to++ = (char)(kind == 1 ? name[i] : toupper((unsigned char)name[i]));
        text += length;
    }
    if (result != NULL)
        *to = '\0';
    return result;
}

/* Path of the copy of a file; NULL: out of memory. Free with free(). */
static char *target_of(const struct example *example, const char *file, const char *name)
{
    CNNVP_FREED char *new_file = renamed(file, example->word, name);
    return new_file != NULL ? cnnvp_text_printf("%s/%s", name, new_file) : NULL;
}

static cnnvp_result copy_file(const struct example *example, const char *from, const char *file, const char *name)
{
    char source[PATH_MAX + 256];
    CNNVP_FREED char *text = NULL;
    CNNVP_FREED char *target = target_of(example, file, name);
    size_t size;
    (void)snprintf(source, sizeof source, "%s/%s", from, file);
    CNNVP_TRY(cli_read_file(source, FILE_LIMIT, &text, &size));
    CNNVP_FREED char *new_text = renamed(text, example->word, name);
    return target != NULL && new_text != NULL ? cli_write_file(target, new_text, strlen(new_text)) : cli_no_memory();
}

static void remove_copies(const struct example *example, struct dirent *const *files, int count, const char *name)
{
    for (int i = 0; i < count; ++i) {
        CNNVP_FREED char *target = target_of(example, files[i]->d_name, name);
        if (target != NULL)
            (void)unlink(target);
    }
    (void)rmdir(name);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static cnnvp_result copy_files(const struct example *example, const char *from, struct dirent *const *files, int count,
                               const char *name)
{
    cnnvp_result result = CNNVP_DONE;
    if (mkdir(name, 0777) != 0)
        return cli_bad("%s: cannot be made: %s", name, strerror(errno));
    for (int i = 0; i < count && result == CNNVP_DONE; ++i)
        result = copy_file(example, from, files[i]->d_name, name);
    if (result != CNNVP_DONE)
        remove_copies(example, files, count, name);
    return result;
}

static cnnvp_result make_folder(const struct example *example, const char *name)
{
    char from[PATH_MAX];
    struct dirent **files = NULL;
    if (cnnvp_installed_file(example->folder, from, sizeof from) != 0)
        return cli_bad("the path of this program is unknown");
    const int count = scandir(from, &files, is_file, alphasort);
    if (count < 0)
        return cli_bad("%s: cannot be read: %s", from, strerror(errno));
    const cnnvp_result result = copy_files(example, from, files, count, name);
    for (int i = 0; i < count; ++i)
        free(files[i]);
    free((void *)files);
    return result;
}

static cnnvp_result make(struct cli_options *options)
{
    static const struct example guest = {"examples/own_guest", "own_guest", NULL};
    static const struct example unit = {"examples/own_unit", "adder", check_unit_name};
    const struct example *example = options->command == &cli_new_unit ? &unit : &guest;
    const char *name = options->file;
    CNNVP_TRY(check_name(name));
    if (example->check != NULL)
        CNNVP_TRY(example->check(name));
    CNNVP_TRY(make_folder(example, name));
    (void)printf("%s: see README.md there; to build and run it: make -C %s run\n", name, name);
    return CNNVP_DONE;
}

const struct cli_command cli_new_guest = {
    .name = "new-guest",
    .summary = "start a program for the core: a folder that builds",
    .args_doc = "NAME",
    .doc = "Makes a folder NAME with a program for the core to start from. It drives the accelerator: loads data, "
           "runs a convolution, a pool and a ReLU, and checks the result. It builds with make.",
    .what = "name",
    .argument = "NAME",
    .run = make};

const struct cli_command cli_new_unit = {
    .name = "new-unit",
    .summary = "start a hardware unit: a folder that builds",
    .args_doc = "NAME",
    .doc = "Makes a folder NAME to start from: a hardware unit NAME, a platform that has it, and a program for "
           "the core that uses it. It builds with make.",
    .what = "name",
    .argument = "NAME",
    .run = make};
